"""Record what a person typed, to check quotes later. Runs after the answer, because loading redaction rules is slow."""

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
    """Record the redacted prompt, and the path of the transcript: an agent may quote the person later."""
    typed = read_prompt(call.prompt)
    if not typed.is_host and not call.is_subagents:
        note_said(layout, call.session, redact(typed.ask))
    if call.transcript:
        note_transcript(layout, call.session, call.transcript)
