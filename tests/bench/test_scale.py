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
    assert all(0 < row.p50_ms <= row.p95_ms and row.fill_s > 0 for row in (sqlite, memory))
    assert sqlite.mb > 0 == memory.mb and len(told) == 5


def test_what_is_kept_is_not_filled_again(tmp_path):
    told: list[str] = []
    (filled,) = measure_stores(20, ("sqlite",), told.append, str(tmp_path))
    written = json.loads((tmp_path / "fills.json").read_text())["memories-20"]["sqlite"]
    assert (written["wall_s"], written["passages"]) == (filled.fill_s, filled.passages)
    assert written["cpu_s"] == filled.fill_cpu_s > 0
    first = len(told)
    (again,) = measure_stores(20, ("sqlite",), told.append, str(tmp_path))
    assert (again.fill_s, again.passages, again.mb) == (
        filled.fill_s,
        filled.passages,
        pytest.approx(filled.mb, rel=0.2),
    )
    assert told[first:] == [f"sqlite: p50 {again.p50_ms:.0f} ms, p95 {again.p95_ms:.0f} ms, {again.mb:.0f} MB"]


@pytest.mark.stores
def test_kept_vectors_are_asked_again(tmp_path):
    told: list[str] = []
    first, again = (measure_vectors(300, "lancedb", told.append, "", str(tmp_path)) for _ in range(2))
    assert (again.fill_s, again.recall) == (first.fill_s, 1.0) and sum("embedding" in line for line in told) == 1


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
