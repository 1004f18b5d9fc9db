"""Find out who committed an entry: a person, an agent, or nobody yet.

Entries are identified by their content, because files are renamed and appended to. An entry is committed if HEAD holds
it word for word; its author is that of the first commit with it. History is read once for each HEAD.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..files.contents import read_bytes
from ..files.layout import AREAS, Layout
from ..files.read import decode, read_data
from ..files.scan import is_text, stamps, sweep
from ..format.split import digest_at, digest_of, split
from ..model.record import record
from ..state.belief.committer import AGENTS, HIDDEN, state_of
from .head import cut_off_at, find_git, git_stamp
from .run import Git, GitFailed

BLOBS_PER_CALL = 500  # blobs asked of one git process: bounds the memory its answer takes


@record
class History:
    """What git knows of memory files, as of one HEAD."""

    head: str = ""  # the commit; empty while there is none
    authors: Mapping[str, str] = {}  # digest of an entry → who first committed it, `Name <e-mail>`, in all of history
    blobs: Mapping[str, tuple[str, ...]] = {}  # blob and path of a file in HEAD → digests of its entries
    ignored: tuple[str, ...] = ()  # areas that git ignores: they will never be committed
    why: str = ""  # why git has no answer; empty when it has


def provenance_of(layout: Layout, agents: Sequence[str] = AGENTS) -> tuple[dict[str, str], str]:
    """Return entry id → who committed it, for every entry of a repository, and the stamp for which this holds."""
    stamp = git_stamp(layout.root)
    history = read_history(layout) if stamp else History(why="no git")
    committed = {digest for digests in history.blobs.values() for digest in digests}
    found: dict[str, str] = {}
    for path in filter(is_text, stamps(sweep(layout).listing)):
        try:
            data = read_bytes(layout.path(path))
        except OSError:
            continue
        authors = _authors(digests_in(data, path), path, history, committed)
        entries = read_data(data, path, advice=False).entries
        authors += [HIDDEN] * (len(entries) - len(authors))  # an older log is one block, and several experiences
        found |= {entry.id: state_of(author, agents) for entry, author in zip(entries, authors, strict=True)}
    return found, stamp


def _authors(digests: Sequence[str], path: str, history: History, committed: set[str]) -> list[str]:
    absent = HIDDEN if history.why or path.partition("/")[0] in history.ignored else ""
    return [history.authors.get(digest, HIDDEN) if digest in committed else absent for digest in digests]


def read_history(layout: Layout, known: History | None = None) -> History:
    """Ask git; with `known` history, read only later commits, unless HEAD does not descend from it (amend)."""
    try:
        git = Git(layout.root)
        if git.run("rev-parse", "--is-inside-work-tree").strip() != b"true":
            return History(why="not in a work tree")
        head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", fine=(0, 1)).decode().strip()
        ignored = tuple(git.run("check-ignore", *AREAS, fine=(0, 1)).decode().split())
        if not head:
            return History(ignored=ignored)
        base = known if known and _is_ancestor(git, known, head) else History()
        read = dict(base.blobs)
        authors = {**base.authors, **_new_authors(git, base, head, read)}
        return History(head, authors, _blobs_in_head(git, head, read), ignored)
    except GitFailed as failure:
        return History(why=str(failure))


def _is_ancestor(git: Git, known: History, head: str) -> bool:
    if not known.head or HIDDEN in known.authors.values():
        return False
    try:
        git.run("merge-base", "--is-ancestor", known.head, head)
        return True
    except GitFailed:
        return False


def _new_authors(git: Git, base: History, head: str, read: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return digest → author of entries in commits after the base, parents first; add each file's digests to `read`."""
    span = f"{base.head}..{head}" if base.head else head
    changes = list(_changes(git, span))
    found: dict[str, str] = {}
    for start in range(0, len(changes), BLOBS_PER_CALL):
        part = changes[start : start + BLOBS_PER_CALL]
        contents = dict(read_blobs(git, dict.fromkeys(blob for blob, _, _ in part)))
        if len(contents) < len({blob for blob, _, _ in part}):  # a partial clone: who was first cannot be told
            return {digest: HIDDEN for digests in _blobs_in_head(git, head, read).values() for digest in digests}
        for blob, path, author in part:
            key = _key(blob, path)
            if key not in read:
                read[key] = digests_in(contents[blob], path)
            for digest in read[key]:
                if digest not in base.authors:
                    found.setdefault(digest, author)
    return found


def _key(blob: str, path: str) -> str:
    """Return what names a version of a file: an entry without an id is another one under another path."""
    return f"{blob} {path}"


def _changes(git: Git, span: str) -> Iterator[tuple[str, str, str]]:
    """Yield (blob, path, author) for every version of a file, oldest first; a merge counts for what no parent has.

    The author holds the committer, too, where that is somebody else: an agent may amend a person's commit.
    """
    own = find_git(git.folder)
    boundary = cut_off_at(own) if own else set()  # a shallow clone's first commits seem to bring all that was there
    words = (
        "log",
        "--reverse",
        "--topo-order",
        "--raw",
        "-c",
        "--no-abbrev",
        "--no-renames",
        "--no-mailmap",
        "--relative",
    )
    form = "--format=commit %H %an <%ae>%x09%cn <%ce>"
    log = git.run("-c", "core.quotePath=false", *words, form, span, "--", *AREAS).decode("utf-8", "surrogateescape")
    author = ""
    for line in log.split("\n"):
        if line.startswith("commit "):
            _, commit, names = line.split(" ", 2)
            name, _, committer = names.partition("\t")
            author = HIDDEN if commit in boundary else name if committer == name else names
        elif line.startswith(":") and line.rstrip('"').endswith(".md"):
            facts, _, path = line.partition("\t")
            parts = facts.split(" ")
            is_file = parts[facts.count(":")].startswith(
                "100"
            )  # the mode after the commit; others are links and modules
            if is_file and parts[-2].strip("0"):
                yield parts[-2], path.rpartition("\t")[2], author


def _blobs_in_head(git: Git, head: str, read: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    listed = git.run("ls-tree", "-r", "-z", head).decode("utf-8", "surrogateescape").split("\0")
    files = [line.split("\t", 1) for line in listed if line.endswith(".md") and line.startswith("100")]
    blobs = [(facts.split(" ")[2], path) for facts, path in files if path.partition("/")[0] in AREAS]
    unread = dict.fromkeys(blob for blob, path in blobs if _key(blob, path) not in read)
    contents = dict(read_blobs(git, unread))
    found: dict[str, tuple[str, ...]] = {}
    for blob, path in blobs:
        key = _key(blob, path)
        if key in read or blob in contents:
            found[key] = read[key] if key in read else digests_in(contents[blob], path)
    return found


def read_blobs(git: Git, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of each blob that is there."""
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
    """Return a digest of each entry's content in a file, whatever its line ends; `path` counts for those without id."""
    text, refused, _ = decode(data)
    return () if refused else tuple(digest_at(digest_of(block), path) for block in split(text))
