"""`bench scale`: search stores side by side, on the same memories: time to fill them, warm searches, size."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING

import numpy as np

from ..files.layout import FOLDER, Layout
from ..index.documents import Document, Filter, Passage
from ..index.stores import MEMORY, SQLITE, StoreSettings, open_store
from ..model.errors import BadInput
from ..model.record import record
from ..repository import Repository
from ..stores import store_size
from .corpus import make_repository
from .speed import embedder, queries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ..index.protocol import OutsideStore

WARM_UP = 5  # searches before the clock counts: caches fill
SEARCHES = 60
NEAREST = 100  # as many as a search asks for
TRUTH = 10  # of which so many are compared with an exact scan
DIMS = 384
BATCH = 5_000  # vectors put in one go


@record
class Scale:
    """The figures of one store."""

    store: str
    memories: int
    passages: int
    index_s: float
    p50_ms: float
    p95_ms: float
    mb: float
    recall: float = 0.0  # of the exact top 10, where vectors alone were measured


def measure_stores(memories: int, stores: Sequence[str], say: Callable[[str], None]) -> list[Scale]:
    """All stores on one made-up repository."""
    with tempfile.TemporaryDirectory(prefix="rawkomem-bench-") as project:
        say(f"writing {memories} memories of 4 kB")
        make_repository(project, memories)
        with embedder("static"):
            return [_measure(project, memories, store, say) for store in stores]


def _measure(project: str, memories: int, name: str, say: Callable[[str], None]) -> Scale:
    repository = Repository.open(project, warn=lambda message: None, store=name)
    try:
        repository.index.outside()  # opening loads packages, which is no part of indexing
        report = repository.index.sync()
        passages = len(repository.index.store.vectors(Filter()))
        texts = queries()
        p50, p95, _ = _times(lambda n: repository.search(f"{texts[n % len(texts)]} {n}"))
        megabytes = 0.0 if name == MEMORY else store_size(repository.layout, name) / 1e6
    finally:
        repository.close()
    say(f"{name}: {report.seconds:.1f} s, p50 {p50:.0f} ms, p95 {p95:.0f} ms, {megabytes:.0f} MB")
    return Scale(name, memories, passages, report.seconds, p50, p95, megabytes)


def _times(ask: Callable[[int], object]) -> tuple[float, float, list[object]]:
    """Median and 95th percentile in milliseconds of many calls, and what they gave."""
    times: list[float] = []
    given: list[object] = []
    for number in range(WARM_UP + SEARCHES):
        began = time.perf_counter()
        given.append(ask(number))
        times.append((time.perf_counter() - began) * 1000)
    times = sorted(times[WARM_UP:])
    return times[len(times) // 2], times[len(times) * 95 // 100], given


def measure_vectors(count: int, name: str, say: Callable[[str], None]) -> Scale:
    """So many random vectors in one store. Random ones are the hardest to tell apart: all are nearly equally far."""
    if name == SQLITE:
        raise BadInput("--vectors fills stores outside of the index's database", "--store lancedb, postgres or memory")
    with tempfile.TemporaryDirectory(prefix="rawkomem-bench-") as project:
        layout = Layout(os.path.join(project, FOLDER))
        store = open_store(layout, StoreSettings(name), DIMS)
        try:
            chance = np.random.default_rng(7)
            vectors = chance.standard_normal((count, DIMS), dtype=np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            asked = vectors[:: max(1, count // 100)][: WARM_UP + SEARCHES] + chance.standard_normal((1, DIMS)) / 20
            asked = (asked / np.linalg.norm(asked, axis=1, keepdims=True)).astype(np.float32)
            began = time.monotonic()
            _fill(store, vectors, say)
            seconds = time.monotonic() - began
            p50, p95, given = _times(lambda n: store.nearest(asked[n % len(asked)].tobytes(), NEAREST, Filter()))
            recall = _recall(vectors, asked, given)
            megabytes = 0.0 if name == MEMORY else store_size(layout, name) / 1e6
        finally:
            store.close()
    say(f"{name}: {count} vectors in {seconds:.0f} s, p50 {p50:.1f} ms, p95 {p95:.1f} ms, recall {recall:.3f}")
    return Scale(name, count, count, seconds, p50, p95, megabytes, recall)


def _fill(store: OutsideStore, vectors: NDArray[np.float32], say: Callable[[str], None]) -> None:
    for start in range(0, len(vectors), BATCH):
        store.put([_document(n, vectors[n]) for n in range(start, min(start + BATCH, len(vectors)))])
        store.commit()
        if start % (20 * BATCH) == 0:
            say(f"{start} vectors")


def _document(number: int, vector: NDArray[np.float32]) -> Document:
    passage = Passage(f"vector {number}", vector.tobytes())
    return Document(f"v{number}", "memory", "active", "", 1, 0, (), "", (passage,), digest="1")


def _recall(vectors: NDArray[np.float32], asked: NDArray[np.float32], given: list[object]) -> float:
    """How much of the exact top 10 was found."""
    found = 0
    for question, hits in zip(asked[:TRUTH], given, strict=False):
        exact = np.argsort(-(vectors @ question))[:TRUTH]
        found += len({f"v{n}" for n in exact} & {hit.id for hit in hits[:TRUTH]})  # type: ignore[index]
    return found / (TRUTH * min(TRUTH, len(asked)))
