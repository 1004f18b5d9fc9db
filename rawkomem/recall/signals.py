"""A question, prepared once for all steps of recall, and the signals of each memory for it.

A passage's own words, the words around it and its meaning are normalized to the best of each, then
mixed. Reciprocal ranks would discard the distances (measured: worse on every set). The mixed score
is only for ranking: the best hit is near 1 even if nothing fits. The relevance, which is the cosine
itself, shows whether anything fits.
"""

from __future__ import annotations

from ..embed.embedder import STATIC_SCALE
from ..index.stores.sqlite import BODY, DEEP, FIRST, REST, WHEN, Hit, best_hits
from ..model.entries import Task
from ..model.filters import Filter, read_filter
from ..model.values import IMPORTANCE, TYPE_CHECKING, record, replace, unchecked
from ..state.trust import Standing, Trust, Weak
from ..text.clean import clean
from ..text.language import language
from ..text.prompts import read_prompt, sentences_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..embed.embedder import Embedder
    from ..git.citations import Cited
    from ..index.stores.protocol import SearchStore
    from ..model.filters import Words
    from ..text.conditions import Fired, Situation

Key = tuple[str, int]
Three = tuple[float, float, float]
_Best = tuple[float, Hit, Three, Three]


# Limits of search and injection. This module imports little, because every command imports it.

MAX_INJECTED = 5  # SPEC-0009
# memories with their text in one prompt, by default: more of them are mostly wrong
MAX_FULL = 3
MAX_POINTERS = 4  # further memories that a prompt names in one line each
DEFAULT_RESULTS = 10  # of a search without a limit
MAX_UNVERIFIED = 1  # memories that no person vouches for, in one injection
MAX_SIMILAR = 3  # earlier tasks that a query returns (LLMos)
MIN_CONFIDENCE = 0.4  # probability of relevance that an injected memory needs
# … beside another one, or in a long task
MIN_BESIDE = 0.75
MIN_RULE_BESIDE = 0.6  # … of a vouched rule that an import moved in, if the task names a word of its title
SHORT_RULE_CHARS = 300  # of such a rule that needs no more beside another than alone
MIN_POINTER = 0.2  # probability of relevance that a pointer needs
MIN_SIMILARITY = 0.3  # cosine of an earlier task (LLMos)
MIN_LESSON_CONFIDENCE = 0.7  # that an injected lesson needs (RFC-0011)
LESSON_DAYS = 365  # since a lesson was last confirmed; older lessons are not injected
BUDGET_TOKENS = 2_000  # of an injection; the model reads them again on every later turn

SPECIALTIES = {  # type of agent → tags that belong to it (SPEC-0009)
    "planner": ("planning", "structure", "analysis", "architecture"),
    "developer": ("implementation", "code", "patterns", "development"),
    "tester": ("testing", "validation", "quality", "tests"),
    "reviewer": ("review", "quality", "standards", "code-review"),
}


@record
class Limits:
    """The limits of an injection, and its default profile."""

    max_injected: int = -1  # below 0: as many as the profile says
    min_importance: str = IMPORTANCE[0]
    min_confidence: float = MIN_CONFIDENCE
    min_beside: float = MIN_BESIDE  # … beside another one; the profile decides it
    budget: int = BUDGET_TOKENS
    max_unverified: int = MAX_UNVERIFIED
    min_lesson_confidence: float = MIN_LESSON_CONFIDENCE
    lesson_days: int = LESSON_DAYS
    profile: str = ""  # used if the caller names none; empty: the default


# Make a Filter from the options of a command line, a tool call or a page.


def filter_of(**words: Words) -> Filter:
    """Return the Filter for these options. Raise BadInput if a value is invalid."""
    only = read_filter(words)
    if only.where:
        from ..state.strength import FILTER_FIELDS, TIME_FIELDS, parse_expression

        parse_expression(only.where, FILTER_FIELDS, TIME_FIELDS)
    return only


# Clean a question and split it into words and stems, once for all later steps of recall.

MAX_QUESTION_CHARS = 10_000  # the rest of a longer text is ignored
MAX_QUERY_WORDS = 64  # distinct words in a full-text query
THIN_WORDS = 3  # a request with fewer content words says too little by itself
MAX_QUESTIONS_BEFORE = 3  # lines of the last exchange that a short answer refers to
# in a longer task, shared words do not prove that it names a title
LONG_TASK_WORDS = 40


@record
class Question:
    """A question or task, prepared for every step. A plain search fills in only `text` and `query_words`."""

    text: str  # cleaned; compared with memories by words and meaning
    query_words: tuple[
        str, ...
    ] = ()  # distinct content words of `text`, or all words if it has no content words
    task: str = ""  # cleaned; the task without its plan
    # stems of the task that may name a title; empty for a long task
    title_stems: frozenset[str] = frozenset()
    situation: Situation | None = None  # the text that conditions are matched against
    agent: str = ""
    session: str = ""
    # distinct content words of the request, without numbers
    content: tuple[str, ...] = ()
    # the whole request, then its sentences; compared by meaning
    sentences: tuple[str, ...] = ()
    pasted: Situation | None = None  # pasted text: names in it may fire conditions
    at: int = 0  # time of the question, in milliseconds since 1970


def cut_note(texts: Iterable[str]) -> str:
    """Return a note if a text is so long that only its beginning is used; else empty."""
    longest = max(map(len, texts), default=0)
    if longest <= MAX_QUESTION_CHARS:
        return ""
    return f"the question has {longest:,} characters: only {MAX_QUESTION_CHARS:,} of them are used"


def question_of(text: str) -> Question:
    """Return the question for a plain search."""
    text = clean(text[:MAX_QUESTION_CHARS])
    return Question(text, query_words(text))


def question_of_task(task: Task, at: int) -> Question:
    """Return the question of a task: the request without pasted text, and the situations for its conditions."""
    from ..text.conditions import situation_of  # a search needs none

    read = read_prompt(task.text)
    said = clean(read.ask)
    if task.lately and said and _is_answer(said):
        said = f"{said}\n{_question_before(task.lately, said)}".strip()
    plan = clean(task.plan[:MAX_QUESTION_CHARS]) if task.plan else ""
    text = " ".join(part for part in (_without_words(said, _is_path), plan) if part)
    matched = " ".join(part for part in (said, task.agent, plan) if part)
    situation = situation_of(matched[:MAX_QUESTION_CHARS])
    spoken = situation_of(
        _without_words(matched, _is_place)[:MAX_QUESTION_CHARS], situation.engine
    )
    situation = replace(situation, words=spoken.words, stems=spoken.stems)
    pasted = situation_of(clean(read.paste)) if read.paste else None
    is_long = len(said.split()) > LONG_TASK_WORDS
    stems = frozenset(() if is_long else language().stems(said))
    content = tuple(
        word
        for word in dict.fromkeys(language().content_terms(text))
        if not word.isdecimal()
    )
    parts = tuple(dict.fromkeys((text, *sentences_of(text)))) if text.strip() else ()
    return Question(
        text, query_words(text), said, stems, situation, task.agent, task.session,
        content, parts, pasted, at,
    )  # fmt: skip


def _is_answer(said: str) -> bool:
    """Return whether a request only answers: it says almost nothing by itself, or it is a numbered list."""
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    return len(language().content_terms(said)) < THIN_WORDS or all(
        map(_number_of, lines)
    )


def _question_before(lately: str, answer: str) -> str:
    """Return the questions of the last exchange: those with the numbers of a numbered answer, else the last ones."""
    lines = [
        line.strip("*_#> \t") for line in clean(read_prompt(lately).ask).split("\n")
    ]
    numbers = {*filter(None, map(_number_of, answer.split()))}
    asked = [line for line in lines if _number_of(line) in numbers]
    asked = asked or [line for line in lines if "?" in line][-MAX_QUESTIONS_BEFORE:]
    return "\n".join(asked)


def _number_of(line: str) -> str:
    """Return the number at the start of a line like `2. Only admins`; empty if there is none."""
    number = line[: len(line) - len(line.lstrip("0123456789"))]
    return number if line[len(number) :][:1] in (".", ")", ":") else ""


def _without_words(text: str, is_left_out: Callable[[str], bool]) -> str:
    lines = (line.split(" ") for line in text.split("\n"))
    return "\n".join(
        " ".join(word for word in line if not is_left_out(word)) for line in lines
    )


def _is_path(word: str) -> bool:
    """Return whether a word is a URL or a path of two or more slashes: its words are not the subject."""
    return word.count("/") > 1


def _is_place(word: str) -> bool:
    """Return whether a word is a URL or an absolute path: a pattern that is a word does not fire in it."""
    return _is_path(word) and (word.startswith(("/", "~")) or "://" in word)


def query_words(text: str) -> tuple[str, ...]:
    found = language().content_terms(text) or language().terms(text)
    return tuple(dict.fromkeys(found))[:MAX_QUERY_WORDS]


# Combine the results of word search and vector search into one score per memory.
#
# A passage's own words, the words around it and its meaning are normalized to the best of each,
# then mixed. Reciprocal ranks would discard the distances (measured: worse on every set). The
# mixed score is only for ranking: the best hit is near 1 even if nothing fits. The relevance,
# which is the cosine itself, shows whether anything fits.

MAX_NEAREST = 100  # passages from the vector search; their spread normalizes the cosine
# passages whose phrases are compared with a question in a script other than Latin
MAX_COMPARED = 30
MAX_MATCHING = 200  # passages from the word search
# of words, the rest is meaning, in a body: names and numbers count
BODY_WORDS_WEIGHT = 0.4
# … with contextual vectors: +.02 recall@5 on CoSQA, -.006 on LoCoMo
DEEP_BODY_WORDS_WEIGHT = 0.3
# … and in a condition: for short sentences, meaning counts more
WHEN_WORDS_WEIGHT = 0.2
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
    # its standing, if no person vouches for it and that matters
    unverified: Standing | None = None
    weak: tuple[Weak, ...] = ()  # sources of the memory that are no longer valid
    # a person contradicted it in a session, in an item before it
    overruled: bool = False
    # the session received an earlier text of it
    is_new_text: bool = False
    trust: Trust | None = None  # if the profile uses it
    # time of the last injection or search hit, if the profile uses it; 0: never
    accessed: int = 0
    # with the question, in a script without vectors: passes the gate
    shares_phrase: bool = False
    parts: tuple[
        tuple[str, float, float], ...
    ] = ()  # (part, value, weight): they sum up to the score
    field: str = BODY  # of the best passage
    # for and against its relevance; see relevance.py
    evidence: tuple[tuple[str, float], ...] = ()
    confidence: float = 0.0  # the probability that it is relevant


@record
class Spaces:
    """The embedders of the vector tiers. `deep` is that of the second tier, if it holds nearly all memories."""

    first: Embedder
    deep: Embedder | None
    # (embedder, text) → vector: cache for one question
    kept: dict[tuple[str, str], bytes]
    # median and spread of the cosines of unrelated sentences in the first tier
    scale: tuple[float, float] = STATIC_SCALE

    def as_static(self, cosine: float) -> float:
        """Return a cosine of the first tier as the bundled vectors would have it: limits and weights are made for those."""
        (middle, spread), (usual, usual_spread) = self.scale, STATIC_SCALE
        if self.scale == STATIC_SCALE or not spread:
            return cosine
        return usual + (cosine - middle) * usual_spread / spread


@record
class Best:
    """The best and the worst values of a search, by which each hit is normalized."""

    words: float  # BM25
    window: float  # BM25 with surroundings
    low: float  # cosine
    high: float  # cosine
    # of surroundings: low if a passage without any is closer, so that chats do not displace conditions
    weight: float


def find_signals(
    store: SearchStore,
    spaces: Spaces,
    questions: Sequence[Question],
    *filters: Filter,
    by_first: bool = False,
) -> list[list[Signals]]:
    """Return for each question and each filter the memories that share words or meaning with it, best first.

    With `by_first`, the results of all filters are normalized by those of the first, so that scores are comparable.
    """
    for question in questions:
        for space in filter(None, (spaces.first, spaces.deep)):
            # all sentences in one call
            embedded_texts(spaces, space, question.sentences)
    texts = [question.text for question in questions if question.text.strip()]
    near = iter(nearest_passages(store, spaces, texts, filters))
    body_words = DEEP_BODY_WORDS_WEIGHT if spaces.deep else BODY_WORDS_WEIGHT
    found = []
    for question in questions:
        best = None
        for only in filters:
            own = store.matching(question.query_words, MAX_MATCHING, only)
            around = store.matching(
                question.query_words, MAX_MATCHING, only, around=True
            )
            close = next(near) if question.text.strip() else []
            fused = fuse(own, around, close, body_words, best)
            best = best or (best_of(own, around, close) if by_first else None)
            if not question.text.isascii():
                fused = _with_phrases(store, question.text, own, fused)
            found.append(fused)
    return found


def _with_phrases(
    store: SearchStore, asked: str, own: Sequence[Hit], found: list[Signals]
) -> list[Signals]:
    """Mark the memories that share a phrase in a script other than Latin with the question."""
    # tables that ASCII questions do not need
    from ..text.scripts import foreign_phrases

    wanted = foreign_phrases(asked)
    if not wanted:
        return found
    sharing: set[str] = set()
    for hit in own[:MAX_COMPARED]:
        if hit.id not in sharing and wanted & foreign_phrases(
            store.passage(hit.id, hit.passage)
        ):
            sharing.add(hit.id)
    return [
        replace(signals, shares_phrase=True) if signals.id in sharing else signals
        for signals in found
    ]


def nearest_passages(
    store: SearchStore, spaces: Spaces, texts: list[str], filters: Sequence[Filter]
) -> list[list[Hit]]:
    """Return the closest passages for each text and filter. Memories that are not in the second tier use the first."""
    tiers = [(spaces.first, FIRST)]
    if spaces.deep is not None:
        held, count = store.depth()
        tiers = [(spaces.deep, DEEP), *([(spaces.first, REST)] if held < count else ())]
    found: list[list[Hit]] = [[] for _ in texts for _ in filters]
    for embedder, tier in tiers if texts else ():
        places = iter(found)
        for vector in embedded_texts(spaces, embedder, texts):
            for only in filters:
                hits = next(places)
                hits += store.nearest(vector, MAX_NEAREST, only, tier)
                hits[:] = best_hits(hits, MAX_NEAREST)
    return found


def embedded_texts(
    spaces: Spaces, embedder: Embedder, texts: Sequence[str]
) -> list[bytes]:
    """Return the vectors of texts, and cache them."""
    missing = [
        text
        for text in dict.fromkeys(texts)
        if (embedder.name, text) not in spaces.kept
    ]
    for text, vector in zip(
        missing, embedder.embed(missing) if missing else (), strict=True
    ):
        spaces.kept[embedder.name, text] = vector
    return [spaces.kept[embedder.name, text] for text in texts]


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
    by_words = _shares_of_best(own, scale.words)
    by_window = _shares_of_best(beside, scale.window)
    cosine = {(hit.id, hit.passage): hit.score for hit in near}
    low = best_here.low
    spread = (scale.high - scale.low) or 1.0
    weight = scale.weight
    ranks = _reciprocal_ranks(own, near)
    closest: dict[str, float] = {}
    for hit in near:
        closest[hit.id] = max(closest.get(hit.id, -1.0), hit.score)
    best: dict[str, _Best] = {}
    shown: dict[str, tuple[float, int]] = {}
    for key, hit in hits.items():
        id = hit.id
        is_condition = hit.field == WHEN
        share = WHEN_WORDS_WEIGHT if is_condition else body_words
        by = by_words.get(key, 0.0)
        meaning = _share(cosine.get(key, scale.low) - scale.low, spread)
        around = 0.0 if hit.alone else by_window.get(key, 0.0)
        if hit.alone:
            weights = (share, 1 - share, 0.0)
        else:
            weights = (share / 2, (1 - share) / 2, weight / 2)
        score = weights[0] * by + weights[1] * meaning + weights[2] * around
        if not is_condition:
            shown[id] = max(shown.get(id, (-1.0, 0)), (score, -hit.passage))
        if id not in best or score > best[id][0]:
            best[id] = (score, hit, (by, meaning, around), weights)
    found = []
    for id, (score, hit, values, weights) in best.items():
        parts = tuple(zip(PARTS, values, weights, strict=True))
        at = -shown.get(id, (0.0, 0))[1]
        near_by = cosine.get((id, hit.passage), low)
        found.append(
            unchecked(
                Signals, id=id, passage=at, score=score, relevance=closest.get(id, low), cosine=near_by,
                words=values[0], ranks=ranks.get(id, 0.0), parts=parts, field=hit.field,
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (-one.score, one.id))


def best_of(own: Sequence[Hit], beside: Sequence[Hit], near: Sequence[Hit]) -> Best:
    """Return the best values by words, by surrounding words, and by meaning."""
    low = min((hit.score for hit in near), default=0.0)
    high = _top_score(near)
    surrounded = _top_score([hit for hit in near if not hit.alone])
    return Best(
        _top_score(own),
        _top_score(beside),
        low,
        high,
        max(0.0, surrounded / high) ** 2 if high > 0 else 0.0,
    )


def _top_score(hits: Sequence[Hit]) -> float:
    return max((hit.score for hit in hits), default=0.0)


def _shares_of_best(hits: Sequence[Hit], best: float) -> dict[Key, float]:
    """Return each hit's score as a share of `best`, or of the best hit if `best` is 0."""
    top = best or _top_score(hits)
    if top > 0:
        return {(hit.id, hit.passage): _share(hit.score, top) for hit in hits}
    return {}


def _share(part: float, whole: float) -> float:
    return max(0.0, min(1.0, part / whole))


def _reciprocal_ranks(*lists: Sequence[Hit]) -> dict[str, float]:
    """Return the sum of 1 / (60 + rank) over both lists (RFC-0011); each memory counts once per list."""
    ranks: dict[str, float] = {}
    for hits in lists:
        for rank, id in enumerate(dict.fromkeys(hit.id for hit in hits), 1):
            ranks[id] = ranks.get(id, 0.0) + 1 / (RRF_K + rank)
    return ranks
