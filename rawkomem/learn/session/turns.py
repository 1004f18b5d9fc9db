"""Define a turn of a session in a form that is the same for all hosts."""

from __future__ import annotations

from ...model.record import record

USER, ASSISTANT, TOOL, SYSTEM, NOBODY = "user", "assistant", "tool", "system", ""
QUEUED = "queued"  # what a person typed while the agent worked, not delivered yet; Flow turns it into USER
SUBAGENT = "sub-agent"  # from or to a sub-agent; Transcript drops it
PEOPLE = (USER, ASSISTANT, NOBODY)  # roles whose words may be learned from; NOBODY: a text without roles


@record
class Did:
    """What a tool was asked to do, or its result. Unknown fields are empty."""

    id: str = ""  # the same for a call and its result
    command: str = ""  # shell command
    file: str = ""  # that the tool writes
    written: str = ""  # the text that is new in that file
    failed: bool | None = None  # only in results


@record
class Turn:
    """One turn of a person, an agent, a tool or the host. Text of tools and hosts never counts as a person's words."""

    role: str
    text: str
    at: int = 0  # milliseconds since 1970; 0: unknown
    tool: str = ""  # name of the tool
    session: str = ""  # empty if the record does not name it
    did: Did | None = None  # only in turns of tools
