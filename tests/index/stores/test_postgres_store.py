"""The PostgreSQL store on a real server: the contract of all stores, clones beside each other, and agreement with SQLite."""

import random
import re
from itertools import count
from threading import Thread
from threading import enumerate as enumerate_threads
from time import monotonic

import pytest
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import DEEP, FIRST, SqliteStore
from rawkomem.model.errors import Busy, RawkoError
from rawkomem.model.filters import Filter
from rawkomem.model.values import replace

from tests.index.stores.faults import Proxy
from tests.index.stores.store_contract import (
    ANY,
    DIMS,
    OUTSIDE,
    VECTORS,
    Committing,
    document,
    mixed,
    vector,
    writers_at_once_lose_nothing,
)

pytestmark = pytest.mark.stores

names = (f"repository {number}" for number in count())


@pytest.fixture
def stores(shared_database):
    """Opens stores, of a repository of its own each time, and closes them all in the end."""
    from rawkomem.index.stores.plugins import open_postgres

    opened = []

    def make(repository: str = "", clone: str = "laptop", url: str = shared_database):
        opened.append(open_postgres(url, repository or next(names), clone, DIMS))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


def rows(store, sql: str) -> list[tuple]:
    return store._link.run(lambda connection: connection.execute(sql).fetchall())


def counted(store) -> tuple[int, ...]:
    """What is there of a repository: versions, passages, vectors, deep vectors, holdings."""
    us = store._us.repository
    versions = f"SELECT n FROM versions WHERE repository = {us}"
    told = [rows(store, f"SELECT count(*) FROM versions WHERE repository = {us}")]
    told += [rows(store, f"SELECT count(*) FROM passages WHERE version IN ({versions})")]
    told += [rows(store, f"SELECT count(*) FROM vectors WHERE owner IN ({versions})")]
    told += [rows(store, f"SELECT count(*) FROM deep_vectors WHERE repository = {us}")]
    told += [rows(store, f"SELECT count(*) FROM holdings WHERE version IN ({versions})")]
    return tuple(found[0][0] for found in told)


def assert_counts_are_right(store) -> None:
    """The counts that triggers keep are those of what is held."""
    kept = rows(store, "SELECT n, passages FROM clones ORDER BY n")
    sums = "SELECT c.n, coalesce(sum(v.passages), 0) FROM clones c LEFT JOIN holdings h ON h.clone = c.n"
    assert kept == rows(store, f"{sums} LEFT JOIN versions v ON v.n = h.version GROUP BY c.n ORDER BY c.n")


@pytest.mark.parametrize("rule", VECTORS, ids=lambda rule: rule.__name__)
def test_contract(rule, stores):
    rule(lambda: Committing(stores()))


@pytest.fixture
def again(stores):
    def reopen(store):
        store.close()
        return stores(*store._names)

    return reopen


@pytest.mark.parametrize("rule", OUTSIDE, ids=lambda rule: rule.__name__)
def test_contract_of_stores_outside(rule, stores, again):
    rule(stores, again)


def test_writers_at_once_lose_nothing(stores):
    writers_at_once_lose_nothing(stores, lambda store: stores(*store._names))


def test_each_clone_is_answered_from_its_own_files(stores):
    ours, theirs = stores("team", "ours"), stores("team", "theirs")
    ours.put([document("a", "apple pie", digest="1"), document("b", "banana", digest="2")])
    ours.commit()
    assert theirs.held() == {} and theirs.nearest(vector("apple pie"), 5, ANY) == []
    theirs.put([document("a", "apricot cake", digest="3"), document("b", "banana", digest="2")])
    theirs.commit()
    for store, text in ((ours, "apple pie"), (theirs, "apricot cake")):
        best, other = store.nearest(vector(text), 5, ANY)
        assert best.id == "a" and best.score > 0.9 > other.score
    assert (ours.held(), theirs.held()) == ({"a": "1", "b": "2"}, {"a": "3", "b": "2"})
    assert counted(ours) == (3, 3, 3, 0, 4)  # the banana is there once, held twice
    theirs.erase()
    theirs.commit()
    assert theirs.held() == {} and len(ours.nearest(vector("banana"), 5, ANY)) == 2
    assert counted(ours) == (2, 2, 2, 0, 2)
    assert_counts_are_right(ours)


def test_all_vectors_may_take_longer_than_one_question(stores, server, shared_database, monkeypatch):
    """With 100,000 memories, they did not arrive within the time of a question: "cannot reach PostgreSQL"."""
    slow = Proxy(server.port, delay_s=0.3)
    store = stores(url=re.sub(r":\d+/", f":{slow.port}/", shared_database))
    store.put([document(f"m{n:02}", f"text {n}", f"more {n}", digest=str(n)) for n in range(20)])
    store.commit()
    store.generation()
    known = store.vectors(ANY)
    assert [id for id, _ in known] == [f"m{n:02}" for n in range(20) for _ in range(2)]
    monkeypatch.setattr("rawkomem.index.stores.postgres.store.PAGE_ROWS", 7)
    store._link._ends = store._link._connection.ends = monotonic() - 1  # the question used its time up
    assert store.vectors(ANY) == known
    slow.close()


def test_what_nobody_holds_is_removed(stores):
    one, other = stores("kept", "one"), stores("kept", "other")
    secret = document("a", "text", "the password", digest="1")
    for store in (one, other):
        store.put([secret])
        store.deepen({"a": [vector("deep 1"), vector("deep 2")]})
        store.commit()
    assert counted(one) == (1, 2, 2, 2, 2)
    one.put([document("a", "nothing to see", digest="2")])
    one.commit()
    assert counted(one) == (2, 3, 3, 2, 2)
    assert not one.nearest(vector("deep 1"), 5, ANY, DEEP) and other.nearest(vector("deep 1"), 5, ANY, DEEP)
    other.drop(["a"])
    other.commit()
    assert counted(one) == (1, 1, 1, 0, 1)
    assert rows(one, "SELECT count(*) FROM passages WHERE text LIKE '%password%'") == [(0,)]
    assert_counts_are_right(one)


def test_vectors_of_another_model_are_not_shared(stores):
    """The same words with other vectors are another version: nobody is answered with a colleague's model."""
    one, other = stores("models", "one"), stores("models", "other")
    one.put([document("a", "word", vectors=(vector("by one"),), digest="1")])
    one.commit()
    other.put([document("a", "word", vectors=(vector("by other"),), digest="1")])
    other.commit()
    assert one.nearest(vector("by one"), 1, ANY)[0].score > 0.9 > 0.2 > one.nearest(vector("by other"), 1, ANY)[0].score
    assert other.nearest(vector("by other"), 1, ANY)[0].score > 0.9


def test_repositories_know_nothing_of_each_other(stores):
    one, other = stores("first", "same name"), stores("second", "same name")
    one.put([document("a", "apple")])
    one.commit()
    assert other.held() == {} and other.nearest(vector("apple"), 5, ANY) == []


def test_a_clone_that_was_not_seen_for_long_is_forgotten(stores):
    old, new = stores("ages", "old"), stores("ages", "new")
    old.put([document("a", "apple", digest="1")])
    old.commit()
    life = old.generation()
    rows(new, "UPDATE clones SET seen = now() - interval '100 days' WHERE name = 'old' RETURNING n")
    rows(new, "UPDATE clones SET seen = now() - interval '2 days' WHERE name = 'new' RETURNING n")
    new.put([document("b", "banana")])
    new.commit()
    assert counted(new) == (1, 1, 1, 0, 1)
    assert old.generation() != life and old.held() == {}


def test_answers_are_those_of_sqlite(stores):
    """The same hits in the same order, and the same scores: one is not tuned on one store and run on another."""
    postgres, sqlite = Committing(stores()), SqliteStore(open_database(":memory:"), DIMS)
    sqlite.erase()
    source = random.Random(7)
    documents = [
        document(f"m{n:03}", "text", f"number {n}", status=source.choice(("active", "draft")),
                 vectors=(mixed(f"s{n % 17}", f"own {n}", 0.7), vector(f"own {n}")))
        for n in range(300)
    ]  # fmt: skip
    for store in (postgres, sqlite):
        store.put(documents)
        store.drop([f"m{n:03}" for n in range(0, 300, 11)])
    for only in (ANY, Filter(statuses=("active",))):
        for name in ("s3", "own 5", "elsewhere"):
            ours, theirs = (store.nearest(vector(name), 10, only) for store in (postgres, sqlite))
            assert [replace(hit, score=0) for hit in ours] == [replace(hit, score=0) for hit in theirs]
            # SQLite computes distances in single precision
            assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-6)
        assert postgres.vectors(only) == sqlite.vectors(only)


def test_memories_of_many_passages_are_not_compared_one_by_one(stores, monkeypatch):
    from rawkomem.index.stores.postgres import store as postgres_store

    monkeypatch.setattr(postgres_store, "MAX_EXACT_PASSAGES", 10)
    store = stores()
    store.put([document(f"m{n}", "one", "two", "three") for n in range(5)])
    store.commit()
    store.generation()
    assert not store._compares_all(ANY, FIRST) and store._compares_all(Filter(ids=("m1", "m2")), FIRST)


def test_many_open_a_fresh_database_at_once(database):
    from rawkomem.index.stores.plugins import open_postgres

    opened, failed = [], []

    def open_one(number: int) -> None:
        try:
            opened.append(open_postgres(database, "one", f"clone {number}", DIMS))
        except RawkoError as failure:
            failed.append(failure)

    threads = [Thread(target=open_one, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len({store.generation() for store in opened}) == 12
    assert rows(opened[0], "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]
    done = [name for (name,) in rows(opened[0], "SELECT name FROM migrations ORDER BY name")]
    assert done == ["0001_index.sql", "0002_neolata.sql"]
    for store in opened:
        store.close()


def test_a_migration_that_fails_leaves_nothing(database, monkeypatch):
    from rawkomem.index.stores.plugins import open_postgres
    from rawkomem.index.stores.postgres import server

    good = server.migrations()
    monkeypatch.setattr(server, "migrations", lambda: [*good, ("9999.sql", "CREATE TABLE t (); SELECT 1 / 0")])
    with pytest.raises(RawkoError, match="division by zero"):
        open_postgres(database, "r", "c", DIMS)
    import psycopg

    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT to_regnamespace('rawkomem'), to_regnamespace('neolata')").fetchone() == (
            None,
            None,
        )
    monkeypatch.setattr(server, "migrations", lambda: good)
    open_postgres(database, "r", "c", DIMS).close()


def test_a_store_that_cannot_join_leaves_no_thread(database, monkeypatch):
    from rawkomem.index.stores.plugins import open_postgres
    from rawkomem.index.stores.postgres import store as writing

    def fail(*arguments: object) -> None:
        raise Busy("not now", "later")

    before = set(enumerate_threads())
    monkeypatch.setattr(writing, "lock_clone", fail)
    with pytest.raises(Busy):
        open_postgres(database, "r", "c", DIMS)
    assert set(enumerate_threads()) == before


def test_writers_wait_for_each_other_but_not_for_ever(stores, monkeypatch):
    from rawkomem.index.stores.postgres import server
    from rawkomem.index.stores.postgres.store import lock_clone

    slow = stores("queue", "slow")
    monkeypatch.setitem(server.SETTINGS, "lock_timeout", "200")
    quick = stores("queue", "quick")

    def write_meanwhile(connection) -> None:
        with connection.transaction():
            lock_clone(connection, "queue", "slow")
            quick.put([document("b", "banana")])
            with pytest.raises(Busy):
                quick.commit()

    slow._link.run(write_meanwhile)
    assert quick.held() == {}
    quick.put([document("b", "banana", digest="1")])
    quick.commit()
    assert quick.held() == {"b": "1"}
