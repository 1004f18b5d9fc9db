"""List how a branch changes memories: added, changed, superseded, contradicted, archived, deleted and so on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..files.read import read_data
from ..model.entry import Entry, Memory
from ..model.kinds import ACTIVE
from ..model.problem import ERROR, WARNING, Problem
from ..model.record import record, replace
from ..state.belief.claims import claim_of
from ..state.belief.committer import AGENT, AGENTS, state_of
from ..state.compare import changed_keys
from ..state.fold import fold
from .branch import Branch
from .staged import is_memory
from .staged_check import Commit, check_commit, contradicting, edits_of

ADDED, CHANGED, CONTRADICTED, RESTORED, REMOVED, COUNTED = (
    "added", "changed", "contradicted", "restored", "removed", "counted",
)  # fmt: skip
STATUSES = ("superseded", "archived", "deleted", "quarantined", "disputed")
KINDS = (ADDED, CHANGED, "superseded", CONTRADICTED, "archived", "deleted", REMOVED, "quarantined", "disputed",
         RESTORED, COUNTED)  # fmt: skip
COUNTS = ("helpful", "harmful", "reinforcements", "disputes", "corroborations")
WINDOW = {"valid_from": "validFrom", "valid_until": "validUntil"}
KEEP_HINT = "the old text is only in git's history; 'rawkomem amend' and 'rawkomem delete' keep it in the file"
ADVICE = "advice"  # the name of the group of warnings about changed files


@record
class Difference:
    """One change of a branch to a memory."""

    what: str  # one of KINDS
    memory: Memory  # after the branch; for a removed memory, before it
    path: str  # from the top of the work tree
    changes: tuple[tuple[str, object, object], ...] = ()  # (key, before, after)
    text_changed: bool = False
    before: str = ""  # the text before it was changed
    other: Memory | None = None  # the memory that supersedes or contradicts it


def check_branch(
    commit: Commit, skip: Sequence[str], append_only: bool, agents: Sequence[str] = ()
) -> dict[str, list[Problem]]:
    """Return check → Problems of a branch's changes; edits of entries by agents are errors. Raises GitFailed."""
    branch = commit.staged
    assert isinstance(branch, Branch)
    paths = sorted({edit.old.path for edit in edits_of(commit)})
    by_agent = paths and any(state_of(who, (*AGENTS, *agents)) == AGENT for who in branch.authors(paths))
    commit.append_only = bool(append_only or by_agent)
    found = check_commit(commit, skip)
    found |= {name: [replace(one, hint=KEEP_HINT) for one in found[name]] for name in ("history",) if name in found}
    readings = (read_data(data, path) for path, data in commit.changed().items())
    odd = [problem for reading in readings for problem in reading.problems if problem.level == WARNING]
    return {**found, ADVICE: [replace(problem, path=branch.name(problem.path)) for problem in odd]}


def has_errors(found: Mapping[str, Iterable[Problem]]) -> bool:
    """Tell whether a check found an error."""
    return any(problem.level == ERROR for problems in found.values() for problem in problems)


def differences_of(commit: Commit) -> list[Difference]:
    """Return a branch's changes to memories, in the order of KINDS. Raises GitFailed."""
    branch = commit.staged
    left, changed = branch.left(branch.head), branch.changed()
    old, new = _concerned(commit, filter(is_memory, left), branch.head), _concerned(commit, filter(is_memory, changed))
    ids = dict.fromkeys((*old, *new))
    before, after = _memories(commit, ids, branch.head), _memories(commit, ids, branch.now)
    pairs = ((before.get(id), after.get(id)) for id in ids)
    found = [item for pair in pairs for item in _compared(*pair, after)]
    found += [Difference(CONTRADICTED, memory, "", other=rival) for memory, rival, _ in contradicting(commit)]
    found += _conflicts(before, after)
    placed = [replace(item, path=branch.name(item.memory.path)) for item in found]
    return sorted(placed, key=lambda item: (KINDS.index(item.what), item.path, item.memory.line))


def _concerned(commit: Commit, paths: Iterable[str], of: Mapping[str, str] | None = None) -> list[str]:
    files = commit.texts(paths, of)
    return [entry.target for path, data in files.items() for entry in read_data(data, path, advice=False).entries]


def _memories(commit: Commit, ids: Iterable[str], version: Mapping[str, str]) -> dict[str, Memory]:
    """Return id → memory in a version. Parse only files that contain one of the ids or are named like it."""
    wanted = set(ids)
    names = [id.encode() for id in wanted]
    about: dict[str, list[Entry]] = {}
    for path, data in commit.texts(filter(is_memory, version), version).items():
        stem = path.partition("/")[2].removesuffix(".md")
        if any(name in data for name in names) or any(id.partition("#")[0] == stem for id in wanted):
            for entry in read_data(data, path, advice=False).entries:
                about.setdefault(entry.target, []).append(entry)
    folded = ((id, fold(about.get(id, ()))) for id in wanted)
    return {id: memory for id, memory in folded if memory}


def _compared(before: Memory | None, after: Memory | None, known: Mapping[str, Memory]) -> Iterator[Difference]:
    if before is None or after is None:
        if after is not None:
            yield Difference(ADDED, after, "")
        elif before is not None:
            yield Difference(REMOVED, before, "")
        return
    changes = [*changed_keys(before, after), *_others(before, after)]
    text_changed = before.body != after.body
    if changes or text_changed:
        yield Difference(CHANGED, after, "", tuple(changes), text_changed, before.body if text_changed else "")
    if before.status != after.status:
        what = RESTORED if after.status == ACTIVE else after.status if after.status in STATUSES else CHANGED
        status = ("status", before.status, after.status)
        yield Difference(what, after, "", (status,), other=known.get(after.superseded_by))
    counts = [(name, getattr(before, name), getattr(after, name)) for name in COUNTS]
    counted = tuple((name, old, new) for name, old, new in counts if old != new)
    if counted:
        yield Difference(COUNTED, after, "", counted)


def _others(before: Memory, after: Memory) -> list[tuple[str, object, object]]:
    """Return the changes of values outside the frontmatter: validity, links, heritage."""
    fields = {**WINDOW, "links": "links", "heritage": "heritage"}
    pairs = ((key, getattr(before, field), getattr(after, field)) for field, key in fields.items())
    return [(key, old, new) for key, old, new in pairs if old != new]


def _conflicts(before: Mapping[str, Memory], after: Mapping[str, Memory]) -> Iterator[Difference]:
    """Yield new conflicts that entries of the branch name, unless a contradiction of claims reports them."""
    for id, memory in after.items():
        known = before[id].conflicts_with if id in before else ()
        for other in memory.conflicts_with:
            reported = memory.status == ACTIVE and claim_of(memory)  # as a contradiction of claims
            if other not in known and memory.status in (ACTIVE, "quarantined") and not reported:
                yield Difference(CONTRADICTED, memory, "", other=after.get(other) or Memory(id=other))
