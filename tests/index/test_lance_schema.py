"""RFC-0011 §2 and §11: which schema a table has, and the way from V1 to V2 and back, killed at every step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")

import lancedb
import pyarrow as pa

from rawkomem.index.lance.migration import BACKUP, migrate, rollback
from rawkomem.index.lance.rfc import (
    ENTRIES,
    PROMOTED,
    blocks,
    entries_v1,
    entries_v2,
    is_schema_v1,
    is_schema_v2,
    skills,
    table_names,
)
from rawkomem.index.lance.store import LanceStore
from rawkomem.model.errors import NotFound, Refused

from ..conftest import ROOT
from .store_contract import DIMS, document, numbers, vector

pytestmark = pytest.mark.stores

NAMES = [f"mem_{n}" for n in range(50)]


def row(name: str) -> dict:
    return {
        "id": name,
        "vector": numbers(name),
        "content": f"text of {name}",
        "metadata": '{"type":"event","tags":["#lesson_learned"]}',
        "created_at": 1_700_000_000_000,
        "updated_at": None,
    }


@pytest.fixture
def place(tmp_path) -> str:
    """A database as a memory-mesh of before V2 made it."""
    place = str(tmp_path / "lance")
    lancedb.connect(place).create_table(ENTRIES, pa.Table.from_pylist([row(name) for name in NAMES], entries_v1(DIMS)))
    return place


def answers(place: str) -> list[list[tuple[str, str]]]:
    """What the table answers to some questions, with and without a filter."""
    table = lancedb.connect(place).open_table(ENTRIES)
    asked = [table.search(numbers(name)).limit(10) for name in ("mem_3", "elsewhere")]
    asked.append(table.search(numbers("mem_7")).where("id != 'mem_7'").limit(10))
    return [[(found["id"], found["content"]) for found in query.to_list()] for query in asked]


def schema(place: str) -> pa.Schema:
    return lancedb.connect(place).open_table(ENTRIES).schema


def now() -> datetime:
    return datetime.now(UTC)


def test_schemas_are_told_apart():
    """RFC-0011 §2.2: by the presence of session_id."""
    assert is_schema_v1(entries_v1(DIMS)) and not is_schema_v2(entries_v1(DIMS))
    assert is_schema_v2(entries_v2(DIMS)) and not is_schema_v1(entries_v2(DIMS))
    assert not is_schema_v1(blocks()) and not is_schema_v2(blocks())
    assert entries_v2(DIMS).names[:6] == entries_v1(DIMS).names and all(field.nullable for field in PROMOTED)


def test_v1_migrates_answers_the_same_and_rolls_back(place):
    """RFC-0011 §11"""
    before, rows = answers(place), lancedb.connect(place).open_table(ENTRIES).to_arrow()
    done = migrate(lancedb.connect(place), now())
    assert (done.rows, done.done) == (50, True)
    migrated = lancedb.connect(place).open_table(ENTRIES).to_arrow()
    assert is_schema_v2(migrated.schema) and answers(place) == before
    assert migrated["session_id"].null_count == migrated["importance_score"].null_count == 50
    assert not migrate(lancedb.connect(place), now()).done
    assert rollback(lancedb.connect(place), anyway=False) == 50
    assert lancedb.connect(place).open_table(ENTRIES).to_arrow() == rows and answers(place) == before
    with pytest.raises(NotFound):
        rollback(lancedb.connect(place), anyway=False)


def test_a_rollback_does_not_lose_newer_rows_unasked(place):
    db = lancedb.connect(place)
    migrate(db, now())
    db.open_table(ENTRIES).add(pa.Table.from_pylist([row("newer")], entries_v2(DIMS)))
    with pytest.raises(Refused, match="1 memories came since"):
        rollback(db, anyway=False)
    assert is_schema_v2(schema(place)) and rollback(db, anyway=True) == 50


def test_a_backup_is_removed_after_thirty_days(place):
    db = lancedb.connect(place)
    migrate(db, now())
    assert not migrate(db, now() + timedelta(days=29)).removed_backup and BACKUP in table_names(db)
    assert migrate(db, now() + timedelta(days=31)).removed_backup and BACKUP not in table_names(db)


def test_what_is_no_memory_table_is_named(tmp_path):
    with pytest.raises(NotFound, match="no table memory_entries"):
        migrate(lancedb.connect(str(tmp_path)), now())


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
import lancedb
from rawkomem.index.lance.migration import migrate, rollback
def at_step(step):
    if step == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)
db = lancedb.connect(sys.argv[1])
migrate(db, datetime.now(UTC), at_step) if sys.argv[2] == "migrate" else rollback(db, False, at_step)
"""


def killed_at(place: str, what: str, step: str) -> None:
    words = [sys.executable, "-c", KILLED, place, what, step]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("step", ["begin", "clean", "backup", "columns"])
def test_a_migration_killed_at_any_step_is_v1_or_v2_and_ends_when_tried_again(place, step):
    before = answers(place)
    killed_at(place, "migrate", step)
    assert is_schema_v2(schema(place)) == (step == "columns") and answers(place) == before
    migrate(lancedb.connect(place), now())
    assert is_schema_v2(schema(place)) and answers(place) == before
    assert rollback(lancedb.connect(place), anyway=False) == 50 and answers(place) == before


@pytest.mark.parametrize("step", ["begin", "restored", "clean"])
def test_a_rollback_killed_at_any_step_ends_when_tried_again(place, step):
    before = answers(place)
    migrate(lancedb.connect(place), now())
    killed_at(place, "rollback", step)
    assert is_schema_v1(schema(place)) == (step != "begin") and answers(place) == before
    if step != "clean":
        assert rollback(lancedb.connect(place), anyway=False) == 50
    assert is_schema_v1(schema(place)) and answers(place) == before
    assert BACKUP not in table_names(lancedb.connect(place))


def test_a_half_written_backup_does_not_stop_a_migration(place):
    """Killed while it was copied: a folder that is no table yet."""
    os.makedirs(os.path.join(place, f"{BACKUP}.lance", "data"))
    with open(os.path.join(place, f"{BACKUP}.lance", "data", "part.lance"), "wb") as stream:
        stream.write(b"half")
    assert migrate(lancedb.connect(place), now()).done
    assert rollback(lancedb.connect(place), anyway=False) == 50


def test_the_store_fills_the_tables_of_the_rfc(tmp_path):
    """RFC-0011 §2.2 to §2.4"""
    store = LanceStore(str(tmp_path / "lance"), DIMS)
    store.put(
        [
            document("a", "one", "two", by="planner", session="s1", importance=3, tags=("x",), created=5),
            document("b", "three", kind="lesson"),
        ]
    )
    store.commit()
    db = lancedb.connect(store.place)
    assert db.open_table("yamo_blocks").schema == blocks()
    assert db.open_table("synthesized_skills").schema == skills(DIMS)
    a, b = sorted(db.open_table(ENTRIES).to_arrow().to_pylist(), key=lambda row: row["id"])
    assert (a["content"], a["agent_id"], a["session_id"], a["memory_type"]) == (
        "one\n\ntwo",
        "planner",
        "s1",
        "session",
    )
    assert a["importance_score"] == 1.0 and a["created_at"] == datetime(1970, 1, 1, 0, 0, 0, 5000)
    assert (b["memory_type"], b["session_id"], b["heritage_chain"], b["access_count"]) == ("lesson", None, None, None)
    assert abs(sum(x * y for x, y in zip(b["vector"], numbers("three"), strict=True)) - 1) < 1e-5


def test_rows_of_others_outlive_the_store(place):
    """A database that was another program's: V1 is not touched unasked, and its rows stay whatever becomes of ours."""
    with pytest.raises(Refused, match="V1"):
        LanceStore(place, DIMS)
    migrate(lancedb.connect(place), now())
    before = answers(place)
    store = LanceStore(place, DIMS)
    store.put([document("ours", "x", vectors=(vector("far"),))])
    store.commit()
    store.erase()
    store.commit()
    assert answers(place) == before
