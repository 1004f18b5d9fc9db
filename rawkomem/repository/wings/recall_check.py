"""The recall check: before a memory is archived or superseded as a duplicate, check that no search loses its content.

Every question that finds the memory must find the same content elsewhere afterwards. The questions are the memory's
own (title, conditions, first sentence) and the latest questions in this machine's ledger. Questions from the ledger
can only keep a memory in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.filters import DEFAULT, READABLE
from ...state.graph.digest import unheld_part
from ...state.lifecycle.held import missing_fact, questions_of
from ...text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ...model.entry import Memory
    from ..core import Core

FOUND_AMONG = 5  # the content must be among this many first results
MAX_PAST_QUESTIONS = 100
MAX_RESULTS = 100  # of a search, before the memories that leave are removed
ASKED_AT_ONCE = 100  # questions per search
SHOWN_CHARS = 80  # of a quoted question or sentence


def reasons_to_stay(
    core: Core,
    memories: Mapping[str, Memory],
    leaving: Collection[str],
    holders: Mapping[str, str],
    past: Sequence[str] = (),
) -> dict[str, str]:
    """Return id → the reason why a memory must stay; `holders` maps an id to the memory that says the same, if known.

    A memory that searches do not show, because it is superseded or disputed, never has to stay.
    """
    found_by = {id: questions_of(memories[id]) for id in leaving if memories[id].status in READABLE}
    questions = dict.fromkeys([*past, *(question for asked in found_by.values() for question in asked)])
    answers = _answers(core, list(questions), min(MAX_RESULTS, FOUND_AMONG + len(leaving)))
    reasons: dict[str, str] = {}
    for id, asked in found_by.items():
        finding = [one for one in dict.fromkeys([*asked, *past]) if id in answers[one][:FOUND_AMONG]]
        after = {one: [other for other in answers[one] if other not in leaving][:FOUND_AMONG] for one in finding}
        holder = memories.get(holders.get(id, ""))
        reason = _lost_to(memories[id], holder, after) if holder else _lost(memories[id], memories, after)
        if reason:
            reasons[id] = reason
    return reasons


def _answers(core: Core, questions: Sequence[str], limit: int) -> dict[str, list[str]]:
    """Return question → the ids of the search results, best first."""
    found: dict[str, list[str]] = {}
    for start in range(0, len(questions), ASKED_AT_ONCE):
        for answer in core.look(questions[start : start + ASKED_AT_ONCE], limit, DEFAULT):
            found[answer.question] = [item.row.id for item in answer.found]
    return found


def _lost_to(memory: Memory, holder: Memory, after: Mapping[str, Sequence[str]]) -> str:
    """Return the reason why `holder` cannot replace `memory`; empty if it can."""
    fact = missing_fact(memory, holder)
    if fact:
        return f"{holder.id} does not contain {fact!r}"
    blind = next((question for question, ids in after.items() if holder.id not in ids), None)
    return (
        f"a search for {_shown(blind)} would not find {holder.id} among the first {FOUND_AMONG}"
        if blind is not None
        else ""
    )


def _lost(memory: Memory, memories: Mapping[str, Memory], after: Mapping[str, Sequence[str]]) -> str:
    """Return the reason why no memory that the same questions find can replace this one; empty if one can."""
    if not after:
        return "no question finds it, so the check cannot show that another memory says the same"
    common: Iterable[str] = set.intersection(*(set(ids) for ids in after.values()))
    holders = [memories[id] for id in common if id in memories]
    if any(not missing_fact(memory, holder) and not unheld_part(memory, holder) for holder in holders):
        return ""
    return f"no other memory that is found says {_shown(next(iter(questions_of(memory)[::-1]), memory.id))}"


def _shown(text: str) -> str:
    return repr(one_line(text, SHOWN_CHARS))
