"""Keep our hooks in a TOML file, in a marked block at its end.

Hosts put their own tables before the last mark, so tables between the marks that do not call us are theirs.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence

from ...text.marked import cut_block, find_block, put_block
from .ours import calls_us

BLOCK_NAME = "rawkomem connect"  # of the block


def merged(text: str | None, wanted: Mapping[str, Mapping[str, object]]) -> str:
    """Return the file with our block, `[[hooks.Event]]` with one handler each; create a file that was not there.

    Raises ValueError if the file cannot be parsed or extended.
    """
    lines = [line for event, handler in wanted.items() for line in _hook(event, handler)]
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
        raise ValueError("its hooks are written in a form that nothing can be added to") from None
    return made


def without(text: str | None) -> str | None:
    """Return the file without our block; None if nothing else was ever in it. Raises ValueError for broken TOML."""
    data = (text or "").encode()
    if text is None or not find_block(data, BLOCK_NAME, to_end=True):
        return text  # nothing of ours: it may be broken, and that is not our affair
    left = cut_block(data, BLOCK_NAME, lambda inside: "\n".join(_parted(inside)[1]).encode())
    tomllib.loads((left or b"").decode())
    return None if left is None else left.decode()


def _parted(inside: bytes) -> tuple[list[str], list[str]]:
    """Return our lines between the marks, and those of others."""
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
    """Return where a table ends: blank lines and comments below it belong to what follows."""
    return max((at for at, line in enumerate(table, 1) if line.strip() and not line.startswith("#")), default=0)


def _is_ours(tables: Sequence[Sequence[str]], at: int) -> bool:
    """Tell whether a table is a handler that calls us, or the group of one that holds no other."""
    header, *inner = (_header(tables, at + step) for step in range(3))
    if header.endswith(".hooks]]"):
        return _is_handler(tables[at])
    group = header.replace("]]", ".hooks]]")
    return inner[0] == group != inner[1] and _is_handler(tables[at + 1])


def _header(tables: Sequence[Sequence[str]], at: int) -> str:
    return tables[at][0].strip() if at < len(tables) and tables[at] else ""


def _is_handler(table: Sequence[str]) -> bool:
    try:
        return calls_us(tomllib.loads("\n".join(line.rstrip("\r") for line in table[1:])))
    except tomllib.TOMLDecodeError:
        return False


def _hook(event: str, handler: Mapping[str, object]) -> list[str]:
    lines = [f"{key} = {json.dumps(value)}" for key, value in handler.items()]  # TOML quotes as JSON does
    return [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", *lines]
