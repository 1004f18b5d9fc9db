"""YAMO blocks of a reflection and of a skill, from the memories that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...format.yamo import Block, emit_block
from ...format.yamo_blocks import reflect_block
from ...model.clock import iso
from ...state.derive import derived_from
from .reflect import confidence_of, topic_of
from .synthesize import APPROACH, AVOID, RULES, items, section

if TYPE_CHECKING:
    from ...model.entry import Memory


def reflection_as_yamo(memory: Memory) -> str:
    """Return the block of a reflection (RFC-0011 §3.4)."""
    sources, confidence = len(derived_from(memory)), confidence_of(memory)
    said = (memory.id, topic_of(memory), sources, memory.body, confidence)
    return emit_block(reflect_block(memory.by, memory.created, *said))


def skill_as_yamo(memory: Memory) -> str:
    """Return a proposed skill as a definition in YAMO: its steps as output, warnings and rules as constraints."""
    sources, at = derived_from(memory), iso(memory.created)
    avoid, rules = (items(section(memory.body, heading)) for heading in (AVOID, RULES))
    steps = items(section(memory.body, APPROACH))
    block = Block(
        memory.title,
        str(memory.extra.get("intent", "")) or memory.title,
        (("description", str(memory.extra.get("description", ""))), ("timestamp", at)),
        tuple(("", line) for line in (*(f"Avoid: {line}" for line in avoid), *rules)),
        output=(("skill_id", memory.id), *((f"step_{number}", line) for number, line in enumerate(steps, 1))),
        meta=(("rationale", f"Made from {len(sources)} memories"), ("sources", ", ".join(sources))),
        log=("skill_synthesized", "timestamp", at, "id", memory.id, "sources", str(len(sources))),
    )
    return emit_block(block)
