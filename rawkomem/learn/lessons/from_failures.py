"""Distill recent failures into drafts of lessons, one per error pattern (RFC-0011 §8.2). Pure.

A draft repeats the rule, learning or fix that the failures contain. If they contain none, no rule is invented: a
repeated failure becomes a draft that says how often it happened, and a single failure becomes no draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...files.local.drafts import draft_id
from ...format.lesson import SEVERITIES, TOLD
from ...format.sections import items, sections
from ...model.clock import DAY, iso
from ...model.draft import FIX, LESSON, RULE, Draft
from ...model.kinds import ACTIVE
from ...model.record import record
from ...redaction.find import redact
from ...state.run import EXPERIENCE, SUCCESS, TRACE, goal_of, outcome_of
from ...text.clean import one_line
from ...text.language import language
from .lesson import conditions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...model.entry import Memory

RECENT_MS = DAY
REPEATED_MS = 7 * DAY  # failures of one pattern within this time count together
CANDIDATE_TAG = "#lesson_learned_candidate"
SESSION = "distill"  # stored as the session of these drafts
UNSOLVED = "unsolved"  # tag of a failure without a rule, learning or fix
FAILED = ("failure", "failed", "error")
PATTERN_KEYS = ("error_pattern", "errorPattern")
SCOPE_KEYS = ("applicable_scope", "applicableScope")
RULE_KEYS = ("preventativeRule", "preventative_rule", "rule")
FIX_KEYS = ("fix", "resolution")
BASE_SCORE = 0.5  # score of one failure
SOLVED_SCORE = 0.2  # added if there is a rule, learning or fix
REPEAT_SCORE = 0.1  # added for each further failure
MAX_SCORE = 0.9
HIGH_SEVERITY_FAILURES = 3  # from this many failures on, a pattern is of high severity
PATTERN_WORDS = 6  # of an error's first line that make its pattern; later words differ from run to run
MIN_SENTENCE_WORDS = 3  # of a rule, learning or fix; a shorter text is ignored
MAX_TEXT_CHARS = 600  # of a rule, learning, fix or other text in a draft
MAX_QUOTE_CHARS = 120  # of an error, a goal or a title in a sentence
MAX_LISTED = 3  # days or goals that a sentence lists


@record
class Proposal:
    """A draft made from failures, with their pattern and scope and the ids of those failures."""

    draft: Draft
    pattern: str
    scope: str  # empty if unknown
    sources: tuple[str, ...]

    @property
    def is_solved(self) -> bool:
        """Tell whether the failures contain a rule, learning or fix."""
        return LESSON in self.draft.tags

    @property
    def unsolved_id(self) -> str:
        """Return the id that the draft of these failures has while they are unsolved."""
        return draft_id(SESSION, f"{self.pattern} {self.scope}")


def proposals(memories: Iterable[Memory], now: int) -> list[Proposal]:
    """Return at most one proposal per error pattern, sorted by pattern."""
    groups: dict[tuple[str, str], list[Memory]] = {}
    succeeded: dict[str, int] = {}
    for memory in memories:
        if outcome_of(memory) in SUCCESS:
            goal = goal_of(memory).lower()
            succeeded[goal] = max(memory.created, succeeded.get(goal, 0))
        if 0 <= now - memory.created < REPEATED_MS and (is_failure(memory) or _names_pattern(memory)):
            groups.setdefault(_pattern(memory), []).append(memory)
    found = []
    for pattern, failures in sorted(groups.items()):
        failures.sort(key=lambda memory: (memory.created, memory.id))
        recent = any(is_failure(memory) and now - memory.created < RECENT_MS for memory in failures)
        proposal = _proposal(pattern, failures, succeeded) if recent or len(failures) > 1 else None
        if proposal and pattern[0]:
            found.append(proposal)
    return found


def is_failure(memory: Memory) -> bool:
    """Tell whether an active memory records a failure: its `status` key says so, or it has the candidate tag."""
    marked = any(tag.lower().lstrip("#") == CANDIDATE_TAG[1:] for tag in memory.tags)
    return _counts(memory) and (marked or _has_failed(memory))


def _names_pattern(memory: Memory) -> bool:
    return _counts(memory) and bool(_said(memory, *PATTERN_KEYS))


def _counts(memory: Memory) -> bool:
    return memory.status == ACTIVE and memory.kind != "lesson"


def _has_failed(memory: Memory) -> bool:
    return _said(memory, "status").lower() in FAILED


def _proposal(pattern: tuple[str, str], failures: Sequence[Memory], succeeded: Mapping[str, int]) -> Proposal | None:
    """Return the proposal for the failures of one pattern; None if there is too little to say."""
    name, scope = pattern
    rule = _last_sentence(failures, *RULE_KEYS) or _last_learning(failures)
    fix = _last_sentence(failures, *FIX_KEYS)
    if rule or fix:
        draft = _lesson(pattern, failures, rule, fix)
    elif len(failures) > 1 and not _has_succeeded(failures, succeeded):
        draft = _unsolved(pattern, failures)
    else:
        return None
    return Proposal(draft, name, scope, tuple(memory.id for memory in failures))


def _has_succeeded(failures: Sequence[Memory], succeeded: Mapping[str, int]) -> bool:
    """Tell whether a run with one of these goals succeeded after the last failure."""
    return any(succeeded.get(goal_of(memory).lower(), 0) > failures[-1].created for memory in failures)


def _lesson(pattern: tuple[str, str], failures: Sequence[Memory], rule: str, fix: str) -> Draft:
    name, scope = pattern
    told = {
        "situation": f"{_last_sentence(failures, 'situation')}\n\n{_story(failures)}.".strip(),
        "fix": fix,
        "inverse_lesson": _last_sentence(failures, "inverseLesson", "inverse_lesson"),
    }
    keys = {
        "errorPattern": name,
        "applicableScope": scope,
        "oversight": _last_sentence(failures, "oversight"),
        "severity": _severity(failures),
        "ruleConfidence": _confidence(failures),
    }
    return Draft(
        id=draft_id(SESSION, f"{name} {scope} {rule or fix}"),
        kind=RULE if rule else FIX,
        title=one_line((rule or fix).removesuffix(".")),
        text="\n\n".join(f"{heading}\n\n{told[field]}" for heading, field in TOLD.items() if told[field]),
        when=conditions_of(name, scope),
        tags=(LESSON,),
        fields=tuple((key, value) for key, value in keys.items() if value),
        **_evidence(failures, SOLVED_SCORE),
    )


def _unsolved(pattern: tuple[str, str], failures: Sequence[Memory]) -> Draft:
    return Draft(
        id=draft_id(SESSION, f"{pattern[0]} {pattern[1]}"),
        kind=FIX,
        title=one_line(f"{_what_happened(failures)} {_times(failures)}; not solved yet"),
        text=f"{_story(failures)}; it is not solved yet.",
        when=conditions_of(*pattern),
        tags=(UNSOLVED,),
        **_evidence(failures, 0.0),
    )


def _evidence(failures: Sequence[Memory], more: float) -> dict[str, Any]:
    """Return the fields of a draft that describe its failures; `more` is added to the score."""
    lines = (f"{iso(one.created)[:10]} {one.id}: {_quoted(_said(one, 'error') or one.title)}" for one in failures)
    return {
        "said": "\n".join(lines),
        "score": round(min(MAX_SCORE, BASE_SCORE + more + REPEAT_SCORE * (len(failures) - 1)), 2),
        "why": f"it happened {_times(failures)}",
        "session": SESSION,
        "task": next(iter(_goals(failures[-1:])), ""),
        "at": failures[-1].created,
    }


def _story(failures: Sequence[Memory]) -> str:
    """Return one sentence, without its full stop: what happened, how often, on which days, and for which goals."""
    days = list(dict.fromkeys(iso(memory.created)[:10] for memory in failures))
    when = ", ".join(days) if len(days) <= MAX_LISTED else f"{days[0]} to {days[-1]}"
    what = _what_happened(failures)
    goals = [quoted for goal in _goals(failures)[-MAX_LISTED:] if (quoted := f'"{goal}"') not in what]
    aim = f" while the goal was {goals[0]}" if len(goals) == 1 else f" while the goals were {_listed(goals)}"
    return f"{what} {_times(failures)} ({when}){aim if goals else ''}"


def _what_happened(failures: Sequence[Memory]) -> str:
    if error := _last(failures, "error"):
        return f'"{_quoted(error)}" happened'
    if name := _last(failures, *PATTERN_KEYS):
        return f'The error "{_quoted(name)}" happened'
    verb = "failed" if _has_failed(failures[-1]) else "was marked as something to learn from"
    return f'"{_quoted(failures[-1].title)}" {verb}'


def _times(failures: Sequence[Memory]) -> str:
    return {1: "once", 2: "twice"}.get(len(failures), f"{len(failures)} times")


def _goals(failures: Sequence[Memory]) -> list[str]:
    """Return the goals that failures name, each once. The title counts as the goal only for runs."""
    runs = (TRACE, EXPERIENCE)
    given = (_quoted(goal_of(one) if one.kind in runs else _said(one, "goal", "primary_goal")) for one in failures)
    return list(dict.fromkeys(goal for goal in given if goal))


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def _quoted(text: str) -> str:
    return one_line(redact(text).strip().partition("\n")[0].lstrip("# "), MAX_QUOTE_CHARS).replace('"', "'").rstrip(".")


def _pattern(memory: Memory) -> tuple[str, str]:
    """Return (error name, scope). Without an error name, use the first words of the entry's error or title."""
    name = _said(memory, *PATTERN_KEYS)
    if not name:
        line = (_said(memory, "error") or memory.title).strip().partition("\n")[0]
        name = "_".join([word for word in language().words(line) if word.isalpha()][:PATTERN_WORDS])
    return one_line(redact(name), 120), one_line(redact(_said(memory, *SCOPE_KEYS)), 200)


def _severity(failures: Sequence[Memory]) -> str:
    severity = _last(failures, "severity").lower()
    if severity in SEVERITIES:
        return severity
    return "high" if len(failures) >= HIGH_SEVERITY_FAILURES else "medium"


def _confidence(failures: Sequence[Memory]) -> str:
    """Return the last confidence that an entry states; empty unless it is a number from 0 to 1."""
    given = _last(failures, "ruleConfidence", "rule_confidence")
    try:
        return given if 0 <= float(given) <= 1 else ""
    except ValueError:
        return ""


def _last(failures: Sequence[Memory], *keys: str) -> str:
    return next((text for memory in reversed(failures) if (text := _said(memory, *keys))), "")


def _last_sentence(failures: Sequence[Memory], *keys: str) -> str:
    found = (_sentence(_said(memory, *keys)) for memory in reversed(failures))
    return next((text for text in found if text), "")


def _last_learning(failures: Sequence[Memory]) -> str:
    found = (items(sections(memory.body).get("learnings", "")) for memory in reversed(failures))
    return next((text for learnings in found for one in learnings if (text := _sentence(one))), "")


def _said(memory: Memory, *keys: str) -> str:
    found = (memory.extra.get(key, "") for key in keys)
    return next((value.strip() for value in found if isinstance(value, str) and value.strip()), "")


def _sentence(text: str) -> str:
    """Return a text as one sentence: no heading marks, a capital, a full stop. Empty if the text is too short."""
    said = one_line(" ".join(line.lstrip("# ") for line in redact(text).split("\n")), MAX_TEXT_CHARS)
    if sum(any(c.isalpha() for c in word) for word in said.split()) < MIN_SENTENCE_WORDS:
        return ""
    first = said.split()[0]
    capital = said[0].upper() + said[1:] if first.isalpha() and first.islower() else said
    return capital if capital.endswith((".", "!", "?", "…", "。")) else f"{capital}."
