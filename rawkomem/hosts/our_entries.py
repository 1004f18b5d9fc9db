"""Our entries in the settings of hosts, as text to text: recognize, add and remove our hooks and our
MCP server, in JSON and in TOML.

Hosts store hooks as `{"hooks": {"Event": [item, …]}}`. An item is a handler, or a group with a list
of handlers. In TOML we write a marked block at the end; hosts may insert their own tables between
the marks, so tables that do not call us are not ours.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence

from ..text.marked import cut_block, find_block, put_block
from .json_text import (
    BLANKS,
    INDENT,
    Item,
    Node,
    Style,
    is_made_by_us,
    member,
    parse_json,
    put_item,
    style_of,
    take_out_item,
    written_json,
)

# Recognize our MCP server, and our handlers, which run `rawkomem hook …` by any path and in any
# host's format.

ARGUMENTS = "args"  # the key of the arguments of a program that is started without a shell
PROGRAM_NAMES = ("rawkomem", "rawko")
PROGRAM = PROGRAM_NAMES[0]
CMD_KEY = "commandWindows"  # the key of a command line for cmd.exe
COMMANDS = (
    "command",
    CMD_KEY,
    "bash",
    "powershell",
    "exec",
)  # keys of a handler that hold a command line or a program
# On a machine without rawkomem, no error may appear at each prompt, so the exit code is always 0. The first form works
# in sh, Git Bash and PowerShell; cmd.exe needs the second.
ALWAYS_0, ALWAYS_0_IN_CMD = "; exit 0", " & exit /b 0"


def calls_us(handler: object) -> bool:
    """Tell whether a handler runs our hook."""
    return isinstance(handler, dict) and any(_hook_words(handler, key) for key in COMMANDS)


def guarded(line: str, key: str = "") -> str:
    """Return a command line that exits with 0 even if the program is missing."""
    return line + (ALWAYS_0_IN_CMD if key == CMD_KEY else ALWAYS_0)


def is_server(entry: object) -> bool:
    """Tell whether an entry of a host's MCP servers is exactly ours: our program with the only argument `mcp`."""
    return (
        isinstance(entry, dict)
        and entry.get("command") == PROGRAM
        and entry.get(ARGUMENTS) == ["mcp"]
    )


def by_name(item: object) -> object:
    """Return an item of a host's list, normalized for a comparison: a path to our program is replaced by its name.

    A path comes from a person, so its line counts as guarded. A plain name without a guard is our older form and stays.
    """
    if isinstance(item, list):
        return [by_name(one) for one in item]
    if not isinstance(item, dict):
        return item
    called = {key: line for key in COMMANDS if (line := _named_line(item, key))}
    return {
        key: called.get(key) or by_name(value)
        for key, value in item.items()
        if not (called and key == ARGUMENTS)
    }


def _named_line(handler: Mapping[str, object], key: str) -> str:
    line = " ".join((PROGRAM, *_hook_words(handler, key))) if _hook_words(handler, key) else ""
    if not line or str(handler[key]).startswith(f"{PROGRAM} "):
        return line
    return guarded(line.removesuffix(ALWAYS_0).removesuffix(ALWAYS_0_IN_CMD), key)


def _hook_words(handler: Mapping[str, object], key: str) -> list[str]:
    """Return the arguments of a command if it runs our hook; else an empty list."""
    line, given = handler.get(key), handler.get(ARGUMENTS)
    if not isinstance(line, str):
        return []
    program, words = (
        (line, [str(word) for word in given]) if isinstance(given, list) else _parted_command(line)
    )
    name = program.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    return words if name in PROGRAM_NAMES and words[:1] == ["hook"] else []


def _parted_command(line: str) -> tuple[str, list[str]]:
    """Return the program of a command line, which may be quoted, and its arguments."""
    line = line.strip()
    if line[:1] in ('"', "'"):
        program, _, rest = line[1:].partition(line[0])
        return program, rest.split()
    program, *words = line.split() or [""]
    return program, words


# Add calls of rawkomem to the `hooks` of a settings file, and remove them, as text to text.
#
# Hosts store hooks as `{"hooks": {"Event": [item, …]}}`. An item is a handler, or a group with a
# list of handlers.

Wanted = Mapping[str, object]  # event → our item in its list
HOOKS = "hooks"
VERSION = "version"
WAS_EMPTY = "\n\n"  # the end of a file that existed and was empty; a file that we created ends in one line break


def with_hooks(text: str | None, wanted: Wanted, version: int = 0) -> str:
    """Return a settings file with our items, each in its event's list; `text` is None if there is no file.

    Raises ValueError if the file cannot be parsed or extended.
    """
    if text is None or _is_empty(text):
        made = {HOOKS: {event: [item] for event, item in wanted.items()}}
        whole = written_json({**made, VERSION: version} if version else made, Style("\n", INDENT))
        return f"{whole}\n" if text is None else f"{text}{whole}{WAS_EMPTY}"
    if _has_hooks(parse_json(text), wanted):
        return text
    bare = without_hooks(text)
    if bare is None or _is_empty(bare):
        return with_hooks(bare, wanted, version)
    added = _hooks_added(bare, wanted, version)
    if without_hooks(added) != bare:
        raise ValueError("'connect --remove' could not restore its layout")
    return added


def without_hooks(text: str | None) -> str | None:
    """Return a settings file without our items; None if `connect` created the file and nothing else is in it."""
    if text is None or _is_empty(text):
        return text
    root = parse_json(text)
    while found := next(_our_hooks(root), None):
        rest = _hook_taken(text, root, *found)
        if rest is None:
            return text[: root.start] if text[root.end :] == WAS_EMPTY else None
        text, root = rest, parse_json(rest)
    return text


def _is_empty(text: str) -> bool:
    """Tell whether a file is empty: hosts read it like `{}`."""
    return not text.strip(BLANKS)


def _hooks_added(text: str, wanted: Wanted, version: int) -> str:
    """Return the text with our items. The version is added only if the file had neither hooks nor a version."""
    before = parse_json(text)
    for event, item in wanted.items():
        root = parse_json(text)
        style = style_of(text, root)
        hooks = _checked(member(root, HOOKS), dict)
        events = _checked(member(hooks.node, event), list) if hooks else None
        if events:
            text = put_item(text, events.node, "", item, style)
        elif hooks:
            text = put_item(text, hooks.node, event, [item], style)
        else:
            text = put_item(text, root, HOOKS, {event: [item]}, style)
    if not version or member(before, HOOKS) or member(before, VERSION):
        return text
    root = parse_json(text)
    return put_item(text, root, VERSION, version, style_of(text, root))


def _checked(item: Item | None, kind: type) -> Item | None:
    if item and not isinstance(item.node.value, kind):
        raise ValueError(f"{item.key} is not {'an object' if kind is dict else 'a list'}")
    return item


def _has_hooks(root: Node, wanted: Wanted) -> bool:
    """Tell whether the file has exactly the wanted items of ours."""
    ours = [
        (event.key, by_name(event.node.items[index].node.value))
        for event, index in _our_hooks(root)
    ]
    return sorted(ours, key=repr) == sorted(wanted.items(), key=repr)


def _our_hooks(root: Node) -> Iterator[tuple[Item, int]]:
    """Yield each event with the index of an item that calls us, the last first: the reverse of adding them."""
    if not isinstance(root.value, dict):
        raise ValueError("the file is not a JSON object")
    hooks = _checked(member(root, HOOKS), dict)
    for event in reversed(hooks.node.items if hooks else ()):
        for index in reversed(range(len(event.node.items))):
            if isinstance(event.node.value, list) and _item_calls_us(event.node.items[index].node):
                yield event, index


def _hook_taken(text: str, root: Node, event: Item, index: int) -> str | None:
    """Return the text without one item of ours, and without the lists and objects that we created for it.

    Returns None if nothing remains.
    """
    item = event.node.items[index].node
    inner = member(item, HOOKS)
    others = [one for one in inner.node.items if not calls_us(one.node.value)] if inner else []
    if inner and others:  # a person added handlers to our group
        last = max(at for at, one in enumerate(inner.node.items) if calls_us(one.node.value))
        return take_out_item(text, inner.node, last)
    if not is_made_by_us(event.node):
        return take_out_item(text, event.node, index)
    hooks = member(root, HOOKS)
    assert hooks
    if not is_made_by_us(hooks.node):
        return take_out_item(text, hooks.node, hooks.node.items.index(event))
    at = root.items.index(hooks)
    if (
        len(root.items) > at + 1 and root.items[at + 1].key == VERSION
    ):  # directly after our hooks: we added it
        return take_out_item(text, root, at + 1)
    return None if is_made_by_us(root) else take_out_item(text, root, at)


def _item_calls_us(node: Node) -> bool:
    inner = member(node, HOOKS)
    return (
        any(calls_us(one.node.value) for one in inner.node.items) if inner else calls_us(node.value)
    )


# Add our MCP server to the servers of a JSON settings file, and remove it, as text to text.

SERVER_NAME = "rawkomem"  # the name of our server


def with_server(text: str | None, key: str, entry: Mapping[str, object]) -> str:
    """Return the file with our server under a key. An existing server with our name is not changed.

    Raises ValueError if the file cannot be parsed or extended.
    """
    if text is None or not text.strip(BLANKS):
        whole = written_json({key: {SERVER_NAME: dict(entry)}}, Style("\n", INDENT))
        return f"{whole}\n" if text is None else f"{text}{whole}{WAS_EMPTY}"
    root = _object_in(text)
    servers = _servers_in(root, key)
    if servers and member(servers.node, SERVER_NAME):
        return text
    style = style_of(text, root)
    added = (
        put_item(text, servers.node, SERVER_NAME, dict(entry), style)
        if servers
        else put_item(text, root, key, {SERVER_NAME: dict(entry)}, style)
    )
    if without_server(added, key, entry) != text:
        raise ValueError("'connect --remove' could not restore its layout")
    return added


def without_server(text: str | None, key: str, entry: Mapping[str, object]) -> str | None:
    """Return the file without our server, unless a person edited the server.

    Returns None if `connect` created the file and nothing else is in it.
    """
    if text is None or not text.strip(BLANKS):
        return text
    root = _object_in(text)
    servers = _servers_in(root, key)
    ours = member(servers.node, SERVER_NAME) if servers else None
    if not servers or not ours or ours.node.value != dict(entry):
        return text
    if not is_made_by_us(servers.node):
        return take_out_item(text, servers.node, servers.node.items.index(ours))
    if not is_made_by_us(root):
        return take_out_item(text, root, root.items.index(servers))
    return text[: root.start] if text[root.end :] == WAS_EMPTY else None


def has_server(text: str | None, key: str) -> bool:
    """Tell whether a file has a server with our name, edited or not."""
    servers = _servers_in(_object_in(text), key) if text and text.strip(BLANKS) else None
    return bool(servers and member(servers.node, SERVER_NAME))


def _object_in(text: str) -> Node:
    root = parse_json(text)
    if not isinstance(root.value, dict):
        raise ValueError("the file is not a JSON object")
    return root


def _servers_in(root: Node, key: str) -> Item | None:
    servers = member(root, key)
    if servers and not isinstance(servers.node.value, dict):
        raise ValueError(f"{key} is not an object")
    return servers


# Write our hooks and our MCP server into a TOML file, in a marked block at its end.
#
# Hosts may insert their own tables between the marks, so tables in the block that do not call us
# are not ours.

BLOCK_NAME = "rawkomem connect"
SERVER_HEADER = "[mcp_servers.rawkomem]"
Server = Mapping[str, object]


def with_toml_block(
    text: str | None, wanted: Mapping[str, Mapping[str, object]], entry: Server | None = None
) -> str | None:
    """Return the file with our block: `[[hooks.Event]]` with one handler each, and our MCP server if `entry` is passed.

    `text` is None if there is no file. A server that was in the block stays. Raises ValueError if the file cannot be
    parsed or extended.
    """
    lines = [line for event, handler in wanted.items() for line in _hook_lines(event, handler)]
    lines += _kept_server(text) or (
        [] if entry is None or has_toml_server(text) else _server_lines(entry)
    )
    if not lines:
        return without_toml_block(text)
    known = find_block((text or "").encode(), BLOCK_NAME, to_end=True)
    if (
        text is not None
        and known
        and [line.rstrip("\r") for line in _parted_block(known.inside)[0]] == lines
    ):
        return text
    bare = without_toml_block(text)
    tomllib.loads(bare or "")
    block = "".join(f"{line}\n" for line in lines)
    made = put_block(None if bare is None else bare.encode(), BLOCK_NAME, block).decode()
    try:
        tomllib.loads(made)
    except tomllib.TOMLDecodeError:
        raise ValueError(
            "its hooks or servers are inline tables or arrays, which cannot be extended"
        ) from None
    return made


def without_toml_block(text: str | None) -> str | None:
    """Return the file without our block; None if `connect` created the file and nothing else is in it.

    Raises ValueError if the rest is not valid TOML.
    """
    data = (text or "").encode()
    if text is None or not find_block(data, BLOCK_NAME, to_end=True):
        return text  # without a block of ours, the file need not be valid
    left = cut_block(data, BLOCK_NAME, lambda inside: "\n".join(_parted_block(inside)[1]).encode())
    tomllib.loads((left or b"").decode())
    return None if left is None else left.decode()


def _parted_block(inside: bytes) -> tuple[list[str], list[str]]:
    """Return our lines between the marks, and all other lines."""
    tables = _tables(inside.decode().split("\n"))
    ours: list[str] = []
    theirs: list[str] = []
    for at, table in enumerate(tables):
        end = _end_of_table(table) if _is_our_table(tables, at) else 0
        ours += table[:end]
        theirs += table[end:]
    return ours, theirs


def _tables(lines: Sequence[str]) -> list[list[str]]:
    """Split lines before each header."""
    tables: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("["):
            tables.append([])
        tables[-1].append(line)
    return tables


def _end_of_table(table: Sequence[str]) -> int:
    """Return where a table ends: blank lines and comments after it belong to the next table."""
    return max(
        (at for at, line in enumerate(table, 1) if line.strip() and not line.startswith("#")),
        default=0,
    )


def _is_our_table(tables: Sequence[Sequence[str]], at: int) -> bool:
    """Tell whether a table is our server, a handler that calls us, or a group that holds only such a handler."""
    if _header_at(tables, at) == SERVER_HEADER:
        return is_server(_read_table(tables[at]))
    header, *inner = (_header_at(tables, at + step) for step in range(3))
    if header.endswith(".hooks]]"):
        return _is_handler(tables[at])
    group = header.replace("]]", ".hooks]]")
    return inner[0] == group != inner[1] and _is_handler(tables[at + 1])


def _header_at(tables: Sequence[Sequence[str]], at: int) -> str:
    return tables[at][0].strip() if at < len(tables) and tables[at] else ""


def _is_handler(table: Sequence[str]) -> bool:
    return calls_us(_read_table(table))


def _read_table(table: Sequence[str]) -> dict[str, object]:
    """Return the keys and values of a table; empty if it cannot be parsed."""
    try:
        return tomllib.loads("\n".join(line.rstrip("\r") for line in table[1:]))
    except tomllib.TOMLDecodeError:
        return {}


def has_toml_server(text: str | None) -> bool:
    """Tell whether a file has a server with our name, in our block or elsewhere."""
    servers = tomllib.loads(text or "").get("mcp_servers")
    return isinstance(servers, dict) and "rawkomem" in servers


def _kept_server(text: str | None) -> list[str]:
    """Return the lines of our server in the block; empty if it has none."""
    block = find_block((text or "").encode(), BLOCK_NAME, to_end=True)
    ours = [line.rstrip("\r") for line in _parted_block(block.inside)[0]] if block else []
    return ours[ours.index(SERVER_HEADER) :] if SERVER_HEADER in ours else []


def _server_lines(entry: Server) -> list[str]:
    return [SERVER_HEADER, *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]


def _hook_lines(event: str, handler: Mapping[str, object]) -> list[str]:
    lines = [
        f"{key} = {json.dumps(value)}" for key, value in handler.items()
    ]  # TOML and JSON quote alike
    return [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", *lines]
