"""Read pages of instructions: CLAUDE.md, AGENTS.md, Cursor's rules. Sections become memories."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from textwrap import shorten

from ..format.skill_files import split_front
from ..learn.proposed_conditions import (
    MAX_SHARED_CONDITION,
    propose_acts,
    without_shared_conditions,
)
from ..model.entries import Entry, Value
from ..model.values import record
from ..text.acts import (
    APPLIES_KEY,
    MAX_ACT_PATTERNS,
    PATHS_KEY,
    applies_of,
    patterns_given,
)
from ..text.chunks import fenced_lines, heading_level, heading_lines
from ..text.clean import one_line
from ..text.paths import is_file_glob
from ..text.prose import BULLET, first_sentence
from .imported_entries import (
    TITLE_LENGTH,
    TITLE_SENTENCE_LENGTH,
    VAGUE_TITLES,
    acts_of_moment,
    conditions_from_description,
    entry_from,
    is_emphasized,
    is_part_title,
    names_subject,
    plain_title,
    texts_in,
    with_distinct_titles,
)
from .sources import ALWAYS_KEY, DESCRIPTION_KEY, Source, SourcePage

# Remove lines without content from a page: comments, links to other pages, HTML tags, badges.

# on their own lines; hosts remove them, too
COMMENT = re.compile(r"^<!--.*?-->[ \t]*\n?", re.DOTALL | re.MULTILINE)
# written by Claude Code's /init
INIT_OPENING = re.compile(r"^This file provides guidance to [^\n]*\n?", re.MULTILINE)
# A reference to another page: alone on its line, or after one or two words ("See also: @docs/style.md").
INCLUDE = re.compile(
    r"^[ \t]*(?:[-*+>] )?(?:@[\w./~-]+|(?:[A-Za-z]+:? ){1,2}@[\w/~-]*(?:\.[\w/~-]+)+)[.,;]?[ \t]*$",
    re.MULTILINE,
)
# A line of HTML tags only; `<https://…>` is a link, and four spaces start code.
TAG_LINE = re.compile(
    r"^ {0,3}(?:</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>[ \t]*)+$", re.MULTILINE
)
IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)"
PICTURE = re.compile(
    rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{IMAGE}|<img\b[^>\n]{{0,500}}>"
)
INLINE_LINK = re.compile(r"\[([^\]\[\n]{1,200})\]\([^)\n]{0,500}\)")
# A line of linked pictures and badges only: they show the state of a build.
BADGE_IMAGE = r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}(?:badge|shields\.io)[^)\n]{0,300}\)"
BADGE = rf"\[[ \t]?{IMAGE}[ \t]?\]\([^)\n]{{0,500}}\)|{BADGE_IMAGE}"
BADGE_LINE = re.compile(
    rf"^ {{0,3}}(?:{BADGE})(?:[ \t]*(?:{BADGE}))*[ \t]*$", re.MULTILINE
)
# An item of a table of contents: a link to another section of the page.
CONTENTS_LINE = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[^\]\n]{1,200}\]\(#[^)\n]{0,200}\)[ \t]*$",
    re.MULTILINE,
)
NOISE = INIT_OPENING, INCLUDE, TAG_LINE, BADGE_LINE, CONTENTS_LINE
REFERENCE = re.compile(r"(?<!\S)@[\w./~-]+")
# scripts that write words without spaces between them
IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


def strip_page(text: str) -> str:
    """Return a page without comments and, outside code, without includes, /init's opening, tags, badges and its contents."""
    kept: list[str] = []
    text = _without_ours(text)
    # the search for comments ends here, to keep its time linear
    end = text.rfind("-->") + 3
    text = COMMENT.sub("", text[:end]) + text[end:]
    for is_code, part in _code_and_prose(text):
        for noise in () if is_code else NOISE:
            part = noise.sub("", part)
        kept.append(part)
    return "\n".join(kept)


# Shorten a page after its import: its rules are memories, so an agent need not load them at each
# start.

OURS_BEGIN = "<!-- rawkomem: begin -->"
OURS_END = "<!-- rawkomem: end -->\n"
SHORT_CORE = f"""\
{OURS_BEGIN}
## More rules

The other rules of this project are memories in `.rawko/`. The memories that fit a task are added to its prompt. To find more,
run `rawkomem search "words of the task"`; `rawkomem show ID` shows one. To add a rule, run `rawkomem add`. Do not edit files in `.rawko/`.
{OURS_END}"""
LINE_MARK = re.compile(r"^[\s>*+#-]+|^\s*\d+\.\s+")
BLOCK_START = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t])")


def shortened_page(
    text: str, known: frozenset[str], kept: frozenset[str] = frozenset()
) -> str:
    """Return a page without the sections whose lines are all in `known`, and with a paragraph about the memories.

    Of such a section, the blocks whose lines are all in `kept` stay, and emphasized rules.
    """
    left: list[str] = []
    section: list[str] = []
    has_title = False
    for line, level in [*heading_lines(_without_ours(text)), ("", 1)]:
        if 0 < level <= CUT_LEVEL and section:
            body = section[1:] if heading_level(section[0]) else section
            content = plain_lines(strip_page("\n".join(body)))
            is_moved = content and content <= known
            staying = _staying_lines("\n".join(section), kept, has_title)
            left += staying if is_moved else section
            has_title = has_title or heading_level(section[0]) == 1
            section = []
        section.append(line)
    above = "\n".join(left).strip("\n")
    return f"{above}\n\n{SHORT_CORE}" if above else SHORT_CORE


def _staying_lines(section: str, kept: frozenset[str], has_title: bool) -> list[str]:
    """Return the lines that stay of a moved section: the page's title, links to other pages, some rules with their headings.

    With a rule, the code right after it stays, and the list after a colon.
    """
    staying: list[str] = []
    above: list[str] = []  # headings of the next rule
    is_open = False
    is_after_rule = False
    for is_code, block in _blocks(section):
        content = plain_lines(block)
        level = 0 if is_code else heading_level(block)
        is_item = not is_code and bool(BULLET.match(block))
        if level > 1 or (level and has_title):
            above = [one for one in above if heading_level(one) < level] + [block]
            is_open = is_after_rule = False
            continue
        is_part = (is_open and (is_code or is_item)) or (is_after_rule and is_code)
        is_rule = (bool(content) and content <= kept) or (
            not is_code and is_emphasized(block)
        )
        is_open = (is_open and is_part) or (is_rule and block.endswith(":"))
        is_after_rule = is_rule
        if is_rule or is_part:
            if is_item and staying and not above and BULLET.match(staying[-1]):
                staying[-1] += f"\n{block}"
            else:
                staying += [*above, block]
            above = []
        elif not is_code:
            lines = block.split("\n")
            staying += [line for line in lines if level or INCLUDE.match(line)]
    return [line for block in staying for line in (block, "")]


def staying_rules(page: str) -> list[str]:
    """Return the first line of each heading, paragraph and list item of a shortened page."""
    blocks = _blocks(_without_ours(page))
    return [
        block.strip().partition("\n")[0] for is_code, block in blocks if not is_code
    ]


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (is code, text) of each heading, paragraph, list item and code fence."""
    for is_code, part in _code_and_prose(text):
        spaced = part if is_code else HEADING_LINE.sub(r"\n\g<0>\n", part)
        for block in [part] if is_code else BLOCK_START.split(spaced):
            if block.strip():
                yield is_code, block.strip("\n")


def plain_lines(text: str) -> frozenset[str]:
    """Return the lines of a text without marks of lists and headings, and without empty ones."""
    lines = (" ".join(LINE_MARK.sub("", line).split()) for line in text.split("\n"))
    return frozenset(filter(None, lines))


def _without_ours(text: str) -> str:
    """Return a page without the paragraph that rawkomem wrote."""
    above, _, rest = text.partition(OURS_BEGIN)
    _, end, below = f"{rest}\n".partition(OURS_END)
    return above + below.removesuffix("\n") if end else text


def count_words(text: str) -> int:
    """Return the number of words of a text, without `@` references to other pages. Each sign of Chinese and Japanese counts."""
    return len(IDEOGRAPH.sub(" x ", REFERENCE.sub("", text)).split())


def _code_and_prose(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (is code, lines) of each code fence and of the text between two."""
    for is_code, lines in groupby(fenced_lines(text), key=itemgetter(1)):
        yield is_code, "\n".join(line for line, _ in lines)


# Split a Markdown text at its headings, because a page of instructions becomes many memories.

HEADING_LINE = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
# headings up to this level always split; deeper ones split long sections, and sections with several of them
CUT_LEVEL = 2
# longer sections are split further; a memory has 200 to 500 words (SPEC-0009)
MAX_SECTION_WORDS = 300
MIN_RULE_WORDS = 12  # a shorter item of a list is not a rule of its own
MIN_INTRODUCTION_WORDS = 20  # a shorter text above the first heading is no rule
MAX_LIST_WORDS = 120  # a longer list of rules is cut
BOLD_LEAD = re.compile(
    rf"(?:[-*+>] |\d{{1,3}}[.)] )*\*\*([^*]{{1,{TITLE_LENGTH}}})\*\*(?!\w)"
)
MIN_LEAD_WORDS = 3  # of a bold start that says the rule; a shorter one is a label
# what an item says that holds always; a bold start of several words states a rule
SAYS_RULE = re.compile(
    r"\b(?:never|always|must|do not|don't|avoid|prefer|only|should|no|not)\b"
    r"|^\d{1,3}[.)] \*\*[^*\n]*\w \w",
    re.IGNORECASE,
)
ANNOUNCES_STEPS = re.compile(
    r"\b(?:steps?|procedure|process|checklist)\b", re.IGNORECASE
)
CONTINUES_STEPS = re.compile(
    r"\S{1,4}\s{1,4}\W{0,4}(?:then|next|afterwards|finally|lastly)\b", re.IGNORECASE
)
# of a page's title after the title of its section; else its folder is named
MAX_SUBJECT_WORDS = 3
SHOWN_FOLDERS = 2  # the last ones of a path in a title


@record
class Section:
    """The text below a heading; `trail` is the path of headings to it, outermost first."""

    trail: tuple[str, ...]
    body: str
    is_item: bool = False  # a rule of a list: its title is its first sentence

    @property
    def title(self) -> str:
        """Return the heading; empty for the text before the first heading."""
        return self.trail[-1] if self.trail else ""


def cut_sections(text: str) -> list[Section]:
    """Return the sections of a text that are not empty, in order."""
    return [section for section in _cut_below(text, CUT_LEVEL, ()) if section.body]


def cut_rules(text: str, is_one_rule: bool) -> list[Section]:
    """Return the rules of a page: its sections and the items of long lists. A part of a rule stays with its neighbor.

    A short page about one rule stays whole.
    """
    if is_one_rule and count_words(text) <= MAX_SECTION_WORDS:
        first, _, rest = text.strip().partition("\n")
        is_title = first.startswith("# ")
        body = (rest if is_title else text).strip("\n").rstrip()
        rule = Section((heading_text(first),) if is_title else (), body)
        return [rule] if body else []
    sections: list[Section] = []
    for section in (rule for part in cut_sections(text) for rule in _cut_list(part)):
        if sections and _belong_together(sections[-1], section):
            sections[-1] = _joined_section(sections[-1], section)
        else:
            sections.append(section)
    return [*map(_named_by_its_lead, sections)]


def _named_by_its_lead(section: Section) -> Section:
    """Return a section that is one rule with a sentence in bold at its start as a rule with this title."""
    blocks = [block for is_code, block in _blocks(section.body) if not is_code]
    leads = [lead for block in blocks if (lead := bold_lead(block))]
    is_one = len(leads) == 1 and not section.is_item and bold_lead(blocks[0])
    if is_one and blocks[0].replace("*", "").lstrip("-+ ").startswith(f"{leads[0]}."):
        return Section((*section.trail, leads[0]), section.body, True)
    return section


def _cut_list(section: Section) -> list[Section]:
    """Return each rule of a long list as a section with its first sentence as its heading; else the section itself.

    What follows the list below the same heading is a section of its own.
    """
    parts: list[list[str]] = [[]]
    items: list[str] = []
    lines = list(fenced_lines(section.body))
    end = len(lines)
    is_after_blank = False
    for number, (line, is_code) in enumerate(lines):
        if not is_code and _is_item(line, items):
            enough = MIN_RULE_WORDS if items else MIN_INTRODUCTION_WORDS
            items.append(line)
            if count_words(" ".join(parts[-1])) >= enough:
                parts.append([])
        elif items and is_after_blank and line and not line[0].isspace():
            end = number
            break
        parts[-1].append(line)
        is_after_blank = not line
    if len(parts) > 1 and count_words(" ".join(parts[-1])) < MIN_RULE_WORDS:
        parts[-2:] = [parts[-2] + parts[-1]]
    rules = sum(bool(SAYS_RULE.search(item)) for item in items)
    are_rules = 0 < len(items) <= 2 * rules and items[0] in parts[0]
    rest = "\n".join(line for line, _ in lines[end:])
    least = MAX_LIST_WORDS if are_rules and not rest else MAX_SECTION_WORDS
    if (
        count_words(section.body) <= least
        or len(parts) <= max(1, len(items) // 2)
        or _is_procedure(section.title, items, rules)
        or _continues_lead(items)
    ):
        return [section]
    cut = [
        Section(
            (*section.trail, _first_words(_longest_item(part))),
            "\n".join(part).strip(),
            True,
        )
        for part in parts
    ]
    return [*cut, *_cut_list(Section(section.trail, rest))] if rest else cut


def _is_item(line: str, items: Sequence[str]) -> bool:
    """Return whether a line starts an item; in a list with numbers, only a number does."""
    mark = BULLET.match(line)
    if mark is None or line[0].isspace():
        return False
    return not items or items[0][0].isdecimal() == line[0].isdecimal()


def _is_procedure(heading: str, items: Sequence[str], rules: int) -> bool:
    """Return whether a list has the steps of one procedure; `rules` of its items say what holds always.

    Its heading announces steps, or two items start with a word such as "then"; or the list has numbers, and less than
    half of its items are rules.
    """
    continued = sum(bool(CONTINUES_STEPS.match(item)) for item in items)
    is_announced = bool(ANNOUNCES_STEPS.search(heading))
    is_numbered = bool(items) and items[0][0].isdecimal()
    return is_announced or continued > 1 or (is_numbered and 2 * rules < len(items))


def _continues_lead(items: Sequence[str]) -> bool:
    """Return whether most items go on with the sentence before the list, as in "All changes need to:"."""
    texts = [BULLET.sub("", item) for item in items]
    return 2 * sum(text[:1].islower() for text in texts) > len(items)


def _longest_item(part: list[str]) -> list[str]:
    """Return the lines of the longest item of a part of a list: it says most, so it gives the title."""
    items: list[list[str]] = [[]]
    for line in part:
        if BULLET.match(line) and not line[0].isspace():
            items.append([])
        items[-1].append(line)
    return max(items, key=lambda item: count_words(" ".join(item)))


def _first_words(lines: list[str]) -> str:
    """Return the title of a rule: its bold lead, else its first sentence."""
    text = "\n".join(lines)
    if lead := bold_lead(text):
        return lead
    sentence = first_sentence(text).replace("*", "").rstrip(".: ")
    short = shorten(
        sentence, TITLE_SENTENCE_LENGTH, placeholder=" …", break_on_hyphens=False
    )
    return (
        short if len(short) > len(" …") else one_line(sentence, TITLE_SENTENCE_LENGTH)
    )


def bold_lead(text: str) -> str:
    """Return the words in bold with which a rule starts, if they say more than a label: "**Never use floats.** They …"."""
    found = BOLD_LEAD.match(" ".join(text.split()))
    lead = found[1].strip().rstrip(".:!。：！") if found else ""
    return lead if count_words(lead) >= MIN_LEAD_WORDS else ""


def _belong_together(one: Section, other: Section) -> bool:
    """Return whether one of two neighbors says too little alone, and both fit into one memory."""
    is_below = other.trail[:-1] == one.trail
    if not is_below and other.trail[:-1] != one.trail[:-1]:
        return False
    words = count_words(one.body)
    is_lead = is_below and len(one.trail) > 1 and words < MIN_INTRODUCTION_WORDS
    says_little = is_lead or _is_part(one) or _is_part(other)
    return says_little and words + count_words(other.body) <= MAX_SECTION_WORDS


def _is_part(section: Section) -> bool:
    """Return whether a section is only a part of a rule: its heading is no subject, or it introduces the next section."""
    is_named_part = bool(section.trail) and is_part_title(section.title)
    return is_named_part or section.body.endswith(":")


def _joined_section(one: Section, other: Section) -> Section:
    """Return two sections as one; its heading is the one that says more."""
    is_introduction = other.trail[:-1] == one.trail and not _is_part(other)
    kept = other if _is_part(one) or is_introduction else one
    parts = [
        f"### {section.title}\n\n{section.body}"
        if section is not kept and section.title and section is other
        else section.body
        for section in (one, other)
    ]
    return Section(kept.trail, "\n\n".join(parts))


def heading_text(line: str) -> str:
    """Return the text of a heading without `#` signs, pictures and badges; links are replaced by their text."""
    text = INLINE_LINK.sub(r"\1", PICTURE.sub("", line.lstrip("#")))
    return " ".join(text.strip(" #\t").split())


def _cut_below(text: str, deepest: int, above: tuple[str, ...]) -> Iterator[Section]:
    trail: list[tuple[int, str]] = []
    lines: list[str] = []
    for line, level in [*heading_lines(text), ("", 1)]:
        if not 0 < level <= deepest:
            lines.append(line)
            continue
        names = (*above, *(name for _, name in trail))
        yield from _closed_section(lines, names, deepest)
        outer = [(at, name) for at, name in trail if at < level]
        trail = [*outer, (level, heading_text(line))]
        lines = []


def _closed_section(
    lines: list[str], trail: tuple[str, ...], deepest: int
) -> Iterator[Section]:
    body = "\n".join(lines).strip("\n").rstrip()
    deeper = [level for _, level in heading_lines(body) if level]
    has_subjects = deeper.count(min(deeper, default=0)) > 1
    is_long = count_words(body) > MAX_SECTION_WORDS
    if deeper and deepest < 6 and (is_long or has_subjects):
        yield from _cut_below(body, min(deeper), trail)
    else:
        yield Section(trail, body)


INSTRUCTION_NAMES = str.split("""
    claude.md claude.local.md agents.md agents.override.md gemini.md copilot-instructions.md contributing.md .clinerules
    .windsurfrules
""")
# any folder may have these files
NESTED_NAMES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
INSTRUCTION_ENDINGS = (".instructions.md",)
# keys of Claude Code, Copilot and Cursor for the files that a page applies to
GLOB_KEYS = ("paths", "applyTo", "globs")
# each page there is about one rule
RULE_PLACE = re.compile(r"(?:^|/)\.\w+/(?:rules|instructions)/")
LESSONS_FOLDER = ".ai/memory"
ALWAYS_ON = (
    "always_on"  # the trigger of a rule of Windsurf and Devin that always applies
)
MIN_SECTION_WORDS = 2  # shorter sections are skipped
TEMPLATE = "template"  # stem of a page in a folder of rules that is no rule
TOO_SHORT = f"it has fewer than {MIN_SECTION_WORDS} words"
MIN_EMPHASIZED = 0.25  # share of the blocks of an important rule


def is_instructions(source: Source) -> bool:
    """Return whether hosts read instructions from a file or folder of this name."""
    name = os.path.basename(source.path).lower()
    path = source.path.replace(os.sep, "/")
    if name in INSTRUCTION_NAMES or name.endswith(INSTRUCTION_ENDINGS):
        return True
    is_rule = RULE_PLACE.search(f"{path}/") and not is_cursor(source)
    return bool(is_rule) or path.endswith(LESSONS_FOLDER)


def read_instructions(source: Source) -> Iterator[Entry]:
    """Yield the memories of the rules on all pages; all get different titles."""
    found: list[Entry] = []
    for page in source.pages(*RULE_ENDINGS):
        if source.is_folder and page.stem.lower().strip("_.") == TEMPLATE:
            source.skip(page.place, "it is a template")
        else:
            found += section_entries(page, source.skip)
    yield from tidied_entries(found)


def tidied_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return the memories of one import with different titles, and without conditions that many of them share."""
    return with_distinct_titles(without_shared_conditions(entries))


def section_entries(
    page: SourcePage, skip: Callable[[str, str], None]
) -> Iterator[Entry]:
    """Yield the memories of one page, with the conditions of the page or, if it has none, of their headings.

    Report sections that say too little to `skip`.
    """
    fields, text = split_front(page.text)
    scope = _folder_globs(page)
    is_one_rule = bool(fields or scope) or bool(RULE_PLACE.search(page.place))
    rules = cut_rules(strip_page(text), is_one_rule)
    found = []
    for rule in rules:
        if count_words(rule.body) >= MIN_SECTION_WORDS:
            found.append(rule)
        else:
            skip("#".join(filter(None, (page.place, rule.title))), TOO_SHORT)
    description = str(fields.get(DESCRIPTION_KEY) or "").strip()
    globs = dict.fromkeys(
        glob for key in GLOB_KEYS for glob in texts_in(fields.get(key))
    )
    when = [*globs] or scope
    names = (str(fields.get("title") or "").strip(), description)
    named = next((one for one in names if 0 < len(one) <= TITLE_SENTENCE_LENGTH), "")
    always = (
        str(fields.get(ALWAYS_KEY, "")).lower() == "true"
        or fields.get("trigger") == ALWAYS_ON
    )
    extra: dict[str, Value] = {ALWAYS_KEY: "true"} if always else {}
    if description:
        extra[DESCRIPTION_KEY] = description
    paths = applies_of({APPLIES_KEY: {PATHS_KEY: [*globs]}}).paths
    folder = "".join(scope).removesuffix("**")
    if len(found) <= MAX_SHARED_CONDITION:
        when += conditions_from_description(description)
    page_title = {section.trail[:1] for section in found}
    below = Counter(name for section in found for name in section.trail)
    for section in found:
        place = " / ".join(section.trail[1:] if len(page_title) == 1 else section.trail)
        subjects = section.trail[:-1] if section.is_item else section.trail
        headings = tuple(
            name for name in subjects if below[name] <= MAX_SHARED_CONDITION
        )
        title = plain_title(section.title) or named or page.stem.replace("-", " ")
        context = _title_context(section, page, scope, len(page_title) == 1)
        if len(found) > 1 and context and context.casefold() not in title.casefold():
            title = f"{title} ({context})"
        yield entry_from(
            page,
            title,
            section.body,
            place,
            when,
            importance="high" if always else _importance_of(section),
            extra={**extra, **_acts_of(section, paths, folder)},
            headings=headings or ("",),
        )


def _acts_of(section: Section, paths: Sequence[str], folder: str) -> dict[str, Value]:
    """Return the acts to which a rule applies: those that its text names, and those of the moments that it states.

    Paths of its page replace named ones. A page in a folder is about files in this folder.
    """
    heading = section.trail[-2] if section.is_item else section.title
    named = propose_acts(section.body)
    acts = patterns_given(acts_of_moment(heading, section.body, named))
    if paths:
        acts[PATHS_KEY] = [*paths]
    elif folder:
        found = applies_of({APPLIES_KEY: acts}).paths
        below = [
            glob if glob.startswith(folder) else _below(folder, glob) for glob in found
        ]
        acts[PATHS_KEY] = [*dict.fromkeys((f"{folder}**", *below))]
    few: dict[str, Value] = {
        key: some[:MAX_ACT_PATTERNS]
        for key, some in acts.items()
        if isinstance(some, list)
    }
    return {APPLIES_KEY: few} if few else {}


def _below(folder: str, glob: str) -> str:
    """Return a glob for the files below a folder that ends with a slash; a name without a slash fits in any folder."""
    return f"{folder}{glob}" if "/" in glob else f"{folder}**/{glob}"


def _title_context(
    section: Section, page: SourcePage, scope: Sequence[str], has_title: bool
) -> str:
    """Return what a title leaves out: the heading above it, or the subject of a page for one folder or one subject."""
    is_below = len(section.trail) > 1 + has_title
    above = section.trail[-2:-1] if section.is_item or is_below else ()
    if above and names_subject(above[0]):
        return plain_title(above[0])
    is_whole_page = has_title and not section.trail[1:]
    if is_whole_page or not (scope or RULE_PLACE.search(page.place)):
        return ""
    subject = plain_title(section.trail[0]) if has_title and section.trail else ""
    is_short = len(subject.split()) <= MAX_SUBJECT_WORDS and "/" not in subject
    if subject and is_short and subject.casefold() not in VAGUE_TITLES:
        return subject
    folders = os.path.dirname(page.place).split("/")[-SHOWN_FOLDERS:]
    return "/".join(folders) if scope else page.stem.replace("-", " ")


def _importance_of(section: Section) -> str:
    """Return high for an emphasized rule, else medium; a few emphasized words in a long text do not count.

    Critical is left to people: a critical memory is injected whenever its glob fires.
    """
    blocks = [block for is_code, block in _blocks(section.body) if not is_code]
    opening = f"{section.title}\n{blocks[0] if blocks else ''}"
    share = sum(map(is_emphasized, blocks)) / max(1, len(blocks))
    return "high" if is_emphasized(opening) or share >= MIN_EMPHASIZED else "medium"


def _folder_globs(page: SourcePage) -> list[str]:
    """Return a glob of the files below the folder that a page is about; empty for the whole project.

    A hidden folder such as `.claude` belongs to a host: its pages are about the folder around it.
    """
    folder, name = os.path.split(page.place)
    rules = RULE_PLACE.search(page.place)
    if rules:
        folder = page.place[: rules.start()]
    elif name.lower() not in INSTRUCTION_NAMES:
        return []
    while os.path.basename(folder).startswith("."):
        folder = os.path.dirname(folder)
    glob = f"{folder}/**"
    return [glob] if folder and is_file_glob(glob) else []


# Read Cursor's rules: `.mdc` files with a description and globs, and the older `.cursorrules`.

OLDER_RULES = ".cursorrules"
RULE_ENDING = ".mdc"
RULE_ENDINGS = (".md", RULE_ENDING)


def is_cursor(source: Source) -> bool:
    """Return whether a file is a rule, or a folder contains rules."""
    path = source.path
    if not source.is_folder:
        return path.endswith(RULE_ENDING) or os.path.basename(path) == OLDER_RULES
    names = os.listdir(path)
    is_ours = path.replace(os.sep, "/").endswith((".cursor", ".cursor/rules"))
    return is_ours or any(name.endswith(RULE_ENDING) for name in names)
