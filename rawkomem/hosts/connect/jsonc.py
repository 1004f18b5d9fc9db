"""Parse JSON with comments and trailing commas, and keep the position of each value in the text.

Settings are edited as text, so that the comments, indentation and order of other settings do not change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...model.record import record

BLANKS = " \t\r\n\ufeff"
CLOSING = {"{": "}", "[": "]"}
MAX_DEPTH = 100  # of nested values


@record
class Node:
    """A value and its position."""

    start: int
    end: int
    value: object  # the Python value
    items: tuple[Item, ...] = ()  # if it is an object or a list


@record
class Item:
    """A member of an object, or an item of a list."""

    key: str  # empty in a list
    start: int
    node: Node
    comma: int  # position of the comma after it; -1: none


def parse(text: str) -> Node:
    """Return the value of a text. Raises ValueError, with the line, if it cannot be parsed."""
    at = _skip(text, 0)
    node = _value(text, at, 0)
    rest = _skip(text, node.end)
    if rest < len(text):
        raise _wrong(text, rest, "text after the end of the value")
    return node


def member(node: Node, key: str) -> Item | None:
    """Return a member of an object by its key, or None. Of duplicate keys the last counts, as in the hosts."""
    return next((item for item in reversed(node.items) if item.key == key), None)


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise _wrong(text, at, "nested too deeply")
    sign = text[at : at + 1]
    if sign in ("{", "["):
        return _container(text, at, depth)
    end = _end_of_text(text, at) if sign == '"' else _end_of_word(text, at)
    try:
        return Node(at, end, json.loads(text[at:end]))
    except ValueError:
        raise _wrong(text, at, "a value is missing or invalid") from None


def _container(text: str, at: int, depth: int) -> Node:
    close = CLOSING[text[at]]
    items: list[Item] = []
    position = _skip(text, at + 1)
    while text[position : position + 1] != close:
        item = _item(text, position, close == "}", depth)
        items.append(item)
        position = _skip(text, item.comma + 1 if item.comma >= 0 else item.node.end)
        if item.comma < 0 and text[position : position + 1] != close:
            raise _wrong(text, position, f"a comma or {close} is missing")
    named = {item.key: item.node.value for item in items}
    return Node(at, position + 1, named if close == "}" else [item.node.value for item in items], tuple(items))


def _item(text: str, at: int, named: bool, depth: int) -> Item:
    key, position = "", at
    if named:
        name = _value(text, at, depth + 1)
        colon = _skip(text, name.end)
        if not isinstance(name.value, str) or text[colon : colon + 1] != ":":
            raise _wrong(text, at, "expected a key in quotes and a colon")
        key, position = name.value, _skip(text, colon + 1)
    node = _value(text, position, depth + 1)
    comma = _skip(text, node.end)
    return Item(key, at, node, comma if text[comma : comma + 1] == "," else -1)


def _end_of_text(text: str, at: int) -> int:
    position = at + 1
    while position < len(text) and text[position] != '"':
        position += 2 if text[position] == "\\" else 1
    return position + 1


def _end_of_word(text: str, at: int) -> int:
    position = at
    while position < len(text) and text[position] not in ',]}/:"' + BLANKS:
        position += 1
    return position


def _skip(text: str, at: int) -> int:
    """Return the position after blanks and comments."""
    for end in _gaps(text, at):
        at = end
    return at


def _gaps(text: str, at: int) -> Iterator[int]:
    while at < len(text):
        if text[at] in BLANKS:
            at += 1
        elif text.startswith(("//", "/*"), at):
            at = end_of_comment(text, at)
        else:
            return
        yield at


def end_of_comment(text: str, at: int) -> int:
    """Return where the comment that begins here ends; a line comment ends before the line break."""
    if text.startswith("//", at):
        ends = [end for end in (text.find("\r", at), text.find("\n", at)) if end >= 0]
        return min(ends, default=len(text))
    end = text.find("*/", at)
    if end < 0:
        raise _wrong(text, at, "a comment is not closed")
    return end + 2


def _wrong(text: str, at: int, why: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    return ValueError(f"line {line}: {why}")
