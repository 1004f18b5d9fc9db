"""Record the changes that this machine made, one line each, for `rawkomem undo`.

A line contains the change's name, the name of the change that it undoes, and pairs of an entry's id and its memory's
id. It contains no text. The writer appends lines while it holds the write lock.
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
MAX_BYTES = 1 << 20  # some ten thousand changes; then the older half is dropped
NO_NAME = "-"
PURGED = "purged"  # the second field of a purge, and the prefix of its name


def note_change(layout: Layout, entries: Sequence[Entry], undoes: str = "", part_of: str = "") -> str:
    """Append a change and return its name; `part_of` names the change that the entries continue."""
    name = part_of or entries[0].id
    pairs = (id for entry in entries for id in (entry.id, entry.target))
    _file(layout).append("\t".join((name, undoes or NO_NAME, *pairs)))
    return name


def note_purge(layout: Layout, id: str) -> None:
    """Append a line that says that a memory was purged."""
    _file(layout).append("\t".join((f"{PURGED}:{id}", PURGED, "", id)))


def read_changes(layout: Layout) -> list[Change]:
    """Return the changes, oldest first; skip lines that cannot be parsed."""
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
