"""Find frontmatter, keys, names and conditions in the text of an editor.

Lines end at \\n, \\r\\n or \\r; Python's splitlines also ends them at U+2028 and form feeds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import yaml

from ...format.blocks import split_blocks
from ...format.body import WIKILINK
from ...model.values import Problem, record
from ...state.schema import frontmatter_keys
from ...text.prose import without_code


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their line endings."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


KEY_LINE = re.compile(r"^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|$)")
FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
# styles of YAML
QUOTED = ("'", '"')
BLOCK_SCALAR = ("|", ">")
WHEN_KEY = "whenToUse"
ID_KEY = "id"
TITLE_KEY = "title"
PATTERN_KEY = "pattern"  # of a condition that is written as a mapping


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
class FrontmatterLines:
    """The lines of one frontmatter: `first` and `last` are its --- lines.

    If it is not closed, `last` is the number of lines of the text.
    """

    first: int
    last: int

    def holds(self, line: int) -> bool:
        """Tell whether a line is between the --- lines."""
        return self.first < line < self.last


def fronts(lines: Sequence[str]) -> list[FrontmatterLines]:
    """Return the frontmatters of a text. Includes those that cannot be parsed yet because a person is typing."""
    frontmatters = []
    for block in split_blocks("\n".join(lines).lstrip("\ufeff")):
        start = block.line - 1
        if start < len(lines) and lines[start].lstrip("\ufeff").rstrip() == "---":
            rest = range(start + 1, len(lines))
            ends = (at for at in rest if lines[at].rstrip() in ("---", "..."))
            frontmatters.append(FrontmatterLines(start, next(ends, len(lines))))
    return frontmatters


def key_of(lines: Sequence[str], front: FrontmatterLines, line: int) -> str:
    """Return the key that a line of a frontmatter belongs to, or an empty text."""
    for at in range(line, front.first, -1):
        text = lines[at]
        if key := KEY_LINE.match(text):
            return key[1]
        if at == line and text.strip() and not text.startswith((" ", "\t", "-")):
            return ""
    return ""


def values_in(lines: Sequence[str], keys: Collection[str]) -> list[Span]:
    """Return the texts that some keys of the frontmatters hold; nothing of one that cannot be parsed yet."""
    spans = []
    for front in fronts(lines):
        first = front.first + 1
        for key, line, start, end, text in _scalars_of(
            "\n".join(lines[first : front.last])
        ):
            if key in keys:
                spans.append(Span(first + line, start, end, text))
    return spans


@lru_cache(maxsize=256)
def _scalars_of(frontmatter: str) -> list[tuple[str, int, int, int, str]]:
    """Return top-level key, line, start, end and text of every text in a frontmatter."""
    try:
        root = yaml.compose(frontmatter, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return []
    scalars = []
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        for scalar in _scalars_in(value):
            text = scalar.value.strip()
            mark = scalar.start_mark
            if text and scalar.style not in BLOCK_SCALAR:
                inside = scalar.style in QUOTED
                end = mark.column + 1
                if scalar.end_mark.line == mark.line:
                    end = scalar.end_mark.column
                columns = mark.column + inside, end - inside
                scalars.append((str(key.value), mark.line, *columns, text))
    return scalars


def _scalars_in(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Yield a text, the items of a list, and the pattern of a condition."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars_in(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == PATTERN_KEY:
                yield from _scalars_in(value)


def names_in(lines: Sequence[str]) -> list[Span]:
    """Return every reference to another memory: values of keys that name memories, and [[name]] in a body."""
    spans = values_in(
        lines, [name for name, key in frontmatter_keys().items() if key.refers]
    )
    heads = {at for front in fronts(lines) for at in range(front.first, front.last + 1)}
    code = False
    for at, text in enumerate(lines):
        if at in heads:
            continue
        code ^= bool(FENCE.match(text))
        if not code and "[[" in text:
            # text between backticks is no link
            names = set(WIKILINK.findall(without_code(text)))
            links = [link for link in WIKILINK.finditer(text) if link[1] in names]
            spans += [Span(at, link.start(1), link.end(1), link[1]) for link in links]
    return spans


def conditions_in(lines: Sequence[str]) -> list[Span]:
    """Return every condition of whenToUse."""
    return values_in(lines, [WHEN_KEY])


def locate_problem(lines: Sequence[str], problem: Problem) -> Span:
    """Return the place of the name, id or condition that a Problem quotes; without a quote, its line.

    A Problem of a whole entry has the line of the entry's `---`; return the line of its title instead.
    """
    line = min(max(problem.line, 1), len(lines)) - 1
    quote = problem.quote.strip()
    spans = [*names_in(lines), *values_in(lines, [WHEN_KEY, ID_KEY])] if quote else []
    quoting = [span for span in spans if span.text.strip() == quote]
    if quoting:  # the first one at or after the line, or else the first one
        return min(quoting, key=lambda span: (span.line < line, span.line, span.start))
    front = next((front for front in fronts(lines) if front.first == line), None)
    if front:
        inside = range(front.first + 1, front.last)
        titles = (at for at in inside if key_of(lines, front, at) == TITLE_KEY)
        line = next(titles, min(line + 1, len(lines) - 1))
    text = lines[line]
    return Span(line, len(text) - len(text.lstrip()), len(text.rstrip()), text.strip())
