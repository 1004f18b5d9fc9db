"""review: a decision about a memory. It activates the memory from any status, or archives it."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.entry import Entry, Memory, Plan
from ...model.errors import BadInput, Refused
from ...model.kinds import ACTIVE, KEPT_BOTH
from ...model.record import record
from ..belief.arrived import arrived_as, carried, open_there, settled_there, standing_again, status_there
from ..decide import about, check_by, plan_change
from ..fold import after
from ..keys import CONFLICTS, REASON, Key, texts
from ..vouch import ACCEPTS, DECLINES, SEPARATOR, named
from . import Change, Fields, Trust, ids, listed, with_status
from .link import linking
from .quarantine import with_conflicts
from .supersede import outweighs, superseding

ACTIONS = ACTIVATE, REJECT = ("activate", "reject")
DECIDE = "decide"  # an action that only accepts or declines changes
SETTLEMENTS = BY_TRUST, SUPERSEDE, KEEP_BOTH = ("", "supersede", "keep_both")  # how to settle conflicts
HIDDEN = ("superseded", "disputed", "archived", "deleted")  # statuses that `restore` ends


def plan_decide(memory: Memory, changes: Sequence[Entry], accept: bool, reason: str, by: str) -> Plan:
    """Plan to accept or decline proposed changes of a memory."""
    extra: Fields = {"action": DECIDE, ACCEPTS if accept else DECLINES: [*map(named, changes)], "reason": reason}
    why = f"{'accept' if accept else 'decline'} {len(changes)} changes of {memory.id}"
    return plan_change(memory, "review", by, why, extra)


@record
class Review:
    """The input of a decision about a memory. Conflicts with `rivals` are settled by trust, or as `settle` says.

    `words` are the entries that wrote the memory's text; the review accepts them. `others` are further changes that
    nobody vouches for; the review declines them.
    """

    memory: Memory
    rivals: Sequence[Memory]
    settle: str
    reason: str
    by: str
    trust: Trust
    words: Sequence[Entry] = ()
    others: Sequence[Entry] = ()


def plan_review(review: Review, action: str) -> Plan:
    """Plan to reject or activate a memory; raise Refused if there is nothing to review."""
    memory = review.memory
    if action not in ACTIONS or review.settle not in SETTLEMENTS:
        raise BadInput(f"unknown review {action or review.settle!r}", "use one of " + ", ".join(ACTIONS))
    if memory.status != "quarantined" and not (memory.status == ACTIVE and (review.rivals or not memory.vouched)):
        raise Refused(f"{memory.id} is {memory.status}: the memory is not quarantined", "nothing to review")
    if action == REJECT:
        said: Fields = {"action": REJECT, "reason": review.reason}
        return plan_change(memory, "review", review.by, f"reject {memory.id}", said)
    return _plan_active(review)


def plan_restore(review: Review, quarantined_by_hand: bool = False) -> Plan:
    """Plan to activate a memory that is out of use; its conflicts are settled as in a review."""
    memory = review.memory
    if memory.status not in HIDDEN and not quarantined_by_hand:
        hint = "use 'rawkomem review'" if memory.status == "quarantined" else "nothing to do"
        raise Refused(f"{memory.id} is {memory.status}", hint)
    return _plan_active(review)


def _plan_active(review: Review) -> Plan:
    memory, settle, by = review.memory, review.settle, review.by
    entries = carried(memory, by)
    if settle == BY_TRUST and status_there(memory) != ACTIVE:
        entries += _letting_pass(review, after(memory, entries), ())
        entries += standing_again(after(memory, entries), arrived_as(memory), by)
        return Plan(tuple(entries), f"restore the imported status of {memory.id}: {status_there(memory)}")
    others = settled_there(memory, review.rivals) if settle == BY_TRUST else []
    beside, waiting = {one.id for one in others}, open_there(memory, others)
    rivals = [rival for rival in review.rivals if rival.id not in beside]
    wins = settle == SUPERSEDE or (settle == BY_TRUST and outweighs(memory, rivals, review.trust))
    names = [rival.id for rival in rivals]
    if memory.status != ACTIVE or not memory.vouched:
        left = waiting if wins or settle == KEEP_BOTH else [*names, *waiting]
        entries += _letting_pass(review, after(memory, entries), left)
    both = names if settle == KEEP_BOTH else sorted(beside - {*waiting})
    if both:
        entries.append(linking(after(memory, entries), both, KEPT_BOTH, by))
    if wins and settle != KEEP_BOTH:
        entries += [superseding(rival, memory.id, review.reason or "activated in a review", by) for rival in rivals]
    if not entries:
        raise Refused(f"{memory.id} is trusted less than its rivals", "add --supersede or --keep-both")
    return Plan(tuple(entries), f"activate {memory.id}")


def _letting_pass(review: Review, memory: Memory, left: Sequence[str]) -> tuple[Entry, ...]:
    """Return the entry with which a reviewer vouches for a memory's text; `left` are conflicts that stay open."""
    extra: Fields = {
        "action": ACTIVATE, "reason": review.reason, "conflictsWith": [*left],
        ACCEPTS: [*map(named, review.words)], DECLINES: [*map(named, review.others)],
    }  # fmt: skip
    check_by(review.by)
    said = {key: value for key, value in extra.items() if value}
    return (about(memory, Entry(kind="review", by=review.by, extra=said)),)  # also for a deleted memory


def _reduce(fields: Fields, entry: Entry) -> Fields:
    status = {ACTIVATE: ACTIVE, REJECT: "archived"}.get(str(entry.extra.get("action")))
    if not status:
        return {}
    activated = status == ACTIVE
    return {
        **with_status(status)(fields, entry),
        **with_conflicts(fields, entry),
        "retracted": not activated,
        "superseded_by": "" if activated else fields.get("superseded_by", ""),
        "reviewed_in": (*fields.get("reviewed_in", ()), entry.id) if activated else (),
    }


def _tell(entry: Entry) -> str:
    action = {ACTIVATE: "activated", REJECT: "rejected"}.get(str(entry.extra.get("action")))
    left = ids(entry, "conflictsWith")
    if entry.extra.get("action") == DECIDE:
        decided = ((word, ids(entry, key)) for word, key in (("accepted", ACCEPTS), ("declined", DECLINES)))
        action = ", ".join(f"{word} {listed(tuple(map(_id, names)))}" for word, names in decided if names)
    return (action or "reviewed without a decision") + (f", in conflict with {listed(left)}" if left else "")


def _id(name: str) -> str:
    return name.rpartition(SEPARATOR)[0]


ACTION = Key("The decision of a review", {"enum": [*ACTIONS, DECIDE]})
NAMED = Key("Entries that it accepts or declines: id@digest", texts())
CHANGE = Change(
    _reduce,
    _tell,
    {"action": ACTION, ACCEPTS: NAMED, DECLINES: NAMED, "conflictsWith": CONFLICTS, "reason": REASON},
)
