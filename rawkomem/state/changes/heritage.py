"""heritage: the memories that the memory comes from, and the chain of intents that led to it (RFC-0011 §4.2)."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput
from ...model.record import record
from ..decide import check_in_use, plan_about
from ..keys import Key, texts
from . import Change, Fields, ids, listed

CHAIN = ("intentChain", "hypotheses", "rationales")  # RFC-0011: what led to a memory, level by level
MAX_LEVELS = 5


@record
class HeritageChain:
    """Intents in order, the first cause first; hypotheses and reasons at each level."""

    intents: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()


def heritage_of(memory: Memory) -> HeritageChain:
    """Return the chain of a memory: the last one that was appended."""
    return HeritageChain(*(_levels(memory.extra.get(key)) for key in CHAIN))


def plan_heritage(memory: Memory, chain: HeritageChain, by: str = "") -> Plan:
    """Give a memory a chain, in the place of the one it has."""
    check_in_use(memory)
    parts = (chain.intents, chain.hypotheses, chain.rationales)
    if not any(parts):
        raise BadInput("an empty chain", "give at least one --intent")
    if any(len(part) > MAX_LEVELS for part in parts):
        raise BadInput(f"a chain of more than {MAX_LEVELS} levels", "keep the last ones")
    if any(not text.strip() for part in parts for text in part):
        raise BadInput("an empty level in a chain", "leave it out")
    extra: Fields = {key: list(part) for key, part in zip(CHAIN, parts, strict=True)}
    return plan_about(memory, Entry(kind="heritage", by=by, extra=extra), f"heritage of {memory.id}")


def _levels(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _reduce(fields: Fields, entry: Entry) -> Fields:
    """Add sources; a chain of intents takes the place of the one before."""
    sources = tuple(dict.fromkeys((*fields.get("heritage", ()), *ids(entry, "from"))))
    if not any(key in entry.extra for key in CHAIN):
        return {"heritage": sources}
    chain = {key: list(ids(entry, key)[-MAX_LEVELS:]) for key in CHAIN}
    return {"heritage": sources, "extra": {**fields["extra"], **chain}}


def _tell(entry: Entry) -> str:
    sources, intents = ids(entry, "from"), ids(entry, CHAIN[0])
    return f"comes from {listed(sources)}" if sources else f"was led to by: {' → '.join(intents)}"


SOURCES = Key("The memories that a heritage comes from", texts(), refers=True)
LEVELS = Key("The intents that led to it, what was supposed, and why: the first cause first", texts())
CHANGE = Change(_reduce, _tell, {"from": SOURCES, **dict.fromkeys(CHAIN, LEVELS)})
