"""Our block in a TOML file: between two comment lines at the end, so that the rest stays as it is.

A block is taken out with the line break before it, and with the one after it where the file ended in one before.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

BEGIN = "# rawkomem: begin (written by 'rawkomem connect'; add --remove to take it out)"
END = "# rawkomem: end"


def merged(text: str | None, wanted: Mapping[str, Mapping[str, object]]) -> str:
    """The file with our block, `[[hooks.Event]]` with one handler each; a file that was not there is made."""
    bare = without(text)
    block = "\n".join([BEGIN, *(line for event, handler in wanted.items() for line in _hook(event, handler)), END])
    if bare is None:
        return block + "\n"
    tomllib.loads(bare)
    newline = "\r\n" if "\r\n" in bare else "\n"
    block = block.replace("\n", newline)
    text = f"{bare}{newline}{block}{newline if bare.endswith(newline) else ''}"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise ValueError("its hooks are written in a form that nothing can be added to") from None
    return text


def without(text: str | None) -> str | None:
    """The file without our block; None where nothing else was ever in it."""
    if text is None:
        return None
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        tomllib.loads(text)
        return text
    if begin == 0 and not text[end + len(END) :].strip():
        return None
    newline = "\r\n" if text[:begin].endswith("\r\n") else "\n"
    return text[:begin].removesuffix(newline) + text[end + len(END) :].removeprefix(newline)


def _hook(event: str, handler: Mapping[str, object]) -> list[str]:
    lines = [f"{key} = {json.dumps(value)}" for key, value in handler.items()]  # TOML quotes as JSON does
    return [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", *lines]
