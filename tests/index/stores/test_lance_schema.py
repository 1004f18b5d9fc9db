"""RFC-0011 §2 and §11: which schema a table has, and the way from V1 to V2 and back, killed at every step; and what other programs write beside us."""

import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")

import lancedb
import pyarrow as pa
from rawkomem.index.stores.lance import tables
from rawkomem.index.stores.lance.store import LanceStore
from rawkomem.index.stores.lance.tables import (
    BACKUP,
    ENTRIES,
    PROMOTED,
    blocks_schema,
    entries_v1,
    entries_v2,
    is_schema_v1,
    is_schema_v2,
    migrate_entries,
    rollback_entries,
    skills_schema,
    table_names,
)
from rawkomem.index.stores.protocol import lance_message
from rawkomem.model.errors import IndexBroken, NotFound, Refused

from tests.conftest import ROOT
from tests.index.stores.store_contract import DIMS, document, numbers, vector

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
    assert not is_schema_v1(blocks_schema()) and not is_schema_v2(blocks_schema())
    assert entries_v2(DIMS).names[:6] == entries_v1(DIMS).names and all(field.nullable for field in PROMOTED)


def test_v1_migrates_answers_the_same_and_rolls_back(place):
    """RFC-0011 §11"""
    before, rows = answers(place), lancedb.connect(place).open_table(ENTRIES).to_arrow()
    done = migrate_entries(lancedb.connect(place), now())
    assert (done.rows, done.done) == (50, True)
    migrated = lancedb.connect(place).open_table(ENTRIES).to_arrow()
    assert is_schema_v2(migrated.schema) and answers(place) == before
    assert migrated["session_id"].null_count == migrated["importance_score"].null_count == 50
    assert not migrate_entries(lancedb.connect(place), now()).done
    assert rollback_entries(lancedb.connect(place), anyway=False) == 50
    assert lancedb.connect(place).open_table(ENTRIES).to_arrow() == rows and answers(place) == before
    with pytest.raises(NotFound):
        rollback_entries(lancedb.connect(place), anyway=False)


def test_a_rollback_does_not_lose_newer_rows_unasked(place):
    db = lancedb.connect(place)
    migrate_entries(db, now())
    db.open_table(ENTRIES).add(pa.Table.from_pylist([row("newer")], entries_v2(DIMS)))
    with pytest.raises(Refused, match="1 memories were added since"):
        rollback_entries(db, anyway=False)
    assert is_schema_v2(schema(place)) and rollback_entries(db, anyway=True) == 50


def test_a_backup_is_removed_after_thirty_days(place):
    db = lancedb.connect(place)
    migrate_entries(db, now())
    assert not migrate_entries(db, now() + timedelta(days=29)).removed_backup and BACKUP in table_names(db)
    assert migrate_entries(db, now() + timedelta(days=31)).removed_backup and BACKUP not in table_names(db)


def test_what_is_no_memory_table_is_named(tmp_path):
    with pytest.raises(NotFound, match="no table memory_entries"):
        migrate_entries(lancedb.connect(str(tmp_path)), now())


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
import lancedb
from rawkomem.index.stores.lance.tables import migrate_entries, rollback_entries
when, _, name = sys.argv[3].partition(" ")
owner = lancedb.table.LanceTable if name == "add_columns" else lancedb.db.LanceDBConnection
call = getattr(owner, name)
def die(*given, **named):
    if when == "after":
        call(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, name, die)
db = lancedb.connect(sys.argv[1])
migrate_entries(db, datetime.now(UTC)) if sys.argv[2] == "migrate" else rollback_entries(db, False)
"""


def killed_at(place: str, what: str, step: str) -> None:
    words = [sys.executable, "-c", KILLED, place, what, step]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("step", ["before create_table", "after create_table", "after add_columns"])
def test_a_migration_killed_at_any_step_is_v1_or_v2_and_ends_when_tried_again(place, step):
    before = answers(place)
    killed_at(place, "migrate", step)
    assert is_schema_v2(schema(place)) == (step == "after add_columns") and answers(place) == before
    migrate_entries(lancedb.connect(place), now())
    assert is_schema_v2(schema(place)) and answers(place) == before
    assert rollback_entries(lancedb.connect(place), anyway=False) == 50 and answers(place) == before


@pytest.mark.parametrize("step", ["before create_table", "after create_table", "after drop_table"])
def test_a_rollback_killed_at_any_step_ends_when_tried_again(place, step):
    before = answers(place)
    migrate_entries(lancedb.connect(place), now())
    killed_at(place, "rollback", step)
    assert is_schema_v1(schema(place)) == (step != "before create_table") and answers(place) == before
    if step != "after drop_table":
        assert rollback_entries(lancedb.connect(place), anyway=False) == 50
    assert is_schema_v1(schema(place)) and answers(place) == before
    assert BACKUP not in table_names(lancedb.connect(place))


def test_a_half_written_backup_does_not_stop_a_migration(place):
    """Killed while it was copied: a folder that is no table yet."""
    os.makedirs(os.path.join(place, f"{BACKUP}.lance", "data"))
    with open(os.path.join(place, f"{BACKUP}.lance", "data", "part.lance"), "wb") as stream:
        stream.write(b"half")
    assert migrate_entries(lancedb.connect(place), now()).done
    assert rollback_entries(lancedb.connect(place), anyway=False) == 50


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
    assert db.open_table("yamo_blocks").schema == blocks_schema()
    assert db.open_table("synthesized_skills").schema == skills_schema(DIMS)
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
    migrate_entries(lancedb.connect(place), now())
    before = answers(place)
    store = LanceStore(place, DIMS)
    store.put([document("ours", "x", vectors=(vector("far"),))])
    store.commit()
    store.erase()
    store.commit()
    assert answers(place) == before


def add_theirs(place: str, *names: str) -> None:
    rows = pa.Table.from_pylist([row(name) for name in names], entries_v2(DIMS))
    lancedb.connect(place).open_table(ENTRIES).add(rows)


def contents(place: str) -> dict[str, str]:
    """id → text of all rows; a row that is there twice fails."""
    rows = lancedb.connect(place).open_table(ENTRIES).to_arrow().to_pylist()
    assert len({found["id"] for found in rows}) == len(rows)
    return {found["id"]: found["content"] for found in rows}


@pytest.fixture
def shared_place(tmp_path) -> str:
    """A store with the memories a and b, and a row that another program added since."""
    place = str(tmp_path / "shared")
    store = LanceStore(place, DIMS)
    store.put([document("a", "one", digest="1"), document("b", "two", digest="2")])
    store.commit()
    store.close()
    add_theirs(place, "theirs")
    return place


THEIRS = {"theirs": "text of theirs"}


def test_rows_that_others_add_between_our_commits_stay(shared_place):
    store = LanceStore(shared_place, DIMS)
    store.put([document("a", "anew", digest="3"), document("c", "three", digest="4")])
    store.commit()
    add_theirs(shared_place, "more")
    store.drop(["b"])
    store.commit()
    more = {**THEIRS, "more": "text of more"}
    assert contents(shared_place) == {"a": "anew", "c": "three", **more}
    store.erase()
    store.commit()
    assert contents(shared_place) == more


WRITER = """
import os, signal, sys
from rawkomem.index.stores.lance import store as lance_store
from tests.index.stores.store_contract import DIMS, document
store = lance_store.LanceStore(sys.argv[1], DIMS)
store.put([document("a", "other", digest="3"), document("c", "three", digest="4")])
store.drop(["b"])
lance_store.write_entries = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
store.commit()
"""


def test_a_killed_writer_leaves_no_row_doubled_stale_or_lost(shared_place):
    """Killed before memory_entries is written: the digests show what the next sync must put again."""
    words = [sys.executable, "-c", WRITER, shared_place]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert contents(shared_place) == {"a": "one", "b": "two", **THEIRS}
    add_theirs(shared_place, "more")
    store = LanceStore(shared_place, DIMS)
    assert store.held() == {"a": "3", "c": "4"}  # the index knows a and b, with other digests
    store.drop(["c"])
    store.put([document("a", "one", digest="1"), document("b", "two", digest="2")])
    store.commit()
    assert contents(shared_place) == {"a": "one", "b": "two", **THEIRS, "more": "text of more"}


def test_what_was_not_committed_is_not_in_the_table(shared_place):
    store = LanceStore(shared_place, DIMS)
    store.put([document("c", "three")])
    store.close()
    assert contents(shared_place) == {"a": "one", "b": "two", **THEIRS}


def test_a_life_that_was_lost_leaves_no_row(shared_place):
    shutil.rmtree(os.path.join(shared_place, "passages.lance"))
    store = LanceStore(shared_place, DIMS)
    assert store.held() == {} and contents(shared_place) == THEIRS
    store.put([document("a", "anew")])
    store.commit()
    assert contents(shared_place) == {"a": "anew", **THEIRS}


def test_vectors_of_another_length_need_the_table_for_themselves(tmp_path):
    place = str(tmp_path / "lance")
    store = LanceStore(place, DIMS)
    store.put([document("a", "one")])
    store.commit()
    longer = LanceStore(place, 2 * DIMS)
    longer.erase()
    longer.put([document("a", "one", vectors=(vector("x") + vector("y"),))])
    longer.commit()
    assert contents(place) == {"a": "one"}
    rows = pa.Table.from_pylist([{**row("theirs"), "vector": numbers("x") * 2}], entries_v2(2 * DIMS))
    lancedb.connect(place).open_table(ENTRIES).add(rows)
    with pytest.raises(Refused, match="another length"):
        LanceStore(place, DIMS).erase()


def test_a_rollback_is_not_undone_by_the_store(place):
    """RFC-0011 §11: V1 stays V1 until somebody migrates again; the store then begins anew."""
    migrate_entries(lancedb.connect(place), now())
    store = LanceStore(place, DIMS)
    store.put([document("ours", "x", digest="1")])
    store.commit()
    generation = store.generation()
    assert rollback_entries(lancedb.connect(place), anyway=True) == 50
    store.put([document("more", "y", digest="2")])
    with pytest.raises((Refused, ValueError, RuntimeError, OSError)):
        store.commit()
    with pytest.raises(Refused, match="V1"):
        LanceStore(place, DIMS)
    assert is_schema_v1(schema(place)) and contents(place).keys() == set(NAMES)
    migrate_entries(lancedb.connect(place), now())
    store = LanceStore(place, DIMS)
    assert store.generation() != generation and store.held() == {}
    store.put([document("ours", "x", digest="1")])
    store.commit()
    assert contents(place).keys() == {*NAMES, "ours"}


def test_a_write_removes_an_old_backup(place, monkeypatch):
    migrate_entries(lancedb.connect(place), now())
    store = LanceStore(place, DIMS)
    store.put([document("a", "x")])
    store.commit()
    store.close()
    assert BACKUP in table_names(lancedb.connect(place))
    monkeypatch.setattr(tables, "BACKUP_KEPT", timedelta(0))
    store = LanceStore(place, DIMS)
    store.put([document("b", "x")])
    store.commit()
    assert BACKUP not in table_names(lancedb.connect(place))


def test_a_url_is_not_told():
    """It may hold a key; and what the engine says may quote it."""
    failure = ValueError("no such bucket: s3://bucket/k3y?token=s3cr3t")
    assert lance_message(failure, "s3://bucket/k3y?token=s3cr3t") == "ValueError"
    assert lance_message(ValueError("s3://bucket is gone\nmore"), "s3://bucket") == "your url is gone"
    assert lance_message(ValueError("/home/me/lance is gone"), "/home/me/lance") == "/home/me/lance is gone"
    with pytest.raises(IndexBroken) as caught:
        LanceStore("nonsense://me:s3cr3t@host/place", DIMS)
    assert "s3cr3t" not in f"{caught.value.message} {caught.value.hint}"
