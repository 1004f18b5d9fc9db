"""`bench scale`: what it tells of each store is what was put into it."""

import json

from rawkomem.bench.scale import measure_stores


def test_stores_are_measured_on_the_same_memories():
    told: list[str] = []
    sqlite, memory = measure_stores(30, ("sqlite", "memory"), told.append)
    assert (sqlite.store, memory.store) == ("sqlite", "memory") and {sqlite.memories, memory.memories} == {30}
    assert sqlite.passages == memory.passages > 30
    assert all(0 < row.p50_ms <= row.p95_ms and row.fill_s > 0 for row in (sqlite, memory))
    assert sqlite.mb > 0 == memory.mb and len(told) == 5


def test_the_command_prints_a_row_for_each_store(rawkomem):
    rows = json.loads(rawkomem("bench", "scale", "--memories", "5", "--store", "memory", "--json").stdout)
    assert [(row["store"], row["memories"]) for row in rows] == [("memory", 5)]
    assert rawkomem("bench", "scale", "--memories", "5", "--store", "memory").stdout.startswith("memory: 5 memories")
