"""validity: set when the memory holds. Another window takes the place of the one before."""

from __future__ import annotations

from ...model.clock import iso, read_moment
from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput
from ..decide import check_window, plan_change
from ..keys import REASON, Key
from . import Change, Fields, time_of

ENDS = {"validFrom": "valid_from", "validUntil": "valid_until"}  # key → field of Memory
OPEN_END = "none"  # written for the end of a window that is removed


def plan_validity(memory: Memory, start: str, end: str, reason: str, by: str) -> Plan:
    """Set when a memory holds: dates, times or ages; empty leaves an end as it is, `none` opens it."""
    texts = zip(ENDS, (start, end), strict=True)
    given: Fields = {key: _moment(key, text) for key, text in texts if text}
    if not given:
        raise BadInput("no window given", "give --from, --until or both")
    known = {key: iso(getattr(memory, field)) for key, field in ENDS.items()}
    check_window({key: value for key, value in {**known, **given}.items() if value not in ("", OPEN_END)})
    return plan_change(memory, "validity", by, f"validity of {memory.id}", {**given, "reason": reason}, tuple(given))


def _moment(key: str, text: str) -> str:
    if text == OPEN_END:
        return OPEN_END
    at = read_moment(text)
    if at is None:
        raise BadInput(f"{key} {text!r} names no time", "a date (2026-01-23), a time, an age (7d), or none")
    return iso(at)


def _reduce(fields: Fields, entry: Entry) -> Fields:
    return {field: time_of(entry.extra.get(key)) for key, field in ENDS.items() if key in entry.given}


def _tell(entry: Entry) -> str:
    words = {"validFrom": "from", "validUntil": "until"}
    said = [f"{words[key]} {iso(time_of(entry.extra.get(key))) or 'any time'}" for key in ENDS if key in entry.given]
    return f"valid {' '.join(said)}" if said else "no window given"


FROM, UNTIL = Key("When it begins to hold"), Key("When it ceases to hold")
CHANGE = Change(_reduce, _tell, {"validFrom": FROM, "validUntil": UNTIL, "reason": REASON})
