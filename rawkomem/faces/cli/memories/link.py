"""Implement `rawkomem link` and `unlink`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ....files.append import Written
from ....git.user import user_name
from ....repository import Repository
from ..commands import pass_repository
from ..options import JSON
from ..terminal import paint, say, say_json


@click.command("link")
@click.argument("id")
@click.argument("other")
@click.option("--type", "type", default="related", show_default=True, help="What the first is to the other: causes, …")
@JSON
@pass_repository
def link_command(repository: Repository, id: str, other: str, type: str, as_json: bool) -> None:
    """Link two memories.

    Appends an entry to the file of the first. Links are walked both ways; the direction is shown.
    """
    _report(repository, repository.graph.link(id, other, type, user_name()), "linked", as_json)


@click.command("unlink")
@click.argument("id")
@click.argument("other")
@click.option("--type", "type", default="", help="Only links of this type.")
@JSON
@pass_repository
def unlink_command(repository: Repository, id: str, other: str, type: str, as_json: bool) -> None:
    """Take back the links between two memories.

    In both directions, by appending. What relatedMemories or a [[name]] in the text says is changed with 'amend'.
    """
    _report(repository, repository.graph.unlink(id, other, type, user_name()), "unlinked", as_json)


def _report(repository: Repository, written: Sequence[Written], done: str, as_json: bool) -> None:
    repository.core.follow()
    links = [(entry.about, str(entry.extra.get("type", "related")), entry.extra["to"], entry.path)
             for entry in (item.entry for item in written)]  # fmt: skip
    if as_json:
        say_json([{"id": id, "type": type, "to": to, "path": path} for id, type, to, path in links])
        return
    for id, type, to, path in links:
        say(f"{paint(done, 'green')}  {id} → {to}  {type}  {paint(path, 'dim')}")
