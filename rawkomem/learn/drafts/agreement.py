"""Whether a person's answer agrees with what the agent said, and to which statement of it."""

from __future__ import annotations

from ...text.clean import one_line
from ...text.prose import sentences
from .cues import cues

AGREES, OBJECTS = "agrees", "objects"
MAX_NOD_WORDS = 8  # after which "ok" opens the next request
MAX_STATEMENT_CHARS = 400
MAX_SENTENCES = 12  # of the agent's last words that are looked at


def answer_of(said: str) -> str:
    """Return whether a person's words agree or object; empty where they do neither."""
    first = said.strip()
    if cues().OBJECTS.search(first[:200]):
        return OBJECTS
    if cues().QUALIFIES.search(cues().SENTENCE_END.split(first, maxsplit=1)[0]):
        return ""  # "ok no, leave it"
    nods = cues().NODS.search(first) and len(first.split()) <= MAX_NOD_WORDS
    return AGREES if nods or cues().AGREES.search(first) else ""


def statement_of(before: str) -> str:
    """Return the statement that an agreement is about: what the agent offered, and what it rests on.

    The offer itself ("Want me to …?") names the thing; of the sentences before it, the last that proposes or explains
    says why. Empty where there is neither.
    """
    spoken = sentences(before)[-MAX_SENTENCES:]
    offer = next((one for one in reversed(spoken) if cues().OFFERS.search(one)), "")
    before_offer = spoken[: spoken.index(offer)] if offer else spoken
    proposal = next((one for one in reversed(before_offer) if cues().PROPOSES.search(one)), "")
    return one_line(" ".join(part for part in (proposal, offer) if part), MAX_STATEMENT_CHARS)
