"""Connect and disconnect agent hosts: find their settings files and the installed hosts, and plan all
changes before anything is written. A file that belongs to us as a whole carries a checksum that
shows whether a person edited it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from ..files.installation import SHIPPED
from ..files.layout import Layout
from ..files.replace import FileChange, is_inside, read_whole, write_change
from ..model.errors import BadInput, RawkoError, Refused
from ..model.installed import how_to_add, how_to_reach
from ..model.values import DAY, now, replace
from ..repository.machine import Finding
from ..text.chunks import counted
from .hook_calls import Called, logged_calls, slow_calls
from .known_hosts import ALIASES, HOSTS, home_of, time_limit_s
from .replay import sessions_of

# the key of the arguments of a program that is started without a shell
ARGUMENTS = "args"
CMD_KEY = "commandWindows"  # the key of a command line for cmd.exe
# keys of a handler that hold a command line or a program
COMMANDS = ("command", CMD_KEY, "bash", "powershell", "exec")
PROGRAM_NAMES = ("rawkomem", "rawko")
# Our program by its name or a path, which may be quoted, before its arguments.
OUR_PROGRAM = re.compile(
    r"""\s*(?:"(?:[^"]*[/\\])?rawko(?:mem)?(?:\.exe)?"|'(?:[^']*[/\\])?rawko(?:mem)?(?:\.exe)?'"""
    r"""|(?:\S*[/\\])?rawko(?:mem)?(?:\.exe)?)\s+(?=hook(?:\s|$))"""
)
# On a machine without rawkomem, no error may appear at each prompt, so the exit code is always 0. The first form works
# in sh, Git Bash and PowerShell; cmd.exe needs the second.
ALWAYS_0 = "; exit 0"
ALWAYS_0_IN_CMD = " & exit /b 0"


def calls_us(handler: object) -> bool:
    """Return whether a handler runs our hook."""
    return isinstance(handler, dict) and any(
        _our_line(handler, key) for key in COMMANDS
    )


def guarded(line: str, key: str = "") -> str:
    """Return a command line that exits with 0 even if the program is missing."""
    return line + (ALWAYS_0_IN_CMD if key == CMD_KEY else ALWAYS_0)


def by_name(item: object) -> object:
    """Return an item of a host's list, normalized for a comparison: a path to our program is replaced by its name.

    A person may have written the line, so it counts as guarded.
    """
    if isinstance(item, list):
        return [by_name(one) for one in item]
    if not isinstance(item, dict):
        return item
    lines = {key: line for key in COMMANDS if (line := _our_line(item, key))}
    return {
        key: lines.get(key) or by_name(value)
        for key, value in item.items()
        if not (lines and key == ARGUMENTS)
    }


def _our_line(handler: Mapping[str, object], key: str) -> str:
    """Return the command line with our program's name, guarded, if it runs our hook; else an empty text."""
    line = handler.get(key)
    arguments = handler.get(ARGUMENTS)
    if not isinstance(line, str):
        return ""
    if isinstance(arguments, list):
        line = " ".join((f'"{line}"', *map(str, arguments)))
    program = OUR_PROGRAM.match(line)
    if not program:
        return ""
    words = (
        line[program.end() :]
        .rstrip()
        .removesuffix(ALWAYS_0)
        .removesuffix(ALWAYS_0_IN_CMD)
    )
    return guarded(f"{PROGRAM_NAMES[0]} {words}", key)


# Read and write the text of a settings file. An edit of JSON changes only the text of the members that change, so
# that comments and layout stay, and adding and then removing our entries gives the same bytes.

Settings = dict[str, Any]
Edit = Callable[[Settings], None]
INDENT = "  "  # if the file has no indentation to copy
TEXT_OR_COMMENT = re.compile(
    r'("(?:\\.|[^"\\])*(?:"|\Z))|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)
TEXT_OR_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)
SPACE = re.compile(r"\s*")
DECODER = json.JSONDecoder(strict=False)


def edited(text: str, edits: Sequence[Edit], is_toml: bool) -> str:
    """Return the text of a settings file after some edits, with its comments and layout; empty if no settings remain.

    Raises ValueError if the file cannot be parsed or edited.
    """
    before = parsed(text, is_toml)
    after = parsed(text, is_toml)
    for edit in edits:
        edit(after)
    if after == before:
        return text
    if is_toml:
        _drop_emptied(before, after)
        written = tomlkit.dumps(after).rstrip()
        end = text[len(text.rstrip()) :] if text.strip() else "\n"
        return written + end if written else ""
    if not text.strip():
        return json.dumps(after, indent=INDENT, ensure_ascii=False) + "\n"
    return _JsonText(text).patched(before, after)


def parsed(text: str, is_toml: bool = False) -> Settings:
    """Return the settings in a text: TOML, or JSON that may have comments and trailing commas.

    Raises ValueError if it cannot be parsed.
    """
    try:
        return tomlkit.parse(text) if is_toml else _parsed_json(text)
    except TOMLKitError as failure:
        raise ValueError(str(failure)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parsed_json(text: str) -> Settings:
    strict = _blanked(_blanked(text, TEXT_OR_COMMENT), TEXT_OR_LAST_COMMA)
    settings = json.loads(strict) if strict.strip() else {}
    if not isinstance(settings, dict):
        raise ValueError("the file is not a JSON object")
    return settings


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    """Return a text of the same length, with spaces for the matches that are not a quoted text."""
    return pattern.sub(lambda found: found[1] or " " * len(found[0]), text)


def _drop_emptied(before: Settings, after: Settings) -> None:
    """Remove the lists and objects that an edit has emptied."""
    for key in [*after]:
        if isinstance(after[key], dict) and key in before:
            _drop_emptied(before[key], after[key])
        if before.get(key) and after[key] in ({}, []):
            del after[key]


def _by_index(before: list[Any], after: list[Any]) -> dict[int, Any]:
    """Return the items of a changed list by their index before the change; new items have higher indexes."""
    if len(before) == len(after):
        return dict(enumerate(after))
    added = [*after]
    kept = {}
    for index, item in enumerate(before):
        if added and item == added[0]:
            kept[index] = added.pop(0)
    return kept | dict(enumerate(added, len(before)))


class _JsonText:
    """The text of a JSON object, which may have comments, for edits of single members."""

    def __init__(self, text: str) -> None:
        indented = re.search(r"^[ \t]+(?=\S)", text, re.MULTILINE)
        self.text = text
        self.indent = indented[0] if indented else INDENT
        self.line_end = "\r\n" if "\r\n" in text else "\n"
        self.uncommented = _blanked(text, TEXT_OR_COMMENT)
        self.strict = _blanked(self.uncommented, TEXT_OR_LAST_COMMA)

    def patched(self, before: Settings, after: Settings) -> str:
        """Return the text after a change of its settings; empty if no settings remain."""
        start = self._skip(0)
        changed, end = self._changed(start, before, after, 1)
        return self.text[:start] + changed + self.text[end:] if changed else ""

    def _changed(self, at: int, before: Any, after: Any, depth: int) -> tuple[str, int]:
        """Return the text of a list or an object after a change, and the end of its old text.

        The text is empty if the change empties it. It stays if it was there, and empty, before our entries: these start
        on new lines, and its end follows directly. Comments stay, also those before a member that goes.
        """
        is_object = isinstance(before, dict)
        old = before if is_object else dict(enumerate(before))
        new = after if is_object else _by_index(before, after)
        members, close = self._members(at, is_object)
        kept: list[str] = []
        notes = ""
        last_end = at + 1
        for key, start, value, end in members:
            lead = self._lead(last_end, start)
            text = self.text[value:end]
            if key not in new:
                text = ""
            elif new[key] != old[key]:
                if type(new[key]) is type(old[key]) and text[0] in "{[":
                    text, _ = self._changed(value, old[key], new[key], depth + 1)
                else:
                    text = self._shown(new[key], depth)
            if text:
                kept.append(notes + lead + self.text[start:value] + text)
                notes = ""
            elif not self._is_bare(last_end, start):
                notes += lead
            last_end = end
        line = self.line_end + self.indent * depth
        for key in new:
            if key not in old:
                name = f"{json.dumps(key)}: " if is_object else ""
                kept.append(line + name + self._shown(new[key], depth))
        tail = self.text[last_end:close]
        if members and not kept:
            tail = self._lead(last_end, close)
            was_there = "\n" in self.text[at : members[0][1]] and "\n" not in tail
            if self._is_bare(at, close) and not was_there:
                return "", close + 1
        text = self.text[at] + ",".join(kept) + notes + tail + self.text[close]
        return text, close + 1

    def _members(
        self, at: int, is_object: bool
    ) -> tuple[list[tuple[Any, int, int, int]], int]:
        """Return the key or index, start, start of the value and end of each member, and where the bracket closes."""
        members: list[tuple[Any, int, int, int]] = []
        at = self._skip(at + 1)
        while self.strict[at] not in "}]":
            start = at
            key = len(members)
            if is_object:
                key, at = DECODER.raw_decode(self.strict, at)
                at = self._skip(self._skip(at) + 1)  # the colon
            value = at
            _, at = DECODER.raw_decode(self.strict, at)
            members.append((key, start, value, at))
            at = self._skip(at)
            at = self._skip(at + 1) if self.strict[at] == "," else at
        if len({key for key, *_ in members}) < len(members):
            raise ValueError("it has the same key twice in an object")
        return members, at

    def _skip(self, at: int) -> int:
        space = SPACE.match(self.strict, at)
        return space.end() if space else at

    def _shown(self, value: Any, depth: int) -> str:
        text = json.dumps(value, indent=self.indent, ensure_ascii=False)
        return text.replace("\n", self.line_end + self.indent * depth)

    def _is_bare(self, start: int, end: int) -> bool:
        return self.text[start:end] == self.uncommented[start:end]

    def _lead(self, start: int, end: int) -> str:
        """Return the text between two members, without its comma."""
        comma = self.uncommented.find(",", start, end)
        if comma < 0:
            return self.text[start:end]
        return self.text[start:comma] + self.text[comma + 1 : end]


HOOKS = "hooks"
VERSION = "version"
SERVER_NAME = "rawkomem"  # the name of our server


def put_hooks(
    settings: Settings, wanted: Mapping[str, object], version: int = 0
) -> None:
    """Add our items, each to its event's list, unless exactly these are there."""
    ours = [
        (event, by_name(items[index])) for event, items, index in _our_items(settings)
    ]
    if sorted(ours, key=repr) == sorted(wanted.items(), key=repr):
        return
    take_hooks(settings)
    hooks = settings.setdefault(HOOKS, {})
    for event, item in wanted.items():
        if not isinstance(hooks.get(event, []), list):
            raise ValueError(f"{event} is not a list")
        if hooks.get(event):
            hooks[event].append(item)
        else:
            hooks[event] = [item]
    if version:
        settings.setdefault(VERSION, version)


def take_hooks(settings: Settings) -> None:
    """Remove our items, and the version if we added it: it comes after hooks that are empty now."""
    ours = [*_our_items(settings)]
    for _, items, index in ours:
        handlers = items[index].get(HOOKS, [])
        handlers[:] = [one for one in handlers if not calls_us(one)]
        if not handlers:
            del items[index]
    if ours and [*settings] == [HOOKS, VERSION] and not any(settings[HOOKS].values()):
        del settings[VERSION]


def _our_items(settings: Settings) -> Iterator[tuple[str, list[Any], int]]:
    """Yield each event, its list, and the index of an item that calls us, the last first."""
    hooks = settings.get(HOOKS, {})
    if not isinstance(hooks, dict):
        raise ValueError(f"{HOOKS} is not an object")
    lists = [
        (event, items) for event, items in hooks.items() if isinstance(items, list)
    ]
    for event, items in reversed(lists):
        for index in reversed(range(len(items))):
            item = items[index]
            handlers = item.get(HOOKS, [item]) if isinstance(item, dict) else ()
            if isinstance(handlers, list) and any(map(calls_us, handlers)):
                yield event, items, index


def put_server(settings: Settings, key: str, entry: Mapping[str, object]) -> None:
    """Add our server under a key. An existing server with our name is not changed."""
    servers = settings.setdefault(key, {})
    if not isinstance(servers, dict):
        raise ValueError(f"{key} is not an object")
    servers.setdefault(SERVER_NAME, dict(entry))


def take_server(settings: Settings, key: str, entry: Mapping[str, object]) -> None:
    """Remove our server, unless a person edited it."""
    if has_server(settings, key) and settings[key][SERVER_NAME] == entry:
        del settings[key][SERVER_NAME]


def has_server(settings: Settings, key: str) -> bool:
    """Return whether there is a server with our name, edited or not."""
    servers = settings.get(key)
    return isinstance(servers, dict) and SERVER_NAME in servers


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


def plan_connect(name: str, project: str, mcp: bool = False) -> list[FileChange]:
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


def plan_remove(name: str, project: str, others: bool = False) -> list[FileChange]:
    """Return the changes that disconnect a host; with `others`, also from files that it shares with other hosts."""
    edits = [
        *_server_edits(name, project, False, others),
        *_hook_edits(name, project, False),
    ]
    changes = [_with_note(change, name, project) for change in _changes(edits, project)]
    skill = _skill_changes(name, project, False, others)
    return [*_owned_plugin(name, project, False), *changes, *skill]


def plan_remove_all(project: str) -> list[FileChange]:
    """Return the changes that disconnect all hosts of a project, one for each file; skip files that cannot be edited."""
    changes: dict[str, FileChange] = {}
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
    return any(not change.is_none or change.why for change in changes)


def is_read_in(name: str, project: str, folder: str) -> bool:
    """Return whether a host that is connected in a project calls us if it is started in a folder of the project."""
    return (
        HOSTS[name].reads_above
        or not is_inside(folder, project)
        or is_connected(name, folder)
        or is_connected(name, "")
    )


def has_our_server(name: str, project: str) -> bool:
    """Return whether a server with our name is among the MCP servers of a host."""
    file = servers_file(name, project)
    return bool(file) and _names_server(name, file, read_whole(file, project))


def how_to_complete(name: str, project: str) -> str:
    """Return the command that installs the package of our MCP server; empty if it is there, or the host starts no server."""
    is_missing = has_our_server(name, project) and not find_spec("mcp")
    return how_to_add("mcp") if is_missing else ""


def carry_out(changes: list[FileChange], project: str) -> None:
    """Write the files, and remove folders of the project that become empty."""
    for change in changes:
        if not change.is_none:
            write_change(change, project)
            if change.after is None and project:
                _remove_empty(os.path.dirname(change.path), project)


def _owned_plugin(name: str, project: str, connect: bool) -> list[FileChange]:
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


def _changes(edits: list[tuple[str, Edit]], project: str) -> list[FileChange]:
    """Return one change for each file, with all its edits."""
    by_file: dict[str, list[Edit]] = {}
    for file, edit in edits:
        by_file.setdefault(file, []).append(edit)
    return [_edited(file, one, project) for file, one in by_file.items()]


def _with_note(change: FileChange, name: str, project: str) -> FileChange:
    """Return the change, with a note if a server with our name stays because a person edited it."""
    if change.path != servers_file(name, project) or not _names_server(
        name, change.path, change.after
    ):
        return change
    return replace(
        change,
        why=f"its server 'rawkomem' differs from what '{MARK}' writes: remove it yourself",
    )


def _names_server(name: str, file: str, data: bytes | None) -> bool:
    return has_server(
        parsed((data or b"").decode("utf-8-sig"), _is_toml(file)), HOSTS[name].mcp.key
    )


def _is_toml(file: str) -> bool:
    return file.endswith(".toml")


def _skill_changes(
    name: str, project: str, connect: bool, others: bool = False
) -> list[FileChange]:
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


def _edited(file: str, edits: Sequence[Edit], project: str) -> FileChange:
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
    return FileChange(file, before, data)


def _owned_change(file: str, text: bytes, connect: bool, project: str) -> FileChange:
    """Return the change of a file that belongs to us as a whole.

    A file that a person edited is not changed. A file of somebody else is not changed; connecting raises Refused.
    """
    before = read_whole(file, project)
    if before is None:
        return FileChange(file, None, sealed(text) if connect else None)
    if MARK.encode() not in before:
        if connect:
            raise Refused(
                f"{file} exists, and rawkomem did not write it",
                "move it away first; nothing was changed",
            )
        return FileChange(file, before, before)
    if not is_as_written(before):
        return FileChange(
            file,
            before,
            before,
            "it was edited by hand: delete it yourself if you do not want it",
        )
    return FileChange(file, before, sealed(text) if connect else None)


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
    if command := how_to_complete(name, project):
        text = "starts the MCP server, which needs a package that is not installed"
        return Finding(name, False, text, f"run: {command}")
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
