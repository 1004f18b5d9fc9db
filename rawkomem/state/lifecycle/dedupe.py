"""Duplicates and corroboration. Vectors propose; a number, a negation or a title word that differs decides. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Plan
from ...model.kinds import ACTIVE, FADING
from ...text.overlap import specific
from ...text.same import DUPLICATE, NEAR_DUPLICATE, facts_in, identity
from ..changes.corroborate import confirming
from ..changes.supersede import superseding
from ..derive import derived_from
from ..facets import session_of
from ..references import CORROBORATED
from .held import missing_fact

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

    from ...model.entry import Entry, Memory
    from .census import Census

    # (ids in order, least cosine, ids to skip, how many at most) → id, [(later id, cosine)]; see index/views/
    Later = Callable[[Sequence[str], float, Collection[str], int], Iterator[tuple[str, list[tuple[str, float]]]]]

MAX_CORROBORATIONS = 4  # corroborations; more do not raise trust (neolata: 0.05 each, 0.2 at most)
MAX_COMPARED = 50  # similar memories for one that may be confirmed; bounds the work among thousands of lookalikes


def plan_dedupe(census: Census, later: Later, by: str = "") -> Plan:
    """Keep the best of memories that say the same: it supersedes the others, and other sources confirm it."""
    witnesses = Witnesses(census)
    entries: list[Entry] = []
    for alike in _comparable(census):
        alike.sort(key=lambda memory: _rank(census, memory))
        for kept, other, cosine in _duplicates(alike, later):
            entries += witnesses.confirm(kept, other)  # first: once superseded, it is no witness any more
            reason = f"duplicate of {kept.id} (similarity {cosine:.2f})"
            entries.append(superseding(other, kept.id, reason, by))
    superseded = sum(entry.kind == "supersede" for entry in entries)
    return Plan(tuple(entries), f"supersede {superseded} duplicates")


def plan_corroborate(census: Census, later: Later) -> Plan:
    """Confirm memories that another source says again later, in nearly the same words, whichever is trusted more."""
    witnesses = Witnesses(census)
    entries: list[Entry] = []
    for alike in _comparable(census):
        alike.sort(key=lambda memory: (memory.created, memory.id))
        by_id = {memory.id: memory for memory in alike}
        for id, close in later(list(by_id), NEAR_DUPLICATE.min_cosine, (), MAX_COMPARED):
            for other in (by_id[other] for other, cosine in close if cosine < DUPLICATE.min_cosine):
                if not witnesses.enough(id) and same_subject(by_id[id], other):
                    entries += witnesses.confirm(by_id[id], other)
    return Plan(tuple(entries), f"corroborate {len({entry.about for entry in entries})} memories")


class Witnesses:
    """Who confirms whom so far. A source counts once, and nobody confirms the one that confirmed it."""

    def __init__(self, census: Census):
        self.memories = census.memories
        self.count = {id: memory.corroborations for id, memory in census.memories.items()}
        self.heard: dict[str, set[str]] = {}
        self.pairs: set[frozenset[str]] = set()
        for memory in census.memories.values():
            for type, other in memory.links:
                if type == CORROBORATED and other in self.memories:
                    self._note(memory, self.memories[other])

    def enough(self, id: str) -> bool:
        """Tell whether more witnesses would change nothing."""
        return self.count[id] >= MAX_CORROBORATIONS

    def confirm(self, memory: Memory, other: Memory) -> Sequence[Entry]:
        """Return the confirmation by whoever found the other memory, where it is news from another source."""
        heard = _source(other) in self.heard.get(memory.id, ()) or frozenset((memory.id, other.id)) in self.pairs
        if heard or self.enough(memory.id) or not is_independent(memory, other):
            return ()
        self._note(memory, other)
        self.count[memory.id] += 1
        return (confirming(memory, other),)

    def _note(self, memory: Memory, other: Memory) -> None:
        self.heard.setdefault(memory.id, set()).add(_source(other))
        self.pairs.add(frozenset((memory.id, other.id)))


def is_independent(one: Memory, other: Memory) -> bool:
    """Tell whether two memories come from different sources; one that does not say is nobody's witness."""
    return bool(_source(one)) and bool(_source(other)) and _source(one) != _source(other)


def is_comparable(one: Memory, other: Memory) -> bool:
    """Tell whether one of two memories may be a duplicate: in use, of one kind, window, claim and facts.

    Digests are no duplicates.
    """
    usable = all(m.status == ACTIVE and m.kind in FADING and not derived_from(m) for m in (one, other))
    return usable and _facts(one) == _facts(other)


def same_subject(one: Memory, other: Memory) -> bool:
    """Tell whether every telling word of each title occurs in the other memory."""
    return _has(other, specific(one.title)) and _has(one, specific(other.title))


def same_facts(one: Memory, other: Memory) -> bool:
    """Tell whether two memories that are close in meaning say the same: no number, negation or telling word differs."""
    return _facts(one) == _facts(other) and same_subject(one, other)


def _says_all(kept: Memory, other: Memory) -> bool:
    """Tell whether one memory may take the place of another: no name, number or code word gets lost."""
    return same_subject(kept, other) and not missing_fact(other, kept)


def _has(memory: Memory, stems: Sequence[str]) -> bool:
    missing = set(stems) - set(specific(memory.title))
    return not missing or missing <= set(specific(memory.body))


def _source(memory: Memory) -> str:
    """Return who speaks: a name, else the session it was said in."""
    return memory.by.strip().lower() or session_of(memory)


def _comparable(census: Census) -> list[list[Memory]]:
    """Return active memories, but for derived ones, in groups of the same kind, session, window, claim and facts."""
    groups: dict[Hashable, list[Memory]] = {}
    for memory in census.active():
        if not derived_from(memory):
            groups.setdefault(_facts(memory), []).append(memory)
    return [group for group in groups.values() if len(group) > 1]


def _facts(memory: Memory) -> Hashable:
    window = memory.valid_from, memory.valid_until
    claim = repr(memory.extra.get("claim"))
    return memory.kind, session_of(memory), window, claim, *facts_in(f"{memory.title} {memory.body}")


def _duplicates(ranked: Sequence[Memory], later: Later) -> Iterator[tuple[Memory, Memory, float]]:
    """Yield (kept, duplicate, similarity) of ranked memories; each duplicate is compared with the one that is kept."""
    gone: set[str] = set()
    first: dict[str, Memory] = {}
    for memory in ranked:
        kept = first.setdefault(identity(f"{memory.title}\n{memory.body}"), memory)
        if kept is not memory:
            gone.add(memory.id)
            yield kept, memory, 1.0
    by_id = {memory.id: memory for memory in ranked if memory.id not in gone}
    for id, close in later(list(by_id), DUPLICATE.min_cosine, gone, 0):
        for other, cosine in close:
            if other not in gone and _says_all(by_id[id], by_id[other]):
                gone.add(other)
                yield by_id[id], by_id[other], cosine


def _rank(census: Census, memory: Memory) -> tuple[float, int, str]:
    """Return the sort key: most trusted (in tenths, since a year of age takes one), then oldest."""
    return -round(census.trust(memory), 1), memory.created, memory.id
