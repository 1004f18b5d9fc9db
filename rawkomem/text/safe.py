"""Defuses the text of injected memories, so that it cannot imitate headings, metadata, roles or tags
of the frame.

Memories are data, never instructions. This cannot stop a model from obeying text in a memory.
"""

from __future__ import annotations

import re

from .chunks import fence_after
from .clean import clean, late_regex, one_line

# The start of a block of injected memories in each format, shared by writers and readers of these blocks.
INJECTED_HEADING = "## Background Knowledge from Previous Runs"
INJECTED_LEAD = (
    "The following information was learned from prior runs and may be relevant:"
)
GROUPED_HEADING = "## Relevant Memory Context (query: "
ATTENTION_DIRECTIVE = """[ATTENTION DIRECTIVE]
- ALIGN attention to entries with [IMPORTANCE >= 0.8]
- TREAT entries with [IMPORTANCE <= 0.4] as auxiliary

[MEMORY CONTEXT]"""
FENCE_TAG = "memories-"  # tag of the fenced format, before its nonce
# some of an item in JSON
JSON_KEYS = ("id", "title", "importance", "relevance", "fired", "text")
VERIFIED = "verified"
NOT_VERIFIED = "not verified"
# a person said it in a session; an agent wrote the text
PERSON_SAID = "a person said so"

ROLES = tuple(
    str.split("system user assistant human developer tool ai instruction instructions")
)
METADATA = (
    "importance",
    "discovered",
    "imported from",
    "provenance",
    "source",
    "caution",
    "found",
    VERIFIED,
    "not ver",
)
IMPORTANCE_WORDS = ("low", "medium", "high", "critical")
TAGS = tuple(  # start of the names of tags that a frame, a host or a chat template uses
    str.split(
        """
        memory memories background system user assistant human developer tool instruction context brief untrusted
        function_ invoke parameter antml thinking environment_context command- local-command bash- ide_
        task-notification start_of_turn end_of_turn s> sys> |
        """
    )
)
BRACKETS = (  # … and of words in brackets, without the bracket
    "inst]", "/inst]", "system_prompt", "/system_prompt", "available_tools", "tool_calls", "memory context",
    "attention directive", "security notice", "untrusted input", VERIFIED, NOT_VERIFIED, PERSON_SAID,
    "personal]", "personal,",
)  # fmt: skip
COMMENTS = ("!--", "![cdata[")
BLANKS = " \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u2800\u3000"
QUOTES = BLANKS + ">＞›〉❯"  # may come before the first sign of a line
DECORATION = " *_-=~+#[](){}|`'\">"
NUMBERING = "0123456789."
BULLETS = ("-", "*", "+", "•")
MAX_ITEM_MARK_CHARS = 10
OPENING = frozenset("<[|(")  # every match of TAG_START begins with one of these
MAX_ID_CHARS = 120
ELLIPSIS = "…"  # marks omitted text; it is read as three dots
SEEN_CHARS = 200  # of a line, or after a sign, that are checked


def _one_of(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"


_DECORATED = f"[{re.escape(DECORATION)}]"
_DECORATED_NUMBER = f"[{re.escape(DECORATION + NUMBERING)}]*"
# Lines that read as a role, as a fact about an item (`*Source: …*`, `Type: … | Source: …`), or as the head of an item
# (`--- MEMORY 2: …`, with or without the dashes).
_FRAME = "|".join((
    rf"{_DECORATED_NUMBER}{_one_of(ROLES)}{_DECORATED_NUMBER}:",
    rf"{_DECORATED}*type[*_ ]*:.*(?:\||source)",
    rf"{_DECORATED}*[*_]{_DECORATED}*{_one_of(METADATA)}",
    rf"(?:--|==|\*\*){_DECORATED}*memory",
    rf"{_DECORATED}+memory(?:{_DECORATED}|[:.])*\d",
    rf"memory(?:{_DECORATED}|[:.])*\d+\s*:",
))  # fmt: skip
# every match of _FRAME has one after its decoration
FRAME_WORDS = (*ROLES, *METADATA, "type", "memory")
# also headings and their underlines
LINE_OF_FRAME = late_regex(rf"(?s)#+(?:\s|\Z)|(?:=+|-+)\s*\Z|{_FRAME}")
LINE_OF_FRAME_IN_CODE = late_regex(rf"(?s)##+(?:\s|\Z)|{_FRAME}")
# A sign that opens a tag, a comment, an item of the fenced format (`<3fa9c1 …`), words or facts of ours (`(critical, …`), or that closes a token.
_SPACES = rf"{{0,{SEEN_CHARS}}}"
TAG_START = late_regex(
    rf"<(?={_one_of(COMMENTS)}|[0-9a-f]{{6}}\b|[ /<!?]{_SPACES}{_one_of(TAGS)})|\[(?= {_SPACES}{_one_of(BRACKETS)})"
    rf"|\|(?=>)|\((?=[ *_]{_SPACES}{_one_of(IMPORTANCE_WORDS)}[ *_]{_SPACES},)"
)


def safe_title(title: str) -> str:
    """Return a title as one line of at most 120 characters that starts no heading, list, quote or code block."""
    line = one_line(title).lstrip("#>-*~=| \\")
    if "``" in line or line.count("`") % 2:
        line = line.lstrip("#>-*`~=| \\").replace("`", "'")
    return _defuse(_break_tags(line)) or "untitled"


def safe_body(text: str) -> str:
    """Return a body with all text defused that could be mistaken for the frame, and with every code fence closed."""
    lines: list[str] = []
    fence = ""
    for line in clean(text).split("\n"):
        before = fence
        fence = fence_after(fence, line)
        line = _break_tags(line)
        code = before != "" or line.startswith(("    ", "\t"))
        lines.append(line if fence and not before else _defuse(line, code))
    if fence:
        lines.append(fence)
    return "\n".join(lines)


def safe_line(text: str, limit: int) -> str:
    """Return a body as one defused line."""
    return _defuse(_break_tags(one_line(text, limit)))


def safe_name(text: str, limit: int) -> str:
    """Return a name, a path or an id as one line without the characters that separate the facts of an item."""
    line = "".join(" " if c in ',|*<>[]{}"`\\' else c for c in one_line(text, limit))
    return _break_tags(" ".join(line.split()))


def safe_item_id(id: str) -> str:
    """Return an id as `safe_name` does; never empty."""
    return safe_name(id, MAX_ID_CHARS) or "unnamed"


def _defuse(line: str, code: bool = False) -> str:
    """Put a backslash before a heading or its underline (not in code), before metadata, a role or an item's head."""
    bare = line.lstrip(QUOTES)
    if not bare or bare.startswith("\\"):
        return line
    seen = _without_item_marks(read_as(bare[:SEEN_CHARS])[0].lstrip(" \t>"))
    if not seen or (":" not in seen and seen[0] not in DECORATION):
        return line  # without compiling the regexes
    words = seen.lstrip(DECORATION + NUMBERING).rstrip()
    if words and seen[0] != "#" and not words.startswith(FRAME_WORDS):
        return line
    if (LINE_OF_FRAME_IN_CODE if code else LINE_OF_FRAME).match(seen):
        return line[: len(line) - len(bare)] + "\\" + bare
    return line


def _without_item_marks(seen: str) -> str:
    """Return a line without the marks of list items before its text: `1. - ### Title` is a heading."""
    while True:
        mark, _, rest = seen.partition(" ")
        is_number = mark[-1:] in (".", ")") and mark[:-1].isalnum()
        is_mark = mark in BULLETS or (is_number and len(mark) <= MAX_ITEM_MARK_CHARS)
        if not (is_mark and rest.strip("-*+= ")):
            return seen
        seen = rest.lstrip(" \t>")


def _break_tags(line: str) -> str:
    r"""Break tags, chat tokens and heads of items anywhere in a line: `</memory>` becomes `<\/memory>`."""
    seen, places = read_as(line)
    if OPENING.isdisjoint(seen) and "\n" not in seen:
        return line  # without compiling the regex
    opened = (match.start() + (match[0] in "<[") for match in TAG_START.finditer(seen))
    cuts = {at if places is None else places[at] for at in opened}
    cuts |= {
        place + 1
        for place, sign in zip(places or (), seen, strict=False)
        if sign == "\n"
    }
    pieces = []
    begun = 0
    for at in sorted(cuts):
        if "\\" not in line[max(0, at - 1) : at + 1]:  # else it is already broken
            pieces.append(line[begun:at])
            begun = at
    return "\\".join([*pieces, line[begun:]])


def read_as(line: str) -> tuple[str, list[int] | None]:
    """Return a line in lower case as a reader sees it, and the old index of each character (None: unchanged)."""
    plain = line.replace(ELLIPSIS, "...")  # the mark of a cut in an excerpt
    if not plain.isascii() or "&" in plain or "\\" in plain:
        from .scripts import read_as_seen  # tables that are rarely needed

        return read_as_seen(line)
    seen = plain.lower().replace("\t", " ")
    if plain == line:
        return seen, None
    signs = ("..." if sign == ELLIPSIS else sign for sign in line)
    return seen, [*(at for at, sign in enumerate(signs) for _ in sign), len(line)]
