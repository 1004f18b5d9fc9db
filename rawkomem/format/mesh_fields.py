"""Lessons and metadata of RFC-0011 in an entry: short values in the frontmatter, prose in the body,
unknown metadata as JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from ..model.entries import Entry, Memory, Value
from ..model.errors import BadInput, check_known
from ..model.ids import hex_hash
from ..model.values import (
    IMPORTANCE,
    as_dict,
    read_time,
    record,
    replace,
    text_of,
    without,
)
from ..redaction.find import redact
from ..text.clean import one_line, with_newlines
from .yamo import (
    AGENT_PREFIX,
    UNNAMED_AGENT,
    YamoBlock,
    build_block,
    emit_yamo,
    read_yamo_block,
    yamo_name,
    yamo_value,
)

# The RFC's key → our key, for metadata that people and the rest of this program read.
METADATA_KEYS = {
    **{
        key: key
        for key in str.split(
            "type rationale hypothesis skill_name status error error_pattern fix preventative_rule severity source_skill_id"
        )
    },
    "session_id": "session",
}
# frontmatter key of all other metadata, as JSON, so that numbers stay numbers
OTHER_METADATA_KEY = "metadata"
# frontmatter key of the scrubber profile that prepares the text for embedding
SCRUBBED_KEY = "scrubber"
# frontmatter key of the columns of a memory-mesh database, as JSON
COLUMNS_KEY = "meshColumns"
STORE_MARK_KEY = "store"  # in the metadata of rows that we write, to recognize them
# RFC-0011 §9.2 highlights scores of 0.8 and more, and calls scores of 0.4 and less auxiliary.
LOWEST_SCORES = {"critical": 0.9, "high": 0.8, "medium": 0.41}
SCORE_DIGITS = 6  # to round to: a float32 column returns 0.4000000059 for 0.4


def extra_from_metadata(metadata: Mapping[str, Any]) -> dict[str, Value]:
    """Return metadata as frontmatter keys and values."""
    texts = {
        key: value
        for key, value in metadata.items()
        if key in METADATA_KEYS and isinstance(value, str)
    }
    rest = without(metadata, *texts)
    extra: dict[str, Value] = {
        METADATA_KEYS[key]: text for key, text in texts.items() if text
    }
    return {**extra, OTHER_METADATA_KEY: sorted_json(rest)} if rest else extra


def metadata_in(extra: Mapping[str, Value]) -> dict[str, Any]:
    """Return the metadata of a frontmatter, by the RFC's keys."""
    placed = {
        key: extra[place] for key, place in METADATA_KEYS.items() if extra.get(place)
    }
    return {
        **json_object(extra.get(COLUMNS_KEY)),
        **placed,
        **json_object(extra.get(OTHER_METADATA_KEY)),
    }


def json_object(source: object) -> dict[str, Any]:
    """Return the object in a JSON text, or an object as is; empty for anything else."""
    try:
        value = json.loads(source) if isinstance(source, str) and source else source
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def sorted_json(value: Mapping[str, Any]) -> str:
    """Return JSON with its keys in order, as the frontmatter keeps it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def compact_json(value: Mapping[str, Any]) -> str:
    """Return JSON without blanks, as JavaScript writes it: memory-mesh searches metadata for `"key":"value"`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def importance_score(metadata: Mapping[str, Any]) -> float | None:
    """Return the importance score in metadata, from 0 to 1; None if it is missing or invalid."""
    score = metadata.get("importance_score")
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        return None
    return float(score) if 0 <= score <= 1 else None


def importance_for(score: float) -> str:
    """Return the word for an importance score: low, medium, high or critical."""
    score = round(score, SCORE_DIGITS)
    return next(
        (word for word, least in LOWEST_SCORES.items() if score >= least), "low"
    )


DEFAULT_RULE_CONFIDENCE = 0.7  # of a lesson without one (RFC-0011 §4.2)
PATTERN_ID_DIGITS = 16
LESSON_TAG = "#lesson_learned"  # RFC-0011 §3.5
SEVERITIES = IMPORTANCE  # the four words of importance
LESSON_KEYS = {  # key → field of a LessonContext
    "errorPattern": "error_pattern",
    "applicableScope": "applicable_scope",
    "oversight": "oversight",
    "preventativeRule": "preventative_rule",
    "severity": "severity",
}
# heading → field
LESSON_HEADINGS = {
    "## Situation": "situation",
    "## Fix": "fix",
    "## What works instead": "inverse_lesson",
}
OPTIONAL_LESSON_FIELDS = ("inverse_lesson",)


@record
class LessonContext:
    """A failure, and the rule that prevents it (RFC-0011 §4.2)."""

    situation: str
    error_pattern: str
    oversight: str
    fix: str
    preventative_rule: str
    severity: str
    applicable_scope: str
    inverse_lesson: str = ""
    confidence: float = DEFAULT_RULE_CONFIDENCE


def pattern_id(error_pattern: str, applicable_scope: str) -> str:
    """Return the RFC's pattern id. ("ab", "c") and ("a", "bc") get the same id, so callers also compare both fields."""
    return hex_hash(error_pattern + applicable_scope, PATTERN_ID_DIGITS)


def is_pattern_id(text: str) -> bool:
    """Return whether a text is a pattern id and not a readable name."""
    return len(text) == PATTERN_ID_DIGITS and all(c in "0123456789abcdef" for c in text)


def checked_lesson(context: LessonContext) -> LessonContext:
    """Return the context with trimmed, redacted texts; raise BadInput if a field is missing or invalid."""
    fields = without(as_dict(context), "confidence")
    texts = {name: redact(with_newlines(text).strip()) for name, text in fields.items()}
    for name, value in texts.items():
        if not value and name not in OPTIONAL_LESSON_FIELDS:
            raise BadInput(
                f"a lesson needs {name.replace('_', ' ')}",
                "see 'rawkomem docs lessons' for all fields",
            )
        if any(line.strip() in LESSON_HEADINGS for line in value.split("\n")):
            raise BadInput(
                f"{name.replace('_', ' ')} contains a reserved heading",
                "reword it: " + ", ".join(LESSON_HEADINGS),
            )
    check_known("severity", texts["severity"], SEVERITIES[::-1])
    if not 0 <= context.confidence <= 1 or math.isnan(context.confidence):
        raise BadInput(
            f"confidence {context.confidence!r} is not between 0 and 1",
            "write a number such as 0.7",
        )
    return replace(context, **texts)


def lesson_keys(context: LessonContext, pattern: str) -> dict[str, Value]:
    """Return the frontmatter keys that a lesson has in addition to those of every entry."""
    named: dict[str, Value] = {
        key: getattr(context, field) for key, field in LESSON_KEYS.items()
    }
    return {"patternId": pattern, **named, "ruleConfidence": str(context.confidence)}


def lesson_body(context: LessonContext) -> str:
    """Return the body of a lesson: one line in the RFC's wording, then a section for each prose field."""
    name = context.error_pattern
    oversight = context.oversight
    rule = context.preventative_rule
    line = f"[LESSON:{name}] {oversight} | Rule: {rule} | Scope: {context.applicable_scope}"
    return f"{' '.join(line.split())}\n\n{lesson_sections(as_dict(context))}"


def lesson_sections(prose: Mapping[str, str]) -> str:
    """Return a section for each prose field of a lesson that has a text."""
    return "\n\n".join(
        f"{heading}\n\n{prose[field]}"
        for heading, field in LESSON_HEADINGS.items()
        if prose[field]
    )


def lesson_context(entry: Entry | Memory) -> LessonContext:
    """Return the lesson of an entry; without lesson keys, the title is the rule and the text is the situation."""
    extra = entry.extra
    fields = {field: text_of(extra.get(key)) for key, field in LESSON_KEYS.items()}
    sections = _prose_fields(entry.body)
    if "patternId" not in extra:
        fields["preventative_rule"] = fields["preventative_rule"] or entry.title
        sections["situation"] = sections["situation"] or entry.body
    stated = fields["severity"]
    severity = stated if stated in SEVERITIES else entry.importance
    return LessonContext(
        **{**fields, **sections, "severity": severity},
        confidence=rule_confidence(extra),
    )


def rule_confidence(extra: Mapping[str, Value]) -> float:
    """Return the confidence of a lesson's rule, from 0 to 1; the default if it is missing or invalid."""
    try:
        value = float(text_of(extra.get("ruleConfidence")) or DEFAULT_RULE_CONFIDENCE)
    except ValueError:
        return DEFAULT_RULE_CONFIDENCE
    return value if 0 <= value <= 1 else DEFAULT_RULE_CONFIDENCE


def lesson_pattern(extra: Mapping[str, Value]) -> str:
    """Return the pattern id of a lesson; empty if it has no pattern."""
    known = text_of(extra.get("patternId"))
    name = text_of(extra.get("errorPattern"))
    return known or (
        pattern_id(name, text_of(extra.get("applicableScope"))) if name else ""
    )


def lesson_wire_values(id: str, pattern: str, context: LessonContext) -> dict[str, str]:
    """Return the arguments for the wire block of a lesson (format/yamo.py)."""
    texts = {name: str(value) for name, value in as_dict(context).items()}
    return {"id": id, "pattern": pattern, **texts}


def lesson_title(context: LessonContext) -> str:
    """Return a lesson's title: its rule."""
    return one_line(context.preventative_rule)


def _prose_fields(body: str) -> dict[str, str]:
    """Return the text below each heading, by field."""
    sections: dict[str, list[str]] = {field: [] for field in LESSON_HEADINGS.values()}
    current: list[str] = []
    for line in body.split("\n"):
        if line.strip() in LESSON_HEADINGS:
            current = sections[LESSON_HEADINGS[line.strip()]]
        else:
            current.append(line)
    return {field: "\n".join(lines).strip() for field, lines in sections.items()}


# Lessons, also as wire blocks.

LESSON_ID = re.compile(r"lesson_\d+_[^_]*")


@record
class Lesson:
    """A lesson: the LessonBlock of RFC-0011, with author, time, status and file."""

    id: str
    pattern_id: str
    context: LessonContext
    by: str
    at: int
    status: str = ""  # empty: it is read from a wire block, and not stored
    path: str = ""

    @property
    def wire(self) -> str:
        """Return the lesson as a wire block for other programs."""
        values = lesson_wire_values(self.id, self.pattern_id, self.context)
        return emit_yamo(build_block("lesson", self.by, self.at, **values))


def lesson_of(memory: Memory) -> Lesson:
    """Return a memory of kind `lesson` as a Lesson."""
    context = lesson_context(memory)
    pattern = lesson_pattern(memory.extra)
    return Lesson(
        memory.id,
        pattern,
        context,
        memory.by,
        memory.created,
        memory.status,
        memory.path,
    )


def new_lesson(context: LessonContext, by: str = "") -> Lesson:
    """Return a lesson that is not stored yet. Raise BadInput if a field is missing or invalid."""
    context = checked_lesson(context)
    pattern = pattern_id(context.error_pattern, context.applicable_scope)
    return Lesson("", pattern, context, by, 0)


def same_pattern(lesson: Lesson, other: Lesson) -> bool:
    """Return whether two lessons are about one pattern.

    Pattern ids can collide, so name and scope are compared too. In a wire block, the id may replace the name, and
    some signs of the scope are replaced.
    """
    pattern = other.pattern_id
    names = {lesson.context.error_pattern, other.context.error_pattern}
    scopes = {yamo_value(one.context.applicable_scope) for one in (lesson, other)}
    is_named_alike = len(names) == 1 or pattern in names
    return lesson.pattern_id == pattern and is_named_alike and len(scopes) == 1


# field of a lesson → its section and key in a wire block
WIRE_PLACES = {
    "situation": ("context", "original_context"),
    "error_pattern": ("context", "error_pattern"),
    "oversight": ("output", "oversight_description"),
    "fix": ("meta", "rationale"),
    "preventative_rule": ("output", "preventative_rule"),
    "severity": ("context", "severity"),
    "applicable_scope": ("meta", "applicability_scope"),
    "inverse_lesson": ("meta", "inverse_lesson"),
}


def read_wire(text: str) -> Lesson:
    """Return the lesson in a wire block, in either form. BadInput names the first invalid line."""
    block, problems = read_yamo_block(text)
    wrong = next((problem for problem in problems if problem.level == "error"), None)
    if block is None or wrong:
        told = f"line {wrong.line}: {wrong.message}" if wrong else "no block"
        raise BadInput(
            f"not a lesson block: {told}",
            wrong.hint if wrong else "see 'rawkomem docs yamo'",
        )
    return _wire_of(block)


def _wire_of(block: YamoBlock) -> Lesson:
    told = {field: block.value(*place) for field, place in WIRE_PLACES.items()}
    told["severity"] = told["severity"].lower()
    confidence = _confidence_number(block.value("output", "rule_confidence"))
    context = checked_lesson(LessonContext(**told, confidence=confidence))
    name = told["error_pattern"]
    scope = told["applicable_scope"]
    pattern = name if is_pattern_id(name) else pattern_id(name, scope)
    at = read_time(block.value("context", "timestamp"))[0] or 0
    agent = block.agent.removeprefix(AGENT_PREFIX)
    id = block.value("output", "lesson_id")
    is_usable = LESSON_ID.fullmatch(id) and yamo_name(id) == id and len(id) < 60
    return Lesson(
        id if is_usable else "",
        pattern,
        context,
        "" if agent == UNNAMED_AGENT else agent,
        at,
    )


def _confidence_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(
            f"rule_confidence {text!r} is no number", "give a number from 0 to 1"
        ) from None
