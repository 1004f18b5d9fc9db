"""Implement `rawkomem connect` and `uninstall`: connect coding agents and git, and remove what
rawkomem wrote.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from contextlib import suppress
from typing import Any

from click import Choice, Command, confirm, option

from ...files.git_folder import find_git
from ...files.installation import plan_uninstall, undecided, uninstall
from ...files.layout import FOLDER, Layout, find_layout
from ...files.replace import FileChange
from ...git.connection import Connection, Wanted, plan_git_removal
from ...git.connection import carry_out_connection as carry_out_git
from ...git.connection import plan_git_connection as plan_git
from ...git.runner import projects_below
from ...hosts.connect import (
    PROGRAM_NAMES,
    carry_out,
    connectable,
    files_to_remove,
    first_step,
    has_our_server,
    how_to_complete,
    is_connected,
    plan_connect,
    plan_remove,
    plan_remove_all,
    plugin_folder,
    servers_file,
)
from ...hosts.known_hosts import HOSTS
from ...hosts.person import PERSON
from ...model.errors import NotFound, RawkoError, Refused
from ...model.installed import how_to_reach
from ...text.chunks import counted
from .answers import Fields
from .checks import CHECK_NAMES
from .declarations import answer, verb, verbs
from .importing import shown_path
from .opening import arrival
from .options import DRY_RUN, YES
from .terminal import note, say


def change_word(change: Any) -> str:
    """Return what happens to a file."""
    if change.before is None:
        return "new"
    return "removed" if change.after is None else "changed"


def _difference(change: FileChange) -> str:
    """Return the lines of a file that change."""
    before, after = (
        (data or b"").decode("utf-8", "replace").splitlines()
        for data in (change.before, change.after)
    )
    return "\n".join([*difflib.unified_diff(before, after, n=1, lineterm="")][2:])


CHANGE = Fields(
    "path what",
    "{what:<7|hue}  {short}",
    what=change_word,
    short=lambda one: os.path.relpath(one.path),
)
CONNECTED = Fields("host dry_run changes", "{changes_lines:text}", changes=[CHANGE])
GIT = Fields(
    "files settings to_do=advice",
    "{files_lines:text}\n{settings_lines:text}\n{advice:text}",
    remarks="{end:text}",
    end=lambda connection: (
        "" if connection.files or connection.settings else "nothing to change"
    ),
    files=[
        Fields(
            "file=path removed why",
            "{word:<7|hue}  {file}  {why:dim}",
            removed=lambda file: file.after is None,
            word=change_word,
        )
    ],
    advice=lambda connection: "\n".join(
        f"to do    {text}" for text in connection.advice
    ),
    settings=[
        Fields("key value=after why", "config   {key} = {value:~(unset)}  {why:dim}")
    ],
)
HOST = Fields(
    "host connected about", "{connected:yes connected/-|<10} {host:<9} {about:dim}"
)


@verbs("connect", bare="list")
def connect_command() -> None:
    """Connect coding agents and git to the memories.

    Connecting an agent adds hooks to its settings file; all other settings stay. --remove takes the hooks out
    again. See 'rawkomem docs hosts' and 'rawkomem docs git'.

    Examples:
      rawkomem connect claude --dry-run
      rawkomem connect git
      rawkomem connect claude --remove
    """


@connect_command.verb("list", [HOST])
def connect_list(folder: str) -> Any:
    """List coding agents and whether they are connected.

    Examples:
      rawkomem connect list
    """
    hosts = connected_hosts(find_layout(folder).project)
    return [
        {"host": name, "connected": name in hosts, "about": HOSTS[name].about}
        for name in connectable()
    ]


@connect_command.verb(
    "git",
    DRY_RUN,
    "--remove: Disconnect: restore the files byte by byte.",
    option(
        "--without",
        multiple=True,
        type=Choice(CHECK_NAMES),
        help="Leave this check out of the hook; may be repeated.",
    ),
    GIT,
)
def connect_git(
    folder: str, dry_run: bool, remove: bool, without: tuple[str, ...]
) -> None:
    """Merge memories with git entry by entry, and check them before each commit.

    The command sets the merge driver of this clone, adds missing lines to .rawko/.gitattributes and .gitignore, and
    adds hooks that check commits and merges. If pre-commit, lefthook or husky manages your hooks, it prints the lines
    to add there. At the top of a git repository, it connects all projects below, also later ones. A second run changes
    nothing.

    Examples:
      rawkomem connect git --dry-run
      rawkomem connect git
    """
    layout = _layout_for_git(folder)
    if remove:
        connection = plan_git_removal(layout)
    else:
        connection = plan_git(layout, Wanted(git_program(), without))
    if not dry_run:
        carry_out_git(connection)
    answer(connection)
    if not os.path.isdir(layout.root):
        projects = counted(len(projects_below(folder)), "project")
        note(f"this concerns {projects} below: 'rawkomem status' lists them")
    if dry_run:
        note("nothing was changed (--dry-run)")


def _layout_for_git(folder: str) -> Layout:
    """Return the repository of a folder or, in a git repository with projects below, a layout at its top.

    Raises NotFound if there is neither.
    """
    try:
        return find_layout(folder)
    except NotFound:
        git = find_git(folder)
        if git is None or not projects_below(folder):
            raise
        return Layout(os.path.join(git.tree, FOLDER))


def git_program() -> list[str]:
    """Return the command with which git calls this program; it depends neither on PATH nor on the work tree (-P)."""
    started = shutil.which(sys.argv[0]) or ""
    if os.path.splitext(os.path.basename(started))[0] in PROGRAM_NAMES:
        return [os.path.abspath(started)]
    return [sys.executable, "-P", "-m", "rawkomem"]


PLUGIN = "--plugin: Print the folder to add as a marketplace of plugins; write nothing."


def host_command(name: str) -> Command:
    """Return the command that connects one agent host."""
    host = HOSTS[name]

    @verb(
        name,
        DRY_RUN,
        "--remove: Disconnect: remove our entries.",
        "--user: Change your own settings, for all your projects.",
        option(
            "--mcp",
            is_flag=True,
            help="Also set up the MCP server.",
            hidden=not host.has_hooks,
        ),
        *((PLUGIN,) if host.marketplace else ()),
        CONNECTED,
        help=host.about,
        short_help=host.about,
    )
    def command(
        folder: str, dry_run: bool, remove: bool, user: bool, mcp: bool, plugin: bool = False,
    ) -> None:  # fmt: skip
        if plugin:
            say(plugin_folder(name))
            return
        project = "" if user else find_layout(folder).project
        if remove:
            plan = plan_remove(name, project)
        else:
            plan = plan_connect(name, project, mcp)
        changes = [change for change in plan if not change.is_none]
        if not dry_run:
            carry_out(changes, project)
        line = f"{CHANGE.line}\n{{difference:text}}"
        fields = CHANGE.but(line=line, difference=_difference) if dry_run else CHANGE
        result = {"host": name, "dry_run": dry_run, "changes": changes}
        answer(result, CONNECTED.but(changes=[fields]))
        unchanged = [change for change in plan if change.why]
        for change in unchanged:
            note(f"{os.path.relpath(change.path)} stays as it is: {change.why}")
        if not changes and not unchanged:
            note(
                f"{name} is not connected" if remove else f"{name} is already connected"
            )
        elif dry_run:
            note("nothing was written")
        if not remove:
            _warn_about_host(name, project, user)
            if not dry_run:
                _tell_next(name, project)

    return command


for _name in connectable():
    connect_command.add_command(host_command(_name))


def _tell_next(name: str, project: str) -> None:
    """Print the next step, and how to add the MCP server if the host supports it besides hooks."""
    host = HOSTS[name]
    if (
        host.has_hooks
        and servers_file(name, project)
        and not has_our_server(name, project)
    ):
        command = f"rawkomem connect {name}" + ("" if project else " --user")
        note(f"optional: '{command} --mcp' gives the agent tools to search")
    step = first_step(name, project)
    note(f'next: {step}, and ask: "What does this project\'s memory say?"')


def _warn_about_host(name: str, project: str, user: bool) -> None:
    """Print a warning if the hooks cannot work, would run twice, or do not run in subfolders."""
    if not shutil.which("rawkomem"):
        note(
            f"'rawkomem' is not on your PATH, where hosts look for it: {how_to_reach()}"
        )
    if command := how_to_complete(name, project):
        note(f"the MCP server needs a package that is not installed; run: {command}")
    try:
        if not user and is_connected(name, ""):
            note(
                f"{name} is also connected in your own settings: one connection is enough"
            )
        elif not user and not HOSTS[name].reads_above:
            everywhere = f"rawkomem connect {name} --user"
            note(
                f"{name} started in a subfolder does not read these settings: '{everywhere}' works in every folder"
            )
    except RawkoError:
        pass  # unreadable user settings do not matter here


OUR_NAME = b"rawkomem"  # as settings that call our program contain it
LEAVING = Fields(
    "sign=0 path what=2",
    "{sign:<8} {path}  {what:dim}",
    path=lambda row: shown_path(row[1]),
)


@verb("uninstall", DRY_RUN, YES)
def uninstall_command(folder: str, dry_run: bool, yes: bool) -> None:
    """Remove everything that rawkomem wrote, except your memories.

    In this project it disconnects all agents and git, gives files that 'import --shorten' shortened their text back,
    and removes the index, drafts, usage counts, the undo list and the ledger, and files of 'init' that you never
    changed. On this machine it removes the caches. Your memories and your own settings stay. It lists everything before
    it asks, also files that still name rawkomem afterwards. Only a person at a terminal removes drafts and unsaved texts.

    Examples:
      rawkomem uninstall --dry-run
    """
    layout = find_layout(folder)
    leaving = plan_uninstall(layout, files_to_remove(layout.project))
    hosts = plan_remove_all(layout.project)
    git = _git_removal(layout)
    changes: list[Any] = [*hosts, *(git.files if git else ())]
    rows = [
        ("restore", os.path.join(layout.project, place), "its text from before")
        for place in leaving.shortened
    ]
    rows += [("remove", path, what) for path, what in leaving.gone]
    rows += [
        ("change" if change.after else "remove", change.path, "only our lines")
        for change in changes
    ]
    rows += [
        ("unset", one.key, "a setting of git in this clone")
        for one in (git.settings if git else ())
    ]
    rows += [("stays", path, what) for path, what in leaving.stays]
    clean = {change.path for change in changes if OUR_NAME not in (change.after or b"")}
    named = [path for path in leaving.mentions if path not in clean]
    rows += [("mentions", path, "still names rawkomem") for path in named]
    LEAVING.say(rows, False)
    if named:
        note(
            "'rawkomem connect HOST --user --remove' removes a connection of all your projects"
        )
    if dry_run:
        note("nothing was removed (--dry-run)")
        return
    waiting = " and ".join(undecided(layout))
    if waiting and yes and arrival() != PERSON:
        raise Refused(
            f"a person has to decide about {waiting} first",
            "run 'rawkomem drafts' and 'rawkomem status' to see them, or 'rawkomem uninstall' at a terminal",
        )
    if not yes:
        confirm(
            "Remove all this for good? What has no other copy cannot be brought back",
            abort=True,
        )
    carry_out(hosts, layout.project)
    if git:
        carry_out_git(git)
    uninstall(layout, leaving)
    note("done; 'pip uninstall rawkomem' removes the program")


def _git_removal(layout: Layout) -> Connection | None:
    """Return the changes that disconnect git; None if the project is not in a git repository."""
    try:
        return plan_git_removal(layout, alone=True)
    except NotFound:
        return None


def connected_hosts(project: str) -> list[str]:
    """Return the agent hosts that are connected to a project, or for all projects of the user.

    Settings that cannot be read connect nothing.
    """
    hosts = []
    for name in connectable():
        for place in (project, ""):
            with suppress(RawkoError, OSError):
                if name not in hosts and is_connected(name, place):
                    hosts.append(name)
    return hosts
