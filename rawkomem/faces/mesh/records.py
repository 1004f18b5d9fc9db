"""Between a memory and the RFC's records: content and metadata on one side, frontmatter and body on the other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...format.lesson import pattern_of
from ...model.clock import iso
from ...model.entry import Entry
from ...model.errors import BadInput
from ...model.record import replace
from ...redaction.entry import redact_entry
from ...state.facets import session_of, type_of
from ...state.lifecycle.promoted import chain_of, memory_type
from ...text.clean import one_line
from .options import AGENT
from .types import LessonBlock, MemoryRecord, ReflectionResult, SkillRecord, SkillResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...learn.lessons.lesson import Lesson
    from ...learn.skills.skill import Skill
    from ...model.entry import Memory, Value

LONGEST = 100_000  # characters
TITLE = 80
FORBIDDEN = ("__proto__", "constructor", "prototype")
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
    "source_skill_id": "source_skill_id",
}
REST = "metadata"  # the frontmatter key of all other metadata, as JSON: what went in comes out, numbers and all
SAID_ELSEWHERE = ("tags", "source")  # keys of every entry


# What is given


def entry_of(content: object, metadata: object, agent: str) -> Entry:
    """What storing this means, without secrets and personal data; content and metadata are checked."""
    body = checked_content(content)
    given = checked_metadata(metadata)
    tags = given.pop("tags", ())
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise BadInput("tags must be a list of texts", 'such as ["auth", "#lesson_learned"]')
    source = given.pop("source") if isinstance(given.get("source"), str) else ""
    entry = redact_entry(Entry(tags=tuple(tags), by=name_of(agent), source=source, extra=extra_of(given), body=body))
    first = next(line for line in entry.body.splitlines() if line.strip())
    return replace(entry, title=one_line(first.lstrip("# ") or first, TITLE))


def name_of(agent: str) -> str:
    """Who writes or asks; empty for who does not say."""
    return "" if agent == AGENT else agent


def extra_of(given: Mapping[str, Any]) -> dict[str, Value]:
    """Checked metadata as frontmatter."""
    texts = {key: value for key, value in given.items() if key in PLACES and isinstance(value, str)}
    rest = {key: value for key, value in given.items() if key not in texts}
    extra: dict[str, Value] = {PLACES[key]: text for key, text in texts.items() if text}
    return {**extra, REST: json.dumps(rest, ensure_ascii=False, sort_keys=True)} if rest else extra


def checked_content(content: object) -> str:
    """The text without space around it."""
    if not isinstance(content, str) or not content.strip():
        raise BadInput("content must be a text that is not empty", "give --content")
    if len(content) > LONGEST:
        raise BadInput(f"content of {len(content)} characters", f"give at most {LONGEST:,}: split it")
    return content.strip()


def checked_metadata(metadata: object) -> dict[str, Any]:
    """A copy of the metadata; keys that could change more than a record are refused, however deep they stand.

    A key with a place of its own that is null says nothing.
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
    return {key: value for key, value in metadata.items() if value is not None or key not in (*PLACES, *SAID_ELSEWHERE)}


def _refuse(value: object) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in FORBIDDEN:
                raise BadInput(f"metadata must not hold the key {key!r}", "rename it")
            _refuse(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _refuse(inner)


# What is handed out


def record_of(memory: Memory) -> MemoryRecord:
    """A memory as a record."""
    return MemoryRecord(memory.id, memory.body or memory.title, metadata_of(memory), iso(memory.created))


def metadata_of(memory: Memory) -> dict[str, Any]:
    """What the memory says of itself, by the RFC's keys; what it does not say is left out."""
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
    """The metadata that was given, by the RFC's keys."""
    placed = {key: extra[place] for key, place in PLACES.items() if extra.get(place)}
    try:
        rest = json.loads(str(extra.get(REST, "{}")))
    except ValueError:
        rest = {}
    return {**placed, **(rest if isinstance(rest, dict) else {})}


def block_of(lesson: Lesson) -> LessonBlock:
    """A lesson as the RFC hands it out."""
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
    """A reflection, or the question for one, from the shapes of learn/skills/reflect.py."""
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
    """A skill that was taken in."""
    return SkillRecord(skill.memory.id, skill.memory.title, skill.field("intent"), _skill_metadata(skill))


def skill_result_of(skill: Skill, score: float = 0.0) -> SkillResult:
    """A skill that was listed or found."""
    return SkillResult(**vars(skill_record_of(skill)), score=round(score, 2), reliability=skill.reliability)


def _skill_metadata(skill: Skill) -> dict[str, Any]:
    known = {"reliability": skill.reliability, "use_count": skill.uses, "tags": list(skill.memory.tags)}
    return {**known, **_given(skill.memory.extra)}
