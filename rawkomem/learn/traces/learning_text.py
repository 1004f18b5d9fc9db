"""Write a learning from several runs of one goal, in the format of LLMos. It selects sentences; it uses no model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...format.sections import NOT_RECORDED, NOT_SEEN, NOTHING_SAID, NOTHING_WORKED, PLACEHOLDERS, items, sections
from ...model.record import record
from ...state.run import Run, step_of
from ...text.clean import one_line
from ...text.same import NEAR_DUPLICATE, Said, said_in, says_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...model.entry import Memory

MAX_ITEMS = 7  # per list
MAX_STEPS = 12
MAX_TOOLS = 6
MAX_COMPARED = 60  # distinct items that are compared with each other: the most common ones
ITEM_LENGTH = 300  # characters
AVOID = ("avoid", "never", "do not", "don't", "dont ", "must not", "should not", "stop using", "beware")


@record
class Learned:
    """The facts about one goal: the numbers of runs and failures, and the runs that can still be read."""

    name: str
    executions: int
    failures: int
    runs: tuple[Run, ...]

    @property
    def rate(self) -> int:
        """Return the success rate in percent."""
        return round(100 * (self.executions - self.failures) / max(1, self.executions))


def learning_text(learned: Learned) -> str:
    """Return the learning as Markdown: Context, Key Insights, Recommended Approach, Anti-Patterns."""
    insights = _numbered(key_insights(learned.runs)) or NOT_RECORDED
    avoid = "\n".join(f"- {item}" for item in anti_patterns(learned.runs)) or f"- {NOT_SEEN}"
    return f"""# Learning: {learned.name}

## Context
- Observed in {learned.executions} executions
- Success rate: {learned.rate}%
- Common tools: {", ".join(common_tools(learned.runs)) or "none were recorded"}

## Key Insights
{insights}

## Recommended Approach
{recommended(learned.runs)}

## Anti-Patterns
{avoid}"""


def earlier_runs(learning: Memory) -> list[Run]:
    """Return the text of a learning as runs, to replace sources that no longer exist."""
    parts = sections(learning.body)
    id, goal = learning.id, learning.title
    steps, learnings = _said(parts, "recommended approach"), _said(parts, "key insights")
    told = Run(id, goal, "success", steps=steps, learnings=learnings, at=learning.created)
    failed = [Run(id, goal, "failure", error=item) for item in _said(parts, "anti-patterns")]
    return [told, *failed]


def _said(parts: dict[str, str], title: str) -> tuple[str, ...]:
    return tuple(item for item in items(parts.get(title, "")) if item not in PLACEHOLDERS)


def common_tools(runs: Sequence[Run]) -> list[str]:
    """Return the MAX_TOOLS most common tools of the runs, most common first."""
    counts = Counter(one_line(tool, 60) for run in runs for tool in dict.fromkeys(run.tools))
    return sorted(counts, key=lambda tool: (-counts[tool], tool))[:MAX_TOOLS]


def key_insights(runs: Sequence[Run]) -> list[str]:
    """Return the most common learnings of the runs, or the results of successful runs if there are no learnings."""
    ordered = sorted(runs, key=lambda run: not run.succeeded)
    said = [item for run in ordered for item in run.learnings if not _warns(item)]
    return most_common(said) or most_common([item for run in ordered if run.succeeded for item in items(run.results)])


def recommended(runs: Sequence[Run]) -> str:
    """Return the steps of the most typical successful run, or a plan if no run lists steps."""
    good = [run for run in runs if run.succeeded]
    if not good:
        return NOTHING_WORKED
    steps = _typical(good, lambda run: [step for step, failed in map(step_of, run.steps) if not failed])
    steps = steps or _typical(good, lambda run: items(run.plan))
    return _numbered([one_line(step, ITEM_LENGTH) for step in steps[:MAX_STEPS]]) or NOTHING_SAID


def _typical(runs: Sequence[Run], steps_of: Callable[[Run], list[str]]) -> list[str]:
    """Return the steps of the run that shares most steps with the others; if several do, of the latest."""
    told = [(run, steps_of(run)) for run in runs]
    said = [{said_in(step) for step in steps} for _, steps in told]
    counts = Counter(key for keys in said for key in keys)
    shared = [sum(counts[key] for key in keys) for keys in said]
    ranked = [(share, run.at, run.id, steps) for share, (run, steps) in zip(shared, told, strict=True)]
    return max(ranked, key=lambda ranked: ranked[:3], default=(0, 0, "", []))[3]


def anti_patterns(runs: Sequence[Run]) -> list[str]:
    """Return the most common warnings, errors of failed runs, and failed steps."""
    failed = [run for run in runs if not run.succeeded]
    wrong = [items(run.error)[0] for run in failed if items(run.error)]
    steps = [f"Failed step: {step}" for run in runs for step, bad in map(step_of, run.steps) if bad]
    warned = [item for run in runs for item in run.learnings if _warns(item)]
    return most_common([*warned, *wrong, *steps], counted=True)


def _warns(text: str) -> bool:
    return text.lower().startswith(AVOID)


def most_common(said: Iterable[str], counted: bool = False) -> list[str]:
    """Return the most common items, without near duplicates. With `counted`, append the number of times."""
    first: dict[Said, str] = {}
    counts: Counter[Said] = Counter()
    for text in said:
        if item := one_line(text, ITEM_LENGTH):
            key = said_in(item)
            first.setdefault(key, item)
            counts[key] += 1
    kept: list[Said] = []
    for key in sorted(first, key=lambda key: -counts[key])[:MAX_COMPARED]:
        same = next((other for other in kept if says_same(key, other, NEAR_DUPLICATE)), None)
        if same is None:
            kept.append(key)
        else:
            counts[same] += counts[key]
    times = {key: f" ({counts[key]} times)" if counted and counts[key] > 1 else "" for key in kept}
    return [first[key] + times[key] for key in kept[:MAX_ITEMS]]


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
