"""Read one settings file: the values that the table allows. Everything else causes a warning without the value."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ...files.contents import read_bytes
from ...files.layout import user_config
from ...format.field import Unreadable
from ...format.frontmatter import MAX_BYTES, read_frontmatter
from .table import BOTH, REMOVED, ROWS, rows_by_key
from .values import is_name

if TYPE_CHECKING:
    from typing import Any

    from .table import Row
    from .values import Type

    Path = tuple[str, ...]

MAX_WARNINGS = 10  # of one file
MAX_KEY_CHARS = 60  # characters of a key in a warning


def read_settings(file: str, repository: bool) -> tuple[list[tuple[str, Path, Any]], list[str]]:
    """Return the allowed values of a file as (key of the row, path below it, value), and the warnings."""
    try:
        return read_values(read_bytes(file), file, repository)
    except FileNotFoundError:
        return [], []
    except OSError as failure:
        return [], [f"{file} cannot be read ({failure.strerror or failure}): the file is ignored"]


def read_values(data: bytes, file: str, repository: bool) -> tuple[list[tuple[str, Path, Any]], list[str]]:
    """Return the same as read_settings, from the bytes of a file."""
    try:
        if len(data) > MAX_BYTES:
            return [], [f"{file} is larger than {MAX_BYTES >> 10} KiB: the file is ignored"]
        fields, _ = read_frontmatter(data.decode("utf-8-sig"))
    except UnicodeDecodeError as failure:
        return [], [f"{file} is not UTF-8 text (byte {failure.start}): the file is ignored; save it as UTF-8"]
    except Unreadable as failure:
        problem = failure.problem
        return [], [f"{file}:{problem.line}: {problem.message}: the file is ignored; {problem.hint}"]
    reader = _Reader(file, repository)
    for name, field in fields.items():
        if not field.missing:
            reader.read((name,), field.value, field.line)
    return reader.values, reader.told()


class _Reader:
    """Collects the values and warnings of one file."""

    def __init__(self, file: str, repository: bool):
        self.file = file
        self.repository = repository
        self.rows = rows_by_key()
        self.short = {row.short: row for row in ROWS if row.short}
        self.values: list[tuple[str, Path, Any]] = []
        self.warnings: list[str] = []

    def told(self) -> list[str]:
        more = len(self.warnings) - MAX_WARNINGS
        return [*self.warnings[:MAX_WARNINGS], *([f"{self.file}: and {more} more"] if more > 0 else [])]

    def read(self, path: Path, value: Any, line: int) -> None:
        """Read a value, or every value below it."""
        if isinstance(value, dict):
            for name, inner in value.items():
                self.read((*path, name), inner, line)
            return
        found = self._find(path)
        if found is None:
            self._warn(line, path, self._why_unknown(path))
        elif self.repository and found[0].who != BOTH:
            self._warn(line, path, f"may be set in your own config only: {user_config()}")
        else:
            self._take(*found, path, value, line)

    def _find(self, path: Path) -> tuple[Row, Path, Type] | None:
        if len(path) == 1 and path[0] in self.short:
            row = self.short[path[0]]
            return row, (), row.type_for(self.repository)
        for length in (1, len(path)):
            row = self.rows.get(".".join(path[:length]))  # type: ignore[assignment]
            place = row.type_for(self.repository).below(path[length:]) if row else None
            if place:
                return row, *place
        return None

    def _take(self, row: Row, below: Path, type: Type, path: Path, value: Any, line: int) -> None:
        try:
            self.values.append((row.key, below, type.read(value)))
        except ValueError:
            used = "the default" if row.broken is None else row.broken if row.broken != () else "nothing"
            instead = f"{used} is used"
            self._warn(line, path, f"must be {type.allowed}: {instead}")
            if row.broken is not None:
                self.values.append((row.key, below, row.broken))

    def _why_unknown(self, path: Path) -> str:
        key = ".".join(path)
        if key in REMOVED:
            return f"is no longer a setting: {REMOVED[key]}"
        names = (name for name in (*self.rows, *self.short) if not key.startswith(f"{name}."))
        near = get_close_matches(key, names, 1)
        return "is not a setting" + (f"; did you mean {near[0]}?" if near else "; 'rawkomem docs settings' lists them")

    def _warn(self, line: int, path: Path, why: str) -> None:
        key = ".".join(path)
        shown = key if all(map(is_name, path)) else ascii(key)
        self.warnings.append(f"{self.file}:{line}: {shown[:MAX_KEY_CHARS]} {why}")
