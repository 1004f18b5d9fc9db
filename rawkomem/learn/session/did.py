"""Read from a host's tool calls and results what a tool was asked to do, and whether it failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .turns import Did

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND_KEYS = ("command", "cmd")
FILE_KEYS = ("file_path", "filePath", "path", "notebook_path", "absolute_path")
NEW_KEYS = ("new_string", "newString", "new_str", "new_source", "content", "contents", "file_text")
OLD_KEYS = ("old_string", "oldString", "old_str")
PATCH_KEYS = ("input", "patch", "patchText")
SHELL_FLAGS = ("-c", "-lc", "-ic", "-Command")  # the next word is the command
PATCH = "*** Begin Patch"
PATCHED_FILES = ("*** Add File: ", "*** Update File: ", "*** Move to: ")
EXIT = re.compile(r"(?im)^(?:exit|process exited with|<exited with exit) code:? (\d{1,3})>?[ \t]*$")
EXIT_CHARS = 400  # from the start and from the end of an output, where hosts state the exit code


def calls(id: str, given: object) -> Iterator[Did]:
    """Yield what a call asks for: one command, or each file that it writes. If it has neither, yield an empty Did."""
    input = given if isinstance(given, dict) else {}
    command = "" if _first(input, FILE_KEYS) else command_of(_first(input, COMMAND_KEYS))
    patch = given if isinstance(given, str) else next((text for text in map(input.get, PATCH_KEYS) if text), command)
    if isinstance(patch, str) and PATCH in patch:
        yield from _patched(id, patch)
    elif command:
        yield Did(id, command)
    else:
        yield _edited(id, input)


def command_of(value: object) -> str:
    """Return a command as a person would type it, without `bash -c` before it."""
    if isinstance(value, str):
        return value.strip()
    words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
    return words[2].strip() if len(words) == 3 and words[1] in SHELL_FLAGS else " ".join(words)


def exit_failed(output: str) -> bool | None:
    """Return whether an output states an exit code other than 0; None if it states no exit code."""
    found = EXIT.search(output[:EXIT_CHARS]) or EXIT.search(output[-EXIT_CHARS:])
    return found[1] != "0" if found else None


def _edited(id: str, input: dict[str, Any]) -> Did:
    file = _first(input, FILE_KEYS)
    edits = input.get("edits")
    parts = [part for part in edits if isinstance(part, dict)] if isinstance(edits, list) else [input]
    written = [_added(part) for part in parts if any(key in part for key in NEW_KEYS)]
    return Did(id, file=file, written="\n".join(written)) if isinstance(file, str) and written else Did(id)


def _added(part: dict[str, Any]) -> str:
    """Return the lines that an edit adds, without those that were in the old text."""
    new, old = _first(part, NEW_KEYS), _first(part, OLD_KEYS)
    before = set(old.split("\n")) if isinstance(old, str) else set()
    lines = new.split("\n") if isinstance(new, str) else []
    return "\n".join(line for line in lines if line not in before or not line).strip("\n")


def _patched(id: str, patch: str) -> Iterator[Did]:
    """Yield each file of an apply_patch patch, with the lines that the patch adds to it."""
    file, added = "", list[str]()
    for line in [*patch.partition(PATCH)[2].split("\n"), PATCHED_FILES[0]]:
        name = next((line.removeprefix(mark) for mark in PATCHED_FILES if line.startswith(mark)), None)
        if name is not None and (added or not line.startswith(PATCHED_FILES[2])):
            if file:
                yield Did(id, file=file, written="\n".join(added).strip("\n"))
            added = []
        if name is not None:
            file = name.strip()
        elif line.startswith("+"):
            added.append(line[1:])


def _first(values: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((values[key] for key in keys if values.get(key)), "")
