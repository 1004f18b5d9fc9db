"""Whole repositories on one PostgreSQL: clones that sync at once, a server that dies, a database that is lost."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rawkomem.files.installation import plan_start, write_start
from rawkomem.index.index import Index
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT
from tests.conftest import ROOT
from tests.index.stores.store_contract import ids
from tests.torture.helpers import answers, embedder, files_as_they_are, memory

pytestmark = pytest.mark.stores


def opened(folder: Path, url: str, clone: str) -> Repository:
    """The repository of a folder, with its search store in PostgreSQL."""
    from rawkomem.index.stores.plugins import open_postgres
    from rawkomem.index.stores.protocol import LateStore

    repository = Repository.open(str(folder), warn=lambda message: None)
    repository.core.index = Index(
        repository.layout,
        embedder,
        repository.core.warn,
        None,
        lambda dims: LateStore(lambda: open_postgres(url, "team", clone, dims)),
    )
    return repository


SYNC = """
import sys
from pathlib import Path
from rawkomem.model.errors import RawkoError
from tests.index.stores.test_postgres_team import opened
repository = opened(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
try:
    report = repository.catch_up(lambda done, total: print(done, flush=True))
    print("read", report.read)
except RawkoError as failure:
    print(f"rawkomem: {failure.message} ({failure.hint})", file=sys.stderr)
    sys.exit(failure.exit_code)
"""


def syncing(folder: Path, url: str, clone: str) -> subprocess.Popen:
    """A process of its own that syncs as soon as a line is sent to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", SYNC, str(folder), url, clone],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=ENVIRONMENT,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    return process


def go(process: subprocess.Popen) -> None:
    process.stdin.write("\n")
    process.stdin.flush()


def ended(process: subprocess.Popen) -> None:
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said


def fill(folder: Path, numbers: range, word: str = "shared") -> None:
    write_start(plan_start(str(folder)))
    for number in numbers:
        text = memory(f"About {number}", f"The {word} text number {number}, of apples and zebras.")
        (folder / ".rawko" / "memories" / f"m{number:04}.md").write_text(text)


def assert_as_in_sqlite(repository: Repository, folder: Path) -> None:
    """What the clone answers is what an index of its own in SQLite answers."""
    plain = folder / "plain"
    shutil.copytree(repository.layout.root, plain / ".rawko", ignore=shutil.ignore_patterns("local"))
    other = Repository.open(str(plain), warn=lambda message: None)
    other.core.index = Index(other.layout, embedder, other.core.warn)
    repository.core.index.refresh()
    other.core.index.refresh()
    ours, theirs = answers(repository.core.index), answers(other.core.index)
    for mine, expected in zip(ours[0], theirs[0], strict=True):
        assert [(hit.id, hit.passage) for hit in mine] == [(hit.id, hit.passage) for hit in expected]
        assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in expected], abs=1e-6)
    other.close()


def tables(repository: Repository, *questions: str) -> list:
    store = repository.core.index.outside()
    return [store._link.run(lambda connection, sql=sql: connection.execute(sql).fetchall()) for sql in questions]


def test_two_clones_sync_at_once(database, tmp_path):
    """Nothing is lost, nothing doubled, nobody waits for ever: each holds its own files, what both say is there once."""
    one, other = tmp_path / "one", tmp_path / "other"
    fill(one, range(700))
    fill(other, range(700))
    fill(one, range(700, 800), "ours")
    fill(other, range(700, 800), "theirs")
    for _ in range(2):
        processes = [syncing(one, database, "one"), syncing(other, database, "other")]
        for process in processes:
            go(process)
        for process in processes:
            ended(process)
        fill(one, range(350), "new")  # and once more, both with changes
        fill(other, range(200, 350), "new")
    repositories = [opened(one, database, "one"), opened(other, database, "other")]
    for repository in repositories:
        repository.core.index.refresh()
        assert repository.core.index.outside().held() == repository.core.index.catalogue.digests()
    ours, theirs = repositories
    for repository in repositories:
        repository.core.index.refresh()
    distinct = {*ours.core.index.outside().held().items(), *theirs.core.index.outside().held().items()}
    counts = tables(ours, "SELECT count(*), count(DISTINCT hash) FROM versions", "SELECT count(*) FROM holdings",
                    "SELECT count(*) FROM passages WHERE version NOT IN (SELECT n FROM versions)",
                    "SELECT count(*) FROM vectors WHERE owner NOT IN (SELECT n FROM versions)")  # fmt: skip
    assert counts == [[(len(distinct), len(distinct))], [(1600,)], [(0,)], [(0,)]]
    assert tables(ours, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [[(0,)]]
    assert len(distinct) == 700 + 200 + 200  # 200 of one's new ones are not the other's
    assert_as_in_sqlite(ours, tmp_path / "a")
    assert_as_in_sqlite(theirs, tmp_path / "b")
    for repository in repositories:
        repository.close()


def test_the_server_dies_in_the_middle_of_a_sync(server, database, tmp_path):
    """One clear line; the files are as they were; the next sync brings everything in order."""
    fill(tmp_path, range(1_500))
    layout = Repository.open(str(tmp_path)).layout
    before = files_as_they_are(layout)
    process = syncing(tmp_path, database, "one")
    go(process)
    assert process.stdout.readline() == "256\n"
    server.kill()
    try:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 1
        assert said.count("\n") == 1 and said.startswith("rawkomem: cannot reach PostgreSQL (fresh_"), said
        assert "the files are untouched" in said
        assert files_as_they_are(layout) == before
    finally:
        server.start()
    repository = opened(tmp_path, database, "one")
    report = repository.catch_up()
    assert report.rebuilt == "" and 0 < report.read < 1_500  # what was committed stayed
    assert repository.core.index.outside().held() == repository.core.index.catalogue.digests()
    assert len(repository.core.index.outside().held()) == 1_500
    assert_as_in_sqlite(repository, tmp_path)
    repository.close()


def test_a_server_that_comes_back_soon_is_waited_for(server, database, tmp_path):
    fill(tmp_path, range(600))
    process = syncing(tmp_path, database, "one")
    go(process)
    assert process.stdout.readline() == "256\n"
    server.kill()
    time.sleep(0.3)
    server.start()
    ended(process)
    repository = opened(tmp_path, database, "one")
    assert repository.core.index.refresh().read == 0 and len(repository.core.index.outside().held()) == 600
    repository.close()


def test_a_killed_sync_is_mended(database, tmp_path):
    """Killed after the store's commit and before the catalogue's, or anywhere else."""
    fill(tmp_path, range(600))
    process = syncing(tmp_path, database, "one")
    go(process)
    process.stdout.readline()
    process.kill()
    process.communicate()
    (tmp_path / ".rawko" / "memories" / "m0003.md").unlink()
    repository = opened(tmp_path, database, "one")
    repository.core.index.refresh()
    assert repository.core.index.outside().held() == repository.core.index.catalogue.digests()
    assert len(repository.core.index.outside().held()) == 599
    repository.close()


def test_a_lost_database_is_made_anew(server, database, tmp_path):
    """Under a process that stays open, and between two."""
    fill(tmp_path, range(40))
    repository = opened(tmp_path, database, "one")
    assert len(repository.search("apples", 5)) == 5
    name = database.rsplit("/", 1)[1]
    server.new_database(name)
    assert len(repository.search("zebras", 5)) == 5
    server.admin("DROP SCHEMA neolata, rawkomem CASCADE", database=name)
    assert len(repository.search("apples and zebras", 5)) == 5
    repository.close()
    server.new_database(name)
    again = opened(tmp_path, database, "one")
    assert len(again.search("zebras", 5)) == 5 and len(again.core.index.outside().held()) == 40
    assert_as_in_sqlite(again, tmp_path)
    again.close()


def test_a_rebuild_takes_nothing_from_others(database, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    fill(one, range(30))
    fill(other, range(30))
    ours, theirs = opened(one, database, "one"), opened(other, database, "other")
    ours.core.index.refresh()
    theirs.core.index.refresh()
    before = answers(theirs.core.index)
    ours.core.index.sync(rebuild=True)
    assert answers(theirs.core.index) == before and theirs.core.index.refresh().read == 0
    assert tables(ours, "SELECT count(*) FROM versions") == [[(30,)]]
    (one / ".rawko" / "memories" / "m0001.md").unlink()
    ours.core.index.refresh()
    hits = theirs.core.index.store.matching(["number"], 50, Filter())
    assert len(set(ids(hits))) == 30 and len(ours.core.index.outside().held()) == 29
    ours.close()
    theirs.close()
