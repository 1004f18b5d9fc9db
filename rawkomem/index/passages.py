"""Cuts a memory into passages, and adds the context with which each passage is matched and embedded.

A body passage is also matched with its surroundings: the passages before and after it in the file, which may belong to
other entries (as in a conversation with one entry per turn). This raises recall@5 on conversations by 13 points. A
condition's vector is shifted towards the memory's title and its other conditions, because one short sentence alone is
easily missed.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from ..format.mesh_metadata import SCRUBBED_KEY
from ..model.record import record, replace
from ..redaction.scrub.segment import passages
from ..text.scripts.compounds import spelled_out
from ..text.scripts.signs import is_emoji, is_mark
from .stores.documents import BODY, WHEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..embed.protocol import Embedder
    from ..model.entry import Memory

NEIGHBORS_PER_SIDE = 2  # with one, recall@5 is 4 points lower; with three, it is no higher
MAX_AROUND_CHARS = 1_000  # length of a passage with its neighbors; a longer text blurs the topic
TITLE_SHARE = 0.5  # weight of the title in a condition's vector
KIN_SHARE = 1.0  # weight of the common direction of the memory's conditions, if there are at least two
WORD_SIGNS = "_'/.-"  # characters that are part of a word in a condition


@record
class Piece:
    """A passage before it has a vector."""

    text: str
    heading: str
    field: str
    line: int
    around: str = ""  # the passage with its surroundings; empty if it has none


def pieces_of(memory: Memory) -> list[Piece]:
    """Return the body's chunks, then each condition; the title if there is neither."""
    pieces = [Piece(part.text, part.heading, BODY, part.line) for part in passages(memory.body)]
    pieces += [Piece(condition_text(condition), "", WHEN, memory.line) for condition in memory.when]
    return pieces or [Piece(memory.title, "", BODY, 1)]


def with_surroundings(memories: Sequence[list[Piece]]) -> list[list[Piece]]:
    """Return the pieces of one file's memories, in order, each body piece with its neighbors' text."""
    flat = [piece for pieces in memories for piece in pieces if piece.field == BODY]
    around = (_around(flat, at) for at in range(len(flat)))

    def surrounded(piece: Piece) -> Piece:
        return replace(piece, around=next(around)) if piece.field == BODY else piece

    return [[surrounded(piece) for piece in pieces] for pieces in memories]


def _around(pieces: list[Piece], at: int) -> str:
    low = high = at
    size = len(pieces[at].text)
    for reach in range(1, NEIGHBORS_PER_SIDE + 1):
        for other in (at - reach, at + reach):
            if not 0 <= other < len(pieces) or other not in (low - 1, high + 1):
                continue
            if size + len(pieces[other].text) <= MAX_AROUND_CHARS:
                low, high = min(low, other), max(high, other)
                size += len(pieces[other].text)
    return "\n".join(piece.text for piece in pieces[low : high + 1]) if high > low else ""


def condition_text(condition: str) -> str:
    """Return a condition as words: `auth|log.*in` → `auth log in`."""
    signs = condition.replace(".*", " ")
    return " ".join("".join([sign if _is_said(sign) else " " for sign in signs]).split())


def _is_said(sign: str) -> bool:
    return sign.isalnum() or sign in WORD_SIGNS or (not sign.isascii() and (is_mark(sign) or is_emoji(sign)))


def searchable_title(title: str) -> str:
    """Return the title with the parts of its compound names: `AuthFlow` is also `Auth Flow`."""
    parts = [part for name in spelled_out(title) for part in name.split()]
    return " ".join([title, *parts]) if parts else title


def embedded_text(memory: Memory, piece: Piece) -> str:
    """Return the text that is embedded for a passage: a chunk under its title and headings, or a condition."""
    if piece.field == WHEN:
        return piece.text
    heading = piece.heading if piece.heading != memory.title else ""
    parts = [part for part in (memory.title, heading, piece.text) if part]
    if SCRUBBED_KEY in memory.extra:  # added by a mesh: RFC-0011 §6 requires six stages before embedding
        from ..redaction.scrub.plain import scrubbed_text

        parts = [scrubbed_text(part) for part in parts]
    return "\n".join(parts)


def vectors_of(embedder: Embedder, documents: Sequence[tuple[Memory, list[Piece]]]) -> list[list[bytes]]:
    """Return for each memory the vectors of its pieces, in order; all are embedded in one call."""
    texts = [embedded_text(memory, piece) for memory, pieces in documents for piece in pieces]
    titled = [memory.title for memory, _ in documents if memory.when]
    vectors = embedder.embed(texts + [searchable_title(title) for title in titled]) if texts else []
    own, titles = iter(vectors[: len(texts)]), iter(vectors[len(texts) :])
    found: list[list[bytes]] = []
    for memory, pieces in documents:
        body = [next(own) for piece in pieces if piece.field == BODY]
        conditions = [next(own) for piece in pieces if piece.field == WHEN]  # they follow the body
        found.append(body + lean(conditions, next(titles)) if memory.when else body)
    return found


def lean(vectors: list[bytes], title: bytes) -> list[bytes]:
    """Return the vectors of a memory's conditions, each shifted towards the title and their common direction."""
    if "numpy" in sys.modules:
        return _lean_with_numpy(vectors, title)
    own = [array("f", vector) for vector in vectors]
    towards = [TITLE_SHARE * number for number in array("f", title)]
    if len(own) > 1:
        common = _unit([sum(column) for column in zip(*own, strict=True)])
        towards = [number + KIN_SHARE * share for number, share in zip(towards, common, strict=True)]
    return [
        array("f", _unit([number + share for number, share in zip(vector, towards, strict=True)])).tobytes()
        for vector in own
    ]


def _unit(vector: Sequence[float]) -> list[float]:
    length = sum(number * number for number in vector) ** 0.5
    return [number / length for number in vector] if length else list(vector)


def _lean_with_numpy(vectors: list[bytes], title: bytes) -> list[bytes]:
    """Return the same bytes as `lean`, which also uses double precision."""
    import numpy as np

    own = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1).astype(np.float64)
    towards = TITLE_SHARE * np.frombuffer(title, "<f4").astype(np.float64)
    if len(own) > 1:
        common = own.sum(axis=0)
        towards = towards + KIN_SHARE * common / (np.linalg.norm(common) or 1.0)
    leaning = own + towards
    lengths = np.linalg.norm(leaning, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return [vector.tobytes() for vector in (leaning / lengths).astype("<f4")]
