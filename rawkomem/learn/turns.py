"""A session as turns, the same for all hosts, from the records that each host writes.

The prompt hook loads this module, so it imports little.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from ..model.values import TYPE_CHECKING, read_time, record, replace, text_of
from ..text.json_values import objects_in, within
from ..text.prompts import is_notification

if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]


# Define a turn of a session in a form that is the same for all hosts.

USER = "user"
ASSISTANT = "assistant"
TOOL = "tool"
SYSTEM = "system"
NOBODY = ""
# what a person typed while the agent worked, not delivered yet; Flow turns it into USER
QUEUED = "queued"
SUBAGENT = "sub-agent"  # from or to a sub-agent; Transcript drops it
# roles whose words may be learned from; NOBODY: a text without roles
PEOPLE = (
    USER,
    ASSISTANT,
    NOBODY,
)


@record
class Did:
    """What a tool was asked to do, or its result. Unknown fields are empty."""

    id: str = ""  # the same for a call and its result
    command: str = ""  # shell command
    file: str = ""  # that the tool writes, reads or deletes
    written: str | None = None  # the text that is new in that file; only in writes
    failed: bool | None = None  # only in results


@record
class Turn:
    """One turn of a person, an agent, a tool or the host. Text of tools and hosts never counts as a person's words."""

    role: str
    text: str
    at: int = 0  # milliseconds since 1970; 0: unknown
    tool: str = ""  # name of the tool
    did: Did | None = None  # only in turns of tools


# Describe the run of an agent that a transcript records.

RUN_RESULTS = ("success", "failure", "partial")


@record
class RunFacts:
    """What the caller knows about a run. Empty fields are filled from the transcript."""

    agent: str = ""
    task: str = ""
    result: str = ""  # one of RESULTS, or unknown
    error: str = ""
    session: str = ""  # the host's id of the session


# Read from a host's tool calls and results what a tool was asked to do, and whether it failed.

COMMAND_KEYS = ("command", "cmd")
FILE_KEYS = ("file_path", "filePath", "path", "notebook_path", "absolute_path")
NEW_KEYS = (
    "new_string",
    "newString",
    "new_str",
    "new_source",
    "content",
    "contents",
    "file_text",
)
OLD_KEYS = ("old_string", "oldString", "old_str")
PATCH_KEYS = ("input", "patch", "patchText")
SHELL_FLAGS = ("-c", "-lc", "-ic", "-Command")  # the next word is the command
PATCH_START = "*** Begin Patch"
PATCH_SECTION = "\n*** "
PATCHED_FILES = ("Add File", "Update File", "Delete File", "Move to")
EXIT_CODE = re.compile(
    r"(?im)^(?:exit|process exited with|<exited with exit) code:? (\d{1,3})>?[ \t]*$"
)
# from the start and from the end of an output, where hosts state the exit code
EXIT_CHARS = 400


def calls_asked(id: str, given: object) -> Iterator[Did]:
    """Yield what a call asks for: one command, or each file that it writes. If it has neither, yield an empty Did."""
    input = given if isinstance(given, dict) else {}
    command = ""
    if not _first_value(input, FILE_KEYS):
        command = command_of(_first_value(input, COMMAND_KEYS))
    patch = given if isinstance(given, str) else _first_value(input, PATCH_KEYS)
    patch = patch or command
    if isinstance(patch, str) and PATCH_START in patch:
        yield from _patched_files(id, patch)
    elif command:
        yield Did(id, command)
    else:
        yield _edit_of(id, input)


def command_of(value: object) -> str:
    """Return a command as a person would type it, without `bash -c` before it."""
    if isinstance(value, str):
        return value.strip()
    parts = value if isinstance(value, list) else []
    words = [word for word in parts if isinstance(word, str)]
    if len(words) == 3 and words[1] in SHELL_FLAGS:
        return words[2].strip()
    return " ".join(words)


def exit_failed(output: str) -> bool | None:
    """Return whether an output states an exit code other than 0; None if it states no exit code."""
    found = EXIT_CODE.search(f"{output[:EXIT_CHARS]}\n{output[-EXIT_CHARS:]}")
    return found[1] != "0" if found else None


def _edit_of(id: str, input: dict[str, Any]) -> Did:
    file = text_of(_first_value(input, FILE_KEYS))
    edits = input.get("edits")
    parts = _parts(edits) if isinstance(edits, list) else [input]
    written = [_added(part) for part in parts if any(key in part for key in NEW_KEYS)]
    if file and written:
        return Did(id, file=file, written="\n".join(written))
    # search tools have a `path`, too, which is mostly a folder
    is_folder = file == input.get("path") and "." not in re.split(r"[/\\]", file)[-1]
    return Did(id, file="" if is_folder else file)


def _added(part: dict[str, Any]) -> str:
    """Return the lines that an edit adds, without those that were in the old text."""
    new = text_of(_first_value(part, NEW_KEYS))
    old = text_of(_first_value(part, OLD_KEYS))
    before = set(old.split("\n")) - {""}
    return "\n".join(line for line in new.split("\n") if line not in before).strip("\n")


def _patched_files(id: str, patch: str) -> Iterator[Did]:
    """Yield each file of an apply_patch patch, with the lines that the patch adds to it."""
    for section in patch.partition(PATCH_START)[2].split(PATCH_SECTION):
        head, _, body = section.partition("\n")
        what, _, file = head.partition(": ")
        added = [line[1:] for line in body.split("\n") if line.startswith("+")]
        is_moved = what == "Update File" and not body  # "Move to" follows
        if what in PATCHED_FILES and not is_moved:
            written = None if what == "Delete File" else "\n".join(added).strip("\n")
            yield Did(id, file=file.strip(), written=written)


def _first_value(values: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((values[key] for key in keys if values.get(key)), "")


# Read the transcript records of each host. The keys of a record show which host wrote it.

# names of speakers in records and in texts; in a record, every other name means SYSTEM
ROLES = {
    name: role
    for role, names in {
        USER: "user,human,you,prompt",
        ASSISTANT: "assistant,ai,agent,claude,chatgpt,gpt,model,bot,response,claude-code,codex,opencode,gemini,cursor"
        ",copilot",
        TOOL: "tool,tool result,tool call,tool output,function",
        SYSTEM: "system",
    }.items()
    for name in names.split(",")
}
# Claude Code's records have at least one
CLAUDE_IDS = {"sessionId", "uuid", "leafUuid"}
CLAUDE_TYPES = ("attachment", "queue-operation")  # … or one of these types
CLAUDE_REFUSED = "User rejected tool use"
CLAUDE_REFUSAL = "To tell you how to proceed, the user said:\n"
GEMINI_HINTS = ("User steering update:", "User hints:")
GEMINI_FILES = "--- Content from referenced files ---"
CHAT = "chat"  # name of the reader of role-and-content lists, which many programs write
# types of content parts that hold text
TEXT_PARTS = ("text", "input_text", "output_text")
# a time above this is in milliseconds: in seconds it would be the year 2286
MAX_SECONDS = 10_000_000_000


def host_of(record: Record) -> str:
    """Return the name of the reader that recognizes a record; empty if none does."""
    return next((name for name, (knows, _) in READERS.items() if knows(record)), "")


def turns_of_record(record: Record, host: str) -> Iterator[Turn]:
    """Yield the turns in a record of a host, with the time of the record."""
    named = record.get("timestamp") or record.get("created_at")
    at = time_of(named or within(record, "info", "time", "created"))
    _, read = READERS[host]
    return (replace(turn, at=at) for turn in read(record))


def session_of(record: Record) -> str:
    """Return the session that a record or a document names; empty if it names none."""
    meta = record.get("payload") if record.get("type") == "session_meta" else record
    names = (
        record.get("sessionId"),
        within(record, "info", "sessionID"),
        within(record, "data", "sessionId"),
        within(meta, "session_id"),
        meta is not record and within(meta, "id"),
    )
    return next(filter(None, map(text_of, names)), "")


def is_subagents(record: Record) -> bool:
    """Return whether a record is from or to a sub-agent. Claude Code and Copilot mix these with the session's own."""
    spawned = within(record, "data", "parentToolCallId") and "parentId" in record
    return bool(record.get("isSidechain") or record.get("agentId") or spawned)


def opens_subagent(record: Record) -> bool:
    """Return whether a record says that the whole transcript is a sub-agent's (Codex, Gemini, OpenCode)."""
    if record.get("type") == "session_meta":
        meta = record.get("payload")
        signs = [("agent_role",), ("source", "subagent"), ("source", "subAgent")]
        is_spawned = within(meta, "thread_source") == "subagent"
        return is_spawned or any(within(meta, *keys) for keys in signs)
    if "messages" in record and within(record, "info", "parentID"):
        return True  # in a message's info, it is another message
    return record.get("kind") == "subagent" and "projectHash" in record


def _claude(record: Record) -> Iterator[Turn]:
    """Yield the turns of Claude Code. Meta records, summaries and text of the host or other programs become SYSTEM."""
    message = record.get("message")
    role = record.get("type")
    if role in CLAUDE_TYPES:
        yield from _claude_queued(record)
    if not isinstance(message, dict) or role not in (USER, ASSISTANT):
        return
    own = any(
        record.get(mark) for mark in ("isMeta", "isCompactSummary", "isApiErrorMessage")
    )
    own = own or message.get("model") == "<synthetic>" or not _is_typed(record)
    for part in _parts(message.get("content")):
        if part.get("type") in TEXT_PARTS:
            yield Turn(SYSTEM if own else role, text_of(part.get("text")))
        elif part.get("type") == "tool_result":
            yield from _claude_result(record, part)
        else:
            yield from _part_calls(part)


def _part_calls(part: Record) -> Iterator[Turn]:
    """Yield the tool call that a part of a message holds, if it holds one."""
    if part.get("type") == "tool_use":
        yield from _call_turns(
            part.get("id"),
            part.get("name"),
            part.get("input"),
        )


def _is_typed(record: Record) -> bool:
    """Return whether a person typed a prompt; true if the record does not say. Other programs send prompts too."""
    origin = within(record, "origin", "kind") or "human"
    return origin == "human" and record.get("commandMode", "prompt") == "prompt"


def _claude_queued(record: Record) -> Iterator[Turn]:
    """Yield what a person typed while the agent worked. It is recorded when it is queued and when it is delivered."""
    attached: Any = record.get("attachment")
    if within(attached, "type") == "queued_command" and _is_typed(attached):
        yield Turn(USER, _joined(within(attached, "prompt")))
    elif record.get("operation") == "enqueue":
        yield Turn(QUEUED, _joined(record.get("content")))


def _claude_result(record: Record, part: Record) -> Iterator[Turn]:
    """Yield the result of a tool, and what a person typed when they refused the call.

    Only fields outside the message prove that a person refused: a tool can print the same words.
    """
    output = _joined(part.get("content"))
    result = record.get("toolUseResult")
    refused = (
        record.get("toolDenialKind") == "user-rejected" or result == CLAUDE_REFUSED
    )
    failed = bool(part.get("is_error"))
    stopped = refused or within(result, "interrupted")
    yield _result_turn(part.get("tool_use_id"), "", output, None if stopped else failed)
    if refused and failed:
        yield Turn(USER, output.partition(CLAUDE_REFUSAL)[2])


def _codex(record: Record) -> Iterator[Turn]:
    """Yield the turns of a Codex rollout. It records each message twice, as item and as event; Flow drops one."""
    payload = record["payload"]
    kind = payload.get("type")
    id = payload.get("call_id")
    if kind == "message":
        role = _role(payload.get("role"))
        yield Turn(role, _joined(payload.get("content")))
    elif kind in ("user_message", "agent_message"):
        role = USER if kind == "user_message" else ASSISTANT
        yield Turn(role, text_of(payload.get("message")))
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        asked = _first_value(payload, ("arguments", "input", "action"))
        yield from _call_turns(id, payload.get("name") or "shell", _unpacked(asked))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output, failed = _codex_output(_unpacked(payload.get("output")))
        yield _result_turn(id, "", output, failed)
    elif kind == "exec_command_end":
        did = Did(
            text_of(id),
            command_of(payload.get("command")),
            failed=_code_failed(payload),
        )
        yield Turn(TOOL, text_of(payload.get("aggregated_output")), did=did)


def _codex_output(output: Any) -> tuple[str, bool | None]:
    if isinstance(output, str):
        return output, exit_failed(output)
    said = _joined(within(output, "output") or within(output, "content") or output)
    failed = _code_failed(within(output, "metadata"))
    success = within(output, "success")
    if failed is None and isinstance(success, bool):
        failed = not success
    return said, exit_failed(said) if failed is None else failed


def _code_failed(facts: object, key: str = "exit_code") -> bool | None:
    """Return whether facts state an exit code other than 0; None if they state none."""
    code = within(facts, key)
    return code != 0 if isinstance(code, int) else None


def _opencode(record: Record) -> Iterator[Turn]:
    """Yield the turns of an OpenCode message. A plugin or the host inserted its synthetic parts."""
    info = record["info"]
    # true in the summary of a compaction; a person's message has an object there
    summary = info.get("summary") is True
    for part in _parts(record["parts"]):
        if part.get("type") == "tool":
            yield from _opencode_tool(part)
        elif part.get("type") == "text":
            own = summary or part.get("synthetic") or part.get("ignored")
            role = SYSTEM if own else _role(info.get("role"))
            yield Turn(role, text_of(part.get("text")))


def _opencode_tool(part: Record) -> Iterator[Turn]:
    id = part.get("callID")
    name = part.get("tool")
    state = part.get("state")
    status = within(state, "status")
    input = within(state, "input")
    if isinstance(input, dict):
        yield from _call_turns(id, name, input)
    if status == "error":
        yield _result_turn(id, name, within(state, "error"), True)
    elif status == "completed":
        failed = _code_failed(within(state, "metadata"), "exit") or False
        yield _result_turn(id, name, within(state, "output"), failed)


def _is_gemini(record: Record) -> bool:
    named = (
        record.get("type") in ("user", "gemini", "info", "error", "warning")
        and "content" in record
    )
    return named or "projectHash" in record or "$set" in record


def _gemini(record: Record) -> Iterator[Turn]:
    """Yield the turns of Gemini CLI: messages of type user or gemini, and the tool calls of a message."""
    said = _joined(record.get("displayContent") or record.get("content"))
    if record.get("type") == USER:
        said = _gemini_typed(said)
    yield Turn(_role(record.get("type")), said)
    for call in _parts(record.get("toolCalls")):
        if call.get("agentId"):
            continue
        id = call.get("id")
        name = call.get("name")
        args = call.get("args")
        if isinstance(args, dict):
            yield from _call_turns(id, name, args)
        output, failed = _gemini_output(call)
        # else the call is not done; its message is written again later
        if output or failed is not None:
            yield _result_turn(id, name, output, failed)


def _gemini_typed(said: str) -> str:
    """Return what a person typed, without the wrapper of hints and without the files that Gemini appends."""
    if said.lstrip().startswith(GEMINI_HINTS):
        return said.partition("<user_input>")[2].rpartition("</user_input>")[0]
    return said.partition(GEMINI_FILES)[0]


def _gemini_output(call: Record) -> tuple[str, bool | None]:
    responses = [
        within(part, "functionResponse", "response")
        for part in _parts(call.get("result"))
    ]
    told = "\n".join(
        text_of(within(response, "output") or within(response, "error"))
        for response in responses
        if isinstance(response, dict)
    )
    failed = {"error": True, "success": exit_failed(told) or False}.get(
        text_of(call.get("status"))
    )
    return _joined(call.get("resultDisplay")) or told, failed


def _cursor(record: Record) -> Iterator[Turn]:
    """Yield the turns of Cursor's agent. A tag separates a person's words from those that the host adds."""
    content = record["message"].get("content")
    text = _joined(content)
    _, tag, asked = text.partition("<user_query>")
    is_own = tag and not is_notification(text)
    said = asked.partition("</user_query>")[0] if is_own else text
    yield Turn(_role(record["role"]), said)
    for part in _parts(content):
        yield from _part_calls(part)


def _copilot(record: Record) -> Iterator[Turn]:
    """Yield the turns of an event of Copilot CLI. A user message with another source is from a skill or a command."""
    data = record["data"]
    kind = str(record["type"])
    who, _, what = kind.partition(".")
    id = data.get("toolCallId")
    name = data.get("toolName")
    if what == "message" and who in (USER, ASSISTANT):
        own = who == USER and data.get("source") not in (None, "", USER)
        yield Turn(SYSTEM if own else who, text_of(data.get("content")))
    elif kind == "tool.execution_start":
        yield from _call_turns(id, name, data.get("arguments"))
    elif kind == "tool.execution_complete":
        success = data.get("success")
        told = data.get("result") or ("" if success else data.get("error"))
        output = text_of(within(told, "content") or within(told, "message") or told)
        if isinstance(success, bool):
            failed = exit_failed(output) or not success
        else:
            failed = None
        yield _result_turn(id, name, output, failed)


def _call_turns(id: object, name: object, given: object) -> Iterator[Turn]:
    for did in calls_asked(text_of(id), given):
        yield Turn(TOOL, "", tool=text_of(name), did=did)


def _result_turn(id: object, name: object, output: object, failed: bool | None) -> Turn:
    return Turn(
        TOOL, text_of(output), tool=text_of(name), did=Did(text_of(id), failed=failed)
    )


def _generic(record: Record) -> Iterator[Turn]:
    """Yield the turn of a record with role and content, as most programs write it."""
    said = next(record[key] for key in ("content", "text", "value") if key in record)
    role = _role(record.get("role", record.get("from")))
    yield Turn(role, _joined(said))
    for part in _parts(said):
        yield from _part_calls(part)


# name → (test whether a record is of this host, reader of its turns); the first test that passes decides
READERS: dict[
    str, tuple[Callable[[Record], bool], Callable[[Record], Iterator[Turn]]]
] = {
    "claude-code": (
        lambda record: (
            record.get("type") in CLAUDE_TYPES
            or ("type" in record and not CLAUDE_IDS.isdisjoint(record))
        ),
        _claude,
    ),
    "codex": (lambda record: _holds(record, payload=dict) and "type" in record, _codex),
    "opencode": (lambda record: _holds(record, info=dict, parts=list), _opencode),
    "gemini": (_is_gemini, _gemini),
    "cursor": (lambda record: _holds(record, role=str, message=dict), _cursor),
    "copilot": (
        lambda record: (
            _holds(record, data=dict) and "parentId" in record and "type" in record
        ),
        _copilot,
    ),
    CHAT: (
        lambda record: (
            isinstance(record.get("role", record.get("from")), str)
            and not {"content", "text", "value"}.isdisjoint(record)
        ),
        _generic,
    ),
}


def _holds(record: Record, **types: type) -> bool:
    """Return whether a record has these keys with values of these types."""
    return all(isinstance(record.get(key), type) for key, type in types.items())


def _role(name: object) -> str:
    return ROLES.get(str(name).lower(), SYSTEM)


def _parts(content: object) -> list[Record]:
    """Return the parts of a message's content; plain text becomes one part."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects_in(content)


def _joined(content: object) -> str:
    """Return the text of a message's content; parts without a type count as text."""
    content = [content] if isinstance(content, dict) else content
    return "\n".join(
        text_of(part.get("text"))
        for part in _parts(content)
        if part.get("type", "text") in TEXT_PARTS
    )


def _unpacked(value: object) -> Any:
    """Return the object in a JSON text, like the arguments and outputs of Codex; any other value as it is."""
    try:
        held = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
    return held if isinstance(held, dict) else value


def time_of(value: Any) -> int:
    """Return a host's timestamp in milliseconds since 1970; 0 if it is not a time."""
    if isinstance(value, str):
        return read_time(value)[0] or 0
    if type(value) not in (int, float) or not 0 < value < 1e15:
        return 0
    return int(value if value > MAX_SECONDS else value * 1000)
