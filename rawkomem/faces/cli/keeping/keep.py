"""Implement `rawkomem status` and `rebuild`: compare the index with the files, and rebuild it."""

from __future__ import annotations

import click

from ....files.local.unsaved import unsaved_texts
from ....index.status import Status
from ....model.record import as_dict
from ....repository import Repository
from ....text.count import count
from ..commands import pass_layers, pass_repository
from ..options import JSON
from ..terminal import note, paint, say, say_json
from .sync import tell, with_bar


@click.command("status")
@JSON
@pass_layers
def status_command(repository: Repository, as_json: bool) -> int:
    """Check that the search index matches the files.

    The command hashes every file. The exit code is 1 if the index differs from the files.
    """
    status = repository.store.status()
    layers = repository.layers.standings()
    drafts = len(repository.drafts.all())
    unsaved = unsaved_texts(repository.layout)
    if as_json:
        problems = [f"{problem.path}: {problem.message}" for problem in status.problems]
        told = {"layers": [as_dict(layer) for layer in layers]} if layers else {}
        say_json(
            {
                **as_dict(status),
                "problems": problems,
                "fresh": status.fresh,
                "drafts": drafts,
                "unsaved": unsaved,
                **told,
            }
        )
    else:
        _print_status(status)
        if drafts:
            say(f"drafts      {paint(count(drafts, 'draft'), 'yellow')} on this machine: 'rawkomem drafts' shows them")
        for path in unsaved:
            say(f"unsaved     text not stored yet: {path}")
        for layer in layers:
            say(f"layer       {layer.told}")
    return 0 if status.fresh else 1


def _print_status(status: Status) -> None:
    memories = ", ".join(f"{count} {name}" for name, count in status.memories.items()) or "none"
    fresh = paint("yes", "green") if status.fresh else paint("NO", "red")
    say(f"repository  {status.root}")
    say(f"files       {status.files} ({status.quarantined} not usable)  hash {status.files_hash}")
    say(f"index       {count(status.indexed, 'file')}, {count(status.entries, 'entry')}  hash {status.index_hash}")
    say(f"memories    {memories}")
    if status.conflicts:
        say(f"conflicts   {paint(str(status.conflicts), 'yellow')} pending: 'rawkomem conflicts' shows them")
    if status.proposals:
        changed = paint(count(status.proposals, "memory"), "yellow")
        say(f"proposed    {changed} with proposed changes: 'rawkomem review' shows them")
    say(f"fresh       {fresh}")
    say(f"made with   {status.fingerprint}")
    say(f"meaning     {status.tier}; contextual vectors: {_progress(status)}")
    say(f"index file  {status.index} ({status.bytes / 1e6:.1f} MB)")
    for path in status.stale:
        note(f"{path} cannot be read: the index keeps its earlier content")
    for problem in status.problems:
        note(f"{problem.path}: {problem.message} ({problem.hint})")


def _progress(status: Status) -> str:
    """Return how many contextual vectors exist, and about how long the rest takes."""
    said = f"{status.deep:,} of {status.documents:,}"
    if status.deep_seconds_left:
        minutes = -(-status.deep_seconds_left // 60)
        said += f", about {count(minutes, 'minute')}"
    return f"{said}, waiting: {status.deep_waits}" if status.deep_waits else said


@click.command("rebuild")
@JSON
@pass_repository
def rebuild_command(repository: Repository, as_json: bool) -> None:
    """Rebuild the index from the files.

    A missing, corrupt or outdated index is rebuilt automatically.
    """
    tell(with_bar(repository.store.rebuild, "indexing"), as_json)
