"""The LanceDB store: the contract of all stores, and what is its own. Needs the extra: `make test-stores`."""

import itertools
import os
import shutil
import subprocess
import sys
import time

import pytest

pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")

from rawkomem.bench.speed import make_repository, queries
from rawkomem.index.stores import sqlite as sqlite_store
from rawkomem.index.stores.lance import store as lance_store
from rawkomem.index.stores.lance.store import LanceStore
from rawkomem.repository import Repository

from tests.conftest import ROOT
from tests.index.stores.store_contract import (
    ANY,
    DIMS,
    OUTSIDE,
    VECTORS,
    Committing,
    document,
    vector,
    writers_at_once_lose_nothing,
)

pytestmark = pytest.mark.stores


@pytest.fixture
def make(tmp_path):
    places = itertools.count()
    return lambda: LanceStore(str(tmp_path / f"store-{next(places)}"), DIMS)


def again(store: LanceStore) -> LanceStore:
    store.close()
    return beside(store)


def beside(store: LanceStore) -> LanceStore:
    return LanceStore(store.place, DIMS)


@pytest.mark.parametrize("rule", VECTORS, ids=lambda rule: rule.__name__)
def test_contract(rule, make):
    rule(lambda: Committing(make()))


@pytest.mark.parametrize("rule", OUTSIDE, ids=lambda rule: rule.__name__)
def test_contract_of_stores_outside(rule, make):
    rule(make, again)


def test_warnings_of_lancedb_do_not_reach_the_terminal(rawkomem, memories, monkeypatch):
    monkeypatch.delenv("LANCEDB_LOG")  # which the import of the store sets, before it imports LanceDB
    (memories / "a.md").write_text("---\ntitle: A\n---\n\nText.\n")
    told = rawkomem.process("index", "sync", env={"RAWKOMEM_STORE": "lancedb"})
    assert [line for line in told.stderr.splitlines() if not line.startswith("rawkomem: ")] == []


def test_writers_at_once(make):
    writers_at_once_lose_nothing(make, beside)


def test_many_small_commits_leave_few_files(make, monkeypatch):
    monkeypatch.setattr(lance_store, "COMPACTED_VERSIONS", 4)
    store = make()
    for n in range(9):
        store.put([document(f"m{n}", f"text {n}")])
        store.commit()
    assert store._table.stats()["fragment_stats"]["num_fragments"] < 6
    assert len(store.nearest(vector("text 1"), 20, ANY)) == 9


def test_a_store_that_was_lost_begins_another_life(make):
    store = make()
    store.put([document("a", "a", digest="1")])
    store.commit()
    generation = store.generation()
    store.close()
    shutil.rmtree(os.path.join(store.place, "passages.lance"))
    assert beside(store).generation() != generation and beside(store).held() == {}


def test_what_was_erased_is_in_no_file(make):
    """A purge makes a store anew, because old versions of its tables hold what was in them."""
    store = make()
    store.put([document("a", "xyzzysecret text")])
    store.commit()
    assert _holds(store.place, b"xyzzysecret")
    store.erase()
    store.put([document("b", "harmless")])
    store.commit()
    assert not _holds(store.place, b"xyzzysecret")


def _holds(place: str, text: bytes) -> bool:
    files = [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names]
    return any(text in open(file, "rb").read() for file in files)


def test_a_repository_follows_its_files(project, memories):
    (memories / "one.md").write_text("---\ntitle: Zebras\n---\n\nStripes.\n")
    repository = Repository.open(str(project), store="lancedb")
    assert [found.row.id for found in repository.search("zebras")] == ["one"]
    reader = Repository.open(str(project), store="lancedb")
    assert [found.row.id for found in reader.search("zebras")] == ["one"]
    (memories / "two.md").write_text("---\ntitle: Quaggas\n---\n\nFewer stripes.\n")
    (memories / "one.md").unlink()
    repository.sync()
    assert [found.row.id for found in reader.search("zebras quaggas")] == ["two"]
    assert repository.store.status().fresh
    repository.lifecycle.purge("two")
    assert repository.search("quaggas") == []
    for opened in (repository, reader):
        opened.close()


SYNC = "import sys; from rawkomem.repository import Repository; Repository.open(sys.argv[1], store='lancedb').sync()"


@pytest.mark.parametrize("commits", [3, 4])
def test_a_sync_that_is_killed_is_redone(tmp_path, commits, monkeypatch):
    """Killed after so many commits of the store, wherever the catalogue is then: the next sync ends as if it never was."""
    monkeypatch.setattr(sqlite_store, "MAX_EXACT_PASSAGES", 10_000)  # passages: SQLite compares all of them too
    make_repository(str(tmp_path), 1_100)
    versions = tmp_path / ".rawko" / "local" / "lancedb" / "passages.lance" / "_versions"
    process = subprocess.Popen([sys.executable, "-c", SYNC, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(ROOT)})
    while process.poll() is None and not (versions.is_dir() and len(list(versions.iterdir())) >= commits):
        time.sleep(0.005)
    assert process.poll() is None, "it was done before it could be killed"
    process.kill()
    process.wait()
    for changed in sorted((tmp_path / ".rawko" / "memories").iterdir())[:300]:
        changed.unlink()
    killed, plain = (
        Repository.open(str(tmp_path), store=name, warn=lambda text: None) for name in ("lancedb", "memory")
    )
    for text in queries():
        # as a set: memories that say nearly the same may change places between two stores
        assert {found.row.id for found in killed.search(text)} == {found.row.id for found in plain.search(text)}
    assert killed.core.index.outside().held() == plain.core.index.catalogue.digests()
    assert killed.store.status().fresh
    killed.close()
    plain.close()
