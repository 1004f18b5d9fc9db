"""State is a fold: the entries about one id, sorted by (at, id), reduced to a Memory. People vouch for
entries and review them here: the kinds dispute, quarantine and review are planned on the folded
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ..model.entries import Entry, Memory, Plan, Value
from ..model.errors import BadInput, Refused
from ..model.ids import order_key
from ..model.values import (
    ACTIVE,
    AFTER,
    DRAFT_STATUS,
    KEPT_BOTH,
    REPLACES,
    as_dict,
    extra_value,
    record,
    replace,
    time_of,
)
from .changes import (
    AMEND_KIND,
    ARCHIVE_KIND,
    CORROBORATE_KIND,
    DELETE_KIND,
    FEEDBACK_KIND,
    HERITAGE_KIND,
    LINK_KIND,
    REINFORCE_KIND,
    SUPERSEDE_KIND,
    VALIDITY_KIND,
    amendment_between,
    archiving,
    linking,
    newer_in,
    outweighs,
    replacement_chain,
    superseding,
    without_effect,
)
from .plans import (
    BODY,
    DIGEST_CHARS,
    ENDING,
    NAME_SEPARATOR,
    NAMED_VALUES,
    PUT_AWAY,
    STATUS,
    ChangeKind,
    Fields,
    Trust,
    change_entry,
    check_by,
    claimed_time,
    fields_known,
    ids_in,
    names_or_nothing,
    plan_change,
    value_name,
    values_set,
    with_status,
)
from .trust import IMPORTED

# whether a person vouches for an entry; None if git hides who committed it: then only a person may change what it says
Vouches = Callable[[Entry], bool | None]


# Split the changes of a memory into those that count and those that are only proposed, by who
# vouches for them.

# Keys of a review: the proposed entries that it decides on, and the entries that it undoes.
ACCEPTS, DECLINES, UNDOES = "accepts", "declines", "undoes"
# Changes of a memory's content or visibility. Without a vouching person they wait for a review; others are ignored.
DECIDING = (
    "amend",
    "dispute",
    "supersede",
    "quarantine",
    "review",
    "validity",
    "archive",
    "delete",
)


@record
class Split:
    """The changes of a memory, split by who vouches for them. `counting` is in the order in which the fold uses it."""

    vouched: bool  # whether a person vouches for the entry that creates the memory
    counting: tuple[Entry, ...]
    proposed: tuple[Entry, ...]  # deciding changes that wait for a review
    declined: tuple[Entry, ...]
    undone: tuple[Entry, ...]


def reviewed_name(entry: Entry) -> str:
    """Return the name of an entry in a review: id and digest, because the text may be edited later."""
    return f"{entry.id}{NAME_SEPARATOR}{entry.digest[:DIGEST_CHARS]}"


def is_deciding(entry: Entry) -> bool:
    """Return whether a change that no person vouches for waits for a review."""
    return entry.kind in DECIDING or (
        entry.kind == "feedback" and entry.extra.get("signal") == "harmful"
    )


def _is_activating(entry: Entry) -> bool:
    """Return whether a review puts a memory into use."""
    return entry.kind == "review" and entry.extra.get("action") == ACTIVATE


def split_changes(
    creating: Entry, ordered: Sequence[Entry], vouches: Vouches | None
) -> Split:
    """Decide which changes count.

    If a person vouches for the memory, only changes that a person vouches for count. If not, all changes count, those
    of people last, so that they win. A review by a person accepts, declines or undoes the entries that it names; any
    other review only undoes entries that no person vouches for, and ends no quarantine. Without `vouches`, every entry
    is a person's.

    An amendment that sets a value names the value that it replaces. If another value stands there, which another branch
    or somebody in an editor wrote, the amendment is used, and the other value waits for a review.
    """
    changes = [entry for entry in ordered if entry.changes and not entry.draft]
    if vouches:
        changes = _without_copies(changes, vouches)
    # of a memory whose author git hides, the hidden changes are as good as the memory
    is_hidden = vouches is not None and vouches(creating) is None
    own = {
        entry.id
        for entry in changes
        if vouches is None
        or (_is_held(entry, vouches) if is_hidden else vouches(entry))
    }
    reviews = [entry for entry in changes if entry.kind == "review"]
    accepted, refused, reverted = decisions(
        review for review in reviews if review.id in own
    )
    *_, taken_back = decisions(review for review in reviews if review.id not in own)
    name = reviewed_name(creating)
    vetted, *_ = decisions(one for one in reviews if vouches is None or vouches(one))
    is_vouched = vouches is None or bool(vouches(creating)) or name in vetted
    is_held = is_vouched or is_hidden
    releases = _releases(changes, own) if vouches else ()
    counting: list[Entry] = []
    others: list[Entry] = []
    proposed: list[Entry] = []
    declined: list[Entry] = []
    undone: list[Entry] = []
    for entry in changes:
        name = reviewed_name(entry)
        if name in reverted:
            undone.append(entry)
        elif entry.id in own or name in accepted:
            counting.append(entry)
        elif name in refused:
            declined.append(entry)
        elif name in taken_back and (entry.kind != "quarantine" or is_by_hand(entry)):
            undone.append(entry)
        elif entry.id in releases:
            proposed.append(entry)
        else:
            others.append(entry)
            if (is_held or counting) and is_deciding(entry):
                proposed.append(entry)
    if is_held or counting:
        counting, unknown = _with_unknown_values(creating, counting, own)
    else:
        others, unknown = _with_unknown_values(creating, others, own)
    everything = counting if is_held else [*others, *counting]
    proposed += unknown
    return Split(
        is_vouched, tuple(everything), tuple(proposed), tuple(declined), tuple(undone)
    )


def _is_held(entry: Entry, vouches: Vouches) -> bool:
    """Return whether a person vouches for an entry, or git hides who committed it."""
    return vouches(entry) is not False


def _releases(changes: Iterable[Entry], own: Collection[str]) -> set[str]:
    """Return the reviews that only a person may make: they end a quarantine, or vouch for a memory in use.

    A review that brings back what an agent archived, deleted, superseded or disputed is none of them.
    """
    releases: set[str] = set()
    is_held = is_away = False
    for entry in changes:
        if not _is_activating(entry):
            is_held |= entry.kind == "quarantine"
            is_away |= entry.kind in (*ENDING, "dispute")
        elif entry.id not in own and (is_held or not is_away):
            releases.add(entry.id)
        else:
            is_held = is_away = False
    return releases


def _with_unknown_values(
    creating: Entry, ordered: Iterable[Entry], own: Collection[str]
) -> tuple[list[Entry], list[Entry]]:
    """Return the changes, and an amendment for each entry with values that a later change did not know.

    If a person accepts such an amendment, it counts from then on. A value that a deletion, an archive or a
    supersession did not know, or that did not know of them, waits, too.
    """
    changes: list[Entry] = []
    setters = dict.fromkeys((*NAMED_VALUES, BODY), creating)
    unknown: dict[str, dict[str, Entry]] = {}  # name in a review → field → its setter
    is_away = False  # whether a change took the memory out of use

    def learn(field: str, setter: Entry) -> None:
        unknown.setdefault(reviewed_name(setter), {})[field] = setter

    for entry in ordered:
        changes.append(entry)
        if entry.id in own:
            accepted = ids_in(entry, ACCEPTS)
            for name in (*accepted, *ids_in(entry, DECLINES)):
                decided = unknown.pop(name, {})
                if name in accepted and decided:
                    changes.append(_setting(decided))
                    setters |= decided
        values = values_set(entry)
        replaced, seen = ids_in(entry, REPLACES), ids_in(entry, AFTER)
        for field in fields_known(entry):
            known = [
                name for name in replaced if name.startswith(field + NAME_SEPARATOR)
            ]
            setter = setters[field]
            if known and not _is_known(field, setter, known, seen):
                learn(field, setter)
            is_settling = field not in values or not is_away
            for name, fields in [*unknown.items()] if is_settling else ():
                if field in fields and _is_known(field, fields[field], known, seen):
                    del fields[field]
                if not fields:
                    del unknown[name]
            if field in values:
                setters[field] = entry
                knew_status = any(name.startswith(STATUS) for name in replaced)
                if is_away and known and not knew_status:
                    learn(field, entry)
        if entry.kind in ENDING:
            is_away = entry.kind != "supersede" or bool(newer_in(entry))
        elif _is_activating(entry):
            is_away = False
    return changes, [*map(_setting, unknown.values())]


def _is_known(
    field: str, setter: Entry, replaced: Collection[str], seen: Collection[str]
) -> bool:
    """Return whether a change that replaces these values, after these entries, knew the value of a setter."""
    return setter.id in seen or value_name(field, getattr(setter, field)) in replaced


def _setting(fields: Mapping[str, Entry]) -> Entry:
    """Return an amendment with the name of an entry that sets only some of its fields."""
    entry = next(iter(fields.values()))
    given = tuple(field for field in fields if field != BODY)
    return Entry(
        "amend", entry.id, entry.target, entry.title, importance=entry.importance, at=entry.at, by=entry.by,
        body=entry.body if BODY in fields else "", given=given, path=entry.path, line=entry.line, digest=entry.digest,
    )  # fmt: skip


def decisions(reviews: Iterable[Entry]) -> tuple[set[str], set[str], set[str]]:
    """Return the names of the entries that reviews accepted, declined and undid. An undone review has no effect."""
    accepted, declined, undone = set[str](), set[str](), set[str]()
    for review in sorted(
        reviews, key=lambda entry: order_key(entry.at, entry.id), reverse=True
    ):
        if reviewed_name(review) not in undone:
            accepted.update(ids_in(review, ACCEPTS))
            declined.update(ids_in(review, DECLINES))
            undone.update(ids_in(review, UNDOES))
    return accepted, declined, undone


def _without_copies(changes: Sequence[Entry], vouches: Vouches) -> list[Entry]:
    """Return the changes without copies of a person's entries, so that a copied vote does not count twice."""
    seen: set[str] = set()
    kept = []
    for entry in changes:
        copied = bool(entry.digest) and entry.digest in seen and vouches(entry)
        seen.add(entry.digest)
        if not copied:
            kept.append(entry)
    return kept


# Fields that a memory takes from the entry that creates it.
COPIED = ("id", "kind", "title", "when", "tags", "importance", "by", "found_in", "source", "related", "body", "extra",
          "path", "line")  # fmt: skip
CONFLICTED = "conflicted"  # status of a memory with conflict markers in its text
MAX_COUNT_DIGITS = 6  # of a number in a file
# a file in this folder is archived without an entry; moving it back undoes that
ARCHIVE = "archive/"


def fold(entries: Iterable[Entry], vouches: Vouches | None = None) -> Memory | None:
    """Return the memory that results from the entries about one id; None if no entry creates it.

    With `vouches`, changes that nobody vouches for do not change a memory that a person vouches for (state/fold.py).
    """
    ordered, creating = in_fold_order(entries, vouches)
    if creating is None:
        return None
    parts = split_changes(creating, ordered, vouches)
    memory = _reduced(_created_fields(creating), parts.counting)
    waiting = tuple(entry.id for entry in parts.proposed)
    vouched = memory.vouched if vouches is None else parts.vouched
    return replace(memory, vouched=vouched, proposed=waiting)


class FoldTogether:
    """Folds memories that supersede one another, each from the entries that `about` returns for its id.

    A memory is superseded only if its chain of replacements ends in an active memory: a `supersededBy` that names a
    memory out of use has no effect. In a cycle, the earliest one has no effect. If a memory and its replacement both
    wait for a review, it stays superseded.
    """

    def __init__(
        self, about: Callable[[str], Iterable[Entry]], vouches: Vouches | None = None
    ):
        self._about = about
        self._vouches = vouches
        self._without_effect: set[tuple[str, str]] = set()  # (memory, named memory)
        self._folded: dict[str, Memory | None] = {}

    def memory(self, id: str) -> Memory | None:
        """Return a memory; None if no entry creates it."""
        while chain := replacement_chain(id, self._alone):
            if not any(self._loses(memory, chain[-1]) for memory in _doubtful(chain)):
                return chain[0]
        return None

    def entries(self, id: str) -> list[Entry]:
        """Return the entries about a memory, those that are known to have no effect by `without_effect`."""
        return [
            without_effect(entry)
            if (id, newer_in(entry)) in self._without_effect
            else entry
            for entry in self._about(id)
        ]

    def _alone(self, id: str) -> Memory | None:
        if id not in self._folded:
            self._folded[id] = fold(self.entries(id), self._vouches)
        return self._folded[id]

    def _loses(self, old: Memory, last: Memory) -> bool:
        """Take the effect from what superseded a memory, unless it and the last replacement both wait for a review."""
        self._without_effect.add((old.id, old.superseded_by))
        del self._folded[old.id]
        alone = self._alone(old.id)
        if alone and alone.status == last.status == "quarantined":
            self._without_effect.remove((old.id, old.superseded_by))
            self._folded[old.id] = old
            return False
        return True


def _doubtful(chain: Sequence[Memory]) -> Sequence[Memory]:
    """Return the memories of a chain whose `superseded_by` may have no effect; empty if the chain is sound."""
    last = chain[-1]
    if not last.superseded_by:
        # nearest to the last one first
        return () if last.status == ACTIVE else chain[-2::-1]
    ids = [memory.id for memory in chain]
    if last.superseded_by not in ids:  # that memory does not exist
        return (last,)
    cycle = chain[ids.index(last.superseded_by) :]
    return (min(cycle, key=lambda memory: order_key(memory.superseded_at, memory.id)),)


def fold_proposed(
    entries: Iterable[Entry], vouches: Vouches | None
) -> tuple[Memory, Split] | None:
    """Return the memory as it would be with all proposed changes, and the split of its changes; None as `fold`."""
    ordered, creating = in_fold_order(entries, vouches)
    if creating is None:
        return None
    parts = split_changes(creating, ordered, vouches)
    declined = {entry.id for entry in (*parts.declined, *parts.undone)}
    wanted = [one for one in ordered if one.id not in declined and not one.creates]
    own = {entry.id for entry in parts.counting}
    changes, unknown = _with_unknown_values(creating, wanted, own)
    return _reduced(_created_fields(creating), [*changes, *unknown]), parts


def in_fold_order(
    entries: Iterable[Entry], vouches: Vouches | None = None
) -> tuple[list[Entry], Entry | None]:
    """Return the entries in the order of the fold, one per id, and the one that creates the memory.

    A memory without an `id` line has the name of its file as its id. Changes in other files do not apply to it: they
    were made for a file that had this name before. If the file was edited since a person committed it, the edit is an
    amendment at the end.
    """
    entries = list(entries)
    kept = _as_set(entries, vouches)
    ordered = sorted(kept, key=lambda entry: order_key(entry.at, entry.id))
    creating = next((entry for entry in ordered if entry.creates), None)
    if creating and creating.is_nameless:
        ordered = [one for one in ordered if one.creates or one.path == creating.path]
    if creating and vouches and len(kept) < len(entries):
        edits = (_edit_of_file(creating, entry, vouches) for entry in entries)
        ordered += [replace(edit, at=ordered[-1].at) for edit in edits if edit][:1]
    return ordered, creating


def _edit_of_file(old: Entry, new: Entry, vouches: Vouches) -> Entry | None:
    """Return an amendment for another version of a creating entry in its file; None if it is no uncommitted edit.

    The two sides of an unresolved merge are no edit that anybody proposes.
    """
    is_version = new.creates and (new.id, new.path) == (old.id, old.path)
    if (
        new.conflicted
        or not is_version
        or new.digest == old.digest
        or _is_held(new, vouches)
        or not _is_held(old, vouches)
    ):
        return None
    by = f"hand in {new.path}"
    changed = amendment_between(old, new)
    return replace(new, kind="amend", about=old.id, by=by, **changed)


def changes_of_earlier_file(entries: Iterable[Entry], path: str) -> list[Entry]:
    """Return the changes in other files that do not apply to a memory, because its file states no id."""
    entries = list(entries)
    is_nameless = any(e.creates and e.is_nameless and e.path == path for e in entries)
    return [e for e in entries if e.changes and e.path != path and is_nameless]


def is_made_for(change: Entry, creating: Entry) -> bool:
    """Return whether a change names the title or the text of this entry as what it replaces."""
    names = {value_name(key, getattr(creating, key)) for key in ("title", BODY)}
    return not names.isdisjoint(ids_in(change, REPLACES))


def new_memory(entry: Entry) -> Memory:
    """Return the memory that a creating entry makes without further entries."""
    assert entry.creates
    return Memory(**_created_fields(entry))


def after(memory: Memory, entries: Iterable[Entry]) -> Memory:
    """Return the memory after these entries, which must be later than all its entries so far."""
    return _reduced(as_dict(memory), entries)


def _reduced(fields: Fields, ordered: Iterable[Entry]) -> Memory:
    counted: set[str] = {fields["id"]}  # an accepted value has the id of its entry
    for entry in ordered:
        if entry.changes and not entry.draft:
            fields |= REGISTRY[entry.kind].reduce(fields, entry)
            fields["updated"] = max(fields["updated"], entry.at)
            fields["entries"] += entry.id not in counted
            counted.add(entry.id)
            if entry.conflicted and fields["status"] == ACTIVE:
                fields["status"] = CONFLICTED
    return Memory(**fields)


def _as_set(entries: Sequence[Entry], vouches: Vouches | None) -> Collection[Entry]:
    """Return one entry per id: the one with the lowest rank, so that the order of the input does not matter."""
    reviews = [
        entry
        for entry in entries
        if vouches and entry.kind == "review" and vouches(entry)
    ]
    accepted, *_ = decisions(reviews)
    kept: dict[str, Entry] = {}
    for entry in entries:
        other = kept.get(entry.id)
        if other is None or _rank(entry, vouches, accepted) < _rank(
            other, vouches, accepted
        ):
            kept[entry.id] = entry
    return kept.values()


def _rank(
    entry: Entry, vouches: Vouches | None, accepted: Collection[str]
) -> tuple[object, ...]:
    """Return the sort key of copies: first those that a person vouches for, that state their id, outside of the archive."""
    doubted = 0
    if vouches and not vouches(entry) and reviewed_name(entry) not in accepted:
        doubted = 1 if _is_held(entry, vouches) else 2
    return (
        doubted,
        entry.is_nameless,
        entry.path.startswith(ARCHIVE),
        entry.at,
        entry.path,
        entry.line,
        entry.body,
        repr(entry),
    )


def _created_fields(entry: Entry) -> Fields:
    status = DRAFT_STATUS if entry.draft else CONFLICTED if entry.conflicted else ACTIVE
    put_away = status == ACTIVE and entry.path.startswith(ARCHIVE)
    newer = newer_in(entry)
    return {
        **{name: getattr(entry, name) for name in COPIED},
        "status": "archived"
        if put_away
        else "superseded"
        if newer and status == ACTIVE
        else status,
        "reason": f"lies in {ARCHIVE}" if put_away else "",
        "created": entry.at,
        "updated": entry.at,
        "valid_from": claimed_time(entry.extra, "validFrom"),
        "valid_until": claimed_time(entry.extra, "validUntil"),
        "supersedes": ids_in(entry, "supersedes"),
        "conflicts_with": ids_in(entry, "conflictsWith"),
        "superseded_by": newer,
        "superseded_at": entry.at if newer else 0,
        "repeated": max(0, _count_in(extra_value(entry.extra, "timesObserved")) - 1),
        "first_observed": time_of(extra_value(entry.extra, "firstObservedAt"))
        or entry.at,
        "last_observed": time_of(extra_value(entry.extra, "lastObservedAt"))
        or entry.at,
        "links": tuple(("member", id) for id in ids_in(entry, "members"))
        if entry.kind == "episode"
        else (),
        "entries": 1,
    }


def _count_in(value: object) -> int:
    """Return the number that a value of a frontmatter is; 0 for any other value."""
    digits = str(value)
    is_count = digits.isdecimal() and len(digits) <= MAX_COUNT_DIGITS
    return int(digits) if is_count else 0


# dispute: somebody doubts the memory. Low trust or several disputes make it `disputed`;
# `reinforce` ends that.

DISPUTED = "disputed"
MIN_DISPUTE_TRUST = 0.3  # below it, a dispute marks a memory as disputed (neolata)
# this many without a reinforcement also mark it, because further disputes do not lower its trust
MAX_DISPUTES = 3


def plan_dispute(memory: Memory, reason: str, by: str, trust: Trust) -> Plan:
    """Plan a dispute. If trust is now too low, the entry records it as its outcome, because trust changes with time."""
    plan = plan_change(memory, "dispute", by, {"reason": reason})
    if (
        memory.status != ACTIVE
        or trust(after(memory, plan.entries)) >= MIN_DISPUTE_TRUST
    ):
        return plan
    return plan_change(memory, "dispute", by, {"reason": reason, "outcome": DISPUTED})


def _reduce_dispute(fields: Fields, entry: Entry) -> Fields:
    disputes = fields.get("disputes", 0) + 1
    many = disputes >= MAX_DISPUTES and not fields.get("reinforcements", 0)
    marked = fields["status"] == ACTIVE and (
        many or entry.extra.get("outcome") == DISPUTED
    )
    return {
        **(with_status(DISPUTED)(fields, entry) if marked else {}),
        "disputes": disputes,
    }


DISPUTE_KIND = ChangeKind(_reduce_dispute, lambda entry: "doubted")


# quarantine: hold the memory back until a person reviews it.

MANUAL = "manual"
# reasons to quarantine a claim
TRUST_INSUFFICIENT, NEEDS_REVIEW = ("trust_insufficient", "predicate_requires_review")


def plan_quarantine(memory: Memory, reason: str, by: str) -> Plan:
    """Plan to quarantine a memory until somebody reviews it."""
    if memory.status != ACTIVE:
        raise Refused(
            f"{memory.id} is {memory.status}: only active memories can be quarantined",
            "nothing to do",
        )
    extra = {"reason": reason or MANUAL, "cause": MANUAL}
    return plan_change(memory, "quarantine", by, extra)


def is_by_hand(entry: Entry) -> bool:
    """Return whether somebody quarantined a memory that was in use. Then `restore` may end the quarantine."""
    return MANUAL in (entry.extra.get("cause"), entry.extra.get("reason"))


def quarantining(
    memory: Memory, reason: str, by: str, rivals: Iterable[str] = ()
) -> Entry:
    """Return the entry that quarantines a memory; `rivals` are the ids of the memories that it contradicts."""
    return change_entry(
        memory, "quarantine", by, {"reason": reason, "conflictsWith": [*rivals]}
    )


def plan_quarantined(
    new: Entry, reason: str, by: str, rivals: Iterable[str] = ()
) -> Plan:
    """Plan to store a new memory in quarantine; both entries are one write."""
    return Plan(
        (new, quarantining(new_memory(new), reason, by, rivals)),
        f"hold {new.title!r} for a review",
    )


def with_conflicts(fields: Fields, entry: Entry) -> Fields:
    """Return `conflicts_with`, extended by the memories that an entry contradicts."""
    others = dict.fromkeys(
        (*fields.get("conflicts_with", ()), *ids_in(entry, "conflictsWith"))
    )
    return {"conflicts_with": tuple(others)}


def _reduce_quarantine(fields: Fields, entry: Entry) -> Fields:
    return {
        **with_status("quarantined")(fields, entry),
        **with_conflicts(fields, entry),
    }


def _tell_quarantine(entry: Entry) -> str:
    rivals = ids_in(entry, "conflictsWith")
    return (
        f"held for a review: contradicts {names_or_nothing(rivals)}"
        if rivals
        else "held for a review"
    )


QUARANTINE_KIND = ChangeKind(_reduce_quarantine, _tell_quarantine)


# The state of an imported memory in the system that it comes from. The first review here restores
# that state.

# key of an entry: the memory's state in the system that it was imported from
IMPORTED_STATE = "importedState"
MAX_VOTES = 10  # maximum number of reinforcements, and of disputes, that become entries
# key of the state → kind of change
VOTES = {"reinforcements": "reinforce", "disputes": "dispute"}
IMPORT_REASON = "as it stood where it was imported from"


def imported_state(memory: Memory) -> Mapping[str, Value]:
    """Return a memory's state in the other system; empty if it is unknown or somebody reviewed the memory here."""
    state = memory.extra.get(IMPORTED_STATE)
    first = memory.status == "quarantined" and not memory.reviewed_in
    return state if first and isinstance(state, dict) else {}


def _contradicted(memory: Memory) -> list[str]:
    state = memory.extra.get(IMPORTED_STATE)
    ids = state.get("conflictsWith") if isinstance(state, dict) else None
    return [str(id) for id in ids] if isinstance(ids, list) else []


def imported_votes_and_links(memory: Memory, by: str) -> list[Entry]:
    """Return the votes and links from the other system as entries, with the reviewer as author."""
    state = imported_state(memory)
    entries: list[Entry] = []
    for key, kind in VOTES.items():
        votes = min(_count_in(state.get(key)), MAX_VOTES)
        if kind == "dispute" and state.get("status") == DISPUTED:
            votes -= 1  # imported_status_entries adds the one that hides the memory
        for _ in range(votes):
            extra = {"reason": IMPORT_REASON}
            entries.append(change_entry(after(memory, entries), kind, by, extra))
    links = state.get("links")
    for type, named in links.items() if isinstance(links, dict) else ():
        ids = [str(id) for id in named] if isinstance(named, list) else []
        if ids:
            entries.append(linking(after(memory, entries), ids, type, by))
    return entries


def imported_status_entries(
    memory: Memory, state: Mapping[str, Value], by: str
) -> list[Entry]:
    """Return the entries that give a memory its status from the other system, after its first review."""
    status, newer = state.get("status"), str(state.get("supersededBy", ""))
    reason = str(state.get("reason") or IMPORT_REASON)
    if status == "superseded" and newer:
        return [superseding(memory, newer, reason, by)]
    if status in ("superseded", "archived"):
        return [archiving(memory, reason, by)]
    if status == "disputed":
        extra = {"reason": reason, "outcome": DISPUTED}
        return [change_entry(memory, "dispute", by, extra)]
    if status == "quarantined":
        return [quarantining(memory, reason, by, _contradicted(memory))]
    return []


def _import_kind(memory: Memory) -> str:
    return str(memory.extra.get(IMPORTED, "")).partition(":")[0]


# review: a decision about a memory. It activates the memory from any status, or archives it.

ACTIONS = ACTIVATE, REJECT = ("activate", "reject")
DECIDE = "decide"  # an action that only accepts or declines changes
# how to settle conflicts
SETTLEMENTS = BY_TRUST, SUPERSEDE, KEEP_BOTH = ("", "supersede", "keep_both")
HIDDEN_STATUSES = (*PUT_AWAY, "disputed")  # statuses that `restore` ends


def plan_decide(
    memory: Memory, changes: Sequence[Entry], accept: bool, reason: str, by: str
) -> Plan:
    """Plan to accept or decline proposed changes of a memory. Accepting a text of a memory out of use restores it."""
    verdict = ACCEPTS if accept else DECLINES
    action = ACTIVATE if accept and brings_back(memory, changes) else DECIDE
    return Plan((deciding(memory, verdict, changes, reason, by, action),))


def brings_back(memory: Memory, changes: Iterable[Entry]) -> bool:
    """Return whether accepting these changes restores a memory: one of them sets the text of a memory out of use."""
    is_text = any(BODY in values_set(one) for one in changes)
    return memory.status in PUT_AWAY and is_text


def deciding(
    memory: Memory,
    verdict: str,
    changes: Sequence[Entry],
    reason: str,
    by: str,
    action: str = DECIDE,
) -> Entry:
    """Return the review that accepts, declines or undoes changes of a memory; the fold leaves undone ones out."""
    check_by(by)
    names = [*map(reviewed_name, changes)]
    extra: Fields = {"action": action, verdict: names, "reason": reason}
    return change_entry(memory, "review", by, extra)


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
        raise BadInput(
            f"unknown review {action or review.settle!r}",
            "use one of " + ", ".join(ACTIONS),
        )
    if memory.status != "quarantined" and not (
        memory.status == ACTIVE and (review.rivals or not memory.vouched)
    ):
        raise Refused(
            f"{memory.id} is {memory.status}: the memory is not quarantined",
            "nothing to review",
        )
    if action == REJECT:
        extra = {"action": REJECT, "reason": review.reason}
        return plan_change(memory, "review", review.by, extra)
    return _plan_active(review)


def plan_restore(review: Review, quarantined_by_hand: bool = False) -> Plan:
    """Plan to activate a memory that is out of use; its conflicts are settled as in a review."""
    memory = review.memory
    if memory.status not in HIDDEN_STATUSES and not quarantined_by_hand:
        hint = (
            "use 'rawkomem review'"
            if memory.status == "quarantined"
            else "nothing to do"
        )
        raise Refused(f"{memory.id} is {memory.status}", hint)
    return _plan_active(review)


def _plan_active(review: Review) -> Plan:
    memory, settle, by = review.memory, review.settle, review.by
    state = imported_state(memory) if settle == BY_TRUST else {}
    entries = imported_votes_and_links(memory, by)
    if (state.get("status") or ACTIVE) != ACTIVE:
        entries.append(_letting_pass(review, after(memory, entries), ()))
        entries += imported_status_entries(after(memory, entries), state, by)
        return Plan(tuple(entries))
    # from the same system, where both were in use: a review does not settle them
    others = [
        one
        for one in review.rivals
        if state
        and IMPORTED_STATE in one.extra
        and _import_kind(one) == _import_kind(memory)
    ]
    beside = {one.id for one in others}
    # with an open conflict in the other system; either memory may record it
    waiting = [
        one.id
        for one in others
        if one.id in _contradicted(memory) or memory.id in _contradicted(one)
    ]
    rivals = [rival for rival in review.rivals if rival.id not in beside]
    wins = settle == SUPERSEDE or (
        settle == BY_TRUST and outweighs(memory, rivals, review.trust)
    )
    names = [rival.id for rival in rivals]
    if memory.status != ACTIVE or not memory.vouched:
        left = waiting if wins or settle == KEEP_BOTH else [*names, *waiting]
        entries.append(_letting_pass(review, after(memory, entries), left))
    both = names if settle == KEEP_BOTH else sorted(beside - {*waiting})
    if both:
        entries.append(linking(after(memory, entries), both, KEPT_BOTH, by))
    if wins:
        entries += [
            superseding(rival, memory.id, review.reason or "activated in a review", by)
            for rival in rivals
        ]
    if not entries:
        raise Refused(
            f"{memory.id} is trusted less than its rivals",
            "add --supersede or --keep-both",
        )
    return Plan(tuple(entries))


def _letting_pass(review: Review, memory: Memory, left: Sequence[str]) -> Entry:
    """Return the entry with which a reviewer vouches for a memory's text; `left` are conflicts that stay open."""
    extra: Fields = {
        "action": ACTIVATE, "reason": review.reason, "conflictsWith": [*left],
        ACCEPTS: [*map(reviewed_name, review.words)], DECLINES: [*map(reviewed_name, review.others)],
    }  # fmt: skip
    check_by(review.by)
    # also for a deleted memory
    return change_entry(memory, "review", review.by, extra)


def _reduce_review(fields: Fields, entry: Entry) -> Fields:
    status = {ACTIVATE: ACTIVE, REJECT: "archived"}.get(str(entry.extra.get("action")))
    if not status:
        return {}
    activated = status == ACTIVE
    return {
        **with_status(status)(fields, entry),
        **with_conflicts(fields, entry),
        "retracted": not activated,
        **({"superseded_by": "", "superseded_at": 0} if activated else {}),
        "reviewed_in": (*fields.get("reviewed_in", ()), entry.id) if activated else (),
    }


DECIDED_WORDS = {"accepted": ACCEPTS, "declined": DECLINES, "undid": UNDOES}


def _tell_review(entry: Entry) -> str:
    action = {ACTIVATE: "activated", REJECT: "rejected"}.get(
        str(entry.extra.get("action")), ""
    )
    left = ids_in(entry, "conflictsWith")
    for word, key in DECIDED_WORDS.items() if not action else ():
        names = [name.rpartition(NAME_SEPARATOR)[0] for name in ids_in(entry, key)]
        action += f", {word} {', '.join(names)}" if names else ""
    return (action.removeprefix(", ") or "reviewed without a decision") + (
        f", in conflict with {names_or_nothing(left)}" if left else ""
    )


REVIEW_KIND = ChangeKind(_reduce_review, _tell_review)


REGISTRY: dict[str, ChangeKind] = {
    "amend": AMEND_KIND,
    "archive": ARCHIVE_KIND,
    "corroborate": CORROBORATE_KIND,
    "delete": DELETE_KIND,
    "dispute": DISPUTE_KIND,
    "feedback": FEEDBACK_KIND,
    "heritage": HERITAGE_KIND,
    "link": LINK_KIND,
    "quarantine": QUARANTINE_KIND,
    "reinforce": REINFORCE_KIND,
    "review": REVIEW_KIND,
    "supersede": SUPERSEDE_KIND,
    "validity": VALIDITY_KIND,
}
