"""Recognize our handlers: those that run `rawkomem hook …`, by any path and in any form that a host takes."""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS = ("command", "bash", "powershell", "exec")  # keys of a handler that hold a command line, or a program
ARGUMENTS = "args"  # the words after a program that is started without a shell
NAMES = ("rawkomem", "rawko")
PROGRAM = NAMES[0]


def calls_us(handler: object) -> bool:
    """Tell whether a handler runs our hook."""
    return isinstance(handler, dict) and any(_words(handler, key) for key in COMMANDS)


def by_name(item: object) -> object:
    """Return an item of a host's list with us called by name; a path that somebody wrote counts as the name."""
    if isinstance(item, list):
        return [by_name(one) for one in item]
    if not isinstance(item, dict):
        return item
    called = {key: " ".join((PROGRAM, *words)) for key in COMMANDS if (words := _words(item, key))}
    return {key: called.get(key) or by_name(value) for key, value in item.items() if not (called and key == ARGUMENTS)}


def _words(handler: Mapping[str, object], key: str) -> list[str]:
    """Return the words after the program if it is ours and runs a hook, or else nothing."""
    line, given = handler.get(key), handler.get(ARGUMENTS)
    if not isinstance(line, str):
        return []
    program, words = (line, [str(word) for word in given]) if isinstance(given, list) else _parted(line)
    name = program.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    return words if name in NAMES and words[:1] == ["hook"] else []


def _parted(line: str) -> tuple[str, list[str]]:
    """Return the program of a command line, which may be quoted, and the words after it."""
    line = line.strip()
    if line[:1] in ('"', "'"):
        program, _, rest = line[1:].partition(line[0])
        return program, rest.split()
    program, *words = line.split() or [""]
    return program, words
