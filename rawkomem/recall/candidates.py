"""Gather the candidates for a task: memories that share words or meaning with it, or whose condition
fired; order them and drop outdated ones.
"""

from __future__ import annotations

from ..embed.static import is_embeddable
from ..index.index import View
from ..index.statements import opposed
from ..model.entries import Memory
from ..model.filters import Filter
from ..model.values import (
    ACTIVE,
    DAY,
    GROUPS,
    IMPORTANCE,
    TYPE_CHECKING,
    record,
    replace,
)
from ..state.trust import Standing, claimed_about, claimed_for, is_valid
from ..text.conditions import (
    PASTED,
    SYMBOLS,
    WORDS,
    Fired,
    Situation,
    fires_on_subject,
    read_conditions,
    situation_of,
    subject_text,
)
from .relevance import CRITICAL, fired_in_paste, is_sure, is_withdrawn, lesson_held_back
from .scoring import Profile, Reason, Scored
from .signals import Limits, Question, Signals, Spaces, find_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..git.citations import Cited
    from ..index.stores.protocol import SearchStore
    from ..state.contradictions import Prose

Candidate = tuple[Memory, Signals]


# Order the memories that passed the gate, by confidence, importance and age, and drop outdated ones.

STEP = 0.2  # of confidence; memories within one say as much about the task


def best_first(items: Iterable[Scored], profile: Profile) -> list[Scored]:
    """Return the items, best first. Items that no person vouches for come last.

    A profile with an `order` puts memories whose pattern fired first. Memories within a step of confidence are equally
    sure; these factors are added to it.
    """
    turns = []
    listed = sorted(items, key=_sure, reverse=True)
    # apart: others do not change the order of vouched ones
    for doubted in (
        False,
        True,
    ):
        top = 1.0 + STEP
        for item in listed:
            if bool(item.signals.unverified) == doubted:
                top = top if top - _sure(item) < STEP else _sure(item)
                turns.append((doubted, _turn(item, profile, top), item))
    return [item for *_, item in sorted(turns, key=lambda turn: turn[:2])]


def _sure(item: Scored) -> float:
    return item.signals.confidence or item.score


def _turn(
    item: Scored, profile: Profile, sure: float
) -> tuple[bool, float, int, int, str]:
    memory = item.memory
    worth = item.score
    is_first = False
    if profile.order:
        is_first = item.is_named or is_sure(item.signals)
        added = sum(factor.value * factor.weight for factor in item.order)
        stale = next(
            (one.value for one in item.factors if one.name == "citations"), 1.0
        )
        worth = (sure + added) * stale
    rank = IMPORTANCE.index(memory.importance)
    day = memory.worded // DAY
    return not is_first, -round(worth, 6), -rank, -day, memory.id


def is_critical(item: Scored) -> bool:
    """Return whether a memory has the importance `critical`."""
    return item.memory.importance == CRITICAL


def mark_outdated(items: Sequence[Scored], newer: Mapping[str, str]) -> list[Scored]:
    """Return the items; mark those that a newer memory contradicts. `newer` is the result of `newer_by_outdated`.

    A newer item takes the place of an older one in the order, if that place is better.
    """
    by_id = {item.memory.id: item for item in items}
    current: dict[str, Scored] = {}
    for id in by_id:
        while newer.get(id) in by_id:
            id = newer[id]
        current.setdefault(id, by_id[id])
    ordered = {**current, **by_id}
    return [
        replace(item, out=Reason("outdated", (newer[id],))) if id in newer else item
        for id, item in ordered.items()
    ]


def newer_by_outdated(
    sources: Sources, memories: Iterable[Memory], limits: Limits
) -> dict[str, str]:
    """Return id of an outdated memory → id of the newest memory that contradicts it, whether that is injected or not.

    A memory that must not be injected makes no other outdated, and a memory that no person vouches for makes no vouched
    one outdated.
    """
    by_id = {memory.id: memory for memory in memories}
    found: dict[str, Memory] = {}
    read: dict[str, Prose] = {}  # of a memory that is compared with many
    for id, other in opposed(sources.view.catalogue.db, [*by_id]) if by_id else ():
        older = by_id[id]
        newer = by_id.get(other) or sources.view.whole(other)
        known = found.get(id, older)
        if (
            newer is None
            or newer.worded <= known.worded
            or not may_be_injected(sources, newer, limits)
        ):
            continue
        # needed for few prompts
        from ..state.contradictions import disagreement, prose_of

        for one in (newer, older):
            if one.id not in read:
                read[one.id] = prose_of(one)
        if not disagreement(read[newer.id], read[id]):
            continue
        if sources.unverified([newer]) and not sources.unverified([older]):
            continue
        found[id] = newer
    return {id: newer.id for id, newer in found.items()}


def may_be_injected(sources: Sources, memory: Memory, limits: Limits) -> bool:
    """Return whether a memory is in use and neither withdrawn, nor made from a withdrawn one, nor a lesson held back."""
    at = sources.view.at
    if (
        memory.status != ACTIVE
        or memory.kind in GROUPS
        or memory.path.startswith("archive/")
    ):
        return False
    if (
        not is_valid(memory, at)
        or is_withdrawn(memory)
        or lesson_held_back(memory, limits, at)
    ):
        return False
    return not any(
        source.holds_back for source in sources.view.believed.weak_sources(memory)
    )


def corrections_first(items: Sequence[Scored]) -> tuple[Scored, ...]:
    """Move a person's statement from a session before the older memory that it contradicts, and mark the older one."""
    ordered = [*items]
    for item in [
        one for one in items if one.signals.unverified and one.signals.unverified.said
    ]:
        from ..state.contradictions import overrules, prose_of

        said = prose_of(item.memory)
        place = ordered.index(item)
        for at, one in enumerate(ordered):
            is_older = at != place and one.memory.worded <= item.memory.worded
            if is_older and overrules(said, prose_of(one.memory)):
                ordered[at] = replace(one, signals=replace(one.signals, overruled=True))
                if at < place:
                    ordered.insert(at, ordered.pop(place))
                    place = at
    return tuple(ordered)


# search hits: no profile moves a memory from a lower rank to the top
MAX_CONSIDERED = 30
# with the memories whose condition fired; of more, the most important ones
MAX_CANDIDATES = 50


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
    # keys of the texts that the session has received before
    told: frozenset[str] = frozenset()
    layer: str = ""  # its name; empty for the project
    # of ids that another layer has, too; empty if no other layer is asked
    prefix: str = ""
    shown: Callable[[str], str] = str  # returns the id under which a memory is shown
    explained: str = ""  # id of a memory that is judged, however many others fit better

    def own(self, memory: Memory) -> Memory:
        """Return a memory that is shown with its id in this layer."""
        if self.prefix:
            return replace(memory, id=memory.id.removeprefix(self.prefix))
        return memory

    def filters(self) -> dict[bool | None, Filter]:
        """Return the filters for the store: one for vouched and one for other memories, or a single one under None."""
        return self.view.groups() if self.doubting else {None: self.view.stored}

    def count(self) -> int:
        """Return the number of memories, at least 1; only vouched ones if vouching matters and others exist."""
        return max(1, self.view.count(self.doubting))

    def unverified(self, memories: Iterable[Memory]) -> Mapping[str, Standing]:
        """Return the standing of the memories that no person vouches for, by id; empty if vouching does not matter."""
        return self.view.believed.unverified(memories) if self.doubting else {}

    def successors(self, memory: Memory) -> list[str]:
        """Return the ids of the memories that undecided proposals name as successors of a memory."""
        entries = self.view.folding.entries_about(memory.id) if memory.proposed else ()
        waiting = [entry.extra for entry in entries if entry.id in memory.proposed]
        return [
            str(extra["supersededBy"]) for extra in waiting if "supersededBy" in extra
        ]


def gather(sources: Sources, question: Question, profile: Profile) -> list[Candidate]:
    """Return every memory worth scoring, with its signals."""
    situation = question.situation or situation_of(question.text)
    fired = {**sources.fired(situation)}
    fired |= fired_in_paste(sources, question, fired)
    filters = sources.filters()
    answers = find_signals(sources.store, sources.spaces, [question], *filters.values())
    candidates: list[Candidate] = []
    for vouched, found in zip(filters, answers, strict=True):
        candidates += _usable(sources, found, fired, vouched)
    return _with_facts(
        sources, _in_session(candidates, question.session), profile, situation
    )


def _usable(
    sources: Sources,
    found: Sequence[Signals],
    fired: Mapping[str, Fired],
    vouched: bool | None,
) -> list[Candidate]:
    """Return the best search hits that may be injected, then other memories whose condition fired. `vouched` None: any."""
    hits = {signals.id: signals for signals in found}
    least = min((signals.relevance for signals in found), default=0.0)
    chosen: dict[str, Candidate] = {}
    sources.view.expect([*hits][:MAX_CONSIDERED])

    def choose(ids: Iterable[str], most: int) -> None:
        for id in ids:
            if len(chosen) >= most:
                break
            memory = sources.view.memory(id)
            # conditions fire for both
            if memory is None or vouched not in (None, memory.vouched):
                continue
            if not memory.path.startswith("archive/") and memory.kind not in GROUPS:
                signals = hits.get(id) or Signals(id, relevance=least)
                part = fired.get(id)
                chosen[id] = (
                    memory,
                    _with_fired_part(signals, part) if part else signals,
                )

    choose(hits, MAX_CONSIDERED)
    choose(filter(None, [sources.explained]), MAX_CANDIDATES)
    others = [id for id in fired if id not in chosen]
    if len(chosen) + len(others) > MAX_CANDIDATES:
        weights = sources.view.catalogue.weights(others)
        others.sort(key=lambda id: _turn_of(*weights[id]) if id in weights else (1, 0))
    choose(others, MAX_CANDIDATES)
    return [*chosen.values()]


def _turn_of(importance: str, updated: int) -> tuple[int, int]:
    """Return a sort key: the most important memories first, then the last changed."""
    return -IMPORTANCE.index(importance), -updated


def _with_fired_part(signals: Signals, part: Fired) -> Signals:
    """Add the part that fired. A term that has no vector, as in scripts other than Latin, counts as a shared phrase."""
    is_word = part.how not in (WORDS, PASTED) and part.text != ""
    is_symbol = part.text > SYMBOLS and not any(map(str.isalnum, part.text))
    literal = is_word and (is_symbol or not is_embeddable(part.text))
    return replace(signals, fired=part, shares_phrase=signals.shares_phrase or literal)


def _with_facts(
    sources: Sources,
    candidates: list[Candidate],
    profile: Profile,
    situation: Situation,
) -> list[Candidate]:
    """Add the facts about each memory that the score and the gate need.

    The condition of a memory that no person vouches for must fire on the subject of the task, not on stop words.
    """
    believed = sources.view.believed
    accessed = sources.accessed() if profile.uses("decay") else {}
    doubted = sources.unverified(memory for memory, _ in candidates)
    if doubted:
        situation = replace(situation, engine=situation.engine.apart())
    if doubted:
        about = situation_of(subject_text(situation.text), situation.engine)
    else:
        about = situation
    found = []
    for memory, signals in candidates:
        standing = doubted.get(memory.id)
        faint = False
        if standing and signals.fired:
            conditions = read_conditions(memory.when, situation.engine)
            faint = not any(
                fires_on_subject(one, situation, about) for one in conditions
            )
        signals = replace(
            signals,
            accessed=accessed.get(memory.id, 0),
            trust=believed.trust(memory) if profile.uses("trust") else None,
            cited=sources.cited(memory),
            weak=believed.weak_sources(memory),
            unverified=standing,
            is_faint=faint,
        )
        found.append((memory, signals))
    return found


def _in_session(candidates: list[Candidate], session: str) -> list[Candidate]:
    """Drop claims of other sessions, and general claims that a claim of this session overrides."""
    own = [
        memory for memory, _ in candidates if session and claimed_for(memory) == session
    ]
    # An unvouched claim overrides only unvouched ones.
    overridden = {(claimed_about(memory), False) for memory in own}
    overridden |= {(claimed_about(memory), True) for memory in own if memory.vouched}
    return [
        (memory, signals)
        for memory, signals in candidates
        if claimed_for(memory) == session
        or not (
            claimed_for(memory) or (claimed_about(memory), memory.vouched) in overridden
        )
    ]
