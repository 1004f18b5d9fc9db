"""The tables of RFC-0011 in LanceDB, filled for other programs: §2.2 to §2.4."""

import json
import os

import pytest

pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")

import lancedb
from rawkomem.model.entries import Entry
from rawkomem.model.errors import BadInput
from rawkomem.repository import Repository

pytestmark = pytest.mark.stores

SKILL = """\
---
name: ship-it
description: Ship a release of the shop
---

1. Tag it.
2. Build the wheel.
"""


@pytest.fixture
def opened(project):
    repository = Repository.open(str(project), store="lancedb", warn=lambda text: None)
    yield repository
    repository.close()


def rows(repository, table: str) -> dict[str, dict]:
    db = lancedb.connect(os.path.join(repository.layout.local, "lancedb"))
    return {row["id"]: row for row in db.open_table(table).to_arrow().to_pylist()}


def test_other_programs_read_what_only_files_know(opened):
    id = opened.add(Entry(title="Deploys", body="Blue-green only.", extra={"source_skill_id": "skill_1"})).entry.id
    opened.beliefs.reinforce(id)
    opened.lessons.inherit(id, ("ship weekly",), (), ("fewer outages",))
    opened.skills.ingest(SKILL, by="planner", via="person")
    opened.sync()
    done = opened.store.publish()
    row = rows(opened, "memory_entries")[id]
    assert row["importance_score"] == pytest.approx(0.8) and row["access_count"] == 0
    assert row["source_skill_id"] == "skill_1" and row["updated_at"] > row["created_at"]
    chain = {"intentChain": ["ship weekly"], "hypotheses": [], "rationales": ["fewer outages"]}
    assert json.loads(row["heritage_chain"]) == chain
    blocks = rows(opened, "yamo_blocks")
    assert len(blocks) == done.blocks > 0 and {block["operation_type"] for block in blocks.values()} == {"retain"}
    assert any(id in block["yamo_text"] for block in blocks.values())
    (skill,) = rows(opened, "synthesized_skills").values()
    assert (skill["name"], skill["intent"]) == ("ship-it", "Ship a release of the shop")
    assert json.loads(skill["metadata"])["reliability"] == 0.5 and any(skill["vector"])
    assert (done.memories, done.skills) == (2, 1)


def test_publishing_again_replaces_ours_and_leaves_others(opened):
    opened.add(Entry(title="One", body="Text."))
    opened.sync()
    opened.store.publish()
    table = lancedb.connect(os.path.join(opened.layout.local, "lancedb")).open_table("yamo_blocks")
    theirs = {**table.to_arrow().to_pylist()[0], "id": "theirs", "metadata": None}
    table.add([theirs])
    opened.add(Entry(title="Two", body="Text."))
    opened.sync()
    again = opened.store.publish()
    blocks = rows(opened, "yamo_blocks")
    assert len(blocks) == again.blocks + 1 and "theirs" in blocks
    assert opened.search("text") and opened.store.status().fresh


def test_what_is_purged_is_in_no_table(opened):
    opened.add(Entry(title="Xyzzysecret", body="The xyzzysecret text."))
    opened.add(Entry(title="Harmless", body="Text."))
    opened.sync()
    opened.store.publish()
    assert _holds(opened, b"zzysecret")
    opened.lifecycle.purge("xyzzysecret")
    opened.sync()
    assert not _holds(opened, b"zzysecret")


def _holds(repository, text: bytes) -> bool:
    tree = os.walk(os.path.join(repository.layout.local, "lancedb"))
    files = [os.path.join(folder, name) for folder, _, names in tree for name in names]
    return any(text in open(file, "rb").read() for file in files)


def test_another_store_has_no_such_tables(repository):
    with pytest.raises(BadInput, match="sqlite store does not have the tables"):
        repository.store.publish()
