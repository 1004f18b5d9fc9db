"""Recognize our MCP server, and our handlers, which run `rawkomem hook …` by any path and in any host's format."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS = "args"  # the key of the arguments of a program that is started without a shell
NAMES = ("rawkomem", "rawko")
PROGRAM = NAMES[0]
CMD_KEY = "commandWindows"  # the key of a command line for cmd.exe
COMMANDS = (
    "command",
    CMD_KEY,
    "bash",
    "powershell",
    "exec",
)  # keys of a handler that hold a command line or a program
# On a machine without rawkomem, no error may appear at each prompt, so the exit code is always 0. The first form works
# in sh, Git Bash and PowerShell; cmd.exe needs the second.
ALWAYS_0, ALWAYS_0_IN_CMD = "; exit 0", " & exit /b 0"


def calls_us(handler: object) -> bool:
    """Tell whether a handler runs our hook."""
    return isinstance(handler, dict) and any(_words(handler, key) for key in COMMANDS)


def guarded(line: str, key: str = "") -> str:
    """Return a command line that exits with 0 even if the program is missing."""
    return line + (ALWAYS_0_IN_CMD if key == CMD_KEY else ALWAYS_0)


def is_server(entry: object) -> bool:
    """Tell whether an entry of a host's MCP servers is exactly ours: our program with the only argument `mcp`."""
    return isinstance(entry, dict) and entry.get("command") == PROGRAM and entry.get(ARGUMENTS) == ["mcp"]


def by_name(item: object) -> object:
    """Return an item of a host's list, normalized for a comparison: a path to our program is replaced by its name.

    A path comes from a person, so its line counts as guarded. A plain name without a guard is our older form and stays.
    """
    if isinstance(item, list):
        return [by_name(one) for one in item]
    if not isinstance(item, dict):
        return item
    called = {key: line for key in COMMANDS if (line := _line(item, key))}
    return {key: called.get(key) or by_name(value) for key, value in item.items() if not (called and key == ARGUMENTS)}


def _line(handler: Mapping[str, object], key: str) -> str:
    line = " ".join((PROGRAM, *_words(handler, key))) if _words(handler, key) else ""
    if not line or str(handler[key]).startswith(f"{PROGRAM} "):
        return line
    return guarded(line.removesuffix(ALWAYS_0).removesuffix(ALWAYS_0_IN_CMD), key)


def _words(handler: Mapping[str, object], key: str) -> list[str]:
    """Return the arguments of a command if it runs our hook; else an empty list."""
    line, given = handler.get(key), handler.get(ARGUMENTS)
    if not isinstance(line, str):
        return []
    program, words = (line, [str(word) for word in given]) if isinstance(given, list) else _parted(line)
    name = program.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    return words if name in NAMES and words[:1] == ["hook"] else []


def _parted(line: str) -> tuple[str, list[str]]:
    """Return the program of a command line, which may be quoted, and its arguments."""
    line = line.strip()
    if line[:1] in ('"', "'"):
        program, _, rest = line[1:].partition(line[0])
        return program, rest.split()
    program, *words = line.split() or [""]
    return program, words
