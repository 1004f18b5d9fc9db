"""Heritage (RFC-0011 §4.2): the chain of intents that led to a memory, with what was supposed and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Entry, Plan
from ...model.errors import BadInput, Refused
from ...model.record import record
from ...state.decide import plan_about
from ...state.fold import CHAIN, DEEPEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.entry import Memory, Value


@record
class HeritageChain:
    """Intents in order, the first cause first; hypotheses and reasons at each level."""

    intents: tuple[str, ...] = ()
    hypotheses: tuple[str, ...] = ()
    rationales: tuple[str, ...] = ()


def heritage_of(memory: Memory) -> HeritageChain:
    """The chain that a memory has; the last one that was appended."""
    return HeritageChain(*(_texts(memory.extra, key) for key in CHAIN))


def plan_heritage(memory: Memory, chain: HeritageChain, by: str = "") -> Plan:
    """Give a memory a chain, in the place of the one it has."""
    if memory.status == "deleted":
        raise Refused(f"{memory.id} is deleted", "add it anew")
    parts = (chain.intents, chain.hypotheses, chain.rationales)
    if not any(parts):
        raise BadInput("an empty chain", "give at least one --intent")
    if any(len(part) > DEEPEST for part in parts):
        raise BadInput(f"a chain of more than {DEEPEST} levels", "keep the last ones")
    if any(not text.strip() for part in parts for text in part):
        raise BadInput("an empty level in a chain", "leave it out")
    extra: dict[str, Value] = {key: list(part) for key, part in zip(CHAIN, parts, strict=True)}
    return plan_about(memory, Entry(kind="heritage", by=by, extra=extra), f"heritage of {memory.id}")


def _texts(extra: Mapping[str, Value], key: str) -> tuple[str, ...]:
    value = extra.get(key, [])
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
