"""Note what a person typed, for quotes: after the answer, because it loads the rules that take secrets out."""

from __future__ import annotations

from ...files.local.said import note_said
from ...files.local.transcripts import note_transcript
from ...redaction.find import redact
from ...text.spoken.prompt import read_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.layout import Layout
    from ..host import Call


def note_prompt(layout: Layout, call: Call) -> None:
    """Remember what the person typed, and where the host writes it down: an agent may quote it."""
    typed = read_prompt(call.prompt)
    if not typed.is_host and not call.is_subagents:
        note_said(layout, call.session, redact(typed.ask))
    if call.transcript:
        note_transcript(layout, call.session, call.transcript)
