"""Read the transcript records of each host. The keys of a record show which host wrote it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...model.clock import read_time
from .did import calls, command_of, exit_failed
from .turns import ASSISTANT, QUEUED, SYSTEM, TOOL, USER, Did, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Record = dict[str, Any]

ROLES = {  # every other role becomes SYSTEM
    **dict.fromkeys(("user", "human"), USER),
    **dict.fromkeys(("assistant", "ai", "model", "gemini"), ASSISTANT),
    **dict.fromkeys(("tool", "function"), TOOL),
}
CLAUDE_IDS = {"sessionId", "uuid", "leafUuid"}  # Claude Code's records have at least one
CLAUDE_TYPES = ("attachment", "queue-operation")  # … or one of these types
REFUSED = "User rejected tool use"
REFUSAL = "To tell you how to proceed, the user said:\n"
GEMINI_HINTS = ("User steering update:", "User hints:")
GEMINI_FILES = "--- Content from referenced files ---"
CHAT = "chat"  # name of the reader of role-and-content lists, which many programs write
TEXTS = ("text", "input_text", "output_text")  # types of content parts that hold text
MAX_SECONDS = 10_000_000_000  # a time above this is in milliseconds: in seconds it would be the year 2286


def host_of(record: Record) -> str:
    """Return the name of the reader that recognizes a record; empty if none does."""
    return next((name for name, (knows, _) in READERS.items() if knows(record)), "")


def turns_of(record: Record, host: str) -> Iterator[Turn]:
    """Yield the turns in a record of a host."""
    return READERS[host][1](record)


def is_subagents(record: Record) -> bool:
    """Return whether a record is from or to a sub-agent. Claude Code and Copilot mix these with the session's own."""
    data = record.get("data")
    spawned = isinstance(data, dict) and data.get("parentToolCallId") and "parentId" in record
    return bool(record.get("isSidechain") or record.get("agentId") or spawned)


def opens_subagent(record: Record) -> bool:
    """Return whether a record says that the whole transcript is a sub-agent's (Codex, Gemini, OpenCode)."""
    payload, info = record.get("payload"), record.get("info")
    if record.get("type") == "session_meta" and isinstance(payload, dict):
        source = payload.get("source")
        spawned = isinstance(source, dict) and not {"subagent", "subAgent"}.isdisjoint(source)
        return bool(spawned or payload.get("agent_role") or payload.get("thread_source") == "subagent")
    if isinstance(info, dict) and "messages" in record:
        return bool(info.get("parentID"))  # in the info of a message, parentID is another message
    return record.get("kind") == "subagent" and "projectHash" in record


def _is_claude(record: Record) -> bool:
    return record.get("type") in CLAUDE_TYPES or ("type" in record and not CLAUDE_IDS.isdisjoint(record))


def _claude(record: Record) -> Iterator[Turn]:
    """Yield the turns of Claude Code. Meta records, summaries and text of the host or other programs become SYSTEM."""
    message, role = record.get("message"), record.get("type")
    at, session = time_of(record.get("timestamp")), _text(record.get("sessionId"))
    if role in ("attachment", "queue-operation"):
        yield from _claude_queued(record, at, session)
    if not isinstance(message, dict) or role not in (USER, ASSISTANT):
        return
    own = any(record.get(mark) for mark in ("isMeta", "isCompactSummary", "isApiErrorMessage"))
    own = own or message.get("model") == "<synthetic>" or not _is_typed(record)
    for part in _parts(message.get("content")):
        kind = part.get("type")
        if kind in TEXTS:
            yield Turn(SYSTEM if own else role, _text(part.get("text")), at, "", session)
        elif kind == "tool_use":
            yield from _calls(part.get("id"), part.get("name"), part.get("input"), at, session)
        elif kind == "tool_result":
            yield from _claude_result(record, part, at, session)


def _is_typed(record: Record) -> bool:
    """Return whether a person typed a prompt; true if the record does not say. Other programs send prompts too."""
    origin, mode = record.get("origin"), record.get("commandMode", "prompt")
    return mode == "prompt" and (not isinstance(origin, dict) or origin.get("kind", "human") == "human")


def _claude_queued(record: Record, at: int, session: str) -> Iterator[Turn]:
    """Yield what a person typed while the agent worked. It is recorded when it is queued and when it is delivered."""
    attached = record.get("attachment")
    if isinstance(attached, dict) and attached.get("type") == "queued_command" and _is_typed(attached):
        yield Turn(USER, _joined(attached.get("prompt")), at, "", session)
    elif record.get("operation") == "enqueue":
        yield Turn(QUEUED, _joined(record.get("content")), at, "", session)


def _claude_result(record: Record, part: Record, at: int, session: str) -> Iterator[Turn]:
    """Yield the result of a tool, and what a person typed when they refused the call.

    Only fields outside the message prove that a person refused: a tool can print the same words.
    """
    output, told = _joined(part.get("content")), record.get("toolUseResult")
    refused = record.get("toolDenialKind") == "user-rejected" or told == REFUSED
    stopped = refused or (isinstance(told, dict) and told.get("interrupted"))
    yield _result(part.get("tool_use_id"), "", output, None if stopped else bool(part.get("is_error")), at, session)
    reason = output.partition(REFUSAL)[2] if refused and part.get("is_error") else ""
    if reason.strip():
        yield Turn(USER, reason, at, "", session)


def _codex(record: Record) -> Iterator[Turn]:
    """Yield the turns of a Codex rollout. It records each message twice, as item and as event; Flow drops one."""
    payload, at = record["payload"], time_of(record.get("timestamp"))
    kind, id = payload.get("type"), payload.get("call_id")
    if record["type"] == "session_meta":
        yield Turn(SYSTEM, "", at, "", _text(payload.get("id") or payload.get("session_id")))
    elif kind == "message":
        yield Turn(_role(payload.get("role")), _joined(payload.get("content")), at)
    elif kind in ("user_message", "agent_message"):
        yield Turn(USER if kind == "user_message" else ASSISTANT, _text(payload.get("message")), at)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        asked = payload.get("arguments") or payload.get("input") or payload.get("action")
        yield from _calls(id, payload.get("name") or "shell", _unpacked(asked), at)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output, failed = _codex_output(_unpacked(payload.get("output")))
        yield _result(id, "", output, failed, at)
    elif kind == "exec_command_end":
        code, ran = payload.get("exit_code"), command_of(payload.get("command"))
        failed = code != 0 if isinstance(code, int) else None
        yield Turn(TOOL, _text(payload.get("aggregated_output")), at, did=Did(_text(id), ran, failed=failed))


def _codex_output(output: Any) -> tuple[str, bool | None]:
    if not isinstance(output, dict):
        said = output if isinstance(output, str) else _joined(output)
        return said, exit_failed(said)
    facts, said = output.get("metadata"), _joined(output.get("output") or output.get("content"))
    code = facts.get("exit_code") if isinstance(facts, dict) else None
    if isinstance(code, int):
        return said, code != 0
    success = output.get("success")
    return said, not success if isinstance(success, bool) else exit_failed(said)


def _opencode(record: Record) -> Iterator[Turn]:
    """Yield the turns of an OpenCode message. A plugin or the host inserted its synthetic parts."""
    info = record["info"]
    times = info.get("time")
    at = time_of(times.get("created")) if isinstance(times, dict) else 0
    session = _text(info.get("sessionID"))
    summary = info.get("summary") is True  # true in the summary of a compaction; a person's message has an object there
    for part in _parts(record["parts"]):
        if part.get("type") == "tool":
            yield from _opencode_tool(part, at, session)
        elif part.get("type") == "text":
            own = summary or part.get("synthetic") or part.get("ignored")
            yield Turn(SYSTEM if own else _role(info.get("role")), _text(part.get("text")), at, "", session)


def _opencode_tool(part: Record, at: int, session: str) -> Iterator[Turn]:
    state = part.get("state")
    if not isinstance(state, dict):
        return
    id, name, status = part.get("callID"), part.get("tool"), state.get("status")
    if isinstance(state.get("input"), dict):
        yield from _calls(id, name, state["input"], at, session)
    facts = state.get("metadata")
    code = facts.get("exit") if isinstance(facts, dict) else None
    if status in ("completed", "error"):
        failed = status == "error" or (isinstance(code, int) and code != 0)
        yield _result(id, name, _text(state.get("error" if status == "error" else "output")), failed, at, session)


def _is_gemini(record: Record) -> bool:
    named = record.get("type") in ("user", "gemini", "info", "error", "warning") and "content" in record
    return named or "projectHash" in record or "$set" in record


def _gemini(record: Record) -> Iterator[Turn]:
    """Yield the turns of Gemini CLI: messages of type user or gemini, and the tool calls of a message."""
    at, session = time_of(record.get("timestamp")), _text(record.get("sessionId"))
    said = _joined(record.get("displayContent") or record.get("content"))
    if record.get("type") == USER:
        said = _gemini_typed(said)
    yield Turn(_role(record.get("type")), said, at, "", session)
    for call in _parts(record.get("toolCalls")):
        if call.get("agentId"):
            continue
        if isinstance(call.get("args"), dict):
            yield from _calls(call.get("id"), call.get("name"), call["args"], at, session)
        output, failed = _gemini_output(call)
        if output or failed is not None:  # else the call is not done; its message is written again later
            yield _result(call.get("id"), call.get("name"), output, failed, at, session)


def _gemini_typed(said: str) -> str:
    """Return what a person typed, without the wrapper of hints and without the files that Gemini appends."""
    if said.lstrip().startswith(GEMINI_HINTS):
        return said.partition("<user_input>")[2].rpartition("</user_input>")[0]
    return said.partition(GEMINI_FILES)[0]


def _gemini_output(call: Record) -> tuple[str, bool | None]:
    answers = [part.get("functionResponse") for part in _parts(call.get("result"))]
    responses = [answer["response"] for answer in answers if isinstance(answer, dict) and _holds(answer, response=dict)]
    told = "\n".join(_text(response.get("output") or response.get("error")) for response in responses)
    failed = {"error": True, "success": exit_failed(told) or False}.get(_text(call.get("status")))
    return _joined(call.get("resultDisplay")) or told, failed


def _cursor(record: Record) -> Iterator[Turn]:
    """Yield the turns of Cursor's agent. A tag separates a person's words from those that the host adds."""
    content = record["message"].get("content")
    text = _joined(content)
    _, tag, asked = text.partition("<user_query>")
    yield Turn(_role(record["role"]), asked.partition("</user_query>")[0] if tag else text)
    for part in _parts(content):
        if part.get("type") == "tool_use":
            yield from _calls(part.get("id"), part.get("name"), part.get("input"), 0)


def _copilot(record: Record) -> Iterator[Turn]:
    """Yield the turns of an event of Copilot CLI. A user message with another source is from a skill or a command."""
    data, at, kind = record["data"], time_of(record.get("timestamp")), str(record["type"])
    who, _, what = kind.partition(".")
    id, name = data.get("toolCallId"), data.get("toolName")
    if what == "message" and who in (USER, ASSISTANT):
        own = who == USER and data.get("source") not in (None, "", USER)
        yield Turn(SYSTEM if own else who, _text(data.get("content")), at)
    elif kind == "tool.execution_start":
        yield from _calls(id, name, data.get("arguments"), at)
    elif kind == "tool.execution_complete":
        told = data.get("result") if data.get("success") else data.get("result") or data.get("error")
        output = _text(told.get("content") or told.get("message")) if isinstance(told, dict) else _text(told)
        failed = exit_failed(output) or not data["success"] if isinstance(data.get("success"), bool) else None
        yield _result(id, name, output, failed, at)
    else:
        yield Turn(SYSTEM, "", at, "", _text(data.get("sessionId")))


def _calls(id: object, name: object, given: object, at: int, session: str = "") -> Iterator[Turn]:
    return (Turn(TOOL, "", at, _text(name), session, did) for did in calls(_text(id), given))


def _result(id: object, name: object, output: str, failed: bool | None, at: int, session: str = "") -> Turn:
    return Turn(TOOL, output, at, _text(name), session, Did(_text(id), failed=failed))


def _is_generic(record: Record) -> bool:
    return isinstance(record.get("role", record.get("from")), str) and bool({"content", "text", "value"} & set(record))


def _generic(record: Record) -> Iterator[Turn]:
    """Yield the turn of a record with role and content, as most programs write it."""
    said = next(record[key] for key in ("content", "text", "value") if key in record)
    at = time_of(record.get("timestamp") or record.get("created_at"))
    yield Turn(_role(record.get("role", record.get("from"))), _joined(said), at)


# name → (test whether a record is of this host, reader of its turns); the first test that passes decides
READERS: dict[str, tuple[Callable[[Record], bool], Callable[[Record], Iterator[Turn]]]] = {
    "claude-code": (_is_claude, _claude),
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
    """Return the parts of a message's content; plain text becomes one part."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _joined(content: object) -> str:
    """Return the text of a message's content; parts without a type count as text."""
    if isinstance(content, dict):
        content = [content]
    return "\n".join(_text(part.get("text")) for part in _parts(content) if part.get("type", "text") in TEXTS)


def _unpacked(value: object) -> Any:
    """Return the object in a JSON text, like the arguments and outputs of Codex; any other value as it is."""
    try:
        held = json.loads(value) if isinstance(value, str) and value.lstrip()[:1] == "{" else None
    except (ValueError, RecursionError):
        held = None
    return held if isinstance(held, dict) else value


def time_of(value: object) -> int:
    """Return a host's timestamp in milliseconds since 1970; 0 if it is not a time."""
    if isinstance(value, str):
        return read_time(value)[0] or 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e15:
        return 0
    return int(value if value > MAX_SECONDS else value * 1000)
