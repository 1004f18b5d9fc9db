"""Find sections that several instruction pages contain: such a section is imported once and names all places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.entry import Plan
from ..model.record import record, replace
from ..text.condition import PATHS, read_condition
from ..text.same import facts_in, identity, is_copy
from .place import ALSO_IN, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model.entry import Entry, Memory
    from .plan import Decided

    Facts = tuple[frozenset[str], frozenset[str]]

INSTRUCTIONS = "instructions"  # CLAUDE.md, AGENTS.md and GEMINI.md often contain the same sections
MIN_LENGTH_RATIO = 0.7  # length of the shorter copy divided by that of the longer


@record
class Known:
    """A section that was imported before."""

    id: str
    place: str
    body: str
    paths: frozenset[str]  # globs of the files that it applies to; empty for all files


class Copies:
    """The sections of instructions that were imported so far."""

    def __init__(self) -> None:
        self._known: dict[Facts, list[Known]] = {}  # by the numbers and negations in their texts

    def add(self, said: Entry | Memory) -> None:
        """Record a section of instructions; ignore other memories."""
        place = place_of(said.extra)
        if place.startswith(f"{INSTRUCTIONS}:"):
            known = Known(said.id, place, said.body, paths_in(said.when))
            self._known.setdefault(facts_in(said.body), []).append(known)

    def find(self, entry: Entry) -> str:
        """Return the id of a section from another place with the same text for the same files; empty if none."""
        place, paths = place_of(entry.extra), paths_in(entry.when)
        if not place.startswith(f"{INSTRUCTIONS}:"):
            return ""
        rivals = self._known.get(facts_in(entry.body), [])
        elsewhere = (known for known in rivals if known.place != place and known.paths in (frozenset(), paths))
        return next((known.id for known in elsewhere if _is_same(known.body, entry.body)), "")


def with_places(decided: Sequence[Decided], copies: Iterable[Decided]) -> list[Decided]:
    """Return the decisions; each new memory lists the other places that contain its text."""
    places: dict[str, list[str]] = {}
    for item in copies:
        if item.what == "known" and item.other != item.entry.id:
            places.setdefault(item.other, []).append(place_of(item.entry.extra).partition(":")[2])
    return [_with(item, places.get(item.entry.id, [])) if item.plan.entries else item for item in decided]


def _with(item: Decided, places: Sequence[str]) -> Decided:
    if not places:
        return item
    entry = replace(item.entry, extra={**item.entry.extra, ALSO_IN: [*dict.fromkeys(places)]})
    written = tuple(entry if one is item.entry else one for one in item.plan.entries)
    return replace(item, entry=entry, plan=Plan(written, item.plan.why))


def _is_same(one: str, other: str) -> bool:
    """Tell whether two texts are equal apart from white space, or differ in a few words."""
    if identity(one) == identity(other):
        return True
    shorter, longer = sorted((len(one), len(other)))
    return shorter >= MIN_LENGTH_RATIO * longer and is_copy(one, other)


def paths_in(when: Iterable[str]) -> frozenset[str]:
    """Return the conditions that are file globs."""
    return frozenset(condition for condition in when if read_condition(condition).how == PATHS)
