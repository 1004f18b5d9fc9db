"""Memories made from other memories: record the sources (`derivedFrom`), look them up, and limit trust by them."""

from __future__ import annotations

from ..model.kinds import ACTIVE, RECORDED
from ..model.record import record, replace
from .facets import is_valid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..model.entry import Entry, Memory, Value

    Find = Callable[[str], Memory | None]
    Look = Callable[[str], tuple[float, Sequence[str]]]  # id → its own trust, and the ids it was made from

DERIVED = "derivedFrom"
WITHDRAWN = ("deleted", "quarantined", "disputed", "retracted")  # memories made from these are not used


@record
class Weak:
    """A source that is no longer valid: why, and whether memories made from it are still used."""

    id: str
    why: str  # deleted, quarantined, disputed, retracted, superseded or ended
    holds_back: bool


def derived(entry: Entry, sources: Iterable[str]) -> Entry:
    """Return the entry with the ids of its sources added."""
    return replace(entry, extra={**entry.extra, DERIVED: list(dict.fromkeys(sources))})


def inherited(limit: int, own: Sequence[str], lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the conditions or tags of a derived memory: its own, then those of its sources, without duplicates."""
    return tuple(dict.fromkeys([*own, *(item for items in lists for item in items)]))[:limit]


def sources_in(extra: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the ids of the sources in an entry's frontmatter."""
    value = extra.get(DERIVED, [])
    return tuple(str(item) for item in (value if isinstance(value, list) else [value]) if item)


def derived_from(memory: Memory) -> tuple[str, ...]:
    """Return the ids of a memory's sources, from its frontmatter and from `heritage` entries."""
    return tuple(dict.fromkeys((*sources_in(memory.extra), *memory.heritage)))


def covered(memories: Iterable[Memory], kind: str = "") -> dict[str, Memory]:
    """Return source → the memory (of a kind) that was made from it, of any status except deleted."""
    made = (memory for memory in memories if memory.status != "deleted" and kind in ("", memory.kind))
    return {id: memory for memory in made for id in derived_from(memory)}


def made_of(memories: Iterable[Memory], sources: Iterable[Memory]) -> list[Memory]:
    """Return the active memories that were made from exactly these sources."""
    wanted = {memory.id for memory in sources}
    made = (memory for memory in memories if memory.status == ACTIVE and wanted)
    return [memory for memory in made if set(derived_from(memory)) == wanted]


def weak_sources(memory: Memory, find: Find, at: int) -> tuple[Weak, ...]:
    """Return the direct and indirect sources of a memory that are no longer valid.

    `holds_back` is False for records of runs, such as traces, and for a source that nobody vouches for if a person
    vouches for the memory.
    """
    found: list[Weak] = []
    waiting = list(derived_from(memory))
    seen = set(waiting)
    for id in waiting:
        source = find(id)
        if source is None:
            continue
        if why := _why_weak(source, at):
            firm = source.kind not in RECORDED and (source.vouched or not memory.vouched)
            found.append(Weak(id, why, why in WITHDRAWN and firm))
        further = [other for other in derived_from(source) if other not in seen]
        waiting += further
        seen.update(further)
    return tuple(found)


def _why_weak(source: Memory, at: int) -> str:
    if source.status in WITHDRAWN or source.status == "superseded":
        return source.status
    if source.status == "archived":
        return "retracted" if source.retracted else ""
    return "" if is_valid(source, at) or at < source.valid_from else "ended"


def lowest_trust(sources: Iterable[str], look: Look) -> float:
    """Return the lowest trust among direct and indirect sources, each looked up once; 1 without sources."""
    waiting = list(dict.fromkeys(sources))
    seen, lowest = set(waiting), 1.0
    for id in waiting:
        own, below = look(id)
        lowest = min(lowest, own)
        waiting += [other for other in dict.fromkeys(below) if other not in seen]
        seen.update(below)
    return lowest
