"""Find the author of each committed entry: a person or an agent.

Entries are identified by their content, because files are renamed and appended to. An entry is
committed if HEAD contains it word for word. Its author is the author of the commit that added it to
its file, or to the file that it was moved from. If one commit removes an entry and a later one adds
it again, the author is that of the later commit, so an agent cannot restore a text that a person
removed. If several authors added the same text in parallel, a person counts. History is read once
for each HEAD.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..files.git_folder import find_git
from ..files.layout import AREAS, Layout
from ..files.reading import decode_file, implicit_id
from ..format.blocks import digest_of, split_blocks
from ..model.ids import placed_id
from ..model.values import record
from ..state.trust import AUTHORS, HIDDEN_AUTHOR
from .head import cut_off_at
from .runner import FILE_MODE, Git, GitFailed, own_tree

BLOBS_PER_CALL = 500  # blobs per git process, to limit the memory that its answer takes
LIST = ("rev-list", "--reverse", "--topo-order", "--full-history")
SHOW = (
    "diff-tree",
    "--stdin",
    "--root",
    "-r",
    "-c",
    "--raw",
    "--no-abbrev",
    "--no-renames",
)
NAMES = "--format=commit %H %an <%ae>%x09%cn <%ce>"

Digests = tuple[str, ...]
Place = tuple[str, str]  # path of a file, digest of an entry in it


@record
class History:
    """Authors and contents of memory files at one HEAD."""

    head: str = ""  # the commit; empty before the first commit
    # digest of an entry in HEAD → its author, `Name <e-mail>`
    authors: Mapping[str, str] = {}
    blobs: Mapping[
        str, tuple[str, ...]
    ] = {}  # blob and path of a file in HEAD → digests of its entries
    ignored: tuple[str, ...] = ()  # areas that git ignores, so they are never committed
    why: str = ""  # why git could not be read; empty if it could


@record
class Change:
    """A commit's change of a file: its versions (`blob path`) in the parents and after it; empty if it is gone."""

    path: str
    before: Digests
    after: str


Commit = tuple[str, str, list[Change]]  # hash, author, changes


def read_history(layout: Layout, known: History | None = None) -> History:
    """Read the history from git; with `known` history, only later commits if HEAD descends from it.

    If git fails, return a History with the reason in `why`.
    """
    try:
        tree = own_tree(layout.project)
        git, root = tree.git, tree.path(layout.root) + "/"
        head = git.line(
            "rev-parse", "--verify", "--quiet", "HEAD^{commit}", fine=(0, 1)
        )
        listed = tree.ignored(*(root + area for area in AREAS))
        ignored = tuple(path.removeprefix(root) for path in listed)
        if not head:
            return History(ignored=ignored)
        base = History()
        if (
            known
            and known.head
            and HIDDEN_AUTHOR not in known.authors.values()
            and git.line("merge-base", known.head, head, fine=(0, 1, 128)) == known.head
        ):
            base = known
        blobs, authors = (
            _read_commits(git, root, base, head)
            or _read_commits(git, root, History(), head)
            or ({}, {})
        )
        return History(head, authors, blobs, ignored)
    except GitFailed as failure:
        return History(why=str(failure))


def _read_commits(
    git: Git, root: str, base: History, head: str
) -> tuple[dict[str, Digests], dict[str, str]] | None:
    """Return the digests of each file in HEAD, and digest → author; None if the base is not enough to know authors."""
    read: dict[str, Digests] = dict(base.blobs)
    brought = Brought(base)
    commits = _commits(git, root, f"{base.head}..{head}" if base.head else head)
    changed = [change for _, _, changes in commits for change in changes]
    versions = [
        version for change in changed for version in (*change.before, change.after)
    ]
    whole = _read_all(git, filter(None, versions), read)
    for commit, author, changes in commits if whole else ():
        brought.follow(commit, author, changes, read)
    blobs = _blobs_in_head(git, root, head, read)
    places = [
        (key.partition(" ")[2], digest)
        for key, digests in blobs.items()
        for digest in digests
    ]
    if not whole:  # a partial clone: the first author is not known
        return blobs, {digest: HIDDEN_AUTHOR for _, digest in places}
    if base.head and any(brought.removed.get(place) for place in places):
        return None
    parents: dict[str, list[str]] = {}
    if any(brought.removed.get(place) for place in places):
        lines = git.run("rev-list", "--parents", head).decode().splitlines()
        parents = {commit: older for commit, *older in map(str.split, lines)}
    found: dict[str, set[str]] = {}
    for place in places:
        found.setdefault(place[1], set()).update(brought.authors(place, parents))
    return blobs, {
        digest: AUTHORS.join(sorted(authors)) or HIDDEN_AUTHOR
        for digest, authors in found.items()
    }


class Brought:
    """The commits that added an entry to a file, and those that removed it from there."""

    def __init__(self, base: History):
        self.brought: dict[Place, dict[str, str]] = {}  # place → commit → author
        self.removed: dict[Place, set[str]] = {}
        for key, digests in base.blobs.items():
            for digest in digests:
                author = base.authors.get(digest, HIDDEN_AUTHOR)
                self.brought[key.partition(" ")[2], digest] = {base.head: author}

    def follow(
        self,
        commit: str,
        author: str,
        changes: Sequence[Change],
        read: Mapping[str, Digests],
    ) -> None:
        """Record the entries that a commit adds and removes; one that leaves a file and enters another is moved."""
        gone: dict[str, Place] = {}
        come: list[Place] = []
        for change in changes:
            before = {digest for version in change.before for digest in read[version]}
            after = set(read[change.after]) if change.after else set()
            gone |= {digest: (change.path, digest) for digest in before - after}
            come += [(change.path, digest) for digest in after - before]
        for place in come:
            source = gone.get(place[1])
            if source in self.brought:
                self.brought.setdefault(place, {}).update(self.brought[source])
                self.removed.setdefault(place, set()).update(
                    self.removed.get(source, ())
                )
            else:
                self.brought.setdefault(place, {})[commit] = author
        for place in gone.values():
            self.removed.setdefault(place, set()).add(commit)

    def authors(self, place: Place, parents: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the authors who added an entry to its file; ignore commits before a commit that removed it."""
        brought = self.brought.get(place, {})
        ended = _with_ancestors(self.removed.get(place, ()), parents)
        return {author for commit, author in brought.items() if commit not in ended}


def _with_ancestors(
    commits: Iterable[str], parents: Mapping[str, Sequence[str]]
) -> set[str]:
    """Return the commits and all their ancestors."""
    found: set[str] = set()
    rest = list(commits)
    while rest:
        commit = rest.pop()
        if commit not in found:
            found.add(commit)
            rest += parents.get(commit, ())
    return found


def _read_all(git: Git, versions: Iterable[str], read: dict[str, Digests]) -> bool:
    """Read the digests of file versions that were not read yet; return False if git lacks one of them.

    The key of a version contains its path, because entries without an id depend on their path.
    """
    missing: dict[str, list[str]] = {}  # blob → its paths
    for version in dict.fromkeys(versions):
        if version not in read:
            blob, path = version.split(" ", 1)
            missing.setdefault(blob, []).append(path)
    for blob, data in read_blobs(git, list(missing)):
        for path in missing.pop(blob):
            read[f"{blob} {path}"] = digests_in(data, path)
    return not missing


def _commits(git: Git, root: str, span: str) -> list[Commit]:
    """Return the commits that change memory files, parents first; for a merge, only changes that no parent has.

    If the committer is somebody else, the author's text contains both: an agent may amend a person's commit.
    """
    own = find_git(git.top)
    boundary = (
        cut_off_at(own) if own else set()
    )  # a shallow clone's first commits seem to add all older files
    areas = [root + area for area in AREAS]
    listed = git.run(*LIST, span, "--", *areas)
    log = git.run(*SHOW, NAMES, "--", *areas, given=listed).decode(
        "utf-8", "surrogateescape"
    )
    commits: list[Commit] = []
    for line in log.split("\n"):
        if line.startswith("commit "):
            _, commit, names = line.split(" ", 2)
            name, _, committer = names.partition("\t")
            commits.append(
                (
                    commit,
                    HIDDEN_AUTHOR
                    if commit in boundary
                    else name
                    if committer == name
                    else names,
                    [],
                )
            )
        elif line.startswith(":") and line.rstrip('"').endswith(".md"):
            commits[-1][2].append(_raw_change(line, root))
    return commits


def _raw_change(line: str, root: str) -> Change:
    """Parse a line of `git diff-tree --raw`: a colon for each parent, modes, blobs, a path; `root` is `.rawko` there."""
    facts, _, path = line.partition("\t")
    parents = len(facts) - len(facts.lstrip(":"))
    path = _unquoted(path.rpartition("\t")[2]).removeprefix(root)
    parts = facts.lstrip(":").split(" ")
    modes, blobs = parts[: parents + 1], parts[parents + 1 : 2 * parents + 2]
    *before, after = [
        f"{blob} {path}" if mode.startswith(FILE_MODE) and blob.strip("0") else ""
        for mode, blob in zip(modes, blobs, strict=True)
    ]
    return Change(path, tuple(filter(None, before)), after)


def _unquoted(path: str) -> str:
    """Return a path without the quotes and escapes that git adds for control characters, quotes and backslashes."""
    if not path.startswith('"'):
        return path
    plain = path[1:-1].encode("utf-8", "surrogateescape").decode("unicode_escape")
    return plain.encode("latin-1").decode("utf-8", "surrogateescape")


def _blobs_in_head(
    git: Git, root: str, head: str, read: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    areas = [f"{root}{area}/" for area in AREAS]
    files = [
        line.split("\t", 1)
        for line in git.names("ls-tree", "-r", "-z", head, "--", *areas)
        if line.endswith(".md") and line.startswith(FILE_MODE)
    ]
    keys = [f"{facts.split(' ')[2]} {path.removeprefix(root)}" for facts, path in files]
    _read_all(git, keys, read)
    return {key: read[key] for key in keys if key in read}


def read_blobs(git: Git, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (blob, bytes) of each blob that this clone has."""
    wanted = list(blobs)
    for start in range(0, len(wanted), BLOBS_PER_CALL):
        asked = "".join(f"{blob}\n" for blob in wanted[start : start + BLOBS_PER_CALL])
        answer = git.run("cat-file", "--batch", given=asked.encode())
        at = 0
        while at < len(answer):
            end = answer.index(b"\n", at)
            blob, *facts = answer[at:end].decode().split(" ")
            if len(facts) < 2:  # `<blob> missing`
                at = end + 1
                continue
            size = int(facts[1])
            yield blob, answer[end + 1 : end + 1 + size]
            at = end + 2 + size


def digests_in(data: bytes, path: str = "") -> tuple[str, ...]:
    """Return a digest of each entry in a file, independent of line ends; without an id, it depends on `path`."""
    text, refused, _ = decode_file(data)
    blocks = [] if refused else split_blocks(text)
    stem = implicit_id(path)
    return tuple(
        digest_of(block, placed_id(stem, n)) for n, block in enumerate(blocks, 1)
    )
