"""Lessons (RFC-0011): read and write wire blocks, decide whether a lesson is new, and distill failures
into drafts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..files.session_records import draft_id
from ..format.body import list_items, sections_of
from ..format.mesh_fields import (
    LESSON_HEADINGS,
    LESSON_TAG,
    SEVERITIES,
    LessonContext,
    checked_lesson,
    is_pattern_id,
    lesson_body,
    lesson_context,
    lesson_keys,
    lesson_pattern,
    lesson_title,
    lesson_wire_values,
    pattern_id,
)
from ..format.yamo import (
    AGENT_PREFIX,
    UNNAMED_AGENT,
    YamoBlock,
    build_block,
    emit_yamo,
    read_yamo_block,
    yamo_name,
    yamo_value,
)
from ..model.entries import FIX, LESSON, RULE, Draft, Entry, Memory, Plan, Value
from ..model.errors import BadInput
from ..model.ids import new_id
from ..model.values import ACTIVE, DAY, iso, now, read_time, record, replace
from ..redaction.find import redact
from ..state.changes import outweighs, superseding
from ..state.fold import TRUST_INSUFFICIENT, new_memory, plan_quarantined
from ..state.plans import plan_add
from ..state.runs import EXPERIENCE, TRACE, goal_of
from ..state.trust import DERIVED
from ..text.clean import one_line
from ..text.conditions import REFUSED, read_condition
from ..text.language import language

# Decide whether a lesson is new, better than a known one, or known; read and write its wire block
# (RFC-0011).

LESSON_ID = re.compile(r"lesson_\d+_[^_]*")
SCOPE_LENGTH = 200  # characters of a scope that go into a condition
LESSON_STORED, LESSON_KNOWN, LESSON_BETTER, LESSON_HELD = (
    "stored",
    "known",
    "superseded",
    "quarantined",
)


@record
class Lesson:
    """A stored lesson: the LessonBlock of RFC-0011, with author, time, status and file."""

    id: str
    pattern_id: str
    context: LessonContext
    by: str
    at: int
    status: str
    path: str

    @property
    def wire(self) -> str:
        """Return the lesson as a wire block for other programs."""
        values = lesson_wire_values(self.id, self.pattern_id, self.context)
        return emit_yamo(build_block("lesson", self.by, self.at, **values))


@record
class LearnedLesson:
    """The outcome of learning a lesson, and the plan to write it. For KNOWN, `id` is the id of the known lesson."""

    id: str
    what: str  # STORED, KNOWN, BETTER or HELD
    plan: Plan


@record
class WireLesson:
    """A lesson read from a wire block, with the id, pattern, time and agent in that block."""

    context: LessonContext
    id: str
    pattern_id: str
    at: int
    by: str


def lesson_of(memory: Memory) -> Lesson:
    """Return a memory of kind `lesson` as a Lesson."""
    context = lesson_context(memory.title, memory.importance, memory.extra, memory.body)
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


def by_severity(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return lessons sorted by severity, then confidence, then time; highest and latest first."""
    order = {severity: -place for place, severity in enumerate(SEVERITIES)}
    return sorted(
        lessons,
        key=lambda one: (
            order[one.context.severity],
            -one.context.confidence,
            -one.at,
            one.id,
        ),
    )


def same_pattern(lesson: Lesson, pattern: str, context: LessonContext) -> bool:
    """Tell whether a lesson is about a pattern.

    Pattern ids can collide, so name and scope are compared too. In a wire block, the id may replace the name.
    """
    known = lesson.context
    names = known.error_pattern == context.error_pattern or pattern in (
        known.error_pattern,
        context.error_pattern,
    )
    same_scope = yamo_value(known.applicable_scope) == yamo_value(
        context.applicable_scope
    )  # as in a wire block
    return lesson.pattern_id == pattern and names and same_scope


def plan_lesson(
    context: LessonContext,
    known: Sequence[Memory],
    trust: Callable[[Memory], float],
    by: str = "",
    wire: WireLesson | None = None,
) -> LearnedLesson:
    """Plan to store a lesson, unless a `known` lesson of its pattern is at least as confident.

    A more confident lesson supersedes the known one. If it is trusted less, it is held for review instead.
    """
    context = checked_lesson(context)
    pattern = (
        wire.pattern_id
        if wire
        else pattern_id(context.error_pattern, context.applicable_scope)
    )
    same = [
        lesson
        for lesson in map(lesson_of, known)
        if same_pattern(lesson, pattern, context)
    ]
    best = max(same, key=lambda lesson: lesson.context.confidence, default=None)
    if best and best.context.confidence >= context.confidence:
        return LearnedLesson(
            best.id, LESSON_KNOWN, Plan((), f"{best.id} already says this")
        )
    first = plan_add(_lesson_entry(context, pattern, by, wire)).entries[0]
    ids = {lesson.id for lesson in same}
    older = [memory for memory in known if memory.id in ids and memory.status == ACTIVE]
    if not older:
        return LearnedLesson(
            first.id, LESSON_STORED, Plan((first,), f"lesson {pattern}")
        )
    if not outweighs(new_memory(first), older, trust):
        held = plan_quarantined(
            first, TRUST_INSUFFICIENT, by, [memory.id for memory in older]
        )
        return LearnedLesson(
            first.id,
            LESSON_HELD,
            replace(
                held, why=f"lesson {first.id} waits for a review: it is trusted less"
            ),
        )
    taken = [
        superseding(memory, first.id, "a more confident lesson of the same pattern", by)
        for memory in older
    ]
    why = f"lesson {pattern}, which replaces {', '.join(memory.id for memory in older)}"
    return LearnedLesson(first.id, LESSON_BETTER, Plan((first, *taken), why))


def _lesson_entry(
    context: LessonContext, pattern: str, by: str, wire: WireLesson | None
) -> Entry:
    at = wire.at if wire and wire.at else now()
    return Entry(
        kind="lesson",
        id=wire.id if wire and wire.id else new_id("lesson", at),
        at=at,
        by=by,
        title=lesson_title(context),
        when=lesson_conditions(context.error_pattern, context.applicable_scope),
        tags=(LESSON_TAG,),
        importance=context.severity,
        extra=lesson_keys(context, pattern),
        body=lesson_body(context),
    )


def lesson_conditions(error_pattern: str, applicable_scope: str) -> tuple[str, ...]:
    """Return the conditions of a lesson: its scope, and the name of its error pattern."""
    name = "" if is_pattern_id(error_pattern) else error_pattern
    scope = one_line(applicable_scope, SCOPE_LENGTH)
    proposed = (
        scope and f"When working on {scope}",
        " ".join(name.replace("_", " ").split()),
    )
    return tuple(
        text for text in proposed if text and read_condition(text).form != REFUSED
    )


def lesson_of_draft(draft: Draft, by: str = "") -> Entry:
    """Return the entry for a draft of a lesson that somebody keeps."""
    fields: dict[str, Value] = dict(draft.fields)
    if DERIVED in fields:
        fields[DERIVED] = [*str(fields[DERIVED]).split()]
    if pattern := lesson_pattern(fields):
        fields |= {"patternId": pattern, "preventativeRule": draft.title}
    severity = str(fields.get("severity", ""))
    return Entry(
        kind="lesson",
        by=by,
        title=draft.title,
        when=draft.when,
        tags=(LESSON_TAG, *(tag for tag in draft.tags if tag != LESSON)),
        importance=severity if severity in SEVERITIES else "medium",
        extra=fields,
        body=draft.text,
    )


def read_wire(text: str) -> WireLesson:
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


def _wire_of(block: YamoBlock) -> WireLesson:
    name, scope = (
        block.value("context", "error_pattern"),
        block.value("meta", "applicability_scope"),
    )
    context = LessonContext(
        situation=block.value("context", "original_context"),
        error_pattern=name,
        oversight=block.value("output", "oversight_description"),
        fix=block.value("meta", "rationale"),
        preventative_rule=block.value("output", "preventative_rule"),
        severity=block.value("context", "severity").lower(),
        applicable_scope=scope,
        inverse_lesson=block.value("meta", "inverse_lesson"),
        confidence=_confidence_number(block.value("output", "rule_confidence")),
    )
    pattern = name if is_pattern_id(name) else pattern_id(name, scope)
    at = read_time(block.value("context", "timestamp"))[0] or 0
    agent = block.agent.removeprefix(AGENT_PREFIX)
    id = block.value("output", "lesson_id")
    return WireLesson(
        checked_lesson(context),
        id if LESSON_ID.fullmatch(id) and yamo_name(id) == id and len(id) < 60 else "",
        pattern,
        at,
        "" if agent == UNNAMED_AGENT else agent,
    )


def _confidence_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(
            f"rule_confidence {text!r} is no number", "give a number from 0 to 1"
        ) from None


def covers_failures(lesson: Lesson, error_pattern: str, scope: str) -> bool:
    """Tell whether a lesson covers failures of a pattern. An empty scope, or "this project", matches any scope."""
    anywhere = scope in (
        "",
        lesson.context.applicable_scope,
    ) or lesson.context.applicable_scope in ("", "this project")
    return lesson.context.error_pattern == error_pattern and anywhere


def with_known_name(wire: WireLesson, known: Sequence[Memory]) -> WireLesson:
    """Return the lesson with the readable name of its pattern, if a known lesson has that name."""
    for lesson in map(lesson_of, known):
        if same_pattern(lesson, wire.pattern_id, wire.context):
            name = lesson.context.error_pattern
            return replace(wire, context=replace(wire.context, error_pattern=name))
    return wire


# Distill recent failures into drafts of lessons, one per error pattern (RFC-0011 §8.2). Pure.
#
# A draft repeats the rule, learning or fix that the failures contain. If they contain none, no
# rule is invented and there is no draft.

RECENT_MS = DAY
REPEATED_MS = 7 * DAY  # failures of one pattern within this time count together
CANDIDATE_TAG = "#lesson_learned_candidate"
DISTILL_SESSION = "distill"  # stored as the session of these drafts
FAILED_STATUSES = ("failure", "failed", "error")
# fact about a failure → keys of an entry that state it; other facts have one key
FACT_KEYS = {
    "pattern": ("error_pattern", "errorPattern"),
    "scope": ("applicable_scope", "applicableScope"),
    "rule": ("preventativeRule", "preventative_rule", "rule"),
    "fix": ("fix", "resolution"),
    "inverse": ("inverseLesson", "inverse_lesson"),
    "confidence": ("ruleConfidence", "rule_confidence"),
    "goal": ("goal", "primary_goal"),
}
BASE_SCORE = 0.7  # score of one failure with a rule, learning or fix
REPEAT_SCORE = 0.1  # added for each further failure
MAX_SCORE = 0.9
HIGH_SEVERITY_FAILURES = 3  # from this many failures on, a pattern is of high severity
# of an error's first line that make its pattern; later words differ from run to run
PATTERN_WORDS = 6
MIN_SENTENCE_WORDS = 3  # of a rule, learning or fix; a shorter text is ignored
MAX_TEXT_CHARS = 600  # of a rule, learning, fix or other text in a draft
MAX_QUOTE_CHARS = 120  # of an error, a goal or a title in a sentence


@record
class LessonProposal:
    """A draft made from failures, with their pattern and scope and the ids of those failures."""

    draft: Draft
    pattern: str
    scope: str  # empty if unknown
    sources: tuple[str, ...]


def lesson_proposals(memories: Iterable[Memory], now: int) -> list[LessonProposal]:
    """Return at most one proposal per error pattern, sorted by pattern."""
    groups: dict[tuple[str, str], list[Memory]] = {}
    for memory in memories:
        is_told = is_failure(memory) or (_counts(memory) and _fact(memory, "pattern"))
        if is_told and 0 <= now - memory.created < REPEATED_MS:
            groups.setdefault(_pattern_and_scope(memory), []).append(memory)
    found = []
    for pattern, failures in sorted(groups.items()):
        failures.sort(key=lambda memory: (memory.created, memory.id))
        recent = any(
            is_failure(memory) and now - memory.created < RECENT_MS
            for memory in failures
        )
        proposal = _proposal(pattern, failures) if recent or len(failures) > 1 else None
        if proposal and pattern[0]:
            found.append(proposal)
    return found


def is_failure(memory: Memory) -> bool:
    """Tell whether an active memory records a failure: its `status` key says so, or it has the candidate tag."""
    marked = any(tag.lower().lstrip("#") == CANDIDATE_TAG[1:] for tag in memory.tags)
    return _counts(memory) and (
        marked or _fact(memory, "status").lower() in FAILED_STATUSES
    )


def _counts(memory: Memory) -> bool:
    return memory.status == ACTIVE and memory.kind != "lesson"


def _proposal(
    pattern: tuple[str, str], failures: Sequence[Memory]
) -> LessonProposal | None:
    """Return the proposal for the failures of one pattern; None if they name no rule, learning or fix."""
    learned = (
        _sentence(one)
        for memory in reversed(failures)
        for one in list_items(sections_of(memory.body).get("learnings", ""))
    )
    rule = _last_sentence(failures, "rule") or next(filter(None, learned), "")
    fix = _last_sentence(failures, "fix")
    if not rule and not fix:
        return None
    draft = _lesson_draft(pattern, failures, rule, fix)
    return LessonProposal(draft, *pattern, tuple(memory.id for memory in failures))


def _lesson_draft(
    pattern: tuple[str, str], failures: Sequence[Memory], rule: str, fix: str
) -> Draft:
    name, scope = pattern
    told = {
        "situation": f"{_last_sentence(failures, 'situation')}\n\n{_listed(failures)}".strip(),
        "fix": fix,
        "inverse_lesson": _last_sentence(failures, "inverse"),
    }
    keys = {
        "errorPattern": name,
        "applicableScope": scope,
        "oversight": _last_sentence(failures, "oversight"),
        "severity": _severity(failures),
        "ruleConfidence": _stated_confidence(failures),
        DERIVED: " ".join(memory.id for memory in failures),
    }
    return Draft(
        id=draft_id(DISTILL_SESSION, f"{name} {scope} {rule or fix}"),
        kind=RULE if rule else FIX,
        title=one_line((rule or fix).removesuffix(".")),
        text="\n\n".join(
            f"{heading}\n\n{told[field]}"
            for heading, field in LESSON_HEADINGS.items()
            if told[field]
        ),
        when=lesson_conditions(name, scope),
        tags=(LESSON,),
        fields=tuple((key, value) for key, value in keys.items() if value),
        **_evidence(failures),
    )


def _evidence(failures: Sequence[Memory]) -> dict[str, Any]:
    """Return the fields of a draft that describe its failures."""
    last = failures[-1]
    goal = goal_of(last) if last.kind in (TRACE, EXPERIENCE) else _fact(last, "goal")
    return {
        "said": _listed(failures),
        "score": round(
            min(MAX_SCORE, BASE_SCORE + REPEAT_SCORE * (len(failures) - 1)), 2
        ),
        "why": f"it happened {_times(failures)}",
        "session": DISTILL_SESSION,
        "task": _quoted(goal),
        "at": last.created,
    }


def _listed(failures: Sequence[Memory]) -> str:
    """Return a list of failures: the day, the id, and the error or the title."""
    lines = (
        f"- {iso(one.created)[:10]} {one.id}: {_quoted(_fact(one, 'error') or one.title)}"
        for one in failures
    )
    return "\n".join(lines)


def _times(failures: Sequence[Memory]) -> str:
    return {1: "once", 2: "twice"}.get(len(failures), f"{len(failures)} times")


def _quoted(text: str) -> str:
    return (
        one_line(redact(text).strip().partition("\n")[0].lstrip("# "), MAX_QUOTE_CHARS)
        .replace('"', "'")
        .rstrip(".")
    )


def _pattern_and_scope(memory: Memory) -> tuple[str, str]:
    """Return (error name, scope). Without an error name, use the first words of the entry's error or title."""
    name = _fact(memory, "pattern")
    if not name:
        line = (_fact(memory, "error") or memory.title).strip().partition("\n")[0]
        name = "_".join(
            [word for word in language().words(line) if word.isalpha()][:PATTERN_WORDS]
        )
    return one_line(redact(name), 120), one_line(redact(_fact(memory, "scope")), 200)


def _severity(failures: Sequence[Memory]) -> str:
    severity = _last_fact(failures, "severity").lower()
    if severity in SEVERITIES:
        return severity
    return "high" if len(failures) >= HIGH_SEVERITY_FAILURES else "medium"


def _stated_confidence(failures: Sequence[Memory]) -> str:
    """Return the last confidence that an entry states; empty unless it is a number from 0 to 1."""
    given = _last_fact(failures, "confidence")
    try:
        return given if 0 <= float(given) <= 1 else ""
    except ValueError:
        return ""


def _last_fact(failures: Sequence[Memory], name: str) -> str:
    return next(
        (text for memory in reversed(failures) if (text := _fact(memory, name))), ""
    )


def _last_sentence(failures: Sequence[Memory], name: str) -> str:
    found = (_sentence(_fact(memory, name)) for memory in reversed(failures))
    return next(filter(None, found), "")


def _fact(memory: Memory, name: str) -> str:
    found = (memory.extra.get(key) for key in FACT_KEYS.get(name, (name,)))
    return next(
        (value.strip() for value in found if isinstance(value, str) and value.strip()),
        "",
    )


def _sentence(text: str) -> str:
    """Return a text as one sentence: no heading marks, a capital, a full stop. Empty if the text is too short."""
    said = one_line(
        " ".join(line.lstrip("# ") for line in redact(text).split("\n")), MAX_TEXT_CHARS
    )
    if (
        sum(any(c.isalpha() for c in word) for word in said.split())
        < MIN_SENTENCE_WORDS
    ):
        return ""
    first = said.split()[0]
    capital = (
        said[0].upper() + said[1:] if first.isalpha() and first.islower() else said
    )
    return capital if capital.endswith((".", "!", "?", "…", "。")) else f"{capital}."
