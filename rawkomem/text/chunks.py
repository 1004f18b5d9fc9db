"""Cuts a body into chunks at its headings and paragraphs, estimates tokens, and writes numbers with
their nouns.
"""

from __future__ import annotations

from ..model.values import TYPE_CHECKING, record
from .clean import is_within, range_edges

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNKER = "headings-2"  # part of the index's fingerprint: change it when chunks change
# characters; about 250 word pieces, the input size of a sentence model
MAX_CHUNK_LENGTH = 1_200
# characters; a heading starts a new chunk only if the chunk before it has at least this many
MIN_CHUNK_LENGTH = 400


@record
class Chunk:
    """A piece of a body with its headings; `line` is its first line, counted from 1 in the body."""

    text: str
    heading: str = ""
    line: int = 1


def cut_chunks(body: str) -> list[Chunk]:
    """Return the chunks of a body in order; none for an empty body. Together they contain every word."""
    chunks: list[Chunk] = []
    lines: list[str] = []
    size = 0
    start = 1
    opened = ""

    def close() -> None:
        nonlocal lines, size
        text = "\n".join(lines).strip("\n")
        if text.strip():
            line = start
            while len(text) > 2 * MAX_CHUNK_LENGTH:
                cut = max(
                    text.rfind("\n", MAX_CHUNK_LENGTH // 2, MAX_CHUNK_LENGTH),
                    text.rfind(" ", MAX_CHUNK_LENGTH // 2, MAX_CHUNK_LENGTH),
                )
                cut = cut if cut > 0 else MAX_CHUNK_LENGTH
                chunks.append(Chunk(text[:cut], opened, line))
                line += text.count("\n", 0, cut)
                text = text[cut:]
            chunks.append(Chunk(text, opened, line))
        lines = []
        size = 0

    trail: list[str] = []
    fence = ""
    for number, line in enumerate(body.split("\n"), 1):
        sign = line[:1]
        if sign in ("`", "~", " "):
            fence = fence_after(fence, line)
        level = heading_level(line) if sign == "#" and not fence else 0
        if level:
            trail = [*trail[: level - 1], line[level:].strip(" #\t")]
        if size and (
            (level and size >= MIN_CHUNK_LENGTH)
            or (size + len(line) > MAX_CHUNK_LENGTH and (not line.strip() or not fence))
        ):
            close()
        if not lines:
            start = number
            opened = " > ".join(part for part in trail if part)
        lines.append(line)
        size += len(line) + 1
    close()
    return chunks


def heading_level(line: str) -> int:
    """Return the number of signs that make a line a heading; 0 if it is none."""
    level = len(line) - len(line.lstrip("#"))
    return level if level <= 6 and line[level : level + 1] in ("", " ", "\t") else 0


def fence_after(fence: str, line: str) -> str:
    """Return the code fence that is open after this line; empty if none is. A code span (```ls``` fails) opens none."""
    mark = line.lstrip(" ")
    if len(line) - len(mark) > 3 or mark[:3] not in ("```", "~~~"):
        return fence
    words = mark.lstrip(mark[0])
    run = mark[: len(mark) - len(words)]
    if not fence:
        return "" if run[0] in words and run[0] == "`" else run
    return "" if run.startswith(fence) and not words.strip() else fence


def fenced_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of a text, and whether it belongs to a code fence."""
    fence = ""
    for line in text.split("\n"):
        before = fence
        fence = fence_after(fence, line)
        yield line, bool(before or fence)


def heading_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield each line of a text, and its level if it is a heading outside code fences; else 0."""
    for line, is_code in fenced_lines(text):
        yield line, 0 if is_code else heading_level(line)


LETTERS_PER_TOKEN = 4  # on average
TOKENS_PER_CJK = 1.5  # per character
CJK = range_edges("3040-30FF 3400-4DBF 4E00-9FFF AC00-D7AF F900-FAFF 20000-2FA1F")
LETTER_SHAPE = "a"
DIGIT_SHAPE = "0"
SYMBOL_SHAPE = "."
WIDE_SHAPE = "w"
BETWEEN_NUMBERS = str.maketrans(LETTER_SHAPE + SYMBOL_SHAPE + WIDE_SHAPE, "   ")


def count_tokens(text: str) -> int:
    """Return an estimate: 1 token per 4 letters, per symbol and per run of digits, 1.5 per CJK character."""
    if not text:
        return 0
    shape = text.translate(_shapes)
    numbers = len(shape.translate(BETWEEN_NUMBERS).split())
    letters = shape.count(LETTER_SHAPE) / LETTERS_PER_TOKEN
    wide = shape.count(WIDE_SHAPE) * TOKENS_PER_CJK
    return max(1, round(letters + shape.count(SYMBOL_SHAPE) + numbers + wide + 0.499))


class _Shapes(dict[int, str]):
    """A translation table that fills itself with the class of each character; much faster than a loop."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isdigit():
            shape = DIGIT_SHAPE
        elif character.isspace() or character.isalpha():
            shape = WIDE_SHAPE if is_within(character, CJK) else LETTER_SHAPE
        else:
            shape = SYMBOL_SHAPE
        self[code] = shape
        return shape


_shapes = _Shapes()


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `2,000 files`, `3 memories`."""
    if noun.endswith("y") and noun[-2] not in "aeiou":
        many = f"{noun[:-1]}ies"
    else:
        many = f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"
