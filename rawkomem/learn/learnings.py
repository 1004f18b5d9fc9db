"""Consolidate the traces of one goal into a learning. Pure: returns a Plan.

A trace whose goal resembles that of a learning is added to it by an amendment. The other traces are
grouped by the earliest goal that they resemble, which becomes the new learning's `goal`. No trace
is counted twice, so you can repeat a run that was interrupted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..format.blocks import (
    NOT_RECORDED,
    NOT_SEEN,
    NOTHING_SAID,
    NOTHING_WORKED,
    bulleted,
    items_under,
    list_items,
    numbered,
)
from ..index.neighbors import group_leaders
from ..model.entries import Entry, Memory, Plan, by_time
from ..model.values import ACTIVE, DAY, replace
from ..state.changes import superseding
from ..state.digests import plan_derived
from ..state.housekeeping import Census
from ..state.plans import entry_about
from ..state.runs import TRACE, Run, first_list, goal_of, run_of, step_of
from ..state.trust import derived_from, memory_by_source, with_sources
from ..text.clean import one_line
from ..text.conditions import specific_stems
from ..text.language import NEAR_DUPLICATE, ContentWords, says_same, statement_of
from .repetitions import plain_words

# Write a learning from several runs of one goal, in the format of LLMos. It selects sentences; it
# uses no model.

MAX_ITEMS = 7  # per list
MAX_STEPS = 12
MAX_TOOLS = 6
# distinct items that are compared with each other: the most common ones
MAX_COMPARED = 60
ITEM_LENGTH = 300  # characters
WARNING_STARTS = (
    "avoid",
    "never",
    "do not",
    "don't",
    "dont ",
    "must not",
    "should not",
    "stop using",
    "beware",
)


def learning_text(
    goal: str, executions: int, failures: int, runs: Sequence[Run]
) -> str:
    """Return a learning as Markdown: Context, Key Insights, Recommended Approach, Anti-Patterns.

    `executions` and `failures` also count the runs that cannot be read any more.
    """
    succeeded = round(100 * (executions - failures) / max(1, executions))
    avoid = anti_patterns(runs) or [NOT_SEEN]
    counts = Counter(tool for run in runs for tool in {*run.tools})
    tools = sorted(counts, key=lambda tool: (-counts[tool], tool))[:MAX_TOOLS]
    return f"""# Learning: {goal}

## Context
- Observed in {executions} executions
- Success rate: {succeeded}%
- Common tools: {", ".join(one_line(tool, 60) for tool in tools) or "none were recorded"}

## Key Insights
{numbered(key_insights(runs)) or NOT_RECORDED}

## Recommended Approach
{recommended_steps(runs)}

## Anti-Patterns
{bulleted(avoid)}"""


def earlier_runs(learning: Memory) -> list[Run]:
    """Return the text of a learning as runs, to replace sources that no longer exist."""
    steps, learnings, wrong = (
        items_under(learning.body, heading)
        for heading in ("Recommended Approach", "Key Insights", "Anti-Patterns")
    )
    told = Run(learning.id, learning.title, at=learning.created)
    failed = [replace(told, outcome="failure", error=item, at=0) for item in wrong]
    return [replace(told, outcome="success", steps=steps, learnings=learnings), *failed]


def key_insights(runs: Sequence[Run]) -> list[str]:
    """Return the most common learnings of the runs, or the results of successful runs if there are no learnings."""
    ordered = sorted(runs, key=lambda run: not run.succeeded)
    said = [item for run in ordered for item in run.learnings if not _warns(item)]
    return most_common_items(said) or most_common_items(
        [item for run in ordered if run.succeeded for item in list_items(run.results)]
    )


def recommended_steps(runs: Sequence[Run]) -> str:
    """Return the steps of the most typical successful run, or a plan if no run lists steps."""
    good = [run for run in runs if run.succeeded]
    if not good:
        return NOTHING_WORKED
    steps = _typical(
        good,
        lambda run: [step for step, failed in map(step_of, run.steps) if not failed],
    )
    steps = steps or _typical(good, lambda run: list_items(run.plan))
    return (
        numbered([one_line(step, ITEM_LENGTH) for step in steps[:MAX_STEPS]])
        or NOTHING_SAID
    )


def _typical(runs: Sequence[Run], steps_of: Callable[[Run], list[str]]) -> list[str]:
    """Return the steps of the run that shares most steps with the others; if several do, of the latest."""
    said = {run.id: {statement_of(step) for step in steps_of(run)} for run in runs}
    counts = Counter(key for keys in said.values() for key in keys)
    shared = {id: sum(counts[key] for key in keys) for id, keys in said.items()}
    best = max(runs, key=lambda run: (shared[run.id], run.at, run.id))
    return steps_of(best)


def anti_patterns(runs: Sequence[Run]) -> list[str]:
    """Return the most common warnings, errors of failed runs, and failed steps."""
    failed = [run for run in runs if not run.succeeded]
    wrong = [item for run in failed for item in list_items(run.error)[:1]]
    steps = [
        f"Failed step: {step}"
        for run in runs
        for step, bad in map(step_of, run.steps)
        if bad
    ]
    warned = [item for run in runs for item in run.learnings if _warns(item)]
    return most_common_items([*warned, *wrong, *steps], counted=True)


def _warns(text: str) -> bool:
    return text.lower().startswith(WARNING_STARTS)


def most_common_items(said: Iterable[str], counted: bool = False) -> list[str]:
    """Return the most common items. With `counted`, append the number of times."""
    counts = counted_once(one_line(text, ITEM_LENGTH) for text in said)
    return [
        f"{item} ({count} times)" if counted and count > 1 else item
        for item, count in counts.most_common(MAX_ITEMS)
    ]


def counted_once(items: Iterable[str]) -> Counter[str]:
    """Return each item with the number of items that are near copies of it, in the order of the first of them."""
    first: dict[ContentWords, str] = {}
    counts: Counter[ContentWords] = Counter()
    for item in filter(None, items):
        said = statement_of(item)
        first.setdefault(said, item)
        counts[said] += 1
    common = {said for said, _ in counts.most_common(MAX_COMPARED)}
    kept: dict[ContentWords, int] = {}
    for said in filter(common.__contains__, first):
        copies = (one for one in kept if says_same(said, one, NEAR_DUPLICATE))
        same = next(copies, said)
        kept[same] = kept.get(same, 0) + counts[said]
    return Counter({first[said]: count for said, count in kept.items()})


CONSOLIDATED = "consolidate"  # stored as the source of these learnings
LEARNING_KIND = "learning"
LEARNING_PREFIX = "Learning: "
FAILED_KEY = "failed"  # key: ids of the sources that did not reach their goal
MIN_TRACES = 2  # of a new learning
# of equal goals (static vectors): "create an FFT plot", "plot the spectrum of an audio file"
MIN_GOAL_COSINE = 0.7
MIN_OLD_GOAL_COSINE = 0.6  # … of learnings that nobody has changed for half a year
OLD_DAYS = 182  # LLMos: long-term memory is consolidated after six months
MAX_SOURCES = 1_000  # of a learning; their list fits into a frontmatter of 64 KiB
MAX_CONDITIONS = 5
NAME_LENGTH = 160  # characters of a goal in a title
CONDITION_WORDS = 24


def plan_learnings(census: Census, by: str = "") -> Plan:
    """Plan learnings for all traces that are in none yet, and merge old learnings with similar goals."""
    learnings = made_learnings(census)
    entries: list[Entry] = []
    for learning, new in _goal_groups(learnings, unlearned_traces(census)):
        if learning or len(new) >= MIN_TRACES:
            whole = (learning,) if learning else ()
            entries.append(_learning_entry(census, whole, new, by))
    changed = {entry.target for entry in entries}
    before = census.now - OLD_DAYS * DAY
    old = [
        learning
        for learning in learnings
        if learning.id not in changed and 0 < learning.updated <= before
    ]
    entries += _merged_learnings(census, old, by)
    kinds = Counter(entry.kind for entry in entries)
    made = f"{kinds[LEARNING_KIND]} new learnings, {kinds['amend']} amended"
    return Plan(tuple(entries), made)


def made_learnings(census: Census) -> list[Memory]:
    """Return the active learnings that were made from traces, oldest first."""
    learnings = _active(census, LEARNING_KIND)
    return [
        one for one in learnings if one.source == CONSOLIDATED and derived_from(one)
    ]


def unlearned_traces(census: Census) -> list[Memory]:
    """Return the active traces that are in no learning, oldest first. Deleting a learning frees its traces."""
    known = memory_by_source(census.memories.values(), LEARNING_KIND)
    return [trace for trace in _active(census, TRACE) if trace.id not in known]


def _active(census: Census, kind: str) -> tuple[Memory, ...]:
    return by_time(
        one
        for one in census.memories.values()
        if one.kind == kind and one.status == ACTIVE
    )


def is_consolidation_due(
    count: int, oldest: int, last: int, now: int, least: int
) -> bool:
    """Return whether consolidation is due: enough new traces, or at least one after a week without a run (LLMos)."""
    return count >= least or (count > 0 and now - max(oldest, last) >= 7 * DAY)


def most_of_one_goal(census: Census) -> int:
    """Return the number of new traces of the goal that has most of them."""
    groups = _goal_groups(made_learnings(census), unlearned_traces(census))
    return max((len(new) for _, new in groups), default=0)


def _goal_groups(
    learnings: Sequence[Memory], new: Sequence[Memory]
) -> Iterator[tuple[Memory | None, list[Memory]]]:
    """Yield (learning, new traces) for each goal; the learning is None if the goal has none or it is full."""
    room = [one for one in learnings if len(derived_from(one)) < MAX_SOURCES]
    for group in _by_goal([*room, *new], MIN_GOAL_COSINE):
        learning = group[0] if group[0].kind == LEARNING_KIND else None
        free = MAX_SOURCES - (len(derived_from(learning)) if learning else 0)
        traces = [one for one in group if one.kind == TRACE]
        while traces:
            yield learning, traces[:free]
            traces = traces[free:]
            learning = None
            free = MAX_SOURCES


def _by_goal(memories: Sequence[Memory], cosine: float) -> list[list[Memory]]:
    """Return the memories in groups with similar goals; the first of a group is the one that the others resemble."""
    groups: dict[int, list[Memory]] = {}
    leaders = group_leaders([goal_of(memory) for memory in memories], cosine)
    for memory, leader in zip(memories, leaders, strict=True):
        groups.setdefault(leader, []).append(memory)
    return [*groups.values()]


def _learning_entry(
    census: Census, whole: Sequence[Memory], new: Sequence[Memory], by: str
) -> Entry:
    """Return the entry of a new learning from traces; with learnings in `whole`, the amendment of the first one.

    It is written from the traces of all these learnings and the new ones.
    """
    ids = [id for one in whole for id in derived_from(one)]
    ids = list(dict.fromkeys([*ids, *(trace.id for trace in new)]))
    runs = [run_of(census.memories[id]) for id in ids if id in census.memories]
    for one in whole:
        if not census.memories.keys() >= {*derived_from(one)}:
            runs += earlier_runs(one)
    failed = [id for one in whole for id in first_list(one, (FAILED_KEY,))]
    failed += [trace.id for trace in new if not run_of(trace).succeeded]
    failed = list(dict.fromkeys(failed))
    goals = [goal_of(trace) for trace in new]
    if whole:
        name = whole[0].title.removeprefix(LEARNING_PREFIX)
    else:
        name = one_line("".join(most_common_items(goals)[:1]), NAME_LENGTH)
    conditions = [condition for one in whole for condition in one.when]
    conditions = list(dict.fromkeys([*conditions, *goal_conditions(goals)]))
    entry = Entry(
        kind="amend",
        by=by,
        body=learning_text(name, len(ids), len(failed), runs),
        when=tuple(conditions[:MAX_CONDITIONS]),
        given=("whenToUse",),
        extra={FAILED_KEY: failed},
    )
    if whole:
        return entry_about(whole[0], with_sources(entry, ids))
    entry = replace(
        entry,
        kind=LEARNING_KIND,
        title=LEARNING_PREFIX + name,
        tags=(LEARNING_KIND,),
        source=CONSOLIDATED,
        given=(),
        extra={"goal": goals[0], FAILED_KEY: failed},
    )
    return plan_derived(entry, new).entries[0]


def _merged_learnings(census: Census, old: Sequence[Memory], by: str) -> list[Entry]:
    """Return entries that merge old learnings with similar goals. The first one supersedes the others."""
    entries: list[Entry] = []
    for group in _by_goal(old, MIN_OLD_GOAL_COSINE):
        first, *others = group
        if others and sum(len(derived_from(one)) for one in group) <= MAX_SOURCES:
            entries.append(_learning_entry(census, group, (), by))
            reason = f"consolidated into {first.id}"
            entries += [superseding(one, first.id, reason, by) for one in others]
    return entries


def goal_conditions(goals: Iterable[str]) -> tuple[str, ...]:
    """Return conditions like "When the task is to …", one for each goal with other specific words."""
    found: dict[tuple[str, ...], str] = {}
    for goal in goals:
        task = " ".join(plain_words(goal).split()[:CONDITION_WORDS])
        subject = tuple(sorted(set(specific_stems(task))))
        if subject and len(found) < MAX_CONDITIONS:
            found.setdefault(subject, f"When the task is to {task}")
    return tuple(found.values())
