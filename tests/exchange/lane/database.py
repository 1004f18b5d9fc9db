"""Builds a `memories.db` by the schema of Memory Lane's document, v4.1. There is no original software to run."""

import json
import sqlite3
import struct

SCHEMA = """
CREATE TABLE memories (
  id TEXT PRIMARY KEY, content TEXT NOT NULL, metadata TEXT, collection TEXT DEFAULT 'memory-lane', tags TEXT,
  embedding BLOB, decay_factor REAL DEFAULT 1.0, valid_from TEXT, valid_until TEXT, superseded_by TEXT, auto_tags TEXT,
  keywords TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
"""
AT = "2025-11-03T08:15:00.000Z"


def metadata(memory_type: str, **said) -> dict:
    """Return MemoryLaneMetadata with its defaults."""
    usual = {
        "lane_version": "4.1.0", "entity_slugs": [], "entities": [], "confidence_score": 70, "decay_factor": 1.0,
        "feedback_score": 1.0, "feedback_count": 0, "valid_from": None, "valid_until": None, "supersedes": None,
        "superseded_by": None, "times_observed": 1, "access_count": 0, "last_accessed_at": None,
    }  # fmt: skip
    return {**usual, "memory_type": memory_type, **said}


ROWS = [
    {
        "id": "3f6f8a2e-0001", "content": "Use pnpm, not npm: the lock file is pnpm's.",
        "metadata": metadata("correction", confidence_score=95, entity_slugs=["project:shop"], feedback_score=1.21,
                             feedback_count=2, times_observed=4, first_observed_at="2025-10-01T00:00:00Z",
                             last_observed_at="2025-11-02T00:00:00Z", access_count=9,
                             last_accessed_at="2025-11-01T00:00:00Z", source_chunk="no, pnpm please"),
        "tags": ["tooling", "packages"], "auto_tags": ["node"], "keywords": ["pnpm", "lockfile"],
    },
    {
        "id": "3f6f8a2e-0002", "content": "Deploys go out on Tuesdays.",
        "metadata": metadata("decision", superseded_by="3f6f8a2e-0003"), "superseded_by": "3f6f8a2e-0003",
    },
    {
        "id": "3f6f8a2e-0003", "content": "Deploys go out on Wednesdays, after the stand-up.",
        "metadata": metadata("decision", supersedes=["3f6f8a2e-0002"], mood="calm", entities=[
            {"type": "feature", "slug": "release"}]),
        "valid_from": "2025-06-01T00:00:00Z", "valid_until": "2031-01-01T00:00:00Z",
    },
    {"id": "3f6f8a2e-0004", "content": "Somebody retries uploads by hand every week.", "metadata": metadata("pattern_seed")},
]  # fmt: skip


def build(file, rows=ROWS, more: str = "") -> str:
    """Write a database with these rows, and run further SQL on it."""
    connection = sqlite3.connect(file)
    connection.executescript(SCHEMA)
    for row in rows:
        full = {"created_at": AT, "updated_at": AT, "embedding": struct.pack("<4f", 1, 2, 3, 4), **row}
        values = [json.dumps(value) if isinstance(value, (dict, list)) else value for value in full.values()]
        marks = ", ".join("?" * len(full))
        connection.execute(f"INSERT INTO memories ({', '.join(full)}) VALUES ({marks})", values)
    connection.executescript(more)
    connection.commit()
    connection.close()
    return str(file)
