"""feedback: a vote that the memory was helpful or harmful. `signal: none` withdraws one vote or confirmation."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput
from ..decide import about, plan_change
from ..keys import REASON, Key
from . import Change, Fields

SIGNALS = HELPFUL, HARMFUL = ("helpful", "harmful")
SIGNS = {HELPFUL: "+", HARMFUL: "-"}
NONE = "none"  # the signal of an entry that withdraws a vote
COUNTS = {HELPFUL: "helpful", HARMFUL: "harmful", "reinforce": "reinforcements", "dispute": "disputes"}  # → field
CORROBORATE = "corroborate"
WITHDRAWABLE = (*COUNTS, CORROBORATE)


def plan_feedback(memory: Memory, signal: str, reason: str, by: str) -> Plan:
    """Plan a vote on a memory: helpful or harmful."""
    if signal not in SIGNALS:
        raise BadInput(f"unknown feedback {signal!r}", "use one of " + ", ".join(SIGNALS))
    return plan_change(memory, "feedback", by, f"{signal}: {memory.id}", {"signal": signal, "reason": reason})


def withdrawing(memory: Memory, what: str, by: str, whose: str | None = None) -> Entry:
    """Return the entry that withdraws the last vote, reinforcement or dispute, or the corroboration of `whose`."""
    assert what in WITHDRAWABLE
    extra: Fields = {"signal": NONE, "withdraws": what, **({} if whose is None else {"whose": whose})}
    return about(memory, Entry(kind="feedback", by=by, extra=extra))


def _withdraw(fields: Fields, entry: Entry) -> Fields:
    what = str(entry.extra.get("withdraws"))
    if what == CORROBORATE:
        return _withdraw_source(fields, entry)
    field = COUNTS.get(what, "")
    if not fields.get(field, 0):
        return {}
    before, _, later = fields.get("votes", "").rpartition(SIGNS.get(what, " "))
    votes = {"votes": before + later} if what in SIGNS else {}
    return {field: fields[field] - 1, **votes}


def _withdraw_source(fields: Fields, entry: Entry) -> Fields:
    known, whose = fields.get("confirmed_by", ()), entry.extra.get("whose")
    left = tuple(source for source in known if source != whose)
    fewer = len(known) - len(left)
    count, repeated = fields.get("corroborations", 0), fields.get("repeated", 0)
    return {"confirmed_by": left, "corroborations": max(0, count - fewer), "repeated": max(0, repeated - 1)}


def _reduce(fields: Fields, entry: Entry) -> Fields:
    signal = str(entry.extra.get("signal"))
    if signal == NONE:
        return _withdraw(fields, entry)
    sign = SIGNS.get(signal)
    return {signal: fields.get(signal, 0) + 1, "votes": fields.get("votes", "") + sign} if sign else {}


def _tell(entry: Entry) -> str:
    if entry.extra.get("signal") == NONE:
        return f"took back: {entry.extra.get('withdraws', 'nothing')}"
    return f"voted {entry.extra.get('signal', 'nothing')}"


VOTE = Key("The vote; none: the entry withdraws a vote or a confirmation", {"enum": [*SIGNALS, NONE]})
WITHDRAWS = Key("The kind of vote or confirmation that the signal none withdraws", {"enum": [*WITHDRAWABLE]})
WHOSE = Key("The source of the corroboration that is withdrawn")
CHANGE = Change(_reduce, _tell, {"signal": VOTE, "withdraws": WITHDRAWS, "whose": WHOSE, "reason": REASON})
