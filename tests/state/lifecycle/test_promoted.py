"""The promoted columns of RFC-0011 §2.2: what they say of a memory, in `show --json` and in a filter."""

import json

from rawkomem.format.mesh_fields import LessonContext, pattern_id
from rawkomem.model.entries import Memory
from rawkomem.recall.signals import filter_of
from rawkomem.state.strength import FILTER_FIELDS, rfc_columns

COLUMNS = """session_id agent_id memory_type importance_score access_count last_accessed heritage_chain
lesson_pattern_id source_skill_id"""

AUTH = LessonContext("No key", "auth_fallback", "A default", "Fail", "Never fall back", "high", "AuthService")


def test_the_columns_are_those_of_the_rfc():
    """§2.2"""
    assert list(rfc_columns(Memory("m"), 0, 0)) == COLUMNS.split() and set(COLUMNS.split()) <= set(FILTER_FIELDS)


def test_a_lesson_has_its_pattern_and_its_heritage(repository, rawkomem):
    lesson, _ = repository.lessons.learn(AUTH)
    repository.lessons.inherit(lesson.id, ("ship",), ("fast",), ())
    shown = rawkomem.json("show", lesson.id)
    assert shown["lesson_pattern_id"] == pattern_id(AUTH.error_pattern, AUTH.applicable_scope)
    assert json.loads(shown["heritage_chain"]) == {"intentChain": ["ship"], "hypotheses": ["fast"], "rationales": []}
    for condition in (f"lesson_pattern_id = '{shown['lesson_pattern_id']}'", "heritage_chain LIKE '%ship%'"):
        assert [row.id for row in repository.list(filter_of(filter=condition))] == [lesson.id]
    assert repository.list(filter_of(filter="lesson_pattern_id IS NULL")) == []
