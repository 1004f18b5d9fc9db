"""From files to rows: reads changed files, folds the memories they concern, and hands documents to the store."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from ..files.contents import read_bytes
from ..files.read import QUARANTINE, Reading, read_data, read_file
from ..model.entry import Memory
from ..model.kinds import IMPORTANCE
from ..model.record import as_dict
from ..state.fold import fold
from ..text.chunk import chunk
from ..text.redact_entry import redact_entry
from .catalogue import UNREAD
from .documents import BODY, WHEN, Document, Passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..embed.protocol import Embedder
    from ..files.layout import Layout
    from ..model.entry import Entry
    from .catalogue import Catalogue
    from .protocol import SearchStore


class Ingest:
    """One batch of changed and vanished files. Store first, catalogue last; the caller holds the transaction."""

    def __init__(self, layout: Layout, catalogue: Catalogue, store: SearchStore, embedder: Embedder):
        self.layout = layout
        self.catalogue = catalogue
        self.store = store
        self.embedder = embedder
        self.readings: dict[str, Reading] = {}

    def run(self, changed: dict[str, str], gone: Iterable[str]) -> int:
        """Bring the index up to date with these files (path → stamp); returns how many it read or forgot."""
        targets: set[str] = set()
        fresh: list[tuple[Reading, str, str]] = []
        for path, stamp in changed.items():
            reading, digest = self._read(path)
            if not reading.readable:
                self._keep_unread(path)
            else:
                fresh.append((reading, stamp, digest))
                targets |= self.catalogue.targets_of(path) | {entry.target for entry in reading.entries}
        vanished = list(gone)
        for path in vanished:
            targets |= self.catalogue.targets_of(path)
        self._record(fresh, vanished)
        self._refold(targets - {""})
        return len(fresh) + len(vanished)

    def _keep_unread(self, path: str) -> None:
        """What the file said before stays; one that was never read is known to be there."""
        if path in self.catalogue.stamps():
            self.catalogue.set_stamp(path, UNREAD)
        else:
            self.catalogue.put_file(path, UNREAD, "", QUARANTINE, ())

    def _read(self, path: str) -> tuple[Reading, str]:
        """The file's reading and the hash of the very bytes it was made from."""
        try:
            data = read_bytes(self.layout.path(path))
        except OSError:
            return read_file(self.layout.path(path), path), ""
        reading = read_data(data, path)
        self.readings[path] = reading
        return reading, sha256(data).hexdigest()

    def _record(self, fresh: list[tuple[Reading, str, str]], vanished: list[str]) -> None:
        for reading, stamp, digest in fresh:
            self.catalogue.put_file(reading.path, stamp, digest, reading.verdict, reading.entries)
        for path in vanished:
            self.catalogue.forget_file(path)

    def _refold(self, targets: set[str]) -> None:
        documents: list[tuple[Memory, list[tuple[str, str, str, int]]]] = []
        dropped: list[str] = []
        for target in sorted(targets):
            entries, complete = self._entries_about(target)
            if not complete:
                continue  # a file could not be read: what is known stays
            memory = fold(entries)
            if memory is None:
                dropped.append(target)
                self.catalogue.forget_memory(target)
                continue
            self.catalogue.put_memory(memory, json.dumps(as_dict(memory), ensure_ascii=False, sort_keys=True))
            if memory.status == "deleted":
                dropped.append(target)
            else:
                documents.append((memory, passages_of(memory)))
        self.store.drop(dropped)
        self.store.put(self._embedded(documents))

    def _entries_about(self, target: str) -> tuple[list[Entry], bool]:
        entries: list[Entry] = []
        for path in sorted(self.catalogue.paths_about(target)):
            reading = self.readings.get(path) or self._read_again(path)
            if not reading.readable:
                return [], False
            entries += [redact_entry(e) if e.leaks else e for e in reading.entries if e.target == target]
        return entries, True

    def _read_again(self, path: str) -> Reading:
        """A file that the sweep found unchanged. If it did change since, the next sync must not take it for read."""
        reading, digest = self._read(path)
        self.readings[path] = reading
        if digest != self.catalogue.hash_of(path):
            self.catalogue.set_stamp(path, UNREAD)
        return reading

    def _embedded(self, documents: list[tuple[Memory, list[tuple[str, str, str, int]]]]) -> Sequence[Document]:
        texts = [embedded_text(memory, *piece[:3]) for memory, pieces in documents for piece in pieces]
        vectors = iter(self.embedder.embed(texts) if texts else [])
        return [
            document_of(
                memory, [Passage(text, next(vectors), field, heading, line) for text, heading, field, line in pieces]
            )
            for memory, pieces in documents
        ]


def passages_of(memory: Memory) -> list[tuple[str, str, str, int]]:
    """(text, heading, field, line) of each piece: the body's chunks, then each condition; the title where both lack."""
    pieces = [(piece.text, piece.heading, BODY, piece.line) for piece in chunk(memory.body)]
    pieces += [(condition_text(condition), "", WHEN, memory.line) for condition in memory.when]
    return pieces or [(memory.title, "", BODY, 1)]


def condition_text(condition: str) -> str:
    """A condition as words: `auth|log.*in` → `auth log in`."""
    return " ".join("".join(c if c.isalnum() or c in "'-_/." else " " for c in condition.replace(".*", " ")).split())


def embedded_text(memory: Memory, text: str, heading: str, field: str) -> str:
    """What the vector of a passage is made from: a chunk under its title and headings, a condition by itself."""
    if field == WHEN:
        return text
    return "\n".join(part for part in (memory.title, heading if heading != memory.title else "", text) if part)


def document_of(memory: Memory, passages: Iterable[Passage]) -> Document:
    """A memory as the store keeps it."""
    return Document(
        id=memory.id,
        kind=memory.kind,
        status=memory.status,
        title=memory.title,
        importance=IMPORTANCE.index(memory.importance),
        created=memory.created,
        tags=memory.tags,
        by=memory.by,
        passages=tuple(passages),
    )
