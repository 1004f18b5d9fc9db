"""CLAUDE.md, AGENTS.md and their kin: pages of instructions, a memory for each section."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from ..learn.skills.text import split_front
from .entry import entry_from, texts
from .headings import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.entry import Entry
    from .source import Page, Source

NAMES = ("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "copilot-instructions.md")
ENDINGS = (".instructions.md",)
FOLDERS = (".claude/rules", ".github/instructions")
COMMENT = re.compile(r"^<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)  # on lines of their own; hosts strip them, too
GLOBS = ("paths", "applyTo", "globs")  # keys of Claude Code, Copilot and Cursor for the files that a page is about
INCLUDE = re.compile(r"^[ \t]*(?:[-*] )?@[\w./~-]+[ \t]*$", re.MULTILINE)  # another page, which is imported by itself
OPENING = re.compile(r"^This file provides guidance to [^\n]*\n?", re.MULTILINE)  # what Claude Code's /init writes
MIN_SECTION_WORDS = 3  # words of a section: fewer say nothing


def is_instructions(source: Source) -> bool:
    """Return whether the name of a file or folder is one that hosts read instructions from."""
    name = os.path.basename(source.path).lower()
    return name in NAMES or name.endswith(ENDINGS) or source.path.replace(os.sep, "/").endswith(FOLDERS)


def read_instructions(source: Source) -> Iterator[Entry]:
    """Yield every section that says something, with its heading as title."""
    for page in source.pages(".md"):
        yield from sections_of(page)


def sections_of(page: Page) -> Iterator[Entry]:
    """Yield the memories of one page. Where two sections have the same heading, the one above it tells them apart."""
    fields, text = split_front(page.text)
    when = [glob for key in GLOBS for glob in texts(fields.get(key))]
    text = OPENING.sub("", INCLUDE.sub("", _without_comments(text)))
    found = [section for section in cut(text) if len(section.body.split()) >= MIN_SECTION_WORDS]
    times = Counter(section.title for section in found)
    page_title = {section.trail[:1] for section in found}
    for section in found:
        title = section.title
        if times[title] > 1 and len(section.trail) > 1:
            title = ": ".join(section.trail[-2:])
        place = " / ".join(section.trail[1:] if len(page_title) == 1 else section.trail)
        yield entry_from(page, title or page.stem, section.body, place, when)


def _without_comments(text: str) -> str:
    """Return a text without its comments; behind the last end of a comment, none is searched for."""
    end = text.rfind("-->") + 3
    return COMMENT.sub("", text[:end]) + text[end:] if end > 2 else text
