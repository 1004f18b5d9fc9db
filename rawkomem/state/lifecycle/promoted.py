"""A memory in the columns of RFC-0011, schema V2: what filters name, what `show --json` prints, what a mesh returns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...format.lesson import pattern_of
from ...model.aliases import said
from ...model.entry import Memory
from ..changes import time_of
from ..changes.heritage import CHAIN
from ..facets import EVENT_TIME, session_of, type_of
from .strength import importance_of

if TYPE_CHECKING:
    from ...model.entry import Value
    from ...text.expression import Known

MEMORY_TYPES = ("global", "session", "agent", "lesson", "reflection")


def promoted(memory: Memory, accesses: int, last_access: int) -> dict[str, Known]:
    """Return the V2 columns of a memory; None where it does not say. Times are milliseconds, the heritage is JSON."""
    chain = chain_of(memory)
    return {
        "session_id": session_of(memory) or None,
        "agent_id": memory.by or None,
        "memory_type": memory_type(memory),
        "importance_score": importance_of(memory),
        "access_count": accesses,
        "last_accessed": last_access or None,
        "heritage_chain": json.dumps(chain, ensure_ascii=False) if chain else None,
        "lesson_pattern_id": pattern_of(memory.extra) or None,
        "source_skill_id": _text(memory.extra.get("source_skill_id")),
    }


def columns(memory: Memory, accesses: int, last_access: int) -> dict[str, Known]:
    """Return everything that a filter may name."""
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
        **promoted(memory, accesses, last_access),
    }


def memory_type(memory: Memory) -> str:
    """Return which of the RFC's five it is; whatever its type says in free text."""
    return memory_type_of(memory.kind, type_of(memory), session_of(memory))


def memory_type_of(kind: str, type: str, session: str) -> str:
    """Return the RFC's memory type that follows from a kind, a type and a session."""
    if kind in ("lesson", "reflection"):
        return kind
    if type in MEMORY_TYPES:
        return type
    return "session" if session else "global"


def chain_of(memory: Memory) -> dict[str, list[Value]]:
    """Return the chain of intents that led to a memory, by the RFC's keys; empty where it has none."""
    chain: dict[str, list[Value]] = {}
    for key in CHAIN:
        said = memory.extra.get(key, [])
        chain[key] = said if isinstance(said, list) else [said]
    return chain if any(chain.values()) else {}


def _text(value: Value | None) -> str | None:
    return value if isinstance(value, str) and value else None


FIELDS = tuple(columns(Memory(""), 0, 0))  # what a filter may name
