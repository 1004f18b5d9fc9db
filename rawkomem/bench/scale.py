"""`bench scale`: compares search stores on the same memories: time to fill, time of warm searches,
size. With `--keep`, what filling a store cost is recorded, so that a later run only measures
searches.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..embed.static import StaticEmbedder
from ..files.layout import FOLDER, Layout
from ..index.stores.database import MEMORY, SQLITE, StoreSettings, open_store, plugin_names
from ..index.stores.protocol import OutsideStore
from ..index.stores.sqlite import Document, Hit, Passage, pack_all
from ..model.errors import BadInput
from ..model.filters import Facets, Filter
from ..model.values import as_dict, record, replace
from ..repository import Repository
from ..repository.machine import store_size
from .corpus import make_repository, real_texts, short_texts
from .speed import embedder, queries

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Records what filling a store cost, so that a later run of `bench scale --keep` only measures
# searches.

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
POSTGRES_URL = "RAWKOMEM_POSTGRES_URL"


@record
class Fill:
    """The cost of one fill."""

    wall_s: float
    cpu_s: float
    passages: int
    load: float = 0.0  # of the machine in the last minute of the fill


class Fills:
    """The file `fills.json` of a folder: name of the data → store → Fill."""

    def __init__(self, folder: str):
        self._path = os.path.join(folder, "fills.json")
        self._known: dict[str, dict[str, dict[str, float]]] = {}
        if os.path.exists(self._path):
            with open(self._path, encoding="utf-8") as stream:
                self._known = json.load(stream)

    def get(self, what: str, store: str) -> Fill | None:
        """Return the cost of a finished fill; None if there was none."""
        found = self._known.get(what, {}).get(store)
        return Fill(**found) if found else None  # type: ignore[arg-type]

    def add(self, what: str, store: str, fill: Fill) -> None:
        """Record a finished fill."""
        self._known.setdefault(what, {})[store] = {**as_dict(fill), "load": os.getloadavg()[0]}
        with open(f"{self._path}.part", "w", encoding="utf-8") as stream:
            json.dump(self._known, stream, indent=1)
        os.replace(f"{self._path}.part", self._path)


def cpu_s(store: str) -> float:
    """Return the CPU time so far of this process, its children and, if it is on this machine, the store's server."""
    used = os.times()
    own = used.user + used.system + used.children_user + used.children_system
    return own + (_server_cpu_s() if store == "postgres" and os.environ.get(POSTGRES_URL) else 0.0)


def _server_cpu_s() -> float:
    """Return the CPU time of a server on this machine with all its processes, including finished ones."""
    server, total = _server_process(os.environ[POSTGRES_URL]), 0
    for name in filter(str.isdecimal, os.listdir("/proc")) if server else ():
        stat = _process_stat(int(name))
        if int(name) == server:
            total += sum(map(int, stat[11:15]))
        elif stat and int(stat[1]) == server:
            total += sum(map(int, stat[11:13]))
    return total / TICKS_PER_S


@cache
def _server_process(url: str) -> int:
    """Return the process id of the server's main process; 0 if it is on another machine."""
    import psycopg

    with psycopg.connect(url) as connection:
        stat = _process_stat(connection.info.backend_pid)
    return int(stat[1]) if stat else 0


def _process_stat(process: int) -> list[str]:
    """Return the fields of /proc/…/stat of a server's process, from its state on; none for another process."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as stream:
            _, _, told = stream.read().partition("(postgres) ")
    except OSError:
        return []
    return told.split()


# `bench scale`: compares search stores on the same memories: time to fill, time of warm searches,
# size.

T = TypeVar("T")

WARM_UP_SEARCHES = 5  # searches that fill caches and are not timed
SEARCHES = 60
MAX_NEAREST = 100  # hits per question, as in a real search
MIN_SHOWN_FILES = 5_000  # a fill of fewer files shows no progress
EXACT_TOP = 10  # results compared with those of an exact scan
BATCH_VECTORS = 4_999  # vectors put at once; the last batch is smaller, as in a sync


@record
class Scale:
    """The figures of one store."""

    store: str
    memories: int
    passages: int
    fill_s: float
    fill_cpu_s: float  # of this process, its children and a server on this machine
    p50_ms: float
    p95_ms: float
    cpu_ms: float  # CPU time of a search, of the same processes
    mb: float
    load: float  # of the machine in the last minute, when searches were measured: 1 for each busy core
    recall: float = 0.0  # share of the exact top 10 that was found; only for `--vectors`


@contextmanager
def _bench_folder(keep: str) -> Iterator[str]:
    """Yield the folder `keep`, which stays, or a temporary one."""
    if keep:
        os.makedirs(keep, exist_ok=True)
        yield os.path.abspath(keep)
        return
    with tempfile.TemporaryDirectory(prefix="rawkomem-bench-") as folder:
        yield folder


def measure_stores(
    memories: int, stores: Sequence[str], say: Callable[[str], None], keep: str = ""
) -> list[Scale]:
    """Measure all stores on one made-up repository; stores that are already filled in `keep` are not filled again."""
    with _bench_folder(keep) as folder, embedder("static"):
        fills = Fills(folder)
        project = os.path.join(folder, f"memories-{memories}")
        if not fills.get(f"memories-{memories}", "files"):
            say(f"writing {memories} memories of 1 to 4 kB")
            began = time.monotonic()
            os.makedirs(project, exist_ok=True)
            make_repository(project, memories)
            fills.add(f"memories-{memories}", "files", Fill(time.monotonic() - began, 0, memories))
        return [
            _measure_store(project, memories, store, say, fills, bool(keep)) for store in stores
        ]


def _measure_store(
    project: str, memories: int, name: str, say: Callable[[str], None], fills: Fills, kept: bool
) -> Scale:
    repository = Repository.open(project, warn=lambda message: None, store=name)
    try:
        index = repository.core.index
        outside = index.outside()  # opened first: loading packages is not part of indexing
        fill = None if name == MEMORY else fills.get(os.path.basename(project), name)
        if not fill:
            fill = _timed_fill(name, lambda: index.sync(_progress(name, say)))
            fill = replace(fill, passages=len(index.store.vectors(Filter())))
            fills.add(os.path.basename(project), name, fill)
            say(f"{name}: filled in {fill.wall_s:.1f} s, {fill.cpu_s:.1f} s of CPU time")
        texts = queries()
        row, _ = _timed_searches(
            name, memories, fill, lambda n: repository.search(f"{texts[n % len(texts)]} {n}")
        )
        if name != MEMORY:
            row = replace(row, mb=_megabytes(repository.layout, name, outside))
        if outside and not kept:
            _leave_nothing(outside)
    finally:
        repository.close()
    say(f"{name}: p50 {row.p50_ms:.0f} ms, p95 {row.p95_ms:.0f} ms, {row.mb:.0f} MB")
    return row


def _progress(name: str, say: Callable[[str], None]) -> Callable[[int, int], None]:
    """Return a function that reports every tenth of a fill."""
    told = 0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if done * 10 // max(total, 1) > told and total >= MIN_SHOWN_FILES:
            told = done * 10 // total
            say(f"{name}: {done} of {total} files")

    return progress


def _timed_fill(name: str, fill: Callable[[], object], passages: int = 0) -> Fill:
    began, before = time.monotonic(), cpu_s(name)
    fill()
    return Fill(time.monotonic() - began, cpu_s(name) - before, passages)


def _timed_searches(
    name: str, count: int, fill: Fill, ask: Callable[[int], T]
) -> tuple[Scale, list[T]]:
    """Return the figures of a store after many searches, and the results of the searches."""
    times: list[float] = []
    given: list[T] = []
    before = cpu_s(name)
    for number in range(WARM_UP_SEARCHES + SEARCHES):
        began = time.perf_counter()
        given.append(ask(number))
        times.append((time.perf_counter() - began) * 1000)
    cpu_ms = (cpu_s(name) - before) * 1000 / len(given)
    times = sorted(times[WARM_UP_SEARCHES:])
    row = Scale(
        store=name,
        memories=count,
        passages=fill.passages,
        fill_s=fill.wall_s,
        fill_cpu_s=fill.cpu_s,
        p50_ms=times[len(times) // 2],
        p95_ms=times[len(times) * 95 // 100],
        cpu_ms=cpu_ms,
        mb=0.0,
        load=os.getloadavg()[0],
    )
    return row, given


def measure_vectors(
    count: int, name: str, say: Callable[[str], None], file: str = "", keep: str = ""
) -> Scale:
    """Fill one store with vectors of a text file's pieces, or of made-up texts; time searches for the nearest."""
    if name in (SQLITE, MEMORY):
        raise BadInput(
            f"--vectors cannot measure the store {name!r}",
            f"pass --store {' or --store '.join(plugin_names())}",
        )
    with _bench_folder(keep) as folder:
        fills, key = Fills(folder), f"vectors-{count}"
        layout = Layout(os.path.join(folder, key, FOLDER))
        searches = WARM_UP_SEARCHES + SEARCHES
        vectors = _known_vectors(os.path.join(folder, f"{key}.npy"), searches + count, file, say)
        asked, vectors = vectors[:searches], vectors[searches:]
        store = open_store(layout, StoreSettings(name), vectors.shape[1])
        try:
            fill = fills.get(key, name)
            if not fill:
                fill = _timed_fill(name, lambda: _fill(store, vectors, say), count)
                fills.add(key, name, fill)
            row, given = _timed_searches(
                name,
                count,
                fill,
                lambda n: store.nearest(asked[n].tobytes(), MAX_NEAREST, Filter()),
            )
            recall = _vector_recall(vectors, asked, given)
            row = replace(row, mb=_megabytes(layout, name, store), recall=recall)
            if not keep:
                _leave_nothing(store)
        finally:
            store.close()
    say(
        f"{name}: {count} vectors in {fill.wall_s:.0f} s, p50 {row.p50_ms:.1f} ms, p95 {row.p95_ms:.1f} ms, recall {recall:.3f}"
    )
    return row


def _known_vectors(
    path: str, count: int, file: str, say: Callable[[str], None]
) -> NDArray[np.float32]:
    """Return vectors from a mapped file, which is made on first use: vectors and store need not both fit in memory."""
    if not os.path.exists(path):
        say(f"embedding {count} texts")
        with open(f"{path}.part", "wb") as stream:
            np.save(stream, _embedded(count, file))
        os.replace(f"{path}.part", path)
    vectors: NDArray[np.float32] = np.load(path, mmap_mode="r")
    return vectors


def _embedded(count: int, file: str = "") -> NDArray[np.float32]:
    embedder = StaticEmbedder()
    texts = real_texts(file, count) if file else short_texts(count)
    batches = iter(lambda: embedder.embed([*islice(texts, BATCH_VECTORS)]), [])
    return np.concatenate(
        [np.frombuffer(b"".join(batch), dtype="<f4").reshape(len(batch), -1) for batch in batches]
    )


def _megabytes(layout: Layout, name: str, store: OutsideStore | None) -> float:
    return (store_size(layout, name) + (store.served() if store else 0)) / 1e6


def _leave_nothing(store: OutsideStore) -> None:
    """Erase the data on a server; other data is deleted with the temporary folder."""
    store.erase()
    store.commit()


def _fill(store: OutsideStore, vectors: NDArray[np.float32], say: Callable[[str], None]) -> None:
    for start in range(0, len(vectors), BATCH_VECTORS):
        numbered = enumerate(vectors[start : start + BATCH_VECTORS], start)
        passages = ((n, Passage(f"vector {n}", vector.tobytes())) for n, vector in numbered)
        store.put(
            [Document(Facets(f"v{n}"), "", (passage,), digest="1") for n, passage in passages]
        )
        store.commit()
        if start % (20 * BATCH_VECTORS) == 0:
            say(f"{start} vectors")


def _vector_recall(
    vectors: NDArray[np.float32], asked: NDArray[np.float32], given: list[list[Hit]]
) -> float:
    """Return the share of an exact scan's top 10 that was found. The scan compares vectors as stores pack them."""
    best: list[list[tuple[float, int]]] = [[] for _ in asked]
    questions = _packed(asked)
    for start in range(0, len(vectors), BATCH_VECTORS):
        batch = _packed(vectors[start : start + BATCH_VECTORS])
        closeness = 2 * batch @ questions.T - (batch * batch).sum(axis=1, keepdims=True)
        for own, column in zip(best, closeness.T, strict=True):
            own += [(float(column[n]), start + int(n)) for n in np.argsort(-column)[:EXACT_TOP]]
    exact = [{f"v{n}" for _, n in sorted(own, reverse=True)[:EXACT_TOP]} for own in best]
    found = sum(
        len(right & {hit.id for hit in hits[:EXACT_TOP]})
        for right, hits in zip(exact, given, strict=True)
    )
    return found / sum(map(len, exact))


def _packed(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    fine = b"".join(fine for fine, _ in pack_all([vector.tobytes() for vector in vectors]))
    return np.frombuffer(fine, dtype=np.int8).reshape(vectors.shape).astype(np.float32)
