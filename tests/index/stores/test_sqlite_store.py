"""The SQLite store: the contract of all stores, and what is its own."""

import random
from array import array

import pytest
from rawkomem.index.stores import sqlite as sqlite_store
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import SqliteStore, pack, pack_all
from rawkomem.model.filters import Filter

from tests.index.stores.store_contract import ANY, DIMS, VECTORS, WORDS, document, mixed, packed, vector


def make() -> SqliteStore:
    store = SqliteStore(open_database(":memory:"), DIMS)
    store.erase()
    return store


@pytest.mark.parametrize("rule", [*VECTORS, *WORDS], ids=lambda rule: rule.__name__)
def test_contract(rule):
    rule(make)


@pytest.mark.parametrize("rule", VECTORS, ids=lambda rule: rule.__name__)
def test_contract_of_a_large_index(rule, monkeypatch):
    """The way of large indexes, which narrow down by bits first, keeps the same promises."""
    monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 0)
    rule(make)


def test_a_large_index_finds_what_an_exact_scan_finds(monkeypatch):
    store = make()
    store.put([document(f"m{n}", "x", vectors=(vector(f"m{n}"),)) for n in range(300)])
    close = [document(f"c{n}", "x", vectors=(mixed("query", f"c{n}", 0.9 - n / 50),)) for n in range(20)]
    store.put(close)
    exact = store.nearest(vector("query"), 10, ANY)
    monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 0)
    assert store.nearest(vector("query"), 10, ANY) == exact
    assert [hit.id for hit in exact] == [f"c{n}" for n in range(10)]


def test_a_large_index_answers_the_same_whatever_its_history(monkeypatch):
    """Distances in bits tie often: which candidates get an exact distance must not depend on row numbers."""
    monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 0)
    documents = [document(f"m{n}", "x", vectors=(vector(f"m{n}"),)) for n in range(400)]
    plain, shuffled = make(), make()
    plain.put(documents)
    order = documents.copy()
    random.Random(1).shuffle(order)
    shuffled.put(order)
    shuffled.put(order[:200])
    for name in ("query", "other", "third"):
        for only in (ANY, Filter(statuses=("active",))):
            assert plain.nearest(vector(name), 150, only) == shuffled.nearest(vector(name), 150, only)


def test_how_an_index_narrows_down_depends_on_how_much_it_holds_not_on_its_past(monkeypatch):
    monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 50)
    monkeypatch.setattr(sqlite_store, "COARSE_CANDIDATES", 5)
    old, new = make(), make()
    documents = [document(f"m{n:02}", "x", vectors=(vector(f"m{n}"),)) for n in range(40)]
    for _ in range(5):
        for item in documents:
            old.put([item])
    new.put(documents)
    assert old.nearest(vector("query"), 3, ANY) == new.nearest(vector("query"), 3, ANY)


@pytest.mark.parametrize("spread", [0.01, 0.1, 0.5])
def test_one_vector_is_packed_like_many(spread):
    """A cold command packs without numpy; what it stores is what a rebuild would store."""
    source = random.Random(spread)
    vectors = [array("f", [source.gauss(0, spread) for _ in range(DIMS)]).tobytes() for _ in range(100)]
    assert pack_all(vectors) == [pack(vector) for vector in vectors]


def test_edges_are_packed_alike():
    """Components that lie half-way between two steps."""
    step = sqlite_store.MAX_COMPONENT / 127
    edge = array("f", [(n + 0.5) * step for n in range(-192, 192)]).tobytes()
    assert pack_all([edge] * 70)[0] == pack(edge)
    assert pack_all([vector("a"), vector("b")] * 40)[:2] == [pack(vector("a")), pack(vector("b"))]


def test_components_beyond_the_range_are_clipped_not_wrapped():
    spike = packed([1.0] + [0.0] * (DIMS - 1))
    store = make()
    store.put(
        [
            document("spike", "x", vectors=(spike,)),
            document("anti", "y", vectors=(packed([-1.0] + [0.0] * (DIMS - 1)),)),
        ]
    )
    hits = store.nearest(spike, 2, ANY)
    assert [hit.id for hit in hits] == ["spike", "anti"] and hits[0].score > hits[1].score


@pytest.mark.parametrize("around", [False, True])
def test_a_filter_does_not_match_once_for_each_row_inside(around):
    """With a rowid in the plan, FTS5 would look every row of the filter up by itself: minutes for 10,000 memories."""
    store = make()
    store.put([document("in", "some text"), document("out", "more text", status="archived")])
    plans: list[str] = []
    store.db.exec_trace = lambda cursor, sql, values: plans.append(sql) or True
    store.matching(["text"], 5, Filter(statuses=("active",)), around)
    store.db.exec_trace = None
    (sql,) = [sql for sql in plans if "MATCH" in sql]
    plan = " ".join(row[3] for row in store.db.execute(f"EXPLAIN QUERY PLAN {sql}", ("text", "active", 5)))
    assert "VIRTUAL TABLE" in plan and ":=" not in plan.split("VIRTUAL TABLE")[1].split("LIST")[0], plan
