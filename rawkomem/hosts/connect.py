"""Connect and disconnect agent hosts: find their settings files and the installed hosts, and plan all
changes before anything is written. A file that belongs to us as a whole carries a checksum that
shows whether a person edited it.
"""

from __future__ import annotations

import os
import re
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256

from ..files.installation import SHIPPED
from ..files.layout import Layout
from ..files.replace import is_below, read_whole, replace_whole
from ..model.errors import BadInput, RawkoError, Refused, Unwritable
from ..model.installed import how_to_reach
from ..model.values import DAY, now, record, replace
from ..repository.machine import Finding
from ..text.chunks import counted
from .hook_calls import Called, logged_calls, slow_calls
from .known_hosts import ALIASES, HOSTS, home_of, time_limit_s
from .our_entries import (
    Edit,
    Settings,
    edited,
    guarded,
    has_server,
    parsed,
    put_hooks,
    put_server,
    take_hooks,
    take_server,
)
from .replay import sessions_of

SKILL = "rawkomem/SKILL.md"  # below a folder of skills


def connectable() -> list[str]:
    """Return the names of the hosts that can be connected."""
    return [name for name, host in HOSTS.items() if host.about]


def settings_file(name: str, project: str) -> str:
    """Return the path of a host's settings, in a project or (if `project` is empty) of the user; empty if none."""
    host = HOSTS[name]
    path = host.project if project else host.user
    return _below(project or home_of(name), path)


def servers_file(name: str, project: str) -> str:
    """Return the path of the file with a host's MCP servers, in a project or of the user; empty if there is none."""
    mcp = HOSTS[name].mcp
    return _below(project or home_of(name), mcp.project if project else mcp.user)


def _below(folder: str, path: str) -> str:
    return os.path.join(folder, *path.split("/")) if path else ""


def hooks_file(name: str, project: str) -> str:
    """Return the path of the second file from which a host reads hooks, next to its settings; empty if none."""
    folder = os.path.dirname(settings_file(name, project))
    return _below(folder, HOSTS[name].hooks_beside)


def skill_file(name: str, project: str) -> str:
    """Return the path of our skill for a host in a project; empty if the host has no skills."""
    skills = HOSTS[name].skills
    return _below(project, skills and f"{skills}/{SKILL}")


def files_to_remove(project: str) -> list[str]:
    """Return all files of hosts that may name rawkomem: those that `connect` writes, and those that people edit."""
    files = [skill_file(name, project) for name in connectable()]
    for place in (project, ""):
        files += [
            file(name, place)
            for name in connectable()
            for file in (settings_file, hooks_file, servers_file)
        ]
    mentions = [path for host in HOSTS.values() for path in host.mentions]
    files += [os.path.join(project, os.path.expanduser(path)) for path in mentions]
    return [file for file in files if file]


def hook_handlers(name: str) -> dict[str, dict[str, object]]:
    """Return event → the handler that calls us. Changing a command line makes Codex ask the person for trust again."""
    host = HOSTS[name]
    handlers = {}
    for theirs, event in host.events.items():
        call = f"rawkomem hook {name} {event}"
        handlers[theirs] = {
            **host.handler(event, guarded(call), time_limit_s(name, event))
        }
        if host.cmd_key:
            handlers[theirs][host.cmd_key] = guarded(call, host.cmd_key)
    return handlers


def hook_items(name: str) -> dict[str, object]:
    """Return event → our item in its list: a handler, or a group that holds one."""
    grouped = HOSTS[name].grouped
    matchers = HOSTS[name].matchers
    items: dict[str, object] = {}
    for event, handler in hook_handlers(name).items():
        only = {"matcher": matchers[event]} if event in matchers else {}
        items[event] = {**only, **({"hooks": [handler]} if grouped else handler)}
    return items


# folders that many programs share; the host's own folder is inside
SHARED_HOMES = ("~", "~/.config")


def installed_hosts() -> list[str]:
    """Return the hosts whose program is on the PATH or whose user folder exists, in the order of the records."""
    return [name for name in connectable() if _has_program(name) or _has_folder(name)]


def _has_program(name: str) -> bool:
    names = (name, *(alias for alias, host in ALIASES.items() if host == name))
    return any(shutil.which(one) for one in names)


def _has_folder(name: str) -> bool:
    """Return whether the user's folder of a host exists; in a folder that many programs share, the host's own."""
    own, inside, _ = HOSTS[name].user.partition("/")
    if HOSTS[name].home[1] not in SHARED_HOMES:
        return os.path.isdir(home_of(name))
    return bool(inside) and os.path.isdir(os.path.join(home_of(name), own))


# Add a checksum to a file that belongs to us, to find out later whether a person edited it.
#
# The first line that names 'rawkomem connect' ends in a checksum of the rest of the file. Line
# endings are ignored, because git may change them.

CHECKSUM_CHARS = 16  # hexadecimal digits: detects edits, does not prevent forgery
SEAL = rb"(?P<seal> \(checksum (?P<sum>[0-9a-f]{%d})\))?" % CHECKSUM_CHARS
SEALED_LINE = re.compile(rb"^[^\n]*rawkomem connect[^\n]*?%s$" % SEAL, re.M)


def sealed(text: bytes) -> bytes:
    """Return a text with a checksum at the end of its first line that names 'rawkomem connect'."""
    line = SEALED_LINE.search(text)
    if line is None:
        raise ValueError("no line names 'rawkomem connect'")
    return text[: line.end()] + b" (checksum %s)" % _checksum(text) + text[line.end() :]


def is_as_written(data: bytes) -> bool:
    """Return whether a file is unedited: its checksum is right."""
    plain = data.replace(b"\r\n", b"\n")
    line = SEALED_LINE.search(plain)
    if line is None or line["seal"] is None:
        return False
    return line["sum"] == _checksum(
        plain[: line.start("seal")] + plain[line.end("seal") :]
    )


def _checksum(text: bytes) -> bytes:
    return sha256(text).hexdigest()[:CHECKSUM_CHARS].encode()


MARK = "rawkomem connect"  # in files that belong to us as a whole


@record
class FileEdit:
    """The content of a file before and after a change; None: the file does not exist."""

    path: str
    before: bytes | None
    after: bytes | None
    kept: str = ""  # a note for the person about what was not changed, and why

    @property
    def is_none(self) -> bool:
        """Return whether the file does not change."""
        return self.before == self.after


def plan_connect(name: str, project: str, mcp: bool = False) -> list[FileEdit]:
    """Return the changes that connect a host in a project, or for the user if `project` is empty.

    With `mcp` they also add our MCP server. For a host without hooks they always do.
    """
    mcp = mcp or not HOSTS[name].has_hooks
    if mcp and not servers_file(name, project):
        where = "the project" if project else "your user settings"
        raise Refused(f"{name} has no file for MCP servers in {where} that rawkomem can edit",
                      f"run: {HOSTS[name].mcp.otherwise}")  # fmt: skip
    edits = [
        *_hook_edits(name, project, True),
        *(_server_edits(name, project, True) if mcp else ()),
    ]
    return [
        *_owned_plugin(name, project, True),
        *_changes(edits, project),
        *_skill_changes(name, project, True),
    ]


def plan_remove(name: str, project: str, others: bool = False) -> list[FileEdit]:
    """Return the changes that disconnect a host; with `others`, also from files that it shares with other hosts."""
    edits = [
        *_server_edits(name, project, False, others),
        *_hook_edits(name, project, False),
    ]
    changes = [_with_note(change, name, project) for change in _changes(edits, project)]
    skill = _skill_changes(name, project, False, others)
    return [*_owned_plugin(name, project, False), *changes, *skill]


def plan_remove_all(project: str) -> list[FileEdit]:
    """Return the changes that disconnect all hosts of a project, one for each file; skip files that cannot be edited."""
    changes: dict[str, FileEdit] = {}
    for name in connectable():
        with suppress(BadInput):
            changes |= {
                change.path: change
                for change in plan_remove(name, project, others=True)
            }
    return [change for change in changes.values() if not change.is_none]


def is_connected(name: str, project: str) -> bool:
    """Return whether a host's settings call our hooks or, if it has no hooks, start our MCP server."""
    edits = _hook_edits if HOSTS[name].has_hooks else _server_edits
    changes = [
        *_owned_plugin(name, project, False),
        *_changes(edits(name, project, False), project),
    ]
    return any(not change.is_none or change.kept for change in changes)


def is_read_in(name: str, project: str, folder: str) -> bool:
    """Return whether a host that is connected in a project calls us if it is started in a folder of the project."""
    return (
        HOSTS[name].reads_above
        or not is_below(os.path.realpath(folder), os.path.realpath(project))
        or is_connected(name, folder)
        or is_connected(name, "")
    )


def has_our_server(name: str, project: str) -> bool:
    """Return whether a server with our name is among the MCP servers of a host."""
    file = servers_file(name, project)
    return bool(file) and _names_server(name, file, read_whole(file, project))


def carry_out(changes: list[FileEdit], project: str) -> None:
    """Write the files, and remove folders of the project that become empty."""
    for change in changes:
        if not change.is_none:
            _write(change, project)
            if change.after is None and project:
                _remove_empty(os.path.dirname(change.path), project)


def _owned_plugin(name: str, project: str, connect: bool) -> list[FileEdit]:
    """Return the change of a settings file that belongs to us as a whole; empty if the host has none."""
    template = HOSTS[name].template
    if not template:
        return []
    file = settings_file(name, project)
    return [_owned_change(file, _template(template), connect, project)]


def _hook_edits(name: str, project: str, connect: bool) -> list[tuple[str, Edit]]:
    """Return the edits of a host's settings files that add or remove our hooks."""
    file = settings_file(name, project)
    beside = hooks_file(name, project)
    host = HOSTS[name]
    if host.template or not file:
        return []
    if not connect:
        return [(one, take_hooks) for one in (file, beside) if one]
    wanted = hook_items(name)

    def put(settings: Settings) -> None:
        put_hooks(settings, wanted, host.version)

    if beside and os.path.exists(beside):  # Codex warns about hooks in both files
        return [(file, take_hooks), (beside, put)]
    return [(file, put)]


def _server_edits(
    name: str, project: str, connect: bool, others: bool = False
) -> list[tuple[str, Edit]]:
    """Return the edits that add or remove our MCP server; see `_is_shared` for `others`."""
    file = servers_file(name, project)
    mcp = HOSTS[name].mcp
    if not file:
        return []
    if connect:
        return [(file, lambda settings: put_server(settings, mcp.key, mcp.entry))]
    if not others and _is_shared(name, project, servers_file):
        return []
    return [(file, lambda settings: take_server(settings, mcp.key, mcp.entry))]


def _changes(edits: list[tuple[str, Edit]], project: str) -> list[FileEdit]:
    """Return one change for each file, with all its edits."""
    by_file: dict[str, list[Edit]] = {}
    for file, edit in edits:
        by_file.setdefault(file, []).append(edit)
    return [_edited(file, one, project) for file, one in by_file.items()]


def _with_note(change: FileEdit, name: str, project: str) -> FileEdit:
    """Return the change, with a note if a server with our name stays because a person edited it."""
    if change.path != servers_file(name, project) or not _names_server(
        name, change.path, change.after
    ):
        return change
    return replace(
        change,
        kept=f"its server 'rawkomem' differs from what '{MARK}' writes: remove it yourself",
    )


def _names_server(name: str, file: str, data: bytes | None) -> bool:
    return has_server(
        parsed((data or b"").decode("utf-8-sig"), _is_toml(file)), HOSTS[name].mcp.key
    )


def _is_toml(file: str) -> bool:
    return file.endswith(".toml")


def _skill_changes(
    name: str, project: str, connect: bool, others: bool = False
) -> list[FileEdit]:
    """Return the change of a host's skill file; see `_is_shared` for `others`."""
    file = skill_file(name, project) if project else ""
    if not file or (
        not connect and not others and _is_shared(name, project, skill_file)
    ):
        return []
    return [_owned_change(file, _template("skills/" + SKILL), connect, project)]


def _is_shared(name: str, project: str, file_of: Callable[[str, str], str]) -> bool:
    """Return whether another host that may be connected uses the same file: only the last host removes it.

    A host counts as connected if its settings cannot be parsed.
    """
    for other in connectable():
        if other != name and file_of(other, project) == file_of(name, project):
            try:
                if is_connected(other, project):
                    return True
            except BadInput:
                return True
    return False


def _edited(file: str, edits: Sequence[Edit], project: str) -> FileEdit:
    """Return the change of a settings file that also holds other settings. Raises BadInput if it cannot be edited."""
    before = read_whole(file, project)
    try:
        has_mark = bool(before and before.startswith(BOM_UTF8))
        codec = "utf-8-sig" if has_mark else "utf-8"
        text = (before or b"").decode(codec)
        after = edited(text, edits, _is_toml(file))
        data = before if after == text else after.encode(codec) if after else None
    except ValueError as failure:
        what = "it is not UTF-8" if isinstance(failure, UnicodeError) else str(failure)
        raise BadInput(
            f"cannot edit {file}: {what}", "fix the file first; nothing was changed"
        ) from None
    return FileEdit(file, before, data)


def _owned_change(file: str, text: bytes, connect: bool, project: str) -> FileEdit:
    """Return the change of a file that belongs to us as a whole.

    A file that a person edited is not changed. A file of somebody else is not changed; connecting raises Refused.
    """
    before = read_whole(file, project)
    if before is None:
        return FileEdit(file, None, sealed(text) if connect else None)
    if MARK.encode() not in before:
        if connect:
            raise Refused(
                f"{file} exists, and rawkomem did not write it",
                "move it away first; nothing was changed",
            )
        return FileEdit(file, before, before)
    if not is_as_written(before):
        return FileEdit(
            file,
            before,
            before,
            "it was edited by hand: delete it yourself if you do not want it",
        )
    return FileEdit(file, before, sealed(text) if connect else None)


def plugin_folder(name: str) -> str:
    """Return the folder of this installation that a host can add as a plugin marketplace."""
    return os.path.dirname(os.path.dirname(_shipped(HOSTS[name].marketplace)))


def _template(name: str) -> bytes:
    with open(_shipped(name), "rb") as stream:
        return stream.read()


def _shipped(name: str) -> str:
    for folder in SHIPPED:
        file = os.path.join(folder, "templates", "agents", *name.split("/"))
        if os.path.isfile(file):
            return file
    raise BadInput(
        f"the template {name} is missing in this installation", "install rawkomem again"
    )


def _write(change: FileEdit, project: str) -> None:
    """Write or delete a file, following links that stay in the project. Raises Refused if it changed meanwhile."""
    file = os.path.realpath(change.path)
    if read_whole(change.path, project) != change.before:
        raise Refused(
            f"{change.path} was changed meanwhile by another program",
            "run the command again",
        )
    try:
        if change.after is None:
            os.unlink(file)
        else:
            replace_whole(change.path, change.after, within=project)
    except OSError as failure:
        raise Unwritable(
            f"cannot write {change.path}: {failure.strerror}", "check permissions"
        ) from None


def _remove_empty(folder: str, project: str) -> None:
    while folder.startswith(project + os.sep):
        try:
            os.rmdir(folder)
        except OSError:
            return  # not empty
        folder = os.path.dirname(folder)


# Check for each connected host whether its hooks ran recently and, if not, why.

# in milliseconds
HOUR = DAY // 24
MINUTE = DAY // 1440
SLOW_DAYS = 7  # older calls are ignored
# a session that was active later than this after the last call did not call us
LATE_MS = 10 * MINUTE
SWITCHED_OFF = "disableAllHooks"  # Claude Code's setting


def first_step(name: str, project: str) -> str:
    """Return what a person must do once after connecting a host in a project, or for the user if it is empty."""
    folder = project or "a project with memories"
    is_here = folder == os.getcwd()
    return HOSTS[name].first_step.format(folder="this folder" if is_here else folder)


def examine_hosts(layout: Layout) -> list[Finding]:
    """Return a finding for each host that is connected, in the project or for the user."""
    calls = logged_calls(layout)
    findings = []
    for name in connectable():
        for project in (layout.project, ""):
            try:
                if not is_connected(name, project):
                    continue
                findings.append(
                    _examine(
                        layout,
                        name,
                        project,
                        [call for call in calls if call.host == name],
                    )
                )
            except RawkoError as failure:
                findings.append(Finding(name, False, failure.message, failure.hint))
    return findings


def _examine(layout: Layout, name: str, project: str, calls: list[Called]) -> Finding:
    connecting = f"rawkomem connect {name}" + ("" if project else " --user")
    if not shutil.which("rawkomem"):
        return Finding(
            name, False, "cannot call rawkomem: it is not on the PATH", how_to_reach()
        )
    if any(not change.is_none for change in plan_connect(name, project)):
        return Finding(
            name,
            False,
            "its settings differ from what 'connect' writes",
            f"run '{connecting}'",
        )
    if not HOSTS[name].has_hooks:
        return Finding(
            name, True, f"starts the MCP server ({servers_file(name, project)})"
        )
    if _is_switched_off(settings_file(name, project)):
        return Finding(
            name,
            False,
            "its hooks are switched off",
            f"remove '{SWITCHED_OFF}' in {settings_file(name, project)}",
        )
    if project and not is_read_in(name, project, os.getcwd()):
        return Finding(
            name,
            False,
            f"calls no hook if you start it in this folder: it reads its settings in {project} only if you start it there",
            f"start it there, or run '{connecting} --user'",
        )
    if not calls:
        is_used = bool(sessions_of(layout, name) or (project and shutil.which(name)))
        seen = "" if is_used else "; no session of it was found here"
        return Finding(
            name,
            not is_used,
            f"has not called a hook here yet{seen}",
            first_step(name, project),
        )
    return _judged(layout, name, calls)


def _judged(layout: Layout, name: str, calls: list[Called]) -> Finding:
    """Return a finding about the latest calls: missing in a later session, too slow, or fine."""
    last = calls[-1]
    text = f"last call {_ago(last.at)} ({last.event})"
    latest = max(
        (os.path.getmtime(file) for file in sessions_of(layout, name)), default=0.0
    )
    if 1000 * latest > last.at + LATE_MS:
        active = f"but a session was active {_ago(int(1000 * latest))}"
        return Finding(
            name, False, f"{text}, {active}", first_step(name, layout.project)
        )
    slow = slow_calls([call for call in calls if call.at > now() - SLOW_DAYS * DAY])
    if slow:
        worst = max(call.took_ms for call in slow)
        limit = time_limit_s(name, slow[-1].event)
        how = f"up to {worst / 1000:.1f} s" if worst > 0 else "stopped by the host"
        text += f"; {counted(len(slow), 'call')} took longer than its limit of {limit} s ({how})"
        return Finding(
            name,
            False,
            text,
            "run 'rawkomem index sync' after large changes; see .rawko/local/hook.log",
        )
    return Finding(name, True, text)


def _is_switched_off(file: str) -> bool:
    try:
        with open(file, encoding="utf-8-sig") as stream:
            return parsed(stream.read()).get(SWITCHED_OFF) is True
    except (OSError, ValueError):
        return False  # TOML and JavaScript have no such setting


def _ago(at: int) -> str:
    """Return how long ago a time was, in days, hours or minutes."""
    age = max(0, now() - at)
    for name, length in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        if age >= length:
            return f"{counted(age // length, name)} ago"
    return "just now"
