"""Implement `rawkomem tidy retention`: archive and compress old traces, and restore them."""

from __future__ import annotations

import os

import click

from ....files.bundle import BUNDLE_SUFFIX
from ....git.user import user_name
from ....repository import Repository
from ....repository.wings.retention import Retained
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..opening import open_repository
from ..options import DRY_RUN, JSON
from ..terminal import note, paint, say, say_json
from .plans import APPLY, refuse_both


@click.group("retention", invoke_without_command=True)
@APPLY
@DRY_RUN
@JSON
@click.pass_context
def retention_command(ctx: click.Context, /, apply: bool, dry_run: bool, as_json: bool) -> None:
    """Propose to archive old traces and to compress old archives.

    The command prints a plan; --apply carries it out. It first writes missing learnings. Traces that are the source of
    a learning move to the archive 24 hours after their last change. Each month of the archive is compressed after a
    year. No trace is changed or deleted. 'rawkomem tidy retention restore' undoes both steps.
    """
    if ctx.invoked_subcommand:
        return
    refuse_both(apply, dry_run)
    repository = open_repository(ctx.obj)
    _tell(repository.retention.run(not apply, user_name()), as_json)


def _tell(done: Retained, as_json: bool) -> None:
    if as_json:
        entries = [{"kind": entry.kind, "id": entry.target, "title": entry.title} for entry in done.plan.entries]
        moves = [{"from": move.source, "to": move.target, "why": move.why} for move in done.moves]
        say_json({"dry_run": not done.written, "entries": entries, "moves": moves, "packed": list(done.packed)})
        return
    for entry in done.plan.entries:
        say(f"{paint('+', 'green')} {entry.kind:9} {one_line(entry.title or entry.target, 100)}")
    for move in done.moves:
        say(f"{paint('>', 'cyan')} {move.source} → {os.path.dirname(move.target)}/  {paint(move.why, 'dim')}")
    for folder in done.packed:
        say(f"{paint('>', 'cyan')} {folder}/ → {folder}.…{BUNDLE_SUFFIX}")
    if not (done.plan.entries or done.moves or done.packed):
        note("nothing to do")
    elif not done.written:
        note("nothing was written or moved; --apply carries out the plan")


@retention_command.command("list")
@JSON
@pass_repository
def retention_list(repository: Repository, as_json: bool) -> None:
    """List the months in the archive."""
    found = repository.retention.archived()
    if as_json:
        say_json(found, versioned=False)
        return
    for name, files in found.items():
        say(f"{name}  {paint(count(files, 'file') if files else 'compressed', 'dim')}")
    if not found:
        note("the archive is empty")


@retention_command.command("restore")
@click.argument("what", nargs=-1, required=True)
@JSON
@pass_repository
def retention_restore(repository: Repository, what: tuple[str, ...], as_json: bool) -> None:
    """Restore archived traces.

    WHAT is a month (2025-03) or the id of a trace. A compressed month is decompressed; an archived month moves back
    to the traces. A trace moves back to its folder, even from a compressed month.
    """
    moves, unpacked = repository.retention.restore(what)
    if as_json:
        say_json({"moves": [{"from": m.source, "to": m.target} for m in moves], "unpacked": unpacked})
        return
    for month in unpacked:
        say(f"{paint('unpacked', 'green')}  {month}/")
    for move in moves:
        say(f"{paint('restored', 'green')}  {move.target}")
