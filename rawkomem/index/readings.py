"""Reads the entries of files: for the index, in a second process if they are many, or of a memory as of a past
time.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NoReturn

from ..files.journal import can_fork
from ..files.layout import Layout, read_bytes
from ..files.reading import Reading, read_data
from ..model.entries import Entry, Memory
from ..redaction.entries import redact_entry
from ..state.fold import FoldTogether, Vouches
from ..text.conditions import Fired, Situation, fires, read_conditions

if TYPE_CHECKING:
    from .catalogue import Catalogue


def read_for_index(layout: Layout, path: str) -> tuple[Reading, str]:
    """Return the entries of a file and the hash of its bytes. May raise OSError."""
    data = read_bytes(layout.path(path))
    return read_data(data, path, advice=False), sha256(data).hexdigest()


# Reads the files of a first sync in a forked process, while this process indexes the batch before:
# the sync takes a third less time.

MIN_FILES_AHEAD = 500  # for fewer files, a second process saves too little
Read = dict[str, tuple[Reading, str]]  # path → its entries and the hash of its bytes


def read_ahead(layout: Layout, batches: Sequence[Sequence[str]]) -> Iterator[Read]:
    """Yield the files of each batch; a file that is missing must be read by the caller."""
    if sum(map(len, batches)) < MIN_FILES_AHEAD or not can_fork() or (os.cpu_count() or 1) < 2:
        yield from ({} for _ in batches)
        return
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        _send_batches(layout, batches, receiver, sender)
    os.close(sender)
    try:
        with open(receiver, "rb") as stream:
            for _ in batches:
                try:
                    read = pickle.load(stream)
                except (EOFError, pickle.UnpicklingError):  # the process was killed
                    read = {}
                yield read
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _send_batches(
    layout: Layout, batches: Sequence[Sequence[str]], receiver: int, sender: int
) -> NoReturn:
    """Read the batches in the forked process, write them to a pipe, and exit."""
    try:
        os.close(receiver)
        with open(sender, "wb") as stream:
            for batch in batches:
                read: Read = {}
                for path in batch:
                    try:
                        read[path] = read_for_index(layout, path)
                    except OSError:
                        continue  # the caller tries again and reports the error
                pickle.dump(read, stream, pickle.HIGHEST_PROTOCOL)
                stream.flush()
    finally:
        os._exit(0)


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
        return self.together().memory(id)

    def together(self) -> FoldTogether:
        """Return what folds memories as of that time; without a time, as of now."""
        return FoldTogether(
            lambda id: [
                entry for entry in self.entries_about(id) if not self.at or entry.at <= self.at
            ],
            self.vouches,
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
