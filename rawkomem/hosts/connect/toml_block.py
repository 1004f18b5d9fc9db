"""Write our hooks and our MCP server into a TOML file, in a marked block at its end.

Hosts may insert their own tables between the marks, so tables in the block that do not call us are not ours.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence

from ...text.marked import cut_block, find_block, put_block
from .ours import calls_us, is_server

BLOCK_NAME = "rawkomem connect"
SERVER_HEADER = "[mcp_servers.rawkomem]"
Server = Mapping[str, object]


def merged(text: str | None, wanted: Mapping[str, Mapping[str, object]], entry: Server | None = None) -> str | None:
    """Return the file with our block: `[[hooks.Event]]` with one handler each, and our MCP server if `entry` is passed.

    `text` is None if there is no file. A server that was in the block stays. Raises ValueError if the file cannot be
    parsed or extended.
    """
    lines = [line for event, handler in wanted.items() for line in _hook(event, handler)]
    lines += _kept_server(text) or ([] if entry is None or has_server(text) else _server(entry))
    if not lines:
        return without(text)
    known = find_block((text or "").encode(), BLOCK_NAME, to_end=True)
    if text is not None and known and [line.rstrip("\r") for line in _parted(known.inside)[0]] == lines:
        return text
    bare = without(text)
    tomllib.loads(bare or "")
    block = "".join(f"{line}\n" for line in lines)
    made = put_block(None if bare is None else bare.encode(), BLOCK_NAME, block).decode()
    try:
        tomllib.loads(made)
    except tomllib.TOMLDecodeError:
        raise ValueError("its hooks or servers are inline tables or arrays, which cannot be extended") from None
    return made


def without(text: str | None) -> str | None:
    """Return the file without our block; None if `connect` created the file and nothing else is in it.

    Raises ValueError if the rest is not valid TOML.
    """
    data = (text or "").encode()
    if text is None or not find_block(data, BLOCK_NAME, to_end=True):
        return text  # without a block of ours, the file need not be valid
    left = cut_block(data, BLOCK_NAME, lambda inside: "\n".join(_parted(inside)[1]).encode())
    tomllib.loads((left or b"").decode())
    return None if left is None else left.decode()


def _parted(inside: bytes) -> tuple[list[str], list[str]]:
    """Return our lines between the marks, and all other lines."""
    tables = _tables(inside.decode().split("\n"))
    ours: list[str] = []
    theirs: list[str] = []
    for at, table in enumerate(tables):
        end = _end(table) if _is_ours(tables, at) else 0
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


def _end(table: Sequence[str]) -> int:
    """Return where a table ends: blank lines and comments after it belong to the next table."""
    return max((at for at, line in enumerate(table, 1) if line.strip() and not line.startswith("#")), default=0)


def _is_ours(tables: Sequence[Sequence[str]], at: int) -> bool:
    """Tell whether a table is our server, a handler that calls us, or a group that holds only such a handler."""
    if _header(tables, at) == SERVER_HEADER:
        return is_server(_table(tables[at]))
    header, *inner = (_header(tables, at + step) for step in range(3))
    if header.endswith(".hooks]]"):
        return _is_handler(tables[at])
    group = header.replace("]]", ".hooks]]")
    return inner[0] == group != inner[1] and _is_handler(tables[at + 1])


def _header(tables: Sequence[Sequence[str]], at: int) -> str:
    return tables[at][0].strip() if at < len(tables) and tables[at] else ""


def _is_handler(table: Sequence[str]) -> bool:
    return calls_us(_table(table))


def _table(table: Sequence[str]) -> dict[str, object]:
    """Return the keys and values of a table; empty if it cannot be parsed."""
    try:
        return tomllib.loads("\n".join(line.rstrip("\r") for line in table[1:]))
    except tomllib.TOMLDecodeError:
        return {}


def has_server(text: str | None) -> bool:
    """Tell whether a file has a server with our name, in our block or elsewhere."""
    servers = tomllib.loads(text or "").get("mcp_servers")
    return isinstance(servers, dict) and "rawkomem" in servers


def _kept_server(text: str | None) -> list[str]:
    """Return the lines of our server in the block; empty if it has none."""
    block = find_block((text or "").encode(), BLOCK_NAME, to_end=True)
    ours = [line.rstrip("\r") for line in _parted(block.inside)[0]] if block else []
    return ours[ours.index(SERVER_HEADER) :] if SERVER_HEADER in ours else []


def _server(entry: Server) -> list[str]:
    return [SERVER_HEADER, *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]


def _hook(event: str, handler: Mapping[str, object]) -> list[str]:
    lines = [f"{key} = {json.dumps(value)}" for key, value in handler.items()]  # TOML and JSON quote alike
    return [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", *lines]
