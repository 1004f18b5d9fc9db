"""What a mesh was given comes back, filters find it, and it is scrubbed before it is embedded (RFC-0011 §2, §6)."""

import re

import pytest
from rawkomem.faces.mesh.api import SyncMemoryMesh

from tests.faces.mesh.conftest import LESSON
from tests.faces.mesh.test_scrubbed import listen

GIVEN = {
    "agent_id": "scout-7",
    "memory_type": "agent",
    "importance_score": 0.37,
    "access_count": 12,
    "last_accessed": "2026-03-01T10:00:00Z",
    "lesson_pattern_id": "00ff00ff00ff00ff",
    "source_skill_id": "skill_1_abc",
    "session_id": "s-44",
    "heritage_chain": {"intentChain": ["sail north"], "hypotheses": [], "rationales": ["wind"]},
    "skill_name": "Navigator",
    "rationale": "the tide tables disagree",
    "hypothesis": "saves a day",
    "source": "harbour log",
    "depth_m": 4.5,
    "crew": {"size": 3, "names": ["Ines", None]},
}
FILTERS = [
    "agent_id = 'scout-7'",
    "memory_type = 'agent'",
    "importance_score = 0.37",
    "importance_score BETWEEN 0.36 AND 0.38",
    "access_count >= 12",
    "last_accessed >= '2026-03-01'",
    "lesson_pattern_id = '00ff00ff00ff00ff'",
    "source_skill_id = 'skill_1_abc'",
    "session_id = 's-44'",
    "heritage_chain LIKE '%sail north%'",
    "skill_name = 'Navigator'",
    "rationale LIKE '%tide%'",
    "hypothesis = 'saves a day'",
    "source = 'harbour log'",
    "metadata LIKE '%depth_m%'",
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    mesh = SyncMemoryMesh(db_dir=str(tmp_path_factory.mktemp("mesh")), agent_id="Pilot")
    record = mesh.add("The ferry leaves the northern pier at noon", GIVEN)
    mesh.add("The ferry of the southern pier is a barge")
    yield mesh, record
    mesh.close()


def test_get_returns_what_was_given(filled):
    """X4"""
    mesh, record = filled
    assert GIVEN.items() <= {**mesh.get(record.id).metadata, "last_accessed": GIVEN["last_accessed"]}.items()
    assert mesh.repository.get(record.id).importance == "low"


@pytest.mark.parametrize("condition", FILTERS)
def test_filters_find_what_get_returns(filled, condition):
    """X4"""
    mesh, record = filled
    found = mesh.search("when does the ferry leave", filter=condition)
    assert [item.id for item in found] == [record.id]


def test_a_recall_counts_on_top(filled):
    mesh, record = filled
    before = mesh.get(record.id).metadata["access_count"]
    mesh.search("northern pier at noon", limit=1)
    assert mesh.get(record.id).metadata["access_count"] == before + 1


@pytest.mark.parametrize(
    ("score", "word"), [(0.0, "low"), (0.4, "low"), (0.55, "medium"), (0.81, "high"), (1, "critical")]
)
def test_a_score_has_a_word_and_stays(mesh, score, word):
    """X4: a number is not rounded to that of its word; once a person says another word, that counts."""
    record = mesh.add(f"Lighthouse {word} blinks {score} times", {"importance_score": score})
    assert mesh.get(record.id).metadata["importance_score"] == score
    assert mesh.repository.get(record.id).importance == word
    mesh.repository.amend(record.id, importance="high" if word != "high" else "low")
    assert mesh.get(record.id).metadata["importance_score"] == (0.85 if word != "high" else 0.4)


MARKUP = """\
# Mooring <em>rules</em>

<p>Use the **outer** buoy [seven](https://example.org/buoy) at low tide.</p>
<script>track("visitor")</script>

Use the outer buoy after a storm,   too.

Use the outer buoy after a storm,   too.
"""


def test_all_stages_run_before_a_vector_is_made(mesh):
    """X4: markup, scripts, doubled paragraphs and blanks are gone; the file keeps the person's text."""
    heard = listen(mesh)
    record = mesh.add(MARKUP)
    mesh.repository.sync()
    heard = [text for text in heard if "buoy" in text]
    assert heard
    for text in heard:
        assert not any(sign in text for sign in ("<", "**", "track(", "](", "   ")), text
        assert text.count("after a storm") <= 1
    memory = mesh.repository.get(record.id)
    assert memory.body == record.content == MARKUP.strip()
    with open(mesh.repository.layout.path(memory.path), encoding="utf-8") as stream:
        assert MARKUP.strip() in stream.read()


def test_ids_are_as_specified(mesh):
    """RFC-0011 §1.1"""
    mesh.ingest_skill("name: Mooring;\nintent: moor_a_boat;\n")
    lesson = mesh.distill_lesson(LESSON)
    assert re.fullmatch(r"mem_\d{13}_[0-9a-f]{6}", mesh.add("A buoy is red").id)
    assert re.fullmatch(r"skill_\d{13}_[0-9a-f]{6}", mesh.list_skills()[0].id)
    assert re.fullmatch(r"lesson_\d{13}_[0-9a-f]{6}", lesson.lesson_id)
    assert re.fullmatch(r"mem_\d{13}_[0-9a-f]{6}", lesson.memory_id)
    assert mesh.get(lesson.memory_id) == mesh.get(lesson.lesson_id)
    blocks = mesh.repository.ledger.blocks()
    assert blocks and all(re.fullmatch(r"yamo_[a-z]+_\d{13}_[0-9a-f]{6}", block.id) for block in blocks)
