"""Check memory files: parser Problems, content rules, clashing names, duplicate ids and broken
references.
"""

from __future__ import annotations

import os
import re
import shlex
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from ..model.entries import Entry, Memory
from ..model.ids import RESERVED_NAMES, folded_name, kebab
from ..model.values import (
    ACTIVE,
    ERROR,
    GROUPS,
    RECORDED,
    STYLE,
    Problem,
    error,
    record,
    replace,
    style,
    warning,
)
from ..redaction.find import redact
from ..state.changes import HERITAGE, SUPERSEDES, Names, newer_in, references
from ..state.contradictions import contradictions
from ..state.fold import FoldTogether
from ..state.trust import DERIVED
from ..text.acts import APPLIES_KEY, guard_of, is_idle_guard
from ..text.chunks import counted
from .append import is_change_file
from .layout import FOLDER, Layout, is_local_name, is_text_path, sweep, walk
from .reading import Reading, read_data, read_file

# reported for deleted memories, too: their files still exist
ALWAYS_REPORTED = ("unsafe-name", "long-name", "secret")
IDEAL_WORDS = (200, 500)  # SPEC-0009
MAX_WORDS = 2_000
# the code of a remark that applies to most good memories
NOT_IDEAL = "not-ideal-length"
KEBAB = re.compile(
    r"[a-z0-9]+(?:-[a-z0-9]+)*(?:_[a-z0-9-]+)?\.md|\d{4}-\d\d-\d\dT[0-9A-Za-z_-]+\.md"
)
TRACE_TIME = re.compile(r"^\d{4}-\d\d-\d\dT[0-9Z-]+_")
# not allowed on Windows
UNSAFE_NAME = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ](?:\.md)?$|^ | \.md$|\.\.md$')
# types of links that may lead to a deleted memory
HISTORY_LINKS = (SUPERSEDES, HERITAGE, DERIVED)
MARKERS_HINT = "keep one side, then git add and commit"
MAX_QUOTED_CHARS = 80  # characters of a sentence in a message
# some tools add a suffix, and 255 is the limit of most file systems
MAX_NAME_BYTES = 200


@record
class Checked:
    """The verdict on one file."""

    file: str
    verdict: str
    entries: int
    titles: tuple[str, ...]
    problems: tuple[Problem, ...]


def check_files(paths: Sequence[str]) -> list[Checked]:
    """Check single files or folders of Markdown files, inside a repository or not."""
    return [
        _checked(_with_rules(read_file(file, file)), ())
        for path in paths
        for file in _markdown_in(path)
    ]


def check_repository(layout: Layout, more: Sequence[Problem] = ()) -> list[Checked]:
    """Check every file, then names, ids and references across all files; return one result per file, by path.

    `more` are further Problems.
    """
    swept = sweep(layout)
    readings = {
        path: _with_rules(read_file(layout.path(path), path), error)
        for path in swept.paths
    }
    entries = [entry for reading in readings.values() for entry in reading.entries]
    memories = _folded(by_memory(entries))
    across = [
        *swept.problems,
        *_clashes(readings),
        *_ids_twice(entries),
        *_dangling(entries),
    ]
    across += [*_broken_links(memories), *_contradicted(memories), *more]
    across += _idle_guards(memories)
    deleted = {memory.id for memory in memories if memory.status == "deleted"}
    readings = {
        path: _without_deleted(reading, deleted) for path, reading in readings.items()
    }
    extra: dict[str, list[Problem]] = {}
    for problem in across:
        extra.setdefault(problem.path, []).append(problem)
    checked = [
        _checked(reading, extra.pop(path, [])) for path, reading in readings.items()
    ]
    checked += [_checked(Reading(path), problems) for path, problems in extra.items()]
    return sorted(checked, key=lambda item: item.file)


def _without_deleted(reading: Reading, deleted: Container[str]) -> Reading:
    """Return a reading without the advice about entries of deleted memories; errors stay."""
    gone = [entry.target in deleted for entry in reading.entries]
    lines = [entry.line for entry in reading.entries]

    def is_advice(problem: Problem) -> bool:
        number = bisect_right(lines, problem.line)
        return (
            problem.level != ERROR
            and problem.code not in ALWAYS_REPORTED
            and number > 0
            and gone[number - 1]
        )

    if not any(gone):
        return reading
    return replace(
        reading,
        problems=tuple(
            problem for problem in reading.problems if not is_advice(problem)
        ),
    )


def check_text(data: bytes, path: str, others: Sequence[Memory]) -> Checked:
    """Check the unsaved text of one file against the memories of other files; read nothing from disk."""
    reading = _with_rules(read_data(data, path))
    elsewhere = [memory for memory in others if memory.path != path]
    known = {memory.id for memory in elsewhere}
    entries = reading.entries
    twice = [
        _id_twice(entry, "in another file, too")
        for entry in entries
        if entry.id in known
    ]
    return _checked(
        reading,
        [
            *twice,
            *_ids_twice(entries),
            *_dangling(entries, known),
            *_broken_links(_folded(by_memory(entries)), elsewhere),
        ],
    )


def _checked(reading: Reading, more: Iterable[Problem]) -> Checked:
    problems = sorted([*reading.problems, *more], key=lambda problem: problem.line)
    if any(entry.leaks for entry in reading.entries):  # a message may quote the secret
        problems = [
            replace(problem, message=redact(problem.message)) for problem in problems
        ]
    whole = replace(reading, problems=tuple(problems))
    good = [entry for entry in reading.entries if not entry.draft]
    titles = tuple(
        redact(entry.title) if entry.leaks else entry.title
        for entry in good
        if entry.title
    )
    return Checked(reading.path, whole.verdict, len(good), titles, whole.problems)


def _markdown_in(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    files = []
    for folder, folders, names in walk(path):
        folders[:] = sorted(
            name
            for name in folders
            if not is_local_name(name) and not name.startswith(".")
        )
        files += [
            os.path.join(folder, name) for name in sorted(names) if name.endswith(".md")
        ]
    return files


def _with_rules(reading: Reading, marked: Callable[..., Problem] = warning) -> Reading:
    """Return a reading with the Problems of its name and content; `marked` makes those of conflict markers."""
    name = os.path.basename(reading.path)
    of_name = [
        p
        for p in _name_problems(name)
        if p.level != STYLE or not is_change_file(reading.path)
    ]
    problems = [
        *of_name,
        *(p for entry in reading.entries for p in _content_problems(entry)),
    ]
    placed = (replace(problem, path=reading.path) for problem in problems)
    return replace(
        reading,
        problems=(*reading.problems, *placed, *marker_problems(reading, marked)),
    )


def marker_problems(
    reading: Reading, marked: Callable[..., Problem] = error
) -> list[Problem]:
    """Return a Problem for each entry with merge conflict markers in its text."""
    lines = [entry.line for entry in reading.entries if entry.conflicted]
    return [
        marked(
            "conflict-markers",
            "merge conflict markers",
            MARKERS_HINT,
            line,
            reading.path,
        )
        for line in lines
    ]


def _name_problems(name: str) -> list[Problem]:
    quoted = repr(printable(name))
    if not is_text_path(name):
        message = f"file name {quoted} is not UTF-8, or holds control characters: the file is not indexed"
        return [error("name-not-utf-8", message, "rename it")]
    if UNSAFE_NAME.search(name) or name.partition(".")[0].lower() in RESERVED_NAMES:
        return [
            warning(
                "unsafe-name",
                f"file name {quoted} is not allowed on Windows",
                "use a kebab-case name",
            )
        ]
    if len(os.fsencode(name)) > MAX_NAME_BYTES:
        return [
            warning(
                "long-name",
                f"file name is longer than {MAX_NAME_BYTES} bytes",
                "shorten it",
            )
        ]
    if not KEBAB.fullmatch(name) and not _is_kebab(name.removesuffix(".md")):
        return [
            style(
                "not-kebab-case",
                f"file name {quoted} is not kebab-case",
                "use-words-like-this.md",
            )
        ]
    return []


def _is_kebab(stem: str) -> bool:
    """Return whether a name with non-ASCII letters is kebab-case; the time in a trace's name is ignored."""
    stem = TRACE_TIME.sub("", stem)
    return not stem.isascii() and kebab(stem) == stem


def _content_problems(entry: Entry) -> list[Problem]:
    if not entry.creates or entry.draft or entry.kind in (*GROUPS, *RECORDED):
        return []
    words = len(entry.body.split())
    length = counted(words, "word")
    shortest, longest = IDEAL_WORDS
    if words > MAX_WORDS:
        return [
            style(
                "too-long",
                f"{length}: at most {MAX_WORDS:,}",
                "split it into several memories",
                entry.line,
            )
        ]
    if shortest <= words <= longest:
        return []
    hint = "say why and when it matters" if words < shortest else "shorten it"
    return [
        style(NOT_IDEAL, f"{length}: {shortest}–{longest} are ideal", hint, entry.line)
    ]


def _clashes(paths: Iterable[str]) -> list[Problem]:
    """Return a Problem for each file name that macOS or Windows cannot tell from another one."""
    groups: dict[str, list[str]] = {}
    hint = "rename one of them"
    for path in paths:
        groups.setdefault(folded_name(path), []).append(path)
    return [
        warning(
            "name-clash",
            f"same name as {printable(other)!r} on macOS and Windows",
            hint,
            path=path,
        )
        for group in groups.values()
        for path, other in zip(group, group[1:] + group[:1], strict=True)
        if len(group) > 1
    ]


EQUAL_HINT = "the copies are equal: remove all of them but one"
COPY_HINT = "if it is a copy, run 'rawkomem check --fix', which gives it a new id; else remove one of them"


def _ids_twice(entries: Sequence[Entry]) -> list[Problem]:
    """Return a Problem for each entry whose id another entry has; copies left by a killed gather do not count."""
    gathered = {
        (entry.id, entry.digest) for entry in entries if not is_change_file(entry.path)
    }
    entries = [
        e
        for e in entries
        if not is_change_file(e.path) or (e.id, e.digest) not in gathered
    ]
    counts = Counter(entry.id for entry in entries)
    equal = Counter((entry.id, entry.digest) for entry in entries)
    return [
        _id_twice(
            entry,
            f"{counts[entry.id]} times",
            EQUAL_HINT if equal[entry.id, entry.digest] == counts[entry.id] else "",
        )
        for entry in entries
        if counts[entry.id] > 1
    ]


def _id_twice(entry: Entry, where: str, hint: str = "") -> Problem:
    hint = hint or (COPY_HINT if entry.creates else "give each entry its own id")
    return error(
        "duplicate-id",
        f"id {entry.id!r} is used {where}",
        hint,
        entry.line,
        entry.path,
        entry.id,
    )


def _dangling(entries: Sequence[Entry], elsewhere: Iterable[str] = ()) -> list[Problem]:
    known = {*elsewhere, *(e.id for e in entries if e.creates and not e.is_nameless)}
    # a change in the same file may name a memory by its file
    named = {(entry.path, entry.id) for entry in entries if entry.creates}
    lost = [
        entry
        for entry in entries
        if entry.changes
        and entry.about
        and entry.about not in known
        and (entry.path, entry.about) not in named
    ]
    sizes = Counter(entry.path for entry in entries)
    sizes.subtract(entry.path for entry in lost)
    return [
        warning(
            "about-nothing",
            f"{entry.kind} of {entry.about!r}: no file here has this memory",
            f"if it was removed on purpose, run 'rm {shlex.quote(f'{FOLDER}/{entry.path}')}'; else restore its file"
            if is_change_file(entry.path) and not sizes[entry.path]
            else f"correct the id, or write 'id: {entry.about}' below the first line of the memory that it means; "
            "if that was removed, restore it or remove this entry",
            entry.line,
            path=entry.path,
            quote=entry.about,
        )
        for entry in lost
    ] + _superseded_by_nothing(entries, known)


def _superseded_by_nothing(
    entries: Sequence[Entry], known: Container[str]
) -> list[Problem]:
    """Return a Problem for each `supersededBy` that names no memory: the older memory stays in use."""
    ids = {entry.id for entry in entries if entry.creates}
    return [
        warning(
            "superseded-by-nothing",
            f"supersededBy {newer!r}: no memory has this id, so the older one stays in use",
            "correct the id, restore the newer memory, or remove the line",
            entry.line,
            path=entry.path,
            quote=newer,
        )
        for entry in entries
        if (newer := newer_in(entry)) and newer not in known and newer not in ids
    ]


def by_memory(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return memory id → the entries about it."""
    about: dict[str, list[Entry]] = {}
    for entry in entries:
        about.setdefault(entry.target, []).append(entry)
    return about


def _folded(about: Mapping[str, Sequence[Entry]]) -> list[Memory]:
    together = FoldTogether(lambda id: about.get(id, ()))
    return [memory for memory in map(together.memory, about) if memory]


def _idle_guards(memories: Sequence[Memory]) -> list[Problem]:
    """Return a Problem for each guard that names no acts; one that was switched off has an empty list of them."""
    return [
        warning(
            "idle-guard",
            f"guard {guard_of(memory.extra)} does nothing without {APPLIES_KEY}",
            f"run: rawkomem amend {memory.id} --applies-to 'commands=git push*' (or 'paths=src/**')",
            memory.line,
            memory.path,
        )
        for memory in memories
        if memory.status == ACTIVE
        and APPLIES_KEY not in memory.extra
        and is_idle_guard(memory.extra, memory.when)
    ]


def _contradicted(memories: Sequence[Memory]) -> list[Problem]:
    """Return a Problem for each memory that a newer one contradicts."""
    return [
        warning(
            "contradicted",
            f"{pair.older.id!r} says {pair.said.other[:MAX_QUOTED_CHARS]!r}, "
            f"{pair.newer.id!r} says {pair.said.one[:MAX_QUOTED_CHARS]!r}",
            f"if the older no longer holds, run 'rawkomem supersede {pair.older.id} {pair.newer.id}'; else amend one",
            pair.older.line,
            pair.older.path,
        )
        for pair in contradictions(memories)
    ]


def _broken_links(
    own: Sequence[Memory], elsewhere: Sequence[Memory] = ()
) -> list[Problem]:
    """Return a Problem for each link whose name matches no memory, several memories, or a deleted one."""
    deleted = {memory.id for memory in (*elsewhere, *own) if memory.status == "deleted"}
    names = Names([*elsewhere, *own])
    problems: dict[Problem, None] = {}
    for memory in own:
        for type, name in references(memory) if memory.id not in deleted else ():
            place = memory.line, memory.path, name
            ids = names.find(name)
            what = f"{type} link to {name[:80]!r}"
            if not ids:
                message = f"{what}: no such memory"
                hint = "correct the name, or take the link out"
                if type == SUPERSEDES:  # has no effect, so the older one stays in use
                    wrong = warning("broken-link", message, hint, *place)
                else:
                    wrong = style("broken-link", message, hint, *place)
            elif len(ids) > 1:
                message = f"{what} may mean {', '.join(ids[:5])}"
                wrong = style(
                    "ambiguous-link", message, "name the memory by its id", *place
                )
            elif ids[0] in deleted and type not in HISTORY_LINKS:
                message = f"{type} link to {ids[0]!r}, which is deleted"
                wrong = style("link-to-deleted", message, "take the link out", *place)
            else:
                continue
            problems[wrong] = None
    return [*problems]


def printable(name: str) -> str:
    """Return a file name for logs and messages: no line breaks, no control characters, no broken bytes."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
