"""Read chat logs in Markdown or plain text, in which lines name the speaker. A text without such lines is one turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...text.chunk import fence_after
from .hosts import CHAT, READERS, time_of
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
TIME = re.compile(r"\s*[(\[]([^()\[\]]{0,80})[)\]]")  # in brackets, next to a speaker's name
CLOCK = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d")
EMPHASIS = ("**", "_**", "*__", "__")
MAX_SPEAKER_CHARS = 200  # of a line that are searched for a speaker
MAX_NAME_CHARS = 30  # of a speaker's name with its markup; longer text is a sentence with a colon in it
MAX_TURN_CHARS = 1_000_000  # the rest of a longer turn is dropped


def turns_in(lines: Iterable[str]) -> Iterator[Turn]:
    """Yield the turns of a log, read line by line."""
    role, at, said, length, fence = NOBODY, 0, list[str](), 0, ""
    for line in lines:
        before, fence = fence, fence_after(fence, line)
        speaker = None if before or fence else _speaker(line)
        if speaker:
            if said:
                yield Turn(role, "\n".join(said).strip("\n"), at)
            (role, at, line), said, length = speaker, [], 0
        if length < MAX_TURN_CHARS:
            said.append(line)
            length += len(line) + 1
    if said:
        yield Turn(role, "\n".join(said).strip("\n"), at)


def _speaker(line: str) -> tuple[str, int, str] | None:
    """Return (role, time, rest of the line) if a line names a speaker; else None. These forms are recognized:

    `## User`, `**User:** …`, `User (10:31): …`, `**User** (2026-01-23 14:20)`, `**[10:31] Claude:** …`
    """
    if line[:1] in (" ", "\t", ">", "-", "|", ""):
        return None
    start = line[:MAX_SPEAKER_CHARS]
    beside = TIME.search(start, 0, MAX_NAME_CHARS * 2)
    clock = CLOCK.search(beside[1]) if beside else None
    bare = line[: beside.start()] + line[beside.end() :] if beside else line
    name, colon, rest = bare.lstrip("# ").partition(":")
    role = NAMES.get(name.strip(" *_[]").lower(), "") if len(name) <= MAX_NAME_CHARS else ""
    is_named = colon or line.startswith("#") or (clock and line.startswith(EMPHASIS))
    return (role, time_of(clock[0]) if clock else 0, rest.lstrip(" *_")) if role and is_named else None
