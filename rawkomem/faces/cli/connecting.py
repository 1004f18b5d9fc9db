"""Implement `rawkomem connect` and `uninstall`: connect coding agents and git, and remove what
rawkomem wrote.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from importlib.util import find_spec

import click
from click import Choice, Command, Context, Option, Parameter, confirm, group, option, pass_obj

from ...files.installation import plan_uninstall, uninstall
from ...files.layout import Layout, find_layout
from ...git.connection import Connection, FileChange, Wanted, plan_git_removal
from ...git.connection import carry_out_connection as carry_out_git
from ...git.connection import plan_git_connection as plan_git
from ...hosts.connect import (
    Change,
    carry_out,
    connectable,
    files_to_remove,
    has_our_server,
    is_connected,
    plan_connect,
    plan_remove,
    plan_remove_all,
    plugin_folder,
    servers_file,
)
from ...hosts.known_hosts import HOSTS
from ...hosts.our_entries import PROGRAM_NAMES
from ...model.errors import NotFound, RawkoError
from ...model.installed import how_to_add, how_to_reach
from .checks import CHECK_NAMES
from .declarations import Verbs, flag
from .options import DRY_RUN, JSON, YES
from .overview import connected_hosts
from .terminal import (
    done_line,
    note,
    paint,
    say,
    say_json,
    say_rows,
)

# Implement `rawkomem connect git`: set up the merge driver, ignored files, and a hook that checks
# commits.


@click.command("git")
@DRY_RUN
@flag("--remove", help="Disconnect: restore the files byte by byte.")
@option(
    "--without",
    multiple=True,
    type=Choice(CHECK_NAMES),
    help="Leave this check out of the hook; may be repeated.",
)
@flag("--post-merge", help="Also update the index after each merge.")
@JSON
@pass_obj
def connect_git(
    folder: str,
    /,
    dry_run: bool,
    remove: bool,
    without: tuple[str, ...],
    post_merge: bool,
    as_json: bool,
) -> None:
    """Merge memories with git entry by entry, and check them before each commit.

    The command sets the merge driver of this clone, adds missing lines to .rawko/.gitattributes and .gitignore, and
    adds hooks that check commits and merges. If pre-commit, lefthook or husky manages your hooks, it prints the lines
    to add there. A second run changes nothing.

    Examples:
      rawkomem connect git --dry-run
      rawkomem connect git
    """
    layout = find_layout(folder)
    connection = (
        plan_git_removal(layout)
        if remove
        else plan_git(layout, Wanted(git_program(), without, post_merge))
    )
    if not dry_run:
        carry_out_git(connection)
    if as_json:
        say_json(
            {
                "files": [
                    {"file": file.path, "removed": file.after is None, "why": file.why}
                    for file in connection.files
                ],
                "settings": [
                    {"key": item.key, "value": item.after, "why": item.why}
                    for item in connection.settings
                ],
                "to_do": list(connection.advice),
            }
        )
    else:
        _tell_git(connection, dry_run)


def git_program() -> list[str]:
    """Return the command with which git calls this program; it depends neither on PATH nor on the work tree (-P)."""
    started = shutil.which(sys.argv[0]) or ""
    if os.path.splitext(os.path.basename(started))[0] in PROGRAM_NAMES:
        return [os.path.abspath(started)]
    return [sys.executable, "-P", "-m", "rawkomem"]


def _tell_git(connection: Connection, dry_run: bool) -> None:
    for file in connection.files:
        sign = "remove" if file.after is None else "write " if file.before is None else "change"
        say(done_line(sign, os.path.relpath(file.path), file.why))
    for setting in connection.settings:
        value = "(unset)" if setting.after is None else setting.after
        say(done_line("config", f"{setting.key} = {value}", setting.why))
    for text in connection.advice:
        say(f"{paint('to do ', 'yellow')}  {text}")
    if not connection.files and not connection.settings:
        note("nothing to change")
    elif dry_run:
        note("nothing was changed (--dry-run)")


# Implement `rawkomem connect`: connect coding agents and git to the memories, and disconnect them.


@group("connect", cls=Verbs, bare="list")
def connect_command() -> None:
    """Connect coding agents and git to the memories.

    Connecting an agent adds hooks to its settings file; all other settings stay. --remove takes the hooks out
    again. See 'rawkomem docs hosts' and 'rawkomem docs git'.

    Examples:
      rawkomem connect claude --dry-run
      rawkomem connect git
      rawkomem connect claude --remove
    """


@connect_command.command("list")
@JSON
@pass_obj
def connect_list(folder: str, /, as_json: bool) -> None:
    """List coding agents and whether they are connected.

    Examples:
      rawkomem connect list
    """
    hosts = connected_hosts(find_layout(folder).project)
    rows = [(name, name in hosts, HOSTS[name].about) for name in connectable()]
    say_rows(
        as_json,
        rows,
        lambda row: dict(zip(("host", "connected", "about"), row, strict=True)),
        lambda row: (
            f"{paint('connected', 'green') if row[1] else '-':10} {row[0]:9} {paint(row[2], 'dim')}"
        ),
    )


def host_command(name: str) -> Command:
    """Return the command that connects one agent host."""
    host = HOSTS[name]
    help = host.about

    @click.command(name, help=help, short_help=help)
    @DRY_RUN
    @flag("--remove", help="Disconnect: remove our entries.")
    @flag("--user", help="Change your own settings, for all your projects.")
    @option(
        "--mcp",
        is_flag=True,
        help="Also set up the MCP server.",
        hidden=not (host.mcp and host.has_hooks),
    )
    @JSON
    @pass_obj
    def command(
        folder: str, /, dry_run: bool, remove: bool, user: bool, mcp: bool, as_json: bool
    ) -> None:
        project = "" if user else find_layout(folder).project
        plan = plan_remove(name, project) if remove else plan_connect(name, project, mcp)
        changes = [change for change in plan if not change.is_none]
        if not dry_run:
            carry_out(changes, project)
        if as_json:
            say_json(
                {
                    "host": name,
                    "dry_run": dry_run,
                    "changes": [
                        {"path": change.path, "what": _change_word(change).strip()}
                        for change in changes
                    ],
                }
            )
        else:
            _tell_changes(changes, dry_run)
        kept = [change for change in plan if change.kept]
        for change in kept:
            note(f"{os.path.relpath(change.path)} stays as it is: {change.kept}")
        if not changes and not kept and not as_json:
            note(f"{name} is not connected" if remove else f"{name} is already connected")
        if not remove:
            _warn_about_host(name, project, user)
            if not dry_run and not as_json:
                _tell_next(name, project)

    if host.marketplace:
        command.params.append(
            Option(
                ["--plugin"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_tell_plugin,
                help="Print the folder that '/plugin marketplace add' takes; write nothing.",
            )
        )
    return command


def _tell_plugin(context: Context, parameter: Parameter, wanted: bool) -> None:
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


def _tell_changes(changes: list[Change], dry_run: bool) -> None:
    for change in changes:
        say(f"{paint(_change_word(change), 'green')}  {os.path.relpath(change.path)}")
        if dry_run:
            before, after = (
                (data or b"").decode("utf-8", "replace").splitlines()
                for data in (change.before, change.after)
            )
            say("\n".join([*difflib.unified_diff(before, after, n=1, lineterm="")][2:]))
    if changes and dry_run:
        note("nothing was written")


def _change_word(change: Change) -> str:
    return "new    " if change.before is None else "removed" if change.after is None else "changed"


def _warn_about_host(name: str, project: str, user: bool) -> None:
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


# Implement `rawkomem uninstall`: remove what rawkomem wrote, except memories.

OUR_NAME = b"rawkomem"  # as settings that call our program contain it


@click.command("uninstall")
@DRY_RUN
@YES
@pass_obj
def uninstall_command(folder: str, /, dry_run: bool, yes: bool) -> None:
    """Remove everything that rawkomem wrote, except your memories.

    In this project it disconnects all agents and git, and removes the index, the usage counts, the ledger and the
    drafts in .rawko/local, files of 'init' that you never changed, and a generated MEMORY.md. On this machine it
    removes the caches. Your memories and your own settings stay. It lists everything before it asks, also files that
    still name rawkomem afterwards.

    Examples:
      rawkomem uninstall --dry-run
    """
    layout = find_layout(folder)
    leaving = plan_uninstall(layout, files_to_remove(layout.project))
    hosts, git = plan_remove_all(layout.project), _git_removal(layout)
    changes: list[Change | FileChange] = [*hosts, *(git.files if git else ())]
    for path, what in leaving.gone:
        _tell_leaving("remove", "red", path, what)
    for change in changes:
        sign, what = ("remove", "ours") if change.after is None else ("change", "without our lines")
        _tell_leaving(sign, "red", change.path, what)
    for setting in git.settings if git else ():
        _tell_leaving("unset", "red", setting.key, "a setting of git in this clone")
    for path, what in leaving.stays:
        _tell_leaving("stays", "green", path, what)
    clean = {change.path for change in changes if OUR_NAME not in (change.after or b"")}
    named = [path for path in leaving.mentions if path not in clean]
    for path in named:
        _tell_leaving("mentions", "yellow", path, "still names rawkomem")
    if named:
        note("'rawkomem connect HOST --user --remove' removes a connection of all your projects")
    if dry_run:
        note("nothing was removed (--dry-run)")
        return
    if not yes:
        confirm(
            "Remove all this for good? Usage counts, drafts and the ledger have no other copy",
            abort=True,
        )
    carry_out(hosts, layout.project)
    if git:
        carry_out_git(git)
    uninstall(leaving)
    note("done; 'pip uninstall rawkomem' removes the program")


def _git_removal(layout: Layout) -> Connection | None:
    """Return the changes that disconnect git; None if the project is not in a git repository."""
    try:
        return plan_git_removal(layout)
    except NotFound:
        return None


def _tell_leaving(sign: str, style: str, path: str, what: str) -> None:
    shown = os.path.relpath(path) if os.path.isabs(path) else path
    shown = path if shown.startswith("..") else shown
    say(f"{paint(f'{sign:8}', style)} {shown}  {paint(what, 'dim')}")
