"""Implement the commands that show memories: `rawkomem list`, `show`, `cite`, `entities` and `toc`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from click import Path, argument, command, option, pass_obj

from ...files.check import printable
from ...files.session_records import Access
from ...git.citations import GONE, STALE, UNKNOWN, Cited, place_from
from ...git.runner import user_name
from ...index.catalogue import Row
from ...model.entries import Memory
from ...model.values import as_dict, extra_value, iso
from ...recall.excerpt import layer_label
from ...recall.signals import filter_of
from ...repository import Repository
from ...state.claims import claim_of
from ...state.strength import rfc_columns
from ...state.trust import EVENT_TIME, Trust
from ...text.chunks import counted
from ...text.clean import one_line
from ...text.entities import resolve_entity
from .commands import pass_layers, pass_repository
from .declarations import text_option
from .opening import open_repository, used_json
from .options import ALL, AS_OF, BY, FILTERS, JSON, together
from .terminal import (
    bracketed,
    day,
    fields_of,
    is_table,
    note,
    paint,
    say,
    say_answer,
    say_either,
    say_fact,
    say_json,
    shortened,
    tell_nothing,
    wide,
)

# Implement `rawkomem link cite`, and show the state of citations for `show` and `check --stale`.

STATE_COLORS = {"fresh": "green", STALE: "yellow", GONE: "red", UNKNOWN: "dim"}


@command("cite")
@argument("words", metavar="[ID] PATH[#SYMBOL]...", nargs=-1, required=True, type=Path())
@BY
@JSON
@pass_obj
def cite_command(folder: str, words: tuple[str, ...], by: str, as_json: bool) -> None:
    """Tie a memory to code; it ranks lower when the code changes.

    With one PATH, PATH#SYMBOL or PATH:10-20, the command prints a citation of the code as it is now, for the key
    'cites'. With the ID of a memory before the paths, it appends the citations to that memory.

    Examples:
      rawkomem link cite FILE
      rawkomem link cite ID FILE
    """
    repository = open_repository(folder)
    base = folder or os.getcwd()
    places = [place_from(repository.layout, word, base) for word in words[1:] or words]
    found = [repository.citations.now(place) for place in places]
    for item in found:
        if item.note:
            note(item.note)
    written = (
        repository.citations.add(words[0], places, by or user_name()) if len(words) > 1 else None
    )
    told = fields_of(written.entry, "id", "about", "path") if written else {}
    done = f"{paint('cited', 'green')}  " if written else ""
    say_answer(
        as_json,
        {**told, "citations": [item.citation.text for item in found]},
        (f"{done}{item.citation.text}" for item in found),
    )


def cited_line(item: Cited) -> str:
    """Return a citation and its state as a line."""
    told = f"  {paint(one_line(item.note, 200), 'dim')}" if item.note else ""
    return f"{paint(f'{item.state:7}', STATE_COLORS[item.state])} {one_line(item.citation.text, 200)}{told}"


def cited_json(item: Cited) -> dict[str, str]:
    """Return a citation for JSON."""
    return {"citation": item.citation.text, "state": item.state, "note": item.note}


def tell_stale(cited: Sequence[tuple[Memory, Sequence[Cited]]], as_json: bool) -> int:
    """Print the citations that are not fresh. Return 1 if one is stale or gone, else 0."""
    doubtful = [
        (memory, item)
        for memory, items in cited
        for item in items
        if item.state in (STALE, GONE, UNKNOWN)
    ]
    if as_json:
        say_json([{"id": memory.id, "file": memory.path, "line": memory.line, **cited_json(item)}
                  for memory, item in doubtful])  # fmt: skip
    else:
        for memory, item in doubtful:
            say(f"{printable(memory.path)}:{memory.line}: {cited_line(item)}")
        counts = {
            state: sum(item.state == state for _, item in doubtful)
            for state in (STALE, GONE, UNKNOWN)
        }
        told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        hint = (
            "; correct the memory, or confirm it with 'rawkomem link cite ID PLACE'"
            if counts[STALE] or counts[GONE]
            else ""
        )
        note(f"{sum(len(items) for _, items in cited)} citations, {told or 'all fresh'}{hint}")
    return 1 if any(item.state in (STALE, GONE) for _, item in doubtful) else 0


# Implement `rawkomem list` and `show`.

MIN_WITH_DATE, MIN_WITH_IMPORTANCE = 72, 56  # terminal columns needed to show this part of a line
MIN_TITLE_CHARS = 12
IMPORTANCE_COLORS = {"critical": "red", "high": "yellow", "medium": "cyan", "low": "dim"}


@command("list")
@text_option("--layer", help="Only this layer: project, personal, the name of a source, or all.")
@together(ALL, *FILTERS, JSON)
@pass_layers
def list_command(
    repository: Repository, layer: str, limit: int, as_json: bool, **which: Any
) -> None:
    """List memories, most recently changed first.

    'rawkomem ls' is the same command.

    Examples:
      rawkomem list -n 20
      rawkomem list --tag payments
      rawkomem list --include archived
    """
    layers = repository.layers.named(layer) if layer else repository.layers.all[:1]
    only = filter_of(**which)
    found = shortened(
        as_json, [(one, row) for one in layers for row in one.repository.list(only)], limit
    )
    if as_json:
        used = {one.name: one.repository.lifecycle.accesses() for one in layers}
        say_json([{**as_dict(row), **({"layer": one.name} if one.name else {}), **_times(row),
                   **used_json(used[one.name].get(row.id, Access()))} for one, row in found])  # fmt: skip
        return
    for one, row in found:
        say(_row_line(row, one.name))
    if not found:
        tell_nothing(repository, "no memory matches these filters")


def _row_line(row: Row, layer: str = "") -> str:
    marks = "".join(f" [{label}]" for label in layer_label(layer))
    marks += (
        f"{'' if row.vouched else ' [not verified]'}{' [change proposed]' if row.waiting else ''}"
    )
    id = f"{row.id}{bracketed(row.status)}{marks}"
    columns = wide()
    importance = f"{paint(f'{row.importance:8}', IMPORTANCE_COLORS[row.importance])}  "
    parts = [(f"{day(row.updated)}  ", 12, MIN_WITH_DATE), (importance, 10, MIN_WITH_IMPORTANCE)]
    shown = [(text, width) for text, width, least in parts if columns >= least]
    room = max(MIN_TITLE_CHARS, columns - len(id) - 2 - sum(width for _, width in shown))
    title = one_line(row.title or row.path, room)
    return f"{''.join(text for text, _ in shown)}{title:{room if is_table() else 0}}  {paint(id, 'dim')}"


def _times(of: Row | Memory) -> dict[str, str]:
    return {
        key: iso(getattr(of, key)) for key in ("created", "updated", "valid_from", "valid_until")
    }


@command("show")
@argument("id")
@AS_OF
@JSON
@pass_repository
def show_command(repository: Repository, id: str, as_of: str, as_json: bool) -> None:
    """Show one memory.

    ID is an id, its beginning or end, the name of a file, or words of the title.

    Examples:
      rawkomem show ID
      rawkomem show 'Why apsw'
      rawkomem show ID --json
    """
    memory = repository.get(id, filter_of(as_of=as_of).as_of)
    cited = repository.citations.of(memory)
    access = repository.lifecycle.accesses().get(memory.id, Access())
    trust = repository.beliefs.trust(memory)
    if as_json:
        strength = repository.lifecycle.strength(memory)
        say_json(
            {
                **as_dict(memory),
                **rfc_columns(memory, access.count, access.last),
                "last_accessed": iso(access.last),
                **_times(memory),
                **used_json(access),
                "strength": strength.value,
                "strength_parts": [as_dict(part) for part in strength.parts],
                "trust": trust_json(trust),
                **({"citations": [cited_json(item) for item in cited]} if cited else {}),
            }
        )
        return
    say(paint(one_line(memory.title) or "(draft)", "bold"))
    for name, value in _print_facts(memory, access):
        say_fact(name, value)
    say_fact("trust", f"{trust.value:.2f}  {trust_line(trust)}")
    for item in cited:
        say_fact("cites", cited_line(item))
    say()
    say(memory.body)


def trust_line(trust: Trust) -> str:
    """Return the parts of a trust as a line."""
    vouched = "" if trust.standing.verified else "unverified; "
    return one_line(
        vouched + ", ".join(f"{name} {amount:+.2f} ({why})" for name, amount, why in trust.parts),
        400,
    )


def trust_json(trust: Trust) -> dict[str, Any]:
    """Return a trust for JSON."""
    return {
        "value": round(trust.value, 4),
        "source": trust.source,
        "verified": trust.standing.verified,
        "standing": trust.standing.why,
        "parts": [
            {"name": name, "amount": round(amount, 4), "why": why}
            for name, amount, why in trust.parts
        ],
    }


def _print_facts(memory: Memory, access: Access) -> list[tuple[str, str]]:
    votes = (
        f"{memory.helpful} helpful, {memory.harmful} harmful"
        if memory.helpful or memory.harmful
        else ""
    )
    window = " until ".join(
        part for part in (iso(memory.valid_from), iso(memory.valid_until)) if part
    )
    facts = {
        "id": memory.id,
        "kind": memory.kind if memory.kind != "memory" else "",
        "status": memory.status + (f" ({memory.reason})" if memory.reason else ""),
        "valid": window if memory.valid_from or not window else f"until {window}",
        "claims": claim_line(memory),
        "importance": memory.importance,
        "whenToUse": "; ".join(memory.when),
        "tags": ", ".join(memory.tags),
        "found": " ".join(
            part for part in (iso(memory.created), f"by {memory.by}" if memory.by else "") if part
        ),
        "happened": str(extra_value(memory.extra, EVENT_TIME)),
        "in": memory.found_in,
        "source": memory.source,
        "related": ", ".join(memory.related),
        "changed": iso(memory.updated) if memory.updated != memory.created else "",
        "feedback": votes,
        "proposed": f"{counted(memory.waiting, 'change')}: 'rawkomem review {memory.id}' shows them"
        if memory.waiting
        else "",
        "used": f"{counted(access.count, 'time')}, last {iso(access.last)}" if access.count else "",
        "file": f"{memory.path}:{memory.line}",
    }
    return [(name, one_line(value, 400)) for name, value in facts.items() if value]


def claim_line(memory: Memory) -> str:
    """Return the claim of a memory as a line; empty if it has none."""
    claim = claim_of(memory)
    return f"{claim.subject} {claim.predicate} = {claim.value}" if claim else ""


# Implement `rawkomem link entities`: list the entities that memories name.


@command("entities")
@argument("name", required=False, default="")
@ALL
@JSON
@pass_repository
def entities_command(repository: Repository, name: str, limit: int, as_json: bool) -> int:
    """List the people, projects and features that memories name.

    Write an entity as 'kind:slug' in a text, in tags or under 'entities' in the frontmatter. Kinds are project,
    agent, feature, person, business and chore. Paths such as packages/mail/ also name entities. With NAME, the
    command lists the entities that match and their memories; the exit code is 1 if none or several match.

    Examples:
      rawkomem link entities
      rawkomem link entities --json
    """
    known = repository.graph.entities()
    meant = resolve_entity(name, known) if name else None
    shown = {
        entity: ids
        for entity, ids in known.items()
        if meant is None or entity in meant.slugs + meant.candidates
    }
    shown = dict(shortened(as_json, [*shown.items()], limit))
    say_answer(
        as_json,
        [{"entity": entity, "count": len(ids), "ids": ids} for entity, ids in shown.items()],
        (
            f"{len(ids):5}  {entity}" + (f"  {paint(' '.join(ids), 'dim')}" if name else "")
            for entity, ids in shown.items()
        ),
    )
    if meant is not None and meant.message:
        note(meant.message + (": name one of them" if meant.candidates else ""))
    elif not known:
        note("no memory names an entity yet: write 'project:name' or 'person:name' into a text")
    return 0 if meant is None or not meant.message else 1


# Implement `rawkomem tidy toc`: write the page that links to every memory.


@command("toc")
@option("--out", "-o", type=Path(), default="", help="Write this file instead.")
@JSON
@pass_repository
def toc_command(repository: Repository, out: str, as_json: bool) -> None:
    """Write .rawko/MEMORY.md, a page that links to every memory.

    Read the page in an editor or on a site such as GitHub. Its order is stable, and it has no dates or counts, so it
    changes only when memories change. With 'contents: on' in .rawko/config.yaml, every write updates it. A page that
    rawkomem did not write is never replaced.

    Examples:
      rawkomem tidy toc
    """
    file, changed = repository.exchange.write_contents(out)
    said = f"{paint('written', 'green') if changed else 'unchanged'}  {os.path.relpath(file)}"
    say_either(as_json, {"file": os.path.relpath(file), "changed": changed}, said)
