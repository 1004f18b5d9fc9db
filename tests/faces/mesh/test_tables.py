"""The tables of RFC-0011 hold what happened as soon as it did, without `store publish`."""

import json
import os

import pytest

pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")

import lancedb
from rawkomem.faces.mesh.api import SyncMemoryMesh
from rawkomem.format.yamo import chain_hashes, read_yamo_block

from tests.faces.mesh.conftest import LESSON, write_user_config

pytestmark = pytest.mark.stores

SKILL = """\
agent: HarbourMaster;
intent: moor_a_boat;
context:
  tide;low;
constraints:
  - never moor at buoy nine;
  - ask for the wind; twice;
output:
  berth;number;
log: skill_defined;
handoff: End;
"""


@pytest.fixture
def mesh(project):
    write_user_config("store: lancedb\n")
    mesh = SyncMemoryMesh(db_dir=str(project), agent_id="Tester")
    yield mesh
    mesh.close()


def rows(mesh, table: str) -> list[dict]:
    db = lancedb.connect(os.path.join(mesh.repository.layout.local, "lancedb"))
    found = db.open_table(table).to_arrow().to_pylist()
    return [{**row, "metadata": json.loads(row["metadata"])} for row in found]


def test_metadata_and_columns_are_those_that_were_given(mesh):
    """X4"""
    given = {"source": "harbour log", "rationale": "tides", "hypothesis": "saves a day", "skill_name": "Navigator"}
    custom = {"importance_score": 0.37, "agent_id": "scout", "depth_m": 4.5, "crew": {"size": 3}}
    record = mesh.add("<b>Buoy seven</b> is the *outer* one", {**given, **custom})
    (row,) = rows(mesh, "memory_entries")
    assert (row["id"], row["content"]) == (record.id, "Buoy seven is the outer one")
    assert {**given, **custom}.items() <= row["metadata"].items()
    assert row["importance_score"] == pytest.approx(0.37) and row["agent_id"] == "scout"
    mesh.search("which buoy is the outer one")
    assert [row["access_count"] for row in rows(mesh, "memory_entries")] == [1]


def test_every_operation_is_a_block_at_once(mesh):
    """X4: retain, recall, lesson and delete; each hash is that of its text."""
    record = mesh.add("The pier is closed in winter")
    assert [row["operation_type"] for row in rows(mesh, "yamo_blocks")] == ["retain"]
    mesh.search("when is the pier closed")
    lesson = mesh.distill_lesson(LESSON)
    mesh.delete(record.id)
    blocks = sorted(rows(mesh, "yamo_blocks"), key=lambda row: row["timestamp"])
    assert [row["operation_type"] for row in blocks] == ["retain", "recall", "lesson", "delete"]
    assert blocks[2]["yamo_text"] == lesson.wire_format
    deleted, _ = read_yamo_block(blocks[3]["yamo_text"])
    assert deleted.value("output", "memory_deleted") == record.id
    hashes = chain_hashes([row["yamo_text"] for row in blocks])
    assert [(row["block_hash"], row["prev_hash"]) for row in blocks] == hashes
    assert [row["id"] for row in rows(mesh, "memory_entries")] == [lesson.lesson_id]


def test_a_skill_is_its_own_text(mesh):
    """X4: with its constraints; a vote and a pruning show at once."""
    skill = mesh.ingest_skill(SKILL)
    (row,) = rows(mesh, "synthesized_skills")
    assert (row["id"], row["name"], row["intent"]) == (skill.id, "HarbourMaster", "moor_a_boat")
    assert row["yamo_text"] == SKILL.rstrip() and row["metadata"]["reliability"] == 0.5
    mesh.update_skill_reliability(skill.id, False)
    assert rows(mesh, "synthesized_skills")[0]["metadata"]["reliability"] == 0.3
    mesh.update_skill_reliability(skill.id, False)
    mesh.prune_skills()
    assert rows(mesh, "synthesized_skills") == []
