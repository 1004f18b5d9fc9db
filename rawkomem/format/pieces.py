"""Cut a file's text into pieces, one per entry and exact to the character, and join them again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..model.record import record
from .split import CLOSING, SEPARATOR

# One separator with the blank lines around it; an earlier separator belongs to the body.
GAP = re.compile(r"(?<=\n)(?:[ \t]*\n)*---[ \t]*\n(?:[ \t]*\n)*\Z")
BLANK = " \t\n"


@record
class Piece:
    """The text of one entry, and the separator and blank lines after it."""

    text: str
    rest: str  # up to the next entry, or to the end of the file
    last: bool


def cut(text: str, lines: Sequence[int]) -> tuple[str, list[Piece]]:
    """Return the text before the first entry, and the pieces; `lines` are the line numbers of the entries."""
    rows = text.split("\n")
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row) + 1)
    starts = [offsets[line - 1] for line in lines]
    pieces = [_piece(text[start:end], end == len(text)) for start, end in pairwise([*starts, len(text)])]
    return text[: starts[0]] if starts else text, pieces


def _piece(text: str, last: bool) -> Piece:
    closing = CLOSING.search(text, text.find("\n") + 1)
    body = closing.end() + 1 if closing else 0
    gap = None if last else GAP.search(text, min(body, len(text)))
    said = text[: gap.start() if gap else len(text)].rstrip(BLANK)
    return Piece(said, text[len(said) :], last)


def glue(lead: str, pieces: Iterable[Piece]) -> str:
    """Join pieces to a text. Each keeps the text after it, unless it became the last piece or no longer is."""
    pieces = list(pieces)
    between = "".join(piece.text + ("\n" + SEPARATOR if piece.last else piece.rest) for piece in pieces[:-1])
    end = "".join(piece.text + (piece.rest if piece.last else "\n") for piece in pieces[-1:])
    return lead + between + end
