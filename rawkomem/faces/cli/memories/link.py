"""Implement `rawkomem link add` and `remove`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ....files.append import Written
from ....git.user import user_name
from ....repository import Repository
from ..commands import pass_repository
from ..groups import Verbs
from ..options import JSON
from ..terminal import paint, say, say_json
from .graph import clusters_command, graph_command, list_command, orphans_command, path_command, walk_command


@click.group("link", cls=Verbs, default="add")
def link_command() -> None:
    """Link memories and show how they are connected.

    'rawkomem link ID OTHER' is short for 'rawkomem link add ID OTHER'. See 'rawkomem docs graph'.
    """


@link_command.command("add")
@click.argument("id")
@click.argument("other")
@click.option(
    "--type",
    "type",
    default="related",
    show_default=True,
    help="The relation of the first to the second memory: causes, …",
)
@JSON
@pass_repository
def add_command(repository: Repository, id: str, other: str, type: str, as_json: bool) -> None:
    """Link two memories.

    The link is stored with the first memory. Other commands follow links in both directions and show the direction.
    """
    _report(repository, repository.graph.link(id, other, type, user_name()), "linked", as_json)


@link_command.command("remove")
@click.argument("id")
@click.argument("other")
@click.option("--type", "type", default="", help="Only links of this type.")
@JSON
@pass_repository
def remove_command(repository: Repository, id: str, other: str, type: str, as_json: bool) -> None:
    """Remove the links between two memories.

    The command removes links in both directions by appending an entry. It does not change relatedMemories or
    [[names]] in a text: use 'rawkomem amend' for these.
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


for _command in (list_command, walk_command, path_command, clusters_command, orphans_command, graph_command):
    link_command.add_command(_command)
