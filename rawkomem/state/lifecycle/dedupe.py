"""Duplicates and corroboration. Vectors find candidates; a different number, negation or title word excludes them."""

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

    # (ids in order, minimum cosine, ids to skip, maximum number) → id, [(later id, cosine)]; see index/views/
    Later = Callable[[Sequence[str], float, Collection[str], int], Iterator[tuple[str, list[tuple[str, float]]]]]

MAX_CORROBORATIONS = 4  # more do not raise trust (neolata: 0.05 each, 0.2 at most)
MAX_COMPARED = 50  # similar memories per memory; limits the work among thousands of lookalikes


def plan_dedupe(census: Census, later: Later, by: str = "") -> Plan:
    """Plan to supersede duplicates by the best one; duplicates from other sources confirm it first."""
    witnesses = Witnesses(census)
    entries: list[Entry] = []
    for alike in _comparable(census):
        alike.sort(key=lambda memory: _rank(census, memory))
        for kept, other, cosine in _duplicates(alike, later):
            entries += witnesses.confirm(kept, other)  # before `superseding`: a superseded memory is no witness
            reason = f"duplicate of {kept.id} (similarity {cosine:.2f})"
            entries.append(superseding(other, kept.id, reason, by))
    superseded = sum(entry.kind == "supersede" for entry in entries)
    return Plan(tuple(entries), f"supersede {superseded} duplicates")


def plan_corroborate(census: Census, later: Later) -> Plan:
    """Plan to confirm memories that another source repeated later in nearly the same words."""
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
    """The confirmations so far. A source counts once per memory, and two memories do not confirm each other."""

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
        """Return whether further witnesses would have no effect."""
        return self.count[id] >= MAX_CORROBORATIONS

    def confirm(self, memory: Memory, other: Memory) -> Sequence[Entry]:
        """Return the entry with which `other` confirms a memory; empty if its source is not new or not independent."""
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
    """Return whether two memories come from different sources; False if a source is unknown."""
    return bool(_source(one)) and bool(_source(other)) and _source(one) != _source(other)


def is_comparable(one: Memory, other: Memory) -> bool:
    """Return whether one of two memories may be a duplicate: both in use, with the same kind, window, claim and facts.

    Derived memories, such as digests, are never duplicates.
    """
    usable = all(m.status == ACTIVE and m.kind in FADING and not derived_from(m) for m in (one, other))
    return usable and _facts(one) == _facts(other)


def same_subject(one: Memory, other: Memory) -> bool:
    """Return whether every specific word of each title occurs in the other memory."""
    return _has(other, specific(one.title)) and _has(one, specific(other.title))


def same_facts(one: Memory, other: Memory) -> bool:
    """Return whether two similar memories say the same: no number, negation or specific title word differs."""
    return _facts(one) == _facts(other) and same_subject(one, other)


def _says_all(kept: Memory, other: Memory) -> bool:
    """Return whether `kept` may replace `other`: no name, number or code word gets lost."""
    return same_subject(kept, other) and not missing_fact(other, kept)


def _has(memory: Memory, stems: Sequence[str]) -> bool:
    missing = set(stems) - set(specific(memory.title))
    return not missing or missing <= set(specific(memory.body))


def _source(memory: Memory) -> str:
    """Return the author's name, else the session."""
    return memory.by.strip().lower() or session_of(memory)


def _comparable(census: Census) -> list[list[Memory]]:
    """Return active, not derived memories in groups of the same kind, session, window, claim and facts."""
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
    """Yield (kept, duplicate, similarity) of ranked memories; a duplicate is compared only with kept memories."""
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
    """Return the sort key: most trusted first (in tenths, the loss by a year of age), then oldest."""
    return -round(census.trust(memory), 1), memory.created, memory.id
