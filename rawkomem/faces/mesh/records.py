"""Convert between memories (frontmatter and body) and the RFC's records (content and metadata)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...files.local.usage import Access
from ...format.mesh_metadata import PLACES, SCRUBBED_KEY, extra_of, given_in, importance_for, score_in
from ...learn.lessons.lesson import Lesson
from ...learn.skills.skill import Skill
from ...model.clock import iso
from ...model.entry import Entry, Memory
from ...model.errors import BadInput
from ...model.record import replace
from ...redaction.entry import redact_entry
from ...state.lifecycle.mesh_row import metadata_of
from ...state.lifecycle.promoted import MEMORY_TYPES
from ...text.clean import one_line
from .options import DEFAULT_AGENT
from .types import LessonBlock, MemoryRecord, ReflectionResult, SkillRecord, SkillResult

MAX_CONTENT_CHARS = 100_000
MAX_TITLE_CHARS = 80
FORBIDDEN_KEYS = ("__proto__", "constructor", "prototype")
SCRUBBED_BY = "mesh"  # the scrubber profile of RFC-0011 §6.2
MEMORY_PREFIX, LESSON_PREFIX = "mem_", "lesson_"
ENTRY_KEYS = ("tags", "source")  # metadata keys that become keys of the entry


# From callers


def entry_of(content: object, metadata: object, agent: str) -> Entry:
    """Return the redacted entry for content and metadata. Raises BadInput if either is invalid."""
    body = checked_content(content)
    given = checked_metadata(metadata)
    tags = given.pop("tags", ())
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise BadInput("tags must be a list of texts", 'example: ["auth", "#lesson_learned"]')
    source = given.pop("source") if isinstance(given.get("source"), str) else ""
    score = _checked_score(given)
    _check_type(given)
    made = Entry(tags=tuple(tags), by=name_of(agent), source=source, body=body)
    importance = importance_for(score) if score is not None else made.importance
    entry = redact_entry(replace(made, importance=importance, extra={**extra_of(given), SCRUBBED_KEY: SCRUBBED_BY}))
    first = next(line for line in entry.body.splitlines() if line.strip())
    return replace(entry, title=one_line(first.lstrip("# ") or first, MAX_TITLE_CHARS))


def _checked_score(given: Mapping[str, Any]) -> float | None:
    score = score_in(given)
    if score is None and given.get("importance_score") is not None:
        raise BadInput(f"importance_score {given['importance_score']!r} is not from 0 to 1", "example: 0.8")
    return score


def _check_type(given: Mapping[str, Any]) -> None:
    if given.get("memory_type") not in (None, *MEMORY_TYPES):
        raise BadInput(f"unknown memory_type {given['memory_type']!r}", "one of " + ", ".join(MEMORY_TYPES))


def name_of(agent: str) -> str:
    """Return the name of the calling agent; empty for the default agent id."""
    return "" if agent == DEFAULT_AGENT else agent


def checked_content(content: object) -> str:
    """Return the stripped text. Raises BadInput if it is empty or too long."""
    if not isinstance(content, str) or not content.strip():
        raise BadInput("content must be a text that is not empty", "pass a text with at least one word")
    if len(content) > MAX_CONTENT_CHARS:
        said = f"content has {len(content):,} characters, more than {MAX_CONTENT_CHARS:,}"
        raise BadInput(said, "split it into several memories")
    return content.strip()


def checked_metadata(metadata: object) -> dict[str, Any]:
    """Return a copy of the metadata without reserved keys whose value is null.

    Raises BadInput for values that JSON cannot hold, and for FORBIDDEN_KEYS at any depth: in JavaScript these keys
    change more than the record.
    """
    if not isinstance(metadata, dict):
        raise BadInput("metadata must be an object", 'example: {"type": "event"}')
    try:
        _refuse(metadata)
        json.dumps(metadata)
    except (TypeError, ValueError):
        raise BadInput("metadata cannot be written as JSON", "use only texts, numbers, lists and objects") from None
    except RecursionError:
        raise BadInput("metadata is nested too deeply", "make it flatter") from None
    return {key: value for key, value in metadata.items() if value is not None or key not in (*PLACES, *ENTRY_KEYS)}


def _refuse(value: object) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in FORBIDDEN_KEYS:
                raise BadInput(f"metadata must not hold the key {key!r}", "rename it")
            _refuse(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _refuse(inner)


# To callers


def record_of(memory: Memory, labels: tuple[str, ...] = (), used: Access | None = None) -> MemoryRecord:
    """Return a memory as a record. `used` adds how often this machine used it."""
    metadata = metadata_of(memory, used.count, used.last) if used else metadata_of(memory)
    content = memory.body or memory.title
    return MemoryRecord(memory.id, content, metadata, iso(memory.created), labels=labels)


def block_of(lesson: Lesson) -> LessonBlock:
    """Return a lesson as a block of the RFC."""
    context = lesson.context
    return LessonBlock(
        lesson.id,
        lesson.pattern_id,
        context.severity,
        context.preventative_rule,
        context.confidence,
        context.applicable_scope,
        lesson.wire,
        lesson.id.replace(LESSON_PREFIX, MEMORY_PREFIX, 1),
    )


def lesson_id_of(memory_id: str) -> str:
    """Return the id of the lesson whose memory has this id: one memory has both ids (§1.1, §4.2)."""
    return LESSON_PREFIX + memory_id.removeprefix(MEMORY_PREFIX)


def reflection_of(shape: Mapping[str, Any]) -> ReflectionResult:
    """Return a reflection, or the prompt for one, as the RFC's result."""
    if "reflection" not in shape:
        return ReflectionResult(shape["topic"], shape["count"], shape["context"], shape["prompt"])
    return ReflectionResult(
        shape["topic"],
        shape["sourceMemoryCount"],
        id=shape["id"],
        reflection=shape["reflection"],
        confidence=shape["confidence"],
        yamo_block=shape["yamoBlock"],
        created_at=shape["createdAt"],
    )


def skill_record_of(skill: Skill) -> SkillRecord:
    """Return an added skill as the RFC's record."""
    return SkillRecord(skill.memory.id, skill.memory.title, skill.field("intent"), _skill_metadata(skill))


def skill_result_of(skill: Skill, score: float = 0.0) -> SkillResult:
    """Return a listed or found skill as the RFC's result."""
    return SkillResult(**vars(skill_record_of(skill)), score=round(score, 2), reliability=skill.reliability)


def _skill_metadata(skill: Skill) -> dict[str, Any]:
    known = {"reliability": skill.reliability, "use_count": skill.uses, "tags": list(skill.memory.tags)}
    return {**known, **given_in(skill.memory.extra)}
