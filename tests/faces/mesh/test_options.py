"""Options (RFC-0011 §4.2): by the RFC's names or ours, as a mapping, a dataclass or keywords; mistakes are told."""

from __future__ import annotations

import dataclasses

import pytest
from rawkomem.faces import mesh as package
from rawkomem.faces.mesh.api import MemoryMesh, SyncMemoryMesh
from rawkomem.faces.mesh.values import (
    HeritageChain,
    LessonContext,
    MemoryMeshOptions,
    QueryOptions,
    ReflectionResult,
    ReflectOptions,
    SearchOptions,
    SkillOptions,
    SynthesisOptions,
    our_name,
)
from rawkomem.model.errors import BadInput

from tests.faces.mesh.conftest import LESSON, SKILL, write_user_config

FACES = {"MemoryMesh", "SyncMemoryMesh", "MemoryContextManager"}


def test_options_by_the_names_of_the_rfc(project):
    mesh = MemoryMesh({"agentId": "A", "dbDir": str(project), "enableYamo": False, "lessonMinConfidence": 0.9})
    assert mesh.sync.options == MemoryMeshOptions(
        agent_id="A", db_dir=str(project), enable_yamo=False, lesson_min_confidence=0.9
    )
    assert SyncMemoryMesh(mesh.sync.options).options == mesh.sync.options
    with pytest.raises(BadInput, match="unknown option 'agentName'"):
        MemoryMesh({"agentName": "A"})
    with pytest.raises(BadInput, match="unknown provider"):
        MemoryMesh(llmProvider="nobody")


def test_every_type_is_a_dataclass():
    """§4.2: what is handed in and out can be copied, compared and taken apart by the standard library."""
    for name in set(package.__all__) - FACES:
        assert dataclasses.is_dataclass(getattr(package, name)), name
    assert dataclasses.asdict(HeritageChain(intent_chain=("ship",))) == {
        "intent_chain": ("ship",),
        "hypotheses": (),
        "rationales": (),
    }


def test_each_form_says_the_same(mesh):
    for number, name in enumerate(("alpha", "beta", "gamma")):
        mesh.add(f"The service {name} listens on port {number}")
    found = mesh.search("service", {"limit": 2})  # the RFC's own form
    assert len(found) == 2
    assert found == mesh.search("service", SearchOptions(limit=2)) == mesh.search("service", limit=2)
    assert found == mesh.search("service", SearchOptions(limit=3), limit=2, useCache=None)
    assert len(mesh.get_all({"limit": 1})) == 1
    for made in (mesh.reflect({"lookback": 1}), mesh.reflect(ReflectOptions(lookback=1)), mesh.reflect(lookback=1)):
        assert isinstance(made, ReflectionResult) and made.source_memory_count == 1
    assert mesh.synthesize({"topic": "ports"}) == mesh.synthesize(SynthesisOptions("ports"))
    mesh.ingest_skill(SKILL)
    assert mesh.search_skills("rotate keys", {"limit": 1}) == mesh.search_skills("rotate keys", SkillOptions(1))
    named = {our_name(key): value for key, value in LESSON.items()}
    assert mesh.distill_lesson(LESSON) == mesh.distill_lesson(LessonContext(**named))
    assert mesh.query_lessons("login", {"limit": 5, "orderBy": "severity DESC"}) == mesh.query_lessons("login", limit=5)
    assert mesh.query_lessons("login", QueryOptions(limit=5)) == mesh.query_lessons("login", limit=5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda mesh: mesh.search("x", {"limits": 5}), "SearchOptions: unknown option 'limits'"),
        (lambda mesh: mesh.search("x", 5), "SearchOptions must be a mapping or keywords, not int"),
        (lambda mesh: mesh.search("x", limit=0), "limit must not be 0"),
        (lambda mesh: mesh.search("x", limit="5"), "limit must not be '5'"),
        (lambda mesh: mesh.get_all(limit=-1), "limit must not be -1"),
        (lambda mesh: mesh.list_skills({"limit": 0}), "limit must not be 0"),
        (lambda mesh: mesh.query_lessons("x", orderBy="created_at"), "unknown order 'created_at'"),
        (lambda mesh: mesh.distill_lesson({**LESSON, "mood": "bad"}), "LessonContext: unknown option 'mood'"),
    ],
)
def test_mistakes_are_told(mesh, call, said):
    with pytest.raises(BadInput) as caught:
        call(mesh)
    assert said in caught.value.message


def test_a_key_is_not_shown():
    assert "sk-very-secret" not in repr(MemoryMeshOptions(llm_api_key="sk-very-secret"))


def _lessons(mesh) -> tuple[float, int]:
    settings = mesh.repository.settings
    return settings.min_lesson_confidence, settings.lesson_days


def test_what_the_user_set_counts_where_no_option_says_otherwise(project):
    """lessons.minConfidence and keepDays.lessons of the user's own config."""
    write_user_config("lessons: {minConfidence: 0.9}\nkeepDays: {lessons: 30}\n")
    mesh = SyncMemoryMesh(db_dir=str(project))
    assert _lessons(mesh) == (0.9, 30)
    mesh.close()
    mesh = SyncMemoryMesh(db_dir=str(project), lessonMinConfidence=0.2)
    assert _lessons(mesh) == (0.2, 30)
    mesh.close()
