"""Define the schemas of new tables: those of RFC-0011, and the columns that @yamo/memory-mesh adds."""

from __future__ import annotations

import pyarrow as pa

from ...index.stores.lance.rfc import (
    BLOCKS,
    ENTRIES,
    MOMENT,
    SKILLS,
    TEXT,
    blocks,
    entries_v2,
    optional,
    skills,
    table_names,
)

__all__ = ["BLOCKS", "ENTRIES", "SKILLS", "schema_of", "table_names"]

LIFECYCLE = optional(superseded_at=MOMENT, state=TEXT, pinned=pa.bool_(), defer_until=MOMENT)


def schema_of(name: str, dims: int) -> pa.Schema:
    """Return the schema of a table; `dims` is the length of its vectors."""
    made = {ENTRIES: pa.schema([*entries_v2(dims), *LIFECYCLE]), BLOCKS: blocks(), SKILLS: skills(dims)}
    return made[name]
