"""Reads the entries of files: as rows of the catalogue, in a second process if they are many, or of a memory as of a
past time.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NoReturn

from ..files.journal import can_fork
from ..files.layout import Layout, hash_of_file, read_bytes
from ..files.reading import read_data, read_file
from ..model.entries import Entry, Memory
from ..model.values import record, unchecked
from ..redaction.entries import redact_entry
from ..state.changes import newer_in
from ..state.contradictions import prose_of, statement_keys
from ..state.fold import FoldTogether, Vouches
from ..text.conditions import Fired, Situation, fires, read_conditions

if TYPE_CHECKING:
    from .catalogue import Catalogue, Statements


ENTRY_DEFAULTS: dict[str, object] = Entry.__defaults__  # type: ignore[attr-defined]
ENTRY_TUPLES = frozenset(
    name for name, value in ENTRY_DEFAULTS.items() if isinstance(value, tuple)
)  # JSON has lists only


@record
class FileRows:
    """What the catalogue stores of a file; of each entry: id, target, digest, `newer`, and the entry as JSON."""

    hash: str
    verdict: str
    entries: tuple[tuple[str, str, str, str, str], ...]
    statements: Statements  # see `put_claim`; empty unless asked for


def read_rows(
    layout: Layout, path: str, with_statements: bool = False
) -> FileRows | None:
    """Return what the catalogue stores of a file; None if the file cannot be read."""
    try:
        data = read_bytes(layout.path(path))
        reading, hash = read_data(data, path, advice=False), sha256(data).hexdigest()
    except OSError:
        reading = read_file(layout.path(path), path)  # try once more
        hash = hash_of_file(layout.path(path)) if reading.readable else ""
    if not reading.readable:
        return None
    rows = []
    statements: Statements = {}
    for entry in reading.entries:
        kept = redact_entry(entry) if entry.leaks else entry
        rows.append(
            (entry.id, entry.target, entry.digest, newer_in(entry), pack_entry(kept))
        )
        if with_statements:
            prose = prose_of(
                unchecked(Memory, id=entry.id, title=kept.title, body=kept.body)
            )
            statements[kept.title, kept.body] = statement_keys(prose)
    return FileRows(hash, reading.verdict, tuple(rows), statements)


def pack_entry(entry: Entry) -> str:
    """Return an entry as JSON, without fields that have their default."""
    fields = {
        name: value
        for name, usual in ENTRY_DEFAULTS.items()
        if (value := getattr(entry, name)) != usual
    }
    return json.dumps(fields, separators=(",", ":"))


def unpack_entries(docs: Iterable[str]) -> list[Entry]:
    """Return the entries of `pack_entry`."""
    entries = []
    for fields in json.loads(f"[{','.join(docs)}]"):
        for name in ENTRY_TUPLES & fields.keys():
            fields[name] = tuple(fields[name])
        entries.append(unchecked(Entry, **fields))
    return entries


# Reads the files of a first sync in a forked process, while this process indexes the batch before:
# the sync takes a third less time.

MIN_FILES_AHEAD = 500  # for fewer files, a second process saves too little
Read = dict[str, FileRows]


def read_ahead(layout: Layout, batches: Sequence[Sequence[str]]) -> Iterator[Read]:
    """Yield the files of each batch; a file that is missing must be read by the caller."""
    if (
        sum(map(len, batches)) < MIN_FILES_AHEAD
        or not can_fork()
        or (os.cpu_count() or 1) < 2
    ):
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
                read = {
                    path: rows
                    for path in batch
                    if (rows := read_rows(layout, path, True))
                }
                pickle.dump(read, stream, pickle.HIGHEST_PROTOCOL)
                stream.flush()
    finally:
        os._exit(0)


# Reads memories as of a past time, by folding the entries in their files up to that time.


class Past:
    """One moment of the past. Each file is read again once, because the index holds only the current state."""

    def __init__(
        self,
        layout: Layout,
        catalogue: Catalogue,
        at: int,
        vouches: Vouches | None = None,
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
                entry
                for entry in self.entries_about(id)
                if not self.at or entry.at <= self.at
            ],
            self.vouches,
        )

    def entries_about(self, id: str) -> list[Entry]:
        """Return every entry about a memory, of any time, without secrets."""
        paths = sorted(self.catalogue.paths_about(id))
        entries = [
            entry
            for path in paths
            for entry in self._entries(path)
            if entry.target == id
        ]
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
                data = read_bytes(self.layout.path(path))
                self._read[path] = read_data(data, path, advice=False).entries
            except OSError:  # gone or unreadable since the last sync
                self._read[path] = ()
        return self._read[path]
