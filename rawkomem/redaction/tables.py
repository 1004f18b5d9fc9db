"""Finds secrets in table columns with a telling heading, in Markdown tables and separated values."""

from __future__ import annotations

from .assigned import rule_of_value
from .keynames import kind_of
from .patterns import compiled
from .words import KEY_PATTERN, PASSWORD_PATTERN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    Hit = tuple[int, int, str]
    Columns = dict[int, str]  # number of a column → its heading, if that names a secret

PIPE, SEPARATORS = b"|", (b"\t", b";", b",")
MAX_HEADING_LENGTH = 1_000  # characters of the line of headings
MAX_NAME_LENGTH = 40  # characters of one heading
IN_HEADINGS = r"[\w\x80-\xff \t|,;\"'`*./#()-]*"
HEADINGS = (
    rf"(?im)^{IN_HEADINGS}(?:pass|pwd|\bpw\b|secret|token|key|cred|{PASSWORD_PATTERN}|{KEY_PATTERN}){IN_HEADINGS}\r?$"
)
AROUND_CELLS = b" \t\r\"'`*"


def find_in_tables(data: bytes) -> Iterator[Hit]:
    """Yield the cells that are secrets because of the heading of their column."""
    if not any(separator in data for separator in (PIPE, *SEPARATORS)) or b"\n" not in data:
        return
    done = 0
    for line in compiled(HEADINGS, False).finditer(data):
        start, end = line.span()
        if start < done or end - start > MAX_HEADING_LENGTH:
            continue
        for separator in (PIPE, *SEPARATORS):
            names = _names(data[start:end], separator)
            if names is not None and _has_rows(data, end, separator):
                done = yield from _rows(data, end + 1, separator, len(data[start:end].split(separator)), names)
                break


def _names(line: bytes, separator: bytes) -> Columns | None:
    """Return column → heading that names a secret; None if there is none, or if the line has no headings."""
    cells = line.split(separator)
    edges = (0, len(cells) - 1) if separator == PIPE and len(cells) > 2 else ()
    names = {}
    for number, cell in enumerate(cells if len(cells) > 1 else ()):
        name = cell.strip(AROUND_CELLS).decode("latin-1")
        if not _is_name(name) and (name or number not in edges):
            return None
        if kind_of(name):
            names[number] = name
    return names or None


def _is_name(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME_LENGTH and all(c.isalnum() or c in " _-./#()" for c in name)


def _has_rows(data: bytes, end: int, separator: bytes) -> bool:
    """Tell whether the next line underlines the headings, as Markdown requires; other tables need no such line."""
    below = data[end + 1 : _line_end(data, end + 1)]
    return separator != PIPE or (b"-" in below and not below.strip(b"|:- \t\r+"))


def _rows(data: bytes, at: int, separator: bytes, width: int, names: Columns) -> Generator[Hit, None, int]:
    """Yield the secrets of the rows that start here; return the end of the table."""
    while at < len(data):
        end = _line_end(data, at)
        cells = data[at:end].split(separator)
        if len(cells) != width and (separator != PIPE or len(cells) < 2):
            return at
        for number, cell in enumerate(cells):
            value = cell.strip(AROUND_CELLS)
            name = names.get(number)
            if name and value and (rule := rule_of_value(name, value.decode("latin-1"), plain=False)):
                start = at + cell.index(value)
                yield start, start + len(value), rule
            at += len(cell) + len(separator)
        at = end + 1
    return at


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end
