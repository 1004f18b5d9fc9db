"""quarantine: hold the memory back until a person reviews it."""

from __future__ import annotations

from collections.abc import Iterable

from ...model.entry import Entry, Memory, Plan
from ...model.errors import Refused
from ...model.kinds import ACTIVE
from ..decide import about, plan_change
from ..fold import created
from ..keys import CONFLICTS, REASON, Key
from . import Change, Fields, ids, listed, with_status

MANUAL = "manual"
TRUST_INSUFFICIENT, NEEDS_REVIEW = "trust_insufficient", "predicate_requires_review"  # reasons to quarantine a claim


def plan_quarantine(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to quarantine a memory until somebody reviews it."""
    if memory.status != ACTIVE:
        raise Refused(f"{memory.id} is {memory.status}: only active memories can be quarantined", "nothing to do")
    return plan_change(
        memory, "quarantine", by, f"quarantine {memory.id}", {"reason": reason or MANUAL, "cause": MANUAL}
    )


def is_by_hand(entry: Entry) -> bool:
    """Return whether somebody quarantined a memory that was in use. Then `restore` may end the quarantine."""
    return MANUAL in (entry.extra.get("cause"), entry.extra.get("reason"))


def holding(memory: Memory, reason: str, by: str, rivals: Iterable[str] = ()) -> Entry:
    """Return the entry that quarantines a memory; `rivals` are the ids of the memories that it contradicts."""
    named: list[str] = [*rivals]
    extra: Fields = {"reason": reason, **({"conflictsWith": named} if named else {})}
    return about(memory, Entry(kind="quarantine", by=by, extra=extra))


def plan_held(new: Entry, reason: str, by: str, rivals: Iterable[str] = ()) -> Plan:
    """Plan to store a new memory in quarantine; both entries are one write."""
    return Plan((new, holding(created(new), reason, by, rivals)), f"hold {new.title!r} for a review")


def with_conflicts(fields: Fields, entry: Entry) -> Fields:
    """Return `conflicts_with`, extended by the memories that an entry contradicts."""
    others = dict.fromkeys((*fields.get("conflicts_with", ()), *ids(entry, "conflictsWith")))
    return {"conflicts_with": tuple(others)}


def _reduce(fields: Fields, entry: Entry) -> Fields:
    return {**with_status("quarantined")(fields, entry), **with_conflicts(fields, entry)}


def _tell(entry: Entry) -> str:
    rivals = ids(entry, "conflictsWith")
    return f"held for a review: contradicts {listed(rivals)}" if rivals else "held for a review"


CAUSE = Key("manual: somebody quarantined a memory that was in use")
CHANGE = Change(_reduce, _tell, {"cause": CAUSE, "conflictsWith": CONFLICTS, "reason": REASON})
