"""archive: take the memory out of use. `restore` undoes it."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.errors import Refused
from ..decide import about, plan_change
from ..keys import REASON, Key
from . import Change, Fields, with_status

HOUSEKEEPING = "housekeeping"


def plan_archive(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to archive a memory."""
    if memory.status in ("archived", "deleted"):
        raise Refused(f"{memory.id} is already {memory.status}", "nothing to do")
    return plan_change(memory, "archive", by, f"archive {memory.id}", {"reason": reason})


def archiving(memory: Memory, reason: str, by: str) -> Entry:
    """Return the entry with which housekeeping archives a memory. Memories made from it stay in use."""
    return about(memory, Entry(kind="archive", by=by, extra={"reason": reason, "cause": HOUSEKEEPING}))


def _reduce(fields: Fields, entry: Entry) -> Fields:
    return {**with_status("archived")(fields, entry), "retracted": entry.extra.get("cause") != HOUSEKEEPING}


CAUSE = Key("housekeeping: nobody decided against it; it decayed, or another memory says the same")
CHANGE = Change(_reduce, lambda entry: "archived", {"cause": CAUSE, "reason": REASON})
