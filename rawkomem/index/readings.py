"""Reads the entries of files: of a file for the index, or of a memory as of a past time."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

from ..files.layout import Layout, read_bytes
from ..files.reading import Reading, read_data
from ..model.entries import Entry, Memory
from ..redaction.entries import redact_entry
from ..state.fold import Vouches, fold
from ..text.conditions import Fired, Situation, fires, read_conditions

if TYPE_CHECKING:
    from .catalogue import Catalogue


def read_for_index(layout: Layout, path: str) -> tuple[Reading, str]:
    """Return the entries of a file and the hash of its bytes. May raise OSError."""
    data = read_bytes(layout.path(path))
    return read_data(data, path, advice=False), sha256(data).hexdigest()


# Reads memories as of a past time, by folding the entries in their files up to that time.


class Past:
    """One moment of the past. Each file is read again once, because the index holds only the current state."""

    def __init__(
        self, layout: Layout, catalogue: Catalogue, at: int, vouches: Vouches | None = None
    ):
        self.layout = layout
        self.catalogue = catalogue
        self.at = at
        self.vouches = vouches
        self._read: dict[str, tuple[Entry, ...]] = {}

    def memory(self, id: str) -> Memory | None:
        """Return the memory at that time; None before it was created. An entry without a time counts as oldest."""
        return fold(
            (entry for entry in self.entries_about(id) if entry.at <= self.at), self.vouches
        )

    def entries_about(self, id: str) -> list[Entry]:
        """Return every entry about a memory, of any time, without secrets."""
        paths = sorted(self.catalogue.paths_about(id))
        entries = [entry for path in paths for entry in self._entries(path) if entry.target == id]
        return [redact_entry(entry) if entry.leaks else entry for entry in entries]

    def fired(self, ids: Iterable[str], situation: Situation) -> dict[str, Fired]:
        """Return id → the part that fires of a condition that the memory had then, for memories that fire."""
        found: dict[str, Fired] = {}
        for id in ids:
            memory = self.memory(id)
            for condition in read_conditions(memory.when) if memory else ():
                if id not in found and (fired := fires(condition, situation)):
                    found[id] = fired
        return found

    def _entries(self, path: str) -> tuple[Entry, ...]:
        if path not in self._read:
            try:
                self._read[path] = read_for_index(self.layout, path)[0].entries
            except OSError:  # gone or unreadable since the last sync
                self._read[path] = ()
        return self._read[path]
