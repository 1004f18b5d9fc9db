"""archive: take the memory out of use. `restore` brings it back."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.errors import Refused
from ..decide import about, plan_change
from ..keys import REASON
from . import Change, with_status


def plan_archive(memory: Memory, reason: str, by: str) -> Plan:
    """Take a memory out of use."""
    if memory.status in ("archived", "deleted"):
        raise Refused(f"{memory.id} is {memory.status} already", "nothing to do")
    return plan_change(memory, "archive", by, f"archive {memory.id}", {"reason": reason})


def archiving(memory: Memory, reason: str, by: str) -> Entry:
    """Return the entry that archives a memory."""
    return about(memory, Entry(kind="archive", by=by, extra={"reason": reason}))


CHANGE = Change(with_status("archived"), lambda entry: "archived", {"reason": REASON})
