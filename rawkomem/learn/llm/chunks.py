"""Cut a session into overlapping chunks for a language model: all that people typed, and the agent's words before it.

The agent's long texts and pastes are shortened, and tool output is left out. When a session grows, only its last chunk
changes, so that only that chunk is sent to the model again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.record import record, replace
from ...redaction.find import redact
from ...text.clean import one_line
from ...text.spoken.prompt import read_prompt
from ..drafts.quote import typed_words
from ..session.turns import ASSISTANT, USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..session.turns import Turn

MAX_CHUNK_CHARS = 16_000  # about 4,000 tokens: together with the instructions, they fit into a small local model
MAX_OVERLAP_CHARS = 3_500  # of a chunk's last exchange, which is repeated at the start of the next chunk
MAX_TYPED_CHARS = 8_000  # of one human turn; a longer turn is split into pieces
PIECE_OVERLAP_CHARS = 500  # that neighboring pieces share
MAX_ANSWERED_CHARS = 2_400  # of the agent's statement that a person answers
MAX_EARLIER_CHARS = 300  # of each statement before that one
MAX_EARLIER = 5  # statements
MAX_PASTED_CHARS = 300  # of pasted text
TASK_CHARS = 120
GAP = " […] "


@record
class Chunk:
    """A part of a session as text for a model, and the redacted turns that the model may quote."""

    text: str
    turns: tuple[Turn, ...]


def chunks_of(turns: Iterable[Turn]) -> list[Chunk]:
    """Return the chunks of a session; none if nobody typed anything."""
    chunks: list[Chunk] = []
    open_parts: list[Chunk] = []
    for part in _parts(turns):
        if sum(len(one.text) + 2 for one in (*open_parts, part)) > MAX_CHUNK_CHARS:
            chunks.append(_joined(open_parts))
            open_parts = [replace(open_parts[-1], text=shortened(open_parts[-1].text, MAX_OVERLAP_CHARS))]
        open_parts.append(part)
    return [*chunks, _joined(open_parts)] if open_parts else []


def first_ask(chunks: Sequence[Chunk]) -> str:
    """Return the person's first words in a session, on one line; empty if there are none."""
    turns = (turn for chunk in chunks[:1] for turn in chunk.turns if turn.role == USER)
    return next((one_line(typed_words(turn), TASK_CHARS) for turn in turns), "")


def shortened(text: str, limit: int) -> str:
    """Return a text; if it is longer than `limit`, only its beginning and its end, cut between words."""
    if len(text) <= limit:
        return text
    half = (limit - len(GAP)) // 2
    head, tail = text[:half], text[-half:]
    return (head.rpartition(" ")[0] or head).rstrip() + GAP + (tail.partition(" ")[2] or tail).lstrip()


def _joined(parts: Sequence[Chunk]) -> Chunk:
    turns = dict.fromkeys(turn for part in parts for turn in part.turns)
    return Chunk("\n\n".join(part.text for part in parts), tuple(turns))


def _parts(turns: Iterable[Turn]) -> Iterator[Chunk]:
    """Yield each human turn with the agent's words before it; a long turn in pieces."""
    before: list[Turn] = []
    for turn in turns:
        if turn.role not in (ASSISTANT, USER):
            continue
        turn = replace(turn, text=redact(turn.text))
        if turn.role == ASSISTANT:
            before.append(turn)
            continue
        typed = typed_words(turn)
        if typed:
            yield from _told(before, turn, typed, read_prompt(turn.text).paste)
            before = []


def _told(before: Sequence[Turn], turn: Turn, typed: str, pasted: str) -> Iterator[Chunk]:
    first, *rest = _pieces(typed)
    lines = [f"[AGENT] {shortened(one.text, MAX_EARLIER_CHARS)}" for one in before[-MAX_EARLIER - 1 : -1]]
    lines += [f"[AGENT] {shortened(one.text, MAX_ANSWERED_CHARS)}" for one in before[-1:]]
    if pasted:
        lines.append(f"[PASTED, nobody's words] {shortened(pasted, MAX_PASTED_CHARS)}")
    yield Chunk("\n\n".join((*lines, f"[PERSON] {first}")), (*before, turn))
    for piece in rest:
        yield Chunk(f"[PERSON, going on] {piece}", (turn,))


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in overlapping pieces, cut between words where it has spaces."""
    start = 0
    while len(text) - start > MAX_TYPED_CHARS:
        end = start + MAX_TYPED_CHARS
        space = text.rfind(" ", end - PIECE_OVERLAP_CHARS, end)
        end = space if space > 0 else end
        yield text[start:end]
        start = text.find(" ", end - PIECE_OVERLAP_CHARS, end) + 1 or end - PIECE_OVERLAP_CHARS
    yield text[start:]
