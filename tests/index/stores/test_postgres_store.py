"""The PostgreSQL store on a real server: the contract of all stores, clones beside each other, and agreement with SQLite."""

from __future__ import annotations

import random
from itertools import count
from threading import Thread
from threading import enumerate as enumerate_threads

import pytest
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import FIRST, Passage, SqliteStore
from rawkomem.model.errors import Busy, RawkoError
from rawkomem.model.filters import Filter
from rawkomem.model.values import replace

from tests.index.stores.store_contract import (
    ANY,
    CONTRACT,
    DIMS,
    OUTSIDE,
    document,
    ids,
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
    return store._connections.run(lambda connection: connection.execute(sql).fetchall())


def counted(store) -> tuple[int, ...]:
    """What is there of a repository: versions, passages, vectors, words, surroundings, deep vectors, holdings."""
    us = store._us.repository
    versions = f"SELECT n FROM versions WHERE repository = {us}"
    told = [rows(store, f"SELECT count(*) FROM versions WHERE repository = {us}")]
    told += [rows(store, f"SELECT count(*) FROM passages WHERE version IN ({versions})")]
    told += [
        rows(store, f"SELECT count(*) FROM {table} WHERE owner IN ({versions})")
        for table in ("vectors", "words", "arounds")
    ]
    told += [rows(store, f"SELECT count(*) FROM deep_vectors WHERE repository = {us}")]
    told += [rows(store, f"SELECT count(*) FROM holdings WHERE version IN ({versions})")]
    return tuple(found[0][0] for found in told)


def assert_counts_are_right(store) -> None:
    """The counts that triggers keep are those of what is held."""
    columns = ("passages", "tokens", "arounds", "around_tokens")
    doubted = [f"unvouched_{name}" for name in columns]
    kept = rows(store, f"SELECT n, memories, deep, {', '.join((*columns, *doubted))} FROM clones ORDER BY n")
    counts = [f"coalesce(sum(v.{name}), 0)" for name in columns]
    counts += [f"coalesce(sum(v.{name}) FILTER (WHERE v.vouched = 0), 0)" for name in columns]
    sums = f"SELECT c.n, count(h.id), count(h.deep), {', '.join(counts)} FROM clones c"
    sums += " LEFT JOIN holdings h ON h.clone = c.n LEFT JOIN versions v ON v.n = h.version GROUP BY c.n ORDER BY c.n"
    assert kept == rows(store, sums)


@pytest.mark.parametrize("rule", CONTRACT, ids=lambda rule: rule.__name__)
def test_contract(rule, stores):
    rule(stores)


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
    assert theirs.held() == {} and theirs.matching(["apple"], 5, ANY) == []
    theirs.put([document("a", "apricot cake", digest="3"), document("b", "banana", digest="2")])
    theirs.commit()
    assert ids(ours.matching(["apple"], 5, ANY)) == ["a"] and ours.matching(["apricot"], 5, ANY) == []
    assert ids(theirs.matching(["apricot"], 5, ANY)) == ["a"] and theirs.matching(["apple"], 5, ANY) == []
    assert (ours.passage("a", 0), theirs.passage("a", 0)) == ("apple pie", "apricot cake")
    assert (ours.held(), theirs.held()) == ({"a": "1", "b": "2"}, {"a": "3", "b": "2"})
    assert counted(ours) == (3, 3, 3, 3, 0, 0, 4)  # the banana is there once, held twice
    theirs.erase()
    theirs.commit()
    assert theirs.held() == {} and len(ours.nearest(vector("banana"), 5, ANY)) == 2
    assert counted(ours) == (2, 2, 2, 2, 0, 0, 2)
    assert_counts_are_right(ours)


def test_scores_depend_on_no_other_clone(stores):
    """How rare a word is, and how long passages are, is counted in a clone's own files."""
    alone, beside = stores(), stores("crowd", "one")
    crowd = stores("crowd", "other")
    own = [document(f"m{n}", "the quick fox " * (n % 3 + 1), "a lazy dog") for n in range(9)]
    crowd.put([document(f"x{n}", "fox fox dog and more") for n in range(40)])
    crowd.commit()
    for store in (alone, beside):
        store.put(own)
        store.commit()
    for words in (["fox"], ["lazy", "quick"], ["quick-fox"]):
        assert alone.matching(words, 20, ANY) == beside.matching(words, 20, ANY) != []


def test_what_nobody_holds_is_removed(stores):
    one, other = stores("kept", "one"), stores("kept", "other")
    around = Passage("text", vector("t"), around="text and more")
    secret = replace(document("a", "x", digest="1"), passages=(around, Passage("the password", vector("p"))))
    for store in (one, other):
        store.put([secret])
        store.deepen({"a": [vector("deep 1"), vector("deep 2")]})
        store.commit()
    assert counted(one) == (1, 2, 2, 2, 1, 2, 2)
    one.put([document("a", "nothing to see", digest="2")])
    one.commit()
    assert counted(one) == (2, 3, 3, 3, 1, 2, 2) and one.depth() == (0, 1) and other.depth() == (1, 1)
    other.drop(["a"])
    other.commit()
    assert counted(one) == (1, 1, 1, 1, 0, 0, 1)
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
    assert other.held() == {} and other.matching(["apple"], 5, ANY) == [] == other.nearest(vector("apple"), 5, ANY)


def test_a_clone_that_was_not_seen_for_long_is_forgotten(stores):
    old, new = stores("ages", "old"), stores("ages", "new")
    old.put([document("a", "apple", digest="1")])
    old.commit()
    life = old.generation()
    rows(new, "UPDATE clones SET seen = now() - interval '100 days' WHERE name = 'old' RETURNING n")
    rows(new, "UPDATE clones SET seen = now() - interval '2 days' WHERE name = 'new' RETURNING n")
    new.put([document("b", "banana")])
    new.commit()
    assert counted(new) == (1, 1, 1, 1, 0, 0, 1)
    assert old.generation() != life and old.held() == {}


SUBJECTS = ("deploy", "backup", "login", "cache", "error", "user_id", "retry-after", "schema", "naïve", "Zürich")


def sample(size: int) -> list:
    source = random.Random(7)
    texts = [" ".join(source.choices(SUBJECTS, k=source.randint(2, 12))) for _ in range(size)]
    return [
        replace(
            document(f"m{n:03}", text, status=source.choice(("active", "draft")), title=source.choice(SUBJECTS)),
            passages=(
                Passage(text, mixed(f"s{n % 17}", f"own {n}", 0.7), around=text + " " + texts[n - 1] if n % 3 else ""),
                Passage(f"number {n}", vector(f"own {n}"), heading=source.choice(SUBJECTS)),
            ),
        )
        for n, text in enumerate(texts)
    ]


def test_answers_are_those_of_sqlite(stores, tmp_path):
    """The same hits in the same order, and the same scores: one is not tuned on one store and run on another."""
    postgres, connection = stores(), open_database(str(tmp_path / "index.db"))
    sqlite = SqliteStore(connection, DIMS)
    sqlite.erase()
    for store in (postgres, sqlite):
        store.put(sample(300))
        store.drop([f"m{n:03}" for n in range(0, 300, 11)])
    for only in (ANY, Filter(statuses=("active",))):
        for name in ("s3", "own 5", "elsewhere"):
            assert_alike(postgres.nearest(vector(name), 10, only), sqlite.nearest(vector(name), 10, only))
        for words in (["deploy"], ["user_id", "cache"], ["retry-after"], ["naive", "zurich", "errors"], list(SUBJECTS)):
            for around in (False, True):
                assert_alike(postgres.matching(words, 10, only, around), sqlite.matching(words, 10, only, around))
        assert postgres.vectors(only) == sqlite.vectors(only)


def assert_alike(ours, theirs) -> None:
    assert [(hit.id, hit.passage, hit.field, hit.alone) for hit in ours] == [
        (hit.id, hit.passage, hit.field, hit.alone) for hit in theirs
    ]
    assert [hit.score for hit in ours] == pytest.approx(
        [hit.score for hit in theirs], abs=1e-6
    )  # SQLite reckons distances in single precision


def test_a_huge_index_leaves_frequent_words_out(stores, monkeypatch):
    from rawkomem.index.stores.postgres import store as asking
    from rawkomem.index.stores.postgres import store as postgres_store

    store = stores()
    store.put([document(f"m{n}", "common" if n else "common rare") for n in range(30)])
    store.commit()
    store.generation()
    assert len(store.matching(["common", "rare"], 50, ANY)) == 30
    monkeypatch.setattr(postgres_store, "HUGE_PASSAGES", 10)
    monkeypatch.setattr(asking, "MAX_RANKED_PASSAGES", 20)
    assert ids(store.matching(["common", "rare"], 50, ANY)) == ["m0"]
    assert len(store.matching(["common"], 50, ANY)) == 30


def test_of_frequent_words_alone_the_rarest_is_looked_for_in_full(stores, monkeypatch):
    from rawkomem.index.stores.postgres import store as asking
    from rawkomem.index.stores.postgres import store as postgres_store

    store = stores()
    store.put([document(f"m{n:02}", "often always" if n % 4 else "always") for n in range(40)])
    store.commit()
    store.generation()
    monkeypatch.setattr(postgres_store, "HUGE_PASSAGES", 10)
    monkeypatch.setattr(asking, "MAX_RANKED_PASSAGES", 20)
    assert len(store.matching(["often", "always"], 50, ANY)) == 30


def test_questions_that_are_expected_are_answered_ahead_and_never_from_the_past(stores, monkeypatch):
    from rawkomem.index.stores.postgres import store as postgres_store

    monkeypatch.setattr(postgres_store, "HUGE_PASSAGES", 1)
    monkeypatch.setattr(postgres_store, "MAX_EXACT_PASSAGES", 1)
    store = stores()
    around = Passage("lantern", vector("a"), around="lantern\nharbor")
    store.put([replace(document(f"m{n}", "lantern"), passages=(around,)) for n in range(5)])
    store.commit()
    store.generation()
    store.expect(["lantern"], 50, ANY)
    assert not store._ahead  # a process that asks once
    store.nearest(vector("lantern"), 3, ANY)
    alone = [store.matching(["lantern"], 50, ANY, around=beside) for beside in (False, True)]
    assert [len(hits) for hits in alone] == [5, 5]
    store.expect(["lantern"], 50, ANY)
    assert len(store._ahead) == 2
    assert [store.matching(["lantern"], 50, ANY, around=beside) for beside in (False, True)] == alone
    store.expect(["lantern"], 50, ANY)
    store.put([document("m9", "lantern")])
    assert len(store.matching(["lantern"], 50, ANY)) == 6


def test_the_server_knows_which_words_are_frequent(stores, monkeypatch):
    """A frequent word is not even looked for beside a rare one; words beside each other are as rare as the rarer."""
    from rawkomem.index.stores.postgres import store as asking
    from rawkomem.index.stores.postgres import store as postgres_store
    from rawkomem.index.stores.postgres.server import number_of

    monkeypatch.setattr(postgres_store, "HUGE_PASSAGES", 10)
    monkeypatch.setattr(asking, "MAX_RANKED_PASSAGES", 20)
    store = stores()
    store.put([document(f"m{n}", "common" if n % 300 else "common rare") for n in range(1_200)])
    store.commit()
    store.put([document("last", "common")])
    store.commit()  # a small batch ends a sync: statistics are taken
    frequent = store._frequent_words()["words"]
    common, rare = (number_of(store._us.repository, word) for word in ("common", "rare"))
    assert frequent[common] == pytest.approx(1_201, rel=0.01) and frequent.get(rare, 4) in (3, 4, 5)
    assert (
        asking._estimated_rows([common, rare], {common: 1_200, rare: 4}) == 4
        and asking._estimated_rows([rare, common], {common: 9}) == 0
    )
    looked_for: list[list[list[int]]] = []
    ranked = asking._ranked
    monkeypatch.setattr(
        asking, "_ranked", lambda *given, **more: (looked_for.append(given[2]), ranked(*given, **more))[1]
    )
    assert ids(store.matching(["common", "rare"], 50, ANY)) == ["m0", "m300", "m600", "m900"]
    assert looked_for == [[[rare]]]
    assert len(store.matching(["common", "nowhere"], 50, ANY)) == 50  # the rare one is nowhere
    assert rows(store, postgres_store.SORT_IN) == [(0,), (0,)]  # pages of rows that are not sorted in


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

    slow = stores("queue", "slow")
    monkeypatch.setitem(server.SETTINGS, "lock_timeout", "200")
    quick = stores("queue", "quick")
    slow.put([document("a", "apple")])
    assert ids(slow.matching(["apple"], 1, ANY)) == ["a"]  # written, not committed
    quick.put([document("b", "banana")])
    with pytest.raises(Busy):
        quick.commit()
    assert quick.held() == {}
    slow.commit()
    quick.put([document("b", "banana", digest="1")])
    quick.commit()
    assert quick.held() == {"b": "1"}
