"""The past of a memory: what each entry changed, why it stands as it does now, how two versions
differ, and how to undo a change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from ..format.entries import KEY_OF_FLAG
from ..model.entries import Change, Entry, Memory, Plan
from ..model.errors import Refused
from ..model.values import ACTIVE, as_dict, iso, record, replace
from ..text.chunks import counted
from .changes import (
    AMENDABLE,
    BODY,
    CORROBORATE,
    COUNTS,
    ENDS,
    FIXED_KEYS,
    HOUSEKEEPING,
    OPEN_END,
    REMOVES,
    SIGNS,
    inheriting,
    linking,
    plan_delete,
    withdrawing,
)
from .fold import (
    ACTIVATE,
    DISPUTED,
    REGISTRY,
    Vouches,
    after,
    fold,
    in_fold_order,
    is_decision,
    plan_decide,
    plan_reopen,
    split_changes,
)
from .graph import Edge
from .plans import Fields, entry_about
from .plans import Trust as Believing
from .trust import Trust, Weak, is_valid

# Describe the difference between two versions of a memory or an entry.

CONTEXT_WORDS = 3  # shown before and after a change
MAX_COMPARED_WORDS = 5_000  # of both texts; longer ones are only counted
MAX_DIFFERENCE_CHARS = 400  # characters of a difference
ENTRY_KEYS = {
    **KEY_OF_FLAG,
    "kind": "kind",
    "about": "about",
    "at": "at",
    "by": "by",
}  # field of an Entry → key


def changed_keys(
    old: Entry | Memory, new: Entry | Memory
) -> tuple[tuple[str, object, object], ...]:
    """Return (key, old value, new value) of the frontmatter keys that differ."""
    fields = [
        (key, getattr(old, field, ""), getattr(new, field, "")) for field, key in ENTRY_KEYS.items()
    ]
    names = dict.fromkeys((*old.extra, *new.extra))
    fields += [(name, old.extra.get(name, ""), new.extra.get(name, "")) for name in names]
    return tuple((key, before, after) for key, before, after in fields if before != after)


def counted_words(old: str, new: str) -> tuple[int, int]:
    """Return the number of removed and of added words."""
    before, after = old.split(), new.split()
    if len(before) + len(after) > MAX_COMPARED_WORDS:
        return len(before), len(after)
    steps = [step for step in _word_steps(before, after) if step[0] != "equal"]
    return sum(end - start for _, start, end, *_ in steps), sum(
        end - start for *_, start, end in steps
    )


def word_difference(old: str, new: str) -> str:
    """Return the changed words with a few words around them: `Push to [-main-] {+staging+} first`."""
    before, after = old.split(), new.split()
    if len(before) + len(after) > MAX_COMPARED_WORDS:
        return f"{counted(len(before), 'word')} became {counted(len(after), 'word')}"
    text = " ".join(_changed_words(before, after))
    return text if len(text) <= MAX_DIFFERENCE_CHARS else f"{text[:MAX_DIFFERENCE_CHARS]} …"


def edit_in_words(old: Entry, new: Entry) -> str:
    """Return a summary of an edit: the changed keys, and the number of removed and added words."""
    keys = [key for key, *_ in changed_keys(old, new)]
    gone, come = counted_words(old.body, new.body)
    counts = [
        f"{counted(number, 'word')} {what}"
        for number, what in ((gone, "removed"), (come, "added"))
        if number
    ]
    said = [
        *([f"changed {', '.join(keys)}"] if keys else []),
        *([f"text: {', '.join(counts)}"] if counts else []),
    ]
    return "; ".join(said) or "changed the layout of its text"


def _word_steps(before: list[str], after: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def _changed_words(before: list[str], after: list[str]) -> Iterator[str]:
    for what, start, end, first, last in _word_steps(before, after):
        words = before[start:end]
        if what == "equal":
            many = len(words) > 2 * CONTEXT_WORDS
            yield from (*words[:CONTEXT_WORDS], "…", *words[-CONTEXT_WORDS:]) if many else words
            continue
        if words:
            yield f"[-{' '.join(words)}-]"
        if last > first:
            yield f"{{+{' '.join(after[first:last])}+}}"


# The history of a memory: its entries in the order of the fold, with the changes that each made.

# Fields that a history does not show, because they follow from other fields.
HIDDEN_FIELDS = ("entries", "updated", "amended", "path", "line", "first_observed", "last_observed", "votes",
               "vouched", "proposed", "retracted", "superseded_at", "amended_in", "reviewed_in", "confirmed_by")  # fmt: skip


@record
class Step:
    """One entry, its description in a few words, and (field, before, after) for each field that it changed."""

    entry: Entry
    told: str
    changes: tuple[tuple[str, object, object], ...]
    counts: bool = True  # False: no person vouches for it, so it changed nothing


def history(entries: Iterable[Entry], vouches: Vouches | None = None) -> list[Step]:
    """Return the steps of a memory, oldest first; entries before its creation changed nothing."""
    ordered, creating = in_fold_order(entries, vouches)
    counting = (
        {entry.id for entry in split_changes(creating, ordered, vouches).counting}
        if vouches and creating
        else None
    )
    steps: list[Step] = []
    before: Memory | None = None
    for place, entry in enumerate(ordered):
        if counting is not None and entry.changes and entry.id not in counting:
            steps.append(Step(entry, f"proposed: {_step_words(entry)}", (), counts=False))
            continue
        now = fold(ordered[: place + 1]) if before is None else after(before, [entry])
        changes = differences(before, now) if before and now else ()
        steps.append(Step(entry, _step_words(entry), changes))
        before = now
    return steps


def _step_words(entry: Entry) -> str:
    if entry.creates:
        return "created"
    return REGISTRY[entry.kind].tell(entry) if entry.changes else "ignored: unknown kind"


def differences(before: Memory, now: Memory) -> tuple[tuple[str, object, object], ...]:
    """Return (field, before, after) for each field that differs."""
    known = as_dict(before)
    pairs = (
        (name, known[name], value)
        for name, value in as_dict(now).items()
        if name not in HIDDEN_FIELDS
    )
    return tuple((name, old, value) for name, old, value in pairs if old != value)


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
    steps: tuple[Step, ...]


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
    return (
        f"valid from {iso(memory.valid_from)}"
        if begins
        else f"its validity ended {iso(memory.valid_until)}"
    )


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


# Find the entries that, when appended, change a memory into a wanted version of it.

SUPERSEDED = "superseded"
CREATED_KEYS = {
    "kind": "kind",
    "by": "discoveredBy",
    "created": "discoveredAt",
    "supersedes": "supersedes",
}  # field → key


def entries_toward(now: Memory, wanted: Memory, reason: str, by: str) -> tuple[Entry, ...]:
    """Return the entries that change `now` into `wanted`; raise Refused if no entry can express the difference."""
    steps = _Steps(now, reason, by)
    steps.check(wanted)
    _toward_words(steps, wanted)
    _toward_window(steps, wanted)
    _toward_connections(steps, wanted)
    _toward_counts(steps, wanted)
    _toward_status(steps, wanted)
    return tuple(steps.entries)


class _Steps:
    """The entries so far, and the memory after them."""

    def __init__(self, memory: Memory, reason: str, by: str):
        self.memory, self.reason, self.by = memory, reason, by
        self.entries: list[Entry] = []

    def check(self, wanted: Memory) -> None:
        now = self.memory
        odd = [
            key
            for field, key in CREATED_KEYS.items()
            if getattr(now, field) != getattr(wanted, field)
        ]
        odd += [key for key in FIXED_KEYS if now.extra.get(key) != wanted.extra.get(key)]
        odd += ["title"] if now.title and not wanted.title else []
        if odd:
            message = f"no entry can change {', '.join(odd)} of {now.id}"
            raise Refused(message, "add a new memory, then run 'rawkomem supersede OLD NEW'")

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.memory = after(self.memory, [entry])

    def say(self, kind: str, extra: Fields, **fields: object) -> None:
        self.add(
            entry_about(self.memory, replace(Entry(kind=kind, by=self.by, extra=extra), **fields))
        )


def _toward_words(steps: _Steps, wanted: Memory) -> None:
    now = steps.memory
    fields = {
        field: key
        for key, field in AMENDABLE.items()
        if getattr(now, field) != getattr(wanted, field)
    }
    changed = {key: value for key, value in wanted.extra.items() if now.extra.get(key) != value}
    removed = [key for key in now.extra if key not in wanted.extra]
    body = wanted.body if wanted.body != now.body else ""
    if now.body and not wanted.body:
        removed.append(BODY)
    if fields or changed or removed or body:
        extra: Fields = {**changed, **({REMOVES: removed} if removed else {})}
        values = {field: getattr(wanted, field) for field in fields}
        steps.say("amend", extra, body=body, given=tuple(fields.values()), **values)


def _toward_window(steps: _Steps, wanted: Memory) -> None:
    fields = {
        key: field
        for key, field in ENDS.items()
        if getattr(steps.memory, field) != getattr(wanted, field)
    }
    if fields:
        extra: Fields = {
            key: iso(getattr(wanted, field)) or OPEN_END for key, field in fields.items()
        }
        steps.say("validity", {**extra, "reason": steps.reason}, given=tuple(fields))


def _toward_connections(steps: _Steps, wanted: Memory) -> None:
    for some, others, removed in ((steps.memory, wanted, True), (wanted, steps.memory, False)):
        links = [link for link in some.links if link not in others.links]
        for type in dict.fromkeys(type for type, _ in links):
            ends = [end for one, end in links if one == type]
            steps.add(linking(steps.memory, ends, type, steps.by, removed))
        sources = [id for id in some.heritage if id not in others.heritage]
        if sources:
            steps.add(inheriting(steps.memory, sources, steps.by, removed))


def _toward_counts(steps: _Steps, wanted: Memory) -> None:
    marks = (
        wanted.status == DISPUTED != steps.memory.status
    )  # the entry that sets this status is a dispute, too
    for what, field in COUNTS.items():
        count = getattr(wanted, field) - (marks and what == "dispute")
        while getattr(steps.memory, field) > count:
            steps.add(withdrawing(steps.memory, what, steps.by))
        while getattr(steps.memory, field) < count:
            steps.say(
                *(
                    ("feedback", {"signal": what})
                    if what in SIGNS
                    else (what, {"reason": steps.reason})
                )
            )
    for source in [
        source for source in steps.memory.confirmed_by if source not in wanted.confirmed_by
    ]:
        steps.add(withdrawing(steps.memory, CORROBORATE, steps.by, source))
    while steps.memory.repeated > wanted.repeated:
        steps.add(withdrawing(steps.memory, CORROBORATE, steps.by))
    if steps.memory.repeated < wanted.repeated:
        raise Refused(
            f"no entry can restore the confirmations of {wanted.id}",
            "store them again with 'rawkomem add'",
        )


def _toward_status(steps: _Steps, wanted: Memory) -> None:
    now = steps.memory
    if now.status == wanted.status and (
        now.status == ACTIVE or now.superseded_by == wanted.superseded_by
    ):
        return
    if wanted.status not in STATUS_ENTRIES:
        raise Refused(f"no entry can make {now.id} {wanted.status}", "edit the file by hand")
    if now.status != ACTIVE and (
        wanted.status == DISPUTED or (now.superseded_by and not wanted.superseded_by)
    ):
        _say_status(steps, ACTIVE, wanted)
    if wanted.superseded_by not in ("", steps.memory.superseded_by):
        _say_status(steps, SUPERSEDED, wanted)
    if steps.memory.status != wanted.status:
        _say_status(steps, wanted.status, wanted)


def _say_status(steps: _Steps, status: str, wanted: Memory) -> None:
    kind, extra = STATUS_ENTRIES[status]
    if status == SUPERSEDED:
        extra = {"supersededBy": wanted.superseded_by}
    elif status == "quarantined" and wanted.conflicts_with:
        extra = {"conflictsWith": [*wanted.conflicts_with]}
    elif status == "archived" and not wanted.retracted:
        extra = {"cause": HOUSEKEEPING}
    reason = wanted.reason if status == wanted.status != ACTIVE else ""
    steps.say(kind, {"reason": reason or steps.reason, **extra})


STATUS_ENTRIES: dict[str, tuple[str, Fields]] = {
    ACTIVE: ("review", {"action": ACTIVATE}),
    DISPUTED: ("dispute", {"outcome": DISPUTED}),
    SUPERSEDED: ("supersede", {}),
    "quarantined": ("quarantine", {}),
    "archived": ("archive", {}),
    "deleted": ("delete", {}),
}


# Undo a change: find the entries that change memories into their state without the entries of that
# change.

UNDO_REASON = "undo"


def last_change(changes: Sequence[Change]) -> Change | None:
    """Return the last change that was not undone and is not an undo itself, or None."""
    undone = {change.undoes for change in changes}
    return next(
        (one for one in reversed(changes) if not one.undoes and one.name not in undone), None
    )


def plan_undo(
    change: Change,
    changes: Sequence[Change],
    about: Mapping[str, Sequence[Entry]],
    vouches: Vouches | None = None,
    by: str = "",
    is_person: bool = True,
) -> Plan:
    """Plan to undo a change; `about` has all entries about its memories, `changes` all changes of this machine.

    A later change of the same field by somebody else is kept. Only a person can undo a proposed change.
    """
    entries: list[Entry] = []
    for id in change.memories:
        said = about.get(id, ())
        now = fold(said, vouches)
        if now is None:
            continue
        if any(entry.creates and entry.id in change.ids for entry in said):
            entries += plan_delete(now, UNDO_REASON, by).entries if now.status != "deleted" else ()
            continue
        reviews = [entry for entry in said if entry.id in change.ids and is_decision(entry)]
        before = fold([entry for entry in said if entry not in reviews], vouches) or now
        if before.proposed != now.proposed:  # the changes that a review decided wait again
            entries += plan_reopen(now, reviews, UNDO_REASON, by).entries
            now = before
        waiting = [entry for entry in said if entry.id in change.ids and entry.id in now.proposed]
        if waiting and not is_person:
            raise Refused(
                f"the change of {id} waits for a person's review",
                f"ask a person to run 'rawkomem review {id}'",
            )
        if waiting:
            entries += plan_decide(now, waiting, accept=False, reason=UNDO_REASON, by=by).entries
        known = {change.name: change for change in changes}
        pairs = [(known[one.undoes].ids, one.ids) for one in changes if one.undoes in known]
        creating = {entry.id for entry in said if entry.creates}
        # A change and its undoing have no effect together; but if it added a memory, the deletion stays.
        left_out = change.ids | {
            id for undone, undoing in pairs if not undone & creating for id in (*undone, *undoing)
        }
        wanted = fold([entry for entry in said if entry.id not in left_out], vouches)
        entries += entries_toward(now, wanted, UNDO_REASON, by) if wanted else ()
    if not entries:
        message = f"the change {change.name} has no effect now: later changes replaced it, or nobody vouches for it"
        raise Refused(message, "run 'rawkomem history ID' to see the changes of a memory")
    return Plan(tuple(entries), f"undo {change.name}", undoes=change.name)


def is_present(change: Change, about: Mapping[str, Collection[Entry]]) -> bool:
    """Return whether an entry of a change is in the files; it may be on another branch."""
    return any(entry.id in change.ids for said in about.values() for entry in said)
