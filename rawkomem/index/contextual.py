"""Fills the second tier: contextual vectors, which match meaning better and take a hundred times
longer to compute.

`sync --deep`, the watcher and a background worker fill it in small transactions, one process at a time, and cache each
vector by the hash of its text. Until nearly all memories have contextual vectors, questions are answered from the first
tier. Vectors of the two tiers are never compared with each other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

import apsw
import numpy as np

from ..embed.embedder import Embedder
from ..embed.static import is_embeddable
from ..files.private import make_private_folder
from ..model.entries import Memory
from ..model.errors import Busy, Unwritable
from .catalogue import Catalogue, memory_of
from .index import Index, worker_lock
from .ingest import pieces_of, vectors_of
from .status import SECONDS_EACH, why_wait
from .stores.database import BROKEN, check_database, first, open_database, remove_database
from .stores.protocol import SearchStore
from .stores.sqlite import SCALE, pack_all

# Caches contextual vectors by the hash of their text, so that a rebuild reuses them; int8, as in
# the store.

MAX_VECTORS = 400_000  # about 170 MB; beyond it the oldest vectors are deleted


class VectorCache:
    """Wraps an embedder with a cache file, which only one process may use at a time."""

    def __init__(self, inner: Embedder, path: str):
        self.name = inner.name
        self.dims = inner.dims
        self.inner = inner
        self.path = path
        self._db = self._open()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def _open(self) -> apsw.Connection:
        if self.path != ":memory:":
            make_private_folder(os.path.dirname(self.path))
        try:
            return self._connect()
        except apsw.Error:  # foreign or corrupt: its vectors can be computed again
            remove_database(self.path)
            return self._connect()

    def _connect(self) -> apsw.Connection:
        if self.path != ":memory:":
            check_database(self.path, make=True)
        connection = apsw.Connection(self.path)
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (n INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB)"
        )
        too_many = "SELECT n FROM vectors ORDER BY n DESC LIMIT 1 OFFSET ?"
        connection.execute(f"DELETE FROM vectors WHERE n <= ({too_many})", (MAX_VECTORS,))
        return connection

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, in int8 precision; call the wrapped embedder for those not in the cache."""
        keys = {
            text: sha256(f"{self.name}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]
            for text in texts
        }
        known = {
            text: row[0]
            for text, key in keys.items()
            if is_embeddable(text) and (row := self._find(key))
        }
        missing = [text for text in keys if text not in known]
        packed = [fine for fine, _ in pack_all(self.inner.embed(missing))]
        made = dict(zip(missing, packed, strict=True))
        with self._db:
            rows = [(keys[text], vector) for text, vector in made.items()]
            self._db.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
        kept = {**known, **made}
        return [
            (np.frombuffer(kept[text], np.int8) / SCALE).astype("<f4").tobytes() for text in texts
        ]

    def _find(self, key: bytes) -> tuple[bytes] | None:
        row = first(self._db, "SELECT vector FROM vectors WHERE key = ?", (key,))
        return row if row and len(row[0]) == self.dims else None


# Fills the second tier: contextual vectors, which match meaning better and take a hundred times
# longer to compute.
#
# `sync --deep`, the watcher and a background worker fill it in small transactions, one process at
# a time. Until nearly all memories have contextual vectors, questions are answered from the first
# tier. Vectors of the two tiers are never compared with each other.

CACHE_NAME = "vectors.db"  # the cache of computed vectors, in the folder of the index
MAX_WAIT_S = 600.0  # after this wait the process exits; the next recall starts a new one
TICK_S = 5.0  # time between two checks of the load
BATCH_MEMORIES = 16  # a few seconds of work: an interruption loses at most one batch

Wanted = list[tuple[str, str, "Memory"]]  # id, digest of its document in the store, the memory


def deepen(
    index: Index, progress: Callable[[int, int], None] | None = None, waits: bool = False
) -> int:
    """Compute missing contextual vectors; return for how many memories. Do nothing while another process does so.

    With `waits`, wait while the machine is busy, without the lock, so that a person's `sync --deep` can run meanwhile.
    """
    if waits and not _wait(index):
        return 0
    if index.open_deep is None or (embedder := index.open_deep()) is None:
        return 0
    done = 0
    try:
        while True:
            with (
                index.locked("contextual"),
                VectorCache(embedder, index.beside(CACHE_NAME) or ":memory:") as kept,
            ):
                for written in _fill(index, kept, progress):
                    done += written
                    if waits and why_wait(worked=True):
                        break
            index.release()
            held, count = index.store.depth()
            if not waits or held == count or not _wait(index):
                return done
    except Busy:
        return done
    finally:
        index.release()


def _wait(index: Index) -> bool:
    """Wait until the machine is not busy; return False after MAX_WAIT_S."""
    until = time.monotonic() + MAX_WAIT_S
    while why_wait():
        if time.monotonic() >= until:
            return False
        _touch_lock(index)
        time.sleep(TICK_S)
    return True


def _touch_lock(index: Index) -> None:
    """Update the time of the lock's file, which tells other processes that this one works."""
    if index.beside(""):
        job = worker_lock(index)
        if os.path.exists(job.path):
            os.utime(job.path)


def forget_vectors(index: Index) -> None:
    """Delete the cache of vectors, because it may hold vectors of a text that must be removed."""
    if kept := index.beside(CACHE_NAME):
        with index.locked("contextual-purge"):
            remove_database(kept)


def _fill(
    index: Index, embedder: Embedder, progress: Callable[[int, int], None] | None
) -> Iterator[int]:
    index.refresh()
    _write_vectors(index, embedder.name, {})
    held, count = index.store.depth()
    done, total = 0, count - held
    while wanted := _wanted(index):
        _touch_lock(index)
        started = time.monotonic()
        vectors = vectors_of(embedder, [(memory, pieces_of(memory)) for _, _, memory in wanted])
        found = {id: (digest, own) for (id, digest, _), own in zip(wanted, vectors, strict=True)}
        written = _write_vectors(
            index, embedder.name, found, (time.monotonic() - started) / len(wanted)
        )
        done += written
        if progress:
            progress(min(done, total), total)
        yield written


def _wanted(index: Index) -> Wanted:
    """Update the index; return a batch of memories without contextual vectors."""
    index.refresh()
    database = index.reading()
    database.execute("BEGIN")
    try:
        catalogue = index.catalogue
        ids = index.store.shallow(BATCH_MEMORIES)
        return [(id, catalogue.digest(id), memory_of(catalogue.doc(id))) for id in ids]
    finally:
        database.execute("ROLLBACK")


def _write_vectors(
    index: Index, name: str, found: dict[str, tuple[str, list[bytes]]], seconds_each: float = 0.0
) -> int:
    """Store vectors, except of memories that have changed since; return how many memories. May raise Unwritable."""
    index.release()
    try:
        with index.locked():
            writer = open_database(index.path)
            try:
                writer.execute("BEGIN IMMEDIATE")  # closing without COMMIT rolls back
                count = _put_vectors(Catalogue(writer), index.open_store(writer), name, found)
                if seconds_each:
                    Catalogue(writer).set_meta(SECONDS_EACH, f"{seconds_each:.4f}")
                index.commit_outside()
                writer.execute("COMMIT")
                return count
            finally:
                writer.close()
    except BROKEN as failure:
        raise Unwritable(f"cannot write {index.path}: {failure}", "run 'rawkomem doctor'") from None


def _put_vectors(
    catalogue: Catalogue, store: SearchStore, name: str, found: dict[str, tuple[str, list[bytes]]]
) -> int:
    if catalogue.meta().get("deep") != name:  # vectors of another model, or the index was rebuilt
        store.flatten()
        catalogue.set_meta("deep", name)
    same = {
        id: vectors for id, (digest, vectors) in found.items() if catalogue.digest(id) == digest
    }
    store.deepen(same)
    return len(same)
