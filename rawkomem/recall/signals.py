"""Combine the results of word search and vector search into one score per memory.

A passage's own words, the words around it and its meaning are normalized to the best of each, then mixed. Reciprocal
ranks would discard the distances (measured: worse on every set). The mixed score is only for ranking: the best hit is
near 1 even if nothing fits. The relevance, which is the cosine itself, shows whether anything fits.
"""

from __future__ import annotations

from ..index.stores.documents import BODY, DEEP, FIRST, REST, WHEN
from ..model.record import record, replace, unchecked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..embed.protocol import Embedder
    from ..git.citations import Cited
    from ..index.stores.documents import Hit
    from ..index.stores.protocol import SearchStore
    from ..model.filters import Filter
    from ..state.belief.trust import Standing, Trust
    from ..state.derive import Weak
    from ..text.when import Fired
    from .question import Question

    Key = tuple[str, int]
    Three = tuple[float, float, float]
    _Best = tuple[float, Hit, Three, Three]  # score of a memory's best passage, the hit, values and weights of PARTS

MAX_NEAREST = 100  # passages from the vector search; their spread normalizes the cosine
MAX_COMPARED = 30  # passages whose phrases are compared with a question in a script other than Latin
MAX_MATCHING = 200  # passages from the word search
BODY_WORDS_WEIGHT = 0.4  # of words, the rest is meaning, in a body: names and numbers count
DEEP_BODY_WORDS_WEIGHT = 0.3  # … with contextual vectors: +.02 recall@5 on CoSQA, -.006 on LoCoMo
WHEN_WORDS_WEIGHT = 0.2  # … and in a condition: for short sentences, meaning counts more
RRF_K = 60  # Cormack et al. 2009; a larger value flattens the top ranks
PARTS = ("words", "meaning", "surroundings")  # of a score


@record
class Signals:
    """All signals of one memory for one question."""

    id: str
    passage: int = 0  # the passage to show: the best one of the body
    score: float = 0.0  # for ranking the candidates of one question
    relevance: float = 0.0  # cosine of the closest passage; comparable across questions
    cosine: float = 0.0  # of the best passage
    words: float = 0.0  # BM25 of the best passage, relative to the best of all
    ranks: float = 0.0  # reciprocal ranks by words and by meaning
    fired: Fired | None = None  # the part of a condition that fired
    is_faint: bool = False  # the condition fired only on words that any task contains
    cited: tuple[Cited, ...] = ()  # the state of the code that the memory cites
    unverified: Standing | None = None  # its standing, if no person vouches for it and that matters
    weak: tuple[Weak, ...] = ()  # sources of the memory that are no longer valid
    trust: Trust | None = None  # if the profile uses it
    accessed: int = 0  # time of the last injection or search hit, if the profile uses it; 0: never
    shares_phrase: bool = False  # with the question, in a script without vectors: passes the gate
    parts: tuple[tuple[str, float, float], ...] = ()  # (part, value, weight): they sum up to the score
    field: str = BODY  # of the best passage
    evidence: tuple[tuple[str, float], ...] = ()  # for and against its relevance; see evidence.py
    confidence: float = 0.0  # the probability that it is relevant


@record
class Spaces:
    """The embedders of the vector tiers. `deep` is that of the second tier, if it holds nearly all memories."""

    first: Embedder
    deep: Embedder | None
    kept: dict[tuple[str, str], bytes]  # (embedder, text) → vector: cache for one question


@record
class Best:
    """The best and the worst values of a search, by which each hit is normalized."""

    words: float  # BM25
    window: float  # BM25 with surroundings
    low: float  # cosine
    high: float  # cosine
    weight: float  # of surroundings: low if a passage without any is closer, so that chats do not displace conditions


def find(
    store: SearchStore, spaces: Spaces, questions: Sequence[Question], *filters: Filter, by_first: bool = False
) -> list[list[Signals]]:
    """Return for each question and each filter the memories that share words or meaning with it, best first.

    With `by_first`, the results of all filters are normalized by those of the first, so that scores are comparable.
    """
    for question in questions:
        for space in filter(None, (spaces.first, spaces.deep)) if question.sentences else ():
            embedded(spaces, space, question.sentences)  # all sentences in one call
    if expect := getattr(store, "expect", None):  # optional: the store may search in the background
        for question in questions:
            for only in filters:
                expect(question.query_words, MAX_MATCHING, only)
    near = iter(nearest(store, spaces, [question.text for question in questions if question.text.strip()], filters))
    body_words = DEEP_BODY_WORDS_WEIGHT if spaces.deep else BODY_WORDS_WEIGHT
    found = []
    for question in questions:
        best = None
        for only in filters:
            own = store.matching(question.query_words, MAX_MATCHING, only)
            around = store.matching(question.query_words, MAX_MATCHING, only, around=True)
            close = next(near) if question.text.strip() else []
            fused = fuse(own, around, close, body_words, best)
            best = best or (best_of(own, around, close) if by_first else None)
            found.append(fused if question.text.isascii() else _with_phrases(store, question.text, own, fused))
    return found


def _with_phrases(store: SearchStore, asked: str, own: Sequence[Hit], found: list[Signals]) -> list[Signals]:
    """Mark the memories that share a phrase in a script other than Latin with the question."""
    from ..text.scripts.shared import phrases  # tables that ASCII questions do not need

    wanted = phrases(asked)
    if not wanted:
        return found
    sharing: set[str] = set()
    for hit in own[:MAX_COMPARED]:
        if hit.id not in sharing and not wanted.isdisjoint(phrases(store.passage(hit.id, hit.passage))):
            sharing.add(hit.id)
    return [replace(signals, shares_phrase=True) if signals.id in sharing else signals for signals in found]


def nearest(store: SearchStore, spaces: Spaces, texts: list[str], filters: Sequence[Filter]) -> list[list[Hit]]:
    """Return the closest passages for each text and filter. Memories that are not in the second tier use the first."""
    if not texts:
        return []
    if spaces.deep is None:
        return _asked(store, embedded(spaces, spaces.first, texts), filters, FIRST)
    near = _asked(store, embedded(spaces, spaces.deep, texts), filters, DEEP)
    held, count = store.depth()
    if held < count:
        rest = _asked(store, embedded(spaces, spaces.first, texts), filters, REST)
        near = [_best([*hits, *others]) for hits, others in zip(near, rest, strict=True)]
    return near


def embedded(spaces: Spaces, embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of texts, and cache them."""
    missing = [text for text in dict.fromkeys(texts) if (embedder.name, text) not in spaces.kept]
    for text, vector in zip(missing, embedder.embed(missing) if missing else (), strict=True):
        spaces.kept[embedder.name, text] = vector
    return [spaces.kept[embedder.name, text] for text in texts]


def _asked(store: SearchStore, vectors: Sequence[bytes], filters: Sequence[Filter], tier: str) -> list[list[Hit]]:
    return [store.nearest(vector, MAX_NEAREST, only, tier) for vector in vectors for only in filters]


def _best(hits: list[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.id, hit.passage))[:MAX_NEAREST]


def fuse(
    own: Sequence[Hit],
    beside: Sequence[Hit],
    near: Sequence[Hit],
    body_words: float = BODY_WORDS_WEIGHT,
    against: Best | None = None,
) -> list[Signals]:
    """Return the signals of each memory, best first. A memory is as good as its best passage.

    Each part is normalized by the best hit here, or by `against`; then values above 1 become 1.
    """
    hits = {(hit.id, hit.passage): hit for hit in (*own, *beside, *near)}
    best_here = best_of(own, beside, near)
    scale = against or best_here
    by_words, by_window = _against(own, scale.words), _against(beside, scale.window)
    cosine = {(hit.id, hit.passage): hit.score for hit in near}
    low, spread, weight = best_here.low, (scale.high - scale.low) or 1.0, scale.weight
    ranks = _reciprocal_ranks(own, near)
    closest: dict[str, float] = {}
    for hit in near:
        closest[hit.id] = max(closest.get(hit.id, -1.0), hit.score)
    best: dict[str, _Best] = {}
    shown: dict[str, tuple[float, int]] = {}
    for key, hit in hits.items():
        id, is_condition = hit.id, hit.field == WHEN
        share = WHEN_WORDS_WEIGHT if is_condition else body_words
        by, meaning = by_words.get(key, 0.0), _share(cosine.get(key, scale.low) - scale.low, spread)
        around = 0.0 if hit.alone else by_window.get(key, 0.0)
        weights = (share, 1 - share, 0.0) if hit.alone else (share / 2, (1 - share) / 2, weight / 2)
        score = weights[0] * by + weights[1] * meaning + weights[2] * around
        if not is_condition:
            shown[id] = max(shown.get(id, (-1.0, 0)), (score, -hit.passage))
        if id not in best or score > best[id][0]:
            best[id] = (score, hit, (by, meaning, around), weights)
    found = []
    for id, (score, hit, values, weights) in best.items():
        parts = tuple(zip(PARTS, values, weights, strict=True))
        at, near_by = -shown.get(id, (0.0, 0))[1], cosine.get((id, hit.passage), low)
        found.append(
            unchecked(
                Signals, id=id, passage=at, score=score, relevance=closest.get(id, low), cosine=near_by,
                words=values[0], ranks=ranks.get(id, 0.0), parts=parts, field=hit.field,
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (-one.score, one.id))


def best_of(own: Sequence[Hit], beside: Sequence[Hit], near: Sequence[Hit]) -> Best:
    """Return the best values by words, by surrounding words, and by meaning."""
    low, high = min((hit.score for hit in near), default=0.0), _top(near)
    surrounded = _top([hit for hit in near if not hit.alone])
    return Best(_top(own), _top(beside), low, high, max(0.0, surrounded / high) ** 2 if high > 0 else 0.0)


def _top(hits: Sequence[Hit]) -> float:
    return max((hit.score for hit in hits), default=0.0)


def _against(hits: Sequence[Hit], best: float) -> dict[Key, float]:
    """Return each hit's score as a share of `best`, or of the best hit if `best` is 0."""
    top = best or _top(hits)
    return {(hit.id, hit.passage): _share(hit.score, top) for hit in hits} if top > 0 else {}


def _share(part: float, whole: float) -> float:
    return max(0.0, min(1.0, part / whole))


def _reciprocal_ranks(*lists: Sequence[Hit]) -> dict[str, float]:
    """Return the sum of 1 / (60 + rank) over both lists (RFC-0011); each memory counts once per list."""
    ranks: dict[str, float] = {}
    for hits in lists:
        for rank, id in enumerate(dict.fromkeys(hit.id for hit in hits), 1):
            ranks[id] = ranks.get(id, 0.0) + 1 / (RRF_K + rank)
    return ranks
