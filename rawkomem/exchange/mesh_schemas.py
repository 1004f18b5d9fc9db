"""Define the schemas of new tables of memory-mesh; needs pyarrow, which only an export loads."""

from __future__ import annotations

import pyarrow as pa

from ..index.stores.lance.tables import (
    BLOCKS,
    ENTRIES,
    MOMENT,
    SKILLS,
    TEXT,
    blocks_schema,
    entries_v2,
    optional_columns,
    skills_schema,
    table_names,
)

__all__ = ["BLOCKS", "ENTRIES", "SKILLS", "schema_of", "table_names"]

LIFECYCLE = optional_columns(
    superseded_at=MOMENT, state=TEXT, pinned=pa.bool_(), defer_until=MOMENT
)


def schema_of(name: str, dims: int) -> pa.Schema:
    """Return the schema of a table; `dims` is the length of its vectors."""
    made = {
        ENTRIES: pa.schema([*entries_v2(dims), *LIFECYCLE]),
        BLOCKS: blocks_schema(),
        SKILLS: skills_schema(dims),
    }
    return made[name]
