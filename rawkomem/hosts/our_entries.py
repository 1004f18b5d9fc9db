"""Our entries in the settings of hosts: recognize, add and remove our hooks and our MCP server, in JSON
and in TOML.

Hosts store hooks as `{"hooks": {"Event": [item, …]}}`. An item is a handler, or a group with a list
of handlers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

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
