"""Read pages of instructions: CLAUDE.md, AGENTS.md, Cursor's rules, Claude Code's auto memory.
Sections become memories.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..learn.cues import MAX_SHARED_CONDITION, without_shared_conditions
from ..learn.skills import split_front
from ..model.entries import Entry, Value
from ..model.values import record, replace
from ..text.chunks import fence_after
from ..text.paths import is_file_glob
from .imported_entries import (
    VAGUE_TITLES,
    conditions_from_description,
    entry_from,
    past_time,
    texts_in,
    with_distinct_titles,
)
from .sources import Page, Source

# Remove lines without content from a page: comments, links to other pages, HTML tags, badges.

COMMENT = re.compile(
    r"^<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE
)  # on their own lines; hosts remove them, too
INIT_OPENING = re.compile(
    r"^This file provides guidance to [^\n]*\n?", re.MULTILINE
)  # written by Claude Code's /init
# A reference to another page: alone on its line, or after one or two words ("See also: @docs/style.md").
INCLUDE = re.compile(
    r"^[ \t]*(?:[-*+>] )?(?:@[\w./~-]+|(?:[A-Za-z]+:? ){1,2}@[\w/~-]*(?:\.[\w/~-]+)+)[.,;]?[ \t]*$",
    re.MULTILINE,
)
# A line of HTML tags only; `<https://…>` is a link, and four spaces start code.
TAG_LINE = re.compile(r"^ {0,3}(?:</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>[ \t]*)+$", re.MULTILINE)
IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)"
PICTURE = re.compile(rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{IMAGE}|<img\b[^>\n]{{0,500}}>")
INLINE_LINK = re.compile(r"\[([^\]\[\n]{1,200})\]\([^)\n]{0,500}\)")
# A line of linked pictures and badges only: they show the state of a build.
BADGE_IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}(?:badge|shields\.io)[^)\n]{0,300}\)"
BADGE = rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{BADGE_IMAGE}"
BADGE_LINE = re.compile(rf"^ {{0,3}}(?:{BADGE})(?:[ \t]*(?:{BADGE}))*[ \t]*$", re.MULTILINE)
REFERENCE = re.compile(r"(?<!\S)@[\w./~-]+")


def strip_page(text: str) -> str:
    """Return a page without comments and, outside code, without includes, /init's opening, tags and badges."""
    kept: list[str] = []
    end = text.rfind("-->") + 3  # the search for comments ends here, to keep its time linear
    text = COMMENT.sub("", text[:end]) + text[end:]
    for is_code, lines in groupby(_fenced_lines(text), key=lambda found: found[0]):
        part = "\n".join(line for _, line in lines)
        for noise in () if is_code else (INIT_OPENING, INCLUDE, TAG_LINE, BADGE_LINE):
            part = noise.sub("", part)
        kept.append(part)
    return "\n".join(kept)


def count_words(text: str) -> int:
    """Return the number of words of a text, without `@` references to other pages."""
    return len(REFERENCE.sub("", text).split())


def _fenced_lines(text: str) -> Iterator[tuple[bool, str]]:
    fence = ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(fence, line)
        yield bool(before or fence), line


# Split a Markdown text at its headings, because a page of instructions becomes many memories.

HEADING = re.compile(r"(#{1,6})[ \t]")
CUT_LEVEL = 2  # headings up to this level always split; deeper ones split long sections
MAX_SECTION_WORDS = (
    300  # longer sections are split further; a memory has 200 to 500 words (SPEC-0009)
)


@record
class Section:
    """The text below a heading; `trail` is the path of headings to it, outermost first."""

    trail: tuple[str, ...]
    body: str

    @property
    def title(self) -> str:
        """Return the heading; empty for the text before the first heading."""
        return self.trail[-1] if self.trail else ""


def cut_sections(text: str) -> list[Section]:
    """Return the sections of a text that are not empty, in order."""
    return [section for section in _cut_below(text, CUT_LEVEL, ()) if section.body]


def heading_text(line: str) -> str:
    """Return the text of a heading without `#` signs, pictures and badges; links are replaced by their text."""
    said = INLINE_LINK.sub(r"\1", PICTURE.sub("", line.lstrip("#")))
    return " ".join(said.strip(" #\t").split())


def _cut_below(text: str, deepest: int, above: tuple[str, ...]) -> Iterator[Section]:
    trail: list[tuple[int, str]] = []
    said: list[str] = []
    for level, line in _heading_lines(text):
        if 0 < level <= deepest:
            yield from _closed_section(said, (*above, *(name for _, name in trail)), deepest)
            trail = [(at, name) for at, name in trail if at < level] + [(level, heading_text(line))]
            said = []
        else:
            said.append(line)
    yield from _closed_section(said, (*above, *(name for _, name in trail)), deepest)


def _closed_section(said: list[str], trail: tuple[str, ...], deepest: int) -> Iterator[Section]:
    body = "\n".join(said).strip("\n").rstrip()
    deeper = [level for level, _ in _heading_lines(body) if level]
    if len(body.split()) > MAX_SECTION_WORDS and deeper and deepest < 6:
        yield from _cut_below(body, min(deeper), trail)
    else:
        yield Section(trail, body)


def _heading_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (heading level, line); the level is 0 for a line that is not a heading."""
    for is_code, line in _fenced_lines(text):
        heading = HEADING.match(line)
        yield len(heading[1]) if heading and not is_code else 0, line


# Read CLAUDE.md, AGENTS.md and similar pages of instructions: one memory for each section.

INSTRUCTION_NAMES = (
    "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "copilot-instructions.md",
    ".clinerules", ".windsurfrules",
)  # fmt: skip
NESTED_NAMES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")  # any folder may have these files
INSTRUCTION_ENDINGS = (".instructions.md",)
INSTRUCTION_FOLDERS = (".claude/rules", ".github/instructions", ".roo/rules", ".windsurf/rules")
GLOB_KEYS = (
    "paths",
    "applyTo",
    "globs",
)  # keys of Claude Code, Copilot and Cursor for the files that a page applies to
MIN_SECTION_WORDS = 3  # shorter sections are skipped


def is_instructions(source: Source) -> bool:
    """Tell whether hosts read instructions from a file or folder of this name."""
    name = os.path.basename(source.path).lower()
    return (
        name in INSTRUCTION_NAMES
        or name.endswith(INSTRUCTION_ENDINGS)
        or source.path.replace(os.sep, "/").endswith(INSTRUCTION_FOLDERS)
    )


def read_instructions(source: Source) -> Iterator[Entry]:
    """Yield a memory for each section with text; all get different titles."""
    yield from tidied_entries(
        [entry for page in source.pages(".md") for entry in section_entries(page)]
    )


def tidied_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return the memories of one import with different titles, and without conditions that many of them share."""
    return with_distinct_titles(without_shared_conditions(entries))


def section_entries(page: Page) -> Iterator[Entry]:
    """Yield the memories of one page, with the conditions of the page or, if it has none, of their headings."""
    fields, text = split_front(page.text)
    found = [
        section
        for section in cut_sections(strip_page(text))
        if count_words(section.body) >= MIN_SECTION_WORDS
    ]
    when = [glob for key in GLOB_KEYS for glob in texts_in(fields.get(key))] or _folder_globs(page)
    if len(found) <= MAX_SHARED_CONDITION:
        when += conditions_from_description(str(fields.get("description") or ""))
    page_title = {section.trail[:1] for section in found}
    subject = _page_subject(page, page_title)
    below = Counter(name for section in found for name in section.trail)
    for section in found:
        place = " / ".join(section.trail[1:] if len(page_title) == 1 else section.trail)
        headings = tuple(name for name in section.trail if below[name] <= MAX_SHARED_CONDITION)
        title = section.title or page.stem
        named = (
            f"{subject}: {title}"
            if subject and subject.casefold() not in title.casefold()
            else title
        )
        yield entry_from(page, named, section.body, place, when, headings=headings or ("",))


def _page_subject(page: Page, first: set[tuple[str, ...]]) -> str:
    """Return the title of a page in a subfolder, which its section titles need as a prefix; else an empty text."""
    if not _folder_globs(page) or len(first) != 1:
        return ""
    title = next(iter(next(iter(first))), "")
    return "" if title.casefold() in VAGUE_TITLES else title


def _folder_globs(page: Page) -> list[str]:
    """Return a glob of the files that a page in a subfolder applies to; empty for hidden folders, which hosts own."""
    folder, name = os.path.split(page.place)
    hidden = any(part.startswith(".") for part in folder.split("/"))
    glob = f"{folder}/**"
    return (
        [glob]
        if folder and name.lower() in INSTRUCTION_NAMES and not hidden and is_file_glob(glob)
        else []
    )


# Read Cursor's rules: `.mdc` files with a description and globs, and the older `.cursorrules`.

OLDER_RULES = ".cursorrules"
RULE_ENDING = ".mdc"


def is_cursor(source: Source) -> bool:
    """Tell whether a file is a rule, or a folder contains rules."""
    path = source.path
    if not source.is_folder:
        return path.endswith(RULE_ENDING) or os.path.basename(path) == OLDER_RULES
    if os.path.basename(path) == ".cursor":
        return os.path.isdir(os.path.join(path, "rules"))
    return any(name.endswith(RULE_ENDING) for name in os.listdir(path))


def read_cursor(source: Source) -> Iterator[Entry]:
    """Yield a memory for each rule, and one for each section of an older `.cursorrules` page."""
    found: list[Entry] = []
    for page in source.pages(RULE_ENDING):
        found += (
            section_entries(page)
            if os.path.basename(page.place) == OLDER_RULES
            else [_cursor_rule(page)]
        )
    yield from tidied_entries(found)


def _cursor_rule(page: Page) -> Entry:
    """Return a rule as a memory: globs and description become conditions; `alwaysApply` gives high importance."""
    fields, body = split_front(page.text)
    description = str(fields.get("description") or "").strip()
    heading = body.partition("\n")[0] if body.startswith("# ") else ""
    title = heading.lstrip("# ") or description or page.stem.replace("-", " ")
    importance = "high" if str(fields.get("alwaysApply", "")).lower() == "true" else "medium"
    when = [*texts_in(fields.get("globs")), *conditions_from_description(description)]
    extra: dict[str, Value] = {"description": description} if description else {}
    return entry_from(page, title, body, when=when, importance=importance, extra=extra)


# Read Claude Code's auto memory: notes with `name`, `description` and a type, and MEMORY.md as
# their index.

MEMORY_INDEX = "MEMORY.md"
CLAUDE_CATEGORIES = {
    "user": "preference",
    "feedback": "preference",
    "project": "fact",
    "reference": "fact",
}


def is_claude_memory(source: Source) -> bool:
    """Tell whether a source is a folder with a MEMORY.md, as Claude Code writes it."""
    return os.path.isfile(os.path.join(source.path, MEMORY_INDEX))


def read_claude_memory(source: Source) -> Iterator[Entry]:
    """Yield a memory for each note, and one for each section of the index that has text besides links."""
    notes: list[Entry] = []
    listed: list[Entry] = []
    for page in source.pages(".md"):
        if os.path.basename(page.place) == MEMORY_INDEX:
            lines = [
                line
                for line in page.text.split("\n")
                if not (line.lstrip().startswith("- [") and ".md)" in line)
            ]
            listed += section_entries(replace(page, text="\n".join(lines)))
        else:
            notes.append(_claude_note(page))
    yield from tidied_entries([*notes, *listed])


def _claude_note(page: Page) -> Entry:
    fields, body = split_front(page.text)
    about = fields.get("metadata")
    type = about.get("type", "") if isinstance(about, dict) else fields.get("type", "")
    name, description = str(fields.get("name") or page.stem), str(fields.get("description") or "")
    extra: dict[str, Value] = {"description": description} if description else {}
    if str(type) in CLAUDE_CATEGORIES:
        extra["category"] = CLAUDE_CATEGORIES[str(type)]
    title = description or name.replace("-", " ").replace("_", " ")
    when = conditions_from_description(description)
    return entry_from(
        page, title, body, when=when, at=past_time(fields.get("modified")), extra=extra
    )
