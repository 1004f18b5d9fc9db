"""`rawkomem list` and `show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..model.clock import iso
from ..model.record import as_dict
from ..repository import filter_of
from ..text.clean import one_line
from .cite import cited_json, cited_line
from .commands import hot_options, open_repository
from .hot import FILTERS, JSON
from .terminal import day, note, paint, say, say_json, wide

if TYPE_CHECKING:
    from ..index.catalogue import Row
    from ..model.entry import Memory

COLOURS = {"critical": "red", "high": "yellow", "medium": "cyan", "low": "dim"}


@click.command("list")
@hot_options((*FILTERS, JSON))
@click.pass_obj
def list_command(folder: str, kind: list[str], tag: list[str], importance: str, include: list[str], json: bool) -> None:
    """List memories, the last changed first."""
    rows = open_repository(folder).list(filter_of(kind, tag, importance, include))
    if json:
        say_json([_row_json(row) for row in rows])
        return
    for row in rows:
        say(_line(row))
    if not rows:
        note("no memories yet: 'rawkomem add' writes the first one, 'rawkomem check' shows files it cannot use")


def _line(row: Row) -> str:
    status = "" if row.status == "active" else f" [{row.status}]"
    id = f"{row.id}{status}"
    title = one_line(row.title or row.path, max(20, wide() - len(id) - 26))
    return f"{day(row.updated)}  {paint(f'{row.importance:8}', COLOURS[row.importance])}  {title}  {paint(id, 'dim')}"


def _row_json(row: Row) -> dict[str, Any]:
    return {**as_dict(row), "created": iso(row.created), "updated": iso(row.updated)}


@click.command("show")
@click.argument("id")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show_command(folder: str, id: str, as_json: bool) -> None:
    """Show one memory.

    ID is an id, the start of one, or a file's stem.
    """
    repository = open_repository(folder)
    memory = repository.get(id)
    cited = repository.cited(memory)
    if as_json:
        times = {key: iso(getattr(memory, key)) for key in ("created", "updated", "valid_from", "valid_until")}
        say_json({**as_dict(memory), **times, **({"citations": [cited_json(item) for item in cited]} if cited else {})})
        return
    say(paint(one_line(memory.title) or "(draft)", "bold"))
    for name, value in _facts(memory):
        say(f"{paint(f'{name:11}', 'dim')} {value}")
    for item in cited:
        say(f"{paint('cites      ', 'dim')} {cited_line(item)}")
    say()
    say(memory.body)


def _facts(memory: Memory) -> list[tuple[str, str]]:
    votes = f"{memory.helpful} helpful, {memory.harmful} harmful" if memory.helpful or memory.harmful else ""
    facts = {
        "id": memory.id,
        "kind": memory.kind if memory.kind != "memory" else "",
        "status": memory.status + (f" ({memory.reason})" if memory.reason else ""),
        "importance": memory.importance,
        "whenToUse": "; ".join(memory.when),
        "tags": ", ".join(memory.tags),
        "found": " ".join(part for part in (iso(memory.created), f"by {memory.by}" if memory.by else "") if part),
        "in": memory.found_in,
        "source": memory.source,
        "related": ", ".join(memory.related),
        "changed": iso(memory.updated) if memory.updated != memory.created else "",
        "feedback": votes,
        "file": f"{memory.path}:{memory.line}",
    }
    return [(name, one_line(value, 400)) for name, value in facts.items() if value]
