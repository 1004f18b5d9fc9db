"""feedback: a vote. The memory helped, or it did harm."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput
from ..decide import plan_change
from ..keys import REASON, Key
from . import Change, Fields

SIGNALS = HELPFUL, HARMFUL = ("helpful", "harmful")
SIGNS = {HELPFUL: "+", HARMFUL: "-"}


def plan_feedback(memory: Memory, signal: str, reason: str, by: str) -> Plan:
    """Vote on a memory: it helped, or it did harm."""
    if signal not in SIGNALS:
        raise BadInput(f"unknown feedback {signal!r}", "one of " + ", ".join(SIGNALS))
    return plan_change(memory, "feedback", by, f"{signal}: {memory.id}", {"signal": signal, "reason": reason})


def _reduce(fields: Fields, entry: Entry) -> Fields:
    signal = str(entry.extra.get("signal"))
    sign = SIGNS.get(signal)
    return {signal: fields.get(signal, 0) + 1, "votes": fields.get("votes", "") + sign} if sign else {}


def _tell(entry: Entry) -> str:
    return f"voted {entry.extra.get('signal', 'nothing')}"


CHANGE = Change(_reduce, _tell, {"signal": Key("The vote of a feedback", {"enum": [*SIGNALS]}), "reason": REASON})
