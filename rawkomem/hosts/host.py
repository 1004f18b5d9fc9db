"""Define Host, everything that differs between agent hosts, and Call, what a host passes to a hook.

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
TALK = "talk"  # a host without transcripts tells what was said so far, before its agent stores something
LEARN = "learn"  # what the background learner is called with; no host calls it
EVENTS = (START, PROMPT, COMPACT, TALK, TURN, END)
CLAUDE_EVENTS = (("SessionStart", START), ("UserPromptSubmit", PROMPT), ("Stop", TURN), ("SessionEnd", END))
MCP_ENTRY: Fields = {"command": "rawkomem", "args": ["mcp"]}
STATUS_MESSAGES = {START: "Loading project memories", PROMPT: "Recalling project memories"}


@record
class Call:
    """One call of a hook: who calls, when, and what is passed. What was not passed is empty."""

    host: str
    event: str
    fields: Fields
    session: str = ""
    prompt: str = ""
    folder: str = ""  # where the agent works
    transcript: str = ""  # a file
    reply: str = ""  # the agent's last words
    why: str = ""  # a session starts, or ends
    prompt_id: str = ""  # another one for each prompt, also for the same words

    @property
    def is_subagents(self) -> bool:
        """Whether an agent wrote the prompts of this session (OpenCode: the session has a parent)."""
        info = self.fields.get("info")
        return bool(self.fields.get("agent_id") or (isinstance(info, dict) and info.get("parentID")))


def claude_handler(event: str, command: str, seconds: int) -> dict[str, object]:
    """Return a handler as Claude Code takes it."""
    status = {"statusMessage": STATUS_MESSAGES[event]} if event in STATUS_MESSAGES else {}
    return {"type": "command", "command": command, "timeout": seconds, **status}


def claude_answer(call: Call, context: str, prompt: str = "UserPromptSubmit") -> object:
    """Return an answer in Claude Code's envelope; Codex refuses any key beyond these and `systemMessage`."""
    event = prompt if call.event == PROMPT else "SessionStart"
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


@record
class Mcp:
    """Where a host keeps its MCP servers. Its file may be the one that holds its hooks."""

    key: str  # the object of servers in the file
    project: str = ""  # the file, below a project; empty: it has none
    user: str = ""  # the file, below the `home` of the host; empty: it has none that we edit
    entry: Fields = MCP_ENTRY  # what stands for us among the servers
    otherwise: str = ""  # how to do it where it has no file


@record
class Host:
    """An agent host. The defaults are those of Claude Code, which several hosts follow."""

    about: str = ""  # one line of help; empty: it reads the settings of another host and cannot be connected
    first_step: str = ""  # what a person does once after connecting, so that the host uses the settings
    # Settings
    project: str = ""  # the settings file, below a project; empty: it has no hooks of its own
    user: str = ""  # the settings file, below `home`
    home: tuple[str, str] = ("", "~")  # the environment variable that names the folder, and the default
    template: str = ""  # the settings file is ours as a whole, and this template in templates/agents
    hooks_beside: str = ""  # the settings file is TOML; this JSON file beside it is used instead where there is one
    version: int = 0  # that the settings file must name; 0: none
    events: Names = CLAUDE_EVENTS  # its name → ours
    handler: Callable[[str, str, int], Mapping[str, object]] = claude_handler  # event, command, seconds → settings
    grouped: bool = True  # whether a handler stands in a group with a list of handlers
    cmd_key: str = ""  # the key of a handler for the command line that cmd.exe runs; empty: it runs no cmd.exe
    max_seconds: tuple[tuple[str, int], ...] = ()  # event → the longest time limit that it accepts
    skills: str = ""  # where it looks for skills, below a project
    mcp: Mcp | None = None  # where it keeps MCP servers
    marketplace: str = ""  # the template that offers our plugin to it
    mentions: tuple[str, ...] = ()  # other files, below a project or `~/`, that people put our commands into
    # Calls of hooks
    more_events: Names = ()  # other names of events, which it uses or used to use
    fields: Names = ()  # its name of a field → that of Call, where that differs from Claude Code's
    mark: str = ""  # a field that only this host passes, also to hooks that were set up for another one
    project_variable: str = ""  # the environment variable that names the project
    transcript_variable: str = ""  # the environment variable that names the transcript
    # Answers
    max_context_bytes: int = 9_500  # longer ones are put into a file or cut from about 10,000 on
    answer: Callable[[Call, str], object] = claude_answer  # call, context → JSON; a text is printed as it is
    notice: str = ""  # the key of an answer that the host shows to the person; empty: it has none
    is_heard: Callable[[Call], bool] = lambda _: True  # whether it uses the answer to a call
    is_apart: Callable[[Call], bool] = lambda _: False  # whether a call is answered although another host told the same
    keeps_context: bool = True  # whether the answer to a prompt stays in the context of later ones
    # Transcripts
    transcript: str = ""  # the reader in learn/session/hosts.py; empty: its calls pass what was said

    @property
    def has_hooks(self) -> bool:
        """Whether it has settings of its own that call our hooks."""
        return bool(self.project)
