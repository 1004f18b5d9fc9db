"""Add our MCP server to the servers of a JSON settings file, and remove it, as text to text."""

from __future__ import annotations

from collections.abc import Mapping

from .edit import INDENT, Style, is_made_by_us, put, style_of, take_out, written
from .jsonc import BLANKS, Item, Node, member, parse
from .merge import WAS_EMPTY

NAME = "rawkomem"  # the name of our server


def merged(text: str | None, key: str, entry: Mapping[str, object]) -> str:
    """Return the file with our server under a key. An existing server with our name is not changed.

    Raises ValueError if the file cannot be parsed or extended.
    """
    if text is None or not text.strip(BLANKS):
        whole = written({key: {NAME: dict(entry)}}, Style("\n", INDENT))
        return f"{whole}\n" if text is None else f"{text}{whole}{WAS_EMPTY}"
    root = _root(text)
    servers = _servers(root, key)
    if servers and member(servers.node, NAME):
        return text
    style = style_of(text, root)
    added = (
        put(text, servers.node, NAME, dict(entry), style)
        if servers
        else put(text, root, key, {NAME: dict(entry)}, style)
    )
    if without(added, key, entry) != text:
        raise ValueError("'connect --remove' could not restore its layout")
    return added


def without(text: str | None, key: str, entry: Mapping[str, object]) -> str | None:
    """Return the file without our server, unless a person edited the server.

    Returns None if `connect` created the file and nothing else is in it.
    """
    if text is None or not text.strip(BLANKS):
        return text
    root = _root(text)
    servers = _servers(root, key)
    ours = member(servers.node, NAME) if servers else None
    if not servers or not ours or ours.node.value != dict(entry):
        return text
    if not is_made_by_us(servers.node):
        return take_out(text, servers.node, servers.node.items.index(ours))
    if not is_made_by_us(root):
        return take_out(text, root, root.items.index(servers))
    return text[: root.start] if text[root.end :] == WAS_EMPTY else None


def has_server(text: str | None, key: str) -> bool:
    """Tell whether a file has a server with our name, edited or not."""
    servers = _servers(_root(text), key) if text and text.strip(BLANKS) else None
    return bool(servers and member(servers.node, NAME))


def _root(text: str) -> Node:
    root = parse(text)
    if not isinstance(root.value, dict):
        raise ValueError("the file is not a JSON object")
    return root


def _servers(root: Node, key: str) -> Item | None:
    servers = member(root, key)
    if servers and not isinstance(servers.node.value, dict):
        raise ValueError(f"{key} is not an object")
    return servers
