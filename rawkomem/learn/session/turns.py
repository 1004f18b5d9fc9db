"""A turn: what somebody said in a session, whoever kept the record of it."""

from __future__ import annotations

from ...model.record import record

USER, ASSISTANT, TOOL, SYSTEM, NOBODY = "user", "assistant", "tool", "system", ""
QUEUED = "queued"  # a person's words while the agent works, not delivered yet; Transcript makes them USER
SUBAGENT = "sub-agent"  # or who speaks to one; Transcript drops it
PEOPLE = (USER, ASSISTANT, NOBODY)  # whose words may be learned from; a text without roles is somebody's


@record
class Did:
    """What a tool was asked to do, or what came of it. What the record does not say is empty."""

    id: str = ""  # the same for a call and its result
    command: str = ""  # of a shell
    file: str = ""  # that the tool writes
    written: str = ""  # what is new in that file
    failed: bool | None = None  # of a result


@record
class Turn:
    """One turn. Tools and the host's own scaffolding speak too; what they say is never taken for what people said."""

    role: str
    text: str
    at: int = 0  # milliseconds since 1970; 0: the record does not say
    tool: str = ""  # which tool speaks
    session: str = ""  # as far as the record names it
    did: Did | None = None  # of a tool
