"""Reads memories as of a past time, by folding the entries in their files up to that time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...redaction.entry import redact_entry
from ...state.fold import fold
from ...text.condition import read_condition
from ...text.when import fires
from ..tail import read_for_index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...files.layout import Layout
    from ...model.entry import Entry, Memory
    from ...state.vouch import Vouches
    from ...text.when import Fired, Situation
    from ..catalogue import Catalogue


class Past:
    """One moment of the past. Each file is read again once, because the index holds only the current state."""

    def __init__(self, layout: Layout, catalogue: Catalogue, at: int, vouches: Vouches | None = None):
        self.layout = layout
        self.catalogue = catalogue
        self.at = at
        self.vouches = vouches
        self._read: dict[str, tuple[Entry, ...]] = {}

    def memory(self, id: str) -> Memory | None:
        """Return the memory at that time; None before it was created. An entry without a time counts as oldest."""
        return fold((entry for entry in self.entries_about(id) if entry.at <= self.at), self.vouches)

    def entries_about(self, id: str) -> list[Entry]:
        """Return every entry about a memory, of any time, without secrets."""
        paths = sorted(self.catalogue.paths_about(id))
        entries = [entry for path in paths for entry in self._entries(path) if entry.target == id]
        return [redact_entry(entry) if entry.leaks else entry for entry in entries]

    def fired(self, ids: Iterable[str], situation: Situation) -> dict[str, Fired]:
        """Return id → the part that fires of a condition that the memory had then, for memories that fire."""
        return {id: fired for id in ids if (fired := self._fires(id, situation))}

    def _fires(self, id: str, situation: Situation) -> Fired | None:
        memory = self.memory(id)
        fired = (fires(read_condition(pattern), situation) for pattern in (memory.when if memory else ()))
        return next(filter(None, fired), None)

    def _entries(self, path: str) -> tuple[Entry, ...]:
        if path not in self._read:
            try:
                self._read[path] = read_for_index(self.layout, path).reading.entries
            except OSError:  # gone or unreadable since the last sync
                self._read[path] = ()
        return self._read[path]
