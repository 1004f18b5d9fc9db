"""Read older experience logs without frontmatter: YAML blocks, `- **key**: value` bullets, `## [timestamp]` prose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.problem import Problem, warning
from .field import Field, Unreadable
from .frontmatter import read_frontmatter
from .llmos_keys import KEYS
from .split import Block

MARK = "experience_id"
FENCE = re.compile(r"```(?:ya?ml)?[ \t]*")
RULE = re.compile(r"---[ \t]*")
BULLET = re.compile(r"[-*][ \t]+\*\*([A-Za-z][\w ]*?):?\*\*[ \t]*:?[ \t]*(.*)")
STAMPED = re.compile(r"(#{1,4})[ \t]+\[([^\]\n]{8,40})\][ \t]*[-–—:]?[ \t]*(.*)")
HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
LISTS = ("components_used", "tools_used")
MAX_TITLE_LENGTH = 120  # characters of a first line that becomes the goal


class _Record:
    """An experience while its lines are collected."""

    def __init__(self, line: int, level: int = 0):
        self.line = line
        self.level = level  # of the heading that started it; 0 if none did
        self.fields: dict[str, Field] = {}
        self.body: list[str] = []

    def put(self, key: str, value: str, line: int) -> None:
        listed = [part.strip() for part in value.strip("[]").split(",") if part.strip()]
        self.fields[key] = Field(list(listed) if key in LISTS else value, line)

    def block(self, last: int) -> Block:
        body = "\n".join(self.body).strip()
        fields = dict(self.fields)
        goal = KEYS["experience"]["title"]
        if goal not in fields:
            first = next((line.strip(" #-*") for line in self.body if line.strip(" #-*")), "")
            fields[goal] = Field(first[:MAX_TITLE_LENGTH], self.line)
        kind = {} if MARK in fields else {"kind": Field("experience", self.line)}
        return Block({**kind, **fields}, body, self.line, self.line, last)


def read_log(text: str) -> tuple[list[Block], list[Problem]]:
    """Return the experiences of a log, in order, and a warning; nothing if the text is not a log."""
    goal = KEYS["experience"]["title"]
    blocks = [block for block in _blocks(text) if block.fields and str(block.fields[goal].value).strip()]
    odd = warning("old-log", "an older log format: read, but not written to", "new entries go to a file next to it")
    return (blocks, [odd]) if blocks else ([], [])


def _blocks(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    current: _Record | None = None
    number = 0
    while number < len(lines):
        line = lines[number]
        end, fields = _yaml(lines, number)
        bullet, stamped, heading = BULLET.fullmatch(line.strip()), STAMPED.fullmatch(line), HEADING.fullmatch(line)
        opened: _Record | None = None
        if fields:
            opened = _Record(number + 1)
            opened.fields = fields
        elif stamped:
            opened = _Record(number + 1, len(stamped[1]))
            opened.put(KEYS["experience"]["discoveredAt"], stamped[2], number + 1)
            if stamped[3]:
                opened.put(KEYS["experience"]["title"], stamped[3], number + 1)
        elif bullet and _starts(current, _key(bullet[1])):
            opened = _Record(number + 1)
        elif heading and current and len(heading[1]) <= (current.level or len(heading[1])):
            yield current.block(number)
            current = None
        if opened:
            if current:
                yield current.block(number)
            current = opened
        if current and bullet:
            current.put(_key(bullet[1]), bullet[2].strip(), number + 1)
        elif current and not opened and not RULE.fullmatch(line):
            current.body.append(line)
        number = end + 1 if fields else number + 1
    if current:
        yield current.block(len(lines))


def _key(name: str) -> str:
    return "_".join(name.lower().split())


def _starts(current: _Record | None, key: str) -> bool:
    """Tell whether a bullet starts another experience: with its id or, in a log without ids, with its goal."""
    if key == MARK:
        return current is None or bool(current.fields.keys() - {KEYS["experience"]["discoveredAt"]})
    return key == KEYS["experience"]["title"] and (current is None or (not current.level and key in current.fields))


def _yaml(lines: list[str], start: int) -> tuple[int, dict[str, Field]]:
    """Return the last line and the mapping that a `---` line or a fence opens; empty if it is not an experience."""
    fenced = FENCE.fullmatch(lines[start])
    closing = re.compile(r"```[ \t]*") if fenced else RULE
    if not fenced and not RULE.fullmatch(lines[start]):
        return start, {}
    end = next((n for n in range(start + 1, len(lines)) if closing.fullmatch(lines[n])), 0)
    inside = lines[start + 1 : end]
    if fenced and inside and RULE.fullmatch(inside[0]):
        return start, {}  # a block with its own --- lines inside a fence: read when its --- line comes
    if not any(line.startswith(MARK) for line in inside):
        return start, {}
    try:
        fields, _ = read_frontmatter("\n".join(inside), start + 2)
    except Unreadable:
        return start, {}
    return end, dict(fields)
