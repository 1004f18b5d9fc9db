"""Parts of a memory that lead elsewhere or divide it: sections and list items of its body, wikilinks,
and citations of the project's files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..model.entries import Value
from ..model.values import record
from ..text.chunks import heading_lines
from ..text.prose import prose_lines, without_code

# `- text`, `3. text` or `3) text`
ITEM = re.compile(r"\s*(?:[-*+]|[0-9]{1,4}[.)]) (.*)")
# a learning writes these texts below a heading without items …
NOT_RECORDED = "None were recorded."
NOT_SEEN = "None were seen."
NOTHING_WORKED = "No execution has succeeded yet: there is nothing to recommend."
NOTHING_SAID = "The executions do not say how they went about it."
# … and readers skip
PLACEHOLDERS = (NOT_RECORDED, NOT_SEEN, NOTHING_WORKED, NOTHING_SAID)


def sections_of(body: str) -> dict[str, str]:
    """Return lower-case heading → text below it; the text before the first heading is under ''."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line, level in heading_lines(body):
        if level:
            title = line.lstrip("#").strip().lower()
        else:
            sections.setdefault(title, []).append(line)
    return {title: "\n".join(lines).strip() for title, lines in sections.items()}


def list_items(text: str) -> list[str]:
    """Return the items of a list, each on one line without its bullet or number; following lines belong to the item.

    In a text without bullets, each paragraph is one item.
    """
    items: list[list[str]] = []
    apart = True
    for line in text.split("\n"):
        start = ITEM.fullmatch(line)
        if start:
            items.append([start[1]])
        elif not line.strip():
            apart = True
            continue
        elif items and not apart:
            items[-1].append(line)
        else:
            items.append([line])
        apart = False
    return [item for lines in items if (item := " ".join(" ".join(lines).split()))]


def numbered(items: Iterable[str]) -> str:
    """Return a numbered list."""
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))


def items_under(body: str, heading: str) -> tuple[str, ...]:
    """Return the items between a heading and the next one, in upper or lower case, without code and PLACEHOLDERS."""
    parts = sections_of("\n".join(prose_lines(body)))
    items = list_items(parts.get(heading.lower(), ""))
    return tuple(item for item in items if item not in PLACEHOLDERS)


# Find wikilinks in a body, outside code: [[name]], [[name|label]], [[name#heading]].

# No spaces at the edges, because `[[ -f file ]]` is a shell test. A name is at most as long as an id.
WIKILINK = re.compile(
    r"\[\[(?=\S)([^\[\]|\n]{1,250})(?:\|[^\[\]\n]{0,250})?(?<=\S)\]\]"
)


def wikilinks_in(body: str) -> tuple[str, ...]:
    """Return the names that a body links to, in order, each once."""
    if "[[" not in body:
        return ()
    names = (
        name
        for line in prose_lines(body)
        if "[[" in line
        for name in WIKILINK.findall(without_code(line))
    )
    return tuple(dict.fromkeys(name.strip() for name in names))


# Read and write citations: `path#symbol@blob` and its shorter forms.

CITES_KEY = "cites"
WRITTEN_BLOB_DIGITS = 12  # hex digits that we write: enough to be unique in any project
CITATION = re.compile(
    r"(?P<place>(?P<path>.+?)"
    r"(?:#(?P<symbol>(?:[^\W\d]|\$)[\w$.:?!~-]*)|:(?P<first>[0-9]{1,8})(?:-(?P<last>[0-9]{1,8}))?)?)"
    r"(?:@(?P<blob>[0-9A-Fa-f]{7,40}))?",  # a blob id, abbreviated by git or complete
    re.DOTALL,
)


@record
class Citation:
    """A place in the project's files, and the blob id of its content if it is known."""

    path: str
    symbol: str = ""
    lines: tuple[int, int] | None = None  # first and last, counted from 1
    blob: str = ""

    @property
    def place(self) -> str:
        """Return the citation without its blob id."""
        if self.lines:
            return f"{self.path}:{self.lines[0]}-{self.lines[1]}"
        return f"{self.path}#{self.symbol}" if self.symbol else self.path

    @property
    def text(self) -> str:
        """Return the citation as text, as it is stored in a memory."""
        return f"{self.place}@{self.blob}" if self.blob else self.place


def read_citation(text: str) -> Citation:
    """Parse a citation in any form. Text that does not look like a blob id, a symbol or lines is part of the path."""
    text = text.strip()
    match = CITATION.fullmatch(text)
    if not match:
        return Citation(text)
    blob = (match["blob"] or "").lower()
    if match["symbol"]:
        return Citation(match["path"], match["symbol"], blob=blob)
    first = int(match["first"] or 0)
    last = int(match["last"] or first)
    if 1 <= first <= last:
        return Citation(match["path"], lines=(first, last), blob=blob)
    return Citation(match["place"], blob=blob)


def citations_in(extra: Mapping[str, Value]) -> list[str]:
    """Return a memory's citations as they are written: a list or a single text; ignore other values."""
    value = extra.get(CITES_KEY, [])
    items = value if isinstance(value, list) else [value]
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


def with_citations(known: Iterable[str], new: Iterable[Citation]) -> list[str]:
    """Return the known citations plus the new ones; a new citation replaces a known one of the same place."""
    added = {citation.place: citation.text for citation in new}
    kept = [text for text in known if read_citation(text).place not in added]
    return [*kept, *added.values()]


def why_path_refused(path: str) -> str:
    """Return why a path cannot be inside the project; empty if it can. Links on disk are not checked here."""
    if not path or "\0" in path:
        return "names no file"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return "is not relative to the project"
    if "\\" in path:
        return "has backslashes: write forward slashes"
    if ".." in path.split("/"):
        return "leads out of the project"
    return ""
