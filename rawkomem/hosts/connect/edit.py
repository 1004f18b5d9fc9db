"""Puts values into JSON text and takes them out again, so that taking out is exactly the reverse of putting in.

What tells how to reverse it stands in the text itself, so any clone can: an item goes to the end of its container, with
a comma of its own where the last one had one. Into a container that was empty it goes directly before the bracket; a
container that we made ourselves never closes directly after its item. So we know whose it was when the item goes.
"""

from __future__ import annotations

import json

from ...model.record import record
from .jsonc import BLANKS, Node, end_of_comment

INDENT = "  "  # where a file has none to follow


@record
class Style:
    """How a file is laid out: its line ends and its step of indentation."""

    newline: str
    step: str


def style_of(text: str, root: Node) -> Style:
    """By the first member that stands on a line of its own."""
    newline = "\r\n" if "\r\n" in text else "\n"
    before = _indent(text, root.items[0].start) if root.items else None
    return Style(newline, before or INDENT)


def put(text: str, container: Node, key: str, value: object, style: Style) -> str:
    """The text with one more item in a container; a key for objects, none for lists."""
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
    """The text without an item."""
    item = container.items[index]
    before = container.items[index - 1].comma if index else container.start
    if item.comma >= 0:
        rest = text[item.node.end : item.comma] + text[item.comma + 1 :]  # a comment may stand before the comma
        return text[: _end_before(text, before + 1, item.start, rest)] + rest
    rest = text[item.node.end :]
    if index:
        return text[:before] + text[before + 1 : _end_before(text, before + 1, item.start, rest)] + rest
    return text[: item.start] + rest


def _end_before(text: str, after: int, start: int, rest: str) -> int:
    """Where the text before an item ends without the blanks between; those that end a comment are needed."""
    end = len(text[:start].rstrip(BLANKS))
    lines = text[after:end].splitlines()
    ends_in_comment = bool(lines) and "//" in lines[-1]
    return start if ends_in_comment and not rest.lstrip(" \t").startswith(("\n", "\r")) else max(end, after)


def is_made_by_us(container: Node) -> bool:
    """Whether a container with one item, which is ours, was made for it."""
    return len(container.items) == 1 and container.items[0].node.end != container.end - 1


def written(value: object, style: Style, base: str | None = "") -> str:
    """A value as text: a line for each member below an indentation, or all in one line where that is None.

    Brackets never stand directly beside an item: see above.
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
    """The indentation of the line on which something stands."""
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent(text: str, at: int) -> str | None:
    """The blanks before something that is the first on its line; None for what is not."""
    line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at]
    return line if not line.strip(BLANKS) and "\n" in text[:at] else None


def _past_comment(text: str, at: int) -> int:
    """Past a comment on the rest of the line, which belongs to what stands before it."""
    bare = at + len(text[at:]) - len(text[at:].lstrip(" \t"))
    if not text.startswith(("//", "/*"), bare):
        return at
    end = end_of_comment(text, bare)
    return at if "\n" in text[bare:end] else end
