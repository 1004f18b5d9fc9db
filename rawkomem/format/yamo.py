"""Read and write YAMO blocks (RFC-0011 §3), in the form of the RFC's examples or of its grammar (docs/yamo.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.problem import Problem, error, warning
from ..model.record import record

Pairs = tuple[tuple[str, str], ...]

SECTIONS = ("context", "constraints", "output", "meta")  # each contains pairs
LINES = ("agent", "intent", "priority", "log", "handoff")  # each contains one value
REQUIRED = ("agent", "intent", "context", "output", "log", "handoff")  # as in the RFC's validator
ORDER = ("agent", "intent", "context", "constraints", "priority", "output", "meta", "log", "handoff")
PRIORITIES = ("critical", "high", "medium", "low")
END = "End"
SEMICOLON = re.compile("%3B", re.IGNORECASE)  # a semicolon inside a value, in later versions of the protocol
LINE_ENDS = re.compile(r"\r\n|\r|\n")
NO_NAME = re.compile(r"[^A-Za-z0-9_]")
HEAD = re.compile(r"([a-z]+):(.*)")
FENCE = "```"  # a block may be copied from a Markdown file


@record
class Block:
    """One operation. A constraint without a key is a sentence; `log` is the event, then keys and values."""

    agent: str
    intent: str
    context: Pairs = ()
    constraints: Pairs = ()
    priority: str = ""
    output: Pairs = ()
    meta: Pairs = ()
    log: tuple[str, ...] = ()
    handoff: str = END

    def value(self, section: str, key: str) -> str:
        """Return the first value of a key; empty if there is none."""
        pairs: Pairs = getattr(self, section)
        return next((value for name, value in pairs if name == key), "")


@record
class Reading:
    """The valid blocks of a text, and the Problems of the others."""

    blocks: tuple[Block, ...]
    problems: tuple[Problem, ...]


def name_of(text: str) -> str:
    """Return a name that is valid in blocks: ASCII letters, digits and underscores."""
    return NO_NAME.sub("_", text.strip()) or "_"


def escaped(value: str) -> str:
    """Return a value that fits on a line: without line ends, and with commas instead of semicolons."""
    return SEMICOLON.sub(",", LINE_ENDS.sub(" ", value)).replace(";", ",").strip()


def emit_block(block: Block) -> str:
    """Return the block as text, in the form of the RFC's examples."""
    return "".join(text for part in ORDER for text in _part(block, part))


def _part(block: Block, part: str) -> Iterator[str]:
    if part in SECTIONS:
        pairs: Pairs = getattr(block, part)
        if pairs:
            yield f"{part}:\n"
        yield from (_pair(part, key, value) for key, value in pairs)
    elif part in ("agent", "intent"):
        yield f"{part}: {name_of(getattr(block, part))};\n"
    elif part == "log":
        yield f"log: {';'.join(escaped(word) for word in block.log)};\n"
    elif getattr(block, part):
        yield f"{part}: {escaped(getattr(block, part))};\n"


def _pair(section: str, key: str, value: str) -> str:
    if section == "constraints" and not key:
        return f"  - {escaped(value)};\n"
    return f"  {name_of(key)};{escaped(value)};\n"


def read_block(text: str) -> tuple[Block | None, tuple[Problem, ...]]:
    """Return the only block of a text and its Problems; None as the block if the text has none or several."""
    reading = read_blocks(text)
    if len(reading.blocks) == 1 or reading.problems:
        return (reading.blocks[0] if len(reading.blocks) == 1 else None), reading.problems
    message = f"{'several blocks' if reading.blocks else 'no block'} where one is expected"
    return None, (error("not-one-block", message, "a block runs from 'agent: …;' to 'handoff: …;'"),)


def read_blocks(text: str) -> Reading:
    """Return all blocks of a text, in either form. Skip and report invalid blocks; never raise."""
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith(FENCE):
            reader.take(number, line)
    reader.finish()
    return Reading(tuple(reader.blocks), tuple(reader.problems))


class _Reader:
    """Reads the lines of a text one by one."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.problems: list[Problem] = []
        self._begin(0)

    def _begin(self, line: int) -> None:
        self.line = line  # number of the block's first line; 0 if no block has begun
        self.section = ""
        self.values: dict[str, str] = {}
        self.pairs: dict[str, list[tuple[str, str]]] = {}
        self.wrong = False

    def take(self, number: int, line: str) -> None:
        head = HEAD.fullmatch(line.strip()) if not line[0].isspace() else None
        if head and head[1] in ORDER:
            self._head(number, head[1], head[2].strip())
        elif self.section and line[0].isspace():
            self._pair(number, line.strip())
        else:
            hint = "indent pairs, and keep a value on one line"
            self._error(number, "not-block-line", f"not a line of a block: {_shown(line)}", hint)

    def finish(self) -> None:
        """End the current block, and add it to `blocks` if it is valid."""
        if not self.line:
            return
        for part in REQUIRED:
            if part not in self.values and part not in self.pairs:
                self._error(self.line, "missing-section", f"Missing required section: {part}:", "add it")
        if not self.wrong:
            sections = {part: tuple(pairs) for part, pairs in self.pairs.items()}
            values = {part: _decoded(value) for part, value in self.values.items() if part != "log"}
            said = self.values["log"]
            log = tuple(_decoded(word.strip()) for word in said.split(";")) if said else ()
            self.blocks.append(Block(**values, **sections, log=log))  # type: ignore[arg-type]
        self._begin(0)

    def _head(self, number: int, part: str, rest: str) -> None:
        if part == "agent":
            self.finish()
            self._begin(number)
        self.section = part if part in SECTIONS else ""
        if self.section:
            self.pairs.setdefault(part, [])
        if not self.line:
            self._error(number, "no-agent", f"'{part}:' before any 'agent:'", "a block begins with 'agent: …;'")
        elif part in LINES:
            self._value(number, part, rest)
        elif rest and part == "meta":
            self._pair(number, rest)
        elif rest:
            hint = "put its pairs on lines of their own, indented"
            self._error(number, "text-after-section", f"'{part}:' has text after it", hint)

    def _value(self, number: int, part: str, rest: str) -> None:
        value = self._ended(number, rest)
        if part in self.values:
            self._error(number, "repeated-section", f"a second '{part}:'", "start each block with 'agent: …;'")
        elif part == "priority" and value not in PRIORITIES:
            hint = "use one of " + ", ".join(PRIORITIES)
            self._error(number, "unknown-priority", f"unknown priority {_shown(value)}", hint)
        elif not value and part != "log":
            self._error(number, "no-value", f"'{part}:' without a value", "give it one")
        elif part in ("agent", "intent") and NO_NAME.search(value):
            message = f"{part} {_shown(value)} is not a name"
            self.problems.append(warning("bad-name", message, "letters, digits, underscores", number))
            value = name_of(value)
        self.values[part] = value

    def _pair(self, number: int, line: str) -> None:
        inside = self._ended(number, line)
        if self.section == "constraints" and inside.startswith("-"):
            self.pairs[self.section].append(("", _decoded(inside[1:].strip())))
            return
        key, separator, value = inside.partition(";")
        if not separator or not key.strip():
            self._error(number, "not-pair", f"not a pair: {_shown(line)}", "write key;value;")
        if ";" in value:
            message = f"{key.strip()} has a semicolon in its value"
            self.problems.append(warning("semicolon", message, "write a comma", number))
        self.pairs[self.section].append((name_of(key), _decoded(value.strip())))

    def _ended(self, number: int, text: str) -> str:
        if not text.endswith(";"):
            hint = "end it with a semicolon; write a line end inside a value as a space"
            self._error(number, "no-semicolon", f"Line not semicolon-terminated: {_shown(text)}", hint)
        return text.removesuffix(";").strip()

    def _error(self, number: int, code: str, message: str, hint: str) -> None:
        self.wrong = True
        self.problems.append(error(code, message, hint, number))


def _decoded(value: str) -> str:
    return SEMICOLON.sub(";", value)


def _shown(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 80 else text[:79] + "…"
