"""Read one version of a memory file for a merge, entry by entry; an entry has the same key in all versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...files.layout import AREAS, FOLDER
from ...files.read import decode, read_data
from ...format.pieces import Piece, cut
from ...model.entry import Entry
from ...model.ids import order_key
from ...model.record import record

Rank = tuple[tuple[int, str, int], str]

BOM = b"\xef\xbb\xbf"


@record
class Item:
    """An entry of one version, with its text."""

    entry: Entry
    piece: Piece
    named: bool  # whether the file states its id; else the id comes from the position in the file

    @property
    def text(self) -> str:
        """Return the exact text of the entry."""
        return self.piece.text

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
    text, refused, odd = decode(data)
    if refused or odd or data.count(b"\r\n") not in (0, data.count(b"\n")):
        return None
    entries = read_data(data, path, advice=False).entries
    if entries and (not text.lstrip().startswith("---") or any(e.draft and not e.given for e in entries)):
        return None
    lead, pieces = cut(text, [entry.line for entry in entries])
    items = [Item(entry, piece, "id" in entry.given) for entry, piece in zip(entries, pieces, strict=True)]
    keyed = _keyed(items, base)
    newline = "\r\n" if b"\r\n" in data else "\n" if b"\n" in data else ""
    return Version(keyed, lead, newline, data.startswith(BOM)) if len(keyed) == len(items) else None


def _keyed(items: Sequence[Item], base: Version) -> dict[str, Item]:
    """Return key → entry; the key is the same in all versions: the id, else the text or the position."""
    nameless = {key: item for key, item in base.items.items() if not item.named}
    same = {item.text: key for key, item in nameless.items()}
    unchanged = {same[item.text] for item in items if item.text in same}
    places = {item.entry.id: key for key, item in nameless.items() if key not in unchanged}
    return {
        f"id {item.entry.id}" if item.named else same.get(item.text) or places.get(item.entry.id) or _new(item): item
        for item in items
    }


def _new(item: Item) -> str:
    """Return the key of a new entry: its kind and title, or its text if it has no title."""
    return f"{item.entry.kind} {item.entry.title or item.text}"
