"""Read CLAUDE.md, AGENTS.md and similar pages of instructions: one memory for each section."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from ..learn.drafts.propose import MAX_SHARED, separating
from ..learn.skills.text import split_front
from ..text.paths import is_file_glob
from .conditions import from_description
from .entry import entry_from, texts
from .headings import cut
from .strip import count_words, strip_page
from .titles import VAGUE, told_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..model.entry import Entry
    from .source import Page, Source

NAMES = (
    "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "copilot-instructions.md",
    ".clinerules", ".windsurfrules",
)  # fmt: skip
NESTED = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")  # any folder may have these files
ENDINGS = (".instructions.md",)
FOLDERS = (".claude/rules", ".github/instructions", ".roo/rules", ".windsurf/rules")
GLOBS = ("paths", "applyTo", "globs")  # keys of Claude Code, Copilot and Cursor for the files that a page applies to
MIN_SECTION_WORDS = 3  # shorter sections are skipped


def is_instructions(source: Source) -> bool:
    """Tell whether hosts read instructions from a file or folder of this name."""
    name = os.path.basename(source.path).lower()
    return name in NAMES or name.endswith(ENDINGS) or source.path.replace(os.sep, "/").endswith(FOLDERS)


def read_instructions(source: Source) -> Iterator[Entry]:
    """Yield a memory for each section with text; all get different titles."""
    yield from tidy([entry for page in source.pages(".md") for entry in sections_of(page)])


def tidy(entries: Sequence[Entry]) -> list[Entry]:
    """Return the memories of one import with different titles, and without conditions that many of them share."""
    return told_apart(separating(entries))


def sections_of(page: Page) -> Iterator[Entry]:
    """Yield the memories of one page, with the conditions of the page or, if it has none, of their headings."""
    fields, text = split_front(page.text)
    found = [section for section in cut(strip_page(text)) if count_words(section.body) >= MIN_SECTION_WORDS]
    when = [glob for key in GLOBS for glob in texts(fields.get(key))] or _folder_of(page)
    if len(found) <= MAX_SHARED:
        when += from_description(str(fields.get("description") or ""))
    page_title = {section.trail[:1] for section in found}
    subject = _subject(page, page_title)
    below = Counter(name for section in found for name in section.trail)
    for section in found:
        place = " / ".join(section.trail[1:] if len(page_title) == 1 else section.trail)
        headings = tuple(name for name in section.trail if below[name] <= MAX_SHARED)
        title = section.title or page.stem
        named = f"{subject}: {title}" if subject and subject.casefold() not in title.casefold() else title
        yield entry_from(page, named, section.body, place, when, headings=headings or ("",))


def _subject(page: Page, first: set[tuple[str, ...]]) -> str:
    """Return the title of a page in a subfolder, which its section titles need as a prefix; else an empty text."""
    if not _folder_of(page) or len(first) != 1:
        return ""
    title = next(iter(next(iter(first))), "")
    return "" if title.casefold() in VAGUE else title


def _folder_of(page: Page) -> list[str]:
    """Return a glob of the files that a page in a subfolder applies to; empty for hidden folders, which hosts own."""
    folder, name = os.path.split(page.place)
    hidden = any(part.startswith(".") for part in folder.split("/"))
    glob = f"{folder}/**"
    return [glob] if folder and name.lower() in NAMES and not hidden and is_file_glob(glob) else []
