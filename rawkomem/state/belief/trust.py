"""Trust in a memory, from its origin, votes and age. The source that a file declares can only lower it."""

from __future__ import annotations

from ...model.clock import DAY
from ...model.record import record, replace
from ...text.count import count
from .committer import AGENT, PERSON, UNCOMMITTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.entry import Memory, Value

# Source class → initial trust (neolata).
BASES = {
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

COMMITTED = {PERSON: "committed by a person", AGENT: "committed by an agent", UNCOMMITTED: "uncommitted"}


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
        return Standing(ARRIVALS[arrival], f"came by {arrival}" if arrival != "agent" else "written by an agent")
    if arrival in BASES:
        return Standing(arrival, f"declared as {arrival} on this machine")
    if commit in (AGENT, UNCOMMITTED):
        return Standing("inference", COMMITTED[commit])
    return Standing("document", "nobody knows who wrote it")


def standing_of(memory: Memory, entries: Mapping[str, Standing]) -> Standing:
    """Return the weakest standing of the entries that wrote a memory's text, unless a person reviewed it since."""
    if any(entries[id].verified for id in memory.reviewed_in if id in entries):
        return REVIEWED
    return min((entries.get(id, Standing()) for id in (memory.id, *memory.amended_in)), key=_strength)


def _strength(standing: Standing) -> tuple[bool, float]:
    return standing.verified, BASES[standing.allowed]


def claimed_source(extra: Mapping[str, Value]) -> str:
    """Return the source class that a file declares; empty if it declares no known class."""
    claim = extra.get("provenance")
    source = str(claim.get("source", "")) if isinstance(claim, dict) else ""
    return source if source in BASES else ""


def trust_of(memory: Memory, standing: Standing, now: int) -> float:
    """Return the trust in a memory from 0 to 1, without its sources; `limited` takes these into account."""
    return explain_trust(memory, standing, now).value


def explain_trust(memory: Memory, standing: Standing, now: int) -> Trust:
    """Return the trust in a memory with its parts, without its sources."""
    claimed = claimed_source(memory.extra)
    source = min((claimed or standing.allowed, standing.allowed), key=lambda name: BASES[name])
    lowered = f"; it declares {claimed}" if claimed and source != standing.allowed else ""
    age = max(0.0, (now - memory.created) / DAY) if memory.created else 0.0
    said = (memory.corroborations + 1, memory.reinforcements, memory.disputes, age)
    value = compute_trust(source, *said)
    amounts = _amounts(*said)
    parts = (
        ("source", BASES[source], f"{source}: {standing.why}{lowered}"),
        ("confirmed", amounts[0], f"by {memory.corroborations} others"),
        ("votes", amounts[1], f"{memory.reinforcements} reinforced, {memory.disputes} disputed"),
        ("age", amounts[2], count(round(age), "day")),
    )
    return Trust(value, source, standing, tuple(part for part in parts if part[1]))


def limited(trust: Trust, least: float) -> Trust:
    """Return the trust of a memory made from others: at most that of the least trusted source."""
    if least >= trust.value:
        return trust
    part = ("derived", least - trust.value, "no more than the least trusted of its sources")
    return replace(trust, value=least, parts=(*trust.parts, part))


def compute_trust(source: str, corroboration: int, reinforcements: int, disputes: int, age_days: float) -> float:
    """Return base + corroboration + votes − age, between 0 and 1 (neolata)."""
    base = BASES.get(source, BASES["unknown"])
    return max(0.0, min(1.0, base + sum(_amounts(corroboration, reinforcements, disputes, age_days))))


def _amounts(corroboration: int, reinforcements: int, disputes: int, age_days: float) -> tuple[float, float, float]:
    votes = reinforcements + disputes
    swing = (reinforcements - disputes) / votes * 0.15 if votes else 0.0
    return min(0.2, (corroboration - 1) * 0.05), swing, -min(MAX_AGE_LOSS, age_days / 365 * MAX_AGE_LOSS)
