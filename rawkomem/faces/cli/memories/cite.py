"""Implement `rawkomem cite`, and show the state of citations for `show` and `check --stale`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ....files.check import printable
from ....git.citations import GONE, STALE, UNKNOWN, Cited, place_from
from ....git.user import user_name
from ....model.entry import Memory
from ....text.clean import one_line
from ..opening import open_repository
from ..options import BY, JSON
from ..terminal import note, paint, say, say_json

STATE_COLORS = {"fresh": "green", STALE: "yellow", GONE: "red", UNKNOWN: "dim"}


@click.command("cite")
@click.argument("words", metavar="[ID] PATH[#SYMBOL]...", nargs=-1, required=True)
@BY
@JSON
@click.pass_obj
def cite_command(folder: str, words: tuple[str, ...], by: str, as_json: bool) -> None:
    """Tie a memory to code; it ranks lower when the code changes.

    With one PATH, PATH#SYMBOL or PATH:10-20, the command prints a citation of the code as it is now, for the key
    'cites'. With the ID of a memory before the paths, it appends the citations to that memory.
    """
    repository = open_repository(folder)
    base = folder or os.getcwd()
    places = [place_from(repository.layout, word, base) for word in words[1:] or words]
    found = [repository.citations.now(place) for place in places]
    for item in found:
        if item.note:
            note(item.note)
    written = repository.citations.add(words[0], places, by or user_name()) if len(words) > 1 else None
    if as_json:
        told = {"id": written.entry.id, "about": written.entry.about, "path": written.entry.path} if written else {}
        say_json({**told, "citations": [item.citation.text for item in found]})
        return
    for item in found:
        say(f"{paint('cited', 'green')}  {item.citation.text}" if written else item.citation.text)


def cited_line(item: Cited) -> str:
    """Return a citation and its state as a line."""
    told = f"  {paint(one_line(item.note, 200), 'dim')}" if item.note else ""
    return f"{paint(f'{item.state:7}', STATE_COLORS[item.state])} {one_line(item.citation.text, 200)}{told}"


def cited_json(item: Cited) -> dict[str, str]:
    """Return a citation for JSON."""
    return {"citation": item.citation.text, "state": item.state, "note": item.note}


def tell_stale(cited: Sequence[tuple[Memory, Sequence[Cited]]], as_json: bool) -> int:
    """Print the citations that are not fresh. Return 1 if one is stale or gone, else 0."""
    doubtful = [(memory, item) for memory, items in cited for item in items if item.state in (STALE, GONE, UNKNOWN)]
    if as_json:
        say_json([{"id": memory.id, "file": memory.path, "line": memory.line, **cited_json(item)}
                  for memory, item in doubtful])  # fmt: skip
    else:
        for memory, item in doubtful:
            say(f"{printable(memory.path)}:{memory.line}: {cited_line(item)}")
        counts = {state: sum(item.state == state for _, item in doubtful) for state in (STALE, GONE, UNKNOWN)}
        told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        hint = (
            "; correct the memory, or confirm it with 'rawkomem cite ID PLACE'" if counts[STALE] or counts[GONE] else ""
        )
        note(f"{sum(len(items) for _, items in cited)} citations, {told or 'all fresh'}{hint}")
    return 1 if any(item.state in (STALE, GONE) for _, item in doubtful) else 0
