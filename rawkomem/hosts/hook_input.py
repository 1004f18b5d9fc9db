"""Read the JSON that a host passes to a hook on stdin as a Call. Hosts use different names for its fields.

A host may run a hook that was set up for another host (VS Code, Copilot and Cursor also read Claude Code's settings), so
the names of all hosts are understood in every call. Every hook loads this module, so it imports little.
"""

from __future__ import annotations

import json
import os

from ..files.layout import Layout, find_layout
from ..model.errors import BadInput, NotFound
from .known_hosts import ALIASES, EVENTS, HOSTS, Call, Fields

# Claude Code's names of fields → those of Call
FIELDS = {
    # a sub-agent has a context of its own, so it counts as a session
    "agent_id": "session", "agentId": "session",
    "session_id": "session", "prompt": "prompt", "cwd": "folder", "transcript_path": "transcript",
    "last_assistant_message": "reply", "source": "why", "reason": "why",
    "prompt_id": "prompt_id",
}  # fmt: skip
# enough for a prompt with a pasted log, or for the messages of a long turn
MAX_INPUT_BYTES = 16 * 2**20
# more input is read and dropped up to this, so that the host does not get a closed pipe
MAX_STDIN_BYTES = 512 * 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some Windows programs write it


def read_call(name: str, event: str, data: bytes) -> Call:
    """Return the call of a hook from its command line (host, event) and stdin. Raises BadInput if they are invalid."""
    name = ALIASES.get(name, name)
    if name not in HOSTS:
        raise BadInput(f"unknown host {name!r}", "one of " + ", ".join(HOSTS))
    event = HOSTS[name].events.get(event, event)
    if event not in EVENTS:
        raise BadInput(f"unknown event {event!r}", "one of " + ", ".join(EVENTS))
    if len(data) > MAX_INPUT_BYTES:
        raise BadInput(f"more than {MAX_INPUT_BYTES >> 20} MB on stdin")
    try:
        fields = json.loads(data.removeprefix(BYTE_ORDER_MARK).decode(), strict=False)
    except (ValueError, RecursionError) as failure:
        raise BadInput(f"stdin is not JSON: {str(failure)[:80]}") from None
    if not isinstance(fields, dict):
        raise BadInput("stdin is not a JSON object")
    texts = _call_fields(fields)
    if "transcript" not in texts:
        texts["transcript"] = next(
            filter(None, _environment("transcript_variable")), ""
        )
    # Cursor marks its calls, even if it runs a hook of Claude Code's settings.
    marked = [
        other for other, host in HOSTS.items() if host.mark and host.mark in fields
    ]
    return Call(marked[0] if marked else name, event, fields, **texts)


def _call_fields(fields: Fields) -> dict[str, str]:
    """Return the fields of a Call that the host passes; of several names, the first with a text counts."""
    texts: dict[str, str] = {}
    for theirs, ours in (
        *FIELDS.items(),
        *(pair for host in HOSTS.values() for pair in host.fields.items()),
    ):
        if (
            ours not in texts
            and theirs in fields
            and (text := _field_text(fields[theirs]))
        ):
            texts[ours] = text
    return texts


def read_stdin(descriptor: int = 0) -> bytes:
    """Return stdin up to about MAX_INPUT_BYTES; read and drop the rest. Return nothing if stdin is a terminal."""
    if os.isatty(descriptor):
        return b""
    kept: list[bytes] = []
    length = 0
    while length < MAX_STDIN_BYTES:
        piece = os.read(descriptor, 2**20)
        if not piece:
            break
        if length <= MAX_INPUT_BYTES:
            kept.append(piece)
        length += len(piece)
    return b"".join(kept)


def as_json(answer: object) -> bytes:
    """Return an answer as a line of JSON."""
    return f"{json.dumps(answer)}\n".encode()


def say(data: bytes) -> None:
    """Write all bytes to stdout without Python's buffers, which would raise an error at exit if stdout is closed."""
    while data:
        data = data[os.write(1, data) :]


def project_of(folder: str, call: Call | None) -> Layout | None:
    """Return the repository of a folder or, if it is empty, of the folders that a call names; None if there is none."""
    for start in [folder] if folder else likely_folders(call):
        try:
            return find_layout(start)
        except NotFound:
            continue
    return None


def likely_folders(call: Call | None) -> list[str]:
    """Return the folders in which to look for the repository, the likeliest first."""
    named = [
        os.environ.get("RAWKOMEM_DIR", ""),
        call.folder if call else "",
        *_environment("project_variable"),
    ]
    return [*(folder for folder in named if folder), os.curdir]


def _environment(kind: str) -> list[str]:
    """Return the values of the environment variables that the hosts' field `kind` names."""
    return [
        os.environ.get(variable, "")
        for host in HOSTS.values()
        if (variable := getattr(host, kind))
    ]


def _field_text(value: object) -> str:
    """Return a text, or the first item of a list; empty for other values. Lone surrogates are replaced by `?`."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str):
        return ""
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode("utf-8")
