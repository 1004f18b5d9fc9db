"""Edit JSON with comments as text: parse it with the position of each value, add items, and remove
them again so that the earlier text is restored exactly.

No record of a change is kept, so it can be reversed in any clone. An item is added at the end of
its container, with a comma after it if the last item had one. In a container that was empty, the
closing bracket directly follows our item. In a container that we created, white space stands
between them. So removing an item can tell whether we created its container, and then removes the
container too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..model.values import record

# Parse JSON with comments and trailing commas, and keep the position of each value in the text.
#
# Settings are edited as text, so that the comments, indentation and order of other settings do not
# change.

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


def parse_json(text: str) -> Node:
    """Return the value of a text. Raises ValueError, with the line, if it cannot be parsed."""
    at = _skip(text, 0)
    node = _parsed_value(text, at, 0)
    rest = _skip(text, node.end)
    if rest < len(text):
        raise _wrong(text, rest, "text after the end of the value")
    return node


def member(node: Node, key: str) -> Item | None:
    """Return a member of an object by its key, or None. Of duplicate keys the last counts, as in the hosts."""
    return next((item for item in reversed(node.items) if item.key == key), None)


def _parsed_value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise _wrong(text, at, "nested too deeply")
    sign = text[at : at + 1]
    if sign in ("{", "["):
        return _parsed_container(text, at, depth)
    end = _end_of_text(text, at) if sign == '"' else _end_of_word(text, at)
    try:
        return Node(at, end, json.loads(text[at:end]))
    except ValueError:
        raise _wrong(text, at, "a value is missing or invalid") from None


def _parsed_container(text: str, at: int, depth: int) -> Node:
    close = CLOSING[text[at]]
    items: list[Item] = []
    position = _skip(text, at + 1)
    while text[position : position + 1] != close:
        item = _parsed_item(text, position, close == "}", depth)
        items.append(item)
        position = _skip(text, item.comma + 1 if item.comma >= 0 else item.node.end)
        if item.comma < 0 and text[position : position + 1] != close:
            raise _wrong(text, position, f"a comma or {close} is missing")
    named = {item.key: item.node.value for item in items}
    return Node(
        at,
        position + 1,
        named if close == "}" else [item.node.value for item in items],
        tuple(items),
    )


def _parsed_item(text: str, at: int, named: bool, depth: int) -> Item:
    key, position = "", at
    if named:
        name = _parsed_value(text, at, depth + 1)
        colon = _skip(text, name.end)
        if not isinstance(name.value, str) or text[colon : colon + 1] != ":":
            raise _wrong(text, at, "expected a key in quotes and a colon")
        key, position = name.value, _skip(text, colon + 1)
    node = _parsed_value(text, position, depth + 1)
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


# Add items to JSON text and remove them again, so that removing exactly restores the earlier text.
#
# No record of the change is kept, so it can be reversed in any clone. An item is added at the end
# of its container, with a comma after it if the last item had one. In a container that was empty,
# the closing bracket directly follows our item. In a container that we created, white space stands
# between them. So removing an item can tell whether we created its container, and then removes the
# container too.

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


def put_item(text: str, container: Node, key: str, value: object, style: Style) -> str:
    """Return the text with an item added to a container; `key` is empty for a list."""
    if not container.items:
        at = container.end - 1
        return (
            text[:at]
            + _written_item(key, value, style, _leading(text, container.start))
            + text[at:]
        )
    last = container.items[-1]
    indent = _indent(text, last.start)
    item = _written_item(key, value, style, indent)
    gap = " " if indent is None else style.newline + indent
    end = last.comma + 1 if last.comma >= 0 else last.node.end
    at = _past_comment(text, end)
    if last.comma >= 0:
        return text[:at] + gap + item + "," + text[at:]
    return f"{text[:end]},{text[end:at]}{gap}{item}{text[at:]}"


def take_out_item(text: str, container: Node, index: int) -> str:
    """Return the text without an item."""
    item = container.items[index]
    before = container.items[index - 1].comma if index else container.start
    if item.comma >= 0:
        rest = (
            text[item.node.end : item.comma] + text[item.comma + 1 :]
        )  # there may be a comment before the comma
        return text[: _end_before(text, before + 1, item.start, rest)] + rest
    rest = text[item.node.end :]
    if index:
        return (
            text[:before]
            + text[before + 1 : _end_before(text, before + 1, item.start, rest)]
            + rest
        )
    return text[: item.start] + rest


def _end_before(text: str, after: int, start: int, rest: str) -> int:
    """Return where the text before an item ends, without the blanks between. Blanks that end a comment are kept."""
    end = len(text[:start].rstrip(BLANKS))
    lines = text[after:end].splitlines()
    ends_in_comment = bool(lines) and "//" in lines[-1]
    return (
        start
        if ends_in_comment and not rest.lstrip(" \t").startswith(("\n", "\r"))
        else max(end, after)
    )


def is_made_by_us(container: Node) -> bool:
    """Tell whether we created a container, for its only item."""
    return len(container.items) == 1 and container.items[0].node.end != container.end - 1


def written_json(value: object, style: Style, base: str | None = "") -> str:
    """Return a value as JSON: one line per member, indented from `base`; all on one line if `base` is None.

    Brackets are never directly next to an item: see the module docstring.
    """
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    pairs = list(value.items()) if isinstance(value, dict) else [("", item) for item in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    if base is None:
        return f"{first} {', '.join(_written_item(key, item, style, None) for key, item in pairs)} {last}"
    inner = base + style.step
    items = f",{style.newline}{inner}".join(
        _written_item(key, item, style, inner) for key, item in pairs
    )
    return f"{first}{style.newline}{inner}{items}{style.newline}{base}{last}"


def _written_item(key: str, value: object, style: Style, base: str | None) -> str:
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    return name + written_json(value, style, base)


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
