"""The life of a repository's memories: decay, compress, consolidate. Reads all of them, decides by a Plan, writes it.

Consolidating also makes learnings of traces and puts the traces away, once their goals are seen to find the learnings.
One run at a time: whoever comes second waits, and finds the work done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.private import open_local, replace_local
from ...files.lock import lock
from ...files.move import TRACES, move_files, to_archive
from ...index.lists import memory_of
from ...index.views.goals import leaders
from ...index.views.neighbors import Neighbours
from ...learn.traces.consolidate import FAILED, is_due, learning_of, plan_learnings, unlearned
from ...model.clock import iso, now, read_time
from ...model.entry import Plan
from ...model.filters import DEFAULT, Filter
from ...model.kinds import ACTIVE, CREATES
from ...model.record import record, replace
from ...state.belief.claims import UNREGISTERED, claim_of, rivals_of
from ...state.lifecycle.census import Census
from ...state.lifecycle.compress import Compression, plan_compress
from ...state.lifecycle.consolidate import Similar, plan_consolidate, steps
from ...state.lifecycle.contradict import ClaimRules
from ...state.lifecycle.decay import Outlook, held_by, look_ahead, plan_decay
from ...state.lifecycle.strength import FADED_BELOW
from ...state.run import TRACE, goal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...files.move import Move
    from ...model.entry import Entry, Memory
    from ...state.lifecycle.strength import Strength
    from .. import Repository

    Progress = Callable[[int, int], None]

DUE_TRACES = 10  # LLMos: so many new traces make consolidating due
AT_ONCE = 500  # entries written before others may write, and progress is told
FOUND_AMONG = 5  # results for a goal of a trace, among which its learning must be before the trace is put away
ASKED_AT_ONCE = 100  # questions of one search
LAST_RUN = "consolidated"  # below .rawko/local: the time of the last run; safe to delete
DISTILLED = "distilled"  # how what is made of traces arrives


def _quiet(done: int, total: int) -> None:
    return None


@record
class Done:
    """What a run changed, or would change: the plan, and the memories as they were before it, by id."""

    plan: Plan
    memories: dict[str, Memory]
    written: bool
    moves: tuple[Move, ...] = ()  # traces that are put away
    unfound: tuple[tuple[str, str], ...] = ()  # (learning, question that does not find it): its traces stay


@record
class Due:
    """Whether traces are to be consolidated, and what that is decided by."""

    is_due: bool
    new: int
    least: int
    last: int  # when it was last done on this machine; 0: never


def decay(
    repository: Repository, dry_run: bool = False, by: str = "", progress: Progress = _quiet
) -> tuple[Done, Outlook]:
    """Archive what faded and clean links; with how strong each memory was."""
    outlooks: list[Outlook] = []

    def decide(census: Census) -> Plan:
        outlooks.append(look_ahead(census, FADED_BELOW))
        return plan_decay(census, by)

    return _run(repository, decide, dry_run, progress), outlooks[0]


def compress(
    repository: Repository, how: Compression, dry_run: bool = False, by: str = "", progress: Progress = _quiet
) -> Done:
    """Digests of what belongs together and lies idle."""

    def decide(census: Census) -> Plan:
        return plan_compress(census, _neighbours(repository).pairs, how, by)

    return _run(repository, decide, dry_run, progress)


def consolidate(
    repository: Repository, dry_run: bool = False, by: str = "", progress: Progress = _quiet, staged: bool = False
) -> Done:
    """Duplicates, contradictions, corroboration, digests, prune; and learnings of traces, which are then put away.

    `staged`: the traces stay where they are, for somebody to review the learnings first.
    """

    def decide(census: Census) -> Plan:
        near = _neighbours(repository)
        todo = steps(Similar(near.later, near.pairs), _claim_rules(repository), Compression(), by)
        return plan_consolidate(census, {**todo, "learnings": lambda seen: plan_learnings(seen, leaders, by)}, progress)

    return _run(repository, decide, dry_run, progress, put_away=not staged)


def learn_traces(repository: Repository, dry_run: bool = False, by: str = "", progress: Progress = _quiet) -> Done:
    """Only the learnings: what retention does before it moves anything."""
    return _run(repository, lambda census: plan_learnings(census, leaders, by), dry_run, progress)


def due(repository: Repository) -> Due:
    """Whether enough new traces, or a week, went by since traces were consolidated."""
    census = take_census(repository)
    new, least, last = unlearned(census), DUE_TRACES, _last_run(repository)
    oldest = min((trace.created for trace in new), default=0)
    return Due(is_due(len(new), oldest, last, census.now, least), len(new), least, last)


def strength(repository: Repository, memory: Memory) -> Strength:
    """How alive a memory is, with what that is made of."""
    census = take_census(repository)
    return census.strength(memory, len(held_by(census).get(memory.id, ())))


def take_census(repository: Repository) -> Census:
    """All memories of a repository, with what depends on the clock and on this machine."""
    index = repository.index
    memories = repository.read(lambda: [memory_of(doc) for doc in index.catalogue.docs()])
    at = now()
    uses = {id: (access.count, access.last) for id, access in repository.accesses().items()}
    believed = repository.believing()
    return Census({memory.id: memory for memory in memories}, at, lambda memory: believed.trust(memory).value, uses)


def _neighbours(repository: Repository) -> Neighbours:
    return Neighbours(repository.read(lambda: repository.index.store.vectors(Filter())))


def _claim_rules(repository: Repository) -> ClaimRules:
    """What claims mean in this repository."""
    registry = repository.predicates()

    def key(memory: Memory) -> tuple[str, str] | None:
        claim = claim_of(memory)
        return claim.key if claim else None

    def rivals(memory: Memory, others: Sequence[Memory]) -> Sequence[Memory]:
        return rivals_of(memory, others, registry)

    def policy(memory: Memory) -> str:
        claim = claim_of(memory)
        return registry.get(claim.predicate, UNREGISTERED).conflict_policy if claim else ""

    return ClaimRules(key, rivals, policy)


def _run(
    repository: Repository,
    decide: Callable[[Census], Plan],
    dry_run: bool,
    progress: Progress,
    put_away: bool = False,
) -> Done:
    if dry_run:
        census = take_census(repository)
        plan = decide(census)
        moves = learned_files(census.after(plan)) if put_away else {}
        return Done(plan, dict(census.memories), False, tuple(move for some in moves.values() for move in some))
    with lock(repository.layout, "lifecycle"):
        census = take_census(repository)
        plan = decide(census)
        _write(repository, plan, progress)
        done = Done(plan, dict(census.memories), written=True)
        if put_away:
            done = _put_away(repository, census.after(plan), done)
            _note_run(repository)
    return done


def _write(repository: Repository, plan: Plan, progress: Progress) -> None:
    """Write a plan in parts. Each entry stands for itself: whoever runs again after a kill goes on from there."""
    for start in range(0, len(plan.entries), AT_ONCE):
        part = plan.entries[start : start + AT_ONCE]
        for via, some in ((DISTILLED, filter(_is_learning, part)), ("", (e for e in part if not _is_learning(e)))):
            entries = tuple(some)
            if entries:
                repository.write(replace(plan, entries=entries), via)
        progress(min(start + AT_ONCE, len(plan.entries)), len(plan.entries))
    if plan.entries:
        repository.sync()


def _is_learning(entry: Entry) -> bool:
    """Whether an entry's words were made of traces."""
    return FAILED in entry.extra


def _put_away(repository: Repository, census: Census, done: Done) -> Done:
    """Move the traces of learnings into the archive, but for learnings that the traces' own goals do not find."""
    leaving = learned_files(census)
    unfound = unfound_by_goals(repository, census, leaving)
    moves = [move for id, some in leaving.items() if id not in unfound for move in some]
    if moves:
        with lock(repository.layout, "write"):
            moves = move_files(repository.layout, moves)
        repository.index.expect_changes()
        repository.sync()
    return replace(done, moves=tuple(moves), unfound=tuple(unfound.items()))


def trace_files(census: Census, wanted: Callable[[Memory], bool]) -> dict[str, list[Memory]]:
    """The files of the short-term folder all of whose memories are active traces that are wanted."""
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
    """learning → the moves into the archive of files that hold nothing but traces which were learned from."""
    learned = learning_of(census)
    leaving: dict[str, list[Move]] = {}
    for path, memories in trace_files(census, lambda memory: memory.id in learned and wanted(memory)).items():
        id = learned[memories[0].id].id
        leaving.setdefault(id, []).append(to_archive(path, f"learned in {id}"))
    return leaving


def unfound_by_goals(repository: Repository, census: Census, leaving: Mapping[str, Sequence[Move]]) -> dict[str, str]:
    """learning → a goal of one of its traces that does not find it among the first results."""
    by_path = {memory.path: memory for memory in census.memories.values() if memory.kind == TRACE}
    asked: dict[str, set[str]] = {}
    for id, moves in leaving.items():
        for move in moves:
            asked.setdefault(goal_of(by_path[move.source]), set()).add(id)
    questions = sorted(asked)
    only = replace(DEFAULT, kinds=tuple(kind for kind in CREATES if kind != TRACE))
    unfound: dict[str, str] = {}
    for start in range(0, len(questions), ASKED_AT_ONCE):
        for answer in repository.look(questions[start : start + ASKED_AT_ONCE], FOUND_AMONG, only):
            for id in asked[answer.question] - {found.row.id for found in answer.found}:
                unfound.setdefault(id, answer.question)
    return unfound


def _last_run(repository: Repository) -> int:
    try:
        with open_local(repository.layout, LAST_RUN, "r") as stream:
            return read_time(stream.read(40).decode("ascii", "replace"))[0] or 0
    except OSError:
        return 0


def _note_run(repository: Repository) -> None:
    replace_local(repository.layout, LAST_RUN, iso(now()).encode())
