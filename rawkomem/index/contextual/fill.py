"""Fills the second tier: contextual vectors, which are better at meaning and a hundred times slower to make.

`sync --deep`, the watcher and a background worker fill it in small transactions, one process at a time. Until nearly
all memories have theirs, questions are answered from the first tier; vectors of the two tiers are never compared.
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

VECTORS = "vectors.db"  # keeps vectors that were made, beside the index
BATCH_MEMORIES = 16  # memories: seconds of work, which is what an interruption costs

Wanted = list[tuple[str, str, "Memory"]]  # id, digest of what the store holds of it, the memory


def deepen(index: Index, progress: Callable[[int, int], None] | None = None, pace: Pace | None = None) -> int:
    """Fill in what is missing; return how many memories. Do nothing while another process does it.

    With a pace, wait without the lock where that says so, so that a person who asks for the vectors need not.
    """
    if pace and not pace.wait(lambda: _touch(index)):
        return 0
    if index.open_deep is None or (embedder := index.open_deep()) is None:
        return 0
    done = 0
    try:
        while True:
            with index.locked("contextual"), Kept(embedder, index.beside(VECTORS) or ":memory:") as kept:
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
    """Show other processes that one is at work."""
    if index.beside(""):
        job = working(index)
        if os.path.exists(job.path):
            os.utime(job.path)


def forget_vectors(index: Index) -> None:
    """Remove the cached vectors: some may be those of a text that must be gone."""
    if kept := index.beside(VECTORS):
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
    """Return some memories without vectors in the second tier, as the files say them now."""
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
    """Store the vectors of those memories that still say what they said when the vectors were made."""
    index.release()
    try:
        with index.locked():
            writer = open_database(index.path)
            try:
                writer.execute("BEGIN IMMEDIATE")  # closing without COMMIT takes it all back
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
    if catalogue.meta().get("deep") != name:  # vectors of another model, or an index made anew meanwhile
        store.flatten()
        catalogue.set_meta("deep", name)
    same = {id: vectors for id, (digest, vectors) in found.items() if catalogue.digest(id) == digest}
    store.deepen(same)
    return len(same)
