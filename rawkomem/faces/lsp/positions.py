"""Find frontmatter, keys, names and conditions in the text of an editor.

Lines end at \\n, \\r\\n or \\r; Python's splitlines also ends them at U+2028 and form feeds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...format.blocks import split_blocks
from ...format.body import WIKILINK
from ...format.fields import Unreadable
from ...format.frontmatter import read_frontmatter
from ...model.values import Problem, record
from ...state.schema import frontmatter_keys
from ...text.prose import without_code


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their line endings."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


# Find frontmatter, keys, names of memories and conditions in the text of a memory file.

KEY_LINE = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|$)")
LIST_ITEM = re.compile(r"^[ \t]*-(?:[ \t]+|$)")
# An item of a list in brackets: quoted, or up to the next comma or bracket.
FLOW_ITEM = re.compile(
    r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[^\s,\[\]"'{}][^,\[\]\n]*?(?=\s*(?:[,\]]|$|\s#))"""
)
PLAIN_VALUE = re.compile(r"[\w./-]+(?: [\w./-]+)*")  # values that YAML reads without quoting
BLOCK_SCALAR = ("|", ">")  # the value is on the lines below
FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
WHEN_KEY = "whenToUse"


@record
class Span:
    """A part of one line, counted from 0 in characters."""

    line: int
    start: int
    end: int
    text: str

    def holds(self, line: int, column: int) -> bool:
        """Tell whether a position is in the span or directly after it."""
        return self.line == line and self.start <= column <= self.end


@record
class Front:
    """The lines of one frontmatter: `first` and `last` are its --- lines.

    If it is not closed, `last` is the number of lines of the text.
    """

    first: int
    last: int

    def holds(self, line: int) -> bool:
        """Tell whether a line is between the --- lines."""
        return self.first < line < self.last


def fronts(lines: Sequence[str]) -> list[Front]:
    """Return the frontmatters of a text. Includes those that cannot be parsed yet because a person is typing."""
    starts = [block.line - 1 for block in split_blocks("\n".join(lines).lstrip("\ufeff"))]
    found = []
    for start in starts:
        if start < len(lines) and lines[start].lstrip("\ufeff").rstrip() == "---":
            rest = range(start + 1, len(lines))
            found.append(
                Front(
                    start,
                    next((at for at in rest if lines[at].rstrip() in ("---", "...")), len(lines)),
                )
            )
    return found


def key_of(lines: Sequence[str], front: Front, line: int) -> str:
    """Return the key that a line of a frontmatter belongs to, or an empty text."""
    for at in range(line, front.first, -1):
        found = KEY_LINE.match(lines[at])
        if found:
            return found[1]
        if at == line and lines[at].strip() and not lines[at].startswith((" ", "\t", "-")):
            return ""
    return ""


def values_in(lines: Sequence[str], line: int) -> Iterator[Span]:
    """Return the values on one line of a frontmatter: each item of a bracketed list, or the rest of the line."""
    head = KEY_LINE.match(lines[line]) or LIST_ITEM.match(lines[line])
    text = lines[line].rstrip()
    start = head.end() if head else 0
    start += len(text[start:]) - len(text[start:].lstrip())
    if head and not text.startswith("[", start):
        pieces = [(start, text[start:])] if not text.startswith(BLOCK_SCALAR, start) else []
    else:
        pieces = [(item.start(), item[0]) for item in FLOW_ITEM.finditer(text, start)]
    for at, piece in pieces:
        value = _parsed_value(piece)
        if value:
            quoted = len(piece) > 1 and piece[0] in "\"'" and piece[-1] == piece[0]
            yield Span(line, at + quoted, at + len(piece) - quoted, value)


def _parsed_value(piece: str) -> str:
    """Return the parsed value, or the raw text if it cannot be parsed."""
    if PLAIN_VALUE.fullmatch(piece):
        return piece
    try:
        fields, _ = read_frontmatter(f"value:\n  {piece}")
    except Unreadable:
        return piece.strip("\"'")
    value = fields["value"].value
    if isinstance(value, dict):  # {pattern: …}, which the reader takes, too
        value = value.get("pattern", "")
    return value.strip() if isinstance(value, str) else ""


def names_in(lines: Sequence[str]) -> list[Span]:
    """Return every reference to another memory: [[name]] in a body, and values of keys that name memories."""
    refers = {name for name, key in frontmatter_keys().items() if key.refers}
    heads = fronts(lines)
    inside = {
        at: front for front in heads for at in range(front.first, min(front.last + 1, len(lines)))
    }
    found: list[Span] = []
    code = False
    for at, text in enumerate(lines):
        front = inside.get(at)
        if front is None:
            code ^= bool(FENCE.match(text))
            found += [] if code else _links_in(at, text)
        elif front.holds(at) and key_of(lines, front, at) in refers:
            found += values_in(lines, at)
    return found


def conditions_in(lines: Sequence[str]) -> list[Span]:
    """Return every condition of whenToUse."""
    return [
        span
        for front in fronts(lines)
        for at in range(front.first + 1, front.last)
        if key_of(lines, front, at) == WHEN_KEY
        for span in values_in(lines, at)
    ]


def _links_in(at: int, text: str) -> Iterator[Span]:
    if "[[" not in text:
        return
    shown = set(WIKILINK.findall(without_code(text)))
    for link in WIKILINK.finditer(text):
        if link[1] in shown:  # text between backticks is no link
            yield Span(at, link.start(1), link.end(1), link[1])


# Find the part of a document that a Problem is about.

ID_KEY = "id"
TITLE_KEY = "title"


def locate_problem(lines: Sequence[str], problem: Problem) -> Span:
    """Return the place of the name, id or condition that a Problem quotes; without a quote, its line.

    A Problem of a whole entry has the line of the entry's `---`; return the line of its title instead.
    """
    line = min(max(problem.line, 1), len(lines)) - 1
    heads = fronts(lines)
    quote = problem.quote.strip()
    if quote:
        ids = (at for front in heads for at in _key_lines(lines, front, ID_KEY))
        spans = (
            *names_in(lines),
            *conditions_in(lines),
            *(s for at in ids for s in values_in(lines, at)),
        )
        quoting = [span for span in spans if span.text.strip() == quote]
        if quoting:  # the first one at or after the line, or else the first one
            return min(quoting, key=lambda span: (span.line < line, span.line, span.start))
    for front in heads:
        if front.first == line:
            below = min(line + 1, len(lines) - 1)
            line = next(_key_lines(lines, front, TITLE_KEY), below)
            break
    text = lines[line]
    return Span(line, len(text) - len(text.lstrip()), len(text.rstrip()), text.strip())


def _key_lines(lines: Sequence[str], front: Front, key: str) -> Iterator[int]:
    for line in range(front.first + 1, front.last):
        found = KEY_LINE.match(lines[line])
        if found and found[1] == key:
            yield line
