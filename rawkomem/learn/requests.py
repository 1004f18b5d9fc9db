"""Choose the draft that an agent is asked to write as a memory: once per draft, with five turns
between requests.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..model.entries import AGREED, CORRECTION, DECISION, PREFERENCE, RULE, Draft

MIN_REQUEST_TURNS = 5  # human turns between two requests
ASKED_KINDS = (
    CORRECTION,
    RULE,
    PREFERENCE,
    DECISION,
    AGREED,
)  # an agent can phrase these better than the draft


def next_request(waiting: Iterable[Draft], turns_since: int) -> Draft | None:
    """Return the waiting draft with the highest score; None if none waits or the last request is too recent."""
    if turns_since < MIN_REQUEST_TURNS:
        return None
    open_ones = [
        draft for draft in waiting if not draft.asked and draft.kind in ASKED_KINDS
    ]
    return max(open_ones, key=lambda draft: draft.score, default=None)
