"""Choose the few memories for the prompt of a task: question → gather → score → gate → pack → render."""

from __future__ import annotations

from ..model.record import record, replace
from ..text.tokens import count_tokens
from .gather import gather
from .order import corrections_first, in_order
from .pack import add_linked, pack
from .profiles import profile_of
from .question import question_of_task
from .relevance.evidence import judged
from .relevance.gate import gate
from .score import score
from .show.render import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.task import Task
    from .gather import Sources
    from .limits import Limits
    from .score import Scored


@record
class Injection:
    """The text for a prompt, its items, the items that were left out with the reasons, and its cost in tokens."""

    text: str
    items: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    tokens: int
    budget: int  # tokens at most
    profile: str
    vouched: bool = False  # whether the text labels each item as vouched for or not
    untried: int = 0  # conditions that were not tested, because the time for regular expressions was used up
    saved: int = 0  # tokens of items that were left out because the session has received them before


@record
class Prompt:
    """Text for a model, and the injection in it."""

    text: str
    injection: Injection


def with_memories(base: str, injection: Injection) -> Prompt:
    """Return the base prompt followed by the block of memories; without memories, the base prompt unchanged."""
    return Prompt(f"{base.rstrip()}\n\n{injection.text}" if injection.text else base, injection)


def inject(sources: Sources, task: Task, profile: str, limits: Limits, form: str) -> Injection:
    """Return the few memories for the prompt of a task, within the limits. An empty injection is a valid result."""
    chosen = profile_of(profile)
    if sources.view.only.entities and chosen.min_similarity_with_entities:
        chosen = replace(chosen, min_similarity=chosen.min_similarity_with_entities)
    if chosen.max_results:
        limits = replace(limits, max_injected=min(limits.max_injected, chosen.max_results))
    question = question_of_task(task, sources.view.at)
    candidates = judged(sources, question, gather(sources, question, chosen))
    scored = score(candidates, chosen, question)
    gated = gate(scored, chosen, limits, question)
    if any(item.memory.layer for item in gated):
        from .union import own_first  # needed only with other layers

        gated = own_first(gated)
    page = Page(form, question, sources.doubting)
    budget = limits.budget
    limits = replace(limits, budget=budget - page.frame)
    wanted, spared = in_order(gated, chosen.margin), 0
    if sources.told:
        from .told import leave_out, leave_out_linked, saved  # needed only in a session that has received memories

        wanted, spared = leave_out(wanted, sources.told), saved(gated, sources.told, limits, page.cost)
    packed = add_linked(pack(wanted, limits, page.cost, page.shorter), sources, limits, page.cost)
    if sources.told:
        packed = leave_out_linked(packed, sources.told)
    items = tuple(map(page.shown, corrections_first(packed.items)))
    text = page.write(items)
    untried = question.situation.engine.untried if question.situation else 0
    return Injection(
        text, items, packed.left_out, count_tokens(text), budget, chosen.name, page.vouched, untried, spared
    )
