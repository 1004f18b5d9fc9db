"""Implement `rawkomem entities`: list the entities that memories name."""

from __future__ import annotations

import click

from ....repository import Repository
from ....text.entities import resolve_entity
from ..commands import pass_repository
from ..options import ALL, JSON
from ..terminal import note, paint, say, say_json, shortened


@click.command("entities")
@click.argument("name", required=False, default="")
@ALL
@JSON
@pass_repository
def entities_command(repository: Repository, name: str, limit: int, as_json: bool) -> int:
    """List the people, projects and features that memories name.

    Write an entity as 'kind:slug' in a text, in tags or under 'entities' in the frontmatter. Kinds are project,
    agent, feature, person, business and chore. Paths such as packages/mail/ also name entities. With NAME, the
    command lists the entities that match and their memories; the exit code is 1 if none or several match.
    """
    known = repository.graph.entities()
    meant = resolve_entity(name, known) if name else None
    shown = {entity: ids for entity, ids in known.items() if meant is None or entity in meant.slugs + meant.candidates}
    shown = dict(shortened(as_json, [*shown.items()], limit))
    if as_json:
        say_json([{"entity": entity, "count": len(ids), "ids": ids} for entity, ids in shown.items()])
    for entity, ids in {} if as_json else shown.items():
        say(f"{len(ids):5}  {entity}" + (f"  {paint(' '.join(ids), 'dim')}" if name else ""))
    if meant is not None and meant.message:
        note(meant.message + (": name one of them" if meant.candidates else ""))
    elif not known:
        note("no memory names an entity yet: write 'project:name' or 'person:name' into a text")
    return 0 if meant is None or not meant.message else 1
