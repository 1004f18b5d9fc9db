"""Merge memory files entry by entry, as git's merge driver; else by lines with `git merge-file`.

New entries of both sides are kept. If one side changed an entry, its version is used. If both did, their frontmatter
is merged field by field, and their text line by line as git does. Conflict markers stand around the lines that both
sides changed. The result does not depend on which side is ours.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeVar

from ..files.layout import AREAS, FOLDER, MAX_FILE_BYTES
from ..files.reading import decode_file, read_data, read_texts
from ..format.blocks import CLOSING, SEPARATOR, cut_pieces, with_id
from ..model.entries import Entry
from ..model.errors import Refused
from ..model.ids import order_key
from ..model.values import ERROR, record, replace
from .merge_parts import changed_span, read_side, splice, write_merged
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


# Merge three versions of a memory file by entry id. Files that cannot be read entry by entry are
# not merged here (None).

T = TypeVar("T", str, bool)

MARKER_LENGTH = 7  # characters of a conflict marker, unless git asks for more


@record
class Merged:
    """A merged file; `conflicts` are the ids of the entries that have conflict markers."""

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
    if _named_apart(origin, one, two):
        return None
    origin, one, two = _named_alike([origin, one, two])
    texts: dict[str, str] = {}
    conflicts: list[str] = []
    for key in dict.fromkeys([*one.items, *two.items]):
        old, mine, other = (version.text(key) for version in (origin, one, two))
        text = mine if other == old else other  # the side that changed it
        if mine != other and old not in (mine, other):
            text, is_conflict = _merge_texts(old or "", mine, other, marker)
            if is_conflict:
                conflicts.append((one.items.get(key) or two.items[key]).entry.id)
        if text is not None:
            texts[key] = text

    def rank(key: str) -> tuple[Rank, str]:
        sides = [side for side in (one, two) if key in side.items]
        return min(side.items[key].rank for side in sides), key

    order = _ordered([one.items, two.items], texts, rank)
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


def _named_apart(base: Version, one: Version, two: Version) -> bool:
    """Return whether the sides may have given an entry without an id two ids: it is gone where another entry is new."""

    def brings_named(side: Version, other: Version) -> bool:
        return any(
            item.named and key not in base.items and key not in other.items
            for key, item in side.items.items()
        )

    new = brings_named(one, two), brings_named(two, one)
    for key in (key for key, item in base.items.items() if not item.named):
        found = [side.items.get(key) for side in (one, two)]
        may_differ = [
            item.named if item else is_new
            for item, is_new in zip(found, new, strict=True)
        ]
        if all(may_differ) and None in found:
            return True
    return False


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
    """Tell whether the file reads back as these (key, text) in this order, each valid and with the time it had.

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
        is_draft = entry.draft and not any(known.draft for known in before)
        if text != wanted + "\n" or not is_named or not is_timed or is_draft:
            return False
    return True


def _pick(base: T, ours: T, theirs: T) -> T:
    """Return the changed value; if both sides differ, choose independently of which side is ours."""
    if ours in (base, theirs):
        return theirs
    return ours if theirs == base else min(ours, theirs)


def _ordered(
    sides: Sequence[Mapping[str, object]],
    wanted: Mapping[str, object],
    rank: Callable[[str], tuple[object, ...]],
) -> list[str]:
    """Return the wanted keys so that the order of both sides is kept; use the rank where it is open or they disagree."""
    above: dict[str, set[str]] = {key: set() for key in wanted}
    below: dict[str, set[str]] = {key: set() for key in wanted}
    for side in sides:
        for first, second in pairwise(key for key in side if key in wanted):
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


CONTINUED = (" ", "\t", "-", "#")  # a line of the field above starts with one of these
LABELS = ("ours", "base", "theirs")  # in the order of `git merge-file`
# exit codes of `git merge-file`: the number of conflicts
GIT_CONFLICTS = tuple(range(128))


def _merge_texts(
    base: str, ours: str | None, theirs: str | None, size: int
) -> tuple[str, bool]:
    """Return the merged text of an entry that both sides changed, and whether it has conflict markers."""
    if ours is None or theirs is None:
        return _marked(ours or "", theirs or "", size), True
    old, mine, other = (_cut_fields(text) for text in (base, ours, theirs))
    keys = dict.fromkeys([*mine, *other])
    parts = {
        key: _merge_rows(old.get(key, []), mine.get(key, []), other.get(key, []), size)
        for key in keys
    }
    order = _ordered([mine, other], keys, lambda key: (key == SEPARATOR, key))
    rows = [row for key in order for row in parts[key][0]]
    return "\n".join(rows), any(is_conflict for _, is_conflict in parts.values())


def _cut_fields(text: str) -> dict[str, list[str]]:
    """Return the lines of an entry: `---`, each field of the frontmatter by its key, and the text with the line above it."""
    fields: dict[str, list[str]] = {}
    key = "---"
    for row in text.split("\n") if text else ():
        if key != SEPARATOR and fields:
            name = row.partition(":")[0].rstrip()
            if CLOSING.match(row):
                key = SEPARATOR
            elif name != row and not row.startswith(CONTINUED) and name not in fields:
                key = name
        fields.setdefault(key, []).append(row)
    return fields


def _merge_rows(
    base: list[str], ours: list[str], theirs: list[str], size: int
) -> tuple[list[str], bool]:
    """Merge lines as git does; return them and whether they have conflict markers. Raises GitFailed."""
    if theirs in (base, ours) or ours == base:
        return theirs if ours == base else ours, False
    spliced = splice(base, ours, theirs)
    if spliced is not None:
        return spliced, False
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, label) for label in LABELS]
        for file, rows in zip(files, (ours, base, theirs), strict=True):
            with open(file, "wb") as stream:
                stream.writelines(f"{row}\n".encode() for row in rows)
        data, is_conflict = _merge_lines(files, size)
    return data.decode().split("\n")[:-1], is_conflict


def _merge_lines(files: Sequence[str], size: int) -> tuple[bytes, bool]:
    """Return what `git merge-file` makes of ours, base and theirs, and whether it has markers. Raises GitFailed."""
    git = Git(os.getcwd())
    labels = [word for label in LABELS for word in ("-L", label)]
    words = ["merge-file", "-p", f"--marker-size={size}", *labels]
    words += map(os.path.abspath, files)
    try:
        return git.run(*words), False
    except GitFailed:
        return git.run(*words, fine=GIT_CONFLICTS), True


def _marked(ours: str, theirs: str, size: int) -> str:
    """Return both texts as one, with conflict markers around the lines that differ."""
    mine, other = ours.split("\n") if ours else [], theirs.split("\n") if theirs else []
    start, end = changed_span(mine, other)
    middle = [
        "<" * size + " ours", *mine[start:end],
        "=" * size, *other[start : len(other) - (len(mine) - end)],
        ">" * size + " theirs",
    ]  # fmt: skip
    return "\n".join([*mine[:start], *middle, *mine[end:]])


# unlike 1 and 127, a program that could not start does not return it
CONFLICT_EXIT_CODE = 3
KEEP_ONE = "keep one side between the markers, then git add"


class Conflicting(Refused):
    """The file contains conflict markers."""

    exit_code = CONFLICT_EXIT_CODE


def merge_files(
    base: str,
    ours: str,
    theirs: str,
    path: str = "",
    marker: int = MARKER_LENGTH,
    by_lines: bool = False,
) -> None:
    """Merge three files into `ours`; if that is not possible, write conflict markers and raise Conflicting.

    A file that git merges by lines is merged, unless the result is invalid.
    """
    name = path or ours
    versions = (read_side(base), read_side(ours), read_side(theirs))
    by_lines = by_lines or max(map(len, versions)) > MAX_FILE_BYTES  # read in part
    try:
        merged = None if by_lines else merge_entries(*versions, name, marker)
    except Exception:
        merged = None  # on any error: lines can always be merged
    if merged and not merged.conflicts:
        return write_merged(ours, merged.data)
    data, problem = _merged_lines((ours, base, theirs), marker)
    if data and not problem and not by_lines:
        data, problem = _checked(data, versions, name, marker)
    if not problem:
        return write_merged(ours, data)
    if merged:
        write_merged(ours, merged.data)
        changed = ", ".join(merged.conflicts)
        raise Conflicting(f"{name}: both sides changed {changed}", KEEP_ONE)
    if data:
        write_merged(ours, data)
    raise Conflicting(f"{name} {problem}", "fix it by hand, then git add")


def _merged_lines(files: Sequence[str], size: int) -> tuple[bytes, str]:
    """Merge ours, base and theirs by lines; return the file, and why it needs a person, or an empty text."""
    try:
        data, is_conflict = _merge_lines(files, size)
    except GitFailed:
        data, is_conflict = b"", True  # for example a binary file
    return data, "cannot be merged entry by entry" if is_conflict else ""


def _checked(
    data: bytes, versions: Sequence[bytes], name: str, size: int
) -> tuple[bytes, str]:
    """Return a merged file; if it is invalid, both sides between conflict markers, and why."""
    problem = _new_problem(data, versions, below_root(name))
    if not problem:
        return data, ""
    ours, theirs = (data.decode("utf-8", "surrogateescape") for data in versions[1:])
    marked = _marked(ours, theirs, size).encode("utf-8", "surrogateescape")
    return marked, f"would be invalid if merged by lines: {problem}"


def _new_problem(merged: bytes, versions: Sequence[bytes], path: str) -> str:
    """Return why a merged file is invalid although its versions are not; empty if it is as valid as they are."""
    old, ours, theirs = (read_data(data, path, advice=False) for data in versions)
    known = {problem.code for side in (old, ours, theirs) for problem in side.problems}
    read = read_data(merged, path, advice=False)
    for problem in read.problems:
        if problem.level == ERROR and problem.code not in known:
            return f"line {problem.line}: {problem.message}"
    ids, mine, other = (
        [entry.id for entry in side.entries if "id" in entry.given]
        for side in (read, ours, theirs)
    )
    twice = [id for id in ids if ids.count(id) > max(1, mine.count(id))]
    lost = sorted({*mine} & {*other} - {*ids})
    if twice:
        return f"two entries have the id {twice[0]}"
    return f"{lost[0]} would be lost" if lost else ""
