"""Read folders of Markdown: plain notes, Serena's memories, basic-memory's notes, OKF bundles, and our own files."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from ..files.page import is_generated
from ..files.read import read_data
from ..model.ids import slug
from ..model.kinds import CREATES
from ..model.record import replace
from ..state.facets import IMPORTED
from ..state.fold import fold
from .entry import a_name, entry_from, moment, texts
from .headings import cut, heading_text
from .instructions import tidy
from .markdown.front import read_front
from .markdown.note import HASHTAG, name_of, said, with_abstract, with_long_fields
from .strip import count_words, strip_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.entry import Entry, Memory, Value
    from .markdown.front import Front
    from .source import Page, Source

MAX_NOTE_WORDS = 2_000  # words of a memory (SPEC-0009); a longer note is split at its headings
BASIC_MEMORY_SETTINGS = ".basic-memory/config.json"  # below the user's home folder
SKILL = "SKILL"  # the file of a skill; its frontmatter names it
RESERVED_FILES = ("index.md", "log.md")  # of OKF: lists of the other files
OBSERVATION = re.compile(r"^- \[([^\]\n]{1,40})\] (.+)$", re.MULTILINE)
RELATION = re.compile(r"^- ([^\[\n]{1,60}?) \[\[([^\]|#\n]{1,200})", re.MULTILINE)
# Keys of our own files; a title alone may come from any tool.
OWN_KEYS = {"id", "kind", "whenToUse", "discoveredAt", "discoveredBy", "importance"}
OKF_KEYS = {"type", "timestamp", "description"}
OWN_ID = re.compile(r"(?:mem|lesson|skill|learning|reflection|exp|ep)_[A-Za-z0-9_-]{6,80}|trace-[a-z0-9-]{6,80}")
# Keys that OKF and our own exports add for other readers; they are dropped on import.
ADDED_KEYS = ("description", "timestamp", "resource", IMPORTED)


def is_serena(source: Source) -> bool:
    """Tell whether a source is a file or folder in Serena's folder."""
    inside = ".serena" in source.path.replace(os.sep, "/").split("/")
    return inside and not source.path.endswith((".json", ".jsonl"))


def is_markdown(source: Source) -> bool:
    """Tell whether a source is a folder or a text file."""
    return source.is_folder or source.path.endswith((".md", ".markdown", ".txt"))


def basic_memory_folders(project: str, home: str) -> list[str]:
    """Return the folders below a project that basic-memory's settings name."""
    try:
        with open(os.path.join(home, BASIC_MEMORY_SETTINGS), encoding="utf-8") as stream:
            named = json.load(stream)["projects"].values()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    paths = [one.get("path") if isinstance(one, dict) else one for one in named]  # newer versions store objects
    folders = [os.path.expanduser(path) for path in paths if isinstance(path, str)]
    top = os.path.realpath(project) + os.sep
    return [os.path.join(project, os.path.realpath(path)[len(top) :]) for path in folders if _is_below(path, top)]


def _is_below(folder: str, top: str) -> bool:
    return os.path.realpath(folder).startswith(top) and os.path.isdir(folder)


def is_basic_memory(source: Source) -> bool:
    """Tell whether most notes have a permalink of basic-memory."""
    if not is_markdown(source):
        return False
    pages = list(source.pages(".md"))[:20]
    source.skipped.clear()
    return bool(pages) and 2 * sum(_has_permalink(page) for page in pages) > len(pages)


def _has_permalink(page: Page) -> bool:
    """Tell whether a note has a permalink of basic-memory; those of Jekyll start with a slash."""
    fields = read_front(page.text).fields
    return "layout" not in fields and not str(fields.get("permalink") or "/").startswith("/")


def read_serena(source: Source) -> Iterator[Entry]:
    """Yield a memory for each file; the file names become titles, because Serena shows them to agents."""
    pages = source.pages(".md")
    yield from tidy([entry for page in pages for entry in _note(page, source, name_of(page.stem))])


def read_basic_memory(source: Source) -> Iterator[Entry]:
    """Yield a memory for each note, with the tags of the note and of its observations."""
    for page in source.pages(".md"):
        front = _front(page, source)
        observations = OBSERVATION.findall(front.body)
        relations = [(type.strip(), to.strip()) for type, to in RELATION.findall(front.body) if type[:1] != "["]
        given = said(front.fields, front.body, page.stem)
        tags = [*texts(front.fields.get("tags")), *HASHTAG.findall(" ".join(text for _, text in observations))]
        about: dict[str, list[Value]] = {
            "observations": [*dict.fromkeys(category for category, _ in observations)],
            "relations": [f"{type} [[{to}]]" for type, to in relations],
        }
        extra = {**given["extra"], **{key: value for key, value in about.items() if value}}
        title = str(front.fields.get("title") or page.stem)
        short, body = with_long_fields(extra, front.body)
        made = entry_from(page, title, body, **{**given, "tags": tags, "extra": short})
        yield replace(made, related=tuple(dict.fromkeys(slug(to.rpartition("/")[2]) for _, to in relations)))


def read_markdown(source: Source) -> Iterator[Entry]:
    """Yield a memory for each note; files in our own format may hold several memories and keep their keys."""
    notes: list[Entry] = []
    for page in source.pages(".md"):
        if is_generated(page.text) or (source.is_folder and os.path.basename(page.place) in RESERVED_FILES):
            continue
        own = _own(page)
        yield from own
        notes += () if own else _note(page, source, "")
    yield from tidy(notes)


def _own(page: Page) -> list[Entry]:
    """Return the active memories of a file in our format, folded from its entries; empty for other files."""
    reading = read_data(page.text.encode(), f"memories/{page.stem}.md", advice=False)
    entries = [entry for entry in reading.entries if not entry.draft]
    if len(entries) != len(reading.entries) or not any(_is_own_form(entry) for entry in entries):
        return []
    about: dict[str, list[Entry]] = {}
    for entry in entries:
        about.setdefault(entry.target, []).append(entry)
    folded = [memory for group in about.values() if (memory := fold(group)) and memory.status == "active"]
    return [_entry_of(page, memory) for memory in folded]


def _is_own_form(entry: Entry) -> bool:
    return bool(OWN_KEYS & {*entry.given}) or {*entry.given} >= OKF_KEYS


def _front(page: Page, source: Source) -> Front:
    front = read_front(page.text)
    if front.problem:
        source.skip(page.place, f"{front.problem}: only the text is imported")
    return front


def _entry_of(page: Page, memory: Memory) -> Entry:
    id = memory.id if OWN_ID.fullmatch(memory.id) else ""
    named = memory.extra.get("type")
    kind = named if memory.kind == "memory" and isinstance(named, str) and named in CREATES else memory.kind
    extra = {key: value for key, value in memory.extra.items() if key not in ADDED_KEYS}
    if extra.get("type") == kind:
        del extra["type"]
    section = memory.id if "#" in memory.id else ""
    at = memory.created or moment(memory.extra.get("timestamp"))
    made = entry_from(page, memory.title, memory.body, section, memory.when, memory.tags, memory.importance, kind, at)
    return replace(
        made,
        id=id,
        title=memory.title,
        when=memory.when if id else made.when,
        by=a_name(memory.by),
        found_in=memory.found_in,
        source=memory.source,
        related=memory.related,
        extra={**made.extra, **extra},
    )


def _note(page: Page, source: Source, title: str) -> Iterator[Entry]:
    front = _front(page, source)
    fields, given = front.fields, said(front.fields, front.body, page.stem)
    body = strip_page(with_abstract(fields, front.body)).strip("\n")
    heading = heading_text(body.partition("\n")[0]) if body.startswith("#") else ""
    named = str(fields.get("title") or "") or (str(fields.get("name") or "") if page.stem == SKILL else "")
    title = title or named or heading or name_of(page.stem)
    if not count_words(body):
        source.skip(page.place, "it has no text")
        return
    given["extra"], whole = with_long_fields(given["extra"], body)
    if len(body.split()) > MAX_NOTE_WORDS:
        for section in cut(whole):
            name = section.title if section.title == title else f"{title}: {section.title}" if section.title else title
            yield entry_from(page, name, section.body, " / ".join(section.trail), **given)
    else:
        yield entry_from(page, title, whole, **given)
