"""Split a file into blocks: one frontmatter and its body each.

A new entry starts at a `---` line that is outside code fences and HTML comments and opens a YAML mapping. The mapping
has one of the ENTRY_KEYS and ends with another `---` line or YAML's `...`. Any other `---` is a rule or a separator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from ..model.problem import Problem, error, warning
from ..model.record import record
from .field import Field, Unreadable
from .frontmatter import MAX_BYTES, read_frontmatter
from .llmos_keys import MARKS

# The only lines that can change the state: delimiters, code fences, HTML comment starts.
STATE_LINES = re.compile(r"^(?:(---)[ \t]*$| {0,3}(`{3,}|~{3,})([^\n]*)$| {0,3}(<!--))", re.MULTILINE)
DELIMITER = re.compile(r"^---[ \t]*$", re.MULTILINE)
CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)  # `...` ends a document in YAML and for pandoc
ENTRY_KEYS = ("title", "kind", *MARKS)
KEY = "|".join(ENTRY_KEYS)
LOOKS_LIKE_ENTRY = re.compile(rf"^(?:{KEY})[ \t]*:|\A\s*\{{[^\n]*\"(?:{KEY})\"", re.MULTILINE)
TRAILING_SEPARATOR = re.compile(r"(?:\A|\n)[ \t]*\n?---[ \t]*\n*\Z")
RULE = error("rule", "a rule, not an entry")  # `_open` returns this for any other `---`
SEPARATOR = "\n---\n\n"  # SPEC-0009: a rule separates entries
NO_ID = "~"
MAX_ENTRIES = 5_000  # ten times as many as our writer puts into a file; limits the work on hostile files


@record
class Block:
    """A frontmatter (None if it is missing or unreadable) and a body, with their first lines."""

    fields: Mapping[str, Field] | None
    body: str
    line: int
    body_line: int
    last_line: int
    problems: tuple[Problem, ...] = ()


def split(text: str) -> list[Block]:
    r"""Return the blocks of a text with \n line ends.

    A text that does not start with frontmatter is one block without fields.
    """
    start = len(text) - len(text.lstrip(" \t\n"))
    opening = DELIMITER.match(text, text.rfind("\n", 0, start) + 1)
    if not opening:
        return [_draft(text, _missing_frontmatter(text))] if text.strip() else []
    odd = warning("blank-lines", "blank lines before the frontmatter", "start the file with ---")
    blank = [] if start == 0 else [odd]
    lines = _Lines(text)
    first = _open(text, lines, opening, blank, first=True)
    if isinstance(first, Problem):
        return [_draft(text, first)]
    return _split_rest(text, lines, first)


def append_holds(text: str, entry: str) -> bool:
    """Tell whether split(text + entry) == split(text) + split(entry), by splitting the last block only."""
    tail = _last_block(text)
    return tail is not None and _said(split(join(tail, entry))) == _said(split(tail)) + _said(split(entry))


def _last_block(text: str) -> str | None:
    """Return the text of the last block; None if the file already has MAX_ENTRIES blocks."""
    lines = _Lines(text)
    opening = DELIMITER.match(text)
    following = _open(text, lines, opening, [], first=True) if opening else None
    start = count = 0
    while isinstance(following, _Opened):
        start, count = following.start, count + 1
        _, following = _body_end(text, lines, following.body)
    return text[start:] if count < MAX_ENTRIES else None


def _said(blocks: list[Block]) -> list[tuple[object, str]]:
    return [(block.fields and {k: f.value for k, f in block.fields.items()}, block.body) for block in blocks]


def digest_of(block: Block) -> str:
    """Return a digest of a block's fields and body, independent of line ends; it starts with ~ if there is no id."""
    ((fields, body),) = _said([block])
    own = block.fields.get("id") if block.fields else None
    return ("" if own and str(own.value).strip() else NO_ID) + _hash(repr((fields, body)))


def digest_at(digest: str, path: str) -> str:
    """Return the digest of a block in a file. Without an id in the block, the path is part of its digest."""
    return _hash(f"{digest} {path}") if digest.startswith(NO_ID) and path else digest


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def join(text: str, entry: str) -> str:
    """Return the text with an entry appended after a separator; the text itself does not change."""
    if not text.strip():
        return text + entry
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith(("\n", "\r")) else newline
    return text + gap + (SEPARATOR + entry).replace("\n", newline)


class _Lines:
    """A counter of line numbers that continues from the last position, so that a file is counted only once."""

    def __init__(self, text: str):
        self.text, self.position, self.line = text, 0, 1

    def at(self, position: int) -> int:
        if position < self.position:
            self.line -= self.text.count("\n", position, self.position)
        else:
            self.line += self.text.count("\n", self.position, position)
        self.position = position
        return self.line


class _Opened:
    """A frontmatter that was found: its fields and the position of its body."""

    def __init__(self, fields: Mapping[str, Field] | None, start: int, body: int, line: int, problems: list[Problem]):
        self.fields, self.start, self.body, self.line, self.problems = fields, start, body, line, problems


def _open(text: str, lines: _Lines, opening: re.Match[str], problems: list[Problem], first: bool) -> _Opened | Problem:
    """Read the frontmatter that a `---` line opens. For later blocks, a Problem means that this is not an entry."""
    begin = min(opening.end() + 1, len(text))
    closing = CLOSING.search(text, begin, begin + 4 * MAX_BYTES)
    if not closing:
        line = lines.at(opening.start())
        return error("open-frontmatter", "frontmatter is never closed", "close it with a --- line", line)
    inside = text[begin : closing.start()]
    if not first and not LOOKS_LIKE_ENTRY.search(inside):
        return RULE
    line = lines.at(opening.start())
    body = _body_start(text, closing)
    try:
        fields, odd = read_frontmatter(inside, line + 1)
    except Unreadable as failure:
        return _Opened(None, opening.start(), body, line, [*problems, failure.problem])
    if not first and not any(key in fields for key in ENTRY_KEYS):
        return RULE
    return _Opened(fields, opening.start(), body, line, [*problems, *odd, *_second_document(text, lines, body)])


def _body_start(text: str, closing: re.Match[str]) -> int:
    """Return the position of the body: after `...`, and after a `---` line below it unless that opens an entry."""
    start = min(closing.end() + 1, len(text))
    rule = DELIMITER.match(text, start) if text.startswith("...", closing.start()) else None
    if rule is None:
        return start
    inside = min(rule.end() + 1, len(text))
    end = CLOSING.search(text, inside, inside + 4 * MAX_BYTES)
    return start if end and LOOKS_LIKE_ENTRY.search(text[inside : end.start()]) else inside


def _second_document(text: str, lines: _Lines, body: int) -> list[Problem]:
    """Return an error if a second closed mapping directly follows a frontmatter."""
    if not LOOKS_LIKE_ENTRY.match(text, body):
        return []
    closing = CLOSING.search(text, body, body + MAX_BYTES)
    if not closing:
        return []
    try:
        read_frontmatter(text[body : closing.start()])
    except Unreadable:
        return []
    hint = "keep one, or separate the entries"
    return [error("second-document", "a second YAML document right below the frontmatter", hint, lines.at(body))]


def _split_rest(text: str, lines: _Lines, opened: _Opened) -> list[Block]:
    blocks: list[Block] = []
    while True:
        end, following = _body_end(text, lines, opened.body)
        blocks.append(_block(text, lines, opened, end, last=following is None))
        if following is None:
            return blocks
        if len(blocks) == MAX_ENTRIES:
            message = f"more than {MAX_ENTRIES:,} entries: the rest is not read"
            excess = error("too-many-entries", message, "split the file", following.line)
            return [*blocks, Block(None, "", following.line, following.line, following.line, (excess,))]
        opened = following


def _body_end(text: str, lines: _Lines, position: int) -> tuple[int, _Opened | None]:
    """Return the end of the body that starts at `position`, and the entry that follows it, if any."""
    fence = ""
    while match := STATE_LINES.search(text, position):
        position = match.end()
        delimiter, marks, info, comment = match.groups()
        if fence:
            if marks and marks[0] == fence[0] and len(marks) >= len(fence) and not info.strip():
                fence = ""
        elif delimiter:
            found = _open(text, lines, match, [], first=False)
            if isinstance(found, _Opened):
                return match.start(), found
        elif marks:
            fence = "" if marks[0] == "`" and "`" in info else marks
        elif comment:
            close = text.find("-->", match.end())
            if close < 0:
                return len(text), None
            position = close + 3
    return len(text), None


def _block(text: str, lines: _Lines, opened: _Opened, end: int, last: bool) -> Block:
    body = text[opened.body : end]
    if not last:
        body = TRAILING_SEPARATOR.sub("", body)
    lead = len(body) - len(body.lstrip("\n"))
    first_line = lines.at(opened.body)
    last_line = lines.at(end) - (1 if end and text[end - 1] == "\n" else 0)
    said = body.strip("\n").rstrip()
    return Block(opened.fields, said, opened.line, first_line + lead, last_line, tuple(opened.problems))


def _draft(text: str, problem: Problem) -> Block:
    return Block(None, text.strip(), 1, 1, text.count("\n") + 1, (problem,))


def _missing_frontmatter(text: str) -> Problem:
    if text.lstrip().startswith("+++"):
        return error("toml-frontmatter", "TOML frontmatter is not supported", "use YAML between --- lines")
    if DELIMITER.search(text):
        return error("text-before-frontmatter", "text before the frontmatter", "start the file with ---")
    return error("no-frontmatter", "no frontmatter", "start the file with --- and a title")
