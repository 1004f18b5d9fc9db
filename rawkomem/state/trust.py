"""Trust in a memory: who committed a text, the columns of a memory that filters compare and its time of
validity, and its trust from origin, votes and age, limited by the memories that it was made from
(`derivedFrom`).
"""

from __future__ import annotations

from functools import lru_cache

from ..model.entries import Entry, Memory, Value
from ..model.filters import Facets
from ..model.values import (
    ACTIVE,
    EXPIRED,
    IMPORTANCE,
    NOT_YET_VALID,
    RECORDED,
    TYPE_CHECKING,
    days_since,
    extra_value,
    is_empty_value,
    items_of,
    names_of_key,
    record,
    replace,
)
from ..text.chunks import counted
from ..text.paths import fits_wildcards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    class Window(Protocol):
        """Anything with a status and a validity window: a Memory or a row of the index."""

        @property
        def status(self) -> str: ...

        @property
        def valid_from(self) -> int: ...
        @property
        def valid_until(self) -> int: ...

    Find = Callable[[str], Memory | None]
    Look = Callable[[str], tuple[float, Sequence[str]]]


FACET_COLUMNS: tuple[str, ...] = Facets.__fields__  # type: ignore[attr-defined]
# facet → its possible keys
FACET_KEYS = {facet: names_of_key(facet) for facet in ("type", "category", "session")}
# `kind:path#section`; a later import recognizes the memory by it
IMPORTED = "importedFrom"
EVENT_TIME = "eventTime"  # when the event of the memory happened


def imported_from(memory: Memory) -> str:
    """Return the file and section that a memory was imported from; empty if it was not imported."""
    return str(memory.extra.get(IMPORTED, "")).partition(":")[2]


def type_of(memory: Memory) -> str:
    """Return a memory's type: one of Memory Lane's ten, or any other word."""
    return _first_value(memory, "type").lower()


def category_of(memory: Memory) -> str:
    """Return a memory's category: decision, preference, fact, …"""
    return _first_value(memory, "category").lower()


def session_of(memory: Memory) -> str:
    """Return the session of a memory's claim if its scope is session, else the session that the memory comes from."""
    return claimed_for(memory) or _first_value(memory, "session")


def claimed_for(memory: Memory) -> str:
    """Return the session of a claim with scope session; empty for any other memory."""
    claim = memory.extra.get("claim")
    if not isinstance(claim, dict) or claim.get("scope") != "session":
        return ""
    return str(extra_value(claim, "session") or _first_value(memory, "session"))


def claimed_about(memory: Memory) -> tuple[str, str] | None:
    """Return subject and predicate of a memory's claim, or None."""
    claim = memory.extra.get("claim")
    return (
        (str(claim.get("subject", "")), str(claim.get("predicate", "")))
        if isinstance(claim, dict)
        else None
    )


def _entities(memory: Memory) -> tuple[str, ...]:
    from ..text.prose import entities_of  # few filters need it

    return entities_of(memory)


# facets that are computed from a memory
COMPUTED_FACETS: dict[str, Callable[[Memory], object]] = {
    "importance": lambda memory: IMPORTANCE.index(memory.importance),
    "type": type_of,
    "category": category_of,
    "entities": _entities,
    "session": session_of,
    "vouched": lambda memory: int(memory.vouched),
}


def facet_of(memory: Memory, column: str) -> Any:
    """Return one column of a memory."""
    derive = COMPUTED_FACETS.get(column)
    return derive(memory) if derive else getattr(memory, column)


def facets_of(memory: Memory) -> Facets:
    """Return all columns of a memory."""
    return Facets(**{column: facet_of(memory, column) for column in FACET_COLUMNS})


def is_valid(memory: Window, at: int) -> bool:
    """Return whether a time is inside a memory's validity window; windows are half-open."""
    return memory.valid_from <= at and (
        not memory.valid_until or at < memory.valid_until
    )


def shown_status(memory: Window, at: int) -> str:
    """Return a memory's status; for one in use outside of its validity window, `expired` or `not yet valid`."""
    if memory.status != ACTIVE or is_valid(memory, at):
        return memory.status
    return EXPIRED if memory.valid_from <= at else NOT_YET_VALID


def _first_value(memory: Memory, facet: str) -> str:
    values = [memory.extra[key] for key in FACET_KEYS[facet] if key in memory.extra]
    flat = [item for value in values for item in items_of(value)]
    texts = (
        item for item in flat if isinstance(item, str) and not is_empty_value(item)
    )
    return next(texts, "").strip()


PERSON, AGENT, UNCOMMITTED, UNKNOWN = "person", "agent", "uncommitted", "unknown"
SAID = "said"  # origin of a text that a person said in a session

AUTHORS = "\x1f"  # separates several authors of one text
# unknown author: no git, a shallow or partial clone, an ignored folder
HIDDEN_AUTHOR = "?"

# Names and e-mail addresses of authors that are not people; case is ignored, * matches any characters.
AGENTS = (
    "*[bot]*",
    "*@anthropic.com",
    "*@openai.com",
    "*@cursor.com",
    "*@all-hands.dev",
    "*@ampcode.com",
    "*+copilot@users.noreply.github.com",
    "*(aider)*",
)
MAX_AUTHORS = 10_000  # whose state is kept: few people commit most memories


@lru_cache(MAX_AUTHORS)
def author_state(author: str, agents: tuple[str, ...] = AGENTS) -> str:
    """Return PERSON, AGENT, UNCOMMITTED or UNKNOWN for an author.

    An author is `Name <e-mail>`; if the committer is another one, a tab and the committer follow.

    If several authors committed the same text in parallel, a person wins.
    """
    if AUTHORS in author:
        states = {author_state(one, agents) for one in author.split(AUTHORS)}
        return next(state for state in (PERSON, AGENT, UNKNOWN) if state in states)
    if author in ("", HIDDEN_AUTHOR):
        return UNKNOWN if author else UNCOMMITTED
    for one in author.lower().split("\t"):
        name, _, mail = one.rpartition(" <")
        for pattern in agents:
            if _fits(pattern, name) or _fits(pattern, mail.rstrip(">")):
                return AGENT
    return PERSON


def _fits(pattern: str, text: str) -> bool:
    return fits_wildcards(pattern.lower(), text, one="\0")  # only * is special


# Memories made from other memories: record the sources (`derivedFrom`), look them up, and limit
# trust by them.

DERIVED = "derivedFrom"
# memories made from these are not used
WITHDRAWN = ("deleted", "quarantined", "disputed", "retracted")


@record
class Weak:
    """A source that is no longer valid: why, and whether memories made from it are still used."""

    id: str
    why: str  # deleted, quarantined, disputed, retracted, superseded or ended
    holds_back: bool


def with_sources(entry: Entry, sources: Iterable[str]) -> Entry:
    """Return the entry with the ids of its sources added."""
    return replace(entry, extra={**entry.extra, DERIVED: list(dict.fromkeys(sources))})


def sources_in(extra: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the ids of the sources in an entry's frontmatter."""
    return tuple(str(item) for item in items_of(extra.get(DERIVED, [])) if item)


def derived_from(memory: Memory) -> tuple[str, ...]:
    """Return the ids of a memory's sources, from its frontmatter and from `heritage` entries."""
    return tuple(dict.fromkeys((*sources_in(memory.extra), *memory.heritage)))


def memory_by_source(memories: Iterable[Memory], kind: str = "") -> dict[str, Memory]:
    """Return source → the memory (of a kind) that was made from it, of any status except deleted."""
    made = (
        memory
        for memory in memories
        if memory.status != "deleted" and kind in ("", memory.kind)
    )
    return {id: memory for memory in made for id in derived_from(memory)}


def made_from_exactly(
    memories: Iterable[Memory], sources: Iterable[Memory]
) -> list[Memory]:
    """Return the active memories that were made from exactly these sources."""
    wanted = {memory.id for memory in sources}
    made = (memory for memory in memories if memory.status == ACTIVE and wanted)
    return [memory for memory in made if set(derived_from(memory)) == wanted]


def weak_sources(memory: Memory, find: Find, at: int) -> tuple[Weak, ...]:
    """Return the direct and indirect sources of a memory that are no longer valid.

    `holds_back` is False for records of runs, such as traces, and for a source that nobody vouches for if a person
    vouches for the memory.
    """

    def sources_of(id: str) -> Sequence[str]:
        source = find(id)
        return derived_from(source) if source else ()

    weak: list[Weak] = []
    for source in map(find, reachable(derived_from(memory), sources_of)):
        if source and (why := why_withdrawn(source, at)):
            firm = source.kind not in RECORDED and (
                source.vouched or not memory.vouched
            )
            weak.append(Weak(source.id, why, why in WITHDRAWN and firm))
    return tuple(weak)


def reachable(
    starts: Iterable[str], onward: Callable[[str], Iterable[str]]
) -> Iterator[str]:
    """Yield ids and the ids that `onward` leads to, directly or indirectly; nearest first, each once."""
    waiting = list(starts)
    seen = set(waiting)
    for id in waiting:
        yield id
        for other in onward(id):
            if other not in seen:
                seen.add(other)
                waiting.append(other)


def why_withdrawn(memory: Memory, at: int) -> str:
    """Return why a memory was withdrawn (see `Weak.why`); empty if it was not, or if housekeeping archived it."""
    if memory.status in WITHDRAWN or memory.status == "superseded":
        return memory.status
    if memory.status == "archived":
        return "retracted" if memory.retracted else ""
    return "" if is_valid(memory, at) or at < memory.valid_from else "ended"


def lowest_trust(sources: Iterable[str], look: Look) -> float:
    """Return the lowest trust among direct and indirect sources; 1 without sources."""
    every = reachable(sources, lambda id: look(id)[1])
    return min((look(id)[0] for id in every), default=1.0)


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
MAX_AGE_LOSS = 0.1  # maximum loss of trust by age, reached after a year


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
# author of the commit → standing of the entry
COMMITTED = {
    PERSON: Standing("user_explicit", "committed by a person", verified=True),
    AGENT: Standing("inference", "committed by an agent"),
    UNCOMMITTED: Standing("inference", "uncommitted"),
    UNKNOWN: Standing("document", "nobody knows who wrote it"),
}
# origin of an entry on this machine → its standing; a host program may also name a source class
ARRIVALS = {
    "person": Standing("user_explicit", "typed by a person on this machine", True),
    "agent": Standing("inference", "written by an agent"),
    "import": Standing("document", "came by import"),
    "distilled": Standing("inference", "came by distilled"),
    SAID: Standing("user_implicit", "a person said so in a session", said=True),
}


def standing_of_entry(commit: str, arrival: str) -> Standing:
    """Return the standing of an entry: from a person's commit, else from its origin here, else from another commit."""
    if commit != PERSON and arrival in ARRIVALS:
        return ARRIVALS[arrival]
    if commit != PERSON and arrival in BASE_TRUST:
        return Standing(arrival, f"declared as {arrival} on this machine")
    return COMMITTED[commit]


def standing_of(memory: Memory, entries: Mapping[str, Standing]) -> Standing:
    """Return the weakest standing of the entries that wrote a memory's text, unless a person reviewed it since."""
    if any(entries[id].verified for id in memory.reviewed_in if id in entries):
        return REVIEWED
    return min(
        (entries.get(id, Standing()) for id in (memory.id, *memory.amended_in)),
        key=_standing_rank,
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
    source = min(
        (claimed or standing.allowed, standing.allowed),
        key=lambda name: BASE_TRUST[name],
    )
    lowered = (
        f"; it declares {claimed}" if claimed and source != standing.allowed else ""
    )
    age = days_since(memory.created, now)
    counts = (memory.corroborations + 1, memory.reinforcements, memory.disputes, age)
    reasons = {
        "source": f"{source}: {standing.why}{lowered}",
        "confirmed": f"by {memory.corroborations} others",
        "votes": f"{memory.reinforcements} reinforced, {memory.disputes} disputed",
        "age": counted(round(age), "day"),
    }
    amounts = trust_amounts(source, *counts)
    parts = tuple((part, amounts[part], reasons[part]) for part in reasons)
    used = tuple(part for part in parts if part[1])
    return Trust(compute_trust(source, *counts), source, standing, used)


def limited_by_sources(trust: Trust, least: float) -> Trust:
    """Return the trust of a memory made from others: at most that of the least trusted source."""
    if least >= trust.value:
        return trust
    part = (
        "derived",
        least - trust.value,
        "no more than the least trusted of its sources",
    )
    return replace(trust, value=least, parts=(*trust.parts, part))


def compute_trust(
    source: str, corroboration: int, reinforcements: int, disputes: int, age_days: float
) -> float:
    """Return base + corroboration + votes − age, between 0 and 1 (neolata)."""
    counts = (corroboration, reinforcements, disputes, age_days)
    return max(0.0, min(1.0, sum(trust_amounts(source, *counts).values())))


def trust_amounts(
    source: str, corroboration: int, reinforcements: int, disputes: int, age_days: float
) -> dict[str, float]:
    """Return the amounts whose sum is the trust, by name."""
    votes = max(1, reinforcements + disputes)
    return {
        "source": BASE_TRUST.get(source, BASE_TRUST["unknown"]),
        "confirmed": min(0.2, (corroboration - 1) * 0.05),
        "votes": (reinforcements - disputes) / votes * 0.15,
        "age": -min(1.0, age_days / 365) * MAX_AGE_LOSS,
    }
