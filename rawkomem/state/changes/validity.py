"""validity: set the time window in which the memory is valid. It replaces the window before."""

from __future__ import annotations

from ...model.aliases import names_of, said
from ...model.clock import iso, read_moment
from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput
from ..decide import check_window, plan_change
from ..keys import REASON, Key
from . import Change, Fields, time_of

ENDS = {"validFrom": "valid_from", "validUntil": "valid_until"}  # key → field of Memory
OPEN_END = "none"  # value that removes a limit of the window


def plan_validity(memory: Memory, start: str, end: str, reason: str, by: str) -> Plan:
    """Plan to set the validity window: dates, times or ages; "" keeps a limit, `none` removes it."""
    texts = zip(ENDS, (start, end), strict=True)
    given: Fields = {key: _moment(key, text) for key, text in texts if text}
    if not given:
        raise BadInput("no validity window is named", "pass --from, --until or both")
    known = {key: iso(getattr(memory, field)) for key, field in ENDS.items()}
    check_window({key: value for key, value in {**known, **given}.items() if value not in ("", OPEN_END)})
    return plan_change(memory, "validity", by, f"validity of {memory.id}", {**given, "reason": reason}, tuple(given))


def _moment(key: str, text: str) -> str:
    if text == OPEN_END:
        return OPEN_END
    at = read_moment(text)
    if at is None:
        raise BadInput(f"{key} {text!r} is not a time", "use a date (2026-01-23), a time, an age (7d), or none")
    return iso(at)


def _reduce(fields: Fields, entry: Entry) -> Fields:
    return {field: time_of(said(entry.extra, key)) for key, field in ENDS.items() if _gives(entry, key)}


def _gives(entry: Entry, key: str) -> bool:
    return any(name in entry.given for name in names_of(key))


def _tell(entry: Entry) -> str:
    words = {"validFrom": "from", "validUntil": "until"}
    ends = [f"{words[key]} {iso(time_of(said(entry.extra, key))) or 'any time'}" for key in ENDS if _gives(entry, key)]
    return f"valid {' '.join(ends)}" if ends else "no window given"


FROM, UNTIL = Key("Valid from this time"), Key("Valid until this time")
CHANGE = Change(_reduce, _tell, {"validFrom": FROM, "validUntil": UNTIL, "reason": REASON})
