"""Implement `rawkomem connect git`: set up the merge driver, ignored files, and a hook that checks commits."""

from __future__ import annotations

import os
import shutil
import sys

import click

from ....files.layout import find_layout
from ....git.connect import Connection, Wanted, carry_out, plan_connect, plan_remove
from ....hosts.connect.ours import NAMES
from ..keeping.check_staged import NAMES as CHECKS
from ..options import DRY_RUN, JSON
from ..terminal import note, paint, say, say_json


@click.command("git")
@DRY_RUN
@click.option("--remove", is_flag=True, help="Disconnect: restore the files byte by byte.")
@click.option(
    "--without", multiple=True, type=click.Choice(CHECKS), help="Leave this check out of the hook; may be repeated."
)
@click.option("--post-merge", is_flag=True, help="Also update the index after each merge.")
@JSON
@click.pass_obj
def connect_git(
    folder: str, /, dry_run: bool, remove: bool, without: tuple[str, ...], post_merge: bool, as_json: bool
) -> None:
    """Merge memories with git entry by entry, and check them before each commit.

    The command sets the merge driver of this clone, adds missing lines to .rawko/.gitattributes and .gitignore, and
    adds hooks that check commits and merges. If pre-commit, lefthook or husky manages your hooks, it prints the lines
    to add there. A second run changes nothing.
    """
    layout = find_layout(folder)
    connection = plan_remove(layout) if remove else plan_connect(layout, Wanted(program(), without, post_merge))
    if not dry_run:
        carry_out(connection)
    if as_json:
        say_json(_as_json(connection))
    else:
        _tell(connection, dry_run)


def program() -> list[str]:
    """Return the command with which git calls this program; it depends neither on PATH nor on the work tree (-P)."""
    started = shutil.which(sys.argv[0]) or ""
    if os.path.splitext(os.path.basename(started))[0] in NAMES:
        return [os.path.abspath(started)]
    return [sys.executable, "-P", "-m", "rawkomem"]


def _tell(connection: Connection, dry_run: bool) -> None:
    for file in connection.files:
        sign = "remove" if file.after is None else "write " if file.before is None else "change"
        say(f"{paint(sign, 'green')}  {os.path.relpath(file.path)}  {paint(file.why, 'dim')}")
    for setting in connection.settings:
        value = "(unset)" if setting.after is None else setting.after
        say(f"{paint('config', 'green')}  {setting.key} = {value}  {paint(setting.why, 'dim')}")
    for text in connection.advice:
        say(f"{paint('to do ', 'yellow')}  {text}")
    if not connection.files and not connection.settings:
        note("nothing to change")
    elif dry_run:
        note("nothing was changed (--dry-run)")


def _as_json(connection: Connection) -> dict[str, object]:
    files = [{"file": file.path, "removed": file.after is None, "why": file.why} for file in connection.files]
    settings = [{"key": item.key, "value": item.after, "why": item.why} for item in connection.settings]
    return {"files": files, "settings": settings, "to_do": list(connection.advice)}
