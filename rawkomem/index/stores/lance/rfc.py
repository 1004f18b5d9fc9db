"""The LanceDB tables of RFC-0011 §2: memory_entries in both its schemas, yamo_blocks, synthesized_skills."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

ENTRIES, BLOCKS, SKILLS = "memory_entries", "yamo_blocks", "synthesized_skills"
TEXT, MOMENT = pa.utf8(), pa.timestamp("ms")


def required(**kinds: pa.DataType) -> tuple[pa.Field, ...]:
    """Return columns that must not be null, by name."""
    return tuple(pa.field(name, kind, nullable=False) for name, kind in kinds.items())


def optional(**kinds: pa.DataType) -> tuple[pa.Field, ...]:
    """Return columns that may be null, by name."""
    return tuple(pa.field(name, kind) for name, kind in kinds.items())


PROMOTED = (  # §2.2; `session_id` tells V2 from V1
    *optional(session_id=TEXT, agent_id=TEXT, memory_type=TEXT, importance_score=pa.float32(), access_count=pa.int32()),
    *optional(last_accessed=MOMENT, heritage_chain=TEXT, lesson_pattern_id=TEXT, source_skill_id=TEXT),
)


def entries_v1(dims: int) -> pa.Schema:
    """Return the schema of §2.1."""
    own = required(id=TEXT, vector=pa.list_(pa.float32(), dims), content=TEXT)
    return pa.schema([*own, *optional(metadata=TEXT), *required(created_at=MOMENT), *optional(updated_at=MOMENT)])


def entries_v2(dims: int) -> pa.Schema:
    """Return the schema of §2.2."""
    return pa.schema([*entries_v1(dims), *PROMOTED])


def blocks() -> pa.Schema:
    """Return the schema of §2.3."""
    said = required(operation_type=TEXT, yamo_text=TEXT, timestamp=MOMENT)
    hashes = optional(block_hash=TEXT, prev_hash=TEXT, metadata=TEXT)
    return pa.schema([*required(id=TEXT), *optional(agent_id=TEXT), *said, *hashes])


def skills(dims: int) -> pa.Schema:
    """Return the schema of §2.4."""
    own = required(id=TEXT, name=TEXT, intent=TEXT, yamo_text=TEXT, vector=pa.list_(pa.float32(), dims))
    return pa.schema([*own, *optional(metadata=TEXT), *required(created_at=MOMENT)])


def published(dims: int) -> dict[str, pa.Schema]:
    """Return the schemas of the tables that only `publish` fills, by name."""
    return {BLOCKS: blocks(), SKILLS: skills(dims)}


def is_schema_v2(schema: pa.Schema) -> bool:
    """Tell whether a table has the promoted fields."""
    return "session_id" in schema.names


def is_schema_v1(schema: pa.Schema) -> bool:
    """Tell whether a table of memories lacks the promoted fields."""
    return not is_schema_v2(schema) and {"id", "vector", "content", "metadata"} <= set(schema.names)


def table_names(db: Any) -> set[str]:
    """Return the names of all tables of a database."""
    names: set[str] = set()
    token = None
    while True:
        page = db.list_tables(page_token=token)
        names.update(page.tables)
        token = page.page_token
        if not token:
            return names
