"""List how a branch changes memories since the commit where it started: added, superseded, deleted and
so on.

Only git's objects are read, not the work tree or git's index, so bare repositories and empty
checkouts work, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..files.git_folder import FETCH_ALL, FETCH_FILES, find_git
from ..files.layout import FOLDER, relative_path
from ..files.reading import read_data
from ..model.entries import Memory
from ..model.errors import BadInput
from ..model.values import ACTIVE, ERROR, WARNING, Problem, record, replace
from ..state.claims import claim_of
from ..state.history import FieldChange, changed_keys
from ..state.trust import AGENT, AGENTS, author_state
from .commit_checks import CheckedCommit, check_commit, contradicting, edits_of
from .runner import Git, GitFailed, WorkTree, own_tree
from .staged import Staged

ALLOW_TRAILER = "Rawkomem-Allow"  # key of a line at the end of a commit message


@record
class CommitRange:
    """Two commits to compare, and the git runner for them."""

    git: Git
    top: str  # top folder of the work tree; for a bare repository, its folder
    base: str
    head: str


class Branch(Staged):
    """The changes of a branch in one `.rawko` folder, as blobs by path below it."""

    def __init__(self, span: CommitRange, root: str):
        self.span, self.tree = span, WorkTree(span.top, span.git)
        self._root = root + "/"
        self._project = os.path.dirname(root) or "."
        self.now = self._commit(span.head)
        self.unmerged = []
        self.parents = [self._commit(span.base)]
        self.base = {}
        self._code_in_version = span.head
        self._known = {}
        self._comparing = ["diff-tree", "-r", span.base, span.head]
        self.code = self._code()

    def read(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of each blob; raise GitFailed if the clone lacks one."""
        wanted = set(blobs)
        known = super().read(wanted)
        if not wanted <= known.keys():
            raise GitFailed(
                "this clone lacks the contents of files (a partial clone)",
                FETCH_FILES,
            )
        return known

    def base_settings(self) -> bytes:
        """Return the bytes of config.yaml in BASE; empty if it does not exist."""
        blob = self.parents[0].get("config.yaml", "")
        return self.read([blob])[blob] if blob else b""

    def authors(self, paths: Iterable[str]) -> list[str]:
        """Return `author<tab>committer` of each commit of the branch that changes one of these files."""
        span = f"{self.span.base}..{self.span.head}"
        form = "--format=%an <%ae>%x09%cn <%ce>"
        names = [self.name(path) for path in paths]
        said = self.tree.git.run("rev-list", "--full-history", form, span, "--", *names)
        # a line `commit …` is before each
        return said.decode("utf-8", "replace").split("\n")[1::2]

    def allowed(self) -> list[str]:
        """Return the ids of memories from which a trailer of a commit of the branch makes an exception."""
        form = f"--format=%x00%(trailers:key={ALLOW_TRAILER},valueonly)%x00"
        said = self.tree.git.run(
            "rev-list", form, f"{self.span.base}..{self.span.head}"
        )
        values = said.decode("utf-8", "replace").split("\0")[1::2]
        return " ".join(values).split()


def read_branches(folder: str, text: str) -> list[Branch]:
    """Return the changes of `BASE...HEAD`, one Branch for each `.rawko` folder around, in or below a folder.

    With two dots, BASE itself is compared instead of the merge base. Raise GitFailed, with a hint what to fetch.
    """
    span, inside = _span(folder, text)
    roots = set()
    for commit in (span.base, span.head):
        listed = span.git.names(
            "ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", commit
        )
        roots |= {name for name in listed if name.rpartition("/")[2] == FOLDER}
    # those below the folder where the command runs, or of a folder above it
    near = (
        root
        for root in sorted(roots)
        if root.startswith(inside) or inside.startswith(root.removesuffix(FOLDER))
    )
    return [Branch(span, root) for root in near]


def _span(folder: str, text: str) -> tuple[CommitRange, str]:
    dots = "..." if "..." in text else ".."
    base, _, head = text.partition(dots)
    head = head or "HEAD"
    if not base or base.startswith("-") or head.startswith("-"):
        raise BadInput(
            f"not two commits: {text!r}",
            "write BASE...HEAD, for instance origin/main...HEAD",
        )
    here = os.path.realpath(folder or os.curdir)
    found = find_git(here)
    top = found.tree if found else here
    inside = relative_path(here, top) + "/" if top != here else ""
    # `.rawko` is no repository
    is_bare = not found and FOLDER not in here.split(os.sep)
    git = Git(here, given={"GIT_DIR": here}) if is_bare else own_tree(here).git
    git.run("rev-parse", "--git-dir")  # fails if `here` is not a git repository
    ends = [_commit_of(git, name) for name in (base, head)]
    left_at = ends[0]
    if dots == "..." or dots not in text:
        left_at = git.line("merge-base", *ends, fine=(0, 1))
        if not left_at:
            raise GitFailed(
                f"{base} and {head} have no commit in common here", FETCH_ALL
            )
    return CommitRange(git, top, left_at, ends[1]), inside


def _commit_of(git: Git, name: str) -> str:
    found = git.line(
        "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", fine=(0, 1, 128)
    )
    if not found:
        branch = name.removeprefix("refs/remotes/").removeprefix("origin/")
        hint = f"fetch it: git fetch origin {branch}"
        if branch == "HEAD":
            hint = "make the first commit"
        elif branch == name:
            hint = "run 'git branch' to see the branches"
        raise GitFailed(f"there is no commit {name} in this clone", hint)
    return found


# List how a branch changes memories: added, changed, superseded, contradicted, archived, deleted
# and so on.

ADDED = "added"
CHANGED = "changed"
CONTRADICTED = "contradicted"
RESTORED = "restored"
REMOVED = "removed"
COUNTED = "counted"
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
    changes: tuple[FieldChange, ...] = ()
    text_changed: bool = False
    before: str = ""  # the text before it was changed
    other: Memory | None = None  # the memory that supersedes or contradicts it


def check_branch(
    commit: CheckedCommit,
    skip: Sequence[str],
    append_only: bool,
    agents: Sequence[str] = (),
) -> dict[str, list[Problem]]:
    """Return check → Problems of a branch's changes; edits of entries by agents are errors. Raises GitFailed."""
    branch = commit.staged
    assert isinstance(branch, Branch)
    paths = sorted({edit.old.path for edit in edits_of(commit)})
    by_agent = paths and any(
        author_state(who, (*AGENTS, *agents)) == AGENT for who in branch.authors(paths)
    )
    commit.append_only = bool(append_only or by_agent)
    found = check_commit(commit, skip)
    if "history" in found:
        found["history"] = [replace(one, hint=KEEP_HINT) for one in found["history"]]
    readings = (read_data(data, path) for path, data in commit.changed.items())
    odd = [
        problem
        for reading in readings
        for problem in reading.problems
        if problem.level == WARNING
    ]
    return {
        **found,
        ADVICE: [replace(problem, path=branch.name(problem.path)) for problem in odd],
    }


def has_errors(found: Mapping[str, Iterable[Problem]]) -> bool:
    """Return whether a check found an error."""
    return any(
        problem.level == ERROR for problems in found.values() for problem in problems
    )


def differences_of(commit: CheckedCommit) -> list[Difference]:
    """Return a branch's changes to memories, in the order of KINDS. Raises GitFailed."""
    branch = commit.staged
    before = branch.memories(branch.head)
    after = branch.memories()
    pairs = ((before.get(id), after.get(id)) for id in {**before, **after})
    found = [item for pair in pairs for item in _compared(*pair, after)]
    found += [
        Difference(CONTRADICTED, memory, "", other=rival)
        for memory, rival, _ in contradicting(commit)
    ]
    found += _conflicts(before, after)
    placed = [replace(item, path=branch.name(item.memory.path)) for item in found]
    return sorted(
        placed, key=lambda item: (KINDS.index(item.what), item.path, item.memory.line)
    )


def _compared(
    before: Memory | None, after: Memory | None, known: Mapping[str, Memory]
) -> Iterator[Difference]:
    if before is None or after is None:
        if after is not None:
            keys = changed_keys(Memory(id=after.id), after)
            yield Difference(ADDED, after, "", keys, bool(after.body))
        elif before is not None:
            yield Difference(REMOVED, before, "")
        return
    changes = [*changed_keys(before, after), *_others(before, after)]
    text_changed = before.body != after.body
    if changes or text_changed:
        yield Difference(
            CHANGED,
            after,
            "",
            tuple(changes),
            text_changed,
            before.body if text_changed else "",
        )
    if before.status != after.status:
        if after.status == ACTIVE:
            what = RESTORED
        elif after.status in STATUSES:
            what = after.status
        else:
            what = CHANGED
        status = ("status", before.status, after.status)
        yield Difference(
            what, after, "", (status,), other=known.get(after.superseded_by)
        )
    counts = [(name, getattr(before, name), getattr(after, name)) for name in COUNTS]
    counted = tuple((name, old, new) for name, old, new in counts if old != new)
    if counted:
        yield Difference(COUNTED, after, "", counted)


def _others(before: Memory, after: Memory) -> list[FieldChange]:
    """Return the changes of values outside the frontmatter: validity, links, heritage."""
    fields = {**WINDOW, "links": "links", "heritage": "heritage"}
    pairs = (
        (key, getattr(before, field), getattr(after, field))
        for field, key in fields.items()
    )
    return [(key, old, new) for key, old, new in pairs if old != new]


def _conflicts(
    before: Mapping[str, Memory], after: Mapping[str, Memory]
) -> Iterator[Difference]:
    """Yield new conflicts that entries of the branch name, unless a contradiction of claims reports them."""
    for id, memory in after.items():
        known = before[id].conflicts_with if id in before else ()
        for other in memory.conflicts_with:
            # as a contradiction of claims
            reported = memory.status == ACTIVE and claim_of(memory)
            if (
                other not in known
                and memory.status in (ACTIVE, "quarantined")
                and not reported
            ):
                yield Difference(
                    CONTRADICTED, memory, "", other=after.get(other) or Memory(id=other)
                )
