"""Decide whether a lesson is new, better than a known one, or known; read and write its wire block (RFC-0011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...format.lesson import (
    SEVERITIES,
    LessonContext,
    body_of,
    checked,
    context_of,
    is_pattern_id,
    keys_of,
    pattern_id,
    pattern_of,
    title_of,
    wire_values,
)
from ...format.yamo import Block, emit_block, escaped, name_of, read_block
from ...format.yamo_blocks import AGENT, PREFIX, lesson_block
from ...model.clock import now, read_time
from ...model.draft import LESSON
from ...model.entry import Entry, Plan
from ...model.errors import BadInput
from ...model.ids import new_id
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...state.changes.quarantine import TRUST_INSUFFICIENT, plan_held
from ...state.changes.supersede import outweighs, superseding
from ...state.decide import plan_add
from ...state.derive import derived
from ...state.fold import created
from ...text.clean import one_line
from ...text.condition import REFUSED, read_condition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...model.draft import Draft
    from ...model.entry import Memory, Value

TAG = "#lesson_learned"
SCOPE_LENGTH = 200  # characters of a scope that go into a condition
MADE_UP_RULE = ("Before you ", ": make sure that it does not end in ")
STORED, KNOWN, BETTER, HELD = "stored", "known", "superseded", "quarantined"


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
        return emit_block(lesson_block(self.by, self.at, **wire_values(self.id, self.pattern_id, self.context)))


@record
class Learned:
    """The outcome of learning a lesson, and the plan to write it. For KNOWN, `id` is the id of the known lesson."""

    id: str
    what: str  # STORED, KNOWN, BETTER or HELD
    plan: Plan


@record
class Wire:
    """A lesson read from a wire block, with the id, pattern, time and agent in that block."""

    context: LessonContext
    id: str
    pattern_id: str
    at: int
    by: str


def lesson_of(memory: Memory) -> Lesson:
    """Return a memory of kind `lesson` as a Lesson."""
    context = context_of(memory.title, memory.importance, memory.extra, memory.body)
    pattern = pattern_of(memory.extra)
    return Lesson(memory.id, pattern, context, memory.by, memory.created, memory.status, memory.path)


def by_severity(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return lessons sorted by severity, then confidence, then time; highest and latest first."""
    order = {severity: -place for place, severity in enumerate(SEVERITIES)}
    return sorted(lessons, key=lambda one: (order[one.context.severity], -one.context.confidence, -one.at, one.id))


def same_pattern(lesson: Lesson, pattern: str, context: LessonContext) -> bool:
    """Tell whether a lesson is about a pattern.

    Pattern ids can collide, so name and scope are compared too. In a wire block, the id may replace the name.
    """
    known = lesson.context
    names = known.error_pattern == context.error_pattern or pattern in (known.error_pattern, context.error_pattern)
    same_scope = escaped(known.applicable_scope) == escaped(context.applicable_scope)  # as in a wire block
    return lesson.pattern_id == pattern and names and same_scope


def plan_lesson(
    context: LessonContext,
    known: Sequence[Memory],
    trust: Callable[[Memory], float],
    by: str = "",
    sources: Sequence[str] = (),
    wire: Wire | None = None,
) -> Learned:
    """Plan to store a lesson distilled from `sources`, unless a `known` lesson of its pattern is at least as confident.

    A more confident lesson supersedes the known one. If it is trusted less, it is held for review instead.
    """
    context = checked(context)
    pattern = wire.pattern_id if wire else pattern_id(context.error_pattern, context.applicable_scope)
    same = [memory for memory in known if same_pattern(lesson_of(memory), pattern, context)]
    best = max(same, key=lambda memory: lesson_of(memory).context.confidence, default=None)
    if best and lesson_of(best).context.confidence >= context.confidence:
        return Learned(best.id, KNOWN, Plan((), f"{best.id} already says this"))
    entry = _entry(context, pattern, by, sources, wire)
    first = plan_add(entry).entries[0]
    older = [memory for memory in same if memory.status == ACTIVE]
    if not older:
        return Learned(first.id, STORED, Plan((first,), f"lesson {pattern}"))
    if not outweighs(created(first), older, trust):
        held = plan_held(first, TRUST_INSUFFICIENT, by, [memory.id for memory in older])
        return Learned(first.id, HELD, replace(held, why=f"lesson {first.id} waits for a review: it is trusted less"))
    taken = [superseding(memory, first.id, "a more confident lesson of the same pattern", by) for memory in older]
    why = f"lesson {pattern}, which replaces {', '.join(memory.id for memory in older)}"
    return Learned(first.id, BETTER, Plan((first, *taken), why))


def _entry(context: LessonContext, pattern: str, by: str, sources: Sequence[str], wire: Wire | None) -> Entry:
    at = wire.at if wire and wire.at else now()
    entry = Entry(
        kind="lesson",
        id=wire.id if wire and wire.id else new_id("lesson", at),
        at=at,
        by=by,
        title=title_of(context),
        when=conditions_of(context.error_pattern, context.applicable_scope),
        tags=(TAG,),
        importance=context.severity,
        extra=keys_of(context, pattern),
        body=body_of(context),
    )
    return derived(entry, sources) if sources else entry


def conditions_of(error_pattern: str, applicable_scope: str) -> tuple[str, ...]:
    """Return the conditions of a lesson: its scope, and the name of its error pattern."""
    name = "" if is_pattern_id(error_pattern) else error_pattern
    scope = one_line(applicable_scope, SCOPE_LENGTH)
    proposed = (scope and f"When working on {scope}", " ".join(name.replace("_", " ").split()))
    return tuple(text for text in proposed if text and read_condition(text).form != REFUSED)


def lesson_of_draft(draft: Draft, by: str = "") -> Entry:
    """Return the entry for a draft of a lesson that somebody keeps."""
    fields: dict[str, Value] = dict(draft.fields)
    if pattern := pattern_of(fields):
        fields |= {"patternId": pattern, "preventativeRule": draft.title}
    severity = str(fields.get("severity", ""))
    return Entry(
        kind="lesson",
        by=by,
        title=draft.title,
        when=draft.when,
        tags=(TAG, *(tag for tag in draft.tags if tag != LESSON)),
        importance=severity if severity in SEVERITIES else "medium",
        extra=fields,
        body=draft.text,
    )


def read_wire(text: str) -> Wire:
    """Return the lesson in a wire block, in either form. BadInput names the first invalid line."""
    block, problems = read_block(text)
    wrong = next((problem for problem in problems if problem.level == "error"), None)
    if block is None or wrong:
        told = f"line {wrong.line}: {wrong.message}" if wrong else "no block"
        raise BadInput(f"not a lesson block: {told}", wrong.hint if wrong else "see 'rawkomem docs yamo'")
    return _wire_of(block)


def _wire_of(block: Block) -> Wire:
    name, scope = block.value("context", "error_pattern"), block.value("meta", "applicability_scope")
    context = LessonContext(
        situation=block.value("context", "original_context"),
        error_pattern=name,
        oversight=block.value("output", "oversight_description"),
        fix=block.value("meta", "rationale"),
        preventative_rule=block.value("output", "preventative_rule"),
        severity=block.value("context", "severity").lower(),
        applicable_scope=scope,
        inverse_lesson=block.value("meta", "inverse_lesson"),
        confidence=_number(block.value("output", "rule_confidence")),
    )
    pattern = name if is_pattern_id(name) else pattern_id(name, scope)
    at = read_time(block.value("context", "timestamp"))[0] or 0
    agent = block.agent.removeprefix(PREFIX)
    return Wire(checked(context), _lesson_id(block), pattern, at, "" if agent == AGENT else agent)


def _lesson_id(block: Block) -> str:
    """Return a block's lesson id if it has our format; else empty, so that a block cannot take another memory's id."""
    id = block.value("output", "lesson_id")
    parts = id.split("_")
    ours = len(parts) == 3 and parts[0] == "lesson" and parts[1].isdecimal() and name_of(id) == id and len(id) < 60
    return id if ours else ""


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"rule_confidence {text!r} is no number", "give a number from 0 to 1") from None


def is_about(lesson: Lesson, error_pattern: str, scope: str) -> bool:
    """Tell whether a lesson covers failures of a pattern. An empty scope, or "this project", matches any scope."""
    anywhere = scope in ("", lesson.context.applicable_scope) or lesson.context.applicable_scope in ("", "this project")
    return lesson.context.error_pattern == error_pattern and anywhere and not is_made_up(lesson)


def is_made_up(lesson: Lesson) -> bool:
    """Tell whether an earlier version of `distill` generated the rule from a title and an error."""
    start, middle = MADE_UP_RULE
    rule = lesson.context.preventative_rule
    return rule.startswith(start) and middle in rule


def with_name(lesson: Lesson, name: str) -> bool:
    """Tell whether a name is the lesson's pattern id or the readable name of its pattern."""
    return name in (lesson.pattern_id, lesson.context.error_pattern)


def renamed(wire: Wire, known: Sequence[Memory]) -> Wire:
    """Return the lesson with the readable name of its pattern, if a known lesson has that name."""
    for memory in known:
        lesson = lesson_of(memory)
        if same_pattern(lesson, wire.pattern_id, wire.context):
            return replace(wire, context=replace(wire.context, error_pattern=lesson.context.error_pattern))
    return wire
