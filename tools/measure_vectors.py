"""Measure one million vectors in a search store: time to fill it, time of searches for the nearest, recall.

    python tools/measure_vectors.py lancedb 1000000 --texts FILE --keep FOLDER

The texts are overlapping pieces of 24 words of a text file, or made-up ones. Those are all about equally far from each
other, unlike real texts, so bits distinguish them badly. --keep keeps the vectors and the filled store for the next run.
"""

from __future__ import annotations

import argparse
import lzma
import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import accumulate, islice

import numpy as np
from numpy.typing import NDArray

from rawkomem.bench.speed import SEED, MadeProse
from rawkomem.embed.static import StaticEmbedder
from rawkomem.files.layout import FOLDER, Layout
from rawkomem.index.stores.database import StoreSettings, open_store
from rawkomem.index.stores.protocol import OutsideStore
from rawkomem.index.stores.sqlite import Document, Hit, Passage, pack_all
from rawkomem.model.filters import Facets, Filter
from rawkomem.repository.machine import store_size

PIECE_WORDS = 24  # words in a piece of a real text
SHORT_SUBJECTS, SHORT_SUBJECT_WORDS = 2_000, 300  # of made-up texts
WARM_UP_SEARCHES, SEARCHES = 5, 60
MAX_NEAREST = 100  # hits per question, as in a real search
EXACT_TOP = 10  # results compared with those of an exact scan
BATCH_VECTORS = 4_999  # vectors put at once; the last batch is smaller, as in a sync

Vectors = NDArray[np.float32]


def main() -> None:
    """Measure a store and print its figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store")
    parser.add_argument("count", type=int)
    parser.add_argument("--texts", default="")
    parser.add_argument("--keep", default="")
    given = parser.parse_args()
    if given.keep:
        os.makedirs(given.keep, exist_ok=True)
    with (
        nullcontext(given.keep)
        if given.keep
        else tempfile.TemporaryDirectory() as folder
    ):
        print(
            measure(
                os.path.abspath(folder),
                given.store,
                given.count,
                given.texts,
                bool(given.keep),
            )
        )


def measure(
    folder: str, name: str, count: int, texts: str = "", keep: bool = False
) -> str:
    """Fill a store unless a kept one is there, and time searches; return the figures as a line."""
    searches = WARM_UP_SEARCHES + SEARCHES
    vectors = _known_vectors(
        os.path.join(folder, f"vectors-{count}.npy"), searches + count, texts
    )
    asked, vectors = vectors[:searches], vectors[searches:]
    layout = Layout(os.path.join(folder, f"vectors-{count}", FOLDER))
    store = open_store(layout, StoreSettings(name), vectors.shape[1])
    marker = os.path.join(folder, f"vectors-{count}-{name}.filled")
    try:
        began = time.monotonic()
        if not os.path.exists(marker):
            _fill(store, vectors)
            open(marker, "w").close()
        fill_s, times, hits = time.monotonic() - began, list[float](), list[list[Hit]]()
        for vector in asked:
            began = time.perf_counter()
            hits.append(store.nearest(vector.tobytes(), MAX_NEAREST, Filter()))
            times.append((time.perf_counter() - began) * 1000)
        times = sorted(times[WARM_UP_SEARCHES:])
        megabytes = (store_size(layout, name) + store.served()) / 1e6
        recall = _recall(vectors, asked, hits)
        if not keep:
            store.erase()
            store.commit()
    finally:
        store.close()
    middle, high = times[len(times) // 2], times[len(times) * 95 // 100]
    return (
        f"{name}: {count} vectors in {fill_s:.0f} s, p50 {middle:.1f} ms, p95 {high:.1f} ms, {megabytes:.0f} MB,"
        f" recall {recall:.3f}"
    )


def _known_vectors(path: str, count: int, file: str) -> Vectors:
    """Return vectors from a mapped file, which is made on first use: vectors and store need not both fit in memory."""
    if not os.path.exists(path):
        with open(f"{path}.part", "wb") as stream:
            np.save(stream, _embedded(count, file))
        os.replace(f"{path}.part", path)
    vectors: Vectors = np.load(path, mmap_mode="r")
    return vectors


def _embedded(count: int, file: str = "") -> Vectors:
    embedder = StaticEmbedder()
    texts = real_texts(file, count) if file else short_texts(count)
    batches = iter(lambda: embedder.embed([*islice(texts, BATCH_VECTORS)]), [])
    return np.concatenate(
        [
            np.frombuffer(b"".join(batch), dtype="<f4").reshape(len(batch), -1)
            for batch in batches
        ]
    )


def _fill(store: OutsideStore, vectors: Vectors) -> None:
    for start in range(0, len(vectors), BATCH_VECTORS):
        numbered = enumerate(vectors[start : start + BATCH_VECTORS], start)
        passages = (
            (n, Passage(f"vector {n}", vector.tobytes())) for n, vector in numbered
        )
        store.put(
            [
                Document(Facets(f"v{n}"), "", (passage,), digest="1")
                for n, passage in passages
            ]
        )
        store.commit()


def _recall(vectors: Vectors, asked: Vectors, hits_of: list[list[Hit]]) -> float:
    """Return the share of an exact scan's top 10 that was found. The scan compares vectors as stores pack them."""
    best: list[list[tuple[float, int]]] = [[] for _ in asked]
    questions = _packed(asked)
    for start in range(0, len(vectors), BATCH_VECTORS):
        batch = _packed(vectors[start : start + BATCH_VECTORS])
        closeness = 2 * batch @ questions.T - (batch * batch).sum(axis=1, keepdims=True)
        for own, column in zip(best, closeness.T, strict=True):
            own += [
                (float(column[n]), start + int(n))
                for n in np.argsort(-column)[:EXACT_TOP]
            ]
    exact = [
        {f"v{n}" for _, n in sorted(own, reverse=True)[:EXACT_TOP]} for own in best
    ]
    found = sum(
        len(right & {hit.id for hit in hits[:EXACT_TOP]})
        for right, hits in zip(exact, hits_of, strict=True)
    )
    return found / sum(map(len, exact))


def _packed(vectors: Vectors) -> Vectors:
    fine = b"".join(
        fine for fine, _ in pack_all([vector.tobytes() for vector in vectors])
    )
    return np.frombuffer(fine, dtype=np.int8).reshape(vectors.shape).astype(np.float32)


def short_texts(count: int) -> Iterator[str]:
    """Yield texts of about 30 words on many subjects, each with its own words; a few texts share a subject."""
    chance = random.Random(SEED)
    prose = MadeProse()
    subjects = [
        chance.sample(prose.words, SHORT_SUBJECT_WORDS) for _ in range(SHORT_SUBJECTS)
    ]
    weights = list(accumulate(1 / (rank + 3) for rank in range(SHORT_SUBJECT_WORDS)))
    for _ in range(count):
        subject = chance.choice(subjects)
        about = chance.choices(subject, cum_weights=weights, k=chance.randint(10, 30))
        yield " ".join([*about, *prose.some(chance, 10)])


def real_texts(path: str, count: int) -> Iterator[str]:
    """Yield `count` pieces of a text file, plain or .xz, in random order; pieces of a small file overlap."""

    with (lzma.open if path.endswith(".xz") else open)(
        path, "rt", encoding="utf-8", errors="replace"
    ) as stream:
        words = stream.read().split()
    if len(words) < PIECE_WORDS + count:
        raise SystemExit(f"{path} has {len(words)} words: too few for {count} pieces")
    step = (len(words) - PIECE_WORDS) / count
    order = list(range(count))
    random.Random(7).shuffle(order)
    for number in order:
        start = int(number * step)
        yield " ".join(words[start : start + PIECE_WORDS])


if __name__ == "__main__":
    main()
