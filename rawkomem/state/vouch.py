"""Split the changes of a memory into those that count and those that are only proposed, by who vouches for them."""

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
DIGEST_CHARS = 16  # of a digest: 64 bits, so that nobody finds another text with the same ones
# Changes of a memory's content or visibility. Without a vouching person they wait for a review; others are ignored.
DECIDING = ("amend", "dispute", "supersede", "quarantine", "review", "validity", "archive", "delete")


@record
class Split:
    """The changes of a memory, split by who vouches for them. `counting` is in the order in which the fold uses it."""

    vouched: bool  # whether a person vouches for the entry that creates the memory
    counting: tuple[Entry, ...]
    proposed: tuple[Entry, ...]  # deciding changes that wait for a review
    declined: tuple[Entry, ...]


def named(entry: Entry) -> str:
    """Return the name of an entry in a review: id and digest, because the text may be edited later."""
    return f"{entry.id}{SEPARATOR}{entry.digest[:DIGEST_CHARS]}"


def is_deciding(entry: Entry) -> bool:
    """Return whether a change that no person vouches for waits for a review."""
    return entry.kind in DECIDING or (entry.kind == "feedback" and entry.extra.get("signal") == "harmful")


def take_apart(creating: Entry, ordered: Sequence[Entry], vouches: Vouches) -> Split:
    """Decide which changes count.

    If a person vouches for the memory, only changes that a person vouches for count. If not, all changes count, those
    of people last, so that they win. A review by a person accepts or declines the entries that it names.
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
    """Return the changes without copies of a person's entries, so that a copied vote does not count twice."""
    seen: set[str] = set()
    kept = []
    for entry in changes:
        copied = bool(entry.digest) and entry.digest in seen and vouches(entry)
        seen.add(entry.digest)
        if not copied:
            kept.append(entry)
    return kept
