"""Everything that differs between agent hosts: Host and Call, and the records of all known hosts.
`rawkomem connect`, the hooks and `rawkomem uninstall` read them.

A new host needs a record here and, for transcripts, a reader in learn.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping

from ..files.layout import Layout, find_layout
from ..model.errors import BadInput, NotFound, check_known
from ..model.values import record
from ..text.acts import REMIND

Fields = Mapping[str, object]
Names = Mapping[str, str]


START = "session-start"
PROMPT = "prompt"
COMPACT = "compact"
TURN = "turn-end"
END = "session-end"
# a host without transcripts passes the messages so far, before its agent stores a memory
TALK = "talk"
SUBAGENT = "subagent-start"
LEARN = "learn"  # the event of the background learner; no host sends it
# before and after an agent runs a command or writes a file
ACT_EVENTS = BEFORE, AFTER = "before-tool", "after-tool"
COMMAND = "command"
WRITE = "write"
EVENTS = (START, SUBAGENT, PROMPT, COMPACT, TALK, *ACT_EVENTS, TURN, END)
CLAUDE_EVENTS = {
    "SessionStart": START,
    "SubagentStart": SUBAGENT,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": BEFORE,
    "Stop": TURN,
    "SessionEnd": END,
}
MCP_ENTRY: Fields = {"command": "rawkomem", "args": ["mcp"]}
STATUS_MESSAGES = {
    START: "Loading project memories",
    PROMPT: "Recalling project memories",
}


@record
class Call:
    """One call of a hook. Fields that the host does not pass are empty."""

    host: str
    event: str
    fields: Fields
    session: str = ""
    prompt: str = ""
    folder: str = ""  # where the agent works
    transcript: str = ""  # path of the file
    reply: str = ""  # the agent's last message
    why: str = ""  # the reason why a session starts or ends
    prompt_id: str = ""  # differs for each prompt, even if the text is the same

    @property
    def is_subagents(self) -> bool:
        """Return whether an agent wrote the prompts of this session (in OpenCode: the session has a parent)."""
        info = self.fields.get("info")
        return bool(
            self.fields.get("agent_id")
            or self.fields.get("agentId")
            or (isinstance(info, dict) and info.get("parentID"))
        )


def claude_handler(event: str, command: str, seconds: int) -> dict[str, object]:
    """Return a handler in Claude Code's format."""
    if event in STATUS_MESSAGES:
        status = {"statusMessage": STATUS_MESSAGES[event]}
    else:
        status = {}
    return {"type": "command", "command": command, "timeout": seconds, **status}


def claude_answer(call: Call, context: str, prompt: str = "UserPromptSubmit") -> object:
    """Return an answer in Claude Code's format. Codex rejects all keys except these and `systemMessage`."""
    names = {PROMPT: prompt, SUBAGENT: "SubagentStart"}
    event = names.get(call.event, "SessionStart")
    return {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": context}
    }


def claude_act(call: Call, guard: str, text: str) -> object:
    """Return the answer to a call before a tool runs, in Claude Code's format."""
    decision = {"permissionDecision": guard, "permissionDecisionReason": text}
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            **({"additionalContext": text} if guard == REMIND else decision),
        }
    }


@record
class Mcp:
    """Where a host stores its MCP servers. The file may be the one that holds its hooks."""

    key: str  # the key of the servers in the file
    project: str = ""  # path of the file in a project; empty: none
    user: str = ""  # path of the file in the host's `home`; empty: none that we edit
    entry: Fields = MCP_ENTRY  # our entry among the servers
    otherwise: str = ""  # the command to add our server if there is no file


@record
class Host:
    """An agent host. The defaults are those of Claude Code, which several hosts follow."""

    # one line of help; empty: the host reads another host's settings and cannot be connected
    about: str = ""
    # what a person must do once after connecting, so that the host uses the settings; {folder}: where
    first_step: str = ""
    # Settings
    # path of the settings file in a project; empty: the host has no hooks of its own
    project: str = ""
    # whether the host reads the project's settings also if it is started in a subfolder
    reads_above: bool = True
    user: str = ""  # path of the settings file in `home`
    # the environment variable that names the user's folder, and its default
    home: tuple[str, str] = ("", "~")
    # if set, the settings file belongs to us as a whole: a copy of this file in templates/agents
    template: str = ""
    # if set, settings are TOML; if this JSON file exists next to them, hooks go into it instead
    hooks_beside: str = ""
    version: int = 0  # the version that the settings file must contain; 0: none
    events: Names = CLAUDE_EVENTS  # the host's name of an event → ours
    # the host's name of an event → the names of tools for which it calls us
    matchers: Names = {}
    # event, command, seconds → settings
    handler: Callable[[str, str, int], Mapping[str, object]] = claude_handler
    grouped: bool = True  # whether a handler is inside a group with a list of handlers
    # the handler's key for a command line that cmd.exe runs; empty: the host never uses cmd.exe
    cmd_key: str = ""
    # event → the longest time limit that the host accepts
    max_seconds: Mapping[str, int] = {}
    skills: str = ""  # folder of skills in a project
    mcp: Mcp = Mcp("")  # where the host stores MCP servers
    # path in templates/agents of the marketplace file that lists our plugin
    marketplace: str = ""
    # other files, in a project or `~/`, into which people write our commands
    mentions: tuple[str, ...] = ()
    # Calls of hooks
    # the host's name of a field → the name in Call, where it differs from Claude Code's
    fields: Names = {}
    # a field that only this host passes, even to hooks that were set up for another host
    mark: str = ""
    project_variable: str = ""  # the environment variable that names the project
    transcript_variable: str = ""  # the environment variable that names the transcript
    # Answers
    # hosts cut longer answers, or put them into a file, from about 10,000
    max_context_bytes: int = 9_500
    # call, context → JSON; a text is printed unchanged
    answer: Callable[[Call, str], object] = claude_answer
    # call, guard, text → JSON of an answer about an act
    act: Callable[[Call, str, str], object] = claude_act
    asks: tuple[str, ...] = (COMMAND, WRITE)  # acts about which it can ask the person
    # whether a reminder reaches the agent only after the act
    reminds_after: bool = False
    # the key of an answer that the host shows to the person; empty: none
    notice: str = ""
    # whether the host uses the answer to a call
    is_heard: Callable[[Call], bool] = lambda _: True
    # whether to answer after another host's equal call
    is_apart: Callable[[Call], bool] = lambda _: False
    # whether the answer to a prompt stays in the context of later prompts
    keeps_context: bool = True
    # Transcripts
    transcript: str = ""  # the reader in learn/turns.py; empty: calls pass the messages
    # the folders below which the host keeps its transcripts, in `home`
    sessions: tuple[str, ...] = ("",)

    @property
    def has_hooks(self) -> bool:
        """Return whether the host has its own settings that can call our hooks."""
        return bool(self.project)


AGENTS_SKILLS = ".agents/skills"  # a folder that several hosts share
MCP_SERVERS = "mcpServers"  # the key of MCP servers in most hosts
# the key of a message to the person, in Claude Code and hosts that follow it
SYSTEM_MESSAGE = "systemMessage"
# the prompt that Copilot sends to the model; a hook may change it
REWRITTEN = "transformedPrompt"


def _cursor_answer(call: Call, context: str) -> object:
    fields = {"additional_context": context}
    return {"continue": True, **fields} if call.event == PROMPT else fields


def _copilot_answer(call: Call, context: str) -> object:
    if not _is_copilots(call):
        return claude_answer(call, context)
    if call.event != PROMPT:
        return {"additionalContext": context}
    return {"modifiedTransformedPrompt": f"{context}\n{call.fields[REWRITTEN]}"}


def _is_copilots(call: Call) -> bool:
    """Return whether a call has Copilot's own format; calls in Claude Code's format have a `hook_event_name`."""
    return "hook_event_name" not in call.fields


def _copilot_hears(call: Call) -> bool:
    """Return whether Copilot uses the answer. It ignores answers to a prompt unless it passes the prompt to change."""
    return (
        not _is_copilots(call)
        or call.event != PROMPT
        or isinstance(call.fields.get(REWRITTEN), str)
    )


def _cursor_act(call: Call, guard: str, text: str) -> object:
    if guard == REMIND:
        return {"additional_context": text}
    return {"permission": guard, "user_message": text, "agent_message": text}


def _copilot_act(call: Call, guard: str, text: str) -> object:
    if not _is_copilots(call):
        return claude_act(call, guard, text)
    if guard == REMIND:
        return {"additionalContext": text}
    return {"permissionDecision": guard, "permissionDecisionReason": text}


def _gemini_act(call: Call, guard: str, text: str) -> object:
    if guard == REMIND:
        output = {"hookEventName": "AfterTool", "additionalContext": text}
        return {"hookSpecificOutput": output}
    return {"decision": guard, "reason": text}


def _gemini_handler(event: str, command: str, seconds: int) -> dict[str, object]:
    """Return a handler with a name and a time limit in milliseconds, as only Gemini CLI requires."""
    return {
        "name": f"rawkomem-{event}",
        "type": "command",
        "command": command,
        "timeout": 1000 * seconds,
    }


HOSTS = {
    "claude": Host(
        about="Claude Code: .claude/settings.json (VS Code and Copilot read it too).",
        first_step="start 'claude' in {folder} and trust it",
        project=".claude/settings.json",
        matchers={"PreToolUse": "Bash|Edit|Write|MultiEdit|NotebookEdit"},
        reads_above=False,
        user="settings.json",
        home=("CLAUDE_CONFIG_DIR", "~/.claude"),
        skills=".claude/skills",
        mcp=Mcp(
            MCP_SERVERS,
            ".mcp.json",
            otherwise="claude mcp add --scope user rawkomem -- rawkomem mcp",
        ),
        marketplace="claude/.claude-plugin/marketplace.json",
        mentions=(
            ".claude/settings.local.json",
            ".mcp.json",
            "CLAUDE.md",
            "~/.claude.json",
        ),
        project_variable="CLAUDE_PROJECT_DIR",
        notice=SYSTEM_MESSAGE,
        transcript="claude-code",
        sessions=("projects",),
    ),
    "codex": Host(
        about="Codex: .codex/config.toml, or hooks.json where there is one.",
        first_step="start 'codex' in {folder} and trust the hooks when it asks",
        project=".codex/config.toml",
        user="config.toml",
        home=("CODEX_HOME", "~/.codex"),
        hooks_beside="hooks.json",
        matchers={"PreToolUse": "Bash|apply_patch|Edit|Write"},
        asks=(),  # Codex reports an error for this answer
        cmd_key="commandWindows",
        marketplace="claude/.claude-plugin/marketplace.json",  # Codex reads it, too
        max_seconds={END: 3},
        mcp=Mcp("mcp_servers", ".codex/config.toml", "config.toml"),
        skills=AGENTS_SKILLS,
        fields={"turn_id": "prompt_id"},
        max_context_bytes=8_000,  # Codex puts more than 2,500 tokens into a file
        notice=SYSTEM_MESSAGE,
        transcript="codex",
        sessions=("sessions", "archived_sessions"),
    ),
    "opencode": Host(
        about="OpenCode: a plugin in .opencode/plugins/.",
        first_step="restart 'opencode'",
        project=".opencode/plugins/rawkomem.js",
        user="opencode/plugins/rawkomem.js",
        home=("XDG_CONFIG_HOME", "~/.config"),
        template="opencode/rawkomem.js",
        mcp=Mcp(
            "mcp",
            "opencode.json",
            "opencode/opencode.json",
            {"type": "local", "command": ["rawkomem", "mcp"], "enabled": True},
        ),
        events={},
        skills=AGENTS_SKILLS,
        mentions=(".opencode/plugins", "opencode.json"),
        fields={"sessionID": "session"},
        answer=lambda _, context: context,  # our own plugin reads plain text
        act=lambda _, guard, text: {"guard": guard, "text": text},
        asks=(),
    ),
    "cursor": Host(
        about="Cursor: .cursor/hooks.json.",
        first_step="open the project in Cursor and trust the workspace",
        project=".cursor/hooks.json",
        user="hooks.json",
        home=("", "~/.cursor"),
        mcp=Mcp(MCP_SERVERS, ".cursor/mcp.json", "mcp.json"),
        marketplace="claude/.cursor-plugin/marketplace.json",
        version=1,
        events={
            "sessionStart": START,
            "beforeSubmitPrompt": PROMPT,
            "beforeShellExecution": BEFORE,
            "preToolUse": BEFORE,
            "postToolUse": AFTER,
            "preCompact": COMPACT,
            "stop": TURN,
            "sessionEnd": END,
        },
        matchers={"preToolUse": "Write", "postToolUse": "Shell|Write"},
        handler=lambda _, command, seconds: {"command": command, "timeout": seconds},
        grouped=False,
        act=_cursor_act,
        asks=(COMMAND,),
        reminds_after=True,
        mentions=(".cursor/mcp.json", "~/.cursor/mcp.json"),
        fields={
            "conversation_id": "session",
            "workspace_roots": "folder",
            "text": "reply",
            "generation_id": "prompt_id",
        },
        mark="cursor_version",
        project_variable="CURSOR_PROJECT_DIR",
        transcript_variable="CURSOR_TRANSCRIPT_PATH",
        answer=_cursor_answer,
        transcript="cursor",
    ),
    "copilot": Host(
        about="Copilot CLI and cloud agent: .github/hooks/rawkomem.json.",
        first_step="start 'copilot' in {folder} and trust it",
        project=".github/hooks/rawkomem.json",
        user="hooks/rawkomem.json",
        home=("COPILOT_HOME", "~/.copilot"),
        mcp=Mcp(MCP_SERVERS, ".mcp.json", "mcp-config.json"),
        version=1,
        events={
            "sessionStart": START,
            "subagentStart": SUBAGENT,
            "userPromptTransformed": PROMPT,
            "preToolUse": BEFORE,
            "postToolUse": AFTER,
            "preCompact": COMPACT,
            "agentStop": TURN,
            "sessionEnd": END,
        },
        handler=lambda _, line, seconds: {
            "type": "command",
            "bash": line,
            "powershell": line,
            "timeoutSec": seconds,
        },
        grouped=False,
        act=_copilot_act,
        reminds_after=True,
        mentions=(".github/hooks", "~/.copilot/mcp-config.json"),
        fields={"sessionId": "session", "transcriptPath": "transcript"},
        answer=_copilot_answer,
        is_heard=_copilot_hears,
        # Copilot also runs Claude Code's hooks, but drops their answers
        is_apart=_is_copilots,
        transcript="copilot",
    ),
    "gemini": Host(
        about="Gemini CLI: .gemini/settings.json.",
        first_step="start 'gemini' in {folder} and trust the hooks when it asks",
        project=".gemini/settings.json",
        reads_above=False,
        user="settings.json",
        home=("", "~/.gemini"),
        mcp=Mcp(
            MCP_SERVERS,
            ".gemini/settings.json",
            "settings.json",
            {**MCP_ENTRY, "timeout": 60_000},
        ),
        events={
            "SessionStart": START,
            "BeforeAgent": PROMPT,
            "BeforeTool": BEFORE,
            "AfterTool": AFTER,
            "AfterAgent": TURN,
            "SessionEnd": END,
        },
        matchers={
            "BeforeTool": "run_shell_command|write_file|replace",
            "AfterTool": "run_shell_command|write_file|replace",
        },
        handler=_gemini_handler,
        act=_gemini_act,
        asks=(),  # without a person at it, Gemini CLI would wait for ever
        reminds_after=True,
        skills=AGENTS_SKILLS,
        fields={"prompt_response": "reply"},
        project_variable="GEMINI_PROJECT_DIR",
        notice=SYSTEM_MESSAGE,
        answer=lambda call, context: claude_answer(call, context, "BeforeAgent"),
        # the context that BeforeAgent adds applies to that turn only
        keeps_context=False,
        transcript="gemini",
    ),
    "vscode": Host(
        about="VS Code: an MCP server in .vscode/mcp.json; its agent also runs the hooks of 'connect claude'.",
        first_step="open the project in VS Code and start the server 'rawkomem' with 'MCP: List Servers'",
        mcp=Mcp(
            "servers",
            ".vscode/mcp.json",
            entry={"type": "stdio", **MCP_ENTRY},
            otherwise="""code --add-mcp '{"name": "rawkomem", "command": "rawkomem", "args": ["mcp"]}'""",
        ),
        notice=SYSTEM_MESSAGE,
        transcript="claude-code",
        sessions=(
            ".config/Code",
            ".config/Code - Insiders",
            ".vscode-server",
            "AppData/Roaming/Code",
            "Library/Application Support/Code",
        ),
    ),
    "windsurf": Host(
        about="Windsurf: an MCP server in your own settings (--user); its hooks cannot add memories.",
        first_step="open the project in Windsurf and refresh the MCP servers",
        home=("", "~/.codeium"),
        mcp=Mcp(
            MCP_SERVERS,
            user="windsurf/mcp_config.json",
            otherwise="rawkomem connect windsurf --user",
        ),
    ),
    "zed": Host(
        about="Zed: an MCP server in .zed/settings.json.",
        first_step="open the project in Zed and trust it",
        home=("XDG_CONFIG_HOME", "~/.config"),
        mcp=Mcp(
            "context_servers",
            ".zed/settings.json",
            "zed/settings.json",
            {**MCP_ENTRY, "env": {}},
        ),
    ),
}

# the last two start a background process
TIME_LIMITS_S = {
    START: 10,
    PROMPT: 5,
    COMPACT: 5,
    TURN: 10,
    END: 5,
}


def time_limit_s(name: str, event: str) -> int:
    """Return how many seconds a host waits for the answer to one of our events."""
    limits = {**TIME_LIMITS_S, **HOSTS[name].max_seconds}
    return limits.get(event, TIME_LIMITS_S[PROMPT])


def home_of(name: str) -> str:
    """Return the user's folder of a host."""
    variable, default = HOSTS[name].home
    return os.environ.get(variable) or os.path.expanduser(default)


def transcript_places() -> list[str]:
    """Return the folders in which the known hosts keep their transcripts."""
    return [
        os.path.join(home_of(name), folder)
        for name, host in HOSTS.items()
        if host.transcript
        for folder in host.sessions
    ]


# other names of a host (its program or its package) → the name of its record
ALIASES = {
    "claude-code": "claude", "codex-cli": "codex", "opencode-ai": "opencode", "cursor-agent": "cursor",
    "copilot-cli": "copilot", "gemini-cli": "gemini",
}  # fmt: skip

# Programs that run commands for a model. Includes editors with a built-in agent: in their terminals, commands of an
# agent and of a person look the same.
OTHER_PROGRAMS = """
    aider amp antigravity auggie augment cline continue copilot-agent crush devin droid forge goose goosed kilocode kimi
    kiro kiro-cli openhands plandex qwen qwen-code roo trae windsurf
"""
AGENT_PROGRAMS = {*HOSTS, *ALIASES, *OTHER_PROGRAMS.split()} - {"vscode", "zed"}
# Variables that agent hosts set for the commands they run. Variables with which people configure a host are not listed.
AGENT_VARIABLES = str.split("""
    AGENT AI_AGENT AMP_CURRENT_THREAD_ID ANTIGRAVITY_AGENT AUGMENT_AGENT CLAUDECODE CLAUDE_CODE CLAUDE_CODE_ENTRYPOINT
    CLAUDE_CODE_SESSION_ID CLAUDE_PROJECT_DIR CLINE_ACTIVE CODEX_CI CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED
    CODEX_THREAD_ID COPILOT_AGENT COPILOT_CLI CURSOR_AGENT CURSOR_TRACE_ID GEMINI_CLI GOOSE_TERMINAL OPENCODE
    OPENCODE_CLIENT OPENCODE_PID QWEN_CODE ROO_ACTIVE TRAE_AI_SHELL_ID
""")


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
    check_known("host", name, HOSTS)
    event = HOSTS[name].events.get(event, event)
    check_known("event", event, EVENTS)
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
