"""Implement `rawkomem project`: exchange memories with projects of LLMos."""

from __future__ import annotations

import click

from ....repository import Repository
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..groups import Verbs
from ..options import DRY_RUN, JSON
from ..terminal import note, paint, say, say_json
from .exchange import DELETED_HERE


@click.group("project", cls=Verbs)
def project_command() -> None:
    """Exchange memories with LLMos projects."""


@project_command.command("import")
@click.argument("source", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@DRY_RUN
@JSON
@pass_repository
def project_import(repository: Repository, source: str, dry_run: bool, as_json: bool) -> None:
    """Import the memory folders of LLMos projects.

    DIR is a folder with projects/*/memory, or the memory folder of one project. The command imports traces, the
    experience log, context.md, and the sections of learnings.md, patterns.md and decisions.md. Caches and tool
    outputs go to the archive. A second import adds nothing.
    """
    done = repository.exchange.import_llmos(source, dry_run)
    repository.core.follow()
    if as_json:
        told = [{"kind": entry.kind, "id": entry.id, "title": entry.title} for entry in done.entries]
        skipped = [{"place": place, "why": why} for place, why in done.skipped]
        counts = {"known": done.known, "deleted": [*done.deleted]}
        say_json({"dry_run": dry_run, "entries": told, **counts, "skipped": skipped})
        return
    for entry in done.entries:
        say(f"{paint('+', 'green')} {entry.kind:10} {one_line(entry.title, 100)}  {paint(entry.id, 'dim')}")
    for place, why in done.skipped:
        say(f"{paint('skipped', 'dim')}  {one_line(place, 80)}: {one_line(why, 100)}")
    stored = f"{len(done.entries)} {'would be stored' if dry_run else 'stored'}"
    note(f"{len(done.entries) + done.known} read, {stored}, {done.known} known, {len(done.skipped)} skipped")
    for id in done.deleted:
        say(f"{paint('known', 'dim')}  {id} (deleted here)")
    if done.deleted:
        note(DELETED_HERE.format(len(done.deleted)))


@project_command.command("export")
@click.argument("target", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--name", default="", help="The name of the project. Default: the name of this folder.")
@JSON
@pass_repository
def project_export(repository: Repository, target: str, name: str, as_json: bool) -> None:
    """Write traces, learnings, decisions and the log as an LLMos project.

    Memories that came from LLMos are written unchanged. The command appends to existing files and never replaces
    them. A second export adds nothing.
    """
    written = repository.exchange.export_llmos(target, name)
    if as_json:
        say_json(sorted(set(written)))
        return
    for file in dict.fromkeys(written):
        say(f"{paint('written', 'green')}  {file}")
    note(f"{count(len(written), 'memory')} exported")
