"""Import and export project folders of LLMos: each memory remembers its file, so that it goes back there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from glob import glob

from ..files.layout import read_bytes
from ..files.reading import read_data
from ..files.replace import refuse_exit
from ..format.frontmatter import emit_entry
from ..format.skill_files import FRONT_BLOCK
from ..model.entries import Entry, Memory, Value, by_time
from ..model.errors import NotFound
from ..model.ids import hex_hash, holds_id, slug, trace_path
from ..model.values import record, replace, without
from ..state.runs import EXPERIENCE, TRACE
from ..state.trust import category_of, type_of
from ..text.chunks import heading_lines
from ..text.clean import one_line
from .imported_entries import IMPORT_ID_DIGITS, as_one_body
from .sources import Source

ORIGIN_KEY = "llmos"  # frontmatter key
ID_KEY = "llmosId"  # frontmatter key of an id there that is not one of ours
LOG_FILE = "system/memory_log.md"
PROJECTS = "projects/"


def origin_of(extra: Mapping[str, Value]) -> str:
    """Return the file of LLMos that a memory came from; empty if it has none or names a file outside the folder."""
    file = extra.get(ORIGIN_KEY)
    parts = file.split("/") if isinstance(file, str) else []
    is_plain = all(part and part[0] != "." and "\\" not in part for part in parts)
    is_inside = parts[:1] == ["projects"] and len(parts) > 2 and is_plain
    return str(file) if is_inside or file == LOG_FILE else ""


def id_there(memory: Memory) -> str:
    """Return the id of a memory in LLMos."""
    return str(memory.extra.get(ID_KEY) or memory.id)


# Read projects of LLMos (`projects/*/{context.md,memory/…}`, `system/memory_log.md`) as entries.
#
# Each block or section of a file becomes a memory that stores the file's name. A repeated import
# adds nothing: traces keep their ids, and other memories get an id made from their content.

SHORT_TERM = "short_term"
LONG_TERM = "long_term"
TRACES = "traces"
CACHE = "context_cache.md"
CONTEXT = "context.md"
ARCHIVED = "archive/llmos/"  # folder of files that are never injected
OWN_IDS = ("mem_", "trace-", "exp_", "learning_", "lesson_", "skill_")
ID_MARK = "<!-- id: {} -->"  # our export writes the id below the title
MARKED_ID = re.compile(r"^<!-- id: (.*?) -->\n?", re.MULTILINE)
TITLE_CHARS = 200
# File of long-term memory → kind, tag and category of its sections.
SECTIONS: Mapping[str, tuple[str, str, str]] = {
    "learnings.md": ("learning", "learning", ""),
    "patterns.md": ("memory", "pattern", "insight"),
    "decisions.md": ("memory", "decision", "decision"),
}
# of consolidated_<ms>.md and all other files
OTHER_SECTIONS = ("learning", "learning", "")
LEARNING_PREFIX = "Learning: "


@record
class LlmosFolder:
    """The entries of a folder, and (place, reason) of what is not imported."""

    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...]


def read_llmos(folder: str) -> LlmosFolder:
    """Return every memory below a folder of LLMos or of one of its projects; raise NotFound if there is none."""
    source = Source(folder)
    files = _memory_files(source.path)
    if not files:
        raise NotFound(
            f"no LLMos memory in {folder}",
            "name a folder that holds projects/*/memory, or one project",
        )
    entries: dict[str, Entry] = {}
    for place, file in sorted(files.items()):
        page = source.page(file)
        if page and not page.text.strip():
            source.skip(place, "empty")
            continue
        for number, entry in enumerate(_pieces(place, page.text) if page else ()):
            if entry.id in entries and entry.kind == TRACE:
                source.skip(place, f"another file has the same id {entry.id}")
                continue
            if entry.id in entries:  # one file may contain the same text twice
                entry = replace(entry, id=f"{entry.id}_{number}")
            entries[entry.id] = replace(entry, extra={**entry.extra, ORIGIN_KEY: place})
    return LlmosFolder(tuple(entries.values()), tuple(source.skipped))


def _memory_files(folder: str) -> dict[str, str]:
    """Return place → path of the memory files; the folder is that of LLMos or of one project."""
    own = f"{PROJECTS}{os.path.basename(folder)}/"
    files = {}
    for start, pattern in (
        ("", LOG_FILE),
        ("", f"{PROJECTS}*/{CONTEXT}"),
        ("", f"{PROJECTS}*/memory/**"),
        (own, CONTEXT),
        (own, "memory/**"),
    ):
        for name in glob(pattern, root_dir=folder, recursive=True):
            file = os.path.join(folder, name)
            home = file if name.endswith(CONTEXT) else ""
            is_alone = home and not os.path.isdir(
                os.path.join(os.path.dirname(home), "memory")
            )
            if os.path.isfile(file) and not is_alone:
                files[start + name.replace(os.sep, "/")] = file
    return files


def _pieces(place: str, text: str) -> list[Entry]:
    """Return the entries of a file."""
    if place == LOG_FILE:
        return _blocks(text, "log/memory_log.md", "") or [_whole_file(place, text, "")]
    _, project, *inner = place.split("/")
    name = inner[-1]
    if inner == [CONTEXT]:
        return [_context_entry(project, text)]
    folder = inner[1] if len(inner) == 3 else ""
    pieces: list[Entry] = []
    if folder in (SHORT_TERM, TRACES) and name.endswith(".md") and name != CACHE:
        pieces = _blocks(text, f"log/{project}/{name}", project)
    elif folder == LONG_TERM and name.endswith(".md"):
        pieces = _sections(project, name, text)
    return pieces or [_whole_file(place, text, project)]


def _blocks(text: str, path: str, project: str) -> list[Entry]:
    """Return the traces and experiences of a file; empty if the file contains anything else."""
    entries = read_data(text.encode(), path, advice=False).entries
    blocks = []
    for entry in entries:
        if entry.draft or entry.kind not in (TRACE, EXPERIENCE):
            return []
        own = ""
        extra = entry.extra
        found_in = entry.found_in
        if entry.kind == TRACE:
            name = path.rpartition("/")[2]
            own = f"traces/{project}/{name}"
            own = trace_path(entry.at, entry.by) if entry.at else own
            found_in = found_in or project
        elif project:
            extra = {"project_name": project, **extra}
        id = entry.id
        if not id.startswith(OWN_IDS):
            id = _content_id(entry)
            if "id" in entry.given:
                extra = {**extra, ID_KEY: entry.id}
        blocks.append(
            replace(entry, id=id, path=own, line=0, found_in=found_in, extra=extra)
        )
    return blocks


def _entry(project: str, title: str, body: str, tag: str, **fields: object) -> Entry:
    entry = Entry(
        title=one_line(title, TITLE_CHARS),
        body=as_one_body(body),
        tags=(tag,),
        found_in=project,
        source="llmos",
    )
    entry = replace(entry, **fields)
    return entry if entry.id else replace(entry, id=_content_id(entry))


def _context_entry(project: str, text: str) -> Entry:
    """Return a project's context as a memory; its importance is high, because LLMos adds it to every plan."""
    title = f"Context of {project}"
    body = FRONT_BLOCK.sub("", text).strip()
    extra = {"category": "context"}
    return _entry(project, title, body, "context", importance="high", extra=extra)


def _whole_file(place: str, text: str, project: str) -> Entry:
    """Return a working file (a cache, a tool's output) as a memory in the archive, which is never injected."""
    name = place.removeprefix(f"{PROJECTS}{project}/memory/")
    title = f"{project}: {name}" if project else name
    path = (
        f"{ARCHIVED}{slug(project or 'system')}/{slug(re.sub('[/._]', ' ', name))}.md"
    )
    return _entry(project, title, text.strip(), "llmos", path=path)


def _sections(project: str, name: str, text: str) -> list[Entry]:
    """Return each `# Learning: …` or second-level section with text, else the whole file."""
    kind, tag, category = SECTIONS.get(name, OTHER_SECTIONS)
    extra: dict[str, Value] = {"category": category} if category else {}
    body = FRONT_BLOCK.sub("", text).strip()
    headings = [(level, line) for line, level in heading_lines(body) if level]
    first = [line for level, line in headings if level == 1]
    is_learned = any(LEARNING_PREFIX in line for line in first)
    has_second = any(level == 2 for level, _ in headings)
    cut_at = 1 if len(first) > 1 or is_learned or not has_second else 2
    parts: list[list[str]] = [[]]
    for line, level in heading_lines(body):
        if level == cut_at:
            parts.append([])
        parts[-1].append(line)
    cut = [(part[0].strip("# "), "\n".join(part).strip()) for part in parts[1:]]
    titled = [(title, part) for title, part in cut if "\n" in part]
    if not titled and body:
        titled = [(name.removesuffix(".md"), body)]
    entries = []
    for title, part in titled:
        mark = MARKED_ID.search(part)
        id = mark[1] if mark else ""
        part = MARKED_ID.sub("", part, count=1).strip()
        entries.append(_entry(project, title, part, tag, kind=kind, extra=extra, id=id))
    return entries


def _content_id(entry: Entry) -> str:
    extra = sorted(entry.extra.items(), key=lambda item: item[0])
    content = repr((entry.kind, entry.title, entry.body, extra, entry.found_in))
    prefix = {"memory": "mem", EXPERIENCE: "exp_llmos"}.get(entry.kind, entry.kind)
    return f"{prefix}_{hex_hash(content, IMPORT_ID_DIGITS)}"


# Write memories as a project of LLMos: imported ones into their own files, others by their kind.

LEARNED_KINDS = ("learning", "lesson")


def write_llmos(
    folder: str, project: str, memories: Iterable[Memory], rename: bool = False
) -> list[str]:
    """Append memories to files below a folder, and return the file of each memory that was written.

    Memories that came from LLMos go back to their own project or, with `rename`, to `project`.
    """
    memories = by_time(memories)
    origins = {memory.id: origin_of(memory.extra) for memory in memories}
    homes = {
        file.split("/")[1] for file in origins.values() if file.startswith(PROJECTS)
    }
    home = project if rename or len(homes) != 1 else next(iter(homes))
    files: dict[str, list[Memory]] = {}
    for memory in memories:
        file = origins[memory.id] or _file_of(memory, home)
        if rename and file.startswith(PROJECTS):
            file = "/".join(["projects", home, *file.split("/")[2:]])
        files.setdefault(file, []).append(memory)
    return [
        done
        for file, group in sorted(files.items())
        for done in _append_to(folder, file, group)
    ]


def _file_of(memory: Memory, project: str) -> str:
    """Return the file in which LLMos stores a memory of this kind."""
    if memory.kind == EXPERIENCE:
        return LOG_FILE
    below = f"{PROJECTS}{project}/memory"
    if memory.kind == TRACE:
        return (
            f"{below}/{SHORT_TERM}/{os.path.basename(memory.path) or memory.id + '.md'}"
        )
    tags = {tag.lower().rstrip("s") for tag in memory.tags}
    name = "patterns.md"
    if memory.kind in LEARNED_KINDS:
        name = "learnings.md"
    elif {"decision", "adr"} & {*tags, category_of(memory), type_of(memory)}:
        name = "decisions.md"
    return f"{below}/{LONG_TERM}/{name}"


def _append_to(folder: str, name: str, memories: list[Memory]) -> list[str]:
    """Append the memories that a file does not contain yet; return the file once for each that was written."""
    file = os.path.join(folder, *name.split("/"))
    refuse_exit(file, folder)
    known = read_bytes(file).decode("utf-8", "replace") if os.path.exists(file) else ""
    texts = [
        _llmos_text(memory)
        for memory in memories
        if not known
        or (
            memory.body.strip() != known.strip()
            and not holds_id(known, id_there(memory))
        )
    ]
    if texts:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "a", encoding="utf-8", newline="") as stream:
            stream.write("\n" * bool(known) + "\n".join(texts))
    return [file] * len(texts)


def _llmos_text(memory: Memory) -> str:
    """Return a memory in LLMos format: a trace, an experience, or a section with its title."""
    if memory.kind in (TRACE, EXPERIENCE):
        entry = Entry(
            memory.kind,
            id_there(memory),
            title=memory.title,
            at=memory.created,
            by=memory.by,
            body=memory.body if memory.kind == TRACE else "",
            extra=without(memory.extra, ORIGIN_KEY, ID_KEY),
        )
        return emit_entry(entry)
    if memory.path.startswith(ARCHIVED) or origin_of(memory.extra).endswith(
        f"/{CONTEXT}"
    ):
        return f"{memory.body.strip()}\n"  # it is the whole file
    title = one_line(memory.title, TITLE_CHARS)
    first, _, rest = memory.body.partition("\n")
    body = rest if first.lstrip("# ").strip() == title else memory.body
    return f"# {title}\n\n{ID_MARK.format(memory.id)}\n{body.strip()}\n"
