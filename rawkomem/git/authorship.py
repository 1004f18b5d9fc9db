"""Find the author of each committed entry: a person or an agent.

An entry keeps its authors while it stays in a file, and when one commit moves it to another file. An
entry that no parent of a commit has, in this file or in one that the commit takes it from, is by the
author of the commit. So an agent can move a person's entry, but it cannot restore one that a person
removed. If several authors added the same text in parallel, a person counts.

Entries are identified by their content, because files are renamed and appended to. An entry is
committed if HEAD contains it word for word. History is read once for each HEAD.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..files.git_folder import cut_off_at, find_git
from ..files.layout import AREAS, Layout
from ..files.reading import decode_file, implicit_id
from ..format.blocks import digest_of, split_blocks
from ..model.ids import placed_id
from ..model.values import record, replace
from ..state.trust import AGENT, AUTHORS, HIDDEN_AUTHOR, author_state
from .runner import FILE_MODE, Git, GitFailed, own_tree

BLOBS_PER_CALL = (
    2_000  # blobs per git process, to limit the memory that its answer takes
)
# with `--parents`, git lists every merge, and as parents the commits of this list
LIST = ("rev-list", "--reverse", "--topo-order", "--full-history", "--parents")
SHOW = (
    "diff-tree",
    "--stdin",
    "--root",
    "-r",
    "-m",
    "--raw",
    "--no-abbrev",
    "--no-renames",
)
NAMES = "--format=commit %H %an <%ae>%x09%cn <%ce>"

Digests = tuple[str, ...]
Place = tuple[str, str]  # path of a file, digest of an entry in it
Read = dict[str, Digests]  # version of a file (`blob path`) → digests of its entries


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
    """A commit's change of a file against one parent: its version (`blob path`) there and after it; empty if none."""

    path: str
    before: str
    after: str


@record
class Commit:
    """A commit that changes memory files: the nearest such commits before it, and its changes against each of them."""

    id: str
    author: str
    parents: Sequence[str]
    changes: list[list[Change]]


@record
class Origin:
    """The commits that brought an entry to a place, with its authors, and those whose entry was removed from there."""

    brought: Mapping[str, frozenset[str]]
    ended: frozenset[str] = frozenset()


State = dict[Place, Origin]  # of all entries that a commit and its ancestors have


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
        return History(why=failure.in_full)


def _read_commits(
    git: Git, root: str, base: History, head: str
) -> tuple[dict[str, Digests], dict[str, str]] | None:
    """Return the digests of each file in HEAD, and digest → author; None if the base is not enough to know authors."""
    read: Read = {}
    commits = _commits(git, root, f"{base.head}..{head}" if base.head else head)
    changes = [one for commit in commits for diff in commit.changes for one in diff]
    versions = [version for one in changes for version in (one.before, one.after)]
    contents: dict[str, str] = {}
    whole = _read_all(git, filter(None, versions), read, contents)
    state = _follow(commits, base, read, contents) if whole else {}
    if state is None:
        return None
    blobs = _blobs_in_head(git, root, head, {**base.blobs, **read})
    found: dict[str, set[str]] = {}
    for key, digests in blobs.items():
        for digest in digests:
            # without an origin: a partial clone, whose first author is not known
            origin = state.get((key.partition(" ")[2], digest)) or Origin({})
            found.setdefault(digest, set()).update(*origin.brought.values())
    return blobs, {
        digest: AUTHORS.join(sorted(authors)) or HIDDEN_AUTHOR
        for digest, authors in found.items()
    }


def _follow(
    commits: Sequence[Commit],
    base: History,
    read: Mapping[str, Digests],
    contents: Mapping[str, str],
) -> State | None:
    """Return the origins of the entries after the last commit; None if the base is not enough to know them.

    `contents` is the digest of an entry → its digest in any file: an entry without an id has another one in each.
    """
    state: State = {}
    places = Counter(digest for digests in base.blobs.values() for digest in digests)
    for key, digests in base.blobs.items():
        for digest in digests:
            authors = frozenset(base.authors[digest].split(AUTHORS))
            state[key.partition(" ")[2], digest] = Origin({base.head: authors})
    states = {base.head: state} if base.head else {}
    children = Counter(parent for commit in commits for parent in commit.parents)
    for commit in commits:
        # a parent that is not known is an ancestor of the base, which knows all that it knows
        known = [parent for parent in commit.parents if parent in states]
        if base.head and not known:
            return None
        state = {}
        for parent in known:
            children[parent] -= 1
            other = states[parent] if children[parent] else states.pop(parent)
            if state:
                _join(state, other)
            else:
                state = dict(other) if children[parent] else other
        gone = _apply(commit, state, read, contents)
        if any(places[digest] > 1 for digest in gone):
            return None  # the base does not know the authors of each copy
        states[commit.id] = state
    return state


def _join(state: State, other: State) -> None:
    """Add the origins of another parent; an entry that one parent removed is not brought by the commits it removed."""
    for place, there in other.items():
        here = state.get(place)
        if here is None:
            state[place] = there
        elif here is not there:
            ended = here.ended | there.ended
            brought = {**here.brought, **there.brought}
            left = {one: brought[one] for one in brought if one not in ended}
            state[place] = Origin(left, ended)


def _apply(
    commit: Commit,
    state: State,
    read: Mapping[str, Digests],
    contents: Mapping[str, str],
) -> set[str]:
    """Change the origins by what a commit adds, moves and removes; return the digests that left a file."""
    gone: dict[str, set[Place]] = {}  # content → places
    come: Counter[Place] = Counter()  # place → parents that do not have it
    for change in (one for diff in commit.changes for one in diff):
        before = set(read[change.before]) if change.before else set()
        after = set(read[change.after]) if change.after else set()
        for digest in before - after:
            content = contents[digest]
            gone.setdefault(content, set()).add((change.path, digest))
        come.update((change.path, digest) for digest in after - before)
    parents = len(commit.parents) or len(commit.changes)
    new: dict[Place, frozenset[str]] = {}
    for place, missing in come.items():
        origin = state.get(place)
        if missing == parents or not (origin and origin.brought):
            content = contents[place[1]]
            sources = [state[one] for one in gone.get(content, ()) if one in state]
            authors = [known for one in sources for known in one.brought.values()]
            new[place] = frozenset().union(*authors) or frozenset([commit.author])
    left = {place for places in gone.values() for place in places}
    for place in {*new, *left}:
        origin = state.get(place, Origin({}))
        brought = {commit.id: new[place]} if place in new else {}
        state[place] = Origin(brought, origin.ended | origin.brought.keys())
    return {digest for _, digest in left}


def _read_all(
    git: Git, versions: Iterable[str], read: Read, contents: dict[str, str]
) -> bool:
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
            placed = _placed_digests(data, path)
            read[f"{blob} {path}"] = tuple(digest for digest, _ in placed)
            for digest, content in placed:
                # an `id` line that was written later changes no digest
                if digest != content or digest not in contents:
                    contents[digest] = content
    return not missing


def _commits(git: Git, root: str, span: str) -> list[Commit]:
    """Return the commits that change memory files, and all merges of such commits, parents first.

    If the committer is somebody else, the author's text contains both: an agent may amend a person's commit.
    """
    own = find_git(git.top)
    # a shallow clone's first commits seem to add all older files
    boundary = cut_off_at(own) if own else set()
    areas = [root + area for area in AREAS]
    listed = git.run(*LIST, span, "--", *areas)
    commits = {
        commit: Commit(commit, HIDDEN_AUTHOR, parents, [])
        for commit, *parents in map(str.split, listed.decode().splitlines())
    }
    log = git.run(*SHOW, NAMES, "--", *areas, given=listed)
    for line in log.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith("commit "):  # once for each parent
            _, id, names = line.split(" ", 2)
            name, _, committer = names.partition("\t")
            author = name if committer == name else names
            if id not in boundary:
                commits[id] = replace(commits[id], author=author)
            commits[id].changes.append([])
        elif line.startswith(":") and line.rstrip('"').endswith(".md"):
            commits[id].changes[-1].append(_raw_change(line, root))
    return list(commits.values())


def _raw_change(line: str, root: str) -> Change:
    """Parse a line of `git diff-tree --raw`: modes, blobs, a path; `root` is `.rawko` there."""
    facts, _, path = line.partition("\t")
    path = _unquoted(path).removeprefix(root)
    modes, blobs = facts[1:].split(" ")[:2], facts.split(" ")[2:4]
    before, after = [
        f"{blob} {path}" if mode.startswith(FILE_MODE) else ""
        for mode, blob in zip(modes, blobs, strict=True)
    ]
    return Change(path, before, after)


def _unquoted(path: str) -> str:
    """Return a path without the quotes and escapes that git adds for control characters, quotes and backslashes."""
    if not path.startswith('"'):
        return path
    plain = path[1:-1].encode("utf-8", "surrogateescape").decode("unicode_escape")
    return plain.encode("latin-1").decode("utf-8", "surrogateescape")


def _blobs_in_head(git: Git, root: str, head: str, read: Read) -> Read:
    areas = [f"{root}{area}/" for area in AREAS]
    files = [
        line.split("\t", 1)
        for line in git.names("ls-tree", "-r", "-z", head, "--", *areas)
        if line.endswith(".md") and line.startswith(FILE_MODE)
    ]
    keys = [f"{facts.split(' ')[2]} {path.removeprefix(root)}" for facts, path in files]
    _read_all(git, keys, read, {})
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


def read_versions(
    layout: Layout, versions: Iterable[str], warn: Callable[[str], None]
) -> Iterator[tuple[str, bytes]]:
    """Yield (version, bytes) of each version of a file (`blob path`) that this clone has; warn if git fails."""
    paths: dict[str, list[str]] = {}  # blob → its versions
    for version in sorted(versions):
        paths.setdefault(version.partition(" ")[0], []).append(version)
    try:
        for blob, data in read_blobs(own_tree(layout.project).git, paths):
            yield from ((version, data) for version in paths[blob])
    except GitFailed as failure:
        warn(f"git cannot read memories that are missing or edited here: {failure}")


def digests_in(data: bytes, path: str = "") -> tuple[str, ...]:
    """Return a digest of each entry in a file, independent of line ends; without an id, it depends on `path`."""
    return tuple(digest for digest, _ in _placed_digests(data, path))


def _placed_digests(data: bytes, path: str) -> list[tuple[str, str]]:
    """Return the digest of each entry in a file, and the digest that it has in any file."""
    text, refused, _ = decode_file(data)
    blocks = [] if refused else split_blocks(text)
    stem = implicit_id(path)
    return [
        (digest_of(block, placed_id(stem, n)), digest_of(block))
        for n, block in enumerate(blocks, 1)
    ]


# HEAD, and the bytes of config.yaml that count there
Settled = tuple[str, bytes]


def settled_settings(
    layout: Layout, agents: Sequence[str], known: Settled | None = None
) -> Settled | None:
    """Return config.yaml of the last commit in which a person changed it.

    It is empty if only agents changed it in a repository in which people commit, and that of HEAD if only agents commit
    there. None means that HEAD holds no file of the repository. `known` is the answer for an earlier HEAD: then only
    later commits are read, and it is the answer if git fails.
    """
    try:
        tree = own_tree(layout.project)
        git, root = tree.git, tree.path(layout.root) + "/"
        place = tree.path(layout.config)
        head = git.line(
            "rev-parse", "--verify", "--quiet", "HEAD^{commit}", fine=(0, 1)
        )
        if not head or not git.names("ls-tree", "-z", head, "--", root):
            return None
        if (
            known
            and git.line("merge-base", known[0], head, fine=(0, 1, 128)) != known[0]
        ):
            known = None
        span = f"{known[0]}..{head}" if known else head
        commit = _last_of_a_person(git, span, place, agents)
        if commit:
            return head, _file(git, commit, place)
        if known:
            return head, known[1]
        people_commit = _last_of_a_person(git, head, root, agents)
        return head, b"" if people_commit else _file(git, head, place)
    except GitFailed:
        return known


def _last_of_a_person(git: Git, span: str, place: str, agents: Sequence[str]) -> str:
    """Return the last commit that changes a file or folder and whose author and committer are no agents; or nothing."""
    form = "--format=%an <%ae>%x09%cn <%ce>"
    listed = git.run("rev-list", form, span, "--", place).decode("utf-8", "replace")
    lines = listed.split("\n")
    for commit, author in zip(lines[::2], lines[1::2], strict=False):
        if author_state(author, agents) != AGENT:
            return commit.removeprefix("commit ")
    return ""


def _file(git: Git, commit: str, place: str) -> bytes:
    """Return a file of a commit; empty if the commit has none, or something else in its place."""
    for listed in git.names("ls-tree", "-z", commit, "--", place):
        facts, _, name = listed.partition("\t")
        if name == place and facts.startswith(FILE_MODE):
            return git.run("cat-file", "blob", facts.split(" ")[2])
    return b""
