"""Implement `rawkomem connect`: connect coding agents and git to the memories, and disconnect them."""

from __future__ import annotations

import difflib
import os
import shutil
from importlib.util import find_spec

import click

from ....files.layout import find_layout
from ....hosts.connect.plan import (
    Change,
    carry_out,
    has_our_server,
    is_connected,
    plan_connect,
    plan_remove,
    plugin_folder,
)
from ....hosts.connect.settings import connectable, servers_file
from ....hosts.records import HOSTS
from ....model.errors import RawkoError
from ....model.installed import how_to_add, how_to_reach
from ..groups import Verbs
from ..options import DRY_RUN, JSON
from ..overview import connected_hosts
from ..terminal import note, paint, say, say_json, say_rows
from .connect_git import connect_git


@click.group("connect", cls=Verbs, bare="list")
def connect_command() -> None:
    """Connect coding agents and git to the memories.

    Connecting an agent adds hooks to its settings file; everything else in that file stays as it is. --remove restores
    the file byte by byte. See 'rawkomem docs hosts' and 'rawkomem docs git'.
    """


@connect_command.command("list")
@JSON
@click.pass_obj
def list_command(folder: str, /, as_json: bool) -> None:
    """List coding agents and whether they are connected."""
    hosts = connected_hosts(find_layout(folder).project)
    rows = [(name, name in hosts, HOSTS[name].about) for name in connectable()]
    say_rows(
        as_json,
        rows,
        lambda row: dict(zip(("host", "connected", "about"), row, strict=True)),
        lambda row: f"{paint('connected', 'green') if row[1] else '-':10} {row[0]:9} {paint(row[2], 'dim')}",
    )


def host_command(name: str) -> click.Command:
    """Return the command that connects one agent host."""
    host = HOSTS[name]
    help = host.about

    @click.command(name, help=help, short_help=help)
    @DRY_RUN
    @click.option("--remove", is_flag=True, help="Disconnect: restore the file byte by byte.")
    @click.option("--user", is_flag=True, help="Change your own settings, for all your projects.")
    @click.option("--mcp", is_flag=True, help="Also set up the MCP server.", hidden=not (host.mcp and host.has_hooks))
    @JSON
    @click.pass_obj
    def command(folder: str, /, dry_run: bool, remove: bool, user: bool, mcp: bool, as_json: bool) -> None:
        project = "" if user else find_layout(folder).project
        plan = plan_remove(name, project) if remove else plan_connect(name, project, mcp)
        changes = [change for change in plan if not change.is_none]
        if not dry_run:
            carry_out(changes, project)
        if as_json:
            told = [{"path": change.path, "what": _what(change).strip()} for change in changes]
            say_json({"host": name, "dry_run": dry_run, "changes": told})
        else:
            _tell(changes, dry_run)
        kept = [change for change in plan if change.kept]
        for change in kept:
            note(f"{os.path.relpath(change.path)} stays as it is: {change.kept}")
        if not changes and not kept and not as_json:
            note(f"{name} is not connected" if remove else f"{name} is already connected")
        if not remove:
            _warn(name, project, user)
            if not dry_run and not as_json:
                _tell_next(name, project)

    if host.marketplace:
        shown = "Print the folder that '/plugin marketplace add' takes; write nothing."
        command.params.append(
            click.Option(
                ["--plugin"], is_flag=True, is_eager=True, expose_value=False, callback=_tell_plugin, help=shown
            )
        )
    return command


def _tell_plugin(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        say(plugin_folder(str(context.info_name)))
        context.exit()


connect_command.add_command(connect_git)
for _name in connectable():
    connect_command.add_command(host_command(_name))


def _tell_next(name: str, project: str) -> None:
    """Print the next step, and how to add the MCP server if the host supports it besides hooks."""
    host = HOSTS[name]
    if host.has_hooks and servers_file(name, project) and not has_our_server(name, project):
        command = f"rawkomem connect {name}" + ("" if project else " --user")
        note(f"optional: '{command} --mcp' gives the agent tools to search")
    note(f'next: {host.first_step}, and ask: "What does this project\'s memory say?"')


def _tell(changes: list[Change], dry_run: bool) -> None:
    for change in changes:
        say(f"{paint(_what(change), 'green')}  {os.path.relpath(change.path)}")
        if dry_run:
            say("".join(_difference(change)).rstrip("\n"))
    if changes and dry_run:
        note("nothing was written")


def _what(change: Change) -> str:
    return "new    " if change.before is None else "removed" if change.after is None else "changed"


def _difference(change: Change) -> list[str]:
    before, after = _lines(change.before), _lines(change.after)
    return [line if line.endswith("\n") else line + "\n" for line in difflib.unified_diff(before, after, n=1)][2:]


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(True)


def _warn(name: str, project: str, user: bool) -> None:
    """Print a warning if the hooks cannot work or would run twice."""
    if not shutil.which("rawkomem"):
        note(f"'rawkomem' is not on your PATH, where hosts look for it: {how_to_reach()}")
    if has_our_server(name, project) and not find_spec("mcp"):
        note(f"the MCP server needs a package that is not installed; run: {how_to_add('mcp')}")
    try:
        if not user and is_connected(name, ""):
            note(f"{name} is also connected in your own settings: one connection is enough")
    except RawkoError:
        pass  # unreadable user settings do not matter here
