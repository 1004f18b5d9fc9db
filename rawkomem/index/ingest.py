"""Turns files into rows: reads changed files, folds their memories, and puts documents into the store."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from ..embed.absent import Absent
from ..files.change_file import is_change_file
from ..files.contents import hash_of
from ..files.read import QUARANTINE, read_file
from ..format.mesh_metadata import OTHER_METADATA_KEY, SCRUBBED_KEY, given_in
from ..model.entry import Entry, Memory
from ..model.ids import order_key
from ..model.record import as_dict
from ..state.facets import facets_of
from ..state.fold import after, fold
from .catalogue import UNREAD
from .claims import drop_claim, put_claim
from .conditions import drop_conditions, put_conditions
from .entry_docs import pack_entry, unpack_entries
from .lists import known_memory, memory_of
from .passages import Piece, pieces_of, vectors_of, with_surroundings
from .stores.documents import Document, Passage
from .tail import Seen, pack_tail, read_for_index, read_grown, unpack_tail
from .told import told_of
from .vouching import Vouching, vouching

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..embed.protocol import Embedder
    from ..files.layout import Layout
    from .ahead import Read
    from .catalogue import Catalogue
    from .stores.protocol import SearchStore

    Fresh = tuple[Memory, list[Piece], str, str]  # a memory, its pieces, the JSON of told.py, the digest of these


class Ingest:
    """Indexes one batch of changed and vanished files; the caller holds the transaction."""

    def __init__(
        self, layout: Layout, catalogue: Catalogue, store: SearchStore, embedder: Embedder, ahead: Read | None = None
    ):
        self.layout = layout
        self.ahead = ahead or {}
        self.catalogue = catalogue
        self.store = store
        self.tells = getattr(store, "tells", False)
        self.embedder = embedder
        self.folded: dict[str, Memory] = {}
        self.new: dict[str, list[str]] = {}  # memory → entries about it that were appended, as JSON

    def run(self, changed: dict[str, str], gone: Iterable[str]) -> int:
        """Update the index from these files (path → stamp); return how many it read or removed."""
        targets: set[str] = set()
        fresh: list[tuple[Seen, str, list[str]]] = []
        for path, stamp in changed.items():
            seen = self._read(path)
            if not seen.reading.readable:
                self._keep_unread(path)
                continue
            docs = [pack_entry(entry) for entry in seen.reading.entries]
            fresh.append((seen, stamp, docs))
            if seen.grown and docs[0] == self.catalogue.entry_doc(path, seen.above):
                self._note_new(seen.reading.entries[1:], docs[1:])
            elif is_change_file(path) and not self.catalogue.hash_of(path):
                self._note_new(seen.reading.entries, docs)
            else:
                targets |= self.catalogue.targets_of(path, seen.above) | {e.target for e in seen.reading.entries}
        vanished = list(gone)
        for path in vanished:
            targets |= self.catalogue.targets_of(path)
        for seen, stamp, docs in fresh:
            facts = (seen.reading.path, stamp, seen.hash, seen.verdict)
            self.catalogue.put_file(*facts, seen.reading.entries, docs, pack_tail(seen.tail), seen.above)
        for path in vanished:
            self.catalogue.forget_file(path)
        for target in targets:
            self.new.pop(target, None)
        self._refold((targets | self.new.keys()) - {""})
        return len(fresh) + len(vanished)

    def _note_new(self, entries: Sequence[Entry], docs: Sequence[str]) -> None:
        """Remember entries that were appended to a file in which nothing else changed."""
        for entry, doc in zip(entries, docs, strict=True):
            self.new.setdefault(entry.target, []).append(doc)

    def _keep_unread(self, path: str) -> None:
        """Mark a file as unread; its old entries stay."""
        if path in self.catalogue.stamps():
            self.catalogue.set_stamp(path, UNREAD)
        else:
            self.catalogue.put_file(path, UNREAD, "", QUARANTINE, ())

    def _read(self, path: str) -> Seen:
        """Return the entries of a file, or only its new end if the file has grown."""
        try:
            return self.ahead.get(path) or self._read_here(path)
        except OSError:
            reading = read_file(self.layout.path(path), path)  # try once more
            hash = hash_of(self.layout.path(path)) if reading.readable else ""
            return Seen(reading, hash, reading.verdict)

    def _read_here(self, path: str) -> Seen:
        tail, hash = self.catalogue.tail_of(path)
        return read_grown(self.layout, path, unpack_tail(tail), hash) if tail else read_for_index(self.layout, path)

    def fold_again(self, targets: set[str]) -> None:
        """Fold these memories again."""
        self._refold(targets - {""})

    def _refold(self, targets: set[str]) -> None:
        """Fold these memories again; store those that differ, and memories in their files with new surroundings."""
        paths = self.catalogue.paths_of(targets)
        vouches = vouching(self.layout, self.catalogue.db)
        dropped: list[str] = []
        for target in sorted(targets):
            memory = self._continued(target, vouches) or self._fold(target, vouches)
            if memory is None:
                self.catalogue.forget_memory(target)
                drop_conditions(self.catalogue.db, target)
                drop_claim(self.catalogue.db, target)
            else:
                put_conditions(self.catalogue.db, target, memory.when)
                put_claim(self.catalogue.db, memory)
                self.catalogue.put_memory(memory, json.dumps(as_dict(memory), ensure_ascii=False, sort_keys=True))
                self.folded[target] = memory
                paths.add(memory.path)
            if memory is None or memory.status == "deleted":
                dropped.append(target)
        self.store.drop(dropped)
        self.store.put(self._embedded([pair for path in sorted(paths) for pair in self._differing(path)]))

    def _fold(self, target: str, vouches: Vouching | None) -> Memory | None:
        return fold(unpack_entries(self.catalogue.entry_docs(target)), vouches)

    def _continued(self, target: str, vouches: Vouching | None) -> Memory | None:
        """Return a known memory with its new entries applied, if all of them are later than the others; else None.

        Return None where people vouch for entries: there a new entry may change the effect of earlier ones.
        """
        new = unpack_entries(self.new.get(target, []))
        known = known_memory(self.catalogue, target) if new and vouches is None else None
        if known is None or known.proposed or not known.vouched:
            return None
        if not all(entry.changes and entry.at > known.updated for entry in new):
            return None
        if not all(self.catalogue.is_single(target, entry.id) for entry in new):
            return None
        return after(known, sorted(new, key=lambda entry: order_key(entry.at, entry.id)))

    def _differing(self, path: str) -> list[Fresh]:
        """Return the memories of a file whose documents differ from those in the store."""
        known = [self.folded.get(id) or memory_of(doc) for id, doc in self.catalogue.memories_in(path)]
        digested = []
        for vouched in (True, False):  # a vouched memory's surroundings hold only vouched memories
            memories = [memory for memory in known if memory.status != "deleted" and memory.vouched == vouched]
            pieces = with_surroundings([pieces_of(memory) for memory in memories])
            pairs = zip(memories, pieces, strict=True)
            told = ((memory, own, told_of(memory) if self.tells else "") for memory, own in pairs)
            digested += [(*known, _digest(*known)) for known in told]
        return [fresh for fresh in digested if self.catalogue.is_new(fresh[0].id, fresh[3])]

    def _embedded(self, documents: list[Fresh]) -> Sequence[Document]:
        if not documents:
            return []
        found = zip(documents, vectors_of(self.embedder, [(memory, own) for memory, own, *_ in documents]), strict=True)
        made = [_document(*fresh, vectors) for fresh, vectors in found]
        if isinstance(self.embedder, Absent):
            for memory, *_ in documents:
                self.catalogue.doubt(memory.id)  # read and embed it again with the next sync
        return made


def _document(memory: Memory, pieces: list[Piece], told: str, digest: str, vectors: list[bytes]) -> Document:
    """Return a memory as the store keeps it."""
    passages = tuple(Passage(vector=vector, **as_dict(p)) for p, vector in zip(pieces, vectors, strict=True))
    return Document(facets_of(memory), memory.title, passages, digest, memory, told)


def _digest(memory: Memory, pieces: list[Piece], told: str) -> str:
    """Return a hash over everything in a document except the vectors."""
    said: tuple[object, ...] = (memory.title, facets_of(memory), [as_dict(piece) for piece in pieces])
    if SCRUBBED_KEY in memory.extra or OTHER_METADATA_KEY in memory.extra:
        said = (*said, sorted(given_in(memory.extra).items()), memory.extra.get(SCRUBBED_KEY))
    if told:
        said = (*said, told)
    return sha256(repr(said).encode()).hexdigest()
