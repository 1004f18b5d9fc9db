"""Folders of Markdown: plain notes, Serena's memories, basic-memory's notes, OKF bundles, and our own files."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ..files.page import is_generated
from ..files.read import read_data
from ..learn.skills.text import split_front
from ..model.kinds import CREATES
from ..model.record import replace
from ..state.facets import IMPORTED
from ..state.fold import fold
from .conditions import from_description
from .entry import a_name, entry_from, importance_of, moment, texts
from .headings import cut
from .instructions import GLOBS, tidy
from .strip import count_words, strip_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..model.entry import Entry, Memory, Value
    from .source import Page, Source

MAX_NOTE_WORDS = 2_000  # words of a memory (SPEC-0009); a longer note is cut at its headings
SKILL = "SKILL"  # the file of a skill; its frontmatter names it
RESERVED_FILES = ("index.md", "log.md")  # of OKF: lists of what the other files say
OBSERVATION = re.compile(r"^- \[([^\]\n]{1,40})\] (.+)$", re.MULTILINE)
HASHTAG = re.compile(r"(?<=\s)#([A-Za-z][\w/-]+)")
OWN_ID = re.compile(r"(?:mem|lesson|skill|learning|reflection|exp|ep)_[A-Za-z0-9_-]{6,80}|trace-[a-z0-9-]{6,80}")
# Keys that OKF and our own exports add for other readers; on the way back they say nothing new.
ADDED_KEYS = ("description", "timestamp", "resource", IMPORTED)


def is_serena(source: Source) -> bool:
    """Return whether a source is a file or folder in Serena's folder."""
    inside = ".serena" in source.path.replace(os.sep, "/").split("/")
    return inside and not source.path.endswith((".json", ".jsonl"))


def is_markdown(source: Source) -> bool:
    """Return whether a source is a folder or a text file."""
    return source.is_folder or source.path.endswith((".md", ".markdown", ".txt"))


def is_basic_memory(source: Source) -> bool:
    """Return whether most notes carry a permalink, as basic-memory gives each of its own."""
    if not is_markdown(source):
        return False
    pages = list(source.pages(".md"))[:20]
    source.skipped.clear()
    return bool(pages) and 2 * sum("permalink" in split_front(page.text)[0] for page in pages) > len(pages)


def read_serena(source: Source) -> Iterator[Entry]:
    """Yield a memory for each file; their names are what Serena shows to agents, so they are the titles."""
    pages = source.pages(".md")
    yield from tidy([entry for page in pages for entry in _note(page, page.stem.replace("_", " ").replace("-", " "))])


def read_basic_memory(source: Source) -> Iterator[Entry]:
    """Yield a memory for each note; tags of its observations count as its own."""
    for page in source.pages(".md"):
        fields, body = split_front(page.text)
        tags = [*texts(fields.get("tags")), *HASHTAG.findall("\n".join(text for _, text in OBSERVATION.findall(body)))]
        extra: dict[str, Value] = {"permalink": str(fields["permalink"])} if fields.get("permalink") else {}
        at = moment(fields.get("created")) or moment(fields.get("date"))
        yield entry_from(page, str(fields.get("title") or page.stem), body, tags=tags, at=at, extra=extra)


def read_markdown(source: Source) -> Iterator[Entry]:
    """Yield a memory for each file; files of our own form keep everything that they say."""
    notes: list[Entry] = []
    for page in source.pages(".md"):
        if is_generated(page.text) or (source.is_folder and os.path.basename(page.place) in RESERVED_FILES):
            continue
        own = _own(page)
        yield from own
        notes += () if own else _note(page, "")
    yield from tidy(notes)


def _own(page: Page) -> list[Entry]:
    """Return the memories of a file in our form, each as its entries leave it; empty for any other file."""
    reading = read_data(page.text.encode(), f"memories/{page.stem}.md", advice=False)
    entries = [entry for entry in reading.entries if not entry.draft]
    if len(entries) != len(reading.entries):
        return []
    about: dict[str, list[Entry]] = {}
    for entry in entries:
        about.setdefault(entry.target, []).append(entry)
    folded = [memory for group in about.values() if (memory := fold(group)) and memory.status == "active"]
    return [_entry_of(page, memory) for memory in folded]


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


def _note(page: Page, title: str) -> Iterator[Entry]:
    fields, body = split_front(page.text)
    body = strip_page(body).strip("\n")
    heading = body.partition("\n")[0].lstrip("# ").strip() if body.startswith("#") else ""
    named = str(fields.get("title") or "") or (str(fields.get("name") or "") if page.stem == SKILL else "")
    title = title or named or heading or page.stem.replace("_", " ").replace("-", " ")
    if not count_words(body):
        return
    if len(body.split()) > MAX_NOTE_WORDS:
        for section in cut(body):
            name = section.title if section.title == title else f"{title}: {section.title}" if section.title else title
            yield entry_from(page, name, section.body, " / ".join(section.trail), **_said(fields))
    else:
        yield entry_from(page, title, body, **_said(fields))


def _said(fields: Mapping[str, Value]) -> dict[str, Any]:
    """Return what a note's frontmatter tells in words that most tools share; skills and commands have descriptions."""
    given = texts(fields.get("whenToUse")) or texts(fields.get("when_to_use"))
    globs = [glob for key in GLOBS for glob in texts(fields.get(key))]
    return {
        "when": given or globs + from_description(str(fields.get("description") or "")),
        "tags": texts(fields.get("tags")) or texts(fields.get("keywords")),
        "importance": importance_of(fields.get("importance")),
        "at": moment(fields.get("created")) or moment(fields.get("date")) or moment(fields.get("timestamp")),
        "by": str(fields.get("author") or ""),
    }
