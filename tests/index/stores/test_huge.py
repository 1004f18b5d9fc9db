"""A huge index in a process that stays open: bits in memory and the rarest words answer like SQL does."""

import random

import pytest
from rawkomem.index.stores import sqlite as sqlite_store
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository
from rawkomem.text.conditions import situation_of

WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture
def large(memories, repository, monkeypatch):
    """Some hundred memories, taken for huge; a third of them is archived."""
    monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 10)
    monkeypatch.setattr(sqlite_store, "COARSE_CANDIDATES", 20)
    chance = random.Random(5)
    for number in range(300):
        text = " ".join(chance.choices(["database", "deploy", "colour", "tea", "login", "cake", "backup"], k=6))
        more = f"\n---\n\n---\nkind: archive\nabout: m{number}\nid: a{number}\n---\n" if number % 3 == 0 else ""
        (memories / f"m{number}.md").write_text(f"---\ntitle: {chance.choice(WORDS)}\n---\n\n{text}\n{more}")
    repository.sync()
    return repository


ONLY = (Filter(), Filter(statuses=("active",)), Filter(statuses=("archived",)), Filter(statuses=("draft",)))


def test_bits_in_memory_find_what_sql_finds(large, monkeypatch):
    store = large.core.index.store
    vectors = large.core.index.embedder.embed(["deploy the database", "tea and cake", "colour of the login page"])
    by_sql = [store.nearest(vector, 20, only) for only in ONLY for vector in vectors]
    monkeypatch.setattr(sqlite_store, "HUGE_PASSAGES", 10)
    assert [store.nearest(vector, 20, only) for only in ONLY for vector in vectors] == by_sql
    assert store._bits and by_sql[0]


def test_a_commit_of_another_process_is_seen(large, memories, monkeypatch):
    monkeypatch.setattr(sqlite_store, "HUGE_PASSAGES", 10)
    store, (vector,) = large.core.index.store, large.core.index.embedder.embed(["penguins in the zoo"])
    store.nearest(vector, 5, Filter())
    store.nearest(vector, 5, Filter())
    (memories / "new.md").write_text("---\ntitle: Penguins\n---\n\nPenguins live in the zoo.\n")
    other = Repository.open(str(memories))
    other.sync()
    other.close()
    assert store.nearest(vector, 5, Filter())[0].id == "new"


def test_frequent_words_are_left_out_where_rare_ones_tell(large, monkeypatch):
    store = large.core.index.store
    monkeypatch.setattr(sqlite_store, "HUGE_PASSAGES", 10)
    monkeypatch.setattr(sqlite_store, "MAX_RANKED_PASSAGES", 30)
    rare = store.matching(["word7"], 50, Filter())
    assert store.matching(["database", "word7", "deploy"], 50, Filter()) == rare
    assert len(store.matching(["database", "deploy"], 50, Filter())) == 50  # the rarer one, however frequent
    assert store.matching(["database", "nowhere"], 50, Filter()) == store.matching(["database"], 50, Filter())


def test_triggers_fire_by_their_first_letters_as_they_do_without(large, monkeypatch, memories):
    from rawkomem.index import statements

    for name, condition in {
        "a": "ab|x.*y",
        "b": "b",
        "c": "über|straße",
        "d": "deploy*prod",
        "e": "When deploying",
    }.items():
        (memories / f"when-{name}.md").write_text(f"---\ntitle: {name}\nwhenToUse: ['{condition}']\n---\n\nText.\n")
    large.sync()
    tasks = ["ab", "b", "a bridge", "ÜBER die Straße", "deploy to prod", "x and y", "", "Deploying it", "n" * 9000]
    db = large.core.index.reading()
    quick = [statements.fired_by(db, situation_of(task)) for task in tasks]
    monkeypatch.setattr(statements, "MAX_STARTS", 0)
    assert [statements.fired_by(db, situation_of(task)) for task in tasks] == quick
    assert sum(map(len, quick)) > 5
