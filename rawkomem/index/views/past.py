"""Memories as they stood at a time: the fold of the entries that their files hold up to then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...redaction.entry import redact_entry
from ...state.fold import fold
from ...text.when import match
from ..ahead import read_for_index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...files.layout import Layout
    from ...model.entry import Entry, Memory
    from ..catalogue import Catalogue


class Past:
    """One moment of the past. Files are read again, each once: the index knows only how things stand now."""

    def __init__(self, layout: Layout, catalogue: Catalogue, at: int):
        self.layout = layout
        self.catalogue = catalogue
        self.at = at
        self._read: dict[str, tuple[Entry, ...]] = {}

    def memory(self, id: str) -> Memory | None:
        """The memory as it stood; None before it was created. An entry that names no time counts as older than all."""
        return fold(entry for entry in self.entries_about(id) if entry.at <= self.at)

    def entries_about(self, id: str) -> list[Entry]:
        """Every entry about a memory, of any time, without secrets."""
        paths = sorted(self.catalogue.paths_about(id))
        entries = [entry for path in paths for entry in self._entries(path) if entry.target == id]
        return [redact_entry(entry) if entry.leaks else entry for entry in entries]

    def fired(self, ids: Iterable[str], task: str) -> dict[str, str]:
        """Of these memories, those of which a condition that they had then fires on a task: id → which part of it."""
        found = {id: self._fires(id, task) for id in ids}
        return {id: part for id, part in found.items() if part}

    def _fires(self, id: str, task: str) -> str:
        memory = self.memory(id)
        return next((part for pattern in memory.when if (part := match(pattern, task))), "") if memory else ""

    def _entries(self, path: str) -> tuple[Entry, ...]:
        if path not in self._read:
            try:
                reading, _ = read_for_index(self.layout, path)
            except OSError:  # gone or unreadable since the last sync: it can tell nothing
                self._read[path] = ()
            else:
                self._read[path] = reading.entries
        return self._read[path]
