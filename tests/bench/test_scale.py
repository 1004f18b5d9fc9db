"""`bench scale`: what it tells of each store is what was put into it."""

from __future__ import annotations

import json

import pytest

from rawkomem.bench.scale import measure_stores, measure_vectors
from rawkomem.model.errors import BadInput


def test_stores_are_measured_on_the_same_memories():
    told: list[str] = []
    sqlite, memory = measure_stores(30, ("sqlite", "memory"), told.append)
    assert (sqlite.store, memory.store) == ("sqlite", "memory") and {sqlite.memories, memory.memories} == {30}
    assert sqlite.passages == memory.passages > 30
    assert all(0 < row.p50_ms <= row.p95_ms and row.index_s > 0 for row in (sqlite, memory))
    assert sqlite.mb > 0 == memory.mb and len(told) == 3


@pytest.mark.stores
def test_a_small_store_misses_no_vector():
    row = measure_vectors(300, "lancedb", lambda message: None)
    assert (row.memories, row.passages, row.recall) == (300, 300, 1.0)


def test_vectors_are_put_into_stores_outside_only():
    with pytest.raises(BadInput, match="--vectors"):
        measure_vectors(10, "sqlite", lambda message: None)


def test_the_command_prints_a_row_for_each_store(rawkomem):
    rows = json.loads(rawkomem("bench", "scale", "--memories", "5", "--store", "memory", "--json").stdout)
    assert [(row["store"], row["memories"]) for row in rows] == [("memory", 5)]
    table = rawkomem("bench", "scale", "--memories", "5", "--store", "memory").stdout.splitlines()
    assert table[2].startswith("| memory | 5 |")
