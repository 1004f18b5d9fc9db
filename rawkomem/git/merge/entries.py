"""Merge three versions of a memory file by entry id; new entries of both sides are kept.

If one side changed an entry, its version is used. If both did, the result has conflict markers. The result does not
depend on which side is ours. Files that cannot be read entry by entry are not merged here (None).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeVar

from ...files.read import decode, read_data
from ...format.pieces import Piece, cut, glue
from ...model.entry import Entry
from ...model.record import record
from .numbers import renumbered
from .tags import unite_tags
from .version import BOM, Item, Rank, Version, below_root, read_version

T = TypeVar("T", str, bool)

MARKER_LENGTH = 7  # characters of a conflict marker, unless git asks for more


@record
class Merged:
    """A merged file; `conflicts` are the ids of entries that both sides changed and that have conflict markers."""

    data: bytes
    conflicts: tuple[str, ...] = ()


def merge(base: bytes, ours: bytes, theirs: bytes, path: str, marker: int = MARKER_LENGTH) -> Merged | None:
    """Merge two versions of `base` (empty if both are new); return None if that is not possible entry by entry."""
    path = below_root(path)
    origin = read_version(base, path, Version())
    sides = [origin and read_version(data, path, origin) for data in (ours, theirs)]
    if origin is None or sides[0] is None or sides[1] is None:
        return None
    return _Merge(origin, *renumbered(origin, sides[0], sides[1])).result(path, marker)


class _Merge:
    """Three versions, and the merged pieces."""

    def __init__(self, base: Version, ours: Version, theirs: Version):
        self.base, self.ours, self.theirs = base, ours, theirs
        self.pieces: dict[str, Piece] = {}
        self.conflicts: list[str] = []

    def result(self, path: str, marker: int) -> Merged | None:
        """Return the merged file; None if it would not read back as the merged entries."""
        for key in dict.fromkeys([*self.ours.items, *self.theirs.items]):
            self._decide(key, marker)
        order = _ordered(self._sequence(self.ours), self._sequence(self.theirs), self._rank)
        lead = _pick(self.base.lead, self.ours.lead, self.theirs.lead)
        text = glue(lead, [self.pieces[key] for key in order])
        newline = _pick(self.base.newline, self.ours.newline, self.theirs.newline)
        data = text.replace("\n", newline or "\n").encode()
        if _pick(self.base.bom, self.ours.bom, self.theirs.bom):
            data = BOM + data
        if not self.conflicts and not self._holds(data, path, order):
            return None
        return Merged(data, tuple(self.conflicts))

    def _decide(self, key: str, marker: int) -> None:
        base, ours, theirs = self.base.text(key), self.ours.text(key), self.theirs.text(key)
        if ours == theirs or theirs == base:
            text = ours
        elif ours == base:
            text = theirs
        else:
            text = self._united(key)
            if text is None:
                text = _marked(ours or "", theirs or "", marker)
                self.conflicts.append(self._item(key).entry.id)
        if text is not None:
            self.pieces[key] = self._surrounded(key, text)

    def _united(self, key: str) -> str | None:
        """Return the merged text if both sides only added or removed tags; else None."""
        ours, theirs = self.ours.items.get(key), self.theirs.items.get(key)
        if ours is None or theirs is None:
            return None
        known = self.base.items.get(key)
        base = (known.text, known.entry.tags) if known else None
        return unite_tags(base, (ours.text, ours.entry.tags), (theirs.text, theirs.entry.tags))

    def _surrounded(self, key: str, text: str) -> Piece:
        """Return the text with the separator after it; prefer one from inside a file to one from its end."""
        for last in (False, True):
            base, ours, theirs = (_rest(side, key, last) for side in (self.base, self.ours, self.theirs))
            rest = _pick(base, ours or theirs, theirs or ours)
            if rest:
                return Piece(text, rest, last)
        return Piece(text, "", last=True)

    def _item(self, key: str) -> Item:
        return self.ours.items.get(key) or self.theirs.items[key]

    def _rank(self, key: str) -> Rank:
        return min(side.items[key].rank for side in (self.ours, self.theirs) if key in side.items)

    def _sequence(self, version: Version) -> list[str]:
        return [key for key in version.items if key in self.pieces]

    def _holds(self, data: bytes, path: str, order: Sequence[str]) -> bool:
        """Tell whether the merged file reads back as these entries, with their ids and times, in this order."""
        read = read_data(data, path, advice=False).entries
        if len(read) != len(order):
            return False
        _, pieces = cut(decode(data)[0], [entry.line for entry in read])
        abouts = {item.entry.about for side in (self.ours, self.theirs) for item in side.items.values()}
        return all(
            piece.text == self.pieces[key].text and self._is_same(key, entry, abouts)
            for key, entry, piece in zip(order, read, pieces, strict=True)
        )

    def _is_same(self, key: str, entry: Entry, abouts: set[str]) -> bool:
        """Tell whether an entry kept its time, and its id if an entry is about that id."""
        known = [side.items[key] for side in (self.ours, self.theirs) if key in side.items]
        names = {item.entry.id for item in known}
        return entry.at in {item.entry.at for item in known} and (names == {entry.id} or not names & abouts)


def _rest(version: Version, key: str, last: bool) -> str:
    item = version.items.get(key)
    return item.piece.rest if item and item.piece.last == last else ""


def _pick(base: T, ours: T, theirs: T) -> T:
    """Return the changed value; if both sides differ, choose independently of which side is ours."""
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else min(ours, theirs)


def _ordered(ours: Sequence[str], theirs: Sequence[str], rank: Callable[[str], Rank]) -> list[str]:
    """Return all keys so that the order of both sides is kept; use the rank where it is open or they disagree."""
    above: dict[str, set[str]] = {key: set() for key in (*ours, *theirs)}
    below: dict[str, set[str]] = {key: set() for key in above}
    for first, second in (*pairwise(ours), *pairwise(theirs)):
        above[second].add(first)
        below[first].add(second)
    ready = [(rank(key), key) for key, waits in above.items() if not waits]
    heapify(ready)
    order: list[str] = []
    while above:
        _, key = heappop(ready) if ready else min((rank(key), key) for key in above)
        del above[key]
        order.append(key)
        for other in below[key]:
            if other in above:
                above[other].discard(key)
                if not above[other]:
                    heappush(ready, (rank(other), other))
    return order


def _marked(ours: str, theirs: str, size: int) -> str:
    """Return both texts as one, with conflict markers around the lines that differ."""
    mine, other = ours.split("\n") if ours else [], theirs.split("\n") if theirs else []
    head = _alike(mine, other)
    tail = _alike(mine[head:][::-1], other[head:][::-1])
    middle = [
        "<" * size + " ours", *mine[head : len(mine) - tail],
        "=" * size, *other[head : len(other) - tail],
        ">" * size + " theirs",
    ]  # fmt: skip
    return "\n".join([*mine[:head], *middle, *mine[len(mine) - tail :]])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines at the start are equal."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return same
