"""Blocks that a mesh leaves (RFC-0011 §3.2, §3.3, §3.4), how it ranks (§5), its fallback (§7.1), its cycle (§8)."""

import re

import pytest
from rawkomem.faces.mesh.api import SyncMemoryMesh
from rawkomem.format.yamo import read_yamo_block
from rawkomem.model.user_settings import LlmSettings
from rawkomem.model.values import iso, replace

from tests.embed.server import Server
from tests.embed.test_endpoint import free_port
from tests.faces.mesh.conftest import write_user_config
from tests.learn.llm.models import says_json


def blocks(mesh, operation: str):
    found = [(row, read_yamo_block(row.yamo_text)) for row in mesh.repository.ledger.blocks(operation)]
    assert not any(problems for _, (_, problems) in found)
    return [(row, block) for row, (block, _) in found]


@pytest.mark.parametrize(
    ("metadata", "type"),
    [
        ({"type": "Decision"}, "decision"),
        ({}, "global"),
        ({"session_id": "s1"}, "session"),
        ({"type": "agent"}, "agent"),
    ],
)
def test_a_retain_block(mesh, metadata, type):
    """§3.2, to the byte."""
    record = mesh.add("Redis listens on port 6380", {**metadata, "hypothesis": "saves a call"})
    ((row, _),) = blocks(mesh, "retain")
    assert row.yamo_text == (
        "agent: MemoryMesh_Tester;\n"
        "intent: store_memory_for_future_retrieval;\n"
        "context:\n"
        f"  memory_id;{record.id};\n"
        f"  memory_type;{type};\n"
        f"  timestamp;{iso(row.timestamp)};\n"
        "  content_length;26;\n"
        "constraints:\n"
        "  hypothesis;saves a call;\n"
        "priority: medium;\n"
        "output:\n"
        f"  memory_stored;{record.id};\n"
        "  content_preview;Redis listens on port 6380;\n"
        "meta:\n"
        "  rationale;Memory persisted for semantic search and retrieval;\n"
        "  observation;Content vectorized and stored in LanceDB;\n"
        "  confidence;1.0;\n"
        f"log: memory_retained;timestamp;{iso(row.timestamp)};id;{record.id};type;{type};\n"
        "handoff: End;\n"
    )


def test_a_recall_block(mesh):
    """§3.3, to the byte: the limit that was asked for, the results that were given, the best score by ranks."""
    for number in range(4):
        mesh.add(f"Redis number {number} listens on port 638{number}", {"session_id": "s1"})
    found = mesh.search("redis port", limit=2, filter="session_id = 's1'")
    assert len(found) == 2
    ((row, block),) = blocks(mesh, "recall")
    score, confidence = block.value("output", "top_score"), block.value("meta", "confidence")
    assert row.yamo_text == (
        "agent: MemoryMesh_Tester;\n"
        "intent: recall_relevant_memories;\n"
        "context:\n"
        "  query;redis port;\n"
        "  limit;2;\n"
        "  filter;session_id = 's1';\n"
        f"  timestamp;{iso(row.timestamp)};\n"
        "output:\n"
        "  results_found;2;\n"
        f"  top_score;{score};\n"
        "meta:\n"
        "  rationale;Retrieved most semantically relevant memories for current context;\n"
        f"  confidence;{confidence};\n"
        f"log: memory_recalled;timestamp;{iso(row.timestamp)};query;redis port;results;2;\n"
        "handoff: End;\n"
    )
    assert float(score) == pytest.approx(2 / 61, abs=0.001)  # k = 60, first or nearly so in both lists
    assert float(confidence) == pytest.approx(found[0].relevance, abs=0.0001)


def test_a_reflect_block(project):
    """§3.4: with a model, the block is noted and handed out."""
    mesh = SyncMemoryMesh(db_dir=str(project), agent_id="Tester")
    mesh.add("Redis listens on port 6380")
    thought = {"reflection": "Ports differ; all are above 6000.", "confidence": 0.8}
    with Server(says_json(thought)) as server:
        llm = LlmSettings(endpoint=server.url, model="tiny", timeout=10)
        mesh.repository.core._settings = replace(mesh.repository.settings, llm=llm)
        made = mesh.reflect(topic="redis")
    assert (made.reflection, made.confidence, made.source_memory_count) == (thought["reflection"], 0.8, 1)
    ((row, _),) = blocks(mesh, "reflect")
    assert row.yamo_text == made.yamo_block
    assert made.yamo_block == (
        "agent: MemoryMesh_Tester;\n"
        "intent: synthesize_beliefs_from_memories;\n"
        "context:\n"
        "  topic;redis;\n"
        "  source_count;1;\n"
        f"  timestamp;{made.created_at};\n"
        "output:\n"
        f"  reflection_id;{made.id};\n"
        "  insight_preview;Ports differ, all are above 6000.;\n"
        "  confidence;0.8;\n"
        "meta:\n"
        "  rationale;Aggregated high-signal patterns from recent memory;\n"
        "  confidence;0.8;\n"
        f"log: memory_reflected;timestamp;{made.created_at};topic;redis;sources;1;\n"
        "handoff: End;\n"
    )
    mesh.close()


def test_blocks_are_noted_unless_switched_off(project, rawkomem):
    """§2.3, enableYamo."""
    quiet = SyncMemoryMesh(db_dir=str(project), enable_yamo=False)
    quiet.add("Said in silence")
    quiet.close()
    loud = SyncMemoryMesh(db_dir=str(project))
    loud.add("Said aloud")
    loud.close()
    shown = rawkomem("index", "ledger", "show", "--json").stdout
    assert "Said aloud" in shown and "Said in silence" not in shown


def test_ranks_are_reciprocal(mesh):
    """§5.1: the sum of 1 / (60 + rank) by words and by meaning decides, and the best has 1.0."""
    mesh.add("Redis listens on port 6380 of the cache host")
    mesh.add("The canteen serves soup")
    mesh.add("Redis is a cache")
    found = mesh.search("redis port")
    ranks = {item.row.id: item.signals.ranks for item in mesh.repository.core.look(["redis port"], 20)[0].found}
    assert [item.id for item in found] == sorted(ranks, key=lambda id: (-ranks[id], id))
    assert [item.score for item in found] == [round(ranks[item.id] / ranks[found[0].id], 2) for item in found]
    assert found[0].score == 1.0 and found[0].content.startswith("Redis listens")


def test_scores_are_shares_in_hundredths(mesh):
    """§5.2: from 0 to 1, rounded to two places; one that nothing fits still has 1.0, and a low relevance."""
    for name in ("alpha", "beta", "gamma", "delta"):
        mesh.add(f"The service {name} listens")
    found = mesh.search("the service gamma")
    assert all(0 <= item.score <= 1 and round(item.score, 2) == item.score for item in found)
    stranger = mesh.search("quantum chromodynamics")
    assert stranger[0].score == 1.0 and stranger[0].relevance < 0.5 < found[0].relevance


def test_a_provider_that_is_down_is_replaced_with_a_warning(project, monkeypatch, capsys):
    """§7.1: the configured provider, else the local model, and a warning."""
    monkeypatch.delenv("RAWKOMEM_EMBEDDER")
    write_user_config(f"embedder: {{provider: 'http://127.0.0.1:{free_port()}', model: tiny}}\n")
    mesh = SyncMemoryMesh(db_dir=str(project))
    mesh.add("Redis listens on port 6380")
    assert len(mesh.search("redis")) == 1
    mesh.close()
    said = capsys.readouterr().err
    assert "127.0.0.1" in said and "bundled" in said


def test_the_distillation_cycle(project):
    """§8.1, §8.2: scan, deduplicate, distil, hand out; a second cycle adds nothing."""
    mesh = SyncMemoryMesh(db_dir=str(project))
    failed = {"status": "error", "error_pattern": "auth_fallback_bypass", "error": "The login took a default key",
              "fix": "Refuse every default key when the login starts."}  # fmt: skip
    mesh.add("The release of the login failed", failed)
    assert mesh.query_lessons() == []
    mesh.close()
    for _ in range(2):
        mesh = SyncMemoryMesh(db_dir=str(project), enableWisdomDistillation=True, lessonMinConfidence=0)
        mesh.init()
        (lesson,) = mesh.query_lessons("", {"limit": 10, "orderBy": "severity DESC"})
        assert re.fullmatch(r"[0-9a-f]{16}", lesson.pattern_id) and "default key" in lesson.wire_format
        assert len(blocks(mesh, "lesson")) == 1
        mesh.close()
