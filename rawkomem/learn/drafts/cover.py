"""Find memories that already say what a person said in a session, even in other words.

The limits were set on 12 real sessions with the bundled vectors (docs/learning.md), so this module always uses those
vectors, whichever model the index uses. The limits are strict: missing a match is better than claiming a false one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ...embed.static import StaticEmbedder
from ...model.record import record, replace
from ...state.belief.prose import disagreement, prose_of
from ...text.same import said_in
from .again import cosine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.draft import Draft
    from ...model.entry import Memory
    from ...text.same import Said

MIN_SHARED_WORDS = 2
MIN_SHARED, MIN_COSINE = 0.3, 0.5  # whole text: share of the shorter text's specific words, and cosine
MIN_KEY_SHARED, MIN_KEY_COSINE = 0.5, 0.6  # key sentence: share of its specific words, and cosine


@record
class Meaning:
    """The words of a text and its vector."""

    said: Said
    vector: bytes


def covering(draft: Draft, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that say what a draft says and do not contradict it, closest first."""
    texts = [draft.text, draft.title, *map(_text, memories)]
    vectors = _embedder().embed(texts)
    whole, key, *others = (Meaning(said_in(text), vector) for text, vector in zip(texts, vectors, strict=True))
    close = [(cosine(whole.vector, one.vector), number) for number, one in enumerate(others) if covers(whole, key, one)]
    found = [memories[number] for _, number in sorted(close, reverse=True)]
    return [memory for memory in found if not _contradicts(draft, memory)]


@cache
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()


def _text(memory: Memory) -> str:
    return memory.body if memory.title in memory.body else f"{memory.title}\n{memory.body}"


def covers(whole: Meaning, key: Meaning, memory: Meaning) -> bool:
    """Tell whether a memory is close enough to all of a person's words, or to their key sentence."""
    subject, numbers = memory.said.subject, memory.said.numbers
    if key.said.numbers and numbers and not key.said.numbers & numbers:
        return False
    fewer = min(len(whole.said.subject), len(subject))
    return _is_close(whole, memory, MIN_SHARED * fewer, MIN_COSINE) or _is_close(
        key, memory, MIN_KEY_SHARED * len(key.said.subject), MIN_KEY_COSINE
    )


def _is_close(one: Meaning, other: Meaning, min_words: float, min_cosine: float) -> bool:
    shared = len(one.said.subject & other.said.subject)
    return shared >= max(MIN_SHARED_WORDS, min_words) and cosine(one.vector, other.vector) >= min_cosine


def _contradicts(draft: Draft, memory: Memory) -> bool:
    said = replace(memory, id=draft.id, body=draft.text)
    return disagreement(prose_of(said), prose_of(memory)) is not None
