"""All stores find the same: the top 10 of every question are those of SQLite, up to ties; and what an index over vectors
misses is next to nothing."""

import json

import numpy as np
import pytest
from rawkomem.bench.recall import write_repository
from rawkomem.bench.speed import make_repository, queries
from rawkomem.embed.static import StaticEmbedder
from rawkomem.index.stores import sqlite as sqlite_store
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import SCALE, SqliteStore
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

from tests.conftest import shared
from tests.index.stores.store_contract import document

OWN = [f"{text} {extra}" for text in queries() for extra in ("", "why", "of the memory index")]
CLOSE = 1e-6  # scores that differ by less are equal: SQLite's distances are float32
ASKED = 150  # questions of each set, spread over all of it
OUTSIDE = [pytest.param("lancedb", marks=pytest.mark.stores), pytest.param("postgres", marks=pytest.mark.stores)]


@pytest.fixture
def other(request, monkeypatch) -> str:
    """A store besides SQLite's, which can be opened."""
    if request.param == "lancedb":
        pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")
    if request.param == "postgres":
        monkeypatch.setenv("RAWKOMEM_POSTGRES_URL", request.getfixturevalue("database"))
    return request.param


def disagreements(project: str, other: str, asked: list[str]) -> list[str]:
    """The questions whose top 10 differ by more than ties."""
    first, second = (Repository.open(project, store=name, warn=lambda text: None) for name in ("sqlite", other))
    try:
        for repository in (first, second):
            repository.sync()  # a search alone reads only so many new files
        return [text for text in asked if not _agree(first.search(text, 30), second.search(text, 30))]
    finally:
        first.close()
        second.close()


def _agree(one, two) -> bool:
    """The same memories within the first ten, where those that score as much as the tenth may stand for each other."""
    if len(one) < 10:
        return {found.row.id for found in one} == {found.row.id for found in two}
    last = one[9].score
    surely = {found.row.id for found in one[:10] if found.score > last + CLOSE}
    perhaps = {found.row.id for found in one if abs(found.score - last) <= CLOSE}
    top = {found.row.id for found in two[:10]}
    return surely <= top <= surely | perhaps


@pytest.mark.parametrize("other", ["memory", *OUTSIDE], indirect=True)
def test_on_a_sample_of_our_own(tmp_path, other):
    make_repository(str(tmp_path), 60)
    assert disagreements(str(tmp_path), other, OWN) == []


def part_of(name: str) -> dict:
    """A development set, or the first of several."""
    data = json.loads(shared(f"data/eval/{name}.json").read_text(encoding="utf-8"))
    return data["sets"][0] if "sets" in data else data


def spread(questions: list, count: int = ASKED) -> list[str]:
    return [str(question["q"]) for question in questions[:: max(1, len(questions) // count)]]


@pytest.mark.parametrize("name", ["metatool", "locomo", "clinc", "cosqa"])
@pytest.mark.parametrize("other", OUTSIDE, indirect=True)
def test_on_whole_development_sets(tmp_path, monkeypatch, other, name):
    """All memories of a set, in other engines: the store in memory is SQLite. SQLite compares all vectors here, as the
    others do with as many: beyond 4,000 passages it would look at the most promising only, which is measured below."""
    monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 20_000)
    part = part_of(name)
    write_repository(str(tmp_path), part["memories"])
    asked = spread(part["queries"])
    assert len(asked) >= ASKED
    assert disagreements(str(tmp_path), other, asked) == []


# Indexes over vectors, on real ones


@pytest.fixture(scope="module")
def real() -> tuple[np.ndarray, np.ndarray]:
    """The vectors of all texts of two sets, and of questions."""
    cosqa, metatool = part_of("cosqa"), part_of("metatool")
    texts = [str(memory["text"]) for memory in cosqa["memories"]] + [str(asked["q"]) for asked in metatool["queries"]]
    stored, asked = (_embedded(given) for given in (texts, spread(cosqa["queries"], 100)))
    return stored[np.abs(stored).sum(axis=1) > 0], asked


def _embedded(texts: list[str]) -> np.ndarray:
    vectors = StaticEmbedder().embed(texts)
    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)


def put_all(store, vectors: np.ndarray) -> None:
    """One memory for each vector, every third of them archived; the last few in a batch of their own."""
    for start in range(0, len(vectors), 1_000):
        batch = range(start, min(start + 1_000, len(vectors)))
        statuses = ["active" if n % 3 else "archived" for n in batch]
        vectors_of = [(vectors[n].tobytes(),) for n in batch]
        store.put([document(f"m{n}", "x", vectors=own, status=status, digest="1")
                   for n, own, status in zip(batch, vectors_of, statuses, strict=True)])  # fmt: skip
        if hasattr(store, "commit"):
            store.commit()


def found_share(store, stored: np.ndarray, asked: np.ndarray, only: Filter, inside: slice) -> float:
    """How much of the ten nearest a store finds; one that is as close as the tenth counts as well."""
    packed = np.clip(np.rint(stored.astype(np.float64) * SCALE), -127, 127)
    found = 0
    for vector in asked:
        distances = ((packed - np.clip(np.rint(vector.astype(np.float64) * SCALE), -127, 127)) ** 2).sum(axis=1)
        tenth = np.sort(distances[inside])[9]
        hits = {hit.id for hit in store.nearest(vector.tobytes(), 10, only)}
        assert len(hits) == 10
        found += sum(distances[int(id[1:])] <= tenth for id in hits)
    return found / (10 * len(asked))


def check_found(store, real: tuple[np.ndarray, np.ndarray]) -> None:
    """At least 0.98, with a filter and without."""
    for only, inside in ((Filter(), slice(None)), (Filter(statuses=("archived",)), slice(0, None, 3))):
        assert found_share(store, *real, only, inside) >= 0.98, only


@pytest.mark.slow
def test_sqlite_misses_next_to_nothing(tmp_path, real):
    connection = open_database(str(tmp_path / "index.db"))
    store = SqliteStore(connection, real[0].shape[1])
    store.erase()
    with connection:
        put_all(store, real[0])
    assert len(real[0]) > 2 * sqlite_store.MAX_EXACT_PASSAGES
    check_found(store, real)


@pytest.mark.stores
def test_lancedb_misses_next_to_nothing(tmp_path, real, monkeypatch):
    """With an index that is made when half is there, and for what comes after that."""
    pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")
    from rawkomem.index.stores.lance import store as lance_store

    monkeypatch.setattr(lance_store, "MAX_EXACT_PASSAGES", 2_000)
    monkeypatch.setattr(lance_store, "PARTITION_PASSAGES", 1_000)
    monkeypatch.setattr(lance_store, "BATCH_FILES", 1_001)  # each batch counts as the last of a sync
    store = lance_store.LanceStore(str(tmp_path / "lance"), real[0].shape[1])
    put_all(store, real[0])
    assert [index for index in store._table.list_indices() if "vector" in index.columns]
    check_found(store, real)


@pytest.mark.stores
def test_postgres_misses_next_to_nothing(database, real, monkeypatch):
    from rawkomem.index.stores.plugins import open_postgres
    from rawkomem.index.stores.postgres import store as postgres_store

    monkeypatch.setattr(postgres_store, "MAX_EXACT_PASSAGES", 2_000)
    store = open_postgres(database, "real", "laptop", real[0].shape[1])
    put_all(store, real[0])
    store.put([document("last", "x", vectors=(bytes(4 * store.dims),))])
    store.commit()
    check_found(store, real)
    assert store._bits["bits"]
    store.close()
