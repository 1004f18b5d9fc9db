"""Find problems that must not be committed: secrets, broken files, rewritten history, contradictions and more.

Each check examines only the changes of this commit, and each can be skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ..files.bundle import bundled_files, folder_of, is_bundle
from ..files.change_file import is_change_file
from ..files.layout import Layout
from ..files.read import implicit_id, read_data
from ..format.citation import cited_in, read_citation
from ..model.clock import now
from ..model.entry import Entry, Memory
from ..model.errors import NotFound, Refused
from ..model.kinds import ACTIVE, KEPT_BOTH
from ..model.problem import ERROR, Problem, error
from ..model.record import replace
from ..redaction.find import find_secrets
from ..state.belief.claims import KEEP_BOTH, UNREGISTERED, Claim, Predicate, claim_of, read_claim, rivals_of
from ..state.derive import DERIVED, derived_from, weak_sources
from ..state.fold import fold
from .authorship import digests_in
from .citations import GONE, STALE, Citations
from .edits import Edit, as_problem, depending_on
from .run import GitFailed
from .staged import Staged, is_memory

Registry = Mapping[str, Predicate]

SKIP = "RAWKOMEM_SKIP"  # environment variable: checks to skip once, because a hook gets no options
MARKERS_HINT = "keep one side, then git add"
LEAK_HINT = "remove the secret from the file and replace it where it is used; 'rawkomem scrub' redacts a text"
SETTLE_HINT = "resolve it with 'rawkomem tidy consolidate --apply' or 'rawkomem supersede', then git add"
DERIVED_HINT = "change or delete the memory ('rawkomem amend', 'rawkomem delete'), then git add"
CONFIRM_HINT = "correct the memory, or confirm it with 'rawkomem cite', then git add"


def check_staged(
    layout: Layout,
    registry: Registry,
    skip: Sequence[str] = (),
    append_only: bool = True,
    purged: Collection[str] = (),
    staged: Staged | None = None,
) -> dict[str, list[Problem]]:
    """Return check → Problems, with paths from the top of the work tree; checks in `skip` do not run.

    Without `append_only`, edits and removals of committed entries are warnings. Those of `purged` memories are allowed.
    Raise NotFound if git fails.
    """
    try:
        return check_commit(Commit(layout, staged or Staged(layout), registry, append_only, purged), skip)
    except GitFailed as failure:
        raise NotFound(f"git cannot tell what is staged: {failure}", failure.hint) from None


def check_commit(commit: Commit, skip: Sequence[str] = ()) -> dict[str, list[Problem]]:
    """Return check → Problems, as check_staged does. Raises GitFailed."""
    found: dict[str, list[Problem]] = {}
    for name, check in CHECKS.items():
        if name not in skip:
            problems = (replace(problem, path=commit.staged.name(problem.path)) for problem in check(commit))
            found[name] = sorted(problems, key=lambda problem: (problem.path, problem.line))
    return found


class Commit:
    """The staged files, or the commits of a branch, prepared for the checks."""

    def __init__(self, layout: Layout, staged: Staged, registry: Registry, append_only: bool = True,
                 purged: Collection[str] = ()):  # fmt: skip
        self.layout, self.staged, self.registry = layout, staged, registry
        self.purged = purged  # ids of memories that a person purged
        self.append_only = append_only  # whether an edit of a committed entry is an error
        self._everywhere: set[str] | None = None  # digests of all staged entries, computed on first use

    def texts(self, paths: Iterable[str], of: Mapping[str, str] | None = None) -> dict[str, bytes]:
        """Return path → bytes of the staged files, or of the version `of`."""
        blobs = {path: (self.staged.now if of is None else of)[path] for path in paths}
        contents = self.staged.read(blobs.values())
        return {path: contents[blob] for path, blob in blobs.items() if blob in contents}

    def changed(self) -> dict[str, bytes]:
        """Return path → bytes of the memory files that this commit adds or changes."""
        return self.texts(filter(is_memory, self.staged.changed()))

    def digests(self, version: Mapping[str, str]) -> dict[str, Entry]:
        """Return digest → entry of a version's files and bundles that this commit changes or removes."""
        return _digests(self.texts(filter(_holds_memories, self.staged.left(version)), version))

    def touched(self) -> dict[str, bytes]:
        """Return the files that this commit changes, and the files of memories whose change files it changes."""
        changed = self.changed()
        abouts = {e.about for path in filter(is_change_file, changed) for e in _entries(changed[path], path)}
        everything = self.texts(filter(is_memory, self.staged.now)) if abouts else {}
        return changed | {path: data for path, data in everything.items() if _speaks_of(data, path, abouts)}

    def concerned(self) -> set[str]:
        """Return the ids of the memories that this commit adds or changes."""
        return {entry.target for path, data in self.changed().items() for entry in _entries(data, path)}

    def is_anywhere(self, digest: str) -> bool:
        """Tell whether any staged file, changed or not, contains the entry with this digest."""
        if self._everywhere is None:
            self._everywhere = set(_digests(self.texts(filter(is_memory, self.staged.now))))
        return digest in self._everywhere

    def digests_now(self, since: Mapping[str, str]) -> dict[str, Entry]:
        """Return digest → entry of the staged files that a version does not have, and of all staged bundles."""
        new = set(filter(is_memory, self.staged.changed(since)))
        return _digests(self.texts({*new, *filter(is_bundle, self.staged.now)}))

    def memories(self, files: Iterable[str]) -> list[Memory]:
        """Return the active memories that some staged files contain, folded from all files about them."""
        everything = self.texts(filter(is_memory, self.staged.now))
        entries = [entry for path in files for entry in _entries(everything[path], path)]
        ids = {entry.target for entry in entries}
        others = [path for path, data in everything.items() if path not in files and _speaks_of(data, path, ids)]
        about: dict[str, list[Entry]] = {}
        for entry in (*entries, *(entry for path in others for entry in _entries(everything[path], path))):
            if entry.target in ids:
                about.setdefault(entry.target, []).append(entry)
        return [memory for memory in map(fold, about.values()) if memory and memory.status == ACTIVE]


def _secrets(commit: Commit) -> list[Problem]:
    files = commit.texts(commit.staged.changed())
    return [
        error("secret", f"a secret: {secret.rule}", LEAK_HINT, secret.line, path=path)
        for path, data in _unpacked(files)
        for secret in find_secrets(data.decode("utf-8", "replace"), pii=False)
    ]


def _frontmatter(commit: Commit) -> list[Problem]:
    """Return Problems of files that cannot be read as memories or that have unresolved conflicts."""
    found = [error("not-merged", "not merged yet", MARKERS_HINT, path=path) for path in commit.staged.unmerged]
    for path, data in commit.changed().items():
        reading = read_data(data, path, advice=False)
        found += [problem for problem in reading.problems if problem.level == ERROR]
        marked = [entry.line for entry in reading.entries if entry.conflicted]
        found += [error("conflict-markers", "merge conflict markers", MARKERS_HINT, line, path) for line in marked]
    return found


def _history(commit: Commit) -> list[Problem]:
    """Return a Problem for each committed entry that this commit changes or removes."""
    return [
        as_problem(edit, *(_left_by(commit, edit.old) if edit.new is None else ((), ())), not commit.append_only)
        for edit in edits_of(commit)
    ]


def _left_by(commit: Commit, old: Entry) -> tuple[Sequence[tuple[str, str]], Sequence[str]]:
    """Return the memories that refer to a removed memory, and its change files, as paths for `git rm`.

    Only files that contain its id or file name are parsed.
    """
    if not old.creates:
        return (), ()
    stem = old.path.rpartition("/")[2].removesuffix(".md")
    names = [name.encode("utf-8", "surrogateescape") for name in (old.id, stem)]
    staged = commit.texts(filter(is_memory, commit.staged.now))
    naming = [path for path, data in staged.items() if any(name in data for name in names)]
    changes = [path for path in naming if is_change_file(path)]
    about = [path for path in changes if any(entry.about == old.id for entry in _entries(staged[path], path))]
    depending = list(depending_on(old, commit.memories(naming))) if naming else []
    return depending, [commit.staged.name(path) for path in about]


def edits_of(commit: Commit) -> list[Edit]:
    """Return the committed entries that this commit changes or removes.

    In a merge, a change of one side and the resolution of a conflict do not count.
    """
    staged = commit.staged
    base = commit.digests(staged.base)
    parents = [commit.digests(parent) for parent in staged.parents]
    settled = _ids_that_differ(*parents) if len(parents) > 1 else set()
    found: dict[str, Edit] = {}
    for version, entries in zip(staged.parents, parents, strict=True):
        now = commit.digests_now(version) if entries else {}
        there = {entry.id: entry for entry in now.values()}
        for digest, entry in entries.items():
            taken = digest in base and any(digest not in parent for parent in parents)
            lost = digest not in now and not taken and not (entry.id in settled and entry.id in there)
            if lost and not commit.is_anywhere(digest):
                found.setdefault(digest, Edit(entry, there.get(entry.id)))
    return [edit for edit in found.values() if edit.old.target not in commit.purged]


def _ids_that_differ(ours: Mapping[str, Entry], theirs: Mapping[str, Entry]) -> set[str]:
    mine = {entry.id for digest, entry in ours.items() if digest not in theirs}
    return mine & {entry.id for digest, entry in theirs.items() if digest not in ours}


def _digests(files: Mapping[str, bytes]) -> dict[str, Entry]:
    """Return digest → entry of these files and of files in bundles; an older log counts as one entry."""
    pairs = (zip(digests_in(data), _entries(data, path), strict=False) for path, data in _unpacked(files))
    return {digest: entry for pair in pairs for digest, entry in pair}


def _holds_memories(path: str) -> bool:
    return is_memory(path) or is_bundle(path)


def _unpacked(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, bytes) of files and of the files in bundles; skip bundles that cannot be read."""
    for path, data in files.items():
        if not is_bundle(path):
            yield path, data
            continue
        try:
            held = bundled_files(data, path)
        except Refused:
            continue
        yield from ((f"{folder_of(path)}/{name}", text) for name, text in held.items())


def _contradictions(commit: Commit) -> list[Problem]:
    """Return a Problem for each claim of this commit that contradicts the claim of an active memory."""
    return [
        error(
            "contradiction",
            f"{memory.id} contradicts {rival.id}: {claim.subject} {claim.predicate} {claim.value}",
            SETTLE_HINT,
            memory.line,
            path=memory.path,
        )
        for memory, rival, claim in contradicting(commit)
    ]


def contradicting(commit: Commit) -> list[tuple[Memory, Memory, Claim]]:
    """Return (memory of this commit, active memory that its claim contradicts, claim) for each contradiction."""
    concerned = commit.concerned()
    memories = _claiming(commit)
    found: dict[frozenset[str], tuple[Memory, Memory, Claim]] = {}
    for memory in memories:
        claim = claim_of(memory) if memory.id in concerned else None
        if claim is None or commit.registry.get(claim.predicate, UNREGISTERED).conflict_policy == KEEP_BOTH:
            continue
        for rival in rivals_of(memory, memories, commit.registry):
            if (KEPT_BOTH, rival.id) not in memory.links and (KEPT_BOTH, memory.id) not in rival.links:
                found.setdefault(frozenset((memory.id, rival.id)), (memory, rival, claim))
    return list(found.values())


def _claiming(commit: Commit) -> list[Memory]:
    """Return the memories with claims about the subjects of this commit's claims; parse only files that name one."""
    entries = [entry for path, data in commit.touched().items() if b"claim" in data for entry in _entries(data, path)]
    claims = [claim for entry in entries if (claim := read_claim(entry.extra))]
    if not claims:
        return []
    words = {max(claim.subject.split(), key=len).encode() for claim in claims}  # a subject may be wrapped
    everything = commit.texts(filter(is_memory, commit.staged.now)).items()
    claiming = [path for path, data in everything if b"claim" in data and any(word in data for word in words)]
    return commit.memories(claiming)


def _derived(commit: Commit) -> list[Problem]:
    """Return a Problem for each active memory with an invalid source, if this commit changes the memory or source."""
    everything = commit.texts(filter(is_memory, commit.staged.now))
    deriving = [path for path, data in everything.items() if DERIVED.encode() in data or b"heritage" in data]
    memories = [memory for memory in commit.memories(deriving) if derived_from(memory)] if deriving else []
    if not memories:
        return []
    about: dict[str, list[Entry]] = {}
    for path, data in everything.items():
        for entry in _entries(data, path):
            about.setdefault(entry.target, []).append(entry)
    changed = commit.changed()
    concerned = {id for id, entries in about.items() if any(entry.path in changed for entry in entries)}
    found = []
    for memory in memories:
        for source in weak_sources(memory, lambda id: fold(about.get(id, [])), now()):
            if source.holds_back and (memory.id in concerned or source.id in concerned):
                what = f"{memory.id} was made from {source.id}, which is {source.why}"
                found.append(error("weak-source", what, DERIVED_HINT, memory.line, path=memory.path))
    return found


def _citations(commit: Commit) -> list[Problem]:
    """Return a Problem for each stale citation in memories of this commit, or to code that this commit changes."""
    touched, concerned, code = commit.touched(), commit.concerned(), commit.staged.code
    names = [path.encode("utf-8", "surrogateescape") for path in code]
    everything = commit.texts(filter(is_memory, commit.staged.now))
    cites = {path: data for path, data in everything.items() if b"cites" in data}
    citing = [path for path, data in cites.items() if path in touched or any(name in data for name in names)]
    looking = _StagedCitations(commit)
    found = []
    for memory in commit.memories(citing) if citing else ():
        for text in cited_in(memory.extra):
            citation = read_citation(text)
            if memory.id in concerned or citation.path in code:
                cited = looking.check(citation)
                if cited.state in (STALE, GONE):
                    what = f"{memory.id} cites {citation.place}: {cited.note or cited.state}"
                    found.append(error("stale-citation", what, CONFIRM_HINT, memory.line, path=memory.path))
    return found


class _StagedCitations(Citations):
    """Checks citations against the staged code."""

    def __init__(self, commit: Commit):
        super().__init__(commit.layout)
        self.known = None  # the cache is about files on disk, not about staged files
        self.staged = commit.staged

    def _read_once(self, path: str) -> bytes | None:
        self._file(path)  # raises _Unknown for paths out of the project
        return self.staged.code_file(path)


def _speaks_of(data: bytes, path: str, ids: Iterable[str]) -> bool:
    """Tell whether a file may hold entries about some ids: it contains one of them, or its name makes one."""
    stem = implicit_id(path)
    return any(id.encode() in data or id.partition("#")[0] == stem for id in ids)


def _entries(data: bytes, path: str) -> Sequence[Entry]:
    return read_data(data, path, advice=False).entries


CHECKS: dict[str, Callable[[Commit], list[Problem]]] = {
    "secrets": _secrets,
    "frontmatter": _frontmatter,
    "history": _history,
    "contradictions": _contradictions,
    "derived": _derived,
    "citations": _citations,
}
