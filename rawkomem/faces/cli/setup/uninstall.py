"""Implement `rawkomem uninstall`: remove what rawkomem wrote, except memories."""

from __future__ import annotations

import os

import click

from ....files.layout import find_layout
from ....files.uninstall import plan_uninstall, uninstall
from ....hosts.connect.settings import files_to_remove
from ..options import DRY_RUN, YES
from ..terminal import note, paint, say


@click.command("uninstall")
@DRY_RUN
@YES
@click.pass_obj
def uninstall_command(folder: str, /, dry_run: bool, yes: bool) -> None:
    """Remove everything that rawkomem wrote, except your memories.

    In this project it removes the index, the usage counts and the ledger in .rawko/local, files of 'init' that you
    never changed, and a generated MEMORY.md. On this machine it removes the caches. Your memories and your own
    settings stay. It lists files of other programs that still name rawkomem; 'rawkomem connect HOST --remove'
    cleans them.
    """
    layout = find_layout(folder)
    leaving = plan_uninstall(layout, files_to_remove(layout.project))
    for path, what in leaving.gone:
        say(f"{paint('remove', 'red')}   {_shown(path)}  {paint(what, 'dim')}")
    for path, what in leaving.stays:
        say(f"{paint('stays', 'green')}    {_shown(path)}  {paint(what, 'dim')}")
    for path in leaving.mentions:
        say(f"{paint('mentions', 'yellow')} {_shown(path)}  {paint('still names rawkomem', 'dim')}")
    if dry_run:
        note("nothing was removed (--dry-run)")
        return
    if not yes:
        click.confirm("Remove these files for good? Usage counts and the ledger have no other copy", abort=True)
    uninstall(leaving)
    if leaving.mentions:
        note("clean files that mention rawkomem with 'rawkomem connect HOST --remove' before you remove the program")
    note("done; 'pip uninstall rawkomem' removes the program")


def _shown(path: str) -> str:
    short = os.path.relpath(path)
    return path if short.startswith("..") else short
