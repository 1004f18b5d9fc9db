"""A change: the entries that one command or call of this machine wrote."""

from __future__ import annotations

from .record import record


@record
class Change:
    """Entries that were written together, each with the id of its memory; for an undo, the change that it undid."""

    name: str  # the id of its first entry
    entries: tuple[tuple[str, str], ...]  # (id of the entry, id of the memory)
    undoes: str = ""  # the name of another change
    purged: str = ""  # the id of a memory whose text was purged; the change of a purge has no entries

    @property
    def ids(self) -> set[str]:
        """Return the ids of the change's entries."""
        return {entry for entry, _ in self.entries}

    @property
    def memories(self) -> tuple[str, ...]:
        """Return the ids of the memories that the entries are about."""
        return tuple(dict.fromkeys(memory for _, memory in self.entries))
