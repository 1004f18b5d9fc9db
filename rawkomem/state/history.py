"""The past of a memory: what each entry changed, why it stands as it does now, how two versions
differ, and how to undo a change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from ..format.entries import KEY_OF_FLAG
from ..model.entries import Change, Entry, Memory, Plan
from ..model.errors import Refused
from ..model.values import ACTIVE, REPLACES, as_dict, iso, record
from ..text.chunks import counted
from .changes import (
    plan_delete,
)
from .fold import (
    REGISTRY,
    UNDOES,
    Vouches,
    after,
    deciding,
    fold,
    in_fold_order,
    split_changes,
)
from .graph import Edge
from .plans import (
    NAME_SEPARATOR,
    ids_in,
    value_name,
)
from .plans import Trust as Believing
from .trust import Trust, Weak, is_valid

# Describe the difference between two versions of a memory or an entry.

# field of an Entry → key
ENTRY_KEYS = {**KEY_OF_FLAG, "kind": "kind", "about": "about", "at": "at", "by": "by"}


FieldChange = tuple[str, object, object]  # (key, before, after)


def changed_keys(old: Entry | Memory, new: Entry | Memory) -> tuple[FieldChange, ...]:
    """Return (key, old value, new value) of the frontmatter keys that differ."""
    before, after = (
        {**{k: getattr(one, field, "") for field, k in ENTRY_KEYS.items()}, **one.extra}
        for one in (old, new)
    )
    pairs = ((key, before.get(key, ""), after.get(key, "")) for key in before | after)
    return tuple(pair for pair in pairs if pair[1] != pair[2])


def edit_in_words(old: Entry, new: Entry) -> str:
    """Return a summary of an edit: the changed keys, and whether the text changed."""
    keys = [key for key, *_ in changed_keys(old, new)]
    keys += ["text"] if old.body.split() != new.body.split() else []
    return f"changed {', '.join(keys)}" if keys else "changed the layout of its text"


# The history of a memory: its entries in the order of the fold, with the changes that each made.

# Fields that a history does not show, because they follow from other fields.
HIDDEN_FIELDS = ("entries", "updated", "amended", "path", "line", "first_observed", "last_observed", "votes",
               "vouched", "proposed", "retracted", "superseded_at", "amended_in", "reviewed_in", "confirmed_by")  # fmt: skip


MAX_LISTED = 20  # items of a list that a history shows whole before and after a change
OTHER_VALUE = "(another value)"  # one that is no longer in any file
EDITED = "; edited in its file after it was changed, and the edit waits for a review"


@record
class HistoryStep:
    """One entry, its description in a few words, and (field, before, after) for each field that it changed."""

    entry: Entry
    told: str
    changes: tuple[FieldChange, ...]
    # False: it is undone, or no person vouches for it, so it changed nothing
    counts: bool = True


def history(
    entries: Iterable[Entry], vouches: Vouches | None = None
) -> list[HistoryStep]:
    """Return the steps of a memory, oldest first; entries before its creation changed nothing."""
    ordered, creating = in_fold_order(entries, vouches)
    parts = split_changes(creating, ordered, vouches) if creating else None
    counting = parts.counting if parts else ()
    edited = {entry.id for entry in parts.proposed} if parts else set()
    undone = {entry.id for entry in parts.undone} if parts else set()
    # change → the values that it brings back: a review accepted them
    accepted: dict[str, list[Entry]] = {}
    last = ""
    for entry in counting:
        if entry.id in accepted or (creating and entry.id == creating.id):
            accepted[last].append(entry)
        else:
            accepted[entry.id], last = [], entry.id
    steps: list[HistoryStep] = []
    before: Memory | None = None
    now: Memory | None
    for place, entry in enumerate(ordered):
        if parts and entry.changes and entry.id not in accepted:
            word = "undone" if entry.id in undone else "proposed"
            steps.append(
                HistoryStep(entry, f"{word}: {_step_words(entry)}", (), counts=False)
            )
            continue
        if before:
            now = after(before, [entry, *accepted.get(entry.id, ())])
        else:
            now = fold(ordered[: place + 1])
        changes = _known_differences(entry, before, now) if before and now else ()
        words = _step_words(entry) + EDITED * (entry.creates and entry.id in edited)
        steps.append(HistoryStep(entry, words, changes))
        before = now
    return steps


def counts_last(entries: Iterable[Entry], vouches: Vouches | None = None) -> bool:
    """Return whether the last change of a memory counts; it does not if a person vouches for the memory only."""
    ordered, creating = in_fold_order(entries, vouches)
    last = next((entry for entry in reversed(ordered) if entry.changes), None)
    if creating is None or last is None:
        return True
    counting = split_changes(creating, ordered, vouches).counting
    return any(entry.id == last.id for entry in counting)


def _known_differences(
    entry: Entry, before: Memory, now: Memory
) -> tuple[FieldChange, ...]:
    """Return what an entry changed; a value that it did not replace, because it was written later, is not shown."""
    replaced = ids_in(entry, REPLACES)
    fields = {name.partition(NAME_SEPARATOR)[0] for name in replaced}
    return tuple(
        (name, OTHER_VALUE, new)
        if name in fields and value_name(name, str(old)) not in replaced
        else (name, old, new)
        for name, old, new in differences(before, now)
    )


def _step_words(entry: Entry) -> str:
    if entry.creates:
        return "created"
    if entry.changes:
        return REGISTRY[entry.kind].tell(entry)
    return "ignored: unknown kind"


def differences(before: Memory, now: Memory) -> tuple[FieldChange, ...]:
    """Return (field, before, after) for each field that differs."""
    known = as_dict(before)
    pairs = (
        (name, known[name], value)
        for name, value in as_dict(now).items()
        if name not in HIDDEN_FIELDS
    )
    return tuple(
        (name, *_what_differs(old, value)) for name, old, value in pairs if old != value
    )


def _what_differs(old: object, new: object) -> tuple[object, object]:
    """Return two values; of long lists, only the items that the other one lacks."""
    if not (isinstance(old, tuple) and isinstance(new, tuple)):
        return old, new
    if max(len(old), len(new)) <= MAX_LISTED:
        return old, new
    before, now = set(old), set(new)
    return (
        tuple(item for item in old if item not in now),
        tuple(item for item in new if item not in before),
    )


# The explanation of a memory: the parts of its trust, connections, conflicts, history and
# replacements.


@record
class Explained:
    """A memory, and the facts that decide its standing."""

    memory: Memory
    standing: str  # the reason why it is not in use; empty if it is in use
    trust: Trust
    edges: tuple[Edge, ...]
    conflicts: tuple[Memory, ...]
    weak: tuple[Weak, ...]  # sources that are no longer valid
    steps: tuple[HistoryStep, ...]


def why_not_in_use(memory: Memory, at: int, weak: Sequence[Weak] = ()) -> str:
    """Return the reason why a memory is not in use at a time; empty if it is in use. For `weak`, see trust.py."""
    reason = f" ({memory.reason})" if memory.reason else ""
    if memory.status == "superseded":
        return f"superseded by {memory.superseded_by}{reason}"
    if memory.status == "disputed":
        return f"disputed {counted(memory.disputes, 'time')}{reason}"
    if memory.status == "quarantined" and memory.conflicts_with:
        return f"quarantined{reason}: conflicts with {', '.join(memory.conflicts_with)}"
    if memory.status != ACTIVE:
        return f"{memory.status}{reason}"
    if is_valid(memory, at):
        return next(
            (
                f"made from {source.id}, which is {source.why}"
                for source in weak
                if source.holds_back
            ),
            "",
        )
    begins = at < memory.valid_from
    if begins:
        return f"valid from {iso(memory.valid_from)}"
    return f"its validity ended {iso(memory.valid_until)}"


@record
class Replaced:
    """A superseded memory and its replacement, with the trust of both."""

    old: Memory
    new: Memory
    old_trust: float
    new_trust: float


def replacements(chain: Sequence[Memory], trust: Believing) -> list[Replaced]:
    """Return the steps of a chain of memories, each superseded by the next."""
    return [Replaced(old, new, trust(old), trust(new)) for old, new in pairwise(chain)]


# Undo a change: a review leaves its entries out of the fold.

UNDO_REASON = "undo"


def last_change(changes: Sequence[Change]) -> Change | None:
    """Return the last change that was not undone and is not an undo itself, or None."""
    undone = {change.undoes for change in changes}
    return next(
        (one for one in reversed(changes) if not one.undoes and one.name not in undone),
        None,
    )


def plan_undo(
    change: Change,
    about: Mapping[str, Sequence[Entry]],
    vouches: Vouches | None = None,
    by: str = "",
    is_person: bool = True,
    removed: Collection[str] = (),
) -> Plan:
    """Plan to undo a change; `about` has all entries about its memories. Later changes of the memories are kept.

    A memory that the change added is deleted. Only a person can undo a proposed change, except if the caller removes
    its entries from their files: then `removed` has the id of the memory.
    """
    entries: list[Entry] = []
    for id in change.memories:
        now = fold(about.get(id, ()), vouches)
        if now is None:
            continue
        undone = [entry for entry in about[id] if entry.id in change.ids]
        if any(entry.creates for entry in undone):
            entries += (
                plan_delete(now, UNDO_REASON, by).entries
                if now.status != "deleted"
                else ()
            )
            continue
        is_removed = id in removed
        if not (is_person or is_removed) and any(
            entry.id in now.proposed for entry in undone
        ):
            raise Refused(
                f"the change of {id} waits for a person's review",
                f"ask a person to run 'rawkomem review {id}'",
            )
        review = deciding(now, UNDOES, undone, UNDO_REASON, by)
        then = fold([*about[id], review], _also(vouches, review if is_person else None))
        if is_removed or (
            then and (differences(now, then) or now.proposed != then.proposed)
        ):
            entries.append(review)
    if not entries:
        message = f"the change {change.name} has no effect now: later changes replaced it, or nobody vouches for it"
        raise Refused(
            message, "run 'rawkomem history ID' to see the changes of a memory"
        )
    return Plan(tuple(entries), undoes=change.name)


def _also(vouches: Vouches | None, review: Entry | None) -> Vouches | None:
    """Return `vouches` for entries that include a review that is not written yet."""
    return vouches and (lambda entry: entry is review or vouches(entry))


def is_present(change: Change, about: Mapping[str, Collection[Entry]]) -> bool:
    """Return whether an entry of a change is in the files; it may be on another branch."""
    return any(entry.id in change.ids for said in about.values() for entry in said)
