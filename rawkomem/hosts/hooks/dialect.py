"""How each host wants to be answered, and how much it takes. Nothing to say is no output at all, for every host."""

from __future__ import annotations

from ...text.quick_json import write_json
from .call import PROMPT, Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Bytes of context that a host takes at once. Claude Code and Cursor put more than 10,000 characters into a file and
# show a preview, Codex does so from 2,500 tokens; Copilot cuts at 10 KB; the others name no limit.
ROOM = {
    "claude": 9_500,
    "vscode": 9_500,
    "codex": 8_000,
    "cursor": 9_500,
    "copilot": 9_500,
    "gemini": 9_500,
    "opencode": 9_500,
}
REWRITTEN = "transformedPrompt"  # a prompt as Copilot sends it to the model: the one that a hook may change
PROMPT_NAMES = {"gemini": "BeforeAgent"}  # the others say as Claude Code does


def answer(call: Call, context: str) -> bytes:
    """A context in the dialect of the host; empty where there is none, or no way to tell it."""
    if not context or not is_heard(call):
        return b""
    if call.host == "opencode":  # our own plugin, which takes a text as it is
        return context.encode("utf-8", "replace")
    return f"{write_json(SPOKEN.get(call.host, _envelope)(call, context))}\n".encode()


def is_heard(call: Call) -> bool:
    """Whether the host takes what is said to a call: to a prompt that it does not offer to change, Copilot does not."""
    return not is_copilots(call) or call.event != PROMPT or isinstance(call.fields.get(REWRITTEN), str)


def is_copilots(call: Call) -> bool:
    """Whether a call is told in Copilot's own way: snake_case belongs to Claude Code's event names and envelope."""
    return call.host == "copilot" and "hook_event_name" not in call.fields


def _envelope(call: Call, context: str) -> dict[str, object]:
    """Claude Code's, which Codex, VS Code and Gemini took over; Codex refuses any key beyond these."""
    prompt = PROMPT_NAMES.get(call.host, "UserPromptSubmit")
    name = prompt if call.event == PROMPT else "SessionStart"
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}


def _cursor(call: Call, context: str) -> dict[str, object]:
    said: dict[str, object] = {"additional_context": context}
    return {"continue": True, **said} if call.event == PROMPT else said


def _copilot(call: Call, context: str) -> dict[str, object]:
    if not is_copilots(call):
        return _envelope(call, context)
    if call.event != PROMPT:
        return {"additionalContext": context}
    return {"modifiedTransformedPrompt": f"{context}\n{call.fields[REWRITTEN]}"}


SPOKEN: dict[str, Callable[[Call, str], dict[str, object]]] = {"cursor": _cursor, "copilot": _copilot}
