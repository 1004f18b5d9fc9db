"""Distillation (RFC-0011 §8.2): recent failures become candidates for lessons, one for each pattern. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...format.lesson import SEVERITIES, LessonContext, checked, pattern_id
from ...format.sections import items, sections
from ...model.clock import DAY
from ...model.errors import BadInput
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...state.run import goal_of
from ...text.clean import one_line
from ...text.language import language

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Memory

RECENT_MS = DAY
REPEATED_MS = 7 * DAY  # within which the same pattern again makes a candidate of an older failure
CANDIDATE_TAG = "#lesson_learned_candidate"
FAILED = ("failure", "failed", "error")
BASE_CONFIDENCE = 0.5  # of a lesson from one failure
FIX_CONFIDENCE = 0.2  # added where the failure names a fix
REPEAT_CONFIDENCE = 0.1  # added each time it happened again
MAX_CONFIDENCE = 0.9
HIGH_SEVERITY_FAILURES = 3  # failures of one pattern from which it is of high severity
DEFAULT_SCOPE = "this project"  # the scope of a failure that names none
PATTERN_WORDS = 6  # of an error's first line that make its pattern; what follows differs from run to run
MAX_TEXT_CHARS = 600  # characters of a text taken over


@record
class Candidate:
    """A lesson that failures suggest, and the ids of those failures."""

    context: LessonContext
    sources: tuple[str, ...]

    @property
    def pattern_id(self) -> str:
        """Return the id of the pattern of failure."""
        return pattern_id(self.context.error_pattern, self.context.applicable_scope)


def candidates(memories: Iterable[Memory], now: int) -> list[Candidate]:
    """Return one candidate for each pattern of failure, by pattern; what is too little to learn from is none."""
    groups: dict[tuple[str, str], list[Memory]] = {}
    for memory in memories:
        if is_failure(memory) and 0 <= now - memory.created < REPEATED_MS:
            groups.setdefault(_pattern(memory), []).append(memory)
    found = []
    for pattern, failures in sorted(groups.items()):
        recent = any(now - memory.created < RECENT_MS for memory in failures)
        if pattern[0] and (recent or len(failures) > 1):
            try:
                found.append(_candidate(pattern, sorted(failures, key=lambda memory: (memory.created, memory.id))))
            except BadInput:
                continue  # a field that says nothing: too little to learn from
    return found


def is_failure(memory: Memory) -> bool:
    """Tell whether something went wrong here: it says so, or somebody marked it."""
    if memory.status != ACTIVE or memory.kind == "lesson":
        return False
    marked = any(tag.lower().lstrip("#") == CANDIDATE_TAG[1:] for tag in memory.tags)
    return marked or _said(memory, "status").lower() in FAILED


def _candidate(pattern: tuple[str, str], failures: Sequence[Memory]) -> Candidate:
    """Return what the failures of one pattern tell together: each field from the last one that has it."""
    last = failures[-1]
    error = _last(failures, "error") or last.title
    fix = _last(failures, "fix", "resolution") or _last_learning(failures)
    rule = _last(failures, "preventativeRule", "preventative_rule", "rule") or _last_learning(failures)
    careful = f"Before you {one_line(goal_of(last), 120)}: make sure that it does not end in {error}"
    context = LessonContext(
        situation=_last(failures, "situation", "goal") or last.title,
        error_pattern=pattern[0],
        oversight=_last(failures, "oversight") or error,
        fix=fix or "Not found yet.",
        preventative_rule=rule or careful,
        severity=_severity(failures),
        applicable_scope=pattern[1],
        inverse_lesson=_last(failures, "inverseLesson", "inverse_lesson"),
        confidence=_confidence(failures, bool(fix)),
    )
    texts = {name: _cut(getattr(context, name)) for name in ("situation", "oversight", "fix", "preventative_rule")}
    return Candidate(checked(replace(context, **texts)), tuple(memory.id for memory in failures))


def _pattern(memory: Memory) -> tuple[str, str]:
    """Return (name of the error, where it applies): as the entry says, else from the error's words without numbers."""
    name = _said(memory, "error_pattern", "errorPattern")
    if not name:
        line = (_said(memory, "error") or memory.title).strip().partition("\n")[0]
        name = "_".join([word for word in language().words(line) if word.isalpha()][:PATTERN_WORDS])
    scope = _said(memory, "applicable_scope", "applicableScope") or DEFAULT_SCOPE
    return one_line(name, 120), one_line(scope, 200)


def _severity(failures: Sequence[Memory]) -> str:
    severity = _last(failures, "severity").lower()
    if severity in SEVERITIES:
        return severity
    return "high" if len(failures) >= HIGH_SEVERITY_FAILURES else "medium"


def _confidence(failures: Sequence[Memory], explained: bool) -> float:
    again = REPEAT_CONFIDENCE * (len(failures) - 1)
    reckoned = round(min(MAX_CONFIDENCE, BASE_CONFIDENCE + (FIX_CONFIDENCE if explained else 0.0) + again), 2)
    try:
        given = float(_last(failures, "ruleConfidence", "rule_confidence"))
    except ValueError:
        return reckoned
    return given if 0 <= given <= 1 else reckoned


def _last(failures: Sequence[Memory], *keys: str) -> str:
    return next((text for memory in reversed(failures) if (text := _said(memory, *keys))), "")


def _said(memory: Memory, *keys: str) -> str:
    found = (memory.extra.get(key, "") for key in keys)
    return next((value.strip() for value in found if isinstance(value, str) and value.strip()), "")


def _last_learning(failures: Sequence[Memory]) -> str:
    found = (items(sections(memory.body).get("learnings", "")) for memory in reversed(failures))
    return next((learnings[0] for learnings in found if learnings), "")


def _cut(text: str) -> str:
    """Shorten a text and remove its heading marks: a lesson has its own headings."""
    lines = [line.lstrip("#").strip() if line.startswith("#") else line for line in text.split("\n")]
    return "\n".join(lines)[:MAX_TEXT_CHARS].strip()
