"""YAMO blocks (RFC-0011 §2.3 and §3): read and write them, build the block of each operation, and hash
and verify a chain of blocks (docs/yamo.md).

By the RFC, a block's hash is that of its text, and each block names the previous hash. The package
@yamo/memory-mesh leaves both fields empty until its `anchor` function fills them by another rule:
the hash of the text and the previous hash together. Blocks of both rules are verified. Fixed
sentences are the RFC's, because other tools compare them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from typing import Any

from ..model.values import ERROR, Problem, error, iso, record, replace, warning

Pairs = tuple[tuple[str, str], ...]

YAMO_SECTIONS = ("context", "constraints", "output", "meta")  # each contains pairs
# each contains one value
YAMO_LINES = ("agent", "intent", "priority", "log", "handoff")
# As in the RFC's validator.
REQUIRED_PARTS = ("agent", "intent", "context", "output", "log", "handoff")
# The RFC's grammar makes these optional, its validator does not: a block without them is read, with a warning.
OPTIONAL_PARTS = ("context", "output")
PRIORITIES = ("critical", "high", "medium", "low")
END_HANDOFF = "End"
# a semicolon inside a value, in later versions of the protocol
SEMICOLON = re.compile("%3B", re.IGNORECASE)
LINE_ENDS = re.compile(r"\r\n|\r|\n")
NO_NAME = re.compile(r"[^A-Za-z0-9_]")
HEAD = re.compile(r"([a-z]+):(.*)")
FENCE = "```"  # a block may be copied from a Markdown file


@record
class YamoBlock:
    """One operation. A constraint without a key is a sentence; `log` is the event, then keys and values."""

    agent: str
    intent: str
    context: Pairs = ()
    constraints: Pairs = ()
    priority: str = ""
    output: Pairs = ()
    meta: Pairs = ()
    log: tuple[str, ...] = ()
    handoff: str = END_HANDOFF

    def value(self, section: str, key: str) -> str:
        """Return the first value of a key; empty if there is none."""
        pairs: Pairs = getattr(self, section)
        return next((value for name, value in pairs if name == key), "")


YAMO_PARTS = tuple(YamoBlock.__annotations__)


def yamo_name(text: str) -> str:
    """Return a name that is valid in blocks: ASCII letters, digits and underscores."""
    return NO_NAME.sub("_", text.strip()) or "_"


def yamo_value(value: str) -> str:
    """Return a value that fits on a line: without line ends, and with commas instead of semicolons."""
    return SEMICOLON.sub(",", LINE_ENDS.sub(" ", value)).replace(";", ",").strip()


def emit_yamo(block: YamoBlock) -> str:
    """Return the block as text, in the form of the RFC's examples."""
    return "".join(_emit_part(block, part) for part in YAMO_PARTS)


def _emit_part(block: YamoBlock, part: str) -> str:
    value = getattr(block, part)
    if part == "log":
        return f"log: {';'.join(map(yamo_value, value))};\n"
    if part in ("agent", "intent"):
        return f"{part}: {yamo_name(value)};\n"
    if not value:
        return ""
    if part in YAMO_LINES:
        return f"{part}: {yamo_value(value)};\n"
    lines = [f"{part}:\n"]
    for key, text in value:
        sentence = part == "constraints" and not key
        lines.append(
            f"  {'- ' if sentence else yamo_name(key) + ';'}{yamo_value(text)};\n"
        )
    return "".join(lines)


def read_yamo_block(text: str) -> tuple[YamoBlock | None, tuple[Problem, ...]]:
    """Return the only block of a text and its Problems; None as the block if the text has none or several."""
    blocks, problems = read_yamo_blocks(text)
    if len(blocks) == 1:
        return blocks[0], problems
    if not problems:
        message = f"{'several blocks' if blocks else 'no block'} where one is expected"
        hint = "a block runs from 'agent: …;' to 'handoff: …;'"
        problems = (error("not-one-block", message, hint),)
    return None, problems


def read_yamo_blocks(
    text: str,
) -> tuple[tuple[YamoBlock, ...], tuple[Problem, ...]]:
    """Return the valid blocks of a text, in either form, and the Problems of the others; never raise."""
    readers: list[_BlockReader] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith(FENCE):
            head = HEAD.fullmatch(line.rstrip())
            if not readers or (head and head[1] == "agent"):
                readers.append(_BlockReader(number))
            readers[-1].take(number, line, head)
    blocks = [reader.block() for reader in readers]
    problems = tuple(problem for reader in readers for problem in reader.problems)
    return tuple(filter(None, blocks)), problems


class _BlockReader:
    """Reads the lines of one block."""

    def __init__(self, line: int) -> None:
        self.line = line  # number of its first line
        self.problems: list[Problem] = []
        self.section = ""
        self.values: dict[str, str] = {}
        self.pairs: dict[str, list[tuple[str, str]]] = {}

    def take(self, number: int, line: str, head: re.Match[str] | None) -> None:
        part, rest = (head[1], head[2].strip()) if head else ("", "")
        if self.section and line[0].isspace():
            self._pair(number, line.strip())
        elif (
            part in YAMO_LINES
            and part not in self.values
            and "agent" in (part, *self.values)
        ):
            self.section = ""
            self._value(number, part, rest)
        elif (
            part in YAMO_SECTIONS
            and "agent" in self.values
            and (not rest or part == "meta")
        ):
            self.section = part
            self.pairs.setdefault(part, [])
            if rest:
                self._pair(number, rest)
        else:
            hint = "begin with 'agent: …;', name each part once, indent pairs, keep a value on one line"
            self._error(
                number, "not-block-line", f"not a line of a block: {_shown(line)}", hint
            )

    def block(self) -> YamoBlock | None:
        """Return the block; None if it is not valid."""
        for part in REQUIRED_PARTS:
            if part not in self.values and part not in self.pairs:
                what = warning if part in OPTIONAL_PARTS else error
                message = f"Missing required section: {part}:"
                found = what("missing-section", message, "add it", self.line)
                self.problems.append(found)
        if any(problem.level == ERROR for problem in self.problems):
            return None
        text = self.values.pop("log")
        log = tuple(_decoded(word.strip()) for word in text.split(";")) if text else ()
        values: dict[str, Any] = {
            part: _decoded(value) for part, value in self.values.items()
        }
        values |= {part: tuple(pairs) for part, pairs in self.pairs.items()}
        return YamoBlock(**values, log=log)

    def _value(self, number: int, part: str, rest: str) -> None:
        value = self._ended(number, rest)
        if part == "priority" and value not in PRIORITIES:
            hint = "use one of " + ", ".join(PRIORITIES)
            self._error(
                number, "unknown-priority", f"unknown priority {_shown(value)}", hint
            )
        elif part in ("agent", "intent") and NO_NAME.search(value):
            message = f"{part} {_shown(value)} is not a name"
            hint = "letters, digits, underscores"
            self.problems.append(warning("bad-name", message, hint, number))
            value = yamo_name(value)
        if value or part == "log":
            self.values[part] = value

    def _pair(self, number: int, line: str) -> None:
        inside = self._ended(number, line)
        if self.section == "constraints" and inside.startswith("-"):
            self.pairs[self.section].append(("", _decoded(inside[1:].strip())))
            return
        key, separator, value = inside.partition(";")
        if not separator or not key.strip():
            self._error(
                number, "not-pair", f"not a pair: {_shown(line)}", "write key;value;"
            )
        if ";" in value:
            message = f"{key.strip()} has a semicolon in its value"
            self.problems.append(warning("semicolon", message, "write a comma", number))
        self.pairs[self.section].append((yamo_name(key), _decoded(value.strip())))

    def _ended(self, number: int, text: str) -> str:
        if not text.endswith(";"):
            hint = "end it with a semicolon; write a line end inside a value as a space"
            message = f"Line not semicolon-terminated: {_shown(text)}"
            self._error(number, "no-semicolon", message, hint)
        return text.removesuffix(";").strip()

    def _error(self, number: int, code: str, message: str, hint: str) -> None:
        self.problems.append(error(code, message, hint, number))


def _decoded(value: str) -> str:
    return SEMICOLON.sub(";", value)


def _shown(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 80 else text[:79] + "…"


UNNAMED_AGENT = "YAMO_AGENT"  # the RFC's name for an unnamed agent
AGENT_PREFIX = "MemoryMesh_"
PREVIEW_LENGTH = 60  # characters
YAMO_OPERATIONS = ("retain", "recall", "reflect", "synthesize", "lesson", "delete")
DEFAULT_VALUES = {
    "hypothesis": "New information should be integrated into world model",
    "filter": "none",
    "reason": "Memory no longer wanted",
}


@cache
def _templates() -> dict[str, YamoBlock]:
    """Return operation → its block, with names of values in braces; the agent of a template is the operation."""
    file = os.path.join(os.path.dirname(__file__), "yamo_blocks.txt")
    with open(file, encoding="utf-8") as stream:
        blocks, _ = read_yamo_blocks(stream.read())
    return {block.agent: block for block in blocks}


def build_block(operation: str, agent: str, at: int, **values: object) -> YamoBlock:
    """Return the block of an operation; raise KeyError if the operation is unknown or lacks a value."""
    template = _templates()[operation]
    words = {**values, "timestamp": iso(at)}
    words |= {key: values.get(key) or value for key, value in DEFAULT_VALUES.items()}
    words["preview"] = " ".join(str(values.get("preview", "")).split())[
        :PREVIEW_LENGTH
    ].strip()
    sections = {
        name: tuple(
            (key, text.format_map(words)) for key, text in getattr(template, name)
        )
        for name in YAMO_SECTIONS
    }
    log = tuple(word.format_map(words) for word in template.log)
    return replace(
        template, agent=AGENT_PREFIX + (agent or UNNAMED_AGENT), **sections, log=log
    )


def text_hash(text: str) -> str:
    """Return the hash of a block by the RFC's rule."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def chain_hashes(
    texts: Iterable[str], before: str | None = None
) -> list[tuple[str, str | None]]:
    """Return (block_hash, prev_hash) of blocks in order; `before` is the text of the block before them."""
    previous = None if before is None else text_hash(before)
    hashes: list[tuple[str, str | None]] = []
    for text in texts:
        hashes.append((text_hash(text), previous))
        previous = hashes[-1][0]
    return hashes
