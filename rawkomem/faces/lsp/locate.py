"""Find the part of a document that a Problem is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.problem import Problem
from .places import KEY, Front, Span, conditions_in, fronts, names_in, values_in

ID = "id"
TITLE = "title"


def locate(lines: Sequence[str], problem: Problem) -> Span:
    """Return the place of the name, id or condition that a Problem quotes; without a quote, its line.

    A Problem of a whole entry has the line of the entry's `---`; return the line of its title instead.
    """
    line = min(max(problem.line, 1), len(lines)) - 1
    quoted = _quoted(lines, problem.quote, line) if problem.quote else None
    if quoted:
        return quoted
    front = next((one for one in fronts(lines) if one.first == line), None)
    return _text_of(lines, _title_line(lines, front) if front else line)


def _quoted(lines: Sequence[str], quote: str, first: int) -> Span | None:
    """Return the first occurrence of a quote at or after a line, or else the first in the document."""
    found = [span for span in _quotable(lines) if span.text.strip() == quote.strip()]
    found.sort(key=lambda span: (span.line < first, span.line, span.start))
    return found[0] if found else None


def _quotable(lines: Sequence[str]) -> Iterator[Span]:
    yield from names_in(lines)
    yield from conditions_in(lines)
    for front in fronts(lines):
        for line in _key_lines(lines, front, ID):
            yield from values_in(lines, line)


def _title_line(lines: Sequence[str], front: Front) -> int:
    below = min(front.first + 1, len(lines) - 1)
    return next(_key_lines(lines, front, TITLE), below)


def _key_lines(lines: Sequence[str], front: Front, key: str) -> Iterator[int]:
    for line in range(front.first + 1, front.last):
        found = KEY.match(lines[line])
        if found and found[1] == key:
            yield line


def _text_of(lines: Sequence[str], line: int) -> Span:
    text = lines[line]
    return Span(line, len(text) - len(text.lstrip()), len(text.rstrip()), text.strip())
