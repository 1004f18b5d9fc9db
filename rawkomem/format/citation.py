"""Read and write citations: `path#symbol@blob` and its shorter forms."""

from __future__ import annotations

from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..model.entry import Value

KEY = "cites"
MIN_BLOB_DIGITS, MAX_BLOB_DIGITS = 7, 40  # hex digits of a blob id, abbreviated by git and complete
WRITTEN_BLOB_DIGITS = 12  # hex digits that we write: enough to be unique in any project
SYMBOL_SIGNS = "_$.:?!~-"  # besides letters and digits; a symbol starts with a letter, `_` or `$`


@record
class Citation:
    """A place in the project's files, and the blob id of its content if it is known."""

    path: str
    symbol: str = ""
    lines: tuple[int, int] | None = None  # first and last, counted from 1
    blob: str = ""

    @property
    def place(self) -> str:
        """Return the citation without its blob id."""
        if self.lines:
            return f"{self.path}:{self.lines[0]}-{self.lines[1]}"
        return f"{self.path}#{self.symbol}" if self.symbol else self.path

    @property
    def text(self) -> str:
        """Return the citation as text, as it is stored in a memory."""
        return f"{self.place}@{self.blob}" if self.blob else self.place


def read_citation(text: str) -> Citation:
    """Parse a citation in any form. Text that does not look like a blob id, a symbol or lines is part of the path."""
    text = text.strip()
    before, at, blob = text.rpartition("@")
    if at and _is_blob(blob):
        text = before
    else:
        blob = ""
    path, sharp, symbol = text.rpartition("#")
    if sharp and path and _is_symbol(symbol):
        return Citation(path, symbol, None, blob.lower())
    path, colon, numbers = text.rpartition(":")
    lines = _lines(numbers) if colon and path else None
    return Citation(path, "", lines, blob.lower()) if lines else Citation(text, "", None, blob.lower())


def _is_blob(text: str) -> bool:
    return MIN_BLOB_DIGITS <= len(text) <= MAX_BLOB_DIGITS and all(c in "0123456789abcdef" for c in text.lower())


def _is_symbol(text: str) -> bool:
    if not text or not (text[0].isalpha() or text[0] in "_$"):
        return False
    return all(c.isalnum() or c in SYMBOL_SIGNS for c in text)


def _lines(text: str) -> tuple[int, int] | None:
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or len(text) > 16:
        return None
    start, end = int(first), int(last or first)
    return (start, end) if 1 <= start <= end else None


def cited_in(extra: Mapping[str, Value]) -> list[str]:
    """Return a memory's citations as they are written: a list or a single text; ignore other values."""
    value = extra.get(KEY, [])
    items = value if isinstance(value, list) else [value]
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


def with_cited(known: Iterable[str], new: Iterable[Citation]) -> list[str]:
    """Return the known citations plus the new ones; a new citation replaces a known one of the same place."""
    added = {citation.place: citation.text for citation in new}
    kept = [text for text in known if read_citation(text).place not in added]
    return [*kept, *added.values()]


def why_refused(path: str) -> str:
    """Return why a path cannot be inside the project; empty if it can. Links on disk are not checked here."""
    if not path or "\0" in path:
        return "names no file"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return "is not relative to the project"
    if "\\" in path:
        return "has backslashes: write forward slashes"
    if ".." in path.split("/"):
        return "leads out of the project"
    return ""
