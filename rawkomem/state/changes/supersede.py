"""supersede: another memory takes the place of this one. Low trust never supersedes high; `restore` undoes it."""

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


TRUST_DECIMALS = 6  # in which two trusts are compared: two claims of one moment are equally old


def outweighs(memory: Memory, rivals: Sequence[Memory], trust: Trust) -> bool:
    """Tell whether a memory is trusted at least as much as each of its rivals: the newer one wins ties.

    What is ahead by no more than age takes away is a tie, too, if the rival declares a better source: agents' words
    are all capped at one number, and the word of a user among them must not give way to a guess for being older.
    """
    return all(_outweighs(memory, rival, trust) for rival in rivals)


def _outweighs(memory: Memory, rival: Memory, trust: Trust) -> bool:
    if _had_ended(memory, memory.created) and not _had_ended(rival, memory.created):
        return False  # what was over when it was said says nothing about today
    own, other = trust(memory), trust(rival)
    lead = round(own - other, TRUST_DECIMALS)
    if not 0 <= lead <= MAX_AGE_LOSS:
        return lead > 0
    return _declared(memory, own) >= _declared(rival, other)


def _had_ended(memory: Memory, at: int) -> bool:
    return 0 < memory.valid_until <= at


def _compared(new: Memory, old: Memory, trust: Trust) -> str:
    """Return two trusts with as many decimals as show the difference; where both are equal, the declared sources."""
    for decimals in range(2, TRUST_DECIMALS + 1):
        own, other = (f"{trust(memory):.{decimals}f}" for memory in (new, old))
        if float(own) < float(other):
            return f"{own} against {other}"
    return f"its source is {claimed_source(new.extra) or 'not declared'}, the other's is {claimed_source(old.extra)}"


def _declared(memory: Memory, trust: float) -> float:
    """Return the trust that a memory's source would have without a cap; where it declares none, what it has."""
    claimed = claimed_source(memory.extra)
    return BASES[claimed] if claimed else round(trust, TRUST_DECIMALS)


def superseding(old: Memory, newer: str, reason: str, by: str) -> Entry:
    """Return the entry that puts another memory, named by its id, into the place of one."""
    return about(old, Entry(kind="supersede", by=by, extra={"supersededBy": newer, "reason": reason}))


def plan_supersede(
    old: Memory, new: Memory, find: Find, reason: str, by: str, trust: Trust, anyway: bool = False
) -> Plan:
    """Put one memory into the place of another. `anyway`: a person wants it although the new one is trusted less."""
    if any(memory.id == old.id for memory in chain(new.id, find)):
        raise Refused(f"{old.id} would supersede itself", "name the old memory first, then the new one")
    if new.status != ACTIVE:
        raise Refused(f"{new.id} is {new.status}", "a memory is superseded by one that is in use")
    if old.status in ("superseded", "deleted"):
        raise Refused(f"{old.id} is {old.status} already", "nothing to do")
    if not anyway and not outweighs(new, [old], trust):
        hint = f"if you decide so, run 'rawkomem supersede {old.id} {new.id} --anyway'"
        raise Refused(f"{new.id} is trusted less than {old.id}: {_compared(new, old, trust)}", hint)
    return Plan((superseding(old, new.id, reason, by),), f"supersede {old.id} by {new.id}")


def _reduce(fields: Fields, entry: Entry) -> Fields:
    newer = str(said(entry.extra, "supersededBy"))
    return {**with_status("superseded")(fields, entry), "superseded_by": newer} if newer else {}


def _tell(entry: Entry) -> str:
    return f"superseded by {said(entry.extra, 'supersededBy') or 'nothing'}"


NEWER = Key("The memory that took its place", ID, refers=True)
CHANGE = Change(_reduce, _tell, {"supersededBy": NEWER, "reason": REASON})
