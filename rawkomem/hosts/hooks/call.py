"""Read what a host passes to a hook on stdin as one Call, although hosts spell its fields differently.

A host may run a hook that was set up for another one (VS Code, Copilot and Cursor read Claude Code's settings too), so
the spellings of all records are understood for every host.
"""

from __future__ import annotations

import os

from ...model.errors import BadInput
from ...text.quick_json import read_json
from ..host import EVENTS, Call
from ..records import ALIASES, HOSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..host import Fields

FIELDS = (
    ("session_id", "session"), ("prompt", "prompt"), ("cwd", "folder"), ("transcript_path", "transcript"),
    ("last_assistant_message", "reply"), ("source", "why"), ("reason", "why"),
    ("prompt_id", "prompt_id"),
)  # fmt: skip  # Claude Code's names of fields → those of Call
MAX_INPUT_BYTES = 16 * 2**20  # that are looked at: a prompt with a pasted log, or the messages of a long turn
MAX_STDIN_BYTES = 512 * 2**20  # that are read at all, so that the host need not meet a closed pipe
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # as some Windows programs write it


def read_call(name: str, event: str, data: bytes) -> Call:
    """Return the call of a hook, by the words of its command line and the JSON on stdin."""
    name = ALIASES.get(name, name)
    if name not in HOSTS:
        raise BadInput(f"unknown host {name!r}", "one of " + ", ".join(HOSTS))
    known = _event(event)
    if len(data) > MAX_INPUT_BYTES:
        raise BadInput(f"more than {MAX_INPUT_BYTES >> 20} MB on stdin")
    try:
        fields = read_json(data.removeprefix(BYTE_ORDER_MARK).decode())
    except (ValueError, RecursionError) as failure:
        raise BadInput(f"stdin is no JSON: {str(failure)[:80]}") from None
    if not isinstance(fields, dict):
        raise BadInput("stdin is no JSON object")
    said = _said(fields)
    if "transcript" not in said:
        said["transcript"] = next(filter(None, _environment("transcript_variable")), "")
    return Call(_speaker(name, fields), known, fields, **said)


def _said(fields: Fields) -> dict[str, str]:
    """Return the fields of a Call that are passed; of several spellings, the first that holds a text counts."""
    said: dict[str, str] = {}
    for theirs, ours in (*FIELDS, *(pair for host in HOSTS.values() for pair in host.fields)):
        if ours not in said and theirs in fields and (text := _text(fields[theirs])):
            said[ours] = text
    return said


def read_stdin(descriptor: int = 0) -> bytes:
    """Return what is on stdin, as far as it is looked at; read and drop the rest. A terminal is not read."""
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


def folders(call: Call | None) -> list[str]:
    """Return where the repository may be, the likeliest first."""
    named = [os.environ.get("RAWKOMEM_DIR", ""), call.folder if call else "", *_environment("project_variable")]
    return [*(folder for folder in named if folder), os.curdir]


def _environment(kind: str) -> list[str]:
    """Return what the environment variables of this kind say, for all hosts that have one."""
    return [os.environ.get(variable, "") for host in HOSTS.values() if (variable := getattr(host, kind))]


def _event(name: str) -> str:
    """Return our name of an event, which may be given by any host's name of it, in any case and with any marks."""
    if name in EVENTS:
        return name
    names = [pair for host in HOSTS.values() for pair in (*host.events, *host.more_events)]
    for theirs, ours in (*names, *zip(EVENTS, EVENTS, strict=True), ("start", EVENTS[0]), ("end", EVENTS[-1])):
        if _letters(theirs) == _letters(name):
            return ours
    raise BadInput(f"unknown event {name!r}", "one of " + ", ".join(EVENTS))


def _letters(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalpha())


def _speaker(name: str, fields: Fields) -> str:
    """Return who is at the other end: Cursor tells, also where it runs a hook of Claude Code's settings."""
    return next((other for other, host in HOSTS.items() if host.mark and host.mark in fields), name)


def _text(value: object) -> str:
    """Return a text, or the first of a list; half a pair of surrogates, which no file can hold, becomes a mark."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
