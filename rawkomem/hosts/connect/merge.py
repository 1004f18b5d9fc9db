"""Add calls of rawkomem to the `hooks` of a settings file, and remove them, as text to text.

Hosts store hooks as `{"hooks": {"Event": [item, …]}}`. An item is a handler, or a group with a list of handlers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .edit import INDENT, Style, is_made_by_us, put, style_of, take_out, written
from .jsonc import BLANKS, Item, Node, member, parse
from .ours import by_name, calls_us

Wanted = Mapping[str, object]  # event → our item in its list
HOOKS = "hooks"
VERSION = "version"
WAS_EMPTY = "\n\n"  # the end of a file that existed and was empty; a file that we created ends in one line break


def merged(text: str | None, wanted: Wanted, version: int = 0) -> str:
    """Return a settings file with our items, each in its event's list; `text` is None if there is no file.

    Raises ValueError if the file cannot be parsed or extended.
    """
    if text is None or _is_empty(text):
        made = {HOOKS: {event: [item] for event, item in wanted.items()}}
        whole = written({**made, VERSION: version} if version else made, Style("\n", INDENT))
        return f"{whole}\n" if text is None else f"{text}{whole}{WAS_EMPTY}"
    if _is_in(parse(text), wanted):
        return text
    bare = without(text)
    if bare is None or _is_empty(bare):
        return merged(bare, wanted, version)
    added = _added(bare, wanted, version)
    if without(added) != bare:
        raise ValueError("'connect --remove' could not restore its layout")
    return added


def without(text: str | None) -> str | None:
    """Return a settings file without our items; None if `connect` created the file and nothing else is in it."""
    if text is None or _is_empty(text):
        return text
    root = parse(text)
    while found := next(_ours(root), None):
        rest = _taken(text, root, *found)
        if rest is None:
            return text[: root.start] if text[root.end :] == WAS_EMPTY else None
        text, root = rest, parse(rest)
    return text


def _is_empty(text: str) -> bool:
    """Tell whether a file is empty: hosts read it like `{}`."""
    return not text.strip(BLANKS)


def _added(text: str, wanted: Wanted, version: int) -> str:
    """Return the text with our items. The version is added only if the file had neither hooks nor a version."""
    before = parse(text)
    for event, item in wanted.items():
        root = parse(text)
        style = style_of(text, root)
        hooks = _checked(member(root, HOOKS), dict)
        events = _checked(member(hooks.node, event), list) if hooks else None
        if events:
            text = put(text, events.node, "", item, style)
        elif hooks:
            text = put(text, hooks.node, event, [item], style)
        else:
            text = put(text, root, HOOKS, {event: [item]}, style)
    if not version or member(before, HOOKS) or member(before, VERSION):
        return text
    root = parse(text)
    return put(text, root, VERSION, version, style_of(text, root))


def _checked(item: Item | None, kind: type) -> Item | None:
    if item and not isinstance(item.node.value, kind):
        raise ValueError(f"{item.key} is not {'an object' if kind is dict else 'a list'}")
    return item


def _is_in(root: Node, wanted: Wanted) -> bool:
    """Tell whether the file has exactly the wanted items of ours."""
    ours = [(event.key, by_name(event.node.items[index].node.value)) for event, index in _ours(root)]
    return sorted(ours, key=repr) == sorted(wanted.items(), key=repr)


def _ours(root: Node) -> Iterator[tuple[Item, int]]:
    """Yield each event with the index of an item that calls us, the last first: the reverse of adding them."""
    if not isinstance(root.value, dict):
        raise ValueError("the file is not a JSON object")
    hooks = _checked(member(root, HOOKS), dict)
    for event in reversed(hooks.node.items if hooks else ()):
        for index in reversed(range(len(event.node.items))):
            if isinstance(event.node.value, list) and _calls_us(event.node.items[index].node):
                yield event, index


def _taken(text: str, root: Node, event: Item, index: int) -> str | None:
    """Return the text without one item of ours, and without the lists and objects that we created for it.

    Returns None if nothing remains.
    """
    item = event.node.items[index].node
    inner = member(item, HOOKS)
    others = [one for one in inner.node.items if not calls_us(one.node.value)] if inner else []
    if inner and others:  # a person added handlers to our group
        last = max(at for at, one in enumerate(inner.node.items) if calls_us(one.node.value))
        return take_out(text, inner.node, last)
    if not is_made_by_us(event.node):
        return take_out(text, event.node, index)
    hooks = member(root, HOOKS)
    assert hooks
    if not is_made_by_us(hooks.node):
        return take_out(text, hooks.node, hooks.node.items.index(event))
    at = root.items.index(hooks)
    if len(root.items) > at + 1 and root.items[at + 1].key == VERSION:  # directly after our hooks: we added it
        return take_out(text, root, at + 1)
    return None if is_made_by_us(root) else take_out(text, root, at)


def _calls_us(node: Node) -> bool:
    inner = member(node, HOOKS)
    return any(calls_us(one.node.value) for one in inner.node.items) if inner else calls_us(node.value)
