"""dispute: somebody doubts the memory. Low trust or several disputes make it `disputed`; `reinforce` ends that."""

from __future__ import annotations

from ...model.entry import Entry, Memory, Plan
from ...model.kinds import ACTIVE
from ..decide import plan_change
from ..fold import after
from ..keys import REASON, Key
from . import Change, Fields, Trust, with_status

DISPUTED = "disputed"
MIN_TRUST = 0.3  # below it, a dispute marks a memory as disputed (neolata)
MAX_DISPUTES = 3  # this many without a reinforcement also mark it, because further disputes do not lower its trust


def plan_dispute(memory: Memory, reason: str, by: str, trust: Trust) -> Plan:
    """Plan a dispute. If trust is now too low, the entry records it as its outcome, because trust changes with time."""
    why = f"dispute {memory.id}"
    plan = plan_change(memory, "dispute", by, why, {"reason": reason})
    if memory.status != ACTIVE or trust(after(memory, plan.entries)) >= MIN_TRUST:
        return plan
    why += f": its trust falls below {MIN_TRUST:g}"
    return plan_change(memory, "dispute", by, why, {"reason": reason, "outcome": DISPUTED})


def _reduce(fields: Fields, entry: Entry) -> Fields:
    disputes = fields.get("disputes", 0) + 1
    many = disputes >= MAX_DISPUTES and not fields.get("reinforcements", 0)
    marked = fields["status"] == ACTIVE and (many or entry.extra.get("outcome") == DISPUTED)
    return {**(with_status(DISPUTED)(fields, entry) if marked else {}), "disputes": disputes}


OUTCOME = Key("disputed: the memory's trust is too low")
CHANGE = Change(_reduce, lambda entry: "doubted", {"outcome": OUTCOME, "reason": REASON})
