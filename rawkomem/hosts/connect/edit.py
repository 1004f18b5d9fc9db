"""Add items to JSON text and remove them again, so that removing exactly restores the earlier text.

No record of the change is kept, so it can be reversed in any clone. An item is added at the end of its container, with
a comma after it if the last item had one. In a container that was empty, the closing bracket directly follows our item.
In a container that we created, white space stands between them. So removing an item can tell whether we created its
container, and then removes the container too.
"""

from __future__ import annotations

import json

from ...model.record import record
from .jsonc import BLANKS, Node, end_of_comment

INDENT = "  "  # if the file has no indentation to copy


@record
class Style:
    """The layout of a file: its line ending and one level of indentation."""

    newline: str
    step: str


def style_of(text: str, root: Node) -> Style:
    """Return the style of a file. The indentation is that of its first member."""
    newline = "\r\n" if "\r\n" in text else "\n"
    before = _indent(text, root.items[0].start) if root.items else None
    return Style(newline, before or INDENT)


def put(text: str, container: Node, key: str, value: object, style: Style) -> str:
    """Return the text with an item added to a container; `key` is empty for a list."""
    if not container.items:
        at = container.end - 1
        return text[:at] + _item(key, value, style, _leading(text, container.start)) + text[at:]
    last = container.items[-1]
    indent = _indent(text, last.start)
    item = _item(key, value, style, indent)
    gap = " " if indent is None else style.newline + indent
    end = last.comma + 1 if last.comma >= 0 else last.node.end
    at = _past_comment(text, end)
    if last.comma >= 0:
        return text[:at] + gap + item + "," + text[at:]
    return f"{text[:end]},{text[end:at]}{gap}{item}{text[at:]}"


def take_out(text: str, container: Node, index: int) -> str:
    """Return the text without an item."""
    item = container.items[index]
    before = container.items[index - 1].comma if index else container.start
    if item.comma >= 0:
        rest = text[item.node.end : item.comma] + text[item.comma + 1 :]  # there may be a comment before the comma
        return text[: _end_before(text, before + 1, item.start, rest)] + rest
    rest = text[item.node.end :]
    if index:
        return text[:before] + text[before + 1 : _end_before(text, before + 1, item.start, rest)] + rest
    return text[: item.start] + rest


def _end_before(text: str, after: int, start: int, rest: str) -> int:
    """Return where the text before an item ends, without the blanks between. Blanks that end a comment are kept."""
    end = len(text[:start].rstrip(BLANKS))
    lines = text[after:end].splitlines()
    ends_in_comment = bool(lines) and "//" in lines[-1]
    return start if ends_in_comment and not rest.lstrip(" \t").startswith(("\n", "\r")) else max(end, after)


def is_made_by_us(container: Node) -> bool:
    """Tell whether we created a container, for its only item."""
    return len(container.items) == 1 and container.items[0].node.end != container.end - 1


def written(value: object, style: Style, base: str | None = "") -> str:
    """Return a value as JSON: one line per member, indented from `base`; all on one line if `base` is None.

    Brackets are never directly next to an item: see the module docstring.
    """
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    pairs = list(value.items()) if isinstance(value, dict) else [("", item) for item in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    if base is None:
        return f"{first} {', '.join(_item(key, item, style, None) for key, item in pairs)} {last}"
    inner = base + style.step
    items = f",{style.newline}{inner}".join(_item(key, item, style, inner) for key, item in pairs)
    return f"{first}{style.newline}{inner}{items}{style.newline}{base}{last}"


def _item(key: str, value: object, style: Style, base: str | None) -> str:
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    return name + written(value, style, base)


def _leading(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent(text: str, at: int) -> str | None:
    """Return the indentation before a position, or None if other text comes before it on its line."""
    line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at]
    return line if not line.strip(BLANKS) and "\n" in text[:at] else None


def _past_comment(text: str, at: int) -> int:
    """Return the position after a comment on the same line, which belongs to the item before it."""
    bare = at + len(text[at:]) - len(text[at:].lstrip(" \t"))
    if not text.startswith(("//", "/*"), bare):
        return at
    end = end_of_comment(text, bare)
    return at if "\n" in text[bare:end] else end
