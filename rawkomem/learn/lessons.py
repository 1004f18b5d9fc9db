"""Lessons (RFC-0011): read and write wire blocks, decide whether a lesson is new, and distill failures
into drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..files.session_records import draft_id
from ..format.blocks import bulleted, items_under
from ..format.mesh_fields import (
    LESSON_TAG,
    SEVERITIES,
    Lesson,
    is_pattern_id,
    lesson_body,
    lesson_keys,
    lesson_of,
    lesson_pattern,
    lesson_sections,
    lesson_title,
    rule_confidence,
    same_pattern,
)
from ..model.entries import (
    FIX,
    LESSON,
    RULE,
    Draft,
    Entry,
    Memory,
    Plan,
    Value,
    by_time,
)
from ..model.ids import new_id
from ..model.values import (
    ACTIVE,
    DAY,
    RECORDED,
    iso,
    now,
    record,
    replace,
)
from ..redaction.find import redact
from ..state.changes import outweighs, superseding
from ..state.fold import TRUST_INSUFFICIENT, new_memory, plan_quarantined
from ..state.plans import plan_add
from ..state.runs import first_value, goal_of
from ..state.trust import DERIVED
from ..text.chunks import counted
from ..text.clean import one_line
from ..text.conditions import REFUSED, read_condition
from ..text.language import language

# Decide whether a lesson is new, better than a known one, or known.

SCOPE_LENGTH = 200  # characters of a scope that go into a condition
LESSON_STORED = "stored"
LESSON_KNOWN = "known"
LESSON_BETTER = "superseded"
LESSON_HELD = "quarantined"


@record
class LearnedLesson:
    """The outcome of learning a lesson, and the plan to write it. For KNOWN, `id` is the id of the known lesson."""

    id: str
    what: str  # STORED, KNOWN, BETTER or HELD
    plan: Plan


def by_severity(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return lessons sorted by severity, then confidence, then time; highest and latest first."""
    return sorted(
        lessons,
        key=lambda one: (
            -SEVERITIES.index(one.context.severity),
            -one.context.confidence,
            -one.at,
            one.id,
        ),
    )


def plan_lesson(
    lesson: Lesson, known: Sequence[Memory], trust: Callable[[Memory], float]
) -> LearnedLesson:
    """Plan to store a lesson, unless a `known` lesson of its pattern is at least as confident.

    A more confident lesson supersedes the known one. If it is trusted less, it is held for review instead.
    """
    same = [memory for memory in known if same_pattern(lesson_of(memory), lesson)]
    best = max(same, key=lambda memory: rule_confidence(memory.extra), default=None)
    if best and rule_confidence(best.extra) >= lesson.context.confidence:
        return LearnedLesson(best.id, LESSON_KNOWN, Plan(()))
    by = lesson.by
    (first,) = plan_add(_lesson_entry(lesson)).entries
    older = [memory for memory in same if memory.status == ACTIVE]
    if older and not outweighs(new_memory(first), older, trust):
        others = [memory.id for memory in older]
        held = plan_quarantined(first, TRUST_INSUFFICIENT, by, others)
        return LearnedLesson(first.id, LESSON_HELD, held)
    reason = "a more confident lesson of the same pattern"
    taken = [superseding(memory, first.id, reason, by) for memory in older]
    what = LESSON_BETTER if older else LESSON_STORED
    return LearnedLesson(first.id, what, Plan((first, *taken)))


def _lesson_entry(lesson: Lesson) -> Entry:
    context = lesson.context
    at = lesson.at or now()
    return Entry(
        kind=LESSON,
        id=lesson.id or new_id(LESSON, at),
        at=at,
        by=lesson.by,
        title=lesson_title(context),
        when=lesson_conditions(context.error_pattern, context.applicable_scope),
        tags=(LESSON_TAG,),
        importance=context.severity,
        extra=lesson_keys(context, lesson.pattern_id),
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


def covers_failures(lesson: Lesson, draft: Draft) -> bool:
    """Return whether a lesson covers the failures of a draft. An empty scope, or "this project", matches any scope."""
    told = dict(draft.fields)
    known = lesson.context
    same_scope = told.get("applicableScope", "") in ("", known.applicable_scope)
    anywhere = known.applicable_scope in ("", "this project")
    return known.error_pattern == told["errorPattern"] and (same_scope or anywhere)


def with_known_name(wire: Lesson, known: Sequence[Memory]) -> Lesson:
    """Return the lesson with the readable name of its pattern, if a known lesson has that name."""
    for lesson in map(lesson_of, known):
        if same_pattern(lesson, wire):
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


def lesson_drafts(memories: Iterable[Memory], now: int) -> list[Draft]:
    """Return at most one draft per error pattern, sorted by pattern. Its `fields` name the pattern and the failures."""
    groups: dict[tuple[str, str], list[Memory]] = {}
    for memory in by_time(memories):
        told = _is_failure(memory) or _fact(memory, "pattern")
        is_open = memory.status == ACTIVE and memory.kind != LESSON
        if told and is_open and 0 <= now - memory.created < REPEATED_MS:
            groups.setdefault(_pattern_and_scope(memory), []).append(memory)
    drafts: list[Draft] = []
    for (name, scope), failures in sorted(groups.items()):
        recent = (one for one in failures if now - one.created < RECENT_MS)
        if name and (len(failures) > 1 or any(map(_is_failure, recent))):
            draft = _draft_of_failures(name, scope, failures)
            drafts += [draft] if draft else []
    return drafts


def _is_failure(memory: Memory) -> bool:
    """Return whether a memory records a failure: its `status` key says so, or it has the candidate tag."""
    marked = any(tag.lower().lstrip("#") == CANDIDATE_TAG[1:] for tag in memory.tags)
    return marked or _fact(memory, "status").lower() in FAILED_STATUSES


def _draft_of_failures(
    name: str, scope: str, failures: Sequence[Memory]
) -> Draft | None:
    """Return the draft for the failures of one pattern; None if they name no rule, learning or fix."""

    def last(fact: str, shape: Callable[[str], str] = _sentence) -> str:
        told = (shape(_fact(memory, fact)) for memory in reversed(failures))
        return next(filter(None, told), "")

    learned = (
        _sentence(item)
        for memory in reversed(failures)
        for item in items_under(memory.body, "learnings")
    )
    rule = last("rule") or next(filter(None, learned), "")
    fix = last("fix")
    if not rule and not fix:
        return None
    times = len(failures)
    latest = failures[-1]
    listed = bulleted(
        f"{iso(one.created)[:10]} {one.id}: {_quoted(_fact(one, 'error') or one.title)}"
        for one in failures
    )
    prose = {
        "situation": f"{last('situation')}\n\n{listed}".strip(),
        "fix": fix,
        "inverse_lesson": last("inverse"),
    }
    severity = last("severity", str.lower)
    usual = "high" if times >= HIGH_SEVERITY_FAILURES else "medium"
    keys = {
        "errorPattern": name,
        "applicableScope": scope,
        "oversight": last("oversight"),
        "severity": severity if severity in SEVERITIES else usual,
        "ruleConfidence": last("confidence", _stated_confidence),
        DERIVED: " ".join(memory.id for memory in failures),
    }
    return Draft(
        id=draft_id(DISTILL_SESSION, f"{name} {scope} {rule or fix}"),
        kind=RULE if rule else FIX,
        said=listed,
        title=one_line((rule or fix).removesuffix(".")),
        text=lesson_sections(prose),
        when=lesson_conditions(name, scope),
        tags=(LESSON,),
        score=round(min(MAX_SCORE, BASE_SCORE + REPEAT_SCORE * (times - 1)), 2),
        why=f"it happened {counted(times, 'time')}",
        session=DISTILL_SESSION,
        task=_quoted(
            goal_of(latest) if latest.kind in RECORDED else _fact(latest, "goal")
        ),
        at=latest.created,
        fields=tuple((key, value) for key, value in keys.items() if value),
    )


def _quoted(text: str) -> str:
    return one_line(
        redact(text).strip().partition("\n")[0].lstrip("# "), MAX_QUOTE_CHARS
    )


def _pattern_and_scope(memory: Memory) -> tuple[str, str]:
    """Return (error name, scope). Without an error name, use the first words of the entry's error or title."""
    name = _fact(memory, "pattern")
    if not name:
        line = (_fact(memory, "error") or memory.title).strip().partition("\n")[0]
        words = [word for word in language().words(line) if word.isalpha()]
        name = "_".join(words[:PATTERN_WORDS])
    return one_line(redact(name), 120), one_line(redact(_fact(memory, "scope")), 200)


def _stated_confidence(text: str) -> str:
    """Return a confidence as it is written; empty unless it is a number from 0 to 1."""
    try:
        return text if 0 <= float(text) <= 1 else ""
    except ValueError:
        return ""


def _fact(memory: Memory, name: str) -> str:
    return first_value(memory, FACT_KEYS.get(name, (name,)))


def _sentence(text: str) -> str:
    """Return a text as one sentence: no heading marks, a capital, a full stop. Empty if the text is too short."""
    said = one_line(
        " ".join(line.lstrip("# ") for line in redact(text).split("\n")), MAX_TEXT_CHARS
    )
    words = said.split()
    if sum(any(map(str.isalpha, word)) for word in words) < MIN_SENTENCE_WORDS:
        return ""
    if words[0].isalpha() and words[0].islower():
        said = said[0].upper() + said[1:]
    return said if said.endswith((".", "!", "?", "…", "。")) else f"{said}."
