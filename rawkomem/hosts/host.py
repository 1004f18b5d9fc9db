"""Define Host, which holds everything that differs between agent hosts, and Call, one call of a hook by a host.

records.py holds the records of all known hosts. `rawkomem connect`, the hooks and `rawkomem uninstall` read them.
"""

from __future__ import annotations

from ..model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Fields = Mapping[str, object]
    Names = tuple[tuple[str, str], ...]

START, PROMPT, COMPACT, TURN, END = "session-start", "prompt", "compact", "turn-end", "session-end"
TALK = "talk"  # a host without transcripts passes the messages so far, before its agent stores a memory
LEARN = "learn"  # the event of the background learner; no host sends it
EVENTS = (START, PROMPT, COMPACT, TALK, TURN, END)
CLAUDE_EVENTS = (("SessionStart", START), ("UserPromptSubmit", PROMPT), ("Stop", TURN), ("SessionEnd", END))
MCP_ENTRY: Fields = {"command": "rawkomem", "args": ["mcp"]}
STATUS_MESSAGES = {START: "Loading project memories", PROMPT: "Recalling project memories"}


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
        """Tell whether an agent wrote the prompts of this session (in OpenCode: the session has a parent)."""
        info = self.fields.get("info")
        return bool(self.fields.get("agent_id") or (isinstance(info, dict) and info.get("parentID")))


def claude_handler(event: str, command: str, seconds: int) -> dict[str, object]:
    """Return a handler in Claude Code's format."""
    status = {"statusMessage": STATUS_MESSAGES[event]} if event in STATUS_MESSAGES else {}
    return {"type": "command", "command": command, "timeout": seconds, **status}


def claude_answer(call: Call, context: str, prompt: str = "UserPromptSubmit") -> object:
    """Return an answer in Claude Code's format. Codex rejects all keys except these and `systemMessage`."""
    event = prompt if call.event == PROMPT else "SessionStart"
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


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

    about: str = ""  # one line of help; empty: the host reads another host's settings and cannot be connected
    first_step: str = ""  # what a person must do once after connecting, so that the host uses the settings
    # Settings
    project: str = ""  # path of the settings file in a project; empty: the host has no hooks of its own
    user: str = ""  # path of the settings file in `home`
    home: tuple[str, str] = ("", "~")  # the environment variable that names the user's folder, and its default
    template: str = ""  # if set, the settings file belongs to us as a whole: a copy of this file in templates/agents
    hooks_beside: str = ""  # if set, settings are TOML; if this JSON file exists next to them, hooks go into it instead
    version: int = 0  # the version that the settings file must contain; 0: none
    events: Names = CLAUDE_EVENTS  # the host's name of an event → ours
    handler: Callable[[str, str, int], Mapping[str, object]] = claude_handler  # event, command, seconds → settings
    grouped: bool = True  # whether a handler is inside a group with a list of handlers
    cmd_key: str = ""  # the handler's key for a command line that cmd.exe runs; empty: the host never uses cmd.exe
    max_seconds: tuple[tuple[str, int], ...] = ()  # event → the longest time limit that the host accepts
    skills: str = ""  # folder of skills in a project
    mcp: Mcp | None = None  # where the host stores MCP servers
    marketplace: str = ""  # path in templates/agents of the marketplace file that lists our plugin
    mentions: tuple[str, ...] = ()  # other files, in a project or `~/`, into which people write our commands
    # Calls of hooks
    more_events: Names = ()  # other names of events that the host uses or used
    fields: Names = ()  # the host's name of a field → the name in Call, where it differs from Claude Code's
    mark: str = ""  # a field that only this host passes, even to hooks that were set up for another host
    project_variable: str = ""  # the environment variable that names the project
    transcript_variable: str = ""  # the environment variable that names the transcript
    # Answers
    max_context_bytes: int = 9_500  # hosts cut longer answers, or put them into a file, from about 10,000
    answer: Callable[[Call, str], object] = claude_answer  # call, context → JSON; a text is printed unchanged
    notice: str = ""  # the key of an answer that the host shows to the person; empty: none
    is_heard: Callable[[Call], bool] = lambda _: True  # whether the host uses the answer to a call
    is_apart: Callable[[Call], bool] = lambda _: False  # whether to answer after another host's equal call
    keeps_context: bool = True  # whether the answer to a prompt stays in the context of later prompts
    # Transcripts
    transcript: str = ""  # the reader in learn/session/hosts.py; empty: calls pass the messages

    @property
    def has_hooks(self) -> bool:
        """Tell whether the host has its own settings that can call our hooks."""
        return bool(self.project)
