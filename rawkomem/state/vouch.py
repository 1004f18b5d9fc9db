"""Two versions of a memory: what a person last vouched for, and what was proposed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.kinds import CHANGES
from ..model.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..model.entry import Entry

    Vouches = Callable[[Entry], bool]  # whether a person vouches for an entry by itself

ACCEPTS, DECLINES = "accepts", "declines"  # keys of a review: the entries that it decides on
SEPARATOR = "@"  # between an entry's id and the start of its digest in these keys
DIGEST_CHARS = 16  # of a digest: nobody finds another text with the same 64 bits
# Changes of what a memory says, or of whether it is shown: these wait for a person. Other changes just do not count.
DECIDING = ("amend", "dispute", "supersede", "quarantine", "review", "validity", "archive", "delete")


@record
class Split:
    """The changes of a memory, taken apart by who vouches for them. `counting` is in the order of the fold."""

    vouched: bool  # whether a person vouches for the entry that creates the memory
    counting: tuple[Entry, ...]
    proposed: tuple[Entry, ...]  # deciding changes that wait for a review
    declined: tuple[Entry, ...]


def named(entry: Entry) -> str:
    """Return how a review names an entry: by its id and by what it says, which may be edited later."""
    return f"{entry.id}{SEPARATOR}{entry.digest[:DIGEST_CHARS]}"


def is_deciding(entry: Entry) -> bool:
    """Return whether a change waits for a person where it does not count by itself."""
    return entry.kind in DECIDING or (entry.kind == "feedback" and entry.extra.get("signal") == "harmful")


def take_apart(creating: Entry, ordered: Sequence[Entry], vouches: Vouches) -> Split:
    """Decide which changes count.

    If a person vouches for the memory, only changes that a person vouches for count. If not, every change counts, and
    those of people have the last word. A review by a person accepts or declines the entries that it names.
    """
    changes = _once([entry for entry in ordered if entry.kind in CHANGES and not entry.draft], vouches)
    own = {entry.id for entry in changes if vouches(entry)}
    reviews = [entry for entry in changes if entry.kind == "review" and entry.id in own]
    accepted, refused = _named_in(reviews, ACCEPTS), _named_in(reviews, DECLINES)
    is_vouched = vouches(creating) or named(creating) in accepted
    counting: list[Entry] = []
    others: list[Entry] = []
    proposed: list[Entry] = []
    declined: list[Entry] = []
    for entry in changes:
        if entry.id in own or named(entry) in accepted:
            counting.append(entry)
        elif named(entry) in refused:
            declined.append(entry)
        else:
            others.append(entry)
            if (is_vouched or counting) and is_deciding(entry):
                proposed.append(entry)
    everything = counting if is_vouched else [*others, *counting]
    return Split(is_vouched, tuple(everything), tuple(proposed), tuple(declined))


def accepted_in(entries: Iterable[Entry], vouches: Vouches) -> set[str]:
    """Return the names of the entries that a person's reviews accept."""
    return _named_in([entry for entry in entries if entry.kind == "review" and vouches(entry)], ACCEPTS)


def _named_in(reviews: Iterable[Entry], key: str) -> set[str]:
    found = (entry.extra.get(key, []) for entry in reviews)
    return {str(name) for value in found for name in (value if isinstance(value, list) else [value])}


def _once(changes: Sequence[Entry], vouches: Vouches) -> list[Entry]:
    """Return the changes without copies of what a person said: a copied vote is no second vote."""
    seen: set[str] = set()
    kept = []
    for entry in changes:
        copied = bool(entry.digest) and entry.digest in seen and vouches(entry)
        seen.add(entry.digest)
        if not copied:
            kept.append(entry)
    return kept
