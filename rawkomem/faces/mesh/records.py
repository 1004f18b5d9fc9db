"""Convert between memories and the RFC's records: content and metadata here, frontmatter and body there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...format.lesson import pattern_of
from ...learn.lessons.lesson import Lesson
from ...learn.skills.skill import Skill
from ...model.clock import iso
from ...model.entry import Entry, Memory
from ...model.errors import BadInput
from ...model.record import replace
from ...redaction.entry import redact_entry
from ...state.facets import session_of, type_of
from ...state.lifecycle.promoted import chain_of, memory_type
from ...text.clean import one_line
from .options import DEFAULT_AGENT
from .types import LessonBlock, MemoryRecord, ReflectionResult, SkillRecord, SkillResult

if TYPE_CHECKING:
    from ...model.entry import Value

MAX_CONTENT_CHARS = 100_000  # characters
MAX_TITLE_CHARS = 80
FORBIDDEN_KEYS = ("__proto__", "constructor", "prototype")
# Metadata that has a place in the frontmatter, read by people and by the rest of this program: the RFC's key → ours.
PLACES = {
    "type": "type",
    "rationale": "rationale",
    "hypothesis": "hypothesis",
    "skill_name": "skill_name",
    "session_id": "session",
    "status": "status",
    "error": "error",
    "error_pattern": "error_pattern",
    "fix": "fix",
    "preventative_rule": "preventative_rule",
    "source_skill_id": "source_skill_id",
}
OTHER_METADATA_KEY = "metadata"  # the frontmatter key of all other metadata, as JSON: numbers stay numbers
ENTRY_KEYS = ("tags", "source")  # keys of every entry


# What is given


def entry_of(content: object, metadata: object, agent: str) -> Entry:
    """Return the redacted entry for checked content and metadata."""
    body = checked_content(content)
    given = checked_metadata(metadata)
    tags = given.pop("tags", ())
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise BadInput("tags must be a list of texts", 'such as ["auth", "#lesson_learned"]')
    source = given.pop("source") if isinstance(given.get("source"), str) else ""
    entry = redact_entry(Entry(tags=tuple(tags), by=name_of(agent), source=source, extra=extra_of(given), body=body))
    first = next(line for line in entry.body.splitlines() if line.strip())
    return replace(entry, title=one_line(first.lstrip("# ") or first, MAX_TITLE_CHARS))


def name_of(agent: str) -> str:
    """Return the name of the caller, or an empty text."""
    return "" if agent == DEFAULT_AGENT else agent


def extra_of(given: Mapping[str, Any]) -> dict[str, Value]:
    """Return checked metadata as frontmatter."""
    texts = {key: value for key, value in given.items() if key in PLACES and isinstance(value, str)}
    rest = {key: value for key, value in given.items() if key not in texts}
    extra: dict[str, Value] = {PLACES[key]: text for key, text in texts.items() if text}
    return {**extra, OTHER_METADATA_KEY: json.dumps(rest, ensure_ascii=False, sort_keys=True)} if rest else extra


def checked_content(content: object) -> str:
    """Validate and return the stripped text."""
    if not isinstance(content, str) or not content.strip():
        raise BadInput("content must be a text that is not empty", "give --content")
    if len(content) > MAX_CONTENT_CHARS:
        raise BadInput(f"content of {len(content)} characters", f"give at most {MAX_CONTENT_CHARS:,}: split it")
    return content.strip()


def checked_metadata(metadata: object) -> dict[str, Any]:
    """Return a checked copy of the metadata. Keys that could change more than a record are refused at any depth.

    A reserved key whose value is null is ignored.
    """
    if not isinstance(metadata, dict):
        raise BadInput("metadata must be an object", 'such as {"type": "event"}')
    try:
        _refuse(metadata)
        json.dumps(metadata)
    except (TypeError, ValueError):
        raise BadInput("metadata must be what JSON can say", "texts, numbers, lists and objects") from None
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


# What is handed out


def record_of(memory: Memory, labels: tuple[str, ...] = ()) -> MemoryRecord:
    """Return a memory as a record."""
    content = memory.body or memory.title
    return MemoryRecord(memory.id, content, metadata_of(memory), iso(memory.created), labels=labels)


def metadata_of(memory: Memory) -> dict[str, Any]:
    """Return what a memory says, by the RFC's keys, without empty values."""
    known = {
        "type": type_of(memory) or memory.kind,
        "memory_type": memory_type(memory),
        "source": memory.source,
        "tags": list(memory.tags),
        "session_id": session_of(memory),
        "agent_id": memory.by,
        "importance": memory.importance,
        "lesson_pattern_id": pattern_of(memory.extra),
    }
    chain = {"heritage_chain": chain_of(memory)}
    return {**_said(known), **_given(memory.extra), **_said(chain)}


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _given(extra: Mapping[str, Value]) -> dict[str, Any]:
    """Return the metadata that was stored, by the RFC's keys."""
    placed = {key: extra[place] for key, place in PLACES.items() if extra.get(place)}
    try:
        rest = json.loads(str(extra.get(OTHER_METADATA_KEY, "{}")))
    except ValueError:
        rest = {}
    return {**placed, **(rest if isinstance(rest, dict) else {})}


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
        lesson.id,
    )


def reflection_of(shape: Mapping[str, Any]) -> ReflectionResult:
    """Return a reflection, or the prompt for one."""
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
    """Return a skill that was added."""
    return SkillRecord(skill.memory.id, skill.memory.title, skill.field("intent"), _skill_metadata(skill))


def skill_result_of(skill: Skill, score: float = 0.0) -> SkillResult:
    """Return a skill that was listed or found."""
    return SkillResult(**vars(skill_record_of(skill)), score=round(score, 2), reliability=skill.reliability)


def _skill_metadata(skill: Skill) -> dict[str, Any]:
    known = {"reliability": skill.reliability, "use_count": skill.uses, "tags": list(skill.memory.tags)}
    return {**known, **_given(skill.memory.extra)}
