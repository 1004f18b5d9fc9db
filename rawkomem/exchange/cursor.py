"""Read Cursor's rules: `.mdc` files with a description and globs, and the older `.cursorrules`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..learn.skills.text import split_front
from .conditions import from_description
from .entry import entry_from, texts
from .instructions import sections_of, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.entry import Entry, Value
    from .source import Page, Source

OLDER_FILE = ".cursorrules"
RULE_ENDING = ".mdc"


def is_cursor(source: Source) -> bool:
    """Tell whether a file is a rule, or a folder contains rules."""
    path = source.path
    if not source.is_folder:
        return path.endswith(RULE_ENDING) or os.path.basename(path) == OLDER_FILE
    if os.path.basename(path) == ".cursor":
        return os.path.isdir(os.path.join(path, "rules"))
    return any(name.endswith(RULE_ENDING) for name in os.listdir(path))


def read_cursor(source: Source) -> Iterator[Entry]:
    """Yield a memory for each rule, and one for each section of an older `.cursorrules` page."""
    found: list[Entry] = []
    for page in source.pages(RULE_ENDING):
        found += sections_of(page) if os.path.basename(page.place) == OLDER_FILE else [_rule(page)]
    yield from tidy(found)


def _rule(page: Page) -> Entry:
    """Return a rule as a memory: globs and description become conditions; `alwaysApply` gives high importance."""
    fields, body = split_front(page.text)
    description = str(fields.get("description") or "").strip()
    heading = body.partition("\n")[0] if body.startswith("# ") else ""
    title = heading.lstrip("# ") or description or page.stem.replace("-", " ")
    importance = "high" if str(fields.get("alwaysApply", "")).lower() == "true" else "medium"
    when = [*texts(fields.get("globs")), *from_description(description)]
    extra: dict[str, Value] = {"description": description} if description else {}
    return entry_from(page, title, body, when=when, importance=importance, extra=extra)
