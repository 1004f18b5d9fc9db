"""Split a file into blocks, one frontmatter and its body each, and join texts of entries to a file.

A new entry starts at a `---` line that is outside code fences and HTML comments and opens a YAML
mapping. The mapping has one of the ENTRY_KEYS and ends with another `---` line or YAML's `...`. Any
other `---` is a rule or a separator.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ..model.entries import Field, Unreadable, Value
from ..model.ids import hex_hash
from ..model.values import Problem, error, items_of, record, warning
from ..text.chunks import heading_lines
from ..text.prose import prose_lines, without_code
from .frontmatter import (
    LLMOS_MARKS,
    MAX_FRONTMATTER_BYTES,
    emit_fields,
    read_frontmatter,
)

# The only lines that can change the state: delimiters, code fences, HTML comment starts.
STATE_LINES = re.compile(
    r"^(?:(---)[ \t]*$| {0,3}(`{3,}|~{3,})([^\n]*)$| {0,3}(<!--))", re.MULTILINE
)
LINE_BREAK = re.compile("\n")
DELIMITER = re.compile(r"^---[ \t]*$", re.MULTILINE)
# `...` ends a document in YAML and for pandoc
CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
ENTRY_KEYS = ("title", "kind", *LLMOS_MARKS)
ENTRY_KEY = "|".join(ENTRY_KEYS)
LOOKS_LIKE_ENTRY = re.compile(
    rf"^(?:{ENTRY_KEY})[ \t]*:|\A\s*\{{[^\n]*\"(?:{ENTRY_KEY})\"", re.MULTILINE
)
TRAILING_SEPARATOR = re.compile(r"(?:\A|\n)[ \t]*\n?---[ \t]*\n*\Z")
# `_open` returns this for any other `---`
NOT_AN_ENTRY = error("rule", "a rule, not an entry")
SEPARATOR = "\n---\n\n"  # SPEC-0009: a rule separates entries
NO_ID = "~"
DIGEST_DIGITS = 32
# ten times as many as our writer puts into a file; limits the work on hostile files
MAX_ENTRIES = 5_000


@record
class Block:
    """A frontmatter (None if it is missing or unreadable) and a body, with their first lines."""

    fields: Mapping[str, Field] | None
    body: str
    line: int
    body_line: int
    problems: tuple[Problem, ...] = ()


def split_blocks(text: str) -> list[Block]:
    r"""Return the blocks of a text with \n line ends.

    A text that does not start with frontmatter is one block without fields.
    """
    start = len(text) - len(text.lstrip(" \t\n"))
    opening = DELIMITER.match(text, text.rfind("\n", 0, start) + 1)
    if not opening:
        return [_draft_block(text, _missing_frontmatter(text))] if text.strip() else []
    odd = warning(
        "blank-lines", "blank lines before the frontmatter", "start the file with ---"
    )
    blank = [] if start == 0 else [odd]
    lines = _Lines(text)
    opened = _open_block(text, lines, opening, blank, first=True)
    if isinstance(opened, Problem):
        return [_draft_block(text, opened)]
    blocks: list[Block] = []
    while True:
        end, following = _body_end(text, lines, opened.body)
        body = text[opened.body : end]
        if following is not None:
            body = TRAILING_SEPARATOR.sub("", body)
        lead = len(body) - len(body.lstrip("\n"))
        line = lines.at(opened.body) + lead
        content = body.strip("\n").rstrip()
        blocks.append(
            Block(opened.fields, content, opened.line, line, tuple(opened.problems))
        )
        if following is None:
            return blocks
        if len(blocks) == MAX_ENTRIES:
            message = f"more than {MAX_ENTRIES:,} entries: the rest is not read"
            excess = error(
                "too-many-entries", message, "split the file", following.line
            )
            return [*blocks, Block(None, "", following.line, following.line, (excess,))]
        opened = following


def append_holds(text: str, entry: str) -> bool:
    """Return whether an appended entry is read as one: split(text + entry) == split(text) + split(entry)."""
    apart = _contents(split_blocks(text)) + _contents(split_blocks(entry))
    return _contents(split_blocks(join_entry(text, entry))) == apart


def _contents(blocks: list[Block]) -> list[tuple[object, str]]:
    return [
        (block.fields and {k: f.value for k, f in block.fields.items()}, block.body)
        for block in blocks
    ]


def digest_of(block: Block, id: str = "") -> str:
    """Return a digest of a block's fields and body, independent of line ends.

    A block without an id gets the digest that it would have with `id`; without both, the digest starts with ~.
    """
    fields = {key: field.value for key, field in (block.fields or {}).items()}
    id = str(fields.pop("id", "")).strip() or id
    content = repr(({"id": id, **fields}, block.body))
    return ("" if id else NO_ID) + hex_hash(content, DIGEST_DIGITS)


def with_id(text: str, id: str) -> str:
    """Return an entry's text with an `id` as the first key of its frontmatter."""
    opening, newline, rest = text.partition("\n")
    line = emit_fields({"id": id})
    return (
        opening
        + newline
        + (line.replace("\n", "\r\n") if opening.endswith("\r") else line)
        + rest
    )


def with_keys(text: str, keys: Mapping[str, str]) -> str:
    """Return an entry's text with other values of some keys, which must stand on lines of their own."""
    rows = text.split("\n")
    for number, row in enumerate(rows[1:], 1):
        if CLOSING.match(row + "\n"):
            break
        key = row.partition(":")[0].rstrip()
        if key in keys:
            end = "\r" if row.endswith("\r") else ""
            rows[number] = emit_fields({key: keys[key]}).rstrip("\n") + end
    return "\n".join(rows)


def join_entry(text: str, entry: str) -> str:
    """Return the text with an entry appended after a separator; the text itself does not change."""
    if not text.strip():
        return text + entry
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith(("\n", "\r")) else newline
    return text + gap + (SEPARATOR + entry).replace("\n", newline)


class _Lines:
    """The line numbers of a text's positions."""

    def __init__(self, text: str):
        self._breaks = [found.start() for found in LINE_BREAK.finditer(text)]

    def at(self, position: int) -> int:
        return bisect_left(self._breaks, position) + 1


@record
class _Opened:
    """A frontmatter that was found: its fields and the position of its body."""

    fields: Mapping[str, Field] | None
    body: int
    line: int
    problems: list[Problem]


def _open_block(
    text: str,
    lines: _Lines,
    opening: re.Match[str],
    problems: list[Problem],
    first: bool,
) -> _Opened | Problem:
    """Read the frontmatter that a `---` line opens. For later blocks, a Problem means that this is not an entry."""
    begin = min(opening.end() + 1, len(text))
    closing = CLOSING.search(text, begin, begin + 4 * MAX_FRONTMATTER_BYTES)
    line = lines.at(opening.start())
    if not closing:
        message = "frontmatter is never closed"
        return error("open-frontmatter", message, "close it with a --- line", line)
    inside = text[begin : closing.start()]
    if not first and not LOOKS_LIKE_ENTRY.search(inside):
        return NOT_AN_ENTRY
    body = _body_start(text, closing)
    try:
        fields, odd = read_frontmatter(inside, line + 1)
    except Unreadable as failure:
        return _Opened(None, body, line, [*problems, failure.problem])
    if not first and not any(key in fields for key in ENTRY_KEYS):
        return NOT_AN_ENTRY
    odd = [*problems, *odd, *_second_document(text, lines, body)]
    return _Opened(fields, body, line, odd)


def _body_start(text: str, closing: re.Match[str]) -> int:
    """Return the position of the body: after `...`, and after a `---` line below it unless that opens an entry."""
    start = min(closing.end() + 1, len(text))
    if text.startswith("...", closing.start()):
        rule = DELIMITER.match(text, start)
    else:
        rule = None
    if rule is None:
        return start
    inside = min(rule.end() + 1, len(text))
    end = CLOSING.search(text, inside, inside + 4 * MAX_FRONTMATTER_BYTES)
    if end and LOOKS_LIKE_ENTRY.search(text[inside : end.start()]):
        return start
    return inside


def _second_document(text: str, lines: _Lines, body: int) -> list[Problem]:
    """Return an error if a second closed mapping directly follows a frontmatter."""
    if not LOOKS_LIKE_ENTRY.match(text, body):
        return []
    closing = CLOSING.search(text, body, body + MAX_FRONTMATTER_BYTES)
    if not closing:
        return []
    try:
        read_frontmatter(text[body : closing.start()])
    except Unreadable:
        return []
    message = "a second YAML document right below the frontmatter"
    hint = "keep one, or separate the entries"
    return [error("second-document", message, hint, lines.at(body))]


def _body_end(text: str, lines: _Lines, position: int) -> tuple[int, _Opened | None]:
    """Return the end of the body that starts at `position`, and the entry that follows it, if any."""
    fence = ""
    while match := STATE_LINES.search(text, position):
        position = match.end()
        delimiter, marks, info, comment = match.groups()
        if fence:
            if (
                marks
                and marks[0] == fence[0]
                and len(marks) >= len(fence)
                and not info.strip()
            ):
                fence = ""
        elif delimiter:
            following = _open_block(text, lines, match, [], first=False)
            if isinstance(following, _Opened):
                return match.start(), following
        elif marks:
            fence = "" if marks[0] == "`" and "`" in info else marks
        elif comment:
            close = text.find("-->", match.end())
            if close < 0:
                return len(text), None
            position = close + 3
    return len(text), None


def _draft_block(text: str, problem: Problem) -> Block:
    return Block(None, text.strip(), 1, 1, (problem,))


def _missing_frontmatter(text: str) -> Problem:
    if text.lstrip().startswith("+++"):
        return error(
            "toml-frontmatter",
            "TOML frontmatter is not supported",
            "use YAML between --- lines",
        )
    if DELIMITER.search(text):
        return error(
            "text-before-frontmatter",
            "text before the frontmatter",
            "start the file with ---",
        )
    return error(
        "no-frontmatter", "no frontmatter", "start the file with --- and a title"
    )


# Cut a file's text into pieces, one per entry and exact to the character, and join them again.

# One separator with the blank lines around it; an earlier separator belongs to the body.
SEPARATING_LINES = re.compile(r"(?<=\n)(?:[ \t]*\n)*---[ \t]*\n(?:[ \t]*\n)*\Z")
BLANK = " \t\n"


@record
class Piece:
    """The text of one entry, and the separator and blank lines after it."""

    text: str
    rest: str  # up to the next entry, or to the end of the file
    last: bool


def cut_pieces(text: str, lines: Sequence[int]) -> tuple[str, list[Piece]]:
    """Return the text before the first entry, and the pieces; `lines` are the line numbers of the entries."""
    rows = text.split("\n")
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row) + 1)
    starts = [offsets[line - 1] for line in lines]
    pieces = [
        _piece(text[start:end], end == len(text))
        for start, end in pairwise([*starts, len(text)])
    ]
    return text[: starts[0]] if starts else text, pieces


def _piece(text: str, last: bool) -> Piece:
    closing = CLOSING.search(text, text.find("\n") + 1)
    body = closing.end() + 1 if closing else 0
    gap = None if last else SEPARATING_LINES.search(text, min(body, len(text)))
    entry = text[: gap.start() if gap else len(text)].rstrip(BLANK)
    return Piece(entry, text[len(entry) :], last)


# `- text`, `3. text` or `3) text`
ITEM = re.compile(r"\s*(?:[-*+]|[0-9]{1,4}[.)]) (.*)")
# a learning writes these texts below a heading without items …
NOT_RECORDED = "None were recorded."
NOT_SEEN = "None were seen."
NOTHING_WORKED = "No execution has succeeded yet: there is nothing to recommend."
NOTHING_SAID = "The executions do not say how they went about it."
# … and readers skip
PLACEHOLDERS = (NOT_RECORDED, NOT_SEEN, NOTHING_WORKED, NOTHING_SAID)


def sections_of(body: str) -> dict[str, str]:
    """Return lower-case heading → text below it; the text before the first heading is under ''."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line, level in heading_lines(body):
        if level:
            title = line.lstrip("#").strip().lower()
        else:
            sections.setdefault(title, []).append(line)
    return {title: "\n".join(lines).strip() for title, lines in sections.items()}


def list_items(text: str) -> list[str]:
    """Return the items of a list, each on one line without its bullet or number; following lines belong to the item.

    In a text without bullets, each paragraph is one item.
    """
    items: list[list[str]] = []
    apart = True
    for line in text.split("\n"):
        start = ITEM.fullmatch(line)
        if start:
            items.append([start[1]])
        elif not line.strip():
            apart = True
            continue
        elif items and not apart:
            items[-1].append(line)
        else:
            items.append([line])
        apart = False
    return [item for lines in items if (item := " ".join(" ".join(lines).split()))]


def numbered(items: Iterable[str]) -> str:
    """Return a numbered list."""
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))


def bulleted(items: Iterable[str]) -> str:
    """Return a list with hyphens."""
    return "\n".join(f"- {item}" for item in items)


def items_under(body: str, heading: str) -> tuple[str, ...]:
    """Return the items between a heading and the next one, in upper or lower case, without code and PLACEHOLDERS."""
    parts = sections_of("\n".join(prose_lines(body)))
    items = list_items(parts.get(heading.lower(), ""))
    return tuple(item for item in items if item not in PLACEHOLDERS)


# Find wikilinks in a body, outside code: [[name]], [[name|label]], [[name#heading]].

# No spaces at the edges, because `[[ -f file ]]` is a shell test. A name is at most as long as an id.
WIKILINK = re.compile(
    r"\[\[(?=\S)([^\[\]|\n]{1,250})(?:\|[^\[\]\n]{0,250})?(?<=\S)\]\]"
)


def wikilinks_in(body: str) -> tuple[str, ...]:
    """Return the names that a body links to, in order, each once."""
    if "[[" not in body:
        return ()
    names = (
        name
        for line in prose_lines(body)
        if "[[" in line
        for name in WIKILINK.findall(without_code(line))
    )
    return tuple(dict.fromkeys(name.strip() for name in names))


# Read and write citations: `path#symbol@blob` and its shorter forms.

CITES_KEY = "cites"
WRITTEN_BLOB_DIGITS = 12  # hex digits that we write: enough to be unique in any project
CITATION = re.compile(
    r"(?P<place>(?P<path>.+?)"
    r"(?:#(?P<symbol>(?:[^\W\d]|\$)[\w$.:?!~-]*)|:(?P<first>[0-9]{1,8})(?:-(?P<last>[0-9]{1,8}))?)?)"
    r"(?:@(?P<blob>[0-9A-Fa-f]{7,40}))?",  # a blob id, abbreviated by git or complete
    re.DOTALL,
)


@record
class Citation:
    """A place in the project's files, and the blob id of its content if it is known."""

    path: str
    symbol: str = ""
    lines: tuple[int, int] | None = None  # first and last, counted from 1
    blob: str = ""

    @property
    def place(self) -> str:
        """Return the citation without its blob id."""
        if self.lines:
            return f"{self.path}:{self.lines[0]}-{self.lines[1]}"
        return f"{self.path}#{self.symbol}" if self.symbol else self.path

    @property
    def text(self) -> str:
        """Return the citation as text, as it is stored in a memory."""
        return f"{self.place}@{self.blob}" if self.blob else self.place


def read_citation(text: str) -> Citation:
    """Parse a citation in any form. Text that does not look like a blob id, a symbol or lines is part of the path."""
    text = text.strip()
    match = CITATION.fullmatch(text)
    if not match:
        return Citation(text)
    blob = (match["blob"] or "").lower()
    if match["symbol"]:
        return Citation(match["path"], match["symbol"], blob=blob)
    first = int(match["first"] or 0)
    last = int(match["last"] or first)
    if 1 <= first <= last:
        return Citation(match["path"], lines=(first, last), blob=blob)
    return Citation(match["place"], blob=blob)


def citations_in(extra: Mapping[str, Value]) -> list[str]:
    """Return a memory's citations as they are written: a list or a single text; ignore other values."""
    items = items_of(extra.get(CITES_KEY, []))
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


def with_citations(known: Iterable[str], new: Iterable[Citation]) -> list[str]:
    """Return the known citations plus the new ones; a new citation replaces a known one of the same place."""
    added = {citation.place: citation.text for citation in new}
    kept = [text for text in known if read_citation(text).place not in added]
    return [*kept, *added.values()]


def why_path_refused(path: str) -> str:
    """Return why a path cannot be inside the project; empty if it can. Links on disk are not checked here."""
    if not path or "\0" in path:
        return "names no file"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return "is not relative to the project"
    if "\\" in path:
        return "has backslashes: write forward slashes"
    if ".." in path.split("/"):
        return "leads out of the project"
    return ""
