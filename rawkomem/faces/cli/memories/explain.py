"""Implement `rawkomem history` and `explain`: show the changes of a memory and the parts of its trust."""

from __future__ import annotations

from typing import Any

import click

from ....model.clock import iso
from ....model.entry import Memory
from ....repository import Repository
from ....state.belief.conflicts import how_settled
from ....state.belief.explained import Explained, Replaced
from ....state.history import Step
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..options import ALL, JSON
from ..terminal import fields_of, note, paint, say, say_json, say_rows
from .read import trust_json

MAX_VALUE_CHARS = 60  # characters of a value in a line of history


@click.command("history")
@click.argument("id")
@ALL.but(help="Only show this many of the last entries. Default: all.")
@JSON
@pass_repository
def history_command(repository: Repository, id: str, limit: int, as_json: bool) -> None:
    """Show every change of a memory, oldest first.

    Each entry is shown with the fields that it changed.
    """
    say_rows(as_json, repository.history(id)[-limit:], _step_json, _step_lines)


def _step_lines(step: Step) -> str:
    entry = step.entry
    by = f"  by {one_line(entry.by, 64)}" if entry.by else ""
    place = paint(f"{entry.path}:{entry.line}", "dim")
    reason = entry.extra.get("reason")
    because = f", because {one_line(reason, 200)}" if isinstance(reason, str) and reason else ""
    changes = [f"    {name}: {_short(name, before)} → {_short(name, now)}" for name, before, now in step.changes]
    head = f"{iso(entry.at) or 'unknown time':20}  {paint(entry.kind, 'bold')}{by}  {place}"
    return "\n".join([head, f"    {one_line(step.told, 200)}{because}", *changes])


def _short(name: str, value: object) -> str:
    return one_line(_text(name, value), MAX_VALUE_CHARS) or "(none)"


def _text(name: str, value: object) -> str:
    """Return a value of a memory as a person reads it; a link is a pair of its type and an id."""
    if name == "links" and isinstance(value, (list, tuple)):
        return ", ".join(f"{type} {id}" for type, id in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(key, item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_text("", item) for item in value)
    return "" if value is None else str(value)


def _step_json(step: Step) -> dict[str, Any]:
    entry = step.entry
    changes = [{"field": name, "before": before, "after": now} for name, before, now in step.changes]
    written = {**fields_of(entry, "id", "kind"), "at": iso(entry.at), **fields_of(entry, "by", "path", "line")}
    return {**written, "told": step.told, "said": dict(entry.extra), "changes": changes}


@click.command("explain")
@click.argument("id")
@click.option("--supersession", is_flag=True, help="Only show which memory superseded it, and why.")
@JSON
@pass_repository
def explain_command(repository: Repository, id: str, supersession: bool, as_json: bool) -> None:
    """Explain how much a memory is trusted, and why.

    The command prints the parts of the trust, the sources, the links, the contradictions and every entry of the
    memory.
    """
    if supersession:
        _supersession(repository, id, as_json)
        return
    explained = repository.beliefs.explain(id)
    if as_json:
        say_json(_explained_json(explained))
    else:
        _print_explained(explained)


def _print_explained(explained: Explained) -> None:
    memory = explained.memory
    say(f"{paint(one_line(memory.title) or memory.id, 'bold')}  {memory.status}  {paint(memory.id, 'dim')}")
    if explained.standing:
        say(f"not in use: {one_line(explained.standing, 200)}")
    vouched = "" if explained.trust.standing.verified else "  unverified"
    say(f"trust {explained.trust.value:.2f}{vouched}")
    for name, amount, why in explained.trust.parts:
        say(f"  {name:12} {amount:+.3f}  {why}")
    say(_observed(memory))
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
        say(f"{iso(step.entry.at) or 'unknown time':20}  {step.entry.kind}  {one_line(step.told, 200)}")


def _observed(memory: Memory) -> str:
    """Return how often and when a memory was observed, as a line."""
    first, last = iso(memory.first_observed), iso(memory.last_observed)
    when = f", first {first}, last {last}" if first and first != last else f", {first}" if first else ""
    return f"observed {count(memory.times_observed, 'time')}{when or ', at an unknown time'}"


def _explained_json(explained: Explained) -> dict[str, Any]:
    memory = explained.memory
    edges = [fields_of(edge, "source", "target", "type") for edge in explained.edges]
    observed = {"times": memory.times_observed, "first": iso(memory.first_observed), "last": iso(memory.last_observed)}
    return {
        **fields_of(memory, "id", "title", "status", "reason"),
        "standing": explained.standing,
        "trust": trust_json(explained.trust),
        "claim": memory.extra.get("claim"),
        "provenance": memory.extra.get("provenance"),
        "observed": observed,
        "feedback": fields_of(memory, "helpful", "harmful"),
        "links": edges,
        "weak_sources": [fields_of(source, "id", "why", "holds_back") for source in explained.weak],
        "conflicts": [other.id for other in explained.conflicts],
        "settled": {other.id: how for other in explained.conflicts if (how := how_settled(memory, other))},
        "entries": [_step_json(step) for step in explained.steps],
    }


def _supersession(repository: Repository, id: str, as_json: bool) -> None:
    steps = repository.beliefs.explain_supersession(id)
    if as_json:
        superseded = [_replaced_json(step) for step in steps]
        say_json({"id": repository.get(id).id, "superseded": bool(steps), "chain": superseded})
        return
    for step in steps:
        say(f"{one_line(step.old.title, 80)}  {paint(step.old.id, 'dim')}  trust {step.old_trust:.2f}")
        say(f"  superseded by {one_line(step.new.title, 80)}  {paint(step.new.id, 'dim')}  trust {step.new_trust:.2f}")
        say(f"  reason: {one_line(step.old.reason, 200) or 'not recorded'}")
    if not steps:
        note("no memory superseded it")


def _replaced_json(step: Replaced) -> dict[str, Any]:
    trusts = {"original": round(step.old_trust, 4), "superseding": round(step.new_trust, 4),
              "delta": round(step.new_trust - step.old_trust, 4)}  # fmt: skip
    return {"id": step.old.id, "superseded_by": step.new.id, "reason": step.old.reason, "trustComparison": trusts}
