"""Track which memories a session has in its context: a compaction removes all, a cancelled prompt removes its own."""

from __future__ import annotations

import os

from ...files.local.told import checksum, note_asked, note_fresh, note_lost, note_told, told_to
from ...model.clock import now
from ..records import HOSTS
from .lately import tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout
    from ...files.local.told import Told
    from ..host import Call

RESUMED = "resume"
REBUILT = ("compact", "clear", RESUMED)  # reasons for a start after which the old context may be gone
OPENING = "opening"  # the key of the text at the start of a session
MAX_CANCEL_MS = 120_000  # after this time, a repeated prompt counts as new, not as a cancelled one
HEAD_CHARS = 40  # prompts with the same beginning count as the same: people edit what they cancelled
# Text that a transcript holds once the agent began to answer: Claude Code, Cursor and Copilot; Codex; Gemini CLI
ANSWERED = (b'"assistant', b'"agent_message"', b'"reasoning"', b'"function_call"', b'"custom_tool_call"', b'"gemini"')


def begin(layout: Layout, call: Call) -> bool:
    """Record that a session starts; return whether it needs an opening. A resumed session may still have one."""
    has_opening = call.why == RESUMED and OPENING in told_to(layout, call.session).keys
    if call.why in REBUILT:
        note_fresh(layout, call.session)
    note_told(layout, call.session, 0, [OPENING])
    return not has_opening


def hear(layout: Layout, call: Call) -> None:
    """Record a prompt. If the prompt before was cancelled, its memories no longer count as injected."""
    if not HOSTS[call.host].keeps_context:
        note_fresh(layout, call.session)
        return
    told = told_to(layout, call.session)
    head = checksum(call.prompt.strip()[:HEAD_CHARS])
    if told.prompt == head and _is_unanswered(told, call.transcript):
        note_lost(layout, call.session)
    note_asked(layout, call.session, head, _size(call.transcript))


def _is_unanswered(told: Told, transcript: str) -> bool:
    """Tell whether the last prompt is recent and the transcript shows no answer to it."""
    if not 0 <= now() - told.at < MAX_CANCEL_MS:
        return False
    since = tail(transcript, max(0, told.heard)) if transcript else b""
    return not any(mark in since for mark in ANSWERED)


def _size(transcript: str) -> int:
    """Return the size of a transcript in bytes; -1 if there is none."""
    try:
        return os.stat(transcript).st_size if transcript else -1
    except OSError:
        return -1
