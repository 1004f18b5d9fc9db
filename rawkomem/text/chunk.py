"""Cut a body into chunks at its headings and paragraphs, each small enough for one vector."""

from __future__ import annotations

from ..model.record import record

CHUNKER = "headings-1"  # part of the index's fingerprint: change it when chunks change
MAX_LENGTH = 1_200  # characters; about 250 word pieces, the input size of a sentence model
MIN_LENGTH = 400  # characters; a heading starts a new chunk only if the chunk before it has at least this many


@record
class Chunk:
    """A piece of a body with its headings; `line` is its first line, counted from 1 in the body."""

    text: str
    heading: str = ""
    line: int = 1


def chunk(body: str) -> list[Chunk]:
    """Return the chunks of a body in order; none for an empty body. Together they contain every word."""
    chunks: list[Chunk] = []
    lines: list[str] = []
    size, start, opened = 0, 1, ""

    def close() -> None:
        nonlocal lines, size
        text = "\n".join(lines).strip("\n")
        if text.strip():
            chunks.extend(_cut(text, opened, start))
        lines, size = [], 0

    trail: list[str] = []
    fence = ""
    for number, line in enumerate(body.split("\n"), 1):
        sign = line[:1]
        if sign in ("`", "~", " "):
            fence = fence_after(fence, line)
        level = _heading_level(line) if sign == "#" and not fence else 0
        if level:
            trail = [*trail[: level - 1], line[level:].strip(" #\t")]
        if size and (
            (level and size >= MIN_LENGTH) or (size + len(line) > MAX_LENGTH and (not line.strip() or not fence))
        ):
            close()
        if not lines:
            start, opened = number, " > ".join(part for part in trail if part)
        lines.append(line)
        size += len(line) + 1
    close()
    return chunks


def _heading_level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if level <= 6 and line[level : level + 1] in (" ", "\t", "") else 0


def fence_after(fence: str, line: str) -> str:
    """Return the code fence that is open after this line; empty if none is."""
    mark = line.lstrip(" ")
    if len(line) - len(mark) > 3 or mark[:3] not in ("```", "~~~"):
        return fence
    run = mark[: len(mark) - len(mark.lstrip(mark[0]))]
    if not fence:
        return run
    return "" if run[0] == fence[0] and len(run) >= len(fence) and not mark[len(run) :].strip() else fence


def _cut(text: str, heading: str, line: int) -> list[Chunk]:
    """Return a text as one chunk, or as several if it has more than 2 × MAX_LENGTH characters."""
    pieces: list[Chunk] = []
    while len(text) > 2 * MAX_LENGTH:
        cut = max(text.rfind("\n", MAX_LENGTH // 2, MAX_LENGTH), text.rfind(" ", MAX_LENGTH // 2, MAX_LENGTH))
        cut = cut if cut > 0 else MAX_LENGTH
        pieces.append(Chunk(text[:cut], heading, line))
        line += text.count("\n", 0, cut)
        text = text[cut:]
    return [*pieces, Chunk(text, heading, line)]
