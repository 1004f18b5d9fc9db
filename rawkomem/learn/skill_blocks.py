"""YAMO blocks of a reflection and of a skill, in the form of RFC-0011's examples."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..model.clock import iso
from ..state.trust import derived_from
from .synthesize import APPROACH, AVOID, RULES, items, section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.entry import Memory

PREVIEW = 60  # characters (RFC-0011)
NO_NAME = re.compile(r"[^A-Za-z0-9_]+")


def reflect_block(memory: Memory) -> str:
    """The block of a reflection (§3.4)."""
    at, topic, count = iso(memory.created), str(memory.extra.get("topic", "")), len(derived_from(memory))
    confidence = int(str(memory.extra.get("confidence", "0"))) / 100
    return _block(
        "MemoryMesh_YAMO_AGENT",
        "synthesize_beliefs_from_memories",
        {"topic": topic, "source_count": count, "timestamp": at},
        {},
        {"reflection_id": memory.id, "insight_preview": memory.body[:PREVIEW], "confidence": confidence},
        {"rationale": "Aggregated high-signal patterns from recent memory", "confidence": confidence},
        f"memory_reflected;timestamp;{at};topic;{_value(topic)};sources;{count}",
    )


def skill_block(memory: Memory) -> str:
    """A skill as YAMO text: its steps as output, what to avoid and its rules as constraints."""
    at, sources = iso(memory.created), derived_from(memory)
    limits = [f"Avoid: {line}" for line in items(section(memory.body, AVOID.lower()))]
    limits += items(section(memory.body, RULES.lower()))
    steps = items(section(memory.body, APPROACH.lower()))
    return _block(
        NO_NAME.sub("_", memory.title),
        NO_NAME.sub("_", str(memory.extra.get("intent", memory.title))).lower(),
        {"skill_id": memory.id, "description": str(memory.extra.get("description", "")), "timestamp": at},
        {f"constraint_{number}": line for number, line in enumerate(limits, 1)},
        {f"step_{number}": line for number, line in enumerate(steps, 1)},
        {"rationale": f"Made from {len(sources)} memories", "sources": ", ".join(sources)},
        f"skill_synthesized;timestamp;{at};id;{memory.id};sources;{len(sources)}",
    )


def _block(
    agent: str,
    intent: str,
    context: Mapping[str, object],
    constraints: Mapping[str, object],
    output: Mapping[str, object],
    meta: Mapping[str, object],
    log: str,
) -> str:
    sections = (("context", context), ("constraints", constraints), ("output", output), ("meta", meta))
    told = "".join(f"{name}:\n{_pairs(pairs)}" for name, pairs in sections if pairs)
    return f"agent: {agent};\nintent: {intent};\n{told}log: {log};\nhandoff: End;\n"


def _pairs(pairs: Mapping[str, object]) -> str:
    return "".join(f"  {key};{_value(str(value))};\n" for key, value in pairs.items())


def _value(text: str) -> str:
    """RFC-0011: a semicolon in a value becomes a comma, a line break a space."""
    return " ".join(text.replace(";", ",").split())
