"""Record what this machine wrote, one line per change, so that `rawkomem undo` can take it back.

A line holds the change's name, the change that it takes back, and pairs of ids: of an entry, and of its memory. It
holds no text. The writer appends to it while it holds the write lock.
"""

from __future__ import annotations

from ...model.change import Change
from .private import LineFile, local_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...model.entry import Entry
    from ..layout import Layout

FILE_NAME = "changes.tsv"
MAX_BYTES = 1 << 20  # some ten thousand changes; the older half goes first
NO_NAME = "-"
PURGED = "purged"  # what the second field of a purge begins with


def note_change(layout: Layout, entries: Sequence[Entry], undoes: str = "", part_of: str = "") -> str:
    """Append a change and return its name; `part_of` names the change that the entries continue."""
    name = part_of or entries[0].id
    pairs = (id for entry in entries for id in (entry.id, entry.target))
    _file(layout).append("\t".join((name, undoes or NO_NAME, *pairs)))
    return name


def note_purge(layout: Layout, id: str) -> None:
    """Append that a memory's text was removed."""
    _file(layout).append("\t".join((f"{PURGED}:{id}", PURGED, "", id)))


def read_changes(layout: Layout) -> list[Change]:
    """Return the changes, the oldest first; lines that cannot be parsed are skipped."""
    found: dict[str, Change] = {}
    for line in _file(layout).lines():
        name, _, rest = line.partition("\t")
        undoes, *ids = rest.split("\t")
        if len(ids) % 2 or not ids:
            continue
        if undoes == PURGED:
            found.pop(name, None)
            found[name] = Change(name, (), purged=ids[1])
            continue
        before = found.pop(name).entries if name in found else ()
        pairs = tuple(zip(ids[::2], ids[1::2], strict=True))
        found[name] = Change(name, (*before, *pairs), undoes="" if undoes == NO_NAME else undoes)
    return [*found.values()]


def _file(layout: Layout) -> LineFile:
    return LineFile(local_path(layout, FILE_NAME), MAX_BYTES)
