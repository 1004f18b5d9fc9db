"""Import and export project folders of LLMos without losing a byte: every piece of a file remembers
its origin.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import pairwise

from ..files.layout import MAX_FILE_BYTES, read_bytes
from ..files.reading import read_data
from ..files.replace import refuse_exit
from ..format.frontmatter import emit_entry
from ..learn.traces import trace_path
from ..model.entries import Entry, Memory, Value
from ..model.errors import NotFound
from ..model.ids import holds_id, slug
from ..model.values import record, replace
from ..state.runs import EXPERIENCE, TRACE
from ..state.trust import category_of, type_of
from ..text.chunks import fence_after
from ..text.clean import one_line
from .imported_entries import as_one_body

Piece = tuple[int, int, str, str, Memory]


# Store where a memory was in a folder of LLMos: its file, its position, and the text around it.

ORIGIN_KEY = "llmos"  # frontmatter key
LOG_FILE = "system/memory_log.md"
PROJECTS = "projects/"
MAX_KEPT_CHARS = 30_000  # of the text around a memory: a frontmatter has at most 64 KiB


@record
class Origin:
    """A place in a folder of LLMos. The piece of the file is `before`, the memory's text, `after`; or it is `text`."""

    file: str
    number: int
    before: str = ""
    after: str = ""
    text: str = ""


def with_origin(entry: Entry, file: str, number: int, raw: str) -> tuple[Entry, bool]:
    """Return the entry with its origin, and whether the piece of the file can be restored exactly."""
    kept: dict[str, Value] = {"file": file, "number": str(number)}
    around = raw.split(entry.body) if entry.body and entry.kind != "experience" else []
    if len(around) == 2:
        kept |= {key: part for key, part in zip(("before", "after"), around, strict=True) if part}
    else:
        kept["text"] = raw
    exact = sum(map(len, map(str, kept.values()))) <= MAX_KEPT_CHARS
    return replace(
        entry,
        extra={**entry.extra, ORIGIN_KEY: kept if exact else {"file": file, "number": str(number)}},
    ), exact


def origin_of(extra: Mapping[str, Value]) -> Origin | None:
    """Return the origin of a memory; None if it has none or names a file outside the folder."""
    kept = extra.get(ORIGIN_KEY)
    if not isinstance(kept, dict):
        return None
    said = {key: value for key, value in kept.items() if isinstance(value, str)}
    number = said.get("number", "")
    if not _is_inside(said.get("file", "")) or not number.isdecimal() or len(number) > 6:
        return None
    return Origin(
        said["file"],
        int(number),
        said.get("before", ""),
        said.get("after", ""),
        said.get("text", ""),
    )


def _is_inside(file: str) -> bool:
    parts = file.split("/")
    if file == LOG_FILE:
        return True
    plain = all(
        part and not part.startswith(".") and "\\" not in part and "\0" not in part
        for part in parts
    )
    return file.startswith(PROJECTS) and len(parts) > 2 and plain


def as_it_stood(memory: Memory, origin: Origin) -> str:
    """Return the exact text of a memory in its file; empty if the memory changed so that it cannot be restored."""
    if origin.text:
        return "" if memory.amended else origin.text
    is_head = memory.kind == "trace"  # `before` is its frontmatter
    if not (origin.before or origin.after) or (is_head and memory.amended):
        return ""
    return origin.before + memory.body + origin.after


# Read projects of LLMos (`projects/*/{context.md,memory/…}`, `system/memory_log.md`) as entries.
#
# Every file is split into pieces that give the whole file when joined. Each piece becomes a memory
# that stores its origin. A repeated import adds nothing: traces keep their ids, and other pieces
# get an id made from their content.

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
HEADING = re.compile(r"(#{1,2}) +(\S.*)")
FRONT_BLOCK = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
LEARNING_PREFIX = "Learning: "


@record
class LlmosFolder:
    """The entries of a folder, and (place, reason) of pieces that are not imported, or not exactly."""

    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...]


def read_llmos(folder: str) -> LlmosFolder:
    """Return every memory below a folder of LLMos or of one of its projects; raise NotFound if there is none."""
    files = sorted(_memory_files(folder))
    if not files:
        raise NotFound(
            f"no LLMos memory in {folder}",
            "name a folder that holds projects/*/memory, or one project",
        )
    entries: dict[str, Entry] = {}
    skipped: list[tuple[str, str]] = []
    for place, file in files[:MAX_FILES]:
        text, why = _file_text(file)
        if why:
            skipped.append((place, why))
            continue
        for number, (entry, raw) in enumerate(_pieces(place, text)):
            if entry.id in entries and entry.kind == TRACE:
                skipped.append((place, f"another file has the same id {entry.id}"))
                continue
            if entry.id in entries:  # one file may contain the same text twice
                entry = replace(entry, id=f"{entry.id}_{number}")
            known, exact = with_origin(entry, place, number, raw)
            entries[known.id] = known
            if not exact:
                why = "too long to be written again byte by byte"
                skipped.append((place, f"{one_line(entry.title, 80)}: {why}"))
    skipped += [(place, "too many files") for place, _ in files[MAX_FILES:]]
    return LlmosFolder(tuple(entries.values()), tuple(skipped))


def _memory_files(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (place, path) of the memory files; the folder is that of LLMos or of one project."""
    log = os.path.join(folder, *LOG_FILE.split("/"))
    if os.path.isfile(log):
        yield LOG_FILE, log
    homes = {}
    if os.path.isdir(os.path.join(folder, "memory")):
        homes[os.path.basename(os.path.abspath(folder))] = folder
    below = os.path.join(folder, "projects")
    homes |= {
        name: os.path.join(below, name)
        for name in (os.listdir(below) if os.path.isdir(below) else ())
    }
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


def _file_text(file: str) -> tuple[str, str]:
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
    if not text.strip():
        return "", "empty"
    return (text, "") if "\0" not in text else ("", "a binary file")


def _pieces(place: str, text: str) -> list[tuple[Entry, str]]:
    """Return the entries of a file, each with its exact piece of the file."""
    if place == LOG_FILE:
        return _blocks(text, "log/memory_log.md", "") or [_whole_file(place, text, "")]
    _, project, *inner = place.split("/")
    name = inner[-1]
    if inner == [CONTEXT]:
        return [_context_entry(project, text)]
    folder = inner[1] if len(inner) == 3 else ""
    found: list[tuple[Entry, str]] = []
    if folder in (SHORT_TERM, TRACES) and name.endswith(".md") and name != CACHE:
        found = _blocks(text, f"log/{project}/{name}", project)
    elif folder == LONG_TERM and name.endswith(".md"):
        found = _sections(project, name, text)
    return found or [_whole_file(place, text, project)]


def _blocks(text: str, path: str, project: str) -> list[tuple[Entry, str]]:
    """Return the traces and experiences of a file; empty if the file contains anything else."""
    given = read_data(text.encode(), path, advice=False).entries
    if any(entry.draft or entry.kind not in (TRACE, EXPERIENCE) for entry in given):
        return []
    lines = text.splitlines(keepends=True) if "\r" not in text.replace("\r\n", "") else []
    starts = [0, *(entry.line - 1 for entry in given[1:]), len(lines)]
    pieces = ["".join(lines[start:end]) for start, end in pairwise(starts)]
    return [
        (_own_block(entry, path, project), raw) for entry, raw in zip(given, pieces, strict=True)
    ]


def _own_block(entry: Entry, path: str, project: str) -> Entry:
    entry = (
        entry if entry.id.startswith(OWN_IDS) else replace(entry, id=_content_id(entry.kind, entry))
    )
    if entry.kind == TRACE:
        name = path.rpartition("/")[2]
        target = trace_path(entry.at, entry.by) if entry.at else f"traces/{project}/{name}"
        return replace(entry, path=target, line=0, found_in=entry.found_in or project)
    extra = (
        entry.extra
        if not project or "project_name" in entry.extra
        else {"project_name": project, **entry.extra}
    )
    return replace(entry, path="", line=0, extra=extra)


def _context_entry(project: str, text: str) -> tuple[Entry, str]:
    """Return a project's context as a memory; its importance is high, because LLMos adds it to every plan."""
    head = FRONT_BLOCK.match(text)
    body = text[head.end() if head else 0 :].strip()
    entry = Entry(
        title=f"Context of {project}",
        tags=("context",),
        importance="high",
        found_in=project,
        source="llmos",
        extra={"category": "context"},
        body=as_one_body(body),
    )
    return replace(entry, id=_content_id("memory", entry)), text


def _whole_file(place: str, text: str, project: str) -> tuple[Entry, str]:
    """Return a working file (a cache, a tool's output) as a memory in the archive, which is never injected."""
    name = place.removeprefix(f"{PROJECTS}{project}/memory/")
    title = one_line(f"{project}: {name}" if project else name, TITLE_CHARS)
    entry = Entry(
        title=title,
        tags=("llmos",),
        found_in=project,
        source="llmos",
        body=as_one_body(text.strip()),
    )
    path = f"archive/llmos/{slug(project or 'system')}/{slug(re.sub('[/._]', ' ', name))}.md"
    return replace(entry, id=_content_id("memory", entry), path=path), text


def _sections(project: str, name: str, text: str) -> list[tuple[Entry, str]]:
    kind, tags, category = SECTIONS.get(name, OTHER_SECTIONS)
    found: list[tuple[Entry, str]] = []
    for title, said, raw in _cut_file(text, name.removesuffix(".md")):
        extra: dict[str, Value] = {"category": category} if category else {}
        id, said = _marked(said)
        body = as_one_body(said)
        entry = Entry(
            kind=kind,
            title=title,
            tags=tags,
            found_in=project,
            source="llmos",
            body=body,
            extra=extra,
        )
        found.append((replace(entry, id=id or _content_id(kind, entry)), raw))
    return found


def _cut_file(text: str, stem: str) -> list[tuple[str, str, str]]:
    """Return (title, text, exact piece) of each `# Learning: …` or second-level section, else of the whole file."""
    head = FRONT_BLOCK.match(text)
    start = head.end() if head else 0
    headings = _headings(text, start)
    first = [(at, title) for at, level, title in headings if level == 1]
    second = [(at, title) for at, level, title in headings if level == 2]
    chosen = (
        first
        if len(first) > 1
        or not second
        or any(title.startswith(LEARNING_PREFIX) for _, title in first)
        else second
    )
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
    found, fence, at = [], "", 0
    for line in text.split("\n"):
        before, fence = fence, fence_after(fence, line)
        heading = HEADING.match(line)
        if heading and at >= start and not before:
            found.append((at, len(heading[1]), heading[2].strip()))
        at += len(line) + 1
    return found


def _marked(said: str) -> tuple[str, str]:
    """Return the id that our export wrote into a text, and the text without that line."""
    for line in said.split("\n"):
        if line.startswith(ID_MARK):
            id = line.removeprefix(ID_MARK).removesuffix(" -->").strip()
            return id, said.replace(f"{line}\n", "", 1).replace(line, "", 1).strip()
    return "", said


def _content_id(kind: str, entry: Entry) -> str:
    said = repr(
        (
            kind,
            entry.title,
            entry.body,
            sorted(entry.extra.items(), key=lambda item: item[0]),
            entry.found_in,
        )
    )
    prefix = {"memory": "mem", EXPERIENCE: "exp_llmos"}.get(kind, kind)
    return f"{prefix}_{sha256(said.encode()).hexdigest()[:12]}"


# Write memories as a project of LLMos: imported pieces exactly as they were, other memories as
# sections.

DECISION = "decision"
LEARNED_KINDS = ("learning", "lesson")
LAST_PLACE = 10**6  # position of a memory that was not imported


def write_llmos(
    folder: str, project: str, memories: Iterable[Memory], rename: bool = False
) -> list[str]:
    """Append memories to files below a folder, and return the file of each memory that was written.

    Memories that came from LLMos go back to their own project or, with `rename`, to `project`.
    """
    memories = list(memories)
    origins = {memory.id: origin for memory in memories if (origin := origin_of(memory.extra))}
    homes = {
        origin.file.split("/")[1] for origin in origins.values() if origin.file.startswith(PROJECTS)
    }
    home = project if rename or len(homes) != 1 else next(iter(homes))
    files: dict[str, list[Piece]] = {}
    for memory in memories:
        origin = origins.get(memory.id)
        file = _renamed(origin.file, home if rename else "") if origin else _file_of(memory, home)
        stood = as_it_stood(memory, origin) if origin else ""
        place = origin.number if origin else LAST_PLACE
        files.setdefault(file, []).append((place, memory.created, memory.id, stood, memory))
    return [
        done
        for file, pieces in sorted(files.items())
        for done in _append_pieces(folder, file, sorted(pieces, key=lambda piece: piece[:3]))
    ]


def _renamed(file: str, project: str) -> str:
    if not project or not file.startswith(PROJECTS):
        return file
    return "/".join(["projects", project, *file.split("/")[2:]])


def _file_of(memory: Memory, project: str) -> str:
    """Return the file in which LLMos stores a memory of this kind."""
    if memory.kind == EXPERIENCE:
        return LOG_FILE
    if memory.kind == TRACE:
        return f"{PROJECTS}{project}/memory/{SHORT_TERM}/{os.path.basename(memory.path) or memory.id + '.md'}"
    name = "patterns.md"
    if memory.kind in LEARNED_KINDS:
        name = "learnings.md"
    elif _is_decision(memory):
        name = "decisions.md"
    return f"{PROJECTS}{project}/memory/{LONG_TERM}/{name}"


def _is_decision(memory: Memory) -> bool:
    """Tell whether a memory is a decision, by its category, its type or a tag."""
    tags = {tag.lower().rstrip("s") for tag in memory.tags}
    return DECISION in (category_of(memory), type_of(memory)) or bool(tags & {DECISION, "adr"})


def _append_pieces(folder: str, name: str, pieces: list[Piece]) -> list[str]:
    """Append the pieces that a file does not contain yet; return the file once for each piece that was written."""
    file = os.path.join(folder, *name.split("/"))
    refuse_exit(file, folder)
    known = read_bytes(file).decode("utf-8", "replace") if os.path.exists(file) else ""
    held = Counter({stood: known.count(stood) for *_, stood, _ in pieces if stood})
    added: list[str] = []
    for _, _, id, stood, memory in pieces:
        if held[stood] > 0 or (not stood and holds_id(known, id)):
            held[stood] -= 1
            continue
        text = stood or _llmos_text(memory)
        gap = "" if stood or not (known or added) else "\n"
        added.append(gap + text)
    if added:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "a", encoding="utf-8", newline="") as stream:
            stream.write("".join(added))
    return [file] * len(added)


def _llmos_text(memory: Memory) -> str:
    """Return a memory in LLMos format: a trace, an experience, or a section with its title."""
    if memory.kind in (TRACE, EXPERIENCE):
        extra = {key: value for key, value in memory.extra.items() if key != ORIGIN_KEY}
        said = Entry(
            memory.kind, memory.id, title=memory.title, at=memory.created, by=memory.by, extra=extra
        )
        return emit_entry(replace(said, body=memory.body) if memory.kind == TRACE else said)
    title = one_line(memory.title, TITLE_CHARS)
    first, _, rest = memory.body.partition("\n")
    body = rest if first.lstrip("# ").strip() == title else memory.body
    return f"# {title}\n\n{ID_MARK}{memory.id} -->\n{body.strip()}\n"
