"""Read files of recorded sessions: JSON, plain or compressed with xz, with Claude Code's records of each session."""

from __future__ import annotations

import json
import lzma
import re
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput

if TYPE_CHECKING:
    Record = dict[str, Any]

COMPACTED = "This session is being continued from a previous conversation"  # start of the prompt after a compaction
COMPRESSED = ".xz"
SHORTENED = "x"  # only input key of a tool call in published histories; it holds the call as Markdown
NAMED_FILE = re.compile(r"</summary>\s*`([^`\n]+)`|The file (\S+) has been")


def read_records(file: str) -> list[Record]:
    """Return the sessions in a JSON file. Raise BadInput if it cannot be read or has no sessions."""
    hint = "name a JSON file with sessions, each with an id and Claude Code's records; see 'rawkomem docs bench'"
    try:
        with lzma.open(file) if file.endswith(COMPRESSED) else open(file, "rb") as stream:
            found = json.load(stream)["sessions"]
    except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as failure:
        why = getattr(failure, "strerror", None) or failure
        raise BadInput(f"cannot read sessions from {file}: {why}", hint) from None
    if not isinstance(found, list) or not all(isinstance(one, dict) and "records" in one for one in found):
        raise BadInput(f"{file} holds no sessions", hint)
    return found


def holds_sessions(file: str) -> bool:
    """Tell whether a file holds recorded sessions instead of a transcript."""
    if not file.endswith(".json"):
        return file.endswith(COMPRESSED)
    try:
        with open(file, "rb") as stream:
            found = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and isinstance(found.get("sessions"), list)


def with_paths(line: Record) -> Record:
    """Return a record in which shortened tool calls have a `file_path`, as the host writes it."""
    message = line.get("message")
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return line
    content = [_call(part) if isinstance(part, dict) else part for part in message["content"]]
    return {**line, "message": {**message, "content": content}}


def _call(part: Record) -> Record:
    given = part.get("input") if part.get("type") == "tool_use" else None
    said = str(given.get(SHORTENED, "")) if isinstance(given, dict) else ""
    found = NAMED_FILE.search(said) if part.get("name") in ("Read", "Edit", "Write") else None
    return {**part, "input": {"file_path": found[1] or found[2]}} if found else part
