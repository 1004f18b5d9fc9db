"""Convert lessons to and from entries: short values in the frontmatter, prose in the body, every text exact."""

from __future__ import annotations

import math
from hashlib import sha256
from typing import TYPE_CHECKING

from ..model.errors import BadInput
from ..model.kinds import IMPORTANCE
from ..model.record import as_dict, record, replace
from ..text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model.entry import Value

DEFAULT_CONFIDENCE = 0.7  # of a lesson without one (RFC-0011 §4.2)
SEVERITIES = IMPORTANCE  # the four words of importance
FRONTMATTER = {  # key → field of a LessonContext
    "errorPattern": "error_pattern",
    "applicableScope": "applicable_scope",
    "oversight": "oversight",
    "preventativeRule": "preventative_rule",
    "severity": "severity",
}
TOLD = {"## Situation": "situation", "## Fix": "fix", "## What works instead": "inverse_lesson"}  # heading → field
OPTIONAL_FIELDS = ("inverse_lesson",)


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
    confidence: float = DEFAULT_CONFIDENCE


def pattern_id(error_pattern: str, applicable_scope: str) -> str:
    """Return the RFC's pattern id. ("ab", "c") and ("a", "bc") get the same id, so callers also compare both fields."""
    return sha256((error_pattern + applicable_scope).encode("utf-8", "replace")).hexdigest()[:16]


def is_pattern_id(text: str) -> bool:
    """Tell whether a text is a pattern id and not a readable name."""
    return len(text) == 16 and all(c in "0123456789abcdef" for c in text)


def checked(context: LessonContext) -> LessonContext:
    """Return the context with trimmed texts; raise BadInput if a field is missing or invalid."""
    given = {name: text for name, text in as_dict(context).items() if name != "confidence"}
    texts = {name: text.replace("\r\n", "\n").replace("\r", "\n").strip() for name, text in given.items()}
    for name, value in texts.items():
        if not value and name not in OPTIONAL_FIELDS:
            raise BadInput(f"a lesson needs {name.replace('_', ' ')}", "see 'rawkomem docs lessons' for all fields")
        if any(line.strip() in TOLD for line in value.split("\n")):
            raise BadInput(f"{name.replace('_', ' ')} contains a reserved heading", "reword it: " + ", ".join(TOLD))
    if texts["severity"] not in SEVERITIES:
        raise BadInput(f"unknown severity {texts['severity']!r}", "use one of " + ", ".join(reversed(SEVERITIES)))
    if not 0 <= context.confidence <= 1 or math.isnan(context.confidence):
        raise BadInput(f"confidence {context.confidence!r} is not between 0 and 1", "write a number such as 0.7")
    return replace(context, **texts)


def keys_of(context: LessonContext, pattern: str) -> dict[str, Value]:
    """Return the frontmatter keys that a lesson has in addition to those of every entry."""
    named: dict[str, Value] = {key: getattr(context, field) for key, field in FRONTMATTER.items()}
    return {"patternId": pattern, **named, "ruleConfidence": str(context.confidence)}


def body_of(context: LessonContext) -> str:
    """Return the body of a lesson: one line in the RFC's wording, then a section for each prose field."""
    name, oversight, rule = context.error_pattern, context.oversight, context.preventative_rule
    line = f"[LESSON:{name}] {oversight} | Rule: {rule} | Scope: {context.applicable_scope}"
    told = ((heading, getattr(context, field)) for heading, field in TOLD.items())
    return "\n\n".join([" ".join(line.split()), *(f"{heading}\n\n{text}" for heading, text in told if text)])


def context_of(title: str, importance: str, extra: Mapping[str, Value], body: str) -> LessonContext:
    """Return the lesson of an entry; without lesson keys, the title is the rule and the text is the situation."""
    given = {field: _text(extra, key) for key, field in FRONTMATTER.items()}
    told = _prose_fields(body)
    if "patternId" not in extra:
        given["preventative_rule"] = given["preventative_rule"] or title
        told["situation"] = told["situation"] or body
    severity = given["severity"] if given["severity"] in SEVERITIES else importance
    return LessonContext(**{**given, **told, "severity": severity}, confidence=confidence_of(extra))


def confidence_of(extra: Mapping[str, Value]) -> float:
    """Return the confidence of a lesson's rule, from 0 to 1; the default if it is missing or invalid."""
    try:
        value = float(_text(extra, "ruleConfidence") or DEFAULT_CONFIDENCE)
    except ValueError:
        return DEFAULT_CONFIDENCE
    return value if 0 <= value <= 1 else DEFAULT_CONFIDENCE


def pattern_of(extra: Mapping[str, Value]) -> str:
    """Return the pattern id of a lesson; empty if it has no pattern."""
    known, name = _text(extra, "patternId"), _text(extra, "errorPattern")
    return known or (pattern_id(name, _text(extra, "applicableScope")) if name else "")


def wire_values(id: str, pattern: str, context: LessonContext) -> dict[str, str]:
    """Return the arguments for the wire block of a lesson (yamo_blocks.lesson_block)."""
    return {
        "id": id,
        "pattern": pattern,
        "situation": context.situation,
        "oversight": context.oversight,
        "fix": context.fix,
        "rule": context.preventative_rule,
        "severity": context.severity,
        "scope": context.applicable_scope,
        "inverse": context.inverse_lesson,
        "confidence": str(context.confidence),
    }


def title_of(context: LessonContext) -> str:
    """Return a lesson's title: its rule."""
    return one_line(context.preventative_rule)


def _prose_fields(body: str) -> dict[str, str]:
    """Return the text below each heading, by field."""
    told: dict[str, list[str]] = {field: [] for field in TOLD.values()}
    current: list[str] = []
    for line in body.split("\n"):
        if line.strip() in TOLD:
            current = told[TOLD[line.strip()]]
        else:
            current.append(line)
    return {field: "\n".join(lines).strip() for field, lines in told.items()}


def _text(extra: Mapping[str, Value], key: str) -> str:
    value = extra.get(key, "")
    return value if isinstance(value, str) else ""
