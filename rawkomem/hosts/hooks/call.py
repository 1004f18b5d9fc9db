"""What a host tells a hook on stdin. Hosts spell the same few things differently; here they become one Call.

The spellings are those of docs/hosts.md. A host may run a hook that was set up for another one (VS Code, Copilot and
Cursor read Claude Code's settings too), so every spelling is understood for every host.
"""

from __future__ import annotations

import os

from ...model.errors import BadInput
from ...model.record import record
from ...text.quick_json import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Fields = Mapping[str, object]

START, PROMPT, TURN, END = "session-start", "prompt", "turn-end", "session-end"
LEARN = "learn"  # what the process that is left behind is called with; no host calls it
EVENTS = {
    START: ("sessionstart", "start"),
    PROMPT: (
        "prompt",
        "userpromptsubmit",
        "userpromptsubmitted",
        "userprompttransformed",
        "beforesubmitprompt",
        "beforeagent",
    ),
    TURN: ("turnend", "stop", "agentstop", "afteragent", "afteragentresponse", "sessionidle", "subagentstop"),
    END: ("sessionend", "end", "sessiondeleted"),
}  # each with the hosts' own names, in lower case without marks
HOSTS = ("claude", "codex", "opencode", "cursor", "copilot", "gemini", "vscode")
LARGEST = 16 * 2**20  # bytes that are looked at: a prompt with a pasted log, or the messages of a long turn
MARK = b"\xef\xbb\xbf"  # of UTF-8, as some Windows programs write it
DRAINED = 512 * 2**20  # bytes that are read at all, so that the host need not meet a closed pipe
PROJECTS = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR")  # environment: where hosts were started


@record
class Call:
    """One call of a hook: who calls, when, and what is told with it. What was not told is empty."""

    host: str
    event: str
    fields: Fields
    session: str = ""
    prompt: str = ""
    folder: str = ""  # where the agent works
    transcript: str = ""  # a file
    reply: str = ""  # the agent's last words
    why: str = ""  # a session starts, or ends


def read_call(host: str, event: str, data: bytes) -> Call:
    """The call of a hook, by the words of its command line and the JSON on stdin."""
    if host not in HOSTS:
        raise BadInput(f"unknown host {host!r}", "one of " + ", ".join(HOSTS))
    known = _event(event)
    if len(data) > LARGEST:
        raise BadInput(f"more than {LARGEST >> 20} MB on stdin")
    try:
        fields = read_json(data.removeprefix(MARK).decode())
    except (ValueError, RecursionError) as failure:
        raise BadInput(f"stdin is no JSON: {str(failure)[:80]}") from None
    if not isinstance(fields, dict):
        raise BadInput("stdin is no JSON object")
    return Call(
        host=_speaker(host, fields),
        event=known,
        fields=fields,
        session=_text(fields, "session_id", "sessionId", "conversation_id", "sessionID"),
        prompt=_text(fields, "prompt"),
        folder=_text(fields, "cwd") or _root(fields),
        transcript=_text(fields, "transcript_path", "transcriptPath") or os.environ.get("CURSOR_TRANSCRIPT_PATH", ""),
        reply=_text(fields, "last_assistant_message", "prompt_response", "text"),
        why=_text(fields, "source", "reason"),
    )


def read_stdin(descriptor: int = 0) -> bytes:
    """Everything on stdin, as far as it is looked at; the rest is read and dropped. Nothing from a terminal."""
    if os.isatty(descriptor):
        return b""
    kept: list[bytes] = []
    length = 0
    while length < DRAINED:
        piece = os.read(descriptor, 2**20)
        if not piece:
            break
        if length <= LARGEST:
            kept.append(piece)
        length += len(piece)
    return b"".join(kept)


def folders(call: Call | None) -> list[str]:
    """Where the repository may be, the likeliest first."""
    told = call.folder if call else ""
    named = [os.environ.get("RAWKOMEM_DIR", ""), told, *(os.environ.get(name, "") for name in PROJECTS)]
    return [*(folder for folder in named if folder), os.curdir]


def _event(name: str) -> str:
    bare = "".join(c for c in name.lower() if c.isalpha())
    for event, names in EVENTS.items():
        if bare in names:
            return event
    raise BadInput(f"unknown event {name!r}", "one of " + ", ".join(EVENTS))


def _speaker(host: str, fields: Fields) -> str:
    """Who is at the other end: Cursor says so, also where it runs a hook of Claude Code's settings."""
    return "cursor" if host == "claude" and "cursor_version" in fields else host


def _text(fields: Fields, *names: str) -> str:
    """The first of these fields that is a text; half a pair of surrogates, which no file can hold, becomes a mark."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return ""


def _root(fields: Fields) -> str:
    """The first folder of a workspace: Cursor names no other."""
    roots = fields.get("workspace_roots")
    return _text({"root": roots[0]}, "root") if isinstance(roots, list) and roots else ""
