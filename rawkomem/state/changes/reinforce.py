"""reinforce: somebody confirmed that the memory is true. It ends `disputed`."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.kinds import ACTIVE
from ..decide import plan_change
from ..keys import REASON
from . import Change, Fields


def plan_reinforce(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to confirm a memory; this also ends the status `disputed`."""
    return plan_change(memory, "reinforce", by, f"reinforce {memory.id}", {"reason": reason})


def _reduce(fields: Fields, entry: Entry) -> Fields:
    cleared = {"status": ACTIVE, "reason": ""} if fields["status"] == "disputed" else {}
    return {**cleared, "reinforcements": fields.get("reinforcements", 0) + 1}


CHANGE = Change(_reduce, lambda entry: "found true again", {"reason": REASON})
