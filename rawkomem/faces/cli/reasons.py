"""Explain memories: `rawkomem why`, `context` and `history`."""

from __future__ import annotations

import shlex
from typing import Any

from click import Choice, argument, command, option

from ...files.layout import read_stdin
from ...model.entries import Memory, Task
from ...model.values import as_dict, iso, replace
from ...recall.earlier_tasks import MAX_BRIEF_TOKENS, NO_BRIEF, Brief
from ...recall.excerpt import in_brackets, layer_label
from ...recall.inject import injection_json
from ...recall.relevance import explain_score, votes_against, why_fired
from ...recall.render import FORMS, GROUPED, NOTHING_FOUND
from ...recall.scoring import Scored
from ...recall.signals import filter_of
from ...repository import Repository
from ...repository.injecting import inject_for
from ...state.changes import how_settled
from ...state.history import Explained, Step
from ...text.chunks import counted
from ...text.clean import one_line
from .commands import pass_layers, pass_repository
from .declarations import flag
from .injecting import tell_injection
from .listing import trust_json, trust_line
from .options import (
    AGENT,
    ALL,
    AS_OF,
    BUDGET,
    EXPLAIN,
    JSON,
    LIMIT,
    PROFILE,
    SESSION,
    STRICT,
    WHICH,
    together,
)
from .terminal import fields_of, note, paint, say, say_json, say_rows

# Implement `rawkomem why` and `context`: explain what is injected.

MAX_TOKENS = 2_000  # of a context


@command("why")
@together(argument("id"), argument("task", nargs=-1), PROFILE, AGENT, SESSION, AS_OF, JSON)
@flag("--supersession", help="Without TASK: only show which memory superseded it, and why.")
@pass_layers
def why_command(
    repository: Repository, id: str, task: tuple[str, ...], profile: str, agent: str, session: str, as_of: str,
    supersession: bool, as_json: bool,
) -> int:  # fmt: skip
    """Explain why a memory is injected or trusted, or why not.

    With TASK, the command prints each factor of the score with its value, its weight and the reason; the exit code is
    0 if the memory is injected for the task, else 1. Without TASK, it prints the parts of the trust, the sources, the
    links, the contradictions and every entry of the memory.

    Examples:
      rawkomem why ID 'make the payment retry configurable'
      rawkomem why ID
    """
    if not task:
        owner, id = repository.layers.owner(id)
        _explain_trust(owner, id, supersession, as_json)
        return 0
    asked = Task(" ".join(task), agent, session=session)
    item, inside = repository.explain(id, asked, profile, filter_of(as_of=as_of))
    owner, id = repository.layers.owner(item.memory.id)
    trust = owner.beliefs.trust(replace(item.memory, id=id))
    if as_json:
        say_json(
            {
                "id": item.memory.id,
                **({"layer": item.memory.layer} if item.memory.layer else {}),
                "injected": inside,
                "score": item.score,
                "why_not": item.why_not,
                "why_not_code": item.out.code if item.out else "",
                "relevance": item.signals.relevance,
                "fired": why_fired(item),
                "factors": [
                    fields_of(factor, "name", "value", "weight", "why") for factor in item.factors
                ],
                "trust": trust_json(trust),
            }
        )
        return 0 if inside else 1
    layer = in_brackets(layer_label(item.memory.layer))
    say(f"{layer}{paint(one_line(item.memory.title), 'bold')}  score {item.score:.3f}")
    for line in explain_score(item):
        say(f"  {line}")
    say(f"  {'trust':16} {trust.value:7.3f}       {trust_line(trust)}")
    say(
        paint("injected", "green")
        if inside
        else f"{paint('not injected', 'yellow')}: {item.why_not}"
    )
    _tell_next_step(item, inside)
    return 0 if inside else 1


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
    kept = "".join(
        f" --when {shlex.quote(old)}" for old in item.memory.when
    )  # 'amend' replaces all conditions
    note(
        f"to inject it for similar tasks, add a condition: rawkomem amend {item.memory.id}{kept} --when '…'"
    )


@command("context")
@argument("query", nargs=-1, required=True)
@BUDGET.but(default=0, least=0, help="Maximum number of tokens. Default: 2,000; 1,000 with --goal.")
@LIMIT.but(default=20, least=1, help="Maximum number of memories.")
@option("--format", "-f", "form", default="plain", show_default=True, type=Choice((*FORMS,)),
              help="The output format; grouped sorts by category.")  # fmt: skip
@EXPLAIN
@flag("--goal", help="QUERY is a goal: print what earlier work teaches about it.")
@together(STRICT, *WHICH, JSON)
@pass_layers
def context_command(
    repository: Repository, query: tuple[str, ...], budget: int, limit: int, form: str, explain: bool, goal: bool,
    strict: bool, as_json: bool, **which: Any,
) -> None:  # fmt: skip
    """Print what is known about a subject, within a token budget.

    These are the results of a search that fit, whether or not they would be injected into a prompt. With --goal, the
    command prints the recommended approach, anti-patterns, lessons, what worked and what failed in earlier tasks, each
    with the id of its source. If QUERY is '-', it is read from standard input.

    Examples:
      rawkomem context payments --budget 500
      rawkomem context --goal 'release a new version'
    """
    if query == ("-",):
        query = (read_stdin(strict=False),)
    if goal:
        brief = repository.traces.brief(" ".join(query), budget or MAX_BRIEF_TOKENS)
        _say_brief(brief, as_json)
        return
    task, only = Task(" ".join(query)), filter_of(**which)
    found = [item.row.id for item in repository.search(task.text, limit, only) if item.fits]
    only = replace(only, ids=tuple(found) or ("",))  # no memory has an empty id
    injection = inject_for(
        repository, task, "", form, only, strict,
        max_injected=limit, budget=budget or MAX_TOKENS, min_confidence=0.0,
    )  # fmt: skip
    if as_json:
        say_json(injection_json(injection))
        return
    say(injection.text.rstrip("\n") or (NOTHING_FOUND if form == GROUPED else ""))
    if explain:
        tell_injection(injection)


def _say_brief(found: Brief, as_json: bool) -> None:
    if as_json:
        say_json({**as_dict(found), "points": [as_dict(point) for point in found.points]})
    elif found.points:
        say(found.text.rstrip("\n"))
    elif found.left_out:
        note(f"{found.left_out} points do not fit into the budget: raise --budget")
    else:
        note(NO_BRIEF)


# Implement `rawkomem history`: show the changes of a memory and the parts of its
# trust.

MAX_VALUE_CHARS = 60  # characters of a value in a line of history


@command("history")
@argument("id")
@ALL.but(help="Only show this many of the last entries. Default: all.")
@JSON
@pass_repository
def history_command(repository: Repository, id: str, limit: int, as_json: bool) -> None:
    """Show every change of a memory, oldest first.

    Each entry is shown with the fields that it changed.

    Examples:
      rawkomem history ID
    """
    say_rows(as_json, repository.history(id)[-limit:], _step_json, _step_lines)


def _step_lines(step: Step) -> str:
    entry = step.entry
    by = f"  by {one_line(entry.by, 64)}" if entry.by else ""
    place = paint(f"{entry.path}:{entry.line}", "dim")
    reason = entry.extra.get("reason")
    because = f", because {one_line(reason, 200)}" if isinstance(reason, str) and reason else ""
    changes = [
        f"    {name}: {_short_value(name, before)} → {_short_value(name, now)}"
        for name, before, now in step.changes
    ]
    head = f"{iso(entry.at) or 'unknown time':20}  {paint(entry.kind, 'bold')}{by}  {place}"
    return "\n".join([head, f"    {one_line(step.told, 200)}{because}", *changes])


def _short_value(name: str, value: object) -> str:
    return one_line(_value_text(name, value), MAX_VALUE_CHARS) or "(none)"


def _value_text(name: str, value: object) -> str:
    """Return a value of a memory as a person reads it; a link is a pair of its type and an id."""
    if name == "links" and isinstance(value, (list, tuple)):
        return ", ".join(f"{type} {id}" for type, id in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_value_text(key, item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_value_text("", item) for item in value)
    return "" if value is None else str(value)


def _step_json(step: Step) -> dict[str, Any]:
    entry = step.entry
    return {
        **fields_of(entry, "id", "kind"),
        "at": iso(entry.at),
        **fields_of(entry, "by", "path", "line"),
        "told": step.told,
        "said": dict(entry.extra),
        "changes": [
            {"field": name, "before": before, "after": now} for name, before, now in step.changes
        ],
    }


def _explain_trust(repository: Repository, id: str, supersession: bool, as_json: bool) -> None:
    if supersession:
        _say_supersession(repository, id, as_json)
        return
    explained = repository.beliefs.explain(id)
    if as_json:
        say_json(_explained_json(explained))
    else:
        _print_explained(explained)


def _print_explained(explained: Explained) -> None:
    memory = explained.memory
    say(
        f"{paint(one_line(memory.title) or memory.id, 'bold')}  {memory.status}  {paint(memory.id, 'dim')}"
    )
    if explained.standing:
        say(f"not in use: {one_line(explained.standing, 200)}")
    vouched = "" if explained.trust.standing.verified else "  unverified"
    say(f"trust {explained.trust.value:.2f}{vouched}")
    for name, amount, why in explained.trust.parts:
        say(f"  {name:12} {amount:+.3f}  {why}")
    say(_observed_line(memory))
    say(f"votes: {memory.helpful} helpful, {memory.harmful} harmful")
    for edge in explained.edges:
        arrow = "→" if edge.source == memory.id else "←"
        say(f"{arrow} {one_line(edge.type, 32)}  {edge.other(memory.id)}")
    for source in explained.weak:
        say(f"{paint('made from', 'yellow')}  {source.id}, which is {source.why}")
    for other in explained.conflicts:
        settled = how_settled(memory, other)
        word = paint("conflicted with", "dim") if settled else paint("conflicts with", "yellow")
        ended = f"  settled: {settled}" if settled else ""
        say(f"{word}  {one_line(other.title, 80)}  {paint(other.id, 'dim')}{ended}")
    for step in explained.steps:
        say(
            f"{iso(step.entry.at) or 'unknown time':20}  {step.entry.kind}  {one_line(step.told, 200)}"
        )


def _observed_line(memory: Memory) -> str:
    """Return how often and when a memory was observed, as a line."""
    first, last = iso(memory.first_observed), iso(memory.last_observed)
    when = (
        f", first {first}, last {last}"
        if first and first != last
        else f", {first}"
        if first
        else ""
    )
    return f"observed {counted(memory.times_observed, 'time')}{when or ', at an unknown time'}"


def _explained_json(explained: Explained) -> dict[str, Any]:
    memory = explained.memory
    return {
        **fields_of(memory, "id", "title", "status", "reason"),
        "standing": explained.standing,
        "trust": trust_json(explained.trust),
        "claim": memory.extra.get("claim"),
        "provenance": memory.extra.get("provenance"),
        "observed": {
            "times": memory.times_observed,
            "first": iso(memory.first_observed),
            "last": iso(memory.last_observed),
        },
        "feedback": fields_of(memory, "helpful", "harmful"),
        "links": [fields_of(edge, "source", "target", "type") for edge in explained.edges],
        "weak_sources": [fields_of(source, "id", "why", "holds_back") for source in explained.weak],
        "conflicts": [other.id for other in explained.conflicts],
        "settled": {
            other.id: how for other in explained.conflicts if (how := how_settled(memory, other))
        },
        "entries": [_step_json(step) for step in explained.steps],
    }


def _say_supersession(repository: Repository, id: str, as_json: bool) -> None:
    steps = repository.beliefs.explain_supersession(id)
    if as_json:
        say_json(
            {
                "id": repository.get(id).id,
                "superseded": bool(steps),
                "chain": [
                    {
                        "id": step.old.id,
                        "superseded_by": step.new.id,
                        "reason": step.old.reason,
                        "trustComparison": {
                            "original": round(step.old_trust, 4),
                            "superseding": round(step.new_trust, 4),
                            "delta": round(step.new_trust - step.old_trust, 4),
                        },
                    }
                    for step in steps
                ],
            }
        )
        return
    for step in steps:
        say(
            f"{one_line(step.old.title, 80)}  {paint(step.old.id, 'dim')}  trust {step.old_trust:.2f}"
        )
        say(
            f"  superseded by {one_line(step.new.title, 80)}  {paint(step.new.id, 'dim')}  trust {step.new_trust:.2f}"
        )
        say(f"  reason: {one_line(step.old.reason, 200) or 'not recorded'}")
    if not steps:
        note("no memory superseded it")
