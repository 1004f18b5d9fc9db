"""Trust in a memory, from its origin, votes and age, limited by the memories that it was made from
(`derivedFrom`).
"""

from __future__ import annotations

from ..model.entries import Entry, Memory, Value
from ..model.values import ACTIVE, DAY, RECORDED, TYPE_CHECKING, record, replace
from ..text.chunks import counted
from .committers import AGENT, PERSON, UNCOMMITTED
from .facets import is_valid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Find = Callable[[str], Memory | None]
    Look = Callable[[str], tuple[float, Sequence[str]]]


# Memories made from other memories: record the sources (`derivedFrom`), look them up, and limit
# trust by them.

DERIVED = "derivedFrom"
WITHDRAWN = (
    "deleted",
    "quarantined",
    "disputed",
    "retracted",
)  # memories made from these are not used


@record
class Weak:
    """A source that is no longer valid: why, and whether memories made from it are still used."""

    id: str
    why: str  # deleted, quarantined, disputed, retracted, superseded or ended
    holds_back: bool


def with_sources(entry: Entry, sources: Iterable[str]) -> Entry:
    """Return the entry with the ids of its sources added."""
    return replace(entry, extra={**entry.extra, DERIVED: list(dict.fromkeys(sources))})


def inherited_texts(
    limit: int, own: Sequence[str], lists: Iterable[Sequence[str]]
) -> tuple[str, ...]:
    """Return the conditions or tags of a derived memory: its own, then those of its sources, without duplicates."""
    return tuple(dict.fromkeys([*own, *(item for items in lists for item in items)]))[:limit]


def sources_in(extra: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the ids of the sources in an entry's frontmatter."""
    value = extra.get(DERIVED, [])
    return tuple(str(item) for item in (value if isinstance(value, list) else [value]) if item)


def derived_from(memory: Memory) -> tuple[str, ...]:
    """Return the ids of a memory's sources, from its frontmatter and from `heritage` entries."""
    return tuple(dict.fromkeys((*sources_in(memory.extra), *memory.heritage)))


def memory_by_source(memories: Iterable[Memory], kind: str = "") -> dict[str, Memory]:
    """Return source → the memory (of a kind) that was made from it, of any status except deleted."""
    made = (
        memory for memory in memories if memory.status != "deleted" and kind in ("", memory.kind)
    )
    return {id: memory for memory in made for id in derived_from(memory)}


def made_from_exactly(memories: Iterable[Memory], sources: Iterable[Memory]) -> list[Memory]:
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


# Trust in a memory, from its origin, votes and age. The source that a file declares can only lower
# it.

# Source class → initial trust (neolata).
BASE_TRUST = {
    "user_explicit": 1.0,
    "system": 0.95,
    "tool_output": 0.85,
    "user_implicit": 0.7,
    "document": 0.6,
    "inference": 0.5,
    "unknown": 0.5,
}
# Origin of an entry on this machine → its highest possible source class. A host program may also name a class.
ARRIVALS = {
    "person": "user_explicit",
    "agent": "inference",
    "import": "document",
    "distilled": "inference",
    "said": "user_implicit",
}

MAX_AGE_LOSS = 0.1  # maximum loss of trust by age, reached after a year

COMMITTED = {
    PERSON: "committed by a person",
    AGENT: "committed by an agent",
    UNCOMMITTED: "uncommitted",
}


@record
class Standing:
    """The origin of a memory's text: its highest possible source class, and whether a person vouches for it."""

    allowed: str = "unknown"
    why: str = "its origin is unknown"
    verified: bool = False
    said: bool = False  # a person said it in a session on this machine


@record
class Trust:
    """The trust in a memory, and its parts (name, amount, reason), whose amounts add up to the value."""

    value: float
    source: str  # the source class that was used
    standing: Standing
    parts: tuple[tuple[str, float, str], ...]


REVIEWED = Standing("user_explicit", "reviewed by a person", verified=True)


def standing_of_entry(commit: str, arrival: str) -> Standing:
    """Return the standing of an entry: from a person's commit, else from its origin here, else from another commit."""
    if commit == PERSON:
        return Standing("user_explicit", COMMITTED[commit], verified=True)
    if arrival == "person":
        return Standing(ARRIVALS[arrival], "typed by a person on this machine", verified=True)
    if arrival == "said":
        return Standing(ARRIVALS[arrival], "a person said so in a session", said=True)
    if arrival in ARRIVALS:
        return Standing(
            ARRIVALS[arrival], f"came by {arrival}" if arrival != "agent" else "written by an agent"
        )
    if arrival in BASE_TRUST:
        return Standing(arrival, f"declared as {arrival} on this machine")
    if commit in (AGENT, UNCOMMITTED):
        return Standing("inference", COMMITTED[commit])
    return Standing("document", "nobody knows who wrote it")


def standing_of(memory: Memory, entries: Mapping[str, Standing]) -> Standing:
    """Return the weakest standing of the entries that wrote a memory's text, unless a person reviewed it since."""
    if any(entries[id].verified for id in memory.reviewed_in if id in entries):
        return REVIEWED
    return min(
        (entries.get(id, Standing()) for id in (memory.id, *memory.amended_in)), key=_standing_rank
    )


def _standing_rank(standing: Standing) -> tuple[bool, float]:
    return standing.verified, BASE_TRUST[standing.allowed]


def claimed_source(extra: Mapping[str, Value]) -> str:
    """Return the source class that a file declares; empty if it declares no known class."""
    claim = extra.get("provenance")
    source = str(claim.get("source", "")) if isinstance(claim, dict) else ""
    return source if source in BASE_TRUST else ""


def trust_of(memory: Memory, standing: Standing, now: int) -> float:
    """Return the trust in a memory from 0 to 1, without its sources; `limited` takes these into account."""
    return explain_trust(memory, standing, now).value


def explain_trust(memory: Memory, standing: Standing, now: int) -> Trust:
    """Return the trust in a memory with its parts, without its sources."""
    claimed = claimed_source(memory.extra)
    source = min((claimed or standing.allowed, standing.allowed), key=lambda name: BASE_TRUST[name])
    lowered = f"; it declares {claimed}" if claimed and source != standing.allowed else ""
    age = max(0.0, (now - memory.created) / DAY) if memory.created else 0.0
    said = (memory.corroborations + 1, memory.reinforcements, memory.disputes, age)
    value = compute_trust(source, *said)
    amounts = _amounts(*said)
    parts = (
        ("source", BASE_TRUST[source], f"{source}: {standing.why}{lowered}"),
        ("confirmed", amounts[0], f"by {memory.corroborations} others"),
        ("votes", amounts[1], f"{memory.reinforcements} reinforced, {memory.disputes} disputed"),
        ("age", amounts[2], counted(round(age), "day")),
    )
    return Trust(value, source, standing, tuple(part for part in parts if part[1]))


def limited_by_sources(trust: Trust, least: float) -> Trust:
    """Return the trust of a memory made from others: at most that of the least trusted source."""
    if least >= trust.value:
        return trust
    part = ("derived", least - trust.value, "no more than the least trusted of its sources")
    return replace(trust, value=least, parts=(*trust.parts, part))


def compute_trust(
    source: str, corroboration: int, reinforcements: int, disputes: int, age_days: float
) -> float:
    """Return base + corroboration + votes − age, between 0 and 1 (neolata)."""
    base = BASE_TRUST.get(source, BASE_TRUST["unknown"])
    return max(
        0.0, min(1.0, base + sum(_amounts(corroboration, reinforcements, disputes, age_days)))
    )


def _amounts(
    corroboration: int, reinforcements: int, disputes: int, age_days: float
) -> tuple[float, float, float]:
    votes = reinforcements + disputes
    swing = (reinforcements - disputes) / votes * 0.15 if votes else 0.0
    return (
        min(0.2, (corroboration - 1) * 0.05),
        swing,
        -min(MAX_AGE_LOSS, age_days / 365 * MAX_AGE_LOSS),
    )
