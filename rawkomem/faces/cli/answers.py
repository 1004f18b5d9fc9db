"""Declare the fields of an answer once: they give its JSON, its text, and its row in docs/json.md.

Does not import click, because frequent commands use it.
"""

from __future__ import annotations

from ...model.values import TYPE_CHECKING, iso
from ...text.chunks import counted
from ...text.clean import one_line
from .terminal import STYLES, bracketed, note, paint, say, say_json, wide

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


MAX_TEXT_CHARS = 10_000  # of a value on one line, unless its template names a limit
EMPTY: tuple[Any, ...] = (None, "", (), [], {})
HUES = {
    "green": "success success_with_recovery added new fresh connected covered ok",
    "yellow": "partial high changed stale warning",
    "red": "critical failure unknown gone error !!",
    "cyan": "medium",
    "dim": "low known style",
}
HUE_OF = {word: style for style, words in HUES.items() for word in words.split()}
SHAPES: dict[str, Callable[[Any], Any]] = {
    "iso": iso,
    "round": lambda value: round(value, 4),
    "count": len,
    "bool": bool,
}


class Fields:
    """The fields of an answer: the keys of its JSON, and the template of its text.

    `names` has a word for each key: `key`, `key=path` or `key:shape=path`. A path is a chain of attributes, keys or
    positions, and goes through lists. A shape is a function of SHAPES, or a number: texts of at most so many characters. A key that ends with `?` is left out of the JSON
    if its value is empty. `*path` stands for all keys of a dictionary, or of its Fields in `parts`. `of` is a record class whose fields come first. `parts` has the Fields of a nested value, the
    Fields of a list of values in brackets, or a function of the whole item; a function whose key is not in `names` is
    for the text only.

    `line` is a template of `str.format` with the keys, or a function of the item that returns a text. `{0}` is the
    item itself, `{key_lines:text}` a nested list as lines; see `Cell` for the forms. A line of the template that
    becomes empty is left out. `remarks` is a template, too: its lines are printed on stderr after the item. `nothing`
    is a remark about an empty list.
    """

    def __init__(
        self,
        names: str = "",
        line: str | Callable[[Any], str] = "",
        nothing: str = "",
        of: Any = None,
        remarks: str = "",
        **parts: Any,
    ):
        self.line = line
        self.nothing = nothing
        self.parts = parts
        self.remarks = remarks
        self.rows: dict[str, tuple[str, str]] = {}  # key → shape, path
        self.optional: set[str] = set()
        for word in (*(of.__fields__ if of else ()), *names.split()):
            name, _, path = word.partition("=")
            name, _, shape = name.partition(":")
            key = name.removesuffix("?")
            if key != name:
                self.optional.add(key)
            self.rows[key] = (shape, path or key)

    def but(
        self, names: str = "", line: str | Callable[[Any], str] = "", **parts: Any
    ) -> Fields:
        """Return a copy with more fields, or with another template."""
        copy = Fields(names, line or self.line, parts.pop("nothing", self.nothing))
        copy.remarks = parts.pop("remarks", self.remarks)
        copy.rows = {**self.rows, **copy.rows}
        copy.optional |= self.optional
        copy.parts = {**self.parts, **parts}
        return copy

    def done(self, word: str) -> Fields:
        """Return a copy whose text starts with what was done."""
        return self.but(line=f"{{0:={word}|green}}  {self.line}")

    def values(self, item: Any) -> dict[str, Any]:
        """Return the value of each key."""
        values: dict[str, Any] = {}
        for key, row in self.rows.items():
            if key.startswith("*"):
                inner = value_at(item, key[1:])
                part = self.parts.get(key[1:])
                values.update(part.values(inner) if part else inner)
            else:
                values[key] = self._value(item, key, *row)
        return values

    def _value(self, item: Any, key: str, shape: str, path: str) -> Any:
        part = self.parts.get(key)
        if callable(part):
            return part(item)
        value = value_at(item, path)
        if isinstance(part, Fields):
            return part.json(value) if value is not None else None
        if part:
            return [part[0].json(one) for one in value]
        if shape.isdecimal():
            return cut_texts(value, int(shape))
        return SHAPES[shape](value) if shape else value

    def json(self, item: Any) -> Any:
        """Return an item for JSON; without names, the item itself."""
        if not self.rows:
            return item
        values = self.values(item)
        return {
            key: value
            for key, value in values.items()
            if key not in self.optional or value not in EMPTY
        }

    def text(self, item: Any) -> str:
        """Return an item as a person reads it."""
        return self.line(item) if callable(self.line) else self._fill(self.line, item)

    def _fill(self, template: str, item: Any) -> str:
        """Return the text of a template for an item."""
        cells = {key: Cell(value) for key, value in self.values(item).items()}
        for key, part in self.parts.items():
            if callable(part) and key not in cells:
                cells[key] = Cell(part(item))
            elif isinstance(part, list):
                path = self.rows.get(key, ("", key))[1]
                texts = [part[0].text(one) for one in value_at(item, path)]
                cells[f"{key}_lines"] = Cell("\n".join(texts))
        lines = []
        for line in template.split("\n"):
            text = line.format(Cell(item), **cells).rstrip()
            if text or not line:
                lines.append(text)
        return "\n".join(lines)

    def say(self, value: Any, as_json: bool) -> None:
        """Print an item or a list of items, as JSON or as text."""
        items = value if isinstance(value, (list, tuple)) else [value]
        if as_json:
            printed = [self.json(item) for item in items]
            say_json(printed if value is items else printed[0])
        else:
            for text in filter(None, map(self.text, items)):
                say(text)
            if self.nothing and not items:
                note(self.nothing)
        for item in items:
            self.remark(item)

    def remark(self, item: Any) -> None:
        """Print the remarks about an item on stderr."""
        text = self._fill(self.remarks, item) if self.remarks else ""
        for line in filter(None, text.split("\n")):
            note(line)


class Cell:
    """A value in a template. Its format is a chain of forms: `{title:80|bold}`.

    80: at most so many characters; count: the length of a list; bold: a style, or `hue` for the color of a word; day: the date of a time; `n file`:
    a number, or the length of a list, with its noun; `yes on/off`: one of two texts; `? by %`: this text with the value, or nothing if the value is
    empty; `~none`: this text instead of an empty value; `=done`: always this text; facts: a dictionary, a line for each
    key; mark: a status in brackets unless it is active; text: several lines; indent: several lines, indented; wide:
    cut to the terminal, less a number of columns; otherwise a format of Python.
    """

    def __init__(self, value: Any):
        self._value = value

    def __getattr__(self, name: str) -> Cell:
        return Cell(value_at(self._value, name))

    def __format__(self, forms: str) -> str:
        value = self._value
        for form in forms.split("|") if forms else ("",):
            value = _formed(value, form)
        return value if isinstance(value, str) else as_text(value)


def value_at(item: Any, path: str) -> Any:
    """Return the value at the end of a path; `.` is the item itself."""
    for name in path.split("."):
        if name.isdecimal():
            item = item[int(name)]
        elif isinstance(item, (list, tuple)):
            item = [value_at(one, name) for one in item]
        elif isinstance(item, dict):
            item = item.get(name)
        elif item is not None and name:
            item = getattr(item, name)
    return item


def cut_texts(value: Any, chars: int) -> Any:
    """Return a text, or each text of a list, as one line of at most so many characters."""
    if isinstance(value, (list, tuple)):
        return [cut_texts(one, chars) for one in value]
    return "" if value is None else one_line(str(value), chars)


def as_text(value: Any) -> str:
    """Return a value as one line without control characters; a pair in a list is two words."""
    if isinstance(value, dict):
        value = [
            f"{item} {key}" if isinstance(item, int) else f"{key}: {as_text(item)}"
            for key, item in value.items()
        ]
    if isinstance(value, (list, tuple)):
        return ", ".join(
            " ".join(map(as_text, item)) if isinstance(item, tuple) else as_text(item)
            for item in value
        )
    if isinstance(value, float):
        return f"{value:.2f}"
    return "" if value is None else one_line(str(value), MAX_TEXT_CHARS)


def _formed(value: Any, form: str) -> Any:
    """Return a value in one form; see `Cell`."""
    name, _, rest = form.partition(" ")
    if form in STYLES:
        return paint(as_text(value) if not isinstance(value, str) else value, form)
    if form.startswith("="):
        return form[1:]
    if form.startswith("~"):
        return value or form[1:]
    if form == "facts":
        return "\n".join(
            f"{paint(f'{key:13}', 'dim')} {as_text(item)}"
            for key, item in value.items()
        )
    if form == "hue":
        return paint(value, HUE_OF.get(value.strip(), "bold"))
    if form.startswith("?"):
        return form[1:].replace("%", as_text(value)) if value else ""
    if name == "yes":
        return rest.split("/")[not value]
    if name == "n":
        return counted(value if isinstance(value, int) else len(value), rest)
    if name == "wide":
        return one_line(as_text(value), max(20, wide() - int(rest or 0)))
    if form == "count":
        return len(value)
    if form == "day":
        return (value if isinstance(value, str) else iso(value))[:10] or "-" * 10
    if form == "mark":
        return bracketed(value)
    if form == "text":
        return str(value or "").strip("\n")
    if form == "indent":
        return indented(value)
    if form.isdecimal():
        chars = int(form)
        shown = value[:chars] if isinstance(value, (list, tuple)) else value
        return one_line(as_text(shown), chars)
    if isinstance(value, (int, float)) and form:
        return format(value, form)
    return format(as_text(value), form)


def indented(text: str) -> str:
    """Return a text with two spaces before each line."""
    return "\n".join(f"  {line}".rstrip() for line in text.strip().splitlines())
