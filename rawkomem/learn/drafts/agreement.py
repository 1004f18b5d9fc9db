"""Decide whether a person's answer agrees with the agent, and with which of the agent's statements."""

from __future__ import annotations

from ...text.clean import one_line
from ...text.prose import sentences
from .cues import cues

AGREES, OBJECTS = "agrees", "objects"
MAX_NOD_WORDS = 8  # in a longer turn, "ok" opens the next request instead of agreeing
MAX_STATEMENT_CHARS = 400
MAX_SENTENCES = 12  # of the agent's last message, counted from its end, that are searched


def answer_of(said: str) -> str:
    """Return AGREES or OBJECTS for a person's words; empty if they do neither."""
    first = said.strip()
    if cues().OBJECTS.search(first[:200]):
        return OBJECTS
    if cues().QUALIFIES.search(cues().SENTENCE_END.split(first, maxsplit=1)[0]):
        return ""  # "ok no, leave it"
    nods = cues().NODS.search(first) and len(first.split()) <= MAX_NOD_WORDS
    return AGREES if nods or cues().AGREES.search(first) else ""


def statement_of(before: str) -> str:
    """Return the agent's statement that a person agreed to: its last offer and the reason for it.

    The offer is a sentence like "Want me to …?". The reason is the last sentence before it that proposes or explains
    something. Empty if the text has neither.
    """
    spoken = sentences(before)[-MAX_SENTENCES:]
    at = next((at for at in reversed(range(len(spoken))) if cues().OFFERS.search(spoken[at])), None)
    offer, before_offer = ("", spoken) if at is None else (spoken[at], spoken[:at])
    proposal = next((one for one in reversed(before_offer) if cues().PROPOSES.search(one)), "")
    return one_line(" ".join(part for part in (proposal, offer) if part), MAX_STATEMENT_CHARS)
