"""Gather the candidates for a task: memories that share words or meaning with it, or whose condition fired."""

from __future__ import annotations

from ..embed.wordpiece import knows
from ..model.kinds import GROUPS, IMPORTANCE
from ..model.record import record, replace
from ..state.derive import derived_from
from ..state.facets import claimed_about, claimed_for
from ..text.condition import SYMBOLS, WORDS, read_condition
from ..text.overlap import subject
from ..text.when import PASTED, RECENT, fires_on_subject, situation_of
from .order import in_order, is_critical
from .relevance.evidence import fired_beside
from .score import score
from .signals import Signals, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..git.citations import Cited
    from ..index.catalogue import Row
    from ..index.stores.protocol import SearchStore
    from ..index.views.view import View
    from ..model.entry import Memory
    from ..model.filters import Filter
    from ..state.belief.trust import Standing
    from ..state.derive import Weak
    from ..text.when import Fired, Situation
    from .profiles import Profile
    from .question import Question
    from .signals import Spaces

    Candidate = tuple[Memory, Signals]

MAX_FIRED = 50  # memories kept because a condition fired; of more, those that the profile scores best
MAX_WEIGHED = 1_000  # memories read to choose those (50 ms); of more, the most important and the last changed
MAX_CONSIDERED = 30  # search hits that are scored: no profile moves a memory from a lower rank to the top


@record
class Sources:
    """The sources of an injection's facts. The repository fills them in."""

    view: View
    store: SearchStore
    spaces: Spaces
    fired: Callable[[Situation], Mapping[str, Fired]]
    accessed: Callable[[], Mapping[str, int]]
    cited: Callable[[Memory], tuple[Cited, ...]]
    doubting: bool  # whether it matters if a person vouches for a memory
    told: frozenset[str] = frozenset()  # keys of the texts that the session has received before (told.py)

    def filters(self) -> dict[bool | None, Filter]:
        """Return the filters for the store: one for vouched and one for other memories, or a single one under None."""
        return self.view.groups() if self.doubting else {None: self.view.stored}

    def sample(self, count: int) -> list[str]:
        """Return ids of some memories, spread evenly; only vouched ones if vouching matters and others exist."""
        return self.view.catalogue.sample(count, self._counts_vouched())

    def count(self) -> int:
        """Return the number of memories, at least 1; only vouched ones if vouching matters and others exist."""
        return max(1, self.view.catalogue.count(self._counts_vouched()))

    def _counts_vouched(self) -> bool:
        return self.doubting and self.view.catalogue.has_unvouched()

    def row(self, id: str) -> Row | None:
        """Return the index row of a memory, also if the filter excludes it; None if it is unknown."""
        return self.view.catalogue.row(id)

    def may_be(self, id: str, vouched: bool | None) -> bool:
        """Return whether a memory, before it is read, may have this value of `vouched`."""
        return True

    def unverified(self, memories: Iterable[Memory]) -> Mapping[str, Standing]:
        """Return the standing of the memories that no person vouches for, by id; empty if vouching does not matter."""
        return self.view.believed.unverified(memories) if self.doubting else {}

    def successors(self, memory: Memory) -> list[str]:
        """Return the ids of the memories that undecided proposals name as successors of a memory."""
        if not memory.proposed:
            return []
        waiting = [entry for entry in self.view.past.entries_about(memory.id) if entry.id in memory.proposed]
        return [str(entry.extra["supersededBy"]) for entry in waiting if "supersededBy" in entry.extra]


def gather(sources: Sources, question: Question, profile: Profile) -> list[Candidate]:
    """Return every memory worth scoring, with its signals."""
    filters = sources.filters()
    situation = question.situation or situation_of(question.text)
    fired = {**sources.fired(situation)}
    fired |= fired_beside(sources, question, fired)
    candidates: list[Candidate] = []
    answers = find(sources.store, sources.spaces, [question], *filters.values())
    for vouched, found in zip(filters, answers, strict=True):
        usable = _with_facts(sources, profile, _usable(sources, _with_fired(sources, found, fired), vouched))
        candidates += _with_sources(sources, _cut(usable, profile, question))
    candidates = _in_session(candidates, question.session)
    doubted = sources.unverified(memory for memory, _ in candidates)
    return _with_doubts(candidates, doubted, situation) if doubted else candidates


def _with_fired(sources: Sources, found: list[Signals], fired: Mapping[str, Fired]) -> list[Signals]:
    """Return the search hits, then other memories whose condition fired: patterns first, then sentences."""
    least = min((signals.relevance for signals in found), default=0.0)
    known = {signals.id for signals in found}
    marked = [_fired(signals, fired[signals.id]) if signals.id in fired else signals for signals in found]
    others = sorted((part.how == WORDS, id) for id, part in fired.items() if id not in known)
    if len(others) > MAX_WEIGHED:
        others.sort(key=lambda other: _weight(sources.row(other[1])))
    return marked + [_fired(Signals(id, relevance=least), fired[id]) for _, id in others]


def _weight(row: Row | None) -> tuple[int, int]:
    """Return a sort key: the most important memories first, then the last changed."""
    return (-IMPORTANCE.index(row.importance), -row.updated) if row else (1, 0)


def _usable(sources: Sources, found: Iterable[Signals], vouched: bool | None) -> list[Candidate]:
    """Return the best memories that may be injected, and those whose condition fired. `vouched` None: any."""
    kept: list[Candidate] = []
    found = [signals for signals in found if sources.may_be(signals.id, vouched)]
    sources.view.expect([signals.id for signals in found[:MAX_CONSIDERED]])
    for signals in found:
        if len(kept) >= (MAX_WEIGHED if signals.fired else MAX_CONSIDERED):
            continue
        memory = sources.view.memory(signals.id)
        if memory is None or vouched not in (None, memory.vouched):  # conditions fire for both
            continue
        if not memory.path.startswith("archive/") and memory.kind not in GROUPS:
            kept.append((memory, signals))
    return kept


def _with_facts(sources: Sources, profile: Profile, candidates: list[Candidate]) -> list[Candidate]:
    """Add the last access and the trust of each memory, if the profile uses them."""
    if profile.uses("decay"):
        accessed = sources.accessed()
        candidates = [(memory, replace(signals, accessed=accessed.get(memory.id, 0))) for memory, signals in candidates]
    if profile.uses("trust"):
        trust = sources.view.believed.trust
        candidates = [(memory, replace(signals, trust=trust(memory))) for memory, signals in candidates]
    return candidates


def _fired(signals: Signals, part: Fired) -> Signals:
    """Add the part that fired. A term that has no vector, as in scripts other than Latin, counts as a shared phrase."""
    literal = part.how not in (WORDS, PASTED, RECENT) and _is_unknown(part.text)
    return replace(signals, fired=part, shares_phrase=signals.shares_phrase or literal)


def _is_unknown(term: str) -> bool:
    """Return whether a term has no vector: it is in a script other than Latin, or consists of emoji."""
    return bool(term) and (not knows(term) or (term > SYMBOLS and not any(map(str.isalnum, term))))


def _cut(candidates: list[Candidate], profile: Profile, question: Question) -> list[Candidate]:
    """Return the candidates with at most MAX_FIRED whose condition fired: critical ones first, then by score.

    The state of the cited code is not checked here, because that reads files.
    """
    fired = [candidate for candidate in candidates if candidate[1].fired]
    if len(fired) <= MAX_FIRED:
        return candidates
    best = sorted(in_order(score(fired, profile, question), profile.margin), key=lambda item: not is_critical(item))
    kept = {item.memory.id for item in best[:MAX_FIRED]}
    return [(memory, signals) for memory, signals in candidates if not signals.fired or memory.id in kept]


def _with_sources(sources: Sources, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Add the state of the code that each memory cites, and the weak sources that it was made from."""
    return [
        (memory, replace(signals, cited=sources.cited(memory), weak=_weak(sources, memory)))
        for memory, signals in candidates
    ]


def _weak(sources: Sources, memory: Memory) -> tuple[Weak, ...]:
    return sources.view.believed.weak_sources(memory) if derived_from(memory) else ()


def _in_session(candidates: list[Candidate], session: str) -> list[Candidate]:
    """Drop claims of other sessions, and general claims that a claim of this session overrides."""
    own: dict[tuple[str, str] | None, bool] = {}  # subject of this session's claims → whether a person vouches
    for memory, _ in candidates:
        if session and claimed_for(memory) == session:
            own[claimed_about(memory)] = own.get(claimed_about(memory), False) or memory.vouched

    def is_overridden(memory: Memory) -> bool:
        about = claimed_about(memory)
        return about in own and (own[about] or not memory.vouched)

    return [
        (memory, signals)
        for memory, signals in candidates
        if claimed_for(memory) == session or (not claimed_for(memory) and not is_overridden(memory))
    ]


def _with_doubts(candidates: list[Candidate], doubted: Mapping[str, Standing], situation: Situation) -> list[Candidate]:
    """Mark the memories that no person vouches for. Their conditions must fire on the subject, not on stop words."""
    situation = replace(situation, engine=situation.engine.apart())
    about = situation_of(subject(situation.text), situation.engine)
    marked = []
    for memory, signals in candidates:
        if memory.id in doubted:
            firm = any(fires_on_subject(read_condition(one), situation, about) for one in memory.when if signals.fired)
            faint = bool(signals.fired) and not firm
            signals = replace(signals, unverified=doubted[memory.id], is_faint=faint)
        marked.append((memory, signals))
    return marked
