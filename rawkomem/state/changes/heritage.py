"""heritage: the source memories of a memory, and the chain of intents that led to it (RFC-0011 §4.2)."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput
from ...model.record import record
from ..decide import about, check_in_use, plan_about
from ..keys import Key, texts
from . import Change, Fields, ids, listed

CHAIN = ("intentChain", "hypotheses", "rationales")  # RFC-0011: what led to a memory, level by level
MAX_LEVELS = 5


@record
class HeritageChain:
    """Intents, earliest first; hypotheses and reasons at each level."""

    intents: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()


def heritage_of(memory: Memory) -> HeritageChain:
    """Return the current chain of a memory."""
    return HeritageChain(*(_levels(memory.extra.get(key)) for key in CHAIN))


def plan_heritage(memory: Memory, chain: HeritageChain, by: str = "") -> Plan:
    """Plan to set the chain of a memory; it replaces the current one."""
    check_in_use(memory)
    parts = (chain.intents, chain.hypotheses, chain.rationales)
    if not any(parts):
        raise BadInput("the chain is empty", "pass at least one --intent")
    if any(len(part) > MAX_LEVELS for part in parts):
        raise BadInput(f"the chain has more than {MAX_LEVELS} levels", f"keep the last {MAX_LEVELS}")
    if any(not text.strip() for part in parts for text in part):
        raise BadInput("the chain has an empty level", "leave it out")
    extra: Fields = {key: list(part) for key, part in zip(CHAIN, parts, strict=True)}
    return plan_about(memory, Entry(kind="heritage", by=by, extra=extra), f"heritage of {memory.id}")


def inheriting(memory: Memory, sources: Sequence[str], by: str, removed: bool = False) -> Entry:
    """Return the entry that adds or removes source memories of a memory."""
    extra: Fields = {"from": [*sources], **({"removed": "true"} if removed else {})}
    return about(memory, Entry(kind="heritage", by=by, extra=extra))


def _levels(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _reduce(fields: Fields, entry: Entry) -> Fields:
    """Add or remove sources; a chain of intents replaces the current one."""
    named, known = ids(entry, "from"), fields.get("heritage", ())
    others = tuple(id for id in known if id not in named)
    sources = others if _removes(entry) else tuple(dict.fromkeys((*known, *named)))
    if not any(key in entry.extra for key in CHAIN):
        return {"heritage": sources}
    chain = {key: list(ids(entry, key)[-MAX_LEVELS:]) for key in CHAIN}
    return {"heritage": sources, "extra": {**fields["extra"], **chain}}


def _removes(entry: Entry) -> bool:
    return entry.extra.get("removed") == "true"


def _tell(entry: Entry) -> str:
    sources, intents = ids(entry, "from"), ids(entry, CHAIN[0])
    if _removes(entry):
        return f"does not come from {listed(sources)}"
    return f"comes from {listed(sources)}" if sources else f"was led to by: {' → '.join(intents)}"


SOURCES = Key("The source memories", texts(), refers=True)
LEVELS = Key("The intents that led to it, the hypotheses, or the reasons; earliest first", texts())
REMOVED = Key("true: the sources are removed")
CHANGE = Change(_reduce, _tell, {"from": SOURCES, "removed": REMOVED, **dict.fromkeys(CHAIN, LEVELS)})
