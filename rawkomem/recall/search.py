"""Hybrid search: BM25 and vectors, fused by a convex combination of normalised scores."""

from __future__ import annotations

from ..index.documents import Filter
from ..model.record import record
from ..text.clean import clean
from ..text.stem import STOP_WORDS, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..embed.protocol import Embedder
    from ..index.documents import Hit
    from ..index.protocol import SearchStore

CANDIDATES = 100  # passages asked of each side: more changed nothing measurable
LEXICAL = 0.5  # weight of words against meaning: long records want more, short conditions less
QUERY_LENGTH = 10_000  # characters; a task may be a whole page, not a book
QUERY_WORDS = 64  # distinct words given to FTS5: the rest of a long task repeats them


@record
class Scored:
    """A memory that was found: its rank score (top hit near 1), its absolute relevance and its best passage."""

    id: str
    score: float
    relevance: float
    passage: int


def search(store: SearchStore, embedder: Embedder, text: str, limit: int, only: Filter) -> list[Scored]:
    """The memories that fit a question best; a memory is as good as its best passage."""
    text = clean(text[:QUERY_LENGTH])
    lexical = store.matching(query_words(text), CANDIDATES, only)
    semantic = store.nearest(embedder.embed([text])[0], CANDIDATES, only)
    return fuse(lexical, semantic)[:limit]


def query_words(text: str) -> list[str]:
    """The content words of a question, each once; all words where it has no content words."""
    found = list(dict.fromkeys(words(text)))
    return [word for word in found if word not in STOP_WORDS][:QUERY_WORDS] or found[:QUERY_WORDS]


def fuse(lexical: Sequence[Hit], semantic: Sequence[Hit]) -> list[Scored]:
    """One score for each passage, then the best passage of each memory."""
    cosine = {(hit.id, hit.passage): hit.score for hit in semantic}
    top = max((hit.score for hit in lexical), default=0.0) or 1.0
    low, high = min(cosine.values(), default=0.0), max(cosine.values(), default=0.0)
    spread = (high - low) or 1.0
    scores = {key: (1 - LEXICAL) * (value - low) / spread for key, value in cosine.items()}
    for hit in lexical:
        key = (hit.id, hit.passage)
        scores[key] = scores.get(key, 0.0) + LEXICAL * hit.score / top
    best: dict[str, Scored] = {}
    for (id, passage), score in scores.items():
        if id not in best or (score, -passage) > (best[id].score, -best[id].passage):
            best[id] = Scored(id, score, cosine.get((id, passage), 0.0), passage)
    return sorted(best.values(), key=lambda scored: (-scored.score, scored.id))
