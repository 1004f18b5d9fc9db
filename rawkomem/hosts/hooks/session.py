"""Follow what a session knows: a compaction empties its context, and a cancelled prompt takes its memories along."""

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
REBUILT = ("compact", "clear", RESUMED)  # why a session starts whose context is not the one it had
OPENING = "opening"  # the key of what a session is told at its start
MAX_CANCEL_MS = 120_000  # until the same words again are a new prompt
HEAD_CHARS = 40  # of a prompt that say whether it is the same: people correct what they cancelled
# What a transcript holds once the agent began to answer: Claude Code, Cursor and Copilot; Codex; Gemini CLI
ANSWERED = (b'"assistant', b'"agent_message"', b'"reasoning"', b'"function_call"', b'"custom_tool_call"', b'"gemini"')


def begin(layout: Layout, call: Call) -> bool:
    """Note that a session starts, and return whether to open it: one that is resumed still has its opening."""
    has_opening = call.why == RESUMED and OPENING in told_to(layout, call.session).keys
    if call.why in REBUILT:
        note_fresh(layout, call.session)
    note_told(layout, call.session, 0, [OPENING])
    return not has_opening


def hear(layout: Layout, call: Call) -> None:
    """Note a prompt; take back what the one before was told if it was cancelled."""
    if not HOSTS[call.host].keeps_context:
        note_fresh(layout, call.session)
        return
    told = told_to(layout, call.session)
    head = checksum(call.prompt.strip()[:HEAD_CHARS])
    if told.prompt == head and _is_unanswered(told, call.transcript):
        note_lost(layout, call.session)
    note_asked(layout, call.session, head, _size(call.transcript))


def _is_unanswered(told: Told, transcript: str) -> bool:
    """Tell whether the last prompt came in just now and has no answer, as far as a transcript tells."""
    if not 0 <= now() - told.at < MAX_CANCEL_MS:
        return False
    since = tail(transcript, max(0, told.heard)) if transcript else b""
    return not any(mark in since for mark in ANSWERED)


def _size(transcript: str) -> int:
    """Return the bytes of a transcript; -1 if there is none."""
    try:
        return os.stat(transcript).st_size if transcript else -1
    except OSError:
        return -1
