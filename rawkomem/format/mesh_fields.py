"""Lessons and metadata of RFC-0011 in an entry: short values in the frontmatter, prose in the body,
unknown metadata as JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..model.entries import Value
from ..model.errors import BadInput, check_known
from ..model.ids import hex_hash
from ..model.values import IMPORTANCE, as_dict, record, replace, without
from ..redaction.find import redact
from ..text.clean import one_line, with_newlines

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


def lesson_context(
    title: str, importance: str, extra: Mapping[str, Value], body: str
) -> LessonContext:
    """Return the lesson of an entry; without lesson keys, the title is the rule and the text is the situation."""
    fields = {field: _text(extra, key) for key, field in LESSON_KEYS.items()}
    sections = _prose_fields(body)
    if "patternId" not in extra:
        fields["preventative_rule"] = fields["preventative_rule"] or title
        sections["situation"] = sections["situation"] or body
    severity = fields["severity"] if fields["severity"] in SEVERITIES else importance
    return LessonContext(
        **{**fields, **sections, "severity": severity},
        confidence=rule_confidence(extra),
    )


def rule_confidence(extra: Mapping[str, Value]) -> float:
    """Return the confidence of a lesson's rule, from 0 to 1; the default if it is missing or invalid."""
    try:
        value = float(_text(extra, "ruleConfidence") or DEFAULT_RULE_CONFIDENCE)
    except ValueError:
        return DEFAULT_RULE_CONFIDENCE
    return value if 0 <= value <= 1 else DEFAULT_RULE_CONFIDENCE


def lesson_pattern(extra: Mapping[str, Value]) -> str:
    """Return the pattern id of a lesson; empty if it has no pattern."""
    known = _text(extra, "patternId")
    name = _text(extra, "errorPattern")
    return known or (pattern_id(name, _text(extra, "applicableScope")) if name else "")


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


def _text(extra: Mapping[str, Value], key: str) -> str:
    value = extra.get(key, "")
    return value if isinstance(value, str) else ""
