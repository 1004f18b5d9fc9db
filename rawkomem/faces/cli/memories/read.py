"""Implement `rawkomem list` and `show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ....files.local.usage import Access
from ....model.aliases import said
from ....model.clock import iso
from ....model.record import as_dict
from ....recall.filters import filter_of
from ....recall.show.labels import from_layer
from ....repository import Repository
from ....state.belief.claims import claim_of
from ....state.facets import EVENT_TIME
from ....state.lifecycle.promoted import promoted
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_layers, pass_repository
from ..options import ALL, AS_OF, FILTERS, JSON, together
from ..terminal import bracketed, day, is_table, paint, say, say_json, shortened, tell_nothing, wide
from .cite import cited_json, cited_line
from .stats import used_json

if TYPE_CHECKING:
    from ....index.catalogue import Row
    from ....model.entry import Memory
    from ....state.belief.trust import Trust

MIN_WITH_DATE, MIN_WITH_IMPORTANCE = 72, 56  # terminal columns needed to show this part of a line
MIN_TITLE_CHARS = 12
IMPORTANCE_COLORS = {"critical": "red", "high": "yellow", "medium": "cyan", "low": "dim"}


@click.command("list")
@click.option("--layer", default="", help="Only this layer: project, personal, the name of a source, or all.")
@together(ALL, *FILTERS, JSON)
@pass_layers
def list_command(repository: Repository, layer: str, limit: int, as_json: bool, **which: Any) -> None:
    """List memories, most recently changed first.

    'rawkomem ls' is the same command.
    """
    layers = repository.layers.named(layer) if layer else repository.layers.all[:1]
    only = filter_of(**which)
    found = shortened(as_json, [(one, row) for one in layers for row in one.repository.list(only)], limit)
    if as_json:
        used = {one.name: one.repository.lifecycle.accesses() for one in layers}
        say_json([{**as_dict(row), **({"layer": one.name} if one.name else {}), **_times(row),
                   **used_json(used[one.name].get(row.id, Access()))} for one, row in found])  # fmt: skip
        return
    for one, row in found:
        say(_line(row, one.name))
    if not found:
        tell_nothing(repository, "no memory matches these filters")


def _line(row: Row, layer: str = "") -> str:
    marks = "".join(f" [{label}]" for label in from_layer(layer))
    marks += f"{'' if row.vouched else ' [not verified]'}{' [change proposed]' if row.waiting else ''}"
    id = f"{row.id}{bracketed(row.status)}{marks}"
    columns = wide()
    importance = f"{paint(f'{row.importance:8}', IMPORTANCE_COLORS[row.importance])}  "
    parts = [(f"{day(row.updated)}  ", 12, MIN_WITH_DATE), (importance, 10, MIN_WITH_IMPORTANCE)]
    shown = [(text, width) for text, width, least in parts if columns >= least]
    room = max(MIN_TITLE_CHARS, columns - len(id) - 2 - sum(width for _, width in shown))
    title = one_line(row.title or row.path, room)
    return f"{''.join(text for text, _ in shown)}{title:{room if is_table() else 0}}  {paint(id, 'dim')}"


def _times(of: Row | Memory) -> dict[str, str]:
    return {key: iso(getattr(of, key)) for key in ("created", "updated", "valid_from", "valid_until")}


def _strength(repository: Repository, memory: Memory) -> dict[str, Any]:
    found = repository.lifecycle.strength(memory)
    return {"strength": found.value, "strength_parts": [as_dict(part) for part in found.parts]}


@click.command("show")
@click.argument("id")
@AS_OF
@JSON
@pass_repository
def show_command(repository: Repository, id: str, as_of: str, as_json: bool) -> None:
    """Show one memory.

    ID is an id, its beginning or end, the name of a file, or words of the title.
    """
    memory = repository.get(id, filter_of(as_of=as_of).as_of)
    cited = repository.citations.of(memory)
    access = repository.lifecycle.accesses().get(memory.id, Access())
    trust = repository.beliefs.trust(memory)
    if as_json:
        citations = {"citations": [cited_json(item) for item in cited]} if cited else {}
        believed = {"trust": trust_json(trust)}
        columns = {**promoted(memory, access.count, access.last), "last_accessed": iso(access.last)}
        facts = {
            **columns,
            **_times(memory),
            **used_json(access),
            **_strength(repository, memory),
            **believed,
            **citations,
        }
        say_json({**as_dict(memory), **facts})
        return
    say(paint(one_line(memory.title) or "(draft)", "bold"))
    for name, value in _facts(memory, access):
        say(f"{paint(f'{name:11}', 'dim')} {value}")
    say(f"{paint('trust      ', 'dim')} {trust.value:.2f}  {trust_line(trust)}")
    for item in cited:
        say(f"{paint('cites      ', 'dim')} {cited_line(item)}")
    say()
    say(memory.body)


def trust_line(trust: Trust) -> str:
    """Return the parts of a trust as a line."""
    vouched = "" if trust.standing.verified else "unverified; "
    return one_line(vouched + ", ".join(f"{name} {amount:+.2f} ({why})" for name, amount, why in trust.parts), 400)


def trust_json(trust: Trust) -> dict[str, Any]:
    """Return a trust for JSON."""
    parts = [{"name": name, "amount": round(amount, 4), "why": why} for name, amount, why in trust.parts]
    known = {"source": trust.source, "verified": trust.standing.verified, "standing": trust.standing.why}
    return {"value": round(trust.value, 4), **known, "parts": parts}


def _facts(memory: Memory, access: Access) -> list[tuple[str, str]]:
    votes = f"{memory.helpful} helpful, {memory.harmful} harmful" if memory.helpful or memory.harmful else ""
    window = " until ".join(part for part in (iso(memory.valid_from), iso(memory.valid_until)) if part)
    facts = {
        "id": memory.id,
        "kind": memory.kind if memory.kind != "memory" else "",
        "status": memory.status + (f" ({memory.reason})" if memory.reason else ""),
        "valid": window if memory.valid_from or not window else f"until {window}",
        "claims": _claimed(memory),
        "importance": memory.importance,
        "whenToUse": "; ".join(memory.when),
        "tags": ", ".join(memory.tags),
        "found": " ".join(part for part in (iso(memory.created), f"by {memory.by}" if memory.by else "") if part),
        "happened": str(said(memory.extra, EVENT_TIME)),
        "in": memory.found_in,
        "source": memory.source,
        "related": ", ".join(memory.related),
        "changed": iso(memory.updated) if memory.updated != memory.created else "",
        "feedback": votes,
        "proposed": f"{count(memory.waiting, 'change')}: 'rawkomem review {memory.id}' shows them"
        if memory.waiting
        else "",
        "used": f"{count(access.count, 'time')}, last {iso(access.last)}" if access.count else "",
        "file": f"{memory.path}:{memory.line}",
    }
    return [(name, one_line(value, 400)) for name, value in facts.items() if value]


def _claimed(memory: Memory) -> str:
    claim = claim_of(memory)
    return f"{claim.subject} {claim.predicate} = {claim.value}" if claim else ""
