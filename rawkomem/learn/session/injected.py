"""Remove what rawkomem or the host put into a prompt, so that injected memories are not learned again.

Only the fenced format marks its end. Any other block is removed up to the next line that cannot be part of it, or up
to the end of the text. So some of a person's words may be lost, but no injected text is taken for a person's.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from ...text.chunk import fence_after
from ...text.safe import DIRECTIVE, FENCE, GROUPED_HEADING, HEADING, JSON_KEYS
from ...text.spoken.prompt import without_markup

if TYPE_CHECKING:
    from collections.abc import Callable

OPENING = re.compile(rf"<{FENCE}([0-9a-f]{{4,64}})[ >]")
PLAIN_ITEM = re.compile(r"^.{1,200} \((?:low|medium|high|critical), .{1,200}\.md:\d+(?:, .*)?\)$", re.MULTILINE)
LIST = re.compile(r"\[\s*\{")
DECODER = json.JSONDecoder(strict=False)
MAX_TRIES = 50  # places that are tried as the start of a JSON list
# First line of a block → test for the first line after it. In the first format, items start with `###`, and memories
# have no other unescaped heading. In the second, each item is one line. The third runs to the end of the text.
BLOCKS: dict[str, Callable[[str], bool]] = {
    HEADING: lambda line: line.startswith(("# ", "## ")),
    GROUPED_HEADING: lambda line: bool(line) and line[:2] not in ("- ", "##"),
    DIRECTIVE.partition("\n")[0]: lambda line: False,
}


def without_injected(text: str) -> tuple[str, int]:
    """Return a text without blocks of injected memories, and the number of blocks."""
    blocks = 0
    framed: list[Callable[[str], tuple[str, int]]] = [partial(_cut, opening=opening) for opening in BLOCKS]
    for cut in (_fenced, *framed, _plain, _listed):
        text, found = cut(text)
        blocks += found
    return text, blocks


def without_scaffolding(text: str) -> str:
    """Return a text without the host's markup; the arguments that a person typed after a command stay."""
    bare, _, typed = without_markup(text)
    return f"{bare.strip()}\n{typed}".strip() if typed else bare


def _fenced(text: str) -> tuple[str, int]:
    blocks = 0
    while opening := OPENING.search(text):
        _, _, after = text[opening.end() :].partition(f"</{FENCE}{opening[1]}>")
        text, blocks = text[: opening.start()] + after, blocks + 1
    return text, blocks


def _plain(text: str) -> tuple[str, int]:
    item = PLAIN_ITEM.search(text)
    return (text[: item.start()], 1) if item else (text, 0)


def _cut(text: str, opening: str) -> tuple[str, int]:
    """Return a text without the blocks that start with the line `opening`, and the number of blocks."""
    if opening not in text:
        return text, 0
    kept: list[str] = []
    blocks, inside, fence = 0, False, ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(fence, line)
        first = line.startswith(opening)
        if first and not inside:
            inside, blocks, fence = True, blocks + 1, ""
        elif inside and not before and not first and BLOCKS[opening](line):
            inside = False
        if not inside:
            kept.append(line)
    return "\n".join(kept), blocks


def _listed(text: str) -> tuple[str, int]:
    """Return a text without JSON lists of memories, and the number of lists."""
    blocks = at = 0
    for _ in range(MAX_TRIES):
        opening = LIST.search(text, at)
        if opening is None:
            break
        try:
            items, end = DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at = opening.end()
            continue
        at = end
        if all(isinstance(item, dict) and set(JSON_KEYS) <= set(item) for item in items):
            text, at, blocks = text[: opening.start()] + text[end:], opening.start(), blocks + 1
    return text, blocks
