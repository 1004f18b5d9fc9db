"""Fills the second tier: contextual vectors, which match meaning better and take a hundred times longer to compute.

`sync --deep`, the watcher and a background worker fill it in small transactions, one process at a time. Until nearly
all memories have contextual vectors, questions are answered from the first tier. Vectors of the two tiers are never
compared with each other.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ...model.errors import Busy, Unwritable
from ..catalogue import Catalogue
from ..index import Index
from ..lists import memory_of
from ..passages import pieces_of, vectors_of
from ..status import SECONDS_EACH
from ..stores.database import BROKEN, open_database, remove_database
from .cache import Kept
from .worker import working

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...embed.protocol import Embedder
    from ...model.entry import Memory
    from ..stores.protocol import SearchStore
    from .pace import Pace

CACHE_NAME = "vectors.db"  # the cache of computed vectors, in the folder of the index
BATCH_MEMORIES = 16  # a few seconds of work: an interruption loses at most one batch

Wanted = list[tuple[str, str, "Memory"]]  # id, digest of its document in the store, the memory


def deepen(index: Index, progress: Callable[[int, int], None] | None = None, pace: Pace | None = None) -> int:
    """Compute missing contextual vectors; return for how many memories. Do nothing while another process does so.

    With a pace, release the lock while the pace says to wait, so that a person's `sync --deep` can run meanwhile.
    """
    if pace and not pace.wait(lambda: _touch(index)):
        return 0
    if index.open_deep is None or (embedder := index.open_deep()) is None:
        return 0
    done = 0
    try:
        while True:
            with index.locked("contextual"), Kept(embedder, index.beside(CACHE_NAME) or ":memory:") as kept:
                filling = _fill(index, kept, progress)
                done += sum(_until_busy(filling, pace) if pace else filling)
            index.release()
            held, count = index.store.depth()
            if pace is None or held == count or not pace.wait(lambda: _touch(index)):
                return done
    except Busy:
        return done
    finally:
        index.release()


def _until_busy(filling: Iterator[int], pace: Pace) -> Iterator[int]:
    for written in filling:
        yield written
        if pace.why_wait():
            break


def _touch(index: Index) -> None:
    """Update the time of the lock's file, which tells other processes that this one works."""
    if index.beside(""):
        job = working(index)
        if os.path.exists(job.path):
            os.utime(job.path)


def forget_vectors(index: Index) -> None:
    """Delete the cache of vectors, because it may hold vectors of a text that must be removed."""
    if kept := index.beside(CACHE_NAME):
        with index.locked("contextual-purge"):
            remove_database(kept)


def _fill(index: Index, embedder: Embedder, progress: Callable[[int, int], None] | None) -> Iterator[int]:
    index.refresh()
    _write(index, embedder.name, {})
    held, count = index.store.depth()
    done, total = 0, count - held
    while wanted := _wanted(index):
        _touch(index)
        started = time.monotonic()
        vectors = vectors_of(embedder, [(memory, pieces_of(memory)) for _, _, memory in wanted])
        found = {id: (digest, own) for (id, digest, _), own in zip(wanted, vectors, strict=True)}
        written = _write(index, embedder.name, found, (time.monotonic() - started) / len(wanted))
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


def _write(index: Index, name: str, found: dict[str, tuple[str, list[bytes]]], seconds_each: float = 0.0) -> int:
    """Store vectors, except of memories that have changed since; return how many memories. May raise Unwritable."""
    index.release()
    try:
        with index.locked():
            writer = open_database(index.path)
            try:
                writer.execute("BEGIN IMMEDIATE")  # closing without COMMIT rolls back
                count = _put(Catalogue(writer), index.open_store(writer), name, found)
                if seconds_each:
                    Catalogue(writer).set_meta(SECONDS_EACH, f"{seconds_each:.4f}")
                index.commit_outside()
                writer.execute("COMMIT")
                return count
            finally:
                writer.close()
    except BROKEN as failure:
        raise Unwritable(f"cannot write {index.path}: {failure}", "run 'rawkomem doctor'") from None


def _put(catalogue: Catalogue, store: SearchStore, name: str, found: dict[str, tuple[str, list[bytes]]]) -> int:
    if catalogue.meta().get("deep") != name:  # vectors of another model, or the index was rebuilt
        store.flatten()
        catalogue.set_meta("deep", name)
    same = {id: vectors for id, (digest, vectors) in found.items() if catalogue.digest(id) == digest}
    store.deepen(same)
    return len(same)
