"""Merge memory files entry by entry, as git's merge driver; else by lines with `git merge-file`.

New entries of both sides are kept. If one side changed an entry, its version is used. If both did,
the result has conflict markers. The result does not depend on which side is ours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeVar

from ..files.git_folder import find_git
from ..files.layout import AREAS, FOLDER, explained, read_bytes
from ..files.reading import decode_file, read_data, read_texts
from ..files.replace import remove_unfinished, replace_whole
from ..format.blocks import SEPARATOR, cut_pieces, with_id
from ..model.entries import Entry
from ..model.errors import Refused
from ..model.ids import order_key
from ..model.values import record, replace
from .runner import Git, GitFailed

# Read one version of a memory file for a merge, entry by entry; an entry has the same key in all
# versions.

Rank = tuple[tuple[int, str, int], str]

BOM = b"\xef\xbb\xbf"


@record
class Item:
    """An entry of one version, with its text."""

    entry: Entry
    text: str
    # whether the file states its id; else the id comes from the position in the file
    named: bool

    @property
    def rank(self) -> Rank:
        """Return a sort key for entries whose order no version states: the fold's order, then the text."""
        return order_key(self.entry.at, self.entry.id if self.named else ""), self.text


@record
class Version:
    """One of the three versions, as entries."""

    items: Mapping[str, Item] = {}  # by key, in the order of the file
    lead: str = ""
    newline: str = ""  # line end of the whole file; empty if it has none
    bom: bool = False

    def text(self, key: str) -> str | None:
        """Return the text of the entry with a key; None if there is none."""
        return self.items[key].text if key in self.items else None


def below_root(path: str) -> str:
    """Return a path relative to `.rawko`, because ids of entries without an `id:` line are made from it."""
    inside = f"/{path}".replace("\\", "/").rpartition(f"/{FOLDER}/")[2].lstrip("/")
    return inside if inside.partition("/")[0] in AREAS else inside.rpartition("/")[2]


def read_version(data: bytes, path: str, base: Version) -> Version | None:
    """Return a version as entries; None if a part is not an entry, an id is duplicate, or line ends are mixed."""
    text, refused, odd = decode_file(data)
    if refused or odd or data.count(b"\r\n") not in (0, data.count(b"\n")):
        return None
    entries = read_data(data, path, advice=False).entries
    if entries and (
        not text.lstrip().startswith("---")
        or any(e.draft and not e.given for e in entries)
    ):
        return None
    lead, pieces = cut_pieces(text, [entry.line for entry in entries])
    items = [
        Item(entry, piece.text, "id" in entry.given)
        for entry, piece in zip(entries, pieces, strict=True)
    ]
    keyed = _keyed(items, base)
    newline = "\r\n" if b"\r\n" in data else "\n" if b"\n" in data else ""
    return (
        Version(keyed, lead, newline, data.startswith(BOM))
        if len(keyed) == len(items)
        else None
    )


def _keyed(items: Sequence[Item], base: Version) -> dict[str, Item]:
    """Return key → entry; the key is the same in all versions: the id, else the text or the position.

    The key of a new entry without an id is its kind and title, or its text if it has no title.
    """
    nameless = {key: item for key, item in base.items.items() if not item.named}
    same = {item.text: key for key, item in nameless.items()}
    unchanged = {same[item.text] for item in items if item.text in same}
    ids = {item.entry.id: key for key, item in nameless.items()}
    places = {id: key for id, key in ids.items() if key not in unchanged}
    return {
        ids.get(item.entry.id) or f"id {item.entry.id}"
        if item.named
        else same.get(item.text)
        or places.get(item.entry.id)
        or f"{item.entry.kind} {item.entry.title or item.text}": item
        for item in items
    }


# Merge three versions of a memory file by entry id; new entries of both sides are kept.
#
# If one side changed an entry, its version is used. If both did, the result has conflict markers.
# The result does not depend on which side is ours. Files that cannot be read entry by entry are
# not merged here (None).

T = TypeVar("T", str, bool)

MARKER_LENGTH = 7  # characters of a conflict marker, unless git asks for more


@record
class Merged:
    """A merged file; `conflicts` are the ids of entries that both sides changed and that have conflict markers."""

    data: bytes
    conflicts: tuple[str, ...] = ()


def merge_entries(
    base: bytes, ours: bytes, theirs: bytes, path: str, marker: int = MARKER_LENGTH
) -> Merged | None:
    """Merge two versions of `base` (empty if both are new); return None if that is not possible entry by entry."""
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    path = below_root(path)
    origin = read_version(base, path, Version())
    one, two = (origin and read_version(data, path, origin) for data in (ours, theirs))
    if origin is None or one is None or two is None:
        return None
    if _named_apart(origin, one, two) or _named_apart(origin, two, one):
        return None
    origin, one, two = _named_alike([origin, one, two])
    texts: dict[str, str] = {}
    conflicts: list[str] = []
    for key in dict.fromkeys([*one.items, *two.items]):
        old, mine, other = (version.text(key) for version in (origin, one, two))
        text = mine if other == old else other  # the side that changed it
        if mine != other and old not in (mine, other):
            text = _marked(mine or "", other or "", marker)
            conflicts.append((one.items.get(key) or two.items[key]).entry.id)
        if text is not None:
            texts[key] = text
    order = _ordered(one, two, texts)
    lead = _pick(origin.lead, one.lead, two.lead)
    body = f"\n{SEPARATOR}".join(texts[key] for key in order) + "\n" * bool(order)
    newline = _pick(origin.newline, one.newline, two.newline)
    data = (lead + body).replace("\n", newline or "\n").encode()
    if _pick(origin.bom, one.bom, two.bom):
        data = BOM + data
    merged = [(key, texts[key]) for key in order]
    if not conflicts and not _holds(data, path, merged, (one, two)):
        return None
    return Merged(data, tuple(conflicts))


def _named_apart(base: Version, one: Version, other: Version) -> bool:
    """Return whether one side gave an id to an entry that had none, and the other one may have given it another id."""
    named = [
        key
        for key, item in base.items.items()
        if not item.named and key in one.items and one.items[key].named
    ]
    is_new = any(
        item.named and key not in base.items and key not in one.items
        for key, item in other.items.items()
    )
    return is_new and any(key not in other.items for key in named)


def _named_alike(versions: Sequence[Version]) -> list[Version]:
    """Return the versions with an id in each entry that has one in some version, so that only other edits differ."""
    ids = {
        key: item.entry.id
        for version in versions
        for key, item in version.items.items()
        if item.named
    }

    def named(key: str, item: Item) -> Item:
        if item.named or key not in ids:
            return item
        return replace(item, text=with_id(item.text, ids[key]), named=True)

    return [
        replace(
            version,
            items={key: named(key, item) for key, item in version.items.items()},
        )
        for version in versions
    ]


def _holds(
    data: bytes,
    path: str,
    merged: Sequence[tuple[str, str]],
    sides: Sequence[Version],
) -> bool:
    """Tell whether the file reads back as these (key, text) in this order, each with the time it had.

    An entry also keeps its id if another entry is about that id.
    """
    read = read_texts(data, path)
    abouts = {item.entry.about for side in sides for item in side.items.values()}
    if len(read) != len(merged):
        return False
    for (key, wanted), (entry, text) in zip(merged, read, strict=True):
        before = [side.items[key].entry for side in sides if key in side.items]
        names = {known.id for known in before}
        is_named = names == {entry.id} or not names & abouts
        is_timed = any(entry.at == known.at for known in before)
        if text != wanted + "\n" or not is_named or not is_timed:
            return False
    return True


def _pick(base: T, ours: T, theirs: T) -> T:
    """Return the changed value; if both sides differ, choose independently of which side is ours."""
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else min(ours, theirs)


def _ordered(ours: Version, theirs: Version, texts: Mapping[str, str]) -> list[str]:
    """Return all keys so that the order of both sides is kept; use the rank where it is open or they disagree."""

    def rank(key: str) -> tuple[Rank, str]:
        sides = [side for side in (ours, theirs) if key in side.items]
        return min(side.items[key].rank for side in sides), key

    above: dict[str, set[str]] = {key: set() for key in texts}
    below: dict[str, set[str]] = {key: set() for key in texts}
    for side in (ours, theirs):
        for first, second in pairwise(key for key in side.items if key in texts):
            above[second].add(first)
            below[first].add(second)
    ready = [rank(key) for key, waits in above.items() if not waits]
    heapify(ready)
    order: list[str] = []
    while above:
        _, key = heappop(ready) if ready else min(map(rank, above))
        del above[key]
        order.append(key)
        for other in below[key]:
            if other in above:
                above[other].discard(key)
                if not above[other]:
                    heappush(ready, rank(other))
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


# Merge one memory file for git: entry by entry if possible, else by lines with `git merge-file`.

# unlike 1 and 127, a program that could not start does not return it
CONFLICT_EXIT_CODE = 3
LABELS = ("ours", "base", "theirs")  # in the order of `git merge-file`


class Conflicting(Refused):
    """Both sides changed the same entry; the file contains conflict markers."""

    exit_code = CONFLICT_EXIT_CODE


def merge_files(
    base: str,
    ours: str,
    theirs: str,
    path: str = "",
    marker: int = MARKER_LENGTH,
    by_lines: bool = False,
) -> None:
    """Merge three files into `ours`; if both sides changed the same entry, write markers and raise Conflicting."""
    name = path or ours
    versions = (_read_side(base), _read_side(ours), _read_side(theirs))
    try:
        merged = None if by_lines else merge_entries(*versions, name, marker)
    except Exception:
        merged = None  # on any error: lines can always be merged
    if merged is None:
        return _merge_lines(base, ours, theirs, name, marker)
    with explained(f"cannot write {ours}"):
        _replace(ours, merged.data)
    if merged.conflicts:
        changed = ", ".join(merged.conflicts)
        raise Conflicting(
            f"{name}: both sides changed {changed}",
            "keep one side between the markers, then git add",
        )
    return None


def _replace(file: str, data: bytes) -> None:
    """Write a file atomically, with the temporary file in git's folder: a killed driver leaves nothing in the project."""
    git = find_git(os.path.dirname(file))
    try:
        if git:
            remove_unfinished(git.own)
        replace_whole(file, data, beside=git.own if git else "")
    except OSError:
        replace_whole(file, data)  # git's folder is on another disk


def _merge_lines(base: str, ours: str, theirs: str, name: str, marker: int) -> None:
    labels = [word for label in LABELS for word in ("-L", label)]
    files = [os.path.abspath(file) for file in (ours, base, theirs)]
    try:
        Git(os.getcwd()).run("merge-file", f"--marker-size={marker}", *labels, *files)
    except GitFailed:
        raise Conflicting(
            f"{name} cannot be merged entry by entry", "fix it by hand, then git add"
        ) from None


def _read_side(file: str) -> bytes:
    """Return the first MAX_FILE_BYTES + 1 bytes of a file; raise Unwritable if it cannot be read."""
    with explained(f"cannot read {file}", "run 'git merge', which calls this command"):
        return read_bytes(file)
