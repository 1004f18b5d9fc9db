"""Make an Entry from a person's text, which may have frontmatter, and from flags, which override the frontmatter."""

from __future__ import annotations

import re
from typing import Any

from ..model.entry import Entry
from ..model.errors import BadInput
from ..model.problem import ERROR
from ..model.record import replace
from .read_entries import NO_TITLE, read_entries

MAX_TITLE_CHARS = 120
SENTENCE_END = re.compile(r"[.!?](?=\s)\s+|[。！？]")
KEY_OF = {
    "title": "title",
    "when": "whenToUse",
    "tags": "tags",
    "importance": "importance",
    "found_in": "discoveredIn",
    "source": "source",
    "related": "relatedMemories",
}


def entry_from_text(text: str) -> Entry:
    """Return the only entry of a text; plain text becomes its body.

    Raise BadInput if the frontmatter cannot be read, or if the text holds several entries.
    """
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    if not text.lstrip().startswith("---\n"):
        return Entry(body=text.strip("\n"))
    entries, problems = read_entries(text)
    wrong = [problem for problem in problems if problem.level == ERROR and problem.code != NO_TITLE]
    if wrong:
        raise BadInput(f"line {wrong[0].line}: {wrong[0].message}", wrong[0].hint)
    if len(entries) != 1:
        raise BadInput(f"the text holds {len(entries)} entries", "store them one at a time")
    return replace(entries[0], draft=False, line=0)


def compose(entry: Entry, kind: str, by: str, **flags: Any) -> Entry:
    """Return the entry with `flags` instead of its own fields; without a title, the first heading becomes the title."""
    fields = {key: tuple(value) if isinstance(value, (list, tuple)) else value for key, value in flags.items()}
    given = tuple(dict.fromkeys([*entry.given, *(KEY_OF[key] for key in fields)]))
    entry = replace(entry, kind=kind if entry.kind == "memory" else entry.kind, by=entry.by or by, given=given)
    entry = replace(entry, **fields)
    if kind != "amend" and not entry.title:
        entry = replace(entry, title=heading(entry.body))
    return entry


def titled(text: str) -> Entry:
    """Return the entry of a plain text: its first sentence or line is the title, the rest is the body.

    If that is too long for a title, its start is the title and the whole text is the body.
    """
    text = text.strip()
    line, _, rest = text.partition("\n")
    end = SENTENCE_END.search(line)
    if end:
        line, rest = line[: end.start() + 1], f"{line[end.end() :]}\n{rest}"
    title = line.lstrip("#").strip()
    if len(title) > MAX_TITLE_CHARS:
        title, rest = f"{title[:MAX_TITLE_CHARS].rpartition(' ')[0] or title[:MAX_TITLE_CHARS]} …", text
    return Entry(title=title.removesuffix("."), body=rest.strip())


def heading(body: str) -> str:
    """Return the heading that a text starts with, or an empty string."""
    first = body.strip().partition("\n")[0]
    return first.lstrip("#").strip() if first.startswith("#") else ""
