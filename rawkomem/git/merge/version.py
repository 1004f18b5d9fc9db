"""Read one version of a memory file for a merge, entry by entry; each has a key that is the same in all versions."""

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
    """An entry of one version, with its own lines."""

    entry: Entry
    piece: Piece
    named: bool  # whether the file tells its id; else it is the entry's place in the file

    @property
    def text(self) -> str:
        """Return its lines, to the character."""
        return self.piece.text

    @property
    def rank(self) -> Rank:
        """Return its place among entries that no version puts in order: by the fold's order, then by its text."""
        return order_key(self.entry.at, self.entry.id if self.named else ""), self.text


@record
class Version:
    """One of the three versions, entry by entry."""

    items: Mapping[str, Item] = {}  # by key, in the order of the file
    lead: str = ""
    newline: str = ""  # of the whole file; empty where it has no lines
    bom: bool = False

    def text(self, key: str) -> str | None:
        """Return the text of the entry with a key; None if there is none."""
        return self.items[key].text if key in self.items else None


def below_root(path: str) -> str:
    """Return a path of the work tree as entries name it, since implicit ids come from it."""
    inside = f"/{path}".replace("\\", "/").rpartition(f"/{FOLDER}/")[2].lstrip("/")
    return inside if inside.partition("/")[0] in AREAS else inside.rpartition("/")[2]


def read_version(data: bytes, path: str, base: Version) -> Version | None:
    """Return a version entry by entry; None if a part is not an entry, an id is duplicate, or line ends are mixed."""
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
    """Return the entries by a key that is the same in all versions: the id, else the text or the place."""
    nameless = {key: item for key, item in base.items.items() if not item.named}
    same = {item.text: key for key, item in nameless.items()}
    unchanged = {same[item.text] for item in items if item.text in same}
    places = {item.entry.id: key for key, item in nameless.items() if key not in unchanged}
    return {
        f"id {item.entry.id}" if item.named else same.get(item.text) or places.get(item.entry.id) or _new(item): item
        for item in items
    }


def _new(item: Item) -> str:
    """Return the key of a new entry: two entries of one title are versions of it; without a title the text decides."""
    return f"{item.entry.kind} {item.entry.title or item.text}"
