"""Projects of LLMos (`projects/*/memory/{short_term,long_term}`, `system/memory_log.md`) as entries, and back.

A repeated import adds nothing: a trace keeps its id, and what has none gets one from what it says.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from ...files.contents import read_bytes
from ...files.given_text import read_text_file
from ...files.read import read_data
from ...files.whole import refuse_exit
from ...format.emit import emit_entry
from ...model.entry import Entry
from ...model.errors import NotFound
from ...model.ids import holds_id
from ...model.record import replace
from ...state.run import EXPERIENCE, TRACE
from ...text.clean import one_line
from .record import trace_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...model.entry import Memory, Value

SHORT, LONG = "short_term", "long_term"
SKIPPED_FILES = ("context_cache.md",)  # working memory of a session
LOG_PATH = "system/memory_log.md"
TITLE = "Learning: "
ID_MARK = "<!-- id: "
# File of long-term memory → kind, tags and category of its sections.
SECTIONS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "learnings.md": ("learning", ("learning",), ""),
    "patterns.md": ("memory", ("pattern",), "insight"),
    "decisions.md": ("memory", ("decision",), "decision"),
}
OTHER_SECTIONS = ("learning", ("learning",), "")  # consolidated_<ms>.md and whatever else lies there


def read_llmos(folder: str) -> list[Entry]:
    """Return every memory below a folder of LLMos, or of one of its projects, as an entry with an id."""
    entries: dict[str, Entry] = {}
    projects = list(_projects(folder))
    log = os.path.join(folder, *LOG_PATH.split("/"))
    if not projects and not os.path.isfile(log):
        raise NotFound(f"no LLMos memory in {folder}", "name a folder that holds projects/*/memory, or one project")
    for name, memory in projects:
        for entry in (*_short_term(name, os.path.join(memory, SHORT)), *_long_term(name, os.path.join(memory, LONG))):
            entries.setdefault(entry.id, entry)
    if os.path.isfile(log):
        for entry in _read(log, "log/memory_log.md"):
            entries.setdefault(entry.id, entry)
    return list(entries.values())


def _projects(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (name, its memory folder) of the projects that a folder holds, or is."""
    own = os.path.join(folder, "memory")
    if os.path.isdir(own):
        yield os.path.basename(os.path.abspath(folder)), own
    below = os.path.join(folder, "projects")
    for name in sorted(os.listdir(below)) if os.path.isdir(below) else ():
        if os.path.isdir(os.path.join(below, name, "memory")):
            yield name, os.path.join(below, name, "memory")


def _markdown(folder: str) -> list[str]:
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [name for name in names if name.endswith(".md") and os.path.isfile(os.path.join(folder, name))]


def _short_term(project: str, folder: str) -> Iterator[Entry]:
    """Yield traces as they are, and a log of the session as experiences."""
    for name in _markdown(folder):
        if name not in SKIPPED_FILES:
            for entry in _read(os.path.join(folder, name), f"log/{project}/{name}"):
                if entry.kind == TRACE:
                    path = trace_path(entry.at, entry.by) if entry.at else f"traces/{project}/{name}"
                    yield replace(entry, path=path, found_in=entry.found_in or project)
                elif not entry.draft:
                    extra = entry.extra if "project_name" in entry.extra else {"project_name": project, **entry.extra}
                    yield replace(entry, extra=extra)


def _read(file: str, path: str) -> list[Entry]:
    """Return the entries of a file, those without an id of their own under one that follows from what they say."""
    given = read_data(read_bytes(file), path, advice=False).entries
    own = ("mem_", "trace-", "exp_", "learning_", "lesson_", "skill_")
    return [
        replace(entry if entry.id.startswith(own) else replace(entry, id=_id_of(entry.kind, entry)), path="", line=0)
        for entry in given
        if not entry.draft and entry.creates
    ]


def _long_term(project: str, folder: str) -> Iterator[Entry]:
    for name in _markdown(folder):
        kind, tags, category = SECTIONS.get(name, OTHER_SECTIONS)
        text = read_bytes(os.path.join(folder, name)).decode("utf-8", "replace").replace("\r\n", "\n")
        for title, body in _cut(text, name.removesuffix(".md")):
            extra: dict[str, Value] = {"category": category} if category else {}
            entry = Entry(kind=kind, title=title, tags=tags, found_in=project, source="llmos", body=body, extra=extra)
            id, entry = _marked(entry)
            yield replace(entry, id=id or _id_of(kind, entry))


def _cut(text: str, stem: str) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of each `# Learning: …` or second-level section; without any, the text by the file's name."""
    if text.startswith("---\n") and "\n---\n" in text[4:]:
        text = text[4:].partition("\n---\n")[2]
    level = "# " if _starts(text, f"# {TITLE}") or _starts(text, "# ") > 1 or not _starts(text, "## ") else "## "
    before, *parts = f"\n{text}".split(f"\n{level}")
    if before.strip() and not parts:
        yield stem, before.strip()
    for part in parts:
        title, _, body = part.partition("\n")
        if title.strip() and body.strip():
            yield one_line(title, 200), f"{level}{title.strip()}\n\n{body.strip()}"


def _starts(text: str, sign: str) -> int:
    """Return how many lines start with a sign."""
    return f"\n{text}".count(f"\n{sign}")


def _marked(entry: Entry) -> tuple[str, Entry]:
    """Return the id that our export left in a text, and the entry without that line."""
    for line in entry.body.split("\n"):
        if line.startswith(ID_MARK):
            id = line.removeprefix(ID_MARK).removesuffix(" -->").strip()
            return id, replace(entry, body=entry.body.replace(f"{line}\n", "", 1).replace(line, "", 1).strip())
    return "", entry


def _id_of(kind: str, entry: Entry) -> str:
    said = repr((kind, entry.title, entry.body, sorted(entry.extra.items(), key=lambda item: item[0]), entry.found_in))
    prefix = {"memory": "mem", EXPERIENCE: "exp_llmos"}.get(kind, kind)
    return f"{prefix}_{sha256(said.encode()).hexdigest()[:12]}"


def write_llmos(folder: str, project: str, memories: Iterable[Memory]) -> list[str]:
    """Write memories as a project of LLMos and return the files; existing files are appended to, never replaced."""
    written: list[str] = []
    home = os.path.join(folder, "projects", project, "memory")
    for memory in sorted(memories, key=lambda memory: (memory.created, memory.id)):
        if memory.kind == TRACE:
            name = os.path.basename(memory.path) or f"{memory.id}.md"
            done = _put(folder, os.path.join(home, SHORT, name), trace_text(memory), memory.id)
        elif memory.kind == EXPERIENCE:
            done = _put(folder, os.path.join(folder, *LOG_PATH.split("/")), trace_text(memory), memory.id)
        else:
            done = _put(folder, os.path.join(home, LONG, _file_of(memory)), _section_text(memory), memory.id)
        if done:
            written.append(done)
    return written


def _file_of(memory: Memory) -> str:
    if memory.kind == "learning":
        return "learnings.md"
    return "decisions.md" if memory.extra.get("category") == "decision" else "patterns.md"


def _section_text(memory: Memory) -> str:
    """Return a memory as a section of a long-term file; headings of its own lie below."""
    title = one_line(memory.title, 200)
    first, _, rest = memory.body.partition("\n")
    body = rest if first.lstrip("# ").strip() == title else memory.body
    return f"# {title}\n\n{ID_MARK}{memory.id} -->\n{body.strip()}\n"


def _put(folder: str, file: str, text: str, id: str) -> str:
    """Append a text unless the file holds its id; return the file, or nothing where nothing was written."""
    refuse_exit(file, folder)
    known = read_text_file(file) if os.path.exists(file) else ""
    if holds_id(known, id):
        return ""
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "a", encoding="utf-8", newline="\n") as stream:
        stream.write(("\n" if known else "") + text)
    return file


def trace_text(memory: Memory) -> str:
    """Return a trace or an experience as LLMos writes it."""
    said = Entry(memory.kind, memory.id, title=memory.title, at=memory.created, by=memory.by, extra=memory.extra)
    return emit_entry(replace(said, body=memory.body) if memory.kind == TRACE else said)
