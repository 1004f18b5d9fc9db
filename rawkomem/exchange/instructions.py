"""CLAUDE.md, AGENTS.md and their kin: pages of instructions, a memory for each section."""

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
NESTED = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")  # of these, any folder may have its own
ENDINGS = (".instructions.md",)
FOLDERS = (".claude/rules", ".github/instructions", ".roo/rules", ".windsurf/rules")
GLOBS = ("paths", "applyTo", "globs")  # keys of Claude Code, Copilot and Cursor for the files that a page is about
MIN_SECTION_WORDS = 3  # words of a section: fewer say nothing


def is_instructions(source: Source) -> bool:
    """Return whether the name of a file or folder is one that hosts read instructions from."""
    name = os.path.basename(source.path).lower()
    return name in NAMES or name.endswith(ENDINGS) or source.path.replace(os.sep, "/").endswith(FOLDERS)


def read_instructions(source: Source) -> Iterator[Entry]:
    """Yield every section that says something, with a title that tells it from the others."""
    yield from tidy([entry for page in source.pages(".md") for entry in sections_of(page)])


def tidy(entries: Sequence[Entry]) -> list[Entry]:
    """Return the memories of one import with titles and conditions that tell them apart."""
    return told_apart(separating(entries))


def sections_of(page: Page) -> Iterator[Entry]:
    """Yield the memories of one page, each with the conditions of the page, else with what its headings name."""
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
    """Return what a page below the project's own folder is about: its headings say little without it. Else empty."""
    if not _folder_of(page) or len(first) != 1:
        return ""
    title = next(iter(next(iter(first))), "")
    return "" if title.casefold() in VAGUE else title


def _folder_of(page: Page) -> list[str]:
    """Return a glob for the files that a page below the project's own folder is about; hidden folders are hosts'."""
    folder, name = os.path.split(page.place)
    hidden = any(part.startswith(".") for part in folder.split("/"))
    glob = f"{folder}/**"
    return [glob] if folder and name.lower() in NAMES and not hidden and is_file_glob(glob) else []
