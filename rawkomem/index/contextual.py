"""Fills the second tier: contextual vectors, which match meaning better and take a hundred times
longer to compute.

`sync --deep` and a background worker fill it in small transactions, one process at a time, and cache each
vector by the hash of its text for all repositories of the user. Until nearly all memories have contextual vectors, questions are answered from the first
tier. Vectors of the two tiers are never compared with each other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256

import apsw
import numpy as np

from ..embed.embedder import Embedder
from ..embed.static import is_embeddable
from ..files.layout import user_cache
from ..files.private import make_private_folder
from ..model.entries import Memory
from ..model.errors import Busy, Unwritable
from .catalogue import Catalogue, memory_of
from .index import Index
from .ingest import pieces_of, vectors_of
from .status import SECONDS_EACH, why_wait
from .stores.database import (
    BROKEN,
    check_database,
    open_database,
    remove_database,
)
from .stores.sqlite import SCALE, pack_all

# Caches contextual vectors by the hash of their text, in one file for all repositories of the user:
# another clone or a rebuild reuses them. It holds no text. Vectors are int8, as in the store.

CACHE_NAME = "vectors.db"  # in the user's cache folder
MAX_VECTORS = 200_000  # about 90 MB; beyond it the oldest vectors are deleted
# for another process that writes; after that the vectors are computed
CACHE_WAIT_MS = 2_000


class VectorCache:
    """Wraps an embedder with a cache file, which several processes may use. Errors of the file are ignored."""

    def __init__(self, inner: Embedder, path: str):
        self.name = inner.name
        self.dims = inner.dims
        self.inner = inner
        self._db = _open_cache(path)

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, in int8 precision; call the wrapped embedder for those not in the cache."""
        keys = {
            text: sha256(
                f"{self.name}\0{text}".encode("utf-8", "surrogatepass")
            ).digest()[:16]
            for text in texts
        }
        known = {
            text: vector
            for text, key in keys.items()
            if is_embeddable(text) and (vector := self._find(key))
        }
        missing = [text for text in keys if text not in known]
        packed = [fine for fine, _ in pack_all(self.inner.embed(missing))]
        made = dict(zip(missing, packed, strict=True))
        new = [(keys[text], vector) for text, vector in made.items()]
        with suppress(apsw.Error), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", new
            )
        kept = {**known, **made}
        return [
            (np.frombuffer(kept[text], np.int8) / SCALE).astype("<f4").tobytes()
            for text in texts
        ]

    def _find(self, key: bytes) -> bytes:
        with suppress(apsw.Error):
            row = self._db.execute(
                "SELECT vector FROM vectors WHERE key = ?", (key,)
            ).fetchone()
            if row and len(row[0]) == self.dims:
                return bytes(row[0])
        return b""


def _open_cache(path: str) -> apsw.Connection:
    """Open the cache, or a cache in memory if there is no path or the file cannot be used; delete a corrupt file."""
    with suppress(apsw.Error, OSError):
        if path:
            try:
                make_private_folder(os.path.dirname(path))
                check_database(path, make=True)
                return _prepared(path)
            except (apsw.CorruptError, apsw.NotADBError):
                remove_database(path)  # the next process makes a new one
    return _prepared(":memory:")


def _prepared(path: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    connection.set_busy_timeout(CACHE_WAIT_MS)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS vectors (n INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB)"
    )
    newest = "SELECT max(n) FROM vectors"
    connection.execute(f"DELETE FROM vectors WHERE n <= ({newest}) - ?", (MAX_VECTORS,))
    return connection


def forget_vectors() -> None:
    """Delete all cached vectors, because one may belong to a text that must be removed. May raise OSError."""
    path = os.path.join(user_cache(), CACHE_NAME)
    if not os.path.exists(path):
        return
    try:
        check_database(path, make=False)
        connection = _prepared(path)
        list(
            connection.execute("PRAGMA secure_delete = ON; DELETE FROM vectors; VACUUM")
        )
        connection.close()
    except apsw.Error:  # not usable: nobody needs its content
        remove_database(path)


# after this time a background process exits; the next recall starts a new one
MAX_WORK_S = 600.0
TICK_S = 5.0  # time between two checks of the load
BATCH_MEMORIES = 16  # a few seconds of work: an interruption loses at most one batch

# id, digest of its document in the store, the memory
Wanted = list[tuple[str, str, "Memory"]]


def deepen(
    index: Index,
    progress: Callable[[int, int], None] | None = None,
    waits: bool = False,
) -> int:
    """Compute missing contextual vectors; return for how many memories. Do nothing while another process does so.

    With `waits`, wait while the machine is busy, without the lock, so that a person's `sync --deep` can run meanwhile;
    return after MAX_WORK_S, or when somebody deletes the index.
    """
    ends = time.monotonic() + MAX_WORK_S
    if waits and not _wait(index, ends):
        return 0
    if (embedder := index.open_deep()) is None:
        return 0
    path = os.path.join(user_cache(), CACHE_NAME) if index.beside("") else ""
    done = 0
    try:
        while True:
            with index.locked("contextual"), VectorCache(embedder, path) as kept:
                for written in _fill(index, kept, progress):
                    done += written
                    if waits and (why_wait(worked=True) or _is_over(index, ends)):
                        break
            index.release()
            if not waits or _is_over(index, ends):
                return done
            held, count = index.store.depth()
            if held == count or not _wait(index, ends):
                return done
    except Busy:
        return done
    finally:
        index.release()


def _wait(index: Index, ends: float) -> bool:
    """Wait until the machine is not busy; return False if the work is over before."""
    while not (is_over := _is_over(index, ends)) and why_wait():
        index.close_outside()
        time.sleep(TICK_S)
    return not is_over


def _is_over(index: Index, ends: float) -> bool:
    """Return whether a background process must exit: its time is over, or somebody deleted the index."""
    return time.monotonic() >= ends or not os.path.exists(index.path)


def _fill(
    index: Index, embedder: Embedder, progress: Callable[[int, int], None] | None
) -> Iterator[int]:
    index.refresh()
    _write_vectors(index, embedder.name, {})
    held, count = index.store.depth()
    done = 0
    total = count - held
    while wanted := _wanted(index):
        started = time.monotonic()
        vectors = vectors_of(
            embedder, [(memory, pieces_of(memory)) for _, _, memory in wanted]
        )
        found = {
            id: (digest, own)
            for (id, digest, _), own in zip(wanted, vectors, strict=True)
        }
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
    index: Index,
    name: str,
    found: dict[str, tuple[str, list[bytes]]],
    seconds_each: float = 0.0,
) -> int:
    """Store vectors, except of memories that have changed since; return how many memories. May raise Unwritable."""
    index.release()
    if index.beside("") and not os.path.exists(index.path):
        return 0  # somebody deleted the index: do not make its folder again
    try:
        with index.locked():
            writer = open_database(index.path)
            try:
                writer.execute("BEGIN IMMEDIATE")  # closing without COMMIT rolls back
                index.require_store()
                catalogue = Catalogue(writer)
                store = index.open_store(writer)
                # of another model, or a new index
                if catalogue.meta().get("deep") != name:
                    store.flatten()
                    catalogue.set_meta("deep", name)
                same = {
                    id: own
                    for id, (digest, own) in found.items()
                    if catalogue.digest(id) == digest
                }
                store.deepen(same)
                if seconds_each:
                    catalogue.set_meta(SECONDS_EACH, f"{seconds_each:.4f}")
                index.commit_outside()
                writer.execute("COMMIT")
                return len(same)
            finally:
                writer.close()
    except BROKEN as failure:
        raise Unwritable(
            f"cannot write {index.path}: {failure}", "run 'rawkomem doctor'"
        ) from None
