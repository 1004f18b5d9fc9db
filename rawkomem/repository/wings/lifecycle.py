"""Maintenance of memories: consolidate, prune, digest, purge. A lock allows one run at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.private import open_local, replace_local
from ...files.local.usage import Access, accesses
from ...files.lock import lock
from ...files.move import TRACES, move_files, to_archive
from ...index.views.goals import leaders
from ...index.views.neighbors import Neighbors
from ...index.vouching import vouching
from ...learn.traces.consolidate import FAILED, is_due, learning_of, most_of_one_goal, plan_learnings, unlearned
from ...model.clock import iso, now, read_time
from ...model.entry import Plan
from ...model.errors import RawkoError, Refused
from ...model.filters import DEFAULT, Filter
from ...model.kinds import ACTIVE, CREATES
from ...model.record import record, replace
from ...state.lifecycle.census import Census
from ...state.lifecycle.consolidate import plan_consolidate, steps
from ...state.lifecycle.digest import Digesting, digests_of, plan_archive_sources, plan_digests, unheld
from ...state.lifecycle.held import missing_fact
from ...state.lifecycle.prune import Outlook, held_by, look_ahead, plan_prune
from ...state.lifecycle.strength import FADED_BELOW, strength_of
from ...state.run import TRACE, goal_of
from ...text.clean import one_line
from ..lazy import Wing
from ..purging import purge_memory
from .recall_check import ASKED_AT_ONCE, FOUND_AMONG, MAX_PAST_QUESTIONS, reasons_to_stay

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ...files.move import Move
    from ...model.entry import Memory
    from ...state.lifecycle.strength import Strength

    Progress = Callable[[int, int], None]

DUE_TRACES = 10  # new traces that make consolidation due (LLMos)
DUE_OF_ONE_GOAL = 3  # new traces of one goal that make it due for the background learner
MAX_TRACES_BEHIND = 1_000  # with more new traces the background learner does nothing; run `rawkomem tidy consolidate`
LAST_RUN = "consolidated"  # below .rawko/local: the time of the last run; safe to delete
ENTRIES_AT_ONCE = 500  # entries per write; between writes, others may write and progress is reported
LEAVING = ("archive", "supersede")  # kinds of entries that hide a memory from search
DISTILLED = "distilled"  # origin of learnings made from traces


def _quiet(done: int, total: int) -> None:
    return None


@record
class Done:
    """The changes of a run, or of a dry run: the plan, and the memories before it by id."""

    plan: Plan
    memories: dict[str, Memory]
    written: bool
    moves: tuple[Move, ...] = ()  # files of traces moved to the archive
    unfound: tuple[tuple[str, str], ...] = ()  # (learning, question that does not find it); its traces are not moved
    staying: tuple[tuple[str, str], ...] = ()  # (memory, the reason why it is not archived or superseded)


@record
class Due:
    """Whether consolidation is due, with the numbers behind the answer."""

    is_due: bool
    new: int
    least: int
    last: int  # time of the last run on this machine; 0: never


class Lifecycle(Wing):
    """Handles duplicates, contradictions, digests, decayed memories and purges."""

    def prune(
        self, dry_run: bool = False, by: str = "", progress: Progress = _quiet, agreed: Collection[str] | None = None
    ) -> tuple[Done, Outlook]:
        """Archive memories that decayed or were superseded long ago, and remove dangling links; return the outlook.

        `Done.staying` lists memories that the recall check keeps. With `agreed`, archive only these ids.
        """
        outlooks: list[Outlook] = []
        staying: dict[str, str] = {}

        def decide(census: Census) -> Plan:
            outlooks.append(look_ahead(census, FADED_BELOW))
            return self.recallable(census, _only(plan_prune(census, by), agreed), {}, staying)

        done = self._run(decide, dry_run, progress)
        return replace(done, staying=tuple(staying.items())), outlooks[0]

    def digest(
        self,
        how: Digesting | None = None,
        archive: bool = False,
        dry_run: bool = False,
        by: str = "",
        progress: Progress = _quiet,
        agreed: Collection[str] | None = None,
    ) -> Done:
        """Make digests of related memories that nobody changed for a while.

        With `archive`, archive the sources of a digest that contains all their facts and that searches find; with
        `agreed`, only these ids.
        """
        how = how or Digesting()
        made = self._run(lambda census: plan_digests(census, self._neighbors().pairs, how, by), dry_run, progress)
        if not archive:
            return made
        staying: dict[str, str] = {}

        def decide(census: Census) -> Plan:
            census = census.after(made.plan) if dry_run else census
            plan = _only(plan_archive_sources(census, by), agreed)
            staying.update(
                {id: f"its digest does not contain {one_line(text, 80)!r}" for id, text in unheld(census).items()}
            )
            return self.recallable(census, plan, digests_of(census), staying, made.plan if dry_run else None)

        done = self._run(decide, dry_run, progress)
        plan = Plan((*made.plan.entries, *done.plan.entries), f"{made.plan.why}; {done.plan.why}")
        return replace(done, plan=plan, memories=made.memories, staying=tuple(staying.items()))

    def consolidate(self, dry_run: bool = False, by: str = "", progress: Progress = _quiet) -> Done:
        """Merge duplicates, resolve contradictions, and turn traces into learnings; archive those traces.

        `Done.staying` lists duplicates that the recall check keeps.
        """
        staying: dict[str, str] = {}

        def decide(census: Census) -> Plan:
            dedupe, *others = steps(self._neighbors().later, self._repo.beliefs.predicates(), by)

            def checked(seen: Census) -> Plan:
                plan = dedupe(seen)
                return self.recallable(seen, plan, superseded_by(plan), staying)

            return plan_consolidate(
                census, [checked, *others, lambda seen: plan_learnings(seen, leaders, by)], progress
            )

        return replace(self._run(decide, dry_run, progress, put_away=True), staying=tuple(staying.items()))

    def recallable(
        self,
        census: Census,
        plan: Plan,
        holders: Mapping[str, str],
        staying: dict[str, str],
        unwritten: Plan | None = None,
    ) -> Plan:
        """Return a plan without the entries that would make a search lose an answer; add the reasons to `staying`.

        `holders` maps a memory to the memory that says the same. If that one is in `unwritten`, no search is run: the
        texts are compared instead.
        """
        new = {entry.target for entry in unwritten.entries} if unwritten else set()
        leaving = {entry.about for entry in plan.entries if entry.kind in LEAVING}
        known = {id for id in leaving if holders.get(id) not in new}
        asked = [question for _, question in self._repo.ledger.asked(MAX_PAST_QUESTIONS)] if known else []
        reasons = reasons_to_stay(self._core, census.memories, known, holders, asked)
        for id in leaving - known:
            fact = missing_fact(census.memories[id], census.memories[holders[id]])
            reasons |= {id: f"its digest does not contain {fact!r}"} if fact else {}
        staying.update(reasons)
        kept = [entry for entry in plan.entries if not (entry.kind in LEAVING and entry.about in reasons)]
        return replace(plan, entries=tuple(kept))

    def learn_traces(self, dry_run: bool = False, by: str = "", progress: Progress = _quiet) -> Done:
        """Turn traces into learnings; do nothing else."""
        return self._run(lambda census: plan_learnings(census, leaders, by), dry_run, progress)

    def learn_when_due(self, by: str = "") -> Done | None:
        """Turn traces into learnings if this is due, or if one goal has several new traces; archive no trace."""
        census = self.census()
        due = self._due(census)
        if due.new > MAX_TRACES_BEHIND or not (due.is_due or most_of_one_goal(census, leaders) >= DUE_OF_ONE_GOAL):
            return None
        done = self.learn_traces(by=by)
        self._note_run()
        return done

    def due(self) -> Due:
        """Return whether consolidation is due: enough new traces, or a week since the last run."""
        return self._due(self.census())

    def _due(self, census: Census) -> Due:
        new, last = unlearned(census), self._last_run()
        oldest = min((trace.created for trace in new), default=0)
        return Due(is_due(len(new), oldest, last, census.now, DUE_TRACES), len(new), DUE_TRACES, last)

    def strength(self, memory: Memory) -> Strength:
        """Return the strength of a memory with its parts."""
        census, access = self.census(), self.accesses().get(memory.id, Access())
        return strength_of(memory, len(held_by(census).get(memory.id, ())), census.now, access.count, access.last)

    def accesses(self) -> Mapping[str, Access]:
        """Return, for each memory, the number of injections on this machine and the time of the last one."""
        return accesses(self._core.layout)

    def purge(self, name: str) -> Sequence[str]:
        """Remove every entry about a memory and every copy of its text; return the paths that changed.

        If opening the repository has just finished an interrupted purge of this memory, return the paths of that purge.
        """
        finished = self._core.finished_purges.pop(name, None)
        if finished is None and self._core.via == "agent" and self._repo.beliefs.is_vouched(name):
            id = self._repo.get(name).id
            hint = f"run 'rawkomem purge {id}' at a terminal, as a person"
            raise Refused(f"a person vouches for {id}, so only a person may purge it", hint)
        return purge_memory(self._core, name) if finished is None else finished

    def census(self) -> Census:
        """Return all memories with the current time, their trust, and the ids that a person vouches for."""
        memories = {memory.id: memory for memory in self._core.reading.all()}
        believed = self._repo.beliefs.all()
        vouches = self._core.read(lambda: vouching(self._core.layout, self._core.index.catalogue.db)) is not None
        vouched = frozenset(id for id, memory in memories.items() if vouches and memory.vouched)
        return Census(memories, now(), lambda memory: believed.trust(memory).value, vouched)

    def _neighbors(self) -> Neighbors:
        return Neighbors(self._core.read(lambda: self._core.index.store.vectors(Filter())))

    def _run(self, decide: Callable[[Census], Plan], dry_run: bool, progress: Progress, put_away: bool = False) -> Done:
        if dry_run:
            census = self.census()
            plan = decide(census)
            moves = learned_files(census.after(plan)) if put_away else {}
            return Done(plan, dict(census.memories), False, tuple(move for some in moves.values() for move in some))
        with lock(self._core.layout, "lifecycle"):
            census = self.census()
            plan = decide(census)
            self._write(plan, progress)
            done = Done(plan, dict(census.memories), written=True)
            if put_away:
                done = self._put_away(census.after(plan), done)
                self._note_run()
        return done

    def _note_run(self) -> None:
        """Record the time of this run. A failure is only a warning, because the work is on disk."""
        try:
            replace_local(self._core.layout, LAST_RUN, iso(now()).encode())
        except (OSError, RawkoError) as failure:
            self._core.warn(f"could not record the time of this run, so the next run may come early: {failure}")

    def _write(self, plan: Plan, progress: Progress) -> None:
        """Write a plan in parts. After a kill, the next run continues, because each entry is valid on its own."""
        with self._core.writer.as_one_change():
            for start in range(0, len(plan.entries), ENTRIES_AT_ONCE):
                part = plan.entries[start : start + ENTRIES_AT_ONCE]
                for via, made_of_traces in ((DISTILLED, True), ("", False)):
                    entries = tuple(entry for entry in part if (FAILED in entry.extra) == made_of_traces)
                    if entries:
                        self._core.writer.write(replace(plan, entries=entries), via)
                progress(min(start + ENTRIES_AT_ONCE, len(plan.entries)), len(plan.entries))
        if plan.entries:
            self._core.follow()
            self._core.written = ()  # more steps follow: if one fails, the command must fail

    def _put_away(self, census: Census, done: Done) -> Done:
        """Move traces with a learning to the archive, unless a search for a trace's goal misses the learning."""
        leaving = learned_files(census)
        unfound = self.unfound_by_goals(census, leaving)
        moves = [move for id, some in leaving.items() if id not in unfound for move in some]
        if moves:
            with lock(self._core.layout, "write"):
                moves = move_files(self._core.layout, moves)
            self._core.follow()
        return replace(done, moves=tuple(moves), unfound=tuple(unfound.items()))

    def unfound_by_goals(self, census: Census, leaving: Mapping[str, Sequence[Move]]) -> dict[str, str]:
        """Return learning → a goal of one of its traces whose first search results do not contain the learning."""
        by_path = {memory.path: memory for memory in census.memories.values() if memory.kind == TRACE}
        asked: dict[str, set[str]] = {}
        for id, moves in leaving.items():
            for move in moves:
                asked.setdefault(goal_of(by_path[move.source]), set()).add(id)
        questions = sorted(asked)
        only = replace(DEFAULT, kinds=tuple(kind for kind in CREATES if kind != TRACE))
        unfound: dict[str, str] = {}
        for start in range(0, len(questions), ASKED_AT_ONCE):
            for answer in self._core.look(questions[start : start + ASKED_AT_ONCE], FOUND_AMONG, only):
                for id in asked[answer.question] - {found.row.id for found in answer.found}:
                    unfound.setdefault(id, answer.question)
        return unfound

    def _last_run(self) -> int:
        try:
            with open_local(self._core.layout, LAST_RUN, "r") as stream:
                return read_time(stream.read(40).decode("ascii", "replace"))[0] or 0
        except OSError:
            return 0


def trace_files(census: Census, wanted: Callable[[Memory], bool]) -> dict[str, list[Memory]]:
    """Return the files of the traces folder that contain only active, wanted traces."""
    files: dict[str, list[Memory]] = {}
    for memory in census.memories.values():
        if memory.path.startswith(f"{TRACES}/"):
            files.setdefault(memory.path, []).append(memory)
    return {
        path: memories
        for path, memories in sorted(files.items())
        if all(memory.kind == TRACE and memory.status == ACTIVE and wanted(memory) for memory in memories)
    }


def learned_files(census: Census, wanted: Callable[[Memory], bool] = lambda memory: True) -> dict[str, list[Move]]:
    """Return learning → archive moves, for files that contain only traces with a learning."""
    learned = learning_of(census)
    leaving: dict[str, list[Move]] = {}
    for path, memories in trace_files(census, lambda memory: memory.id in learned and wanted(memory)).items():
        id = learned[memories[0].id].id
        leaving.setdefault(id, []).append(to_archive(path, f"learned in {id}"))
    return leaving


def superseded_by(plan: Plan) -> dict[str, str]:
    """Return memory → the memory that supersedes it."""
    return {entry.about: str(entry.extra["supersededBy"]) for entry in plan.entries if entry.kind == "supersede"}


def _only(plan: Plan, agreed: Collection[str] | None) -> Plan:
    """Return a plan without the archive entries that nobody agreed to."""
    if agreed is None:
        return plan
    return replace(plan, entries=tuple(e for e in plan.entries if e.kind != "archive" or e.about in agreed))
