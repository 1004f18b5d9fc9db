"""The LanceDB tables of RFC-0011 §2: memory_entries in both its schemas, yamo_blocks, synthesized_skills."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

ENTRIES, BLOCKS, SKILLS = "memory_entries", "yamo_blocks", "synthesized_skills"
MOMENT = pa.timestamp("ms")
PROMOTED = (  # §2.2; `session_id` tells V2 from V1
    pa.field("session_id", pa.utf8()),
    pa.field("agent_id", pa.utf8()),
    pa.field("memory_type", pa.utf8()),
    pa.field("importance_score", pa.float32()),
    pa.field("access_count", pa.int32()),
    pa.field("last_accessed", MOMENT),
    pa.field("heritage_chain", pa.utf8()),
    pa.field("lesson_pattern_id", pa.utf8()),
    pa.field("source_skill_id", pa.utf8()),
)


def entries_v1(dims: int) -> pa.Schema:
    """§2.1"""
    return pa.schema(
        [
            pa.field("id", pa.utf8(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dims), nullable=False),
            pa.field("content", pa.utf8(), nullable=False),
            pa.field("metadata", pa.utf8()),
            pa.field("created_at", MOMENT, nullable=False),
            pa.field("updated_at", MOMENT),
        ]
    )


def entries_v2(dims: int) -> pa.Schema:
    """§2.2"""
    return pa.schema([*entries_v1(dims), *PROMOTED])


def blocks() -> pa.Schema:
    """§2.3"""
    return pa.schema(
        [
            pa.field("id", pa.utf8(), nullable=False),
            pa.field("agent_id", pa.utf8()),
            pa.field("operation_type", pa.utf8(), nullable=False),
            pa.field("yamo_text", pa.utf8(), nullable=False),
            pa.field("timestamp", MOMENT, nullable=False),
            pa.field("block_hash", pa.utf8()),
            pa.field("prev_hash", pa.utf8()),
            pa.field("metadata", pa.utf8()),
        ]
    )


def skills(dims: int) -> pa.Schema:
    """§2.4"""
    return pa.schema(
        [
            pa.field("id", pa.utf8(), nullable=False),
            pa.field("name", pa.utf8(), nullable=False),
            pa.field("intent", pa.utf8(), nullable=False),
            pa.field("yamo_text", pa.utf8(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dims), nullable=False),
            pa.field("metadata", pa.utf8()),
            pa.field("created_at", MOMENT, nullable=False),
        ]
    )


def is_schema_v2(schema: pa.Schema) -> bool:
    """Whether a table has the promoted fields."""
    return "session_id" in schema.names


def is_schema_v1(schema: pa.Schema) -> bool:
    """Whether a table of memories lacks them."""
    return not is_schema_v2(schema) and {"id", "vector", "content", "metadata"} <= set(schema.names)


def table_names(db: Any) -> set[str]:
    """All tables of a database."""
    names: set[str] = set()
    token = None
    while True:
        page = db.list_tables(page_token=token)
        names.update(page.tables)
        token = page.page_token
        if not token:
            return names
