"""supersede: another memory replaces this one. A less trusted memory needs `anyway`. `restore` undoes a supersede."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.aliases import said
from ...model.entry import Entry, Memory, Plan
from ...model.errors import Refused
from ...model.kinds import ACTIVE
from ..belief.conflicts import chain
from ..belief.trust import BASES, MAX_AGE_LOSS, claimed_source
from ..decide import about
from ..keys import ID, REASON, Key
from . import Change, Fields, Trust, with_status

if TYPE_CHECKING:
    from ..belief.conflicts import Find


TRUST_DECIMALS = 6  # for comparing trust, so that tiny differences in age do not count


def outweighs(memory: Memory, rivals: Sequence[Memory], trust: Trust) -> bool:
    """Return whether a memory is trusted at least as much as each of its rivals, so that it wins ties.

    If its lead is not larger than the loss by age, the declared sources decide: all texts of agents have the same cap,
    and a text whose declared source is a user must not lose to a newer guess only because it is older.
    """
    return all(_outweighs(memory, rival, trust) for rival in rivals)


def _outweighs(memory: Memory, rival: Memory, trust: Trust) -> bool:
    if _had_ended(memory, memory.created) and not _had_ended(rival, memory.created):
        return False  # it was no longer valid when it was written
    own, other = trust(memory), trust(rival)
    lead = round(own - other, TRUST_DECIMALS)
    if not 0 <= lead <= MAX_AGE_LOSS:
        return lead > 0
    return _declared(memory, own) >= _declared(rival, other)


def _had_ended(memory: Memory, at: int) -> bool:
    return 0 < memory.valid_until <= at


def _compared(new: Memory, old: Memory, trust: Trust) -> str:
    """Return both trust values with enough decimals to differ; if they are equal, the declared sources."""
    for decimals in range(2, TRUST_DECIMALS + 1):
        own, other = (f"{trust(memory):.{decimals}f}" for memory in (new, old))
        if float(own) < float(other):
            return f"{own} against {other}"
    return f"its source is {claimed_source(new.extra) or 'not declared'}, the other's is {claimed_source(old.extra)}"


def _declared(memory: Memory, trust: float) -> float:
    """Return the initial trust of the source that a memory declares; if it declares none, its actual trust."""
    claimed = claimed_source(memory.extra)
    return BASES[claimed] if claimed else round(trust, TRUST_DECIMALS)


def superseding(old: Memory, newer: str, reason: str, by: str) -> Entry:
    """Return the entry that supersedes a memory by the one with the id `newer`."""
    return about(old, Entry(kind="supersede", by=by, extra={"supersededBy": newer, "reason": reason}))


def plan_supersede(
    old: Memory, new: Memory, find: Find, reason: str, by: str, trust: Trust, anyway: bool = False
) -> Plan:
    """Plan to replace `old` by `new`; raise Refused if `new` is trusted less, unless `anyway` is set."""
    if any(memory.id == old.id for memory in chain(new.id, find)):
        raise Refused(f"{old.id} would supersede itself", "name the old memory first, then the new one")
    if new.status != ACTIVE:
        raise Refused(f"{new.id} is {new.status}", "only an active memory can supersede another one")
    if old.status in ("superseded", "deleted"):
        raise Refused(f"{old.id} is already {old.status}", "nothing to do")
    if not anyway and not outweighs(new, [old], trust):
        hint = f"to do it anyway, run 'rawkomem supersede {old.id} {new.id} --anyway'"
        raise Refused(f"{new.id} is trusted less than {old.id}: {_compared(new, old, trust)}", hint)
    return Plan((superseding(old, new.id, reason, by),), f"supersede {old.id} by {new.id}")


def _reduce(fields: Fields, entry: Entry) -> Fields:
    newer = str(said(entry.extra, "supersededBy"))
    return {**with_status("superseded")(fields, entry), "superseded_by": newer} if newer else {}


def _tell(entry: Entry) -> str:
    return f"superseded by {said(entry.extra, 'supersededBy') or 'nothing'}"


NEWER = Key("The memory that supersedes it", ID, refers=True)
CHANGE = Change(_reduce, _tell, {"supersededBy": NEWER, "reason": REASON})
