"""Compute the evidence for and against the relevance of a memory to a task, as named values.

Each memory is judged by itself, no matter how well other memories fit. The usual values of the repository (the cosine
of memories with any prompt, the number of memories that contain a word) come only from vouched memories. So nobody
can change the result for these by adding other memories.
"""

from __future__ import annotations

import math

from ...embed.rarity import Rarity
from ...index.stores.documents import DEEP, FIRST, WHEN
from ...model.filters import Filter
from ...model.record import record, replace
from ...text.condition import ALTERNATIVES, WORDS, read_condition
from ...text.language import language
from ...text.overlap import is_language
from ...text.when import PASTED, PATH, RECENT, Fired, fires
from ..question import THIN_WORDS
from ..signals import embedded
from .confidence import confidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...embed.protocol import Embedder
    from ...index.stores.protocol import SearchStore
    from ...index.stores.sqlite import Compared, Holders
    from ...model.entry import Memory
    from ..gather import Candidate, Sources
    from ..question import Question

    Values = dict[str, float]

MAX_WORDS = 12  # of a request that are looked up, the rarest first
MAX_HOLDING = 100  # memories with a word that are counted; with more, the word is common
NOBODY: Holders = (0, frozenset())  # no memory contains the word
MAX_COMPARED = 2_000  # passages of the candidates and the sample that a sentence is compared with
USUAL_MEMORIES = 40  # in a smaller repository, each memory is more likely to be relevant
SAMPLE_MEMORIES = 40  # whose cosines with a prompt count as usual
USUAL_MEAN, USUAL_SPREAD, USUAL_WEIGHT = 0.12, 0.11, 12  # prior for small repositories, in cosines and samples
RARE_MEMORIES = 3  # a word that at most this many memories contain is rare
SUMMED_WORDS = 4  # rarest shared words whose weights are added
CLOSE_COSINE = 0.35  # below this cosine, a fired condition counts less
LONE_COSINE = 0.4  # … and below this one, a fired single ordinary word counts less
FULL_TERM_WEIGHT = 0.5  # from this weight on, a term that fires counts fully
FREE_MEMORIES = 4  # if more memories share a condition's term, it counts less
SHORT_WORDS, FEW_WORDS, LONG_WORDS = 6, 10, 25  # content words of a request
NAME_SIGNS = "_-./:~0123456789"  # a term with one of these is a name, a path or a number
PROJECT_WORD_WEIGHT = 0.35  # of a short word that is not in the vocabulary
NAME_CHARS = 6  # of a word that is not in the vocabulary; shorter ones (git, npm) are in every project


@record
class Usual:
    """Mean and spread of the cosines of one sentence with a sample of the memories."""

    mean: float
    spread: float


def judged(sources: Sources, question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, each with its evidence and the probability that it is relevant."""
    if not candidates:
        return []
    sample = sources.sample(SAMPLE_MEMORIES)
    spoken = {memory.id: _sentences_at(memory) for memory, _ in candidates}
    near = _closeness(sources, question, candidates, sample, spoken)
    said = _Words(sources, question, [memory.id for memory, _ in candidates])
    fired = _Terms(question, candidates, said)
    asked = {**_about(question), "few_memories": math.log(USUAL_MEMORIES / min(USUAL_MEMORIES, len(sample) or 1))}
    judged = []
    for memory, signals in candidates:
        values = {**asked, **near.get(memory.id, {}), **said.shared(memory), **fired.of(memory)}
        values["spoken"] = float(2 * len(spoken[memory.id]) > len(memory.when))
        values["few_memories"] *= 1 - values["spoken"]  # for sentences, the cosine is enough
        if fired.is_lone(memory) and "meaning" in values:
            values["fired_few"] = (
                values.get("fired_few", 0.0) * min(1.0, max(0.0, values["meaning"]) / LONE_COSINE) ** 2
            )
        if signals.is_faint:
            values |= dict.fromkeys(("fired", "fired_few", "fired_path"), 0.0)
        values["fired_far"] = values.get("fired", 0.0) * max(0.0, CLOSE_COSINE - values.get("meaning", 0.0))
        deep = sources.spaces.deep is not None
        judged.append((memory, replace(signals, evidence=tuple(values.items()), confidence=confidence(values, deep))))
    return judged


def _about(question: Question) -> Values:
    """Return the evidence from the prompt's length: a short prompt rarely needs a memory."""
    count = len(question.content)
    return {
        "thin": float(count < THIN_WORDS),
        "short": float(count < SHORT_WORDS),
        "long": math.log1p(max(0, count - LONG_WORDS)),
    }


def _closeness(
    sources: Sources, question: Question, candidates: Sequence[Candidate], sample: Sequence[str],
    spoken: Mapping[str, frozenset[int]],
) -> dict[str, Values]:  # fmt: skip
    """Return for each memory its cosine with the closest sentence of the prompt, and how unusual that is."""
    if not question.sentences:
        return {}
    doubted = {memory.id for memory, signals in candidates if signals.unverified}
    vouched = ({memory.id for memory, _ in candidates} | set(sample)) - doubted
    # Two groups, because only MAX_COMPARED passages are compared: unvouched memories must not displace vouched ones.
    ids = [tuple(sorted(group)) for group in (vouched, doubted) if group]
    first = _compared(sources, sources.spaces.first, FIRST, question, ids, sample, spoken)
    if sources.spaces.deep is None:
        return first
    deep = _compared(sources, sources.spaces.deep, DEEP, question, ids, sample, spoken)
    return {
        id: {**deep.get(id, values), "first_meaning": values["meaning"], "first_unusual": values["unusual"]}
        for id, values in first.items()
    }


def _sentences_at(memory: Memory) -> frozenset[int]:
    """Return the indexes of a memory's conditions that are sentences, not patterns."""
    return frozenset(at for at, condition in enumerate(memory.when) if is_language(condition))


def _compared(
    sources: Sources, embedder: Embedder, tier: str, question: Question,
    ids: Sequence[tuple[str, ...]], sample: Sequence[str], spoken: Mapping[str, frozenset[int]],
) -> dict[str, Values]:  # fmt: skip
    found: dict[str, Values] = {}
    closest: dict[str, dict[int, float]] = {}  # memory → passage → cosine with the closest sentence
    unusual: dict[str, float] = {}
    condition: dict[str, float] = {}  # memory → cosine of its closest condition that is a sentence
    usual = frozenset(sample)
    for hits in _cosines(sources.store, embedded(sources.spaces, embedder, question.sentences), ids, tier):
        common = _usual([cosine for id, _, _, cosine in hits if id in usual])
        near = [hit for hit in hits if hit[0] in spoken]
        first_condition: dict[str, int] = {}
        for id, number, field, _ in near:
            if field == WHEN and number < first_condition.get(id, MAX_COMPARED):
                first_condition[id] = number
        best: dict[str, float] = {}
        for id, number, field, cosine in near:
            own = closest.setdefault(id, {})
            if cosine > own.get(number, -1.0):
                own[number] = cosine
            if cosine > best.get(id, -1.0):
                best[id] = cosine
            if field == WHEN and cosine > condition.get(id, 0.0) and number - first_condition[id] in spoken[id]:
                condition[id] = cosine
        for id, cosine in best.items():
            unusual[id] = max(unusual.get(id, -9.0), (cosine - common.mean) / common.spread)
    for id, cosines in closest.items():
        best_two = sorted(cosines.values())[-2:]
        found[id] = {
            "meaning": best_two[-1],
            "unusual": unusual.get(id, -9.0),
            "condition_meaning": condition.get(id, 0.0),
            "agreement": best_two[0],  # of the second closest passage or condition
        }
    return found


def _cosines(
    store: SearchStore, vectors: Sequence[bytes], ids: Sequence[tuple[str, ...]], tier: str
) -> Iterable[Sequence[Compared]]:
    """Return for each vector the (memory, passage, field, cosine) of all passages of these groups of memories."""
    found: list[list[Compared]] = [[] for _ in vectors]
    for group in ids:
        for several, more in zip(found, compared(store, vectors, group, tier), strict=True):
            several += more
    return [several for several in found if several]


def compared(
    store: SearchStore, vectors: Sequence[bytes], ids: Sequence[str], tier: str
) -> Sequence[Sequence[Compared]]:
    """Return for each vector the (memory, passage, field, cosine) of all passages of these memories."""
    quick = getattr(store, "compared", None)
    if quick:
        return quick(vectors, ids, tier, MAX_COMPARED)  # type: ignore[no-any-return]
    hits = (store.nearest(vector, MAX_COMPARED, Filter(ids=ids), tier) for vector in vectors)
    return [[(hit.id, hit.passage, hit.field, hit.score) for hit in several] for several in hits]


def _usual(cosines: Sequence[float]) -> Usual:
    """Return mean and spread of the cosines with the sample, mixed with a prior that matters if there are few."""
    count = len(cosines) + USUAL_WEIGHT
    mean = (sum(cosines) + USUAL_WEIGHT * USUAL_MEAN) / count
    square = sum((cosine - mean) ** 2 for cosine in cosines) + USUAL_WEIGHT * USUAL_SPREAD**2
    return Usual(mean, max(0.01, math.sqrt(square / count)))


class _Words:
    """The content words of a request: how rare each is, in general and here, and which memories contain it."""

    def __init__(self, sources: Sources, question: Question, ids: Sequence[str]):
        self.rarity = Rarity()
        filters = sources.filters()
        self._count = sources.count()
        asked = sorted(question.content, key=lambda word: (-self.rarity(word), word))[:MAX_WORDS]
        self._holding: dict[bool, dict[str, Holders]] = {}  # vouched → word → memories
        for vouched, only in filters.items():
            held = holders_of(sources.store, asked, only, ids)
            self._holding |= dict.fromkeys((True, False) if vouched is None else (vouched,), held)
        self._usual = self._holding.get(True) or self._holding.get(False, {})

    def weight(self, word: str) -> float:
        """Return the weight of a word: high if it is rare in general and few memories contain it."""
        holding = self._usual.get(word, NOBODY)[0] or 1
        return self.rarity(word) * math.log(1 + self._count / holding) / math.log(1 + max(2, self._count))

    def shared(self, memory: Memory) -> Values:
        """Return the evidence from the words that a memory shares with the request."""
        held = self._holding.get(memory.vouched) or self._usual
        words = [word for word, (_, ids) in held.items() if memory.id in ids]
        weights = sorted(map(self.weight, words), reverse=True)
        few = max(RARE_MEMORIES, self._count // 50)
        rare = [self.rarity(word) for word in words if self._usual.get(word, NOBODY)[0] <= few]
        return {"shared_words": sum(weights[:SUMMED_WORDS]), "rare_word": max(rare, default=0.0)}


def holders_of(store: SearchStore, words: Sequence[str], only: Filter, ids: Sequence[str]) -> dict[str, Holders]:
    """Return for each word how many memories contain it, and which of `ids` do."""
    quick = getattr(store, "holders", None)
    if quick:
        return dict(quick(words, MAX_HOLDING, only, ids))
    found = {word: {hit.id for hit in store.matching([word], MAX_HOLDING, only)} for word in words}
    return {word: (len(holding), frozenset(holding.intersection(ids))) for word, holding in found.items()}


class _Terms:
    """The terms of conditions that fired in the request, in pasted text or in the last exchange."""

    def __init__(self, question: Question, candidates: Sequence[Candidate], words: _Words):
        self._question = question
        self._words = words
        self._terms = {memory.id: self._explicit(memory) for memory, signals in candidates if signals.fired}
        self._beside = {
            memory.id: signals.fired
            for memory, signals in candidates
            if signals.fired and signals.fired.how in (PASTED, RECENT)
        }
        self._times: dict[str, int] = {}  # term → number of vouched memories whose conditions it fires
        vouched = [memory for memory, signals in candidates if not signals.unverified]
        for memory in vouched:
            for term in {term for term, _ in self._terms.get(memory.id, ())}:
                self._times[term] = self._times.get(term, 0) + 1

    def _explicit(self, memory: Memory) -> list[tuple[str, bool]]:
        """Return the terms of patterns that fire in the request, and whether they fire outside of paths."""
        situation, said = self._question.situation, self._question.said
        found: list[tuple[str, bool]] = []
        if situation is None or said is None:
            return found
        for condition in map(read_condition, memory.when):
            parts = [(part,) for part in condition.parts] if condition.form == ALTERNATIVES else [condition.parts]
            for each in parts:
                one = replace(condition, parts=each)
                fired = fires(one, situation)
                if fired and fired.how != WORDS:
                    found.append((fired.text, fired.how == PATH or bool(fires(one, said))))
        return found

    def of(self, memory: Memory) -> Values:
        """Return the evidence from a memory's fired conditions."""
        terms = self._terms.get(memory.id, [])
        if not terms:
            beside = self._beside.get(memory.id)
            return {f"{beside.how}_name": float(self._is_name(beside.text))} if beside else {}
        said = [term for term, is_said in terms if is_said]
        if not said:
            return {"fired_path": 1.0}
        telling = min(1.0, max(self._telling(term) / self._crowd(term) for term in said) / FULL_TERM_WEIGHT)
        count = len(self._question.content)
        if count <= FEW_WORDS:
            return {"fired_few": telling}
        return {"fired": telling / max(1.0, count / LONG_WORDS) ** 2}  # in a long request, any term may occur by chance

    def is_lone(self, memory: Memory) -> bool:
        """Return whether only single ordinary words fired, like "git" in "show me the git log"."""
        said = [term for term, is_said in self._terms.get(memory.id, ()) if is_said]
        return bool(said) and all(len(language().words(term)) == 1 and not self._is_name(term) for term in said)

    def _crowd(self, term: str) -> float:
        """Return the divisor of a term's evidence: a term that fires for many memories says little about each."""
        return math.sqrt(max(1.0, self._times.get(term, 1) / FREE_MEMORIES))

    def _telling(self, term: str) -> float:
        """Return the weight of a term by itself. Words of every project (git, npm, login) weigh less than a name."""
        words = [word for word in language().words(term) if not language().is_stop(word)]
        if self._is_name(term) or not words:
            return 1.0
        return max(
            PROJECT_WORD_WEIGHT if self._words.rarity.is_name(word) else self._words.rarity(word) for word in words
        )

    def _is_name(self, term: str) -> bool:
        """Return whether a term is a name, a path or a number, not ordinary words."""
        if any(sign in NAME_SIGNS for sign in term):
            return True
        return any(len(word) >= NAME_CHARS and self._words.rarity.is_name(word) for word in language().words(term))


def fired_beside(sources: Sources, question: Question, fired: Mapping[str, Fired]) -> dict[str, Fired]:
    """Return the memories whose patterns fire in pasted text or, for a short request, in the last exchange."""
    found: dict[str, Fired] = {}
    for how, situation in ((RECENT, question.recent), (PASTED, question.pasted)):
        parts = sources.fired(situation) if situation else {}
        found |= {id: Fired(how, part.text) for id, part in parts.items() if id not in fired and part.how != WORDS}
    return found
