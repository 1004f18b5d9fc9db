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

# Recognize our MCP server, and our handlers, which run `rawkomem hook …` by any path and in any
# host's format.

# the key of the arguments of a program that is started without a shell
ARGUMENTS = "args"
CMD_KEY = "commandWindows"  # the key of a command line for cmd.exe
COMMANDS = (
    "command",
    CMD_KEY,
    "bash",
    "powershell",
    "exec",
)  # keys of a handler that hold a command line or a program
PROGRAM_NAMES = ("rawkomem", "rawko")
# Our program by its name or a path, which may be quoted, before its arguments.
OUR_PROGRAM = re.compile(
    r"""\s*(?:"(?:[^"]*[/\\])?rawko(?:mem)?(?:\.exe)?"|'(?:[^']*[/\\])?rawko(?:mem)?(?:\.exe)?'"""
    r"""|(?:\S*[/\\])?rawko(?:mem)?(?:\.exe)?)\s+(?=hook(?:\s|$))"""
)
# On a machine without rawkomem, no error may appear at each prompt, so the exit code is always 0. The first form works
# in sh, Git Bash and PowerShell; cmd.exe needs the second.
ALWAYS_0, ALWAYS_0_IN_CMD = "; exit 0", " & exit /b 0"


def calls_us(handler: object) -> bool:
    """Tell whether a handler runs our hook."""
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
    line, arguments = handler.get(key), handler.get(ARGUMENTS)
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


# Read and write the text of a settings file.

Settings = dict[str, Any]
Edit = Callable[[Settings], None]
INDENT = "  "  # if the file has no indentation to copy
TEXT_OR_COMMENT = re.compile(
    r'("(?:\\.|[^"\\])*(?:"|\Z))|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)
TEXT_OR_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)


class HasComments(ValueError):
    """Raised if a JSON file has comments or trailing commas, which an edit would lose."""


def edited(text: str, edits: Sequence[Edit], is_toml: bool) -> str:
    """Return the text of a settings file after some edits; empty if no settings remain.

    An edit keeps the comments and the layout of TOML, and the indentation and line ends of JSON. Raises ValueError if
    the file cannot be parsed or edited.
    """
    before, after = parsed(text, is_toml), parsed(text, is_toml)
    for edit in edits:
        edit(after)
    if after == before:
        return text
    if is_toml:
        made = tomlkit.dumps(after)
    else:
        _check_strict(text)
        made = _json_text(after, text) if after else ""
    end = text[len(text.rstrip()) :] if text.strip() else "\n"
    return made.rstrip() + end if made.strip() else ""


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
    bare = TEXT_OR_COMMENT.sub(lambda found: found[1] or " ", text)
    bare = TEXT_OR_LAST_COMMA.sub(lambda found: found[1] or " ", bare)
    settings = json.loads(bare) if bare.strip() else {}
    if not isinstance(settings, dict):
        raise ValueError("the file is not a JSON object")
    return settings


def _check_strict(text: str) -> None:
    """Raise ValueError if writing the parsed JSON back would lose comments or a duplicate key."""
    try:
        json.loads(
            text if text.strip() else "{}", object_pairs_hook=_without_duplicates
        )
    except json.JSONDecodeError:
        raise HasComments(
            "it has comments or trailing commas, which rawkomem cannot keep"
        ) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Settings:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("it has the same key twice in an object")
    return members


def _json_text(settings: Settings, before: str) -> str:
    """Return settings as JSON, with the indentation and the line ends of the earlier text."""
    indented = re.search(r"^[ \t]+(?=\S)", before, re.MULTILINE)
    text = json.dumps(
        settings, indent=indented[0] if indented else INDENT, ensure_ascii=False
    )
    return text.replace("\n", "\r\n" if "\r\n" in before else "\n")


# Add our hooks and our MCP server to parsed settings, and remove them.

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
    """Remove our items, and the lists and objects that become empty."""
    for event, items, index in _our_items(settings):
        handlers = items[index].get(HOOKS, [])
        for at in reversed(range(len(handlers))):
            if calls_us(handlers[at]):
                del handlers[at]
        if not handlers:
            del items[index]
        if not items:
            del settings[HOOKS][event]
        if not settings[HOOKS]:
            del settings[HOOKS]
    if settings.keys() == {VERSION}:
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
        if not settings[key]:
            del settings[key]


def has_server(settings: Settings, key: str) -> bool:
    """Tell whether there is a server with our name, edited or not."""
    servers = settings.get(key)
    return isinstance(servers, dict) and SERVER_NAME in servers
