"""Read projects of LLMos (`projects/*/{context.md,memory/…}`, `system/memory_log.md`) as entries.

Every file is split into pieces that give the whole file when joined. Each piece becomes a memory that stores its
origin. A repeated import adds nothing: traces keep their ids, and other pieces get an id made from their content.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from ...files.contents import MAX_FILE_BYTES, read_bytes
from ...files.read import read_data
from ...learn.traces.record import trace_path
from ...model.entry import Entry
from ...model.errors import NotFound
from ...model.ids import slug
from ...model.record import record, replace
from ...state.run import EXPERIENCE, TRACE
from ...text.clean import one_line
from ..entry import as_body
from .origin import LOG_FILE, PROJECTS, with_origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...model.entry import Value

SHORT_TERM, LONG_TERM, TRACES, CACHE = "short_term", "long_term", "traces", "context_cache.md"
CONTEXT = "context.md"
OWN_IDS = ("mem_", "trace-", "exp_", "learning_", "lesson_", "skill_")
ID_MARK = "<!-- id: "  # our export writes the id below the title
MAX_FILES = 20_000
TITLE_CHARS = 200
# File of long-term memory → kind, tags and category of its sections.
SECTIONS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "learnings.md": ("learning", ("learning",), ""),
    "patterns.md": ("memory", ("pattern",), "insight"),
    "decisions.md": ("memory", ("decision",), "decision"),
}
OTHER_SECTIONS = ("learning", ("learning",), "")  # of consolidated_<ms>.md and all other files
HEADING_OR_FENCE = re.compile(r"^(?:(#{1,2}) +(\S[^\n]*)| {0,3}(`{3,}|~{3,})[^\n]*)$", re.MULTILINE)
FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
LEARNING = "Learning: "


@record
class Folder:
    """The entries of a folder, and (place, reason) of pieces that are not imported, or not exactly."""

    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...]


def read_llmos(folder: str) -> Folder:
    """Return every memory below a folder of LLMos or of one of its projects; raise NotFound if there is none."""
    files = sorted(_files(folder))
    if not files:
        raise NotFound(f"no LLMos memory in {folder}", "name a folder that holds projects/*/memory, or one project")
    entries: dict[str, Entry] = {}
    skipped: list[tuple[str, str]] = []
    for place, file in files[:MAX_FILES]:
        text, why = _text(file)
        if why:
            skipped.append((place, why))
            continue
        for number, (entry, raw) in enumerate(_pieces(place, text)):
            if entry.id in entries and entry.kind == TRACE:
                skipped.append((place, f"another file has the same id {entry.id}"))
                continue
            known, exact = with_origin(_distinct(entry, entries, number), place, number, raw)
            entries[known.id] = known
            if not exact:
                skipped.append((place, f"{one_line(entry.title, 80)}: too long to be written again byte by byte"))
    skipped += [(place, "too many files") for place, _ in files[MAX_FILES:]]
    return Folder(tuple(entries.values()), tuple(skipped))


def _files(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (place, path) of the memory files; the folder is that of LLMos or of one project."""
    log = os.path.join(folder, *LOG_FILE.split("/"))
    if os.path.isfile(log):
        yield LOG_FILE, log
    homes = {}
    if os.path.isdir(os.path.join(folder, "memory")):
        homes[os.path.basename(os.path.abspath(folder))] = folder
    below = os.path.join(folder, "projects")
    homes |= {name: os.path.join(below, name) for name in (os.listdir(below) if os.path.isdir(below) else ())}
    for name, home in homes.items():
        if name.startswith(".") or not os.path.isdir(os.path.join(home, "memory")):
            continue
        if os.path.isfile(os.path.join(home, CONTEXT)):
            yield f"{PROJECTS}{name}/{CONTEXT}", os.path.join(home, CONTEXT)
        for root, folders, names in os.walk(os.path.join(home, "memory")):
            folders[:] = [one for one in folders if not one.startswith(".")]
            for one in names:
                file = os.path.join(root, one)
                yield f"{PROJECTS}{name}/{os.path.relpath(file, home)}".replace(os.sep, "/"), file


def _text(file: str) -> tuple[str, str]:
    """Return the text of a file, and why it is not imported; the reason is empty if it is."""
    if os.path.islink(file):
        return "", "a link"
    if os.path.basename(file).startswith("."):
        return "", "a hidden file"
    try:
        data = read_bytes(file)
        if len(data) > MAX_FILE_BYTES:
            return "", "too large"
        text = data.decode("utf-8")
    except OSError as failure:
        return "", f"cannot be read: {failure.strerror}"
    except UnicodeDecodeError:
        return "", "not UTF-8 text"
    return text, "" if text.strip() and "\0" not in text else "empty" if not text.strip() else "a binary file"


def _pieces(place: str, text: str) -> list[tuple[Entry, str]]:
    """Return the entries of a file, each with its exact piece of the file."""
    if place == LOG_FILE:
        return _blocks(text, "log/memory_log.md", "") or [_whole(place, text, "")]
    _, project, *inner = place.split("/")
    name = inner[-1]
    if inner == [CONTEXT]:
        return [_context(project, text)]
    folder = inner[1] if len(inner) == 3 else ""
    found: list[tuple[Entry, str]] = []
    if folder in (SHORT_TERM, TRACES) and name.endswith(".md") and name != CACHE:
        found = _blocks(text, f"log/{project}/{name}", project)
    elif folder == LONG_TERM and name.endswith(".md"):
        found = _sections(project, name, text)
    return found or [_whole(place, text, project)]


def _blocks(text: str, path: str, project: str) -> list[tuple[Entry, str]]:
    """Return the traces and experiences of a file; empty if the file contains anything else."""
    given = read_data(text.encode(), path, advice=False).entries
    if any(entry.draft or entry.kind not in (TRACE, EXPERIENCE) for entry in given):
        return []
    lines = text.splitlines(keepends=True) if "\r" not in text.replace("\r\n", "") else []
    starts = [0, *(entry.line - 1 for entry in given[1:]), len(lines)]
    pieces = ["".join(lines[start:end]) for start, end in pairwise(starts)]
    return [(_own(entry, path, project), raw) for entry, raw in zip(given, pieces, strict=True)]


def _own(entry: Entry, path: str, project: str) -> Entry:
    entry = entry if entry.id.startswith(OWN_IDS) else replace(entry, id=_id_of(entry.kind, entry))
    if entry.kind == TRACE:
        name = path.rpartition("/")[2]
        target = trace_path(entry.at, entry.by) if entry.at else f"traces/{project}/{name}"
        return replace(entry, path=target, line=0, found_in=entry.found_in or project)
    extra = entry.extra if not project or "project_name" in entry.extra else {"project_name": project, **entry.extra}
    return replace(entry, path="", line=0, extra=extra)


def _context(project: str, text: str) -> tuple[Entry, str]:
    """Return a project's context as a memory; its importance is high, because LLMos adds it to every plan."""
    head = FRONT.match(text)
    body = text[head.end() if head else 0 :].strip()
    extra: dict[str, Value] = {"category": "context"}
    title = f"Context of {project}"
    said = Entry(title=title, tags=("context",), importance="high", found_in=project, source="llmos", extra=extra)
    entry = replace(said, body=as_body(body))
    return replace(entry, id=_id_of("memory", entry)), text


def _whole(place: str, text: str, project: str) -> tuple[Entry, str]:
    """Return a working file (a cache, a tool's output) as a memory in the archive, which is never injected."""
    name = place.removeprefix(f"{PROJECTS}{project}/memory/")
    title = one_line(f"{project}: {name}" if project else name, TITLE_CHARS)
    entry = Entry(title=title, tags=("llmos",), found_in=project, source="llmos", body=as_body(text.strip()))
    path = f"archive/llmos/{slug(project or 'system')}/{slug(re.sub('[/._]', ' ', name))}.md"
    return replace(entry, id=_id_of("memory", entry), path=path), text


def _sections(project: str, name: str, text: str) -> list[tuple[Entry, str]]:
    kind, tags, category = SECTIONS.get(name, OTHER_SECTIONS)
    found: list[tuple[Entry, str]] = []
    for title, said, raw in _cut(text, name.removesuffix(".md")):
        extra: dict[str, Value] = {"category": category} if category else {}
        id, said = _marked(said)
        body = as_body(said)
        entry = Entry(kind=kind, title=title, tags=tags, found_in=project, source="llmos", body=body, extra=extra)
        found.append((replace(entry, id=id or _id_of(kind, entry)), raw))
    return found


def _cut(text: str, stem: str) -> list[tuple[str, str, str]]:
    """Return (title, text, exact piece) of each `# Learning: …` or second-level section, else of the whole file."""
    head = FRONT.match(text)
    start = head.end() if head else 0
    headings = _headings(text, start)
    first = [(at, title) for at, level, title in headings if level == 1]
    second = [(at, title) for at, level, title in headings if level == 2]
    chosen = first if len(first) > 1 or not second or any(title.startswith(LEARNING) for _, title in first) else second
    found: list[tuple[str, str, str]] = []
    begin = 0
    for (at, title), end in zip(chosen, [*(at for at, _ in chosen[1:]), len(text)], strict=False):
        section = text[at:end].strip()
        if "\n" not in section:
            continue  # a heading without text becomes part of the next piece
        found.append((one_line(title, TITLE_CHARS), section.replace("\r\n", "\n"), text[begin:end]))
        begin = end
    if not found:
        body = text[start:].strip().replace("\r\n", "\n")
        return [(stem, body, text)] if body else []
    title, section, raw = found[-1]
    return [*found[:-1], (title, section, raw + text[begin:])]


def _headings(text: str, start: int) -> list[tuple[int, int, str]]:
    """Return (position, level, title) of the headings of levels 1 and 2 outside code fences."""
    found, fence = [], ""
    for match in HEADING_OR_FENCE.finditer(text, start):
        if match[3]:
            if not fence:
                fence = match[3]
            elif match[3][0] == fence[0] and len(match[3]) >= len(fence):
                fence = ""
        elif not fence:
            found.append((match.start(), len(match[1]), match[2].strip()))
    return found


def _marked(said: str) -> tuple[str, str]:
    """Return the id that our export wrote into a text, and the text without that line."""
    for line in said.split("\n"):
        if line.startswith(ID_MARK):
            id = line.removeprefix(ID_MARK).removesuffix(" -->").strip()
            return id, said.replace(f"{line}\n", "", 1).replace(line, "", 1).strip()
    return "", said


def _distinct(entry: Entry, known: Mapping[str, Entry], number: int) -> Entry:
    """Return the entry with a unique id, because one file may contain the same text twice."""
    return replace(entry, id=f"{entry.id}_{number}") if entry.id in known else entry


def _id_of(kind: str, entry: Entry) -> str:
    said = repr((kind, entry.title, entry.body, sorted(entry.extra.items(), key=lambda item: item[0]), entry.found_in))
    prefix = {"memory": "mem", EXPERIENCE: "exp_llmos"}.get(kind, kind)
    return f"{prefix}_{sha256(said.encode()).hexdigest()[:12]}"
