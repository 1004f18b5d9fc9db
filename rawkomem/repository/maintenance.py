"""Maintenance of memories: consolidate, digest, prune, purge, and retention in the archive. Before a
memory leaves, the recall check makes sure that no search loses its content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial

from ..files.archive import (
    ARCHIVE,
    ARCHIVED_LOG,
    TRACES,
    Move,
    bundle_holding,
    bundles_of,
    folder_of_bundle,
    from_archive,
    markdown_in,
    move_files,
    pack_folder,
    to_archive,
    unpack_folder,
)
from ..files.layout import walk
from ..files.private import lock
from ..files.records import fact, set_fact
from ..learn.learnings import (
    FAILED_KEY,
    is_consolidation_due,
    made_learnings,
    most_of_one_goal,
    plan_learnings,
    unlearned_traces,
)
from ..model.entries import Memory, Plan
from ..model.errors import BadInput, NotFound, RawkoError, Refused
from ..model.filters import DEFAULT_FILTER, READABLE
from ..model.values import ACTIVE, DAY, iso, now, record, replace
from ..state.digests import (
    Digesting,
    plan_archive_sources,
    plan_digests,
    uncovered_part,
)
from ..state.housekeeping import (
    Census,
    Outlook,
    consolidation_steps,
    decay_outlook,
    linked_memories,
    missing_fact,
    plan_consolidate,
    plan_prune,
    questions_of,
)
from ..state.plans import joined_plan
from ..state.runs import TRACE
from ..state.strength import Strength, strength_of
from ..state.trust import PERSON, memory_by_source
from ..text.clean import one_line
from .core import Core, Wing, batches
from .purging import PurgedCopies, purge_memory, purge_text
from .writing import DISTILLED, as_one_change

Progress = Callable[[int, int], None]
Reasons = dict[str, str]  # memory → the reason why it is not archived or superseded


# The recall check: before a memory is archived or superseded as a duplicate, check that no search
# loses its content.
#
# Every question that finds the memory must find the same content elsewhere afterwards. The
# questions are the memory's own (title, conditions, first sentence) and the latest questions in
# this machine's ledger. Questions from the ledger can only keep a memory in use.

FOUND_AMONG = 5  # the content must be among this many first results
MAX_PAST_QUESTIONS = 100
MAX_RESULTS = 100  # of a search, before the memories that leave are removed
ASKED_AT_ONCE = 100  # questions per search
SHOWN_CHARS = 80  # of a quoted question or sentence


def reasons_to_stay(
    core: Core,
    memories: Mapping[str, Memory],
    leaving: Collection[str],
    holders: Mapping[str, str],
    past: Sequence[str] = (),
) -> dict[str, str]:
    """Return id → the reason why a memory must stay; `holders` maps an id to the memory that says the same, if known.

    A memory that searches do not show, because it is superseded or disputed, never has to stay.
    """
    found_by = {
        id: questions_of(memories[id])
        for id in leaving
        if memories[id].status in READABLE
    }
    questions = list(
        dict.fromkeys([*past, *(one for asked in found_by.values() for one in asked)])
    )
    limit = min(MAX_RESULTS, FOUND_AMONG + len(leaving))
    answers: dict[str, list[str]] = {}
    for some in batches(questions, ASKED_AT_ONCE):
        for answer in core.look(some, limit, DEFAULT_FILTER):
            answers[answer.question] = [item.row.id for item in answer.found]
    reasons: dict[str, str] = {}
    for id, asked in found_by.items():
        after = {  # question that finds the memory now → what it finds afterwards
            one: [other for other in answers[one] if other not in leaving][:FOUND_AMONG]
            for one in dict.fromkeys([*asked, *past])
            if id in answers[one][:FOUND_AMONG]
        }
        holder = memories.get(holders.get(id, ""))
        if holder:
            reason = _lost_to(memories[id], holder, after)
        else:
            reason = _lost_everywhere(memories[id], memories, after)
        if reason:
            reasons[id] = reason
    return reasons


def _lost_to(memory: Memory, holder: Memory, after: Mapping[str, Sequence[str]]) -> str:
    """Return the reason why `holder` cannot replace `memory`; empty if it can."""
    fact = missing_fact(memory, holder)
    if fact:
        return f"{holder.id} does not contain {fact!r}"
    blind = next(
        (question for question, ids in after.items() if holder.id not in ids), None
    )
    if blind is not None:
        return f"a search for {_quoted(blind)} would not find {holder.id} among the first {FOUND_AMONG}"
    return ""


def _lost_everywhere(
    memory: Memory, memories: Mapping[str, Memory], after: Mapping[str, Sequence[str]]
) -> str:
    """Return the reason why no memory that the same questions find can replace this one; empty if one can."""
    if not after:
        return "no question finds it, so the check cannot show that another memory says the same"
    common: Iterable[str] = set.intersection(*(set(ids) for ids in after.values()))
    holders = [memories[id] for id in common if id in memories]
    if any(
        not missing_fact(memory, holder) and not uncovered_part(memory, holder)
        for holder in holders
    ):
        return ""
    return f"no other memory that is found says {_quoted(next(iter(questions_of(memory)[::-1]), memory.id))}"


def _quoted(text: str) -> str:
    return repr(one_line(text, SHOWN_CHARS))


# Maintenance of memories: consolidate, prune, digest, purge. A lock allows one run at a time.

DUE_TRACES = 10  # new traces that make consolidation due (LLMos)
# new traces of one goal that make it due for the background learner
DUE_OF_ONE_GOAL = 3
# with more new traces the background learner does nothing; run `rawkomem tidy consolidate`
MAX_TRACES_BEHIND = 1_000
# below .rawko/local: the time of the last run; safe to delete
LAST_RUN = "consolidated"
# entries per write; between writes, others may write and progress is reported
ENTRIES_AT_ONCE = 500
LEAVING = ("archive", "supersede")  # kinds of entries that hide a memory from search


def _no_progress(done: int, total: int) -> None:
    return None


@record
class Done:
    """The changes of a run, or of a dry run: the plan, and the memories before it by id."""

    plan: Plan
    memories: dict[str, Memory]
    written: bool
    moves: tuple[Move, ...] = ()  # files of traces moved to the archive
    # (memory, the reason why it is not archived or superseded)
    staying: tuple[tuple[str, str], ...] = ()


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
        self,
        dry_run: bool = False,
        by: str = "",
        progress: Progress = _no_progress,
        agreed: Collection[str] | None = None,
        unique: bool = False,
    ) -> tuple[Done, Outlook]:
        """Archive memories that decayed or were superseded long ago, and remove dangling links; return the outlook.

        `Done.staying` lists memories that the recall check keeps; with `unique`, it keeps none. With `agreed`, archive
        only these ids.
        """
        outlook: Outlook

        def decide(census: Census, staying: Reasons) -> Plan:
            nonlocal outlook
            outlook = decay_outlook(census)
            plan = _only_agreed(plan_prune(census, by), agreed)
            return plan if unique else self.recallable(census, plan, {}, staying)

        return self._run(decide, dry_run, progress), outlook

    def digest(
        self,
        how: Digesting | None = None,
        archive: bool = False,
        dry_run: bool = False,
        by: str = "",
        progress: Progress = _no_progress,
        agreed: Collection[str] | None = None,
    ) -> Done:
        """Make digests of related memories that nobody changed for a while.

        With `archive`, archive the sources of a digest that contains all their facts and that searches find; with
        `agreed`, only these ids.
        """
        how = how or Digesting()
        digests = self._run(
            lambda census, _: plan_digests(
                census, self._core.neighbors().pairs, how, by
            ),
            dry_run,
            progress,
        )
        if not archive:
            return digests
        done = self.archive_sources("", dry_run, by, progress, agreed, digests.plan)
        plans = (digests.plan, done.plan)
        plan = joined_plan(plans, f"{digests.plan.why}; {done.plan.why}")
        return replace(done, plan=plan, memories=digests.memories)

    def archive_sources(
        self,
        digest: str,
        dry_run: bool = False,
        by: str = "",
        progress: Progress = _no_progress,
        agreed: Collection[str] | None = None,
        made: Plan | None = None,
    ) -> Done:
        """Archive the sources that a digest, or each digest made here, covers and that searches do not lose.

        In a dry run, `made` are the digests that are not written.
        """

        def decide(census: Census, staying: Reasons) -> Plan:
            unwritten = made if dry_run else None
            census = census.after(unwritten) if unwritten else census
            sources = plan_archive_sources(census, by, digest)
            staying.update(sources.staying)
            plan = _only_agreed(sources.plan, agreed)
            return self.recallable(census, plan, sources.holders, staying, unwritten)

        return self._run(decide, dry_run, progress)

    def consolidate(
        self, dry_run: bool = False, by: str = "", progress: Progress = _no_progress
    ) -> Done:
        """Merge duplicates, resolve contradictions, and turn traces into learnings; archive those traces.

        `Done.staying` lists duplicates that the recall check keeps.
        """

        def decide(census: Census, staying: Reasons) -> Plan:
            dedupe, *others = consolidation_steps(
                self._core.neighbors().later, self._repo.beliefs.predicates(), by
            )

            def checked(seen: Census) -> Plan:
                plan = dedupe(seen)
                successors = {
                    entry.about: str(entry.extra["supersededBy"])
                    for entry in plan.entries
                    if entry.kind == "supersede"
                }
                return self.recallable(seen, plan, successors, staying)

            learn = partial(plan_learnings, by=by)
            return plan_consolidate(census, [checked, *others, learn], progress)

        done = self._run(decide, dry_run, progress)
        census = self.census().after(done.plan) if dry_run else self.census()
        moves = learned_moves(census)
        if not dry_run:
            moves = self.put_away(moves) if moves else []
            self._note_run()
        return replace(done, moves=tuple(moves))

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
        if known:
            questions = [
                question for _, question in self._repo.ledger.asked(MAX_PAST_QUESTIONS)
            ]
        else:
            questions = []
        reasons = reasons_to_stay(
            self._core, census.memories, known, holders, questions
        )
        for id in leaving - known:
            fact = missing_fact(census.memories[id], census.memories[holders[id]])
            reasons |= {id: f"its digest does not contain {fact!r}"} if fact else {}
        staying.update(reasons)
        kept = [
            entry
            for entry in plan.entries
            if not (entry.kind in LEAVING and entry.about in reasons)
        ]
        return replace(plan, entries=tuple(kept))

    def learn_traces(self, dry_run: bool = False, by: str = "") -> Done:
        """Turn traces into learnings; do nothing else."""
        return self._run(lambda census, _: plan_learnings(census, by), dry_run)

    def learn_when_due(self) -> Done | None:
        """Turn traces into learnings if this is due, or if one goal has several new traces; archive no trace."""
        census = self.census()
        due = self._due(census)
        if due.new > MAX_TRACES_BEHIND or not (
            due.is_due or most_of_one_goal(census) >= DUE_OF_ONE_GOAL
        ):
            return None
        done = self.learn_traces()
        self._note_run()
        return done

    def due(self) -> Due:
        """Return whether consolidation is due: enough new traces, or a week since the last run."""
        return self._due(self.census())

    def _due(self, census: Census) -> Due:
        new = unlearned_traces(census)
        last = int(fact(self._layout, LAST_RUN) or 0)
        oldest = min((trace.created for trace in new), default=0)
        return Due(
            is_consolidation_due(len(new), oldest, last, census.now, DUE_TRACES),
            len(new),
            DUE_TRACES,
            last,
        )

    def strength(self, memory: Memory) -> Strength:
        """Return the strength of a memory with its parts."""
        census = self.census()
        links = len(linked_memories(census).get(memory.id, ()))
        ((_, access),) = self._core.with_access([memory])
        return strength_of(memory, links, census.now, access.count, access.last)

    def purge(self, name: str) -> Sequence[str]:
        """Remove every entry about a memory and every copy of its text; return the paths that changed.

        If opening the repository has just finished an interrupted purge of this memory, return the paths of that purge.
        """
        finished = self._core.finished_purges.pop(name, None)
        if finished is not None:
            return finished
        if self._core.via != PERSON and self._repo.beliefs.is_vouched(name):
            id = self._repo.get(name).id
            hint = f"run 'rawkomem purge {id}' at a terminal, as a person"
            raise Refused(
                f"a person vouches for {id}, so only a person may purge it", hint
            )
        return purge_memory(self._core, name)

    def purge_text(self, text: str) -> PurgedCopies:
        """Remove a text that is in no memory, such as a prompt, from everything that this machine remembers.

        Return where it was, and the files that still hold it.
        """
        if self._core.via == "agent":
            hint = "run 'rawkomem purge --text -' at a terminal, as a person"
            raise Refused("only a person may purge a text", hint)
        return purge_text(self._core, text)

    def census(self) -> Census:
        """Return all memories with the current time, their trust, and the ids that a person vouches for."""
        memories = {memory.id: memory for memory in self._core.all()}
        believed = self._repo.beliefs.all()
        vouches = self._core.is_vouching()
        vouched = frozenset(
            id for id, memory in memories.items() if vouches and memory.vouched
        )
        return Census(
            memories, now(), lambda memory: believed.trust(memory).value, vouched
        )

    def _run(
        self,
        decide: Callable[[Census, Reasons], Plan],
        dry_run: bool,
        progress: Progress = _no_progress,
    ) -> Done:
        """Decide a plan on a census and, unless `dry_run`, write it in parts under one lock.

        After a kill, the next run continues, because each entry is valid on its own.
        """
        core = self._core
        staying: Reasons = {}
        with lock(core.layout, "lifecycle") if not dry_run else nullcontext():
            census = self.census()
            plan = decide(census, staying)
            waiting = {one.id for one in census.memories.values() if one.proposed}
            for entry in plan.entries:
                if entry.about in waiting:
                    staying[entry.about] = "a change of it waits for 'rawkomem review'"
            free = [entry for entry in plan.entries if entry.about not in waiting]
            plan = replace(plan, entries=tuple(free))
            if plan.entries and not dry_run:
                self._write_parts(plan, progress)
        reasons = tuple(staying.items())
        return Done(plan, dict(census.memories), not dry_run, staying=reasons)

    def _write_parts(self, plan: Plan, progress: Progress) -> None:
        core = self._core
        done = 0
        with as_one_change(core):
            for part in batches(plan.entries, ENTRIES_AT_ONCE):
                learned = tuple(entry for entry in part if FAILED_KEY in entry.extra)
                others = tuple(entry for entry in part if FAILED_KEY not in entry.extra)
                for entries, via in ((learned, DISTILLED), (others, "")):
                    if entries:
                        core.write(replace(plan, entries=entries), via)
                done += len(part)
                progress(done, len(plan.entries))
        core.follow()
        core.written = ()  # more steps follow: if one fails, the command must fail

    def put_away(self, moves: Sequence[Move]) -> list[Move]:
        """Move files to the archive; return the moves that were made."""
        with lock(self._layout, "write"):
            done = move_files(self._layout, moves)
        self._core.follow()
        return done

    def _note_run(self) -> None:
        """Record the time of this run. A failure is only a warning, because the work is on disk."""
        try:
            set_fact(self._layout, LAST_RUN, str(now()))
        except RawkoError as failure:
            self._core.warn(
                f"could not record the time of this run, so the next run may come early: {failure}"
            )


def trace_files(
    census: Census, wanted: Callable[[Memory], bool]
) -> dict[str, list[Memory]]:
    """Return the files of the traces folder that contain only active, wanted traces."""
    files: dict[str, list[Memory]] = {}
    for memory in census.memories.values():
        if memory.path.startswith(f"{TRACES}/"):
            files.setdefault(memory.path, []).append(memory)
    return {
        path: memories
        for path, memories in sorted(files.items())
        if all(
            memory.kind == TRACE and memory.status == ACTIVE and wanted(memory)
            for memory in memories
        )
    }


def learned_moves(
    census: Census, wanted: Callable[[Memory], bool] = lambda memory: True
) -> list[Move]:
    """Return the moves to the archive of files that contain only traces with a learning."""
    learned = memory_by_source(made_learnings(census))
    files = trace_files(census, lambda memory: memory.id in learned and wanted(memory))
    return [
        to_archive(path, f"learned in {learned[memories[0].id].id}")
        for path, memories in files.items()
    ]


def _only_agreed(plan: Plan, agreed: Collection[str] | None) -> Plan:
    """Return a plan without the archive entries that nobody agreed to."""
    if agreed is None:
        return plan
    return replace(
        plan,
        entries=tuple(
            e for e in plan.entries if e.kind != "archive" or e.about in agreed
        ),
    )


# Retention: move idle traces with a learning to the archive, compress its old months into bundles;
# restore both.

IDLE_MS = DAY  # LLMos archives short-term memory after 24 hours without activity
BUNDLED_AFTER_MS = 365 * DAY  # LLMos compresses the archive after a year
MONTH = re.compile(r"\d{4}-\d{2}")


@record
class Retained:
    """The result of a run, or of a dry run."""

    plan: Plan
    moves: tuple[Move, ...]
    packed: tuple[str, ...]  # folders of the archive that became bundles
    written: bool


class Retention(Wing):
    """Moves traces with a learning to the archive, compresses old months, and undoes both."""

    def run(self, dry_run: bool = False, by: str = "") -> Retained:
        """Turn traces into learnings, move those traces to the archive, then compress months that ended a year ago."""
        layout = self._layout
        lifecycle = self._repo.lifecycle
        learned = lifecycle.learn_traces(dry_run, by)
        if dry_run:
            census = lifecycle.census().after(learned.plan)
        else:
            census = lifecycle.census()
        moves = plan_moves(census, self._core.settings.keep_days)
        months = self._months()
        months |= {os.path.dirname(move.target) for move in moves}
        last = iso(now() - BUNDLED_AFTER_MS)[:7]
        packed = [one for one in sorted(months) if "" < _month_in(one) < last]
        if not dry_run:
            moves = lifecycle.put_away(moves)
            with lock(layout, "write"):
                if packed:
                    self._repo.edits.gather_locked(
                        lambda memory: os.path.dirname(memory.path) in packed
                    )
                for month in packed:
                    pack_folder(layout, month)
            self._core.follow()
        return Retained(learned.plan, tuple(moves), tuple(packed), written=not dry_run)

    def _months(self) -> set[str]:
        """Return the folders of the archive that hold files."""
        layout = self._layout
        folders = (layout.relative(place) for place, *_ in walk(layout.path(ARCHIVE)))
        return {folder for folder in folders if markdown_in(layout, folder)}

    def restore(self, what: Sequence[str]) -> tuple[list[Move], list[str]]:
        """Unpack bundled months, and move months or traces back; return the moves and the unpacked months."""
        moves: list[Move] = []
        unpacked: list[str] = []
        for name in what:
            folder = ""  # of a month
            if _month_in(name):
                folder = f"{ARCHIVE}/{name.removeprefix(f'{ARCHIVE}/')}"
            bundled = self._bundled(name, folder)
            if bundled:
                with lock(self._layout, "write"):
                    unpack_folder(self._layout, bundled)
                unpacked.append(bundled)
                self._core.index.expect_changes()
            if not (bundled and folder):
                moves += self._back(name, folder)
        return self._repo.lifecycle.put_away(moves), unpacked

    def _bundled(self, name: str, month: str) -> str:
        """Return the folder of the bundle for a month, or for a trace that is only in a bundle; "" if there is none."""
        layout = self._layout
        core = self._core
        if month:
            return month if bundles_of(layout, month) else ""
        if core.read(lambda: core.catalogue.resolve(name)):
            return ""
        return folder_of_bundle(bundle_holding(layout, name))

    def _back(self, name: str, month: str) -> list[Move]:
        if month:
            if not os.path.isdir(self._layout.path(month)):
                raise NotFound(
                    f"the archive has no month {name}",
                    f"its months are folders and .tar.gz files in .rawko/{ARCHIVE}",
                )
            files = markdown_in(self._layout, month)
            return [from_archive(f"{month}/{file}") for file in files]
        memory = self._repo.get(name)
        if not memory.path.startswith(f"{ARCHIVE}/"):
            hint = f"to undo a change of its status, run 'rawkomem restore {memory.id}'"
            raise BadInput(f"{memory.id} is in {memory.path}, not in the archive", hint)
        if memory.path.startswith(f"{ARCHIVED_LOG}/"):
            raise BadInput(
                f"{memory.id} is an old entry of the experience log",
                f"read it with 'rawkomem show {memory.id}'",
            )
        return [from_archive(memory.path)]


def plan_moves(census: Census, keep_days: int) -> list[Move]:
    """Return the moves of idle traces with a learning, and of other traces that are idle for `keep_days`."""

    def is_idle(memory: Memory, least: int) -> bool:
        # 0: unknown
        return memory.updated > 0 and census.now - memory.updated >= least

    moves = learned_moves(census, lambda memory: is_idle(memory, IDLE_MS))
    if keep_days:
        known = {move.source for move in moves}
        old = trace_files(census, lambda memory: is_idle(memory, keep_days * DAY))
        why = f"idle for more than {keep_days} days"
        moves += [to_archive(path, why) for path in old if path not in known]
    return moves


def _month_in(name: str) -> str:
    """Return the month that a name or a path ends with, such as 2026-01; empty if it does not."""
    last = name.rpartition("/")[2]
    return last if MONTH.fullmatch(last) else ""
