"""Candidates: what words and vectors say about each memory, fused into one score by a convex combination.

A passage's own words, the words around it and its meaning are normalised to the best of each, then mixed. Reciprocal
ranks would throw the margins away (measured: worse on every set). The mixed score ranks; it is near 1 for the best hit
even when nothing fits. Whether anything fits is told by the relevance, which is the cosine itself.
"""

from __future__ import annotations

from ..index.stores.documents import BODY, DEEP, REST, WHEN
from ..model.record import record
from ..text.clean import clean
from ..text.stem import STOP_WORDS, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..embed.protocol import Embedder
    from ..git.citations import Cited
    from ..index.stores.documents import Hit
    from ..index.stores.protocol import SearchStore
    from ..model.filters import Filter
    from ..state.belief.trust import Trust

    Key = tuple[str, int]

NEAREST = 100  # passages asked of the vectors: their spread normalises the cosine
MATCHING = 200  # passages asked of the words
BODY_WORDS = 0.4  # weight of words against meaning in a body: names and numbers count
WHEN_WORDS = 0.2  # … and in a condition: short sentences want meaning
RRF = 60  # Cormack et al. 2009; larger flattens the top ranks
PARTS = ("words", "meaning", "surroundings")  # of a score
QUERY_LENGTH = 10_000  # characters; a task may be a page, not a book
QUERY_WORDS = 64  # distinct words given to FTS5: the rest of a long task repeats them


@record
class Signals:
    """What is known about one memory for one question."""

    id: str
    passage: int = 0  # the one to show: the best one, or how the body begins where a condition is
    score: float = 0.0  # ranks candidates of one question
    relevance: float = 0.0  # compares across questions: the cosine of the closest passage
    cosine: float = 0.0  # of the best passage
    words: float = 0.0  # BM25 of the best passage against the best of all
    ranks: float = 0.0  # reciprocal ranks by words and by meaning
    fired: str = ""  # which condition fired, in words
    cited: tuple[Cited, ...] = ()  # how it stands with the code that the memory cites
    unverified: str = ""  # how it arrived, where no person vouches for it and somebody asks
    faint: bool = False  # what fired holds of nearly any task
    trust: Trust | None = None  # where the profile asks for it

    parts: tuple[tuple[str, float, float], ...] = ()  # (what, value, weight): sum up to the score
    field: str = BODY  # where the best passage comes from


@record
class Spaces:
    """The vector spaces that meaning is asked in. `deep`: the second tier's, where nearly all memories are in it."""

    first: Embedder
    deep: Embedder | None = None


def gather(store: SearchStore, spaces: Spaces, texts: Sequence[str], only: Filter) -> list[list[Signals]]:
    """For each question every memory that shares words or meaning with it, best first."""
    texts = [clean(text[:QUERY_LENGTH]) for text in texts]
    near = iter(_nearest(store, spaces, [text for text in texts if text.strip()], only))
    return [_gather(store, text, next(near) if text.strip() else [], only) for text in texts]


def _gather(store: SearchStore, text: str, near: list[Hit], only: Filter) -> list[Signals]:
    wanted = query_words(text)
    own = store.matching(wanted, MATCHING, only)
    around = store.matching(wanted, MATCHING, only, around=True)
    return fuse(own, around, near)


def _nearest(store: SearchStore, spaces: Spaces, texts: list[str], only: Filter) -> list[list[Hit]]:
    """Passages by meaning. The few that the second tier lacks are asked in the first: both have the same floors."""
    if not texts:
        return []
    if spaces.deep is None:
        return [store.nearest(vector, NEAREST, only) for vector in spaces.first.embed(texts)]
    near = [store.nearest(vector, NEAREST, only, DEEP) for vector in spaces.deep.embed(texts)]
    held, count = store.depth()
    if held < count:
        rest = [store.nearest(vector, NEAREST, only, REST) for vector in spaces.first.embed(texts)]
        near = [_best([*hits, *others]) for hits, others in zip(near, rest, strict=True)]
    return near


def _best(hits: list[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.id, hit.passage))[:NEAREST]


def query_words(text: str) -> list[str]:
    """The content words of a question, each once; all words where it has no content words."""
    found = list(dict.fromkeys(words(text)))
    return [word for word in found if word not in STOP_WORDS][:QUERY_WORDS] or found[:QUERY_WORDS]


def fuse(own: Sequence[Hit], beside: Sequence[Hit], near: Sequence[Hit]) -> list[Signals]:
    """One score for each passage; a memory is as good as its best passage."""
    hits = {(hit.id, hit.passage): hit for hit in (*own, *beside, *near)}
    by_words, by_window = _against_best(own), _against_best(beside)
    cosine = {(hit.id, hit.passage): hit.score for hit in near}
    low, spread = _range(near)
    weight = _weight_of_windows(near)
    ranks = _reciprocal_ranks(own, near)
    closest: dict[str, float] = {}
    for hit in near:
        closest[hit.id] = max(closest.get(hit.id, -1.0), hit.score)
    best: dict[str, Signals] = {}
    for key, hit in hits.items():
        share = WHEN_WORDS if hit.field == WHEN else BODY_WORDS
        by, meaning = by_words.get(key, 0.0), (cosine[key] - low) / spread if key in cosine else 0.0
        around = 0.0 if hit.alone else by_window.get(key, 0.0)
        weights = (share, 1 - share, 0.0) if hit.alone else (share / 2, (1 - share) / 2, weight / 2)
        score = weights[0] * by + weights[1] * meaning + weights[2] * around
        if hit.id not in best or (score, -hit.passage) > (best[hit.id].score, -best[hit.id].passage):
            shown = 0 if hit.field == WHEN else hit.passage
            relevance, ranked = closest.get(hit.id, low), ranks.get(hit.id, 0.0)
            near_by, parts = cosine.get(key, low), tuple(zip(PARTS, (by, meaning, around), weights, strict=True))
            best[hit.id] = Signals(hit.id, shown, score, relevance, near_by, by, ranked, parts=parts, field=hit.field)
    return sorted(best.values(), key=lambda found: (-found.score, found.id))


def _against_best(hits: Sequence[Hit]) -> dict[Key, float]:
    top = max((hit.score for hit in hits), default=0.0)
    return {(hit.id, hit.passage): hit.score / top for hit in hits} if top > 0 else {}


def _range(near: Sequence[Hit]) -> tuple[float, float]:
    low = min((hit.score for hit in near), default=0.0)
    high = max((hit.score for hit in near), default=0.0)
    return low, (high - low) or 1.0


def _weight_of_windows(near: Sequence[Hit]) -> float:
    """How far surroundings count: less where what stands alone is closer, so that chats do not drown conditions."""
    best = max((hit.score for hit in near), default=0.0)
    beside = max((hit.score for hit in near if not hit.alone), default=0.0)
    return max(0.0, beside / best) ** 2 if best > 0 else 0.0


def _reciprocal_ranks(*lists: Sequence[Hit]) -> dict[str, float]:
    """RFC-0011: the sum of 1 / (60 + rank) over both lists, each memory counted once a list."""
    ranks: dict[str, float] = {}
    for hits in lists:
        for rank, id in enumerate(dict.fromkeys(hit.id for hit in hits), 1):
            ranks[id] = ranks.get(id, 0.0) + 1 / (RRF + rank)
    return ranks
