"""delete: hide the memory. Its text stays in the file."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.errors import Refused
from ..decide import plan_about
from ..keys import REASON
from . import Change, with_status


def plan_delete(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to hide a memory; its text stays in the file."""
    if memory.status == "deleted":
        raise Refused(f"{memory.id} is already deleted", f"to remove its text, run 'rawkomem purge {memory.id}'")
    extra = {"reason": reason} if reason else {}
    return plan_about(memory, Entry(kind="delete", extra=extra, by=by), f"delete {memory.id}")


CHANGE = Change(with_status("deleted"), lambda entry: "deleted", {"reason": REASON})
