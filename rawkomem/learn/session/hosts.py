"""Readers of each host's transcripts: a record's shape shows which host wrote it, and an unknown record is skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...model.clock import read_time
from .turns import ASSISTANT, SYSTEM, TOOL, USER, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Record = dict[str, Any]

ROLES = {  # every other role is the host's own: system, developer, info
    **dict.fromkeys(("user", "human"), USER),
    **dict.fromkeys(("assistant", "ai", "model", "gemini"), ASSISTANT),
    **dict.fromkeys(("tool", "function"), TOOL),
}
CLAUDE_IDS = {"sessionId", "uuid", "leafUuid"}  # Claude Code's records have at least one
CHAT = "chat"  # the reader of lists that no host in particular writes
TEXTS = ("text", "input_text", "output_text")  # types of content parts that hold words
MAX_SECONDS = 10_000_000_000  # a time above this is in milliseconds: in seconds it would be the year 2286


def host_of(record: Record) -> str:
    """Return the name of the reader that knows a record; empty for a record of unknown shape."""
    return next((name for name, (knows, _) in READERS.items() if knows(record)), "")


def turns_of(record: Record, host: str) -> Iterator[Turn]:
    """Return what was said in a record."""
    return READERS[host][1](record)


def _claude(record: Record) -> Iterator[Turn]:
    """Yield the turns of Claude Code. What is meta, a summary, or said to a sub-agent, is not a person's."""
    message = record.get("message")
    role = record.get("type")
    if not isinstance(message, dict) or role not in (USER, ASSISTANT):
        return
    at, session = time_of(record.get("timestamp")), _text(record.get("sessionId"))
    own = record.get("isMeta") or record.get("isCompactSummary") or (role == USER and record.get("isSidechain"))
    for part in _parts(message.get("content")):
        if part.get("type") in TEXTS:
            yield Turn(SYSTEM if own else role, _text(part.get("text")), at, "", session)
        elif part.get("type") in ("tool_result", "tool_use"):
            yield Turn(TOOL, _joined(part.get("content")), at, _text(part.get("name")), session)


def _codex(record: Record) -> Iterator[Turn]:
    """Yield the turns of a Codex rollout. Messages come twice, as items and as events; Transcript drops one."""
    payload, at = record["payload"], time_of(record.get("timestamp"))
    kind = payload.get("type")
    if record["type"] == "session_meta":
        yield Turn(SYSTEM, "", at, "", _text(payload.get("id") or payload.get("session_id")))
    elif kind == "message":
        yield Turn(_role(payload.get("role")), _joined(payload.get("content")), at)
    elif kind in ("user_message", "agent_message"):
        yield Turn(USER if kind == "user_message" else ASSISTANT, _text(payload.get("message")), at)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield Turn(TOOL, _joined(payload.get("output")), at)
    elif kind == "exec_command_end":
        yield Turn(TOOL, _text(payload.get("aggregated_output")), at)


def _opencode(record: Record) -> Iterator[Turn]:
    """Yield the turns of an OpenCode message. Synthetic parts were put in by a plugin or the host."""
    info = record["info"]
    times = info.get("time")
    at = time_of(times.get("created")) if isinstance(times, dict) else 0
    session = _text(info.get("sessionID"))
    for part in _parts(record["parts"]):
        if part.get("type") == "tool":
            state = part.get("state")
            output = state.get("output") if isinstance(state, dict) else ""
            yield Turn(TOOL, _text(output), at, _text(part.get("tool")), session)
        elif part.get("type") == "text":
            own = part.get("synthetic") or part.get("ignored")
            yield Turn(SYSTEM if own else _role(info.get("role")), _text(part.get("text")), at, "", session)


def _is_gemini(record: Record) -> bool:
    named = record.get("type") in ("user", "gemini", "info", "error", "warning") and "content" in record
    return named or "projectHash" in record or "$set" in record


def _gemini(record: Record) -> Iterator[Turn]:
    """Yield the turns of Gemini CLI: messages of type user or gemini, and the tool calls of a message."""
    at, session = time_of(record.get("timestamp")), _text(record.get("sessionId"))
    yield Turn(_role(record.get("type")), _joined(record.get("content")), at, "", session)
    for call in _parts(record.get("toolCalls")):
        yield Turn(TOOL, _joined(call.get("resultDisplay")), at, _text(call.get("name")))


def _cursor(record: Record) -> Iterator[Turn]:
    """Yield the turn of Cursor's agent: a person's words stand in a tag of their own, beside what the host adds."""
    text = _joined(record["message"].get("content"))
    _, tag, asked = text.partition("<user_query>")
    yield Turn(_role(record["role"]), asked.partition("</user_query>")[0] if tag else text)


def _copilot(record: Record) -> Iterator[Turn]:
    """Yield the turn of an event of Copilot CLI; events about tools and the session say nothing."""
    data, at = record["data"], time_of(record.get("timestamp"))
    who, _, what = str(record["type"]).partition(".")
    if what == "message" and who in (USER, ASSISTANT):
        yield Turn(who, _text(data.get("content")), at)
    else:
        yield Turn(SYSTEM, "", at, "", _text(data.get("sessionId")))


def _is_generic(record: Record) -> bool:
    return isinstance(record.get("role", record.get("from")), str) and bool({"content", "text", "value"} & set(record))


def _generic(record: Record) -> Iterator[Turn]:
    """Yield the turn of a chat list as most programs write it: role and content."""
    said = next(record[key] for key in ("content", "text", "value") if key in record)
    at = time_of(record.get("timestamp") or record.get("created_at"))
    yield Turn(_role(record.get("role", record.get("from"))), _joined(said), at)


# name → (whether a record is of this host, what was said in it); the first that knows a record reads it
READERS: dict[str, tuple[Callable[[Record], bool], Callable[[Record], Iterator[Turn]]]] = {
    "claude-code": (lambda record: "type" in record and not CLAUDE_IDS.isdisjoint(record), _claude),
    "codex": (lambda record: _holds(record, payload=dict) and "type" in record, _codex),
    "opencode": (lambda record: _holds(record, info=dict, parts=list), _opencode),
    "gemini": (_is_gemini, _gemini),
    "cursor": (lambda record: _holds(record, role=str, message=dict), _cursor),
    "copilot": (lambda record: _holds(record, data=dict) and "parentId" in record and "type" in record, _copilot),
    CHAT: (_is_generic, _generic),
}


def _holds(record: Record, **types: type) -> bool:
    """Tell whether a record has these keys with values of these types."""
    return all(isinstance(record.get(key), type) for key, type in types.items())


def _role(name: object) -> str:
    return ROLES.get(str(name).lower(), SYSTEM)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parts(content: object) -> list[Record]:
    """Return the parts of a content, which may be plain text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _joined(content: object) -> str:
    """Return the words of a content; parts without a type are words too."""
    if isinstance(content, dict):
        content = [content]
    return "\n".join(_text(part.get("text")) for part in _parts(content) if part.get("type", "text") in TEXTS)


def time_of(value: object) -> int:
    """Return the milliseconds since 1970 of a time as hosts write it; 0 if it is none."""
    if isinstance(value, str):
        return read_time(value)[0] or 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e15:
        return 0
    return int(value if value > MAX_SECONDS else value * 1000)
