"""Read Claude Code's auto memory: notes with `name`, `description` and a type, and MEMORY.md as their index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..learn.skills.text import split_front
from ..model.record import replace
from .conditions import from_description
from .entry import entry_from, moment
from .instructions import sections_of, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.entry import Entry, Value
    from .source import Page, Source

INDEX = "MEMORY.md"
CATEGORIES = {"user": "preference", "feedback": "preference", "project": "fact", "reference": "fact"}


def is_claude_memory(source: Source) -> bool:
    """Tell whether a source is a folder with a MEMORY.md, as Claude Code writes it."""
    return os.path.isfile(os.path.join(source.path, INDEX))


def read_claude_memory(source: Source) -> Iterator[Entry]:
    """Yield a memory for each note, and one for each section of the index that has text besides links."""
    pages = list(source.pages(".md"))
    notes = [page for page in pages if os.path.basename(page.place) != INDEX]
    indexes = [page for page in pages if os.path.basename(page.place) == INDEX]
    listed = [entry for page in indexes for entry in sections_of(_without_links(page))]
    yield from tidy([*map(_note, notes), *listed])


def _note(page: Page) -> Entry:
    fields, body = split_front(page.text)
    about = fields.get("metadata")
    type = about.get("type", "") if isinstance(about, dict) else fields.get("type", "")
    name, description = str(fields.get("name") or page.stem), str(fields.get("description") or "")
    extra: dict[str, Value] = {"description": description} if description else {}
    if str(type) in CATEGORIES:
        extra["category"] = CATEGORIES[str(type)]
    title = description or name.replace("-", " ").replace("_", " ")
    when = from_description(description)
    return entry_from(page, title, body, when=when, at=moment(fields.get("modified")), extra=extra)


def _without_links(page: Page) -> Page:
    lines = [line for line in page.text.split("\n") if not (line.lstrip().startswith("- [") and ".md)" in line)]
    return replace(page, text="\n".join(lines))
