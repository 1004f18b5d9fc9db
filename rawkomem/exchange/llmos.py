"""Import and export project folders of LLMos: each memory remembers its file, so that it goes back there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

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

# Store in which file of LLMos a memory was.

ORIGIN_KEY = "llmos"  # frontmatter key
LOG_FILE = "system/memory_log.md"
PROJECTS = "projects/"


def origin_of(extra: Mapping[str, Value]) -> str:
    """Return the file of LLMos that a memory came from; empty if it has none or names a file outside the folder."""
    file = extra.get(ORIGIN_KEY)
    parts = file.split("/") if isinstance(file, str) else []
    is_plain = all(part and part[0] != "." and "\\" not in part for part in parts)
    is_inside = parts[:1] == ["projects"] and len(parts) > 2 and is_plain
    return str(file) if is_inside or file == LOG_FILE else ""


# Read projects of LLMos (`projects/*/{context.md,memory/…}`, `system/memory_log.md`) as entries.
#
# Each block or section of a file becomes a memory that stores the file's name. A repeated import
# adds nothing: traces keep their ids, and other memories get an id made from their content.

SHORT_TERM, LONG_TERM, TRACES, CACHE = "short_term", "long_term", "traces", "context_cache.md"
CONTEXT = "context.md"
ARCHIVED = "archive/llmos/"  # folder of files that are never injected
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
    """The entries of a folder, and (place, reason) of what is not imported."""

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
        for number, entry in enumerate(_pieces(place, text)):
            if entry.id in entries and entry.kind == TRACE:
                skipped.append((place, f"another file has the same id {entry.id}"))
                continue
            if entry.id in entries:  # one file may contain the same text twice
                entry = replace(entry, id=f"{entry.id}_{number}")
            entries[entry.id] = replace(entry, extra={**entry.extra, ORIGIN_KEY: place})
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


def _pieces(place: str, text: str) -> list[Entry]:
    """Return the entries of a file."""
    if place == LOG_FILE:
        return _blocks(text, "log/memory_log.md", "") or [_whole_file(place, text, "")]
    _, project, *inner = place.split("/")
    name = inner[-1]
    if inner == [CONTEXT]:
        return [_context_entry(project, text)]
    folder = inner[1] if len(inner) == 3 else ""
    found: list[Entry] = []
    if folder in (SHORT_TERM, TRACES) and name.endswith(".md") and name != CACHE:
        found = _blocks(text, f"log/{project}/{name}", project)
    elif folder == LONG_TERM and name.endswith(".md"):
        found = _sections(project, name, text)
    return found or [_whole_file(place, text, project)]


def _blocks(text: str, path: str, project: str) -> list[Entry]:
    """Return the traces and experiences of a file; empty if the file contains anything else."""
    given = read_data(text.encode(), path, advice=False).entries
    if any(entry.draft or entry.kind not in (TRACE, EXPERIENCE) for entry in given):
        return []
    return [_own_block(entry, path, project) for entry in given]


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


def _context_entry(project: str, text: str) -> Entry:
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
    return replace(entry, id=_content_id("memory", entry))


def _whole_file(place: str, text: str, project: str) -> Entry:
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
    path = f"{ARCHIVED}{slug(project or 'system')}/{slug(re.sub('[/._]', ' ', name))}.md"
    return replace(entry, id=_content_id("memory", entry), path=path)


def _sections(project: str, name: str, text: str) -> list[Entry]:
    kind, tags, category = SECTIONS.get(name, OTHER_SECTIONS)
    found: list[Entry] = []
    for title, said in _cut_file(text, name.removesuffix(".md")):
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
        found.append(replace(entry, id=id or _content_id(kind, entry)))
    return found


def _cut_file(text: str, stem: str) -> list[tuple[str, str]]:
    """Return (title, text) of each `# Learning: …` or second-level section with text, else of the whole file."""
    text = text.replace("\r\n", "\n")
    head = FRONT_BLOCK.match(text)
    start = head.end() if head else 0
    headings = _headings(text, start)
    first = [(at, title) for at, level, title in headings if level == 1]
    second = [(at, title) for at, level, title in headings if level == 2]
    is_learned = any(title.startswith(LEARNING_PREFIX) for _, title in first)
    chosen = first if len(first) > 1 or not second or is_learned else second
    ends = [*(at for at, _ in chosen[1:]), len(text)]
    cut = [(title, text[at:end].strip()) for (at, title), end in zip(chosen, ends, strict=False)]
    found = [(one_line(title, TITLE_CHARS), said) for title, said in cut if "\n" in said]
    body = text[start:].strip()
    return found or ([(stem, body)] if body else [])


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


# Write memories as a project of LLMos: imported ones into their own files, others by their kind.

DECISION = "decision"
LEARNED_KINDS = ("learning", "lesson")


def write_llmos(
    folder: str, project: str, memories: Iterable[Memory], rename: bool = False
) -> list[str]:
    """Append memories to files below a folder, and return the file of each memory that was written.

    Memories that came from LLMos go back to their own project or, with `rename`, to `project`.
    """
    memories = list(memories)
    origins = {memory.id: origin_of(memory.extra) for memory in memories}
    homes = {file.split("/")[1] for file in origins.values() if file.startswith(PROJECTS)}
    home = project if rename or len(homes) != 1 else next(iter(homes))
    files: dict[str, list[Memory]] = {}
    for memory in sorted(memories, key=lambda memory: (memory.created, memory.id)):
        file = _renamed(origins[memory.id], home if rename else "") or _file_of(memory, home)
        files.setdefault(file, []).append(memory)
    return [done for file, held in sorted(files.items()) for done in _append_to(folder, file, held)]


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


def _append_to(folder: str, name: str, memories: list[Memory]) -> list[str]:
    """Append the memories that a file does not contain yet; return the file once for each that was written."""
    file = os.path.join(folder, *name.split("/"))
    refuse_exit(file, folder)
    known = read_bytes(file).decode("utf-8", "replace") if os.path.exists(file) else ""
    texts = [
        _llmos_text(memory)
        for memory in memories
        if not known or (memory.body.strip() != known.strip() and not holds_id(known, memory.id))
    ]
    if texts:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "a", encoding="utf-8", newline="") as stream:
            stream.write("\n" * bool(known) + "\n".join(texts))
    return [file] * len(texts)


def _llmos_text(memory: Memory) -> str:
    """Return a memory in LLMos format: a trace, an experience, or a section with its title."""
    if memory.kind in (TRACE, EXPERIENCE):
        extra = {key: value for key, value in memory.extra.items() if key != ORIGIN_KEY}
        said = Entry(
            memory.kind, memory.id, title=memory.title, at=memory.created, by=memory.by, extra=extra
        )
        return emit_entry(replace(said, body=memory.body) if memory.kind == TRACE else said)
    if memory.path.startswith(ARCHIVED) or origin_of(memory.extra).endswith(f"/{CONTEXT}"):
        return f"{memory.body.strip()}\n"  # it is the whole file
    title = one_line(memory.title, TITLE_CHARS)
    first, _, rest = memory.body.partition("\n")
    body = rest if first.lstrip("# ").strip() == title else memory.body
    return f"# {title}\n\n{ID_MARK}{memory.id} -->\n{body.strip()}\n"
