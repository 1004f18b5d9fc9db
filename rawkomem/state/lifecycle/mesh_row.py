"""A memory as a record of RFC-0011: its content, its metadata, and its row in memory_entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...format.mesh_metadata import SCRUBBED_KEY, given_in
from ...model.clock import iso
from ..facets import type_of
from .promoted import chain_of, promoted

if TYPE_CHECKING:
    from ...model.entry import Memory


def metadata_of(memory: Memory, accesses: int = 0, last_access: int = 0) -> dict[str, Any]:
    """Return a memory's metadata by the RFC's keys, without empty values, including the columns that filters use."""
    columns = promoted(memory, accesses, last_access)
    last = columns["last_accessed"]
    shown = {**columns, "last_accessed": iso(last) if isinstance(last, int) else "", "heritage_chain": chain_of(memory)}
    known = {
        "type": type_of(memory) or memory.kind,
        "source": memory.source,
        "tags": list(memory.tags),
        "importance": memory.importance,
    }
    return {**_said(known), **given_in(memory.extra), **_said(shown)}


def entry_row(memory: Memory, accesses: int = 0, last_access: int = 0) -> dict[str, Any]:
    """Return the columns of memory_entries without the vector; times are milliseconds, metadata is an object."""
    return {
        "id": memory.id,
        "content": sanitized(memory),
        "metadata": {"title": memory.title, "status": memory.status, **metadata_of(memory, accesses, last_access)},
        "created_at": memory.created,
        "updated_at": memory.updated if memory.updated != memory.created else None,
        **promoted(memory, accesses, last_access),
    }


def sanitized(memory: Memory) -> str:
    """Return a memory's text after layer 0 (RFC-0011 §6) if a mesh stored it; the file keeps the original text."""
    text = memory.body or memory.title
    if SCRUBBED_KEY not in memory.extra:
        return text
    from ...redaction.scrub.plain import scrubbed_text

    return scrubbed_text(text)


def _said(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}
