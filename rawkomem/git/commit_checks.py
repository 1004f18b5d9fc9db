"""Check what is staged: secrets, broken files, edited history, contradictions, citations, duplicates.

Each check examines only the changes of this commit and can be skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations

from ..files.archive import bundled_files, folder_of_bundle, is_bundle
from ..files.check import COPY_HINT, MARKERS_HINT, by_memory, marker_problems
from ..files.layout import Layout
from ..format.blocks import citations_in, read_citation
from ..model.entries import Entry, Memory
from ..model.errors import Refused
from ..model.values import (
    ERROR,
    WARNING,
    Problem,
    error,
    now,
    record,
    replace,
    warning,
)
from ..redaction.find import find_secrets
from ..state.changes import AMENDABLE, kept_both
from ..state.claims import (
    KEEP_BOTH,
    UNREGISTERED,
    Claim,
    Predicate,
    claim_of,
    rivals_of,
)
from ..state.fold import REGISTRY, fold
from ..state.history import edit_in_words
from ..state.housekeeping import is_comparable
from ..state.trust import derived_from, weak_sources
from ..text.clean import one_line
from ..text.language import identity
from .authorship import digests_in
from .citations import GONE, STALE, CitationChecks
from .staged import Staged, is_memory

# Manual edits of committed entries

AMEND_HINT = "'rawkomem amend' and 'rawkomem delete' keep the old text as history"
NO_EFFECT = "edit-without-effect"
REPLACED = "an amendment replaces the edited text, so the edit waits for a review"
REVIEW_HINT = "decide on it with 'rawkomem review' after the commit"
MAX_TITLE_CHARS = 80
EDITED_FIELDS = (*AMENDABLE.values(), "body")


@record
class Edit:
    """A committed entry that a commit changes, or removes if `new` is None."""

    old: Entry
    new: Entry | None = None


def edit_problem(edit: Edit) -> Problem:
    """Return the Problem of an edit, an error."""
    old = edit.old
    new = edit.new
    name = f"{old.id}, about {old.about},"
    if old.creates:
        name = f"{one_line(old.title, MAX_TITLE_CHARS)!r} ({old.id})"
    if new is None:
        effect = f": it {REGISTRY[old.kind].tell(old)}" if old.changes else ""
        return error(
            "entry-gone", f"{name} was removed{effect}", AMEND_HINT, path=old.path
        )
    message = f"{name} was edited: {edit_in_words(old, new)}"
    return error("entry-rewritten", message, AMEND_HINT, new.line, new.path)


Registry = Mapping[str, Predicate]

# environment variable: checks to skip once, because a hook gets no options
SKIP_VARIABLE = "RAWKOMEM_SKIP"
LEAK_HINT = "remove the secret from the file and replace it where it is used; 'rawkomem try scrub' redacts a text"
SETTLE_HINT = "resolve it with 'rawkomem tidy consolidate --apply' or 'rawkomem supersede', then git add"
DERIVED_HINT = (
    "change or delete the memory ('rawkomem amend', 'rawkomem delete'), then git add"
)
CONFIRM_HINT = (
    "correct the memory, or confirm it with 'rawkomem link cite', then git add"
)


def check_commit(
    commit: CheckedCommit, skip: Sequence[str]
) -> dict[str, list[Problem]]:
    """Return check → Problems, with paths from the top of the work tree; checks in `skip` do not run. Raises GitFailed."""
    found: dict[str, list[Problem]] = {}
    for name, check in CHECKS.items():
        if name not in skip:
            problems = (
                replace(problem, path=commit.staged.name(problem.path))
                for problem in check(commit)
            )
            found[name] = sorted(
                problems, key=lambda problem: (problem.path, problem.line)
            )
    return found


class CheckedCommit:
    """The staged files, or the commits of a branch, prepared for the checks."""

    def __init__(self, layout: Layout, staged: Staged, registry: Registry, append_only: bool = True,
                 purged: Collection[str] = ()):  # fmt: skip
        self.layout = layout
        self.staged = staged
        self.registry = registry
        self.purged = purged  # ids of memories that a person purged
        # whether an edit of a committed entry is an error
        self.append_only = append_only

    @cached_property
    def changed(self) -> dict[str, bytes]:
        """Return path → bytes of the memory files that this commit adds or changes."""
        return self.staged.texts(filter(is_memory, self.staged.changed()))

    def digests(self, version: Mapping[str, str]) -> dict[str, Entry]:
        """Return digest → entry of a version's files and bundles that this commit changes or removes."""
        left = [
            path
            for path in self.staged.left(version)
            if is_memory(path) or is_bundle(path)
        ]
        return self._digests(self.staged.texts(left, version))

    @cached_property
    def concerned(self) -> set[str]:
        """Return the ids of the memories that this commit adds or changes."""
        return set(by_memory(self.staged.entries_in(self.changed)))

    def digests_now(self, ids: Collection[str]) -> dict[str, Entry]:
        """Return digest → entry of the staged bundles, changed files and files that may hold one of these ids."""
        bundles = self.staged.texts(filter(is_bundle, self.staged.now))
        held = self.staged.holding(ids)
        return self._digests({**bundles, **held, **self.changed})

    def _digests(self, files: Mapping[str, bytes]) -> dict[str, Entry]:
        """Return digest → entry of these files and of files in bundles; a log with a text before its entries counts as one."""
        pairs = (
            zip(digests_in(data), self.staged.reading(data, path).entries, strict=False)
            for path, data in _unpacked(files)
        )
        return {digest: entry for pair in pairs for digest, entry in pair}


def _secrets(commit: CheckedCommit) -> list[Problem]:
    files = commit.staged.texts(commit.staged.changed())
    return [
        error("secret", f"a secret: {secret.rule}", LEAK_HINT, secret.line, path=path)
        for path, data in _unpacked(files)
        for secret in find_secrets(data.decode("utf-8", "replace"), pii=False)
    ]


def _frontmatter(commit: CheckedCommit) -> list[Problem]:
    """Return Problems of files that cannot be read as memories or that have unresolved conflicts."""
    found = [
        error("not-merged", "not merged yet", MARKERS_HINT, path=path)
        for path in commit.staged.unmerged
    ]
    for path, data in commit.changed.items():
        reading = commit.staged.reading(data, path)
        found += [problem for problem in reading.problems if problem.level == ERROR]
        found += marker_problems(reading)
    return [*found, *_copies(commit)]


def _copies(commit: CheckedCommit) -> list[Problem]:
    """Return a Problem for each memory whose id another staged memory has, unless a parent commit has both."""
    created = [
        entry for entry in commit.staged.entries_in(commit.changed) if entry.creates
    ]
    ids = {entry.id for entry in created}
    about = commit.staged.entries(words=ids) if ids else {}
    found = []
    for entry in created:
        for other in about[entry.id]:
            is_copy = other.creates and other.digest != entry.digest
            if is_copy and not commit.staged.has_both(entry, other):
                message = f"id {entry.id!r} is in {other.path}, too, so only one of these memories is in use"
                place = entry.line, entry.path
                found.append(error("duplicate-id", message, COPY_HINT, *place))
    return found


def _history(commit: CheckedCommit) -> list[Problem]:
    """Return a Problem for each committed entry that this commit changes or removes."""
    edits = edits_of(commit)
    old = {edit.old.id: edit.old for edit in edits}
    targets = {edit.old.target for edit in edits}
    about = commit.staged.entries(words=targets) if edits else {}
    found = []
    for edit in edits:
        problem = edit_problem(edit)
        entries = about.get(edit.old.target, [])
        unedited = [old.get(entry.id, entry) for entry in entries]
        if _is_replaced(edit, fold(unedited), fold(entries)):
            message = f"{problem.message}; {REPLACED}"
            problem = replace(
                problem, code=NO_EFFECT, message=message, hint=REVIEW_HINT
            )
        found.append(problem if commit.append_only else replace(problem, level=WARNING))
    return [*found, *_left_alone(commit)]


def _is_replaced(edit: Edit, before: Memory | None, after: Memory | None) -> bool:
    """Return whether an edited value has no effect, because a later entry replaces it.

    `before` and `after` are the memory without and with the edit.
    """
    if not (
        edit.new and before and after and (edit.old.creates or edit.old.kind == "amend")
    ):
        return False
    old, new, was, now = (
        {**said.extra, **{field: getattr(said, field) for field in EDITED_FIELDS}}
        for said in (edit.old, edit.new, before, after)
    )
    return any(
        old.get(key) != new.get(key) != now.get(key) == was.get(key)
        for key in {**old, **new}
    )


def _left_alone(commit: CheckedCommit) -> list[Problem]:
    """Return a Problem for each change that stays without its memory, as when one side of a merge removed that."""
    gone = {
        old.id: old
        for parent in commit.staged.parents
        for old in commit.digests(parent).values()
        if old.creates and old.id not in commit.purged
    }
    entries = commit.digests_now(gone).values() if gone else ()
    kept = {entry.id for entry in entries if entry.creates}
    found = []
    for change in entries:
        old = gone.get(change.target)
        if old and change.changes and old.id not in kept:
            title = one_line(old.title, MAX_TITLE_CHARS)
            message = f"this change of {title!r} ({old.id}) has no effect: its memory was removed"
            hint = f"to keep the memory, restore {commit.staged.name(old.path)}; otherwise remove this file"
            found.append(
                warning("about-nothing", message, hint, change.line, change.path)
            )
    return found


def edits_of(commit: CheckedCommit) -> list[Edit]:
    """Return the committed entries that this commit changes or removes.

    In a merge, a change of one side and the resolution of a conflict do not count.
    """
    staged = commit.staged
    parents = [commit.digests(parent) for parent in staged.parents]
    if not any(parents):
        return []
    base = commit.digests(staged.base)
    ids = {entry.id for one in parents for entry in one.values()}
    now = commit.digests_now(ids)
    there = {entry.id: entry for entry in now.values()}
    one_side = {
        digest
        for one in parents
        for digest in one
        if any(digest not in two for two in parents)
    }
    changed = [{one[digest].id for digest in one_side & one.keys()} for one in parents]
    # both sides changed these
    settled = changed[0] & changed[1] if len(changed) > 1 else set()
    found: dict[str, Edit] = {}
    for digest, entry in {**parents[-1], **parents[0]}.items():
        new = there.get(entry.id)
        is_taken = digest in base and digest in one_side
        is_settled = new is not None and entry.id in settled
        # only its id was added
        is_named = new is not None and entry.digest == new.digest != ""
        is_edit = digest not in now and not is_taken and not is_settled and not is_named
        if is_edit and entry.target not in commit.purged:
            found[digest] = Edit(entry, new)
    return list(found.values())


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
        yield from (
            (f"{folder_of_bundle(path)}/{name}", text) for name, text in held.items()
        )


def _contradictions(commit: CheckedCommit) -> list[Problem]:
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


def contradicting(commit: CheckedCommit) -> list[tuple[Memory, Memory, Claim]]:
    """Return (memory of this commit, active memory that its claim contradicts, claim) for each contradiction."""
    concerned = commit.concerned
    claims = [*filter(None, map(claim_of, commit.staged.naming(concerned)))]
    about = commit.staged.naming({claim.subject for claim in claims})
    memories = [one for one in about if claim_of(one)]
    found: dict[frozenset[str], tuple[Memory, Memory, Claim]] = {}
    for memory in memories:
        claim = claim_of(memory) if memory.id in concerned else None
        if (
            claim is None
            or commit.registry.get(claim.predicate, UNREGISTERED).conflict_policy
            == KEEP_BOTH
        ):
            continue
        for rival in rivals_of(memory, memories, commit.registry):
            if not kept_both(memory, rival):
                found.setdefault(
                    frozenset((memory.id, rival.id)), (memory, rival, claim)
                )
    return list(found.values())


def _derived(commit: CheckedCommit) -> list[Problem]:
    """Return a Problem for each active memory with an invalid source, if this commit changes the memory or source."""
    concerned = commit.concerned
    found = []
    deriving = [*filter(derived_from, commit.staged.naming(concerned))]
    commit.staged.naming({id for memory in deriving for id in derived_from(memory)})
    for memory in deriving:
        for source in weak_sources(memory, commit.staged.memory, now()):
            if source.holds_back and (memory.id in concerned or source.id in concerned):
                what = f"{memory.id} was made from {source.id}, which is {source.why}"
                found.append(
                    error(
                        "weak-source", what, DERIVED_HINT, memory.line, path=memory.path
                    )
                )
    return found


def _citations(commit: CheckedCommit) -> list[Problem]:
    """Return a Problem for each stale citation in memories of this commit, or to code that this commit changes."""
    concerned = commit.concerned
    code = commit.staged.code
    looking = _StagedCitations(commit)
    found = []
    for memory in commit.staged.naming({*concerned, *code}):
        for text in citations_in(memory.extra):
            citation = read_citation(text)
            if memory.id in concerned or citation.path in code:
                cited = looking.check(citation)
                if cited.state in (STALE, GONE):
                    what = f"{memory.id} cites {citation.place}: {cited.note or cited.state}"
                    found.append(
                        error(
                            "stale-citation",
                            what,
                            CONFIRM_HINT,
                            memory.line,
                            path=memory.path,
                        )
                    )
    return found


class _StagedCitations(CitationChecks):
    """Checks citations against the staged code."""

    def __init__(self, commit: CheckedCommit):
        super().__init__(commit.layout)
        self.staged = commit.staged

    def _read_once(self, path: str) -> bytes | None:
        self._file(path)  # raises _Unknown for paths out of the project
        return self.staged.code_file(path)


CHECKS: dict[str, Callable[[CheckedCommit], list[Problem]]] = {
    "secrets": _secrets,
    "frontmatter": _frontmatter,
    "history": _history,
    "contradictions": _contradictions,
    "derived": _derived,
    "citations": _citations,
}


# Find the memories that a commit adds, and exact duplicates among the memories of the commit.
#
# It reads only git's index: it needs no search index and ignores unstaged changes.

DUPLICATES = "duplicates"  # the name of this check


class AddedMemories:
    """The memories that a commit adds or rewords; in a merge, those that no parent has."""

    def __init__(self, staged: Staged):
        self.staged = staged
        new = [
            path
            for path in filter(is_memory, staged.now)
            if all(parent.get(path) != staged.now[path] for parent in staged.parents)
        ]
        # in the parents' files that this commit changes or moves
        known = [
            entry
            for parent in staged.parents
            if new
            for entry in staged.entries_in(
                staged.texts(filter(is_memory, staged.left(parent)), parent)
            )
        ]
        digests = {entry.digest for entry in known}
        ids_before = {entry.id for entry in known}
        entries = [
            entry
            for entry in staged.entries_in(staged.texts(new))
            if entry.digest not in digests
        ]
        self.digests = {entry.digest for entry in entries}  # of the added entries
        self.created = {
            entry.id
            for entry in entries
            if entry.creates and entry.id not in ids_before
        }
        worded = {
            entry.target for entry in entries if entry.creates or entry.kind == "amend"
        }
        named = staged.naming(worded)
        self.memories = {memory.id: memory for memory in named if memory.id in worded}

    def holds(self, path: str) -> bool:
        """Return whether the commit contains a file; `path` is below `.rawko`."""
        return path in self.staged.now

    def twins(self) -> list[tuple[Memory, Memory]]:
        """Return (memory that the commit adds, another memory of the commit with exactly the same text), by path."""
        same: dict[str, list[Memory]] = {}
        texts = {memory.body or memory.title for memory in self.memories.values()}
        for memory in self.staged.naming(texts):
            same.setdefault(identity(f"{memory.title}\n{memory.body}"), []).append(
                memory
            )
        twins = [
            (newer, older)
            for group in same.values()
            for older, newer in combinations(sorted(group, key=self._age), 2)
            if (older.id in self.memories or newer.id in self.memories)
            and is_comparable(newer, older)
        ]
        return sorted(twins, key=lambda pair: (pair[0].path, pair[0].line))

    def _age(self, memory: Memory) -> tuple[bool, int, str]:
        return memory.id in self.created, memory.created, memory.id


def duplicate_problems(brought: AddedMemories) -> list[Problem]:
    """Return a Problem for each exact duplicate, with paths from the top of the work tree."""
    name = brought.staged.name
    return [
        error(
            "duplicate",
            f"{memory.id} says exactly what {other.id} says, in {name(other.path)}",
            f"run 'rawkomem delete {memory.id}', or add what is different about it; then git add",
            memory.line,
            path=name(memory.path),
        )
        for memory, other in brought.twins()
    ]
