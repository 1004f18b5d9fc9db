"""Read the end of a session's transcript: the last exchange, and the files that were touched recently.

The formats of hosts differ and change, so the reader looks only for roles, texts and tool calls in a record, and skips
everything else. A prompt waits for this module, so it reads a limited number of bytes and imports few modules.
"""

from __future__ import annotations

import json
import os

from ...model.record import record
from ...text.paths import path_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_TAIL_BYTES = 256 * 1024
MAX_SAID_CHARS = 1_200  # of the agent's last message: its end, because people answer the end
MAX_ASKED_CHARS = 600  # of the prompt before it: its beginning
MAX_TOUCHED = 12
MAX_PATH_CHARS = 300
USER, ASSISTANT, DID = "user", "assistant", "tool"
WORDS = ("text", "input_text", "output_text")  # types of content parts with a text
CALLS = ("tool_use", "function_call", "custom_tool_call")  # types of parts and payloads that call a tool
PATHS = ("file_path", "notebook_path", "filePath", "path")  # inputs of tools that name a file; `path` may be a folder
PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")  # lines of apply_patch
ROLES = {"human": USER, "ai": ASSISTANT, "model": ASSISTANT, "gemini": ASSISTANT}
CALL_MARKS = tuple(kind.encode() for kind in CALLS)  # every line with a tool call has one of these
AGENT_MARKS = (b'"assistant', b'"ai', b'"model', b'"gemini', b'"agent_message')  # every line of an agent has one
HOSTS_OWN = ("<", "[Request interrupted", "Caveat: ", "This session is being continued from")  # texts of the host


@record
class Lately:
    """The last exchange and recently touched files of a session; fields that the transcript does not show are empty."""

    said: str = ""  # the agent's last message
    asked: str = ""  # the person's prompt before it
    touched: tuple[str, ...] = ()  # files, relative to the project, the latest first

    @property
    def exchange(self) -> str:
        """Return the person's prompt, then the agent's message."""
        return "\n\n".join(part for part in (self.asked, self.said) if part)


def lately(transcript: str, project: str, prompt: str = "") -> Lately:
    """Return the last exchange and touched files of a transcript.

    `prompt` is the present one. It is skipped if the transcript already holds it.
    """
    return lately_in(tail(transcript), project, prompt)


def lately_in(end: bytes, project: str, prompt: str = "") -> Lately:
    """Return the last exchange and touched files from the last bytes of a transcript."""
    said = asked = ""
    touched: dict[str, None] = {}
    for line in reversed(end.split(b"\n")):
        if asked and not _has(line, CALL_MARKS) and (said or not _has(line, AGENT_MARKS)):
            continue  # parsing the line would take ten times as long
        for who, what in reversed([*_parts(_read(line))]):
            if who == DID:
                touched.update(dict.fromkeys(filter(None, (_relative(path, project) for path in _paths(what)))))
            elif who == ASSISTANT:
                said = said or str(what).strip()
            elif not asked and str(what).strip() != prompt.strip() and not str(what).lstrip().startswith(HOSTS_OWN):
                asked = str(what).strip()
        if said and asked and len(touched) >= MAX_TOUCHED:
            break
    return Lately(said[-MAX_SAID_CHARS:], asked[:MAX_ASKED_CHARS], tuple(touched)[:MAX_TOUCHED])


def tail(transcript: str, start: int = 0) -> bytes:
    """Return the last bytes of a transcript, at most MAX_TAIL_BYTES and from `start` on; empty if it is unreadable."""
    try:
        if not os.path.isfile(transcript):
            return b""
        with open(transcript, "rb", buffering=0) as stream:
            stream.seek(max(start, stream.seek(0, os.SEEK_END) - MAX_TAIL_BYTES))
            return stream.read(MAX_TAIL_BYTES)
    except OSError:
        return b""


def _has(line: bytes, marks: tuple[bytes, ...]) -> bool:
    return any(map(line.__contains__, marks))


def _read(line: bytes) -> dict[str, object]:
    """Return the record of a line; empty if the line is not JSON, or is incomplete."""
    try:
        return json.loads(line.decode("utf-8", "replace"), strict=False) if line.startswith(b"{") else {}
    except (ValueError, RecursionError):
        return {}


def _parts(line: dict[str, object]) -> Iterator[tuple[str, object]]:
    """Yield (role, text) and (DID, tool input) for the parts of a record, without sub-agents and notes of the host."""
    if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
        return
    body = next((line[key] for key in ("message", "payload", "data") if isinstance(line.get(key), dict)), line)
    if not isinstance(body, dict):
        return
    kind = str(body.get("type"))
    if kind in CALLS:
        yield DID, body.get("arguments", body.get("input"))
    elif kind in ("user_message", "agent_message"):
        yield (USER if kind == "user_message" else ASSISTANT), body.get("message")
    else:
        role = str(body.get("role") or line.get("role") or line.get("type")).partition(".")[0]
        yield from _said(ROLES.get(role, role), body.get("content"))


def _said(role: str, content: object) -> Iterator[tuple[str, object]]:
    if role not in (USER, ASSISTANT):
        return
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        if not isinstance(part, dict):
            continue
        if part.get("type") in CALLS:
            yield DID, part.get("input")
        elif part.get("type") in WORDS and str(part.get("text") or "").strip():
            yield role, part["text"]


def _paths(given: object) -> list[str]:
    """Return the files that the input of a tool names. Codex passes the input as a text."""
    if isinstance(given, str):
        if "*** Begin Patch" in given:
            return _patched(given.replace("\\n", "\n"))
        try:
            given = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            return []
    if not isinstance(given, dict):
        return []
    named = [str(given[key]) for key in PATHS if isinstance(given.get(key), str) and _is_file(key, given[key])]
    return named[:1] or [path for value in given.values() if isinstance(value, str) for path in _patched(value)]


def _is_file(key: str, path: str) -> bool:
    """Tell whether an input names a file. Search tools also have a `path`, which is mostly a folder."""
    return key != PATHS[-1] or "." in path.replace("\\", "/").rpartition("/")[2]


def _patched(patch: str) -> list[str]:
    return [line.removeprefix(mark).strip() for line in patch.split("\n") for mark in PATCHED if line.startswith(mark)]


def _relative(path: str, project: str) -> str:
    """Return a path relative to the project; empty for a folder and for a path outside the project."""
    path = path_below(path, project)
    return path if path.rpartition("/")[2].strip(".") and len(path) <= MAX_PATH_CHARS else ""
