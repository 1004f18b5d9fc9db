"""Implement `rawkomem why`, `why-not`, `context` and `tokens`: explain what is injected and what it costs."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ....files.local.usage import uses
from ....model.record import replace
from ....model.task import Task
from ....recall.explain import explain, why_fired
from ....recall.filters import filter_of
from ....recall.relevance.gate import votes_against
from ....recall.score import Scored
from ....recall.show.labels import from_layer, in_brackets
from ....recall.show.render import FORMS, GROUPED, NOTHING_FOUND
from ....repository import Repository
from ....state.belief.trust import Trust
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_layers, pass_repository
from ..options import AGENT, ALL, AS_OF, BUDGET, EXPLAIN, JSON, LIMIT, PROFILE, SESSION, STRICT, WHICH, together
from ..terminal import fields_of, note, paint, say, say_json, shortened
from .inject import tell
from .read import trust_json, trust_line


@click.command("why")
@click.argument("id")
@click.argument("task", nargs=-1, required=True)
@PROFILE
@AGENT
@SESSION
@AS_OF
@JSON
@pass_layers
def why_command(
    repository: Repository, id: str, task: tuple[str, ...], profile: str, agent: str, session: str, as_of: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Explain how a memory scores for a task.

    The command prints each factor with its value, its weight and the reason. The exit code is 0 if the memory is
    injected, else 1.
    """
    only = filter_of(as_of=as_of)
    item, inside = repository.explain(id, Task(" ".join(task), agent, session=session), profile, only)
    trust = _trust(repository, item)
    if as_json:
        factors = [fields_of(factor, "name", "value", "weight", "why") for factor in item.factors]
        named = {"layer": item.memory.layer} if item.memory.layer else {}
        say_json({"id": item.memory.id, **named, "injected": inside, "score": item.score,
                  "why_not": item.why_not, "why_not_code": item.out.code if item.out else "",
                  "relevance": item.signals.relevance, "fired": why_fired(item), "factors": factors,
                  "trust": trust_json(trust)})  # fmt: skip
        return 0 if inside else 1
    layer = in_brackets(from_layer(item.memory.layer))
    say(f"{layer}{paint(one_line(item.memory.title), 'bold')}  score {item.score:.3f}")
    for line in explain(item):
        say(f"  {line}")
    say(f"  {'trust':16} {trust.value:7.3f}       {trust_line(trust)}")
    say(paint("injected", "green") if inside else f"{paint('not injected', 'yellow')}: {item.why_not}")
    _tell_next_step(item, inside)
    return 0 if inside else 1


def _trust(repository: Repository, item: Scored) -> Trust:
    """Return the trust of a memory in the layer that holds it."""
    owner, id = repository.layers.owner(item.memory.id)
    return owner.beliefs.trust(replace(item.memory, id=id))


@click.command("why-not")
@click.argument("id")
@click.argument("task", nargs=-1, required=True)
@PROFILE
@AGENT
@SESSION
@AS_OF
@JSON
@pass_layers
def why_not_command(
    repository: Repository, id: str, task: tuple[str, ...], profile: str, agent: str, session: str, as_of: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Explain why a memory is not injected for a task."""
    only = filter_of(as_of=as_of)
    item, inside = repository.explain(id, Task(" ".join(task), agent, session=session), profile, only)
    if as_json:
        code = item.out.code if item.out else ""
        say_json({"id": item.memory.id, "injected": inside, "why_not": item.why_not, "why_not_code": code})
        return
    say("the memory is injected" if inside else item.why_not)
    _tell_next_step(item, inside)


def _tell_next_step(item: Scored, inside: bool) -> None:
    """Suggest a new condition if no condition of the memory matched and nobody voted against it."""
    if (
        inside
        or (item.out and item.out.code == "told")
        or item.signals.fired
        or not item.factors
        or votes_against(item.memory) > 0
    ):
        return
    kept = "".join(f" --when {shlex.quote(old)}" for old in item.memory.when)  # 'amend' replaces all conditions
    note(f"to inject it for similar tasks, add a condition: rawkomem amend {item.memory.id}{kept} --when '…'")


@click.command("context")
@click.argument("query", nargs=-1, required=True)
@BUDGET
@LIMIT.but(default=20, least=1, help="Maximum number of memories.")
@click.option("--format", "-f", "form", default="plain", show_default=True, type=click.Choice((*FORMS,)),
              help="The output format; grouped sorts by category.")  # fmt: skip
@EXPLAIN
@together(STRICT, *WHICH, JSON)
@pass_layers
def context_command(
    repository: Repository, query: tuple[str, ...], budget: int, limit: int, form: str, explain: bool, strict: bool,
    as_json: bool, **which: Any,
) -> None:  # fmt: skip
    """Print what is known about a subject, within a token budget."""
    task, only = Task(" ".join(query)), filter_of(**which)
    injection = repository.inject(task, form=form, limit=limit, budget=budget, only=only, strict=strict)
    if as_json:
        from ....recall.show.data import injection_json

        say_json(injection_json(injection))
        return
    say(injection.text.rstrip("\n") or (NOTHING_FOUND if form == GROUPED else ""))
    if explain:
        tell(injection)


@click.command("tokens")
@ALL.but(help="Only show this many of the last sessions. Default: all.")
@JSON
@pass_repository
def tokens_command(repository: Repository, limit: int, as_json: bool) -> None:
    """Show how many tokens were injected, per session.

    The command also shows the tokens saved by not repeating memories in a session.
    """
    totals: dict[str, list[int]] = {}
    for use in uses(repository.layout):
        added = (bool(use.ids), len(use.ids), use.tokens, use.saved)
        total = totals.setdefault(use.session or "(no session)", [0] * len(added))
        totals[use.session or "(no session)"] = [old + new for old, new in zip(total, added, strict=True)]
    totals = dict(reversed(shortened(as_json, [*totals.items()][::-1], limit)))
    if as_json:
        names = ("injections", "memories", "tokens", "saved")
        say_json([{"session": session, **dict(zip(names, total, strict=True))} for session, total in totals.items()])
        return
    for session, (injections, memories, tokens, saved) in totals.items():
        kept = f"  {saved:8} saved by not repeating" if saved else ""
        say(
            f"{tokens:8} tokens  {count(injections, 'injection'):>16}  {count(memories, 'memory'):>14}{kept}  {session}"
        )
    if not totals:
        note("nothing was injected yet")
