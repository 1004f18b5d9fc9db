"""A memory in the columns of RFC-0011, schema V2, for filters, `show --json` and the mesh."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...format.lesson import pattern_of
from ...format.mesh_metadata import OTHER_METADATA_KEY, given_in, importance_for, json_object, score_in
from ...model.aliases import said
from ...model.clock import read_time
from ...model.entry import Memory
from ..changes import time_of
from ..changes.heritage import CHAIN
from ..facets import EVENT_TIME, session_of, type_of
from .strength import REINFORCED_IMPORTANCE, importance_of

if TYPE_CHECKING:
    from ...model.entry import Value
    from ...text.expression import Known

MEMORY_TYPES = ("global", "session", "agent", "lesson", "reflection")


def promoted(memory: Memory, accesses: int, last_access: int) -> dict[str, Known]:
    """Return the V2 columns of a memory; None if unknown. Times are milliseconds, the heritage is JSON.

    Values in the memory's metadata win; uses on this machine are added to the uses in the metadata.
    """
    given = given_in(memory.extra)
    chain = chain_of(memory)
    return {
        "session_id": session_of(memory) or None,
        "agent_id": _text(given.get("agent_id")) or memory.by or None,
        "memory_type": memory_type(memory),
        "importance_score": score_of(memory),
        "access_count": accesses + _whole(given.get("access_count")),
        "last_accessed": max(last_access, _moment(given.get("last_accessed"))) or None,
        "heritage_chain": json.dumps(chain, ensure_ascii=False) if chain else None,
        "lesson_pattern_id": pattern_of(memory.extra) or _text(given.get("lesson_pattern_id")),
        "source_skill_id": _text(given.get("source_skill_id")),
    }


def score_of(memory: Memory) -> float:
    """Return the importance as a number: that of the metadata, unless somebody changed the importance since."""
    stated = score_in(given_in(memory.extra))
    if stated is None or importance_for(stated) != memory.importance:
        return importance_of(memory)
    return min(1.0, stated + REINFORCED_IMPORTANCE * memory.reinforcements)


def columns(memory: Memory, accesses: int, last_access: int) -> dict[str, Known]:
    """Return all columns that a filter may name."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "status": memory.status,
        "title": memory.title,
        "content": memory.body,
        "type": type_of(memory) or memory.kind,
        "tags": memory.tags,
        "source": memory.source or None,
        "importance": memory.importance,
        "created_at": memory.created,
        "updated_at": memory.updated,
        "event_at": time_of(said(memory.extra, EVENT_TIME)) or None,
        "skill_name": _text(memory.extra.get("skill_name")),
        "rationale": _text(memory.extra.get("rationale")),
        "hypothesis": _text(memory.extra.get("hypothesis")),
        "metadata": _text(memory.extra.get(OTHER_METADATA_KEY)),
        **promoted(memory, accesses, last_access),
    }


def memory_type(memory: Memory) -> str:
    """Return the RFC's memory type of a memory, one of MEMORY_TYPES."""
    stated = given_in(memory.extra).get("memory_type")
    type = stated if stated in MEMORY_TYPES else type_of(memory)
    return memory_type_of(memory.kind, type, session_of(memory))


def memory_type_of(kind: str, type: str, session: str) -> str:
    """Return the RFC's memory type for a kind, a type and a session."""
    if kind in ("lesson", "reflection"):
        return kind
    if type in MEMORY_TYPES:
        return type
    return "session" if session else "global"


def chain_of(memory: Memory) -> dict[str, list[Value]]:
    """Return the chain of intents that led to a memory, by the RFC's keys; empty if it has none."""
    chain: dict[str, list[Value]] = {}
    for key in CHAIN:
        said = memory.extra.get(key, [])
        chain[key] = said if isinstance(said, list) else [said]
    if any(chain.values()):
        return chain
    stated = json_object(given_in(memory.extra).get("heritage_chain"))
    return {key: stated.get(key, []) for key in CHAIN} if any(stated.get(key) for key in CHAIN) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _moment(value: object) -> int:
    """Return a number or an ISO time as milliseconds since 1970; 0 for any other value."""
    if isinstance(value, str):
        return read_time(value)[0] or 0
    return _whole(value)


FIELDS = tuple(columns(Memory(""), 0, 0))  # names that a filter may use
