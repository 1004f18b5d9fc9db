"""Decides which entries a person vouches for: by a commit in HEAD, or by typing them on this machine.

A sync folds memories with it; index/views/authors.py folds memories again whose entries were committed since.
"""

from __future__ import annotations

from ..files.local.arrivals import Arrivals
from .stores.database import first

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from ..files.layout import Layout
    from ..model.entry import Entry

TABLE = "SELECT 1 FROM sqlite_master WHERE name = 'authorship'"
IS_ON = "SELECT value FROM authorship WHERE key = 'vouching'"


class Vouching:
    """Looks entries up. With `strict`, commits and typed reviews count, but no other typed entries."""

    def __init__(self, layout: Layout, db: apsw.Connection | None, strict: bool = False):
        self.layout = layout
        self.db = db  # None: git has not been asked yet
        self.strict = strict
        self._arrivals: Arrivals | None = None
        self._known: dict[str, bool] = {}

    def __call__(self, entry: Entry) -> bool:
        """Return whether a person vouches for an entry."""
        if not entry.digest:
            return False
        return self.is_committed(entry.digest) or self.is_typed(entry.id, entry.digest, entry.kind)

    def is_committed(self, digest: str) -> bool:
        """Return whether a person committed an entry, and HEAD holds it."""
        if digest not in self._known:
            found = first(self.db, "SELECT 1 FROM vouched WHERE digest = ?", (digest,)) if self.db else None
            self._known[digest] = found is not None
        return self._known[digest]

    def is_typed(self, id: str, digest: str, kind: str) -> bool:
        """Return whether a person typed an entry on this machine, and it has not changed since."""
        if self.strict and kind != "review":
            return False
        if self._arrivals is None:
            self._arrivals = Arrivals(self.layout)
        return self._arrivals.by_person(id, digest)


def vouching(layout: Layout, db: apsw.Connection, strict: bool = False) -> Vouching | None:
    """Return which entries are vouched for; None if no person has committed an entry: then all entries count.

    With `strict`, never return None.
    """
    if first(db, TABLE) is None:
        return Vouching(layout, None, strict) if strict else None
    return Vouching(layout, db, strict) if strict or first(db, IS_ON) == ("on",) else None
