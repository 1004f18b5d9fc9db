"""Reads plain chat logs: Markdown or text in which lines name who speaks. Without such lines it is one turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...text.chunk import fence_after
from .hosts import CHAT, READERS
from .turns import ASSISTANT, NOBODY, SYSTEM, TOOL, USER, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NAMES = {
    **dict.fromkeys(("user", "human", "you", "prompt"), USER),
    **dict.fromkeys(("assistant", "ai", "agent", "claude", "chatgpt", "gpt", "model", "bot", "response"), ASSISTANT),
    **dict.fromkeys((name for name in READERS if name != CHAT), ASSISTANT),
    **dict.fromkeys(("tool", "tool result", "tool call", "tool output", "function"), TOOL),
    **dict.fromkeys(("system",), SYSTEM),
}
TIME = re.compile(r"\s*\([^)]{0,40}\)")  # behind a name
MAX_NAME_CHARS = 30  # with its marks; longer is a sentence with a colon in it
MAX_TURN_CHARS = 1_000_000  # what is beyond is dropped


def turns_in(lines: Iterable[str]) -> Iterator[Turn]:
    """Yield the turns of a log, read line by line."""
    role, said, length, fence = NOBODY, list[str](), 0, ""
    for line in lines:
        before, fence = fence, fence_after(fence, line)
        speaker = None if before or fence else _speaker(line)
        if speaker:
            if said:
                yield Turn(role, "\n".join(said).strip("\n"))
            role, said, length, line = speaker[0], [], 0, speaker[1]
        if length < MAX_TURN_CHARS:
            said.append(line)
            length += len(line) + 1
    if said:
        yield Turn(role, "\n".join(said).strip("\n"))


def _speaker(line: str) -> tuple[str, str] | None:
    """Return who speaks from this line on, and the rest of it: `## User`, `**User:** …`, `User (10:31): …`."""
    if line[:1] in (" ", "\t", ">", "-", "|"):
        return None
    heading = line.startswith("#")
    name, colon, rest = TIME.sub("", line.lstrip("# "), count=1).partition(":")
    role = NAMES.get(name.strip(" *_[]").lower(), "") if len(name) <= MAX_NAME_CHARS else ""
    return (role, rest.lstrip(" *_")) if role and (colon or heading) else None
