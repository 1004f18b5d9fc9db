"""Implement `rawkomem tidy gather`: move changes from .rawko/changes into the files of their memories."""

from __future__ import annotations

import click

from ....model.record import as_dict
from ....repository import Repository
from ....text.count import count
from ..commands import pass_repository
from ..options import DRY_RUN, JSON
from ..terminal import note, paint, say, say_json


@click.command("gather")
@DRY_RUN
@JSON
@pass_repository
def gather_command(repository: Repository, dry_run: bool, as_json: bool) -> None:
    """Move committed changes into the files of their memories.

    A change of a memory that git tracks is stored as a file in .rawko/changes, so that branches merge without
    conflicts. Run this command on one branch from time to time and commit the result. Changes that are not committed
    stay where they are.
    """
    done = repository.gathering.run(dry_run)
    if as_json:
        moved = [{"id": entry.id, "kind": entry.kind, "about": entry.about, "to": entry.path} for entry in done.entries]
        left = [as_dict(one) for one in done.left]
        say_json({"dry_run": not done.written, "moved": moved, "removed": list(done.removed), "left": left})
        return
    for entry in done.entries:
        say(f"{paint('>', 'cyan')} {entry.kind:9} {entry.id} → {entry.path}")
    for one in done.left:
        note(f"{one.path} was not moved: {one.why}")
    if not done.entries:
        note("nothing to gather")
    elif done.written:
        note(f"{count(len(done.removed), 'file')} gathered: commit the result")
    else:
        note("nothing was written or moved")
