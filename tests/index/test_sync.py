"""The reconcile loop: after whatever happens to files or to the index, it says what the files say."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rawkomem.files.layout import Layout, sweep, user_cache
from rawkomem.index import index as indexing
from rawkomem.index import ingest, sync
from rawkomem.index.stores.database import index_path
from rawkomem.model.entries import Entry
from rawkomem.model.errors import NotFound, RawkoError, Refused
from rawkomem.model.values import replace
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT, cases
from tests.files.plain_user import run_plain
from tests.torture.helpers import assert_equals_rebuild, change, embedder, index_of, memory, write


def titles(repository) -> list[str]:
    return sorted(row.title for row in repository.list())


def settle(repository) -> None:
    """Let the last changes grow old enough to be trusted, and catch up."""
    time.sleep(sync.RACY_NS / 1e9 + 0.01)
    repository.core.index.refresh()


# --- what happens to files ----------------------------------------------------------------------------------------


def test_nothing_changed_costs_nothing(repository, memories, monkeypatch):
    write(memories, "a.md", memory("A"))
    repository.sync()
    settle(repository)
    monkeypatch.setattr(indexing.Index, "sync", lambda *_: pytest.fail("nothing changed"))
    assert titles(repository) == ["A"]


def test_a_touched_file_is_not_read_again(repository, memories, monkeypatch):
    file = write(memories, "a.md", memory("A"))
    repository.sync()
    settle(repository)
    os.utime(file)
    monkeypatch.setattr(ingest, "read_rows", lambda *_: pytest.fail("the bytes are the same"))
    assert repository.sync().read == 0
    settle(repository)
    monkeypatch.setattr(indexing.Index, "sync", lambda *_: pytest.fail("the touch was noted"))
    assert titles(repository) == ["A"]


def test_a_memory_whose_entries_lie_in_several_files_is_folded_from_all(repository, memories):
    write(memories, "a.md", memory("A", "old", id="mem_1"))
    amend = write(memories, "b.md", change("amend", "mem_1", "new", at="2026-01-01T00:00:00Z"))
    assert repository.get("mem_1").body == "new"
    amend.unlink()
    assert repository.get("mem_1").body == "old"
    write(memories, "c.md", change("delete", "mem_1", at="2026-01-02T00:00:00Z"))
    assert titles(repository) == [] and repository.search("A old") == []
    write(memories, "z.md", change("feedback", "mem_2", signal="helpful"))
    repository.sync()
    assert_equals_rebuild(repository.core.index)


@pytest.mark.parametrize("tick", [4_000_000, 15_000_000])
def test_an_edit_of_the_same_size_within_a_tick_of_the_clock_is_seen(repository, memories, monkeypatch, tick):
    """On a file system whose time stamps are coarse, a file can change without any of them changing."""
    real = indexing.sweep

    def coarse(layout, stamped=False):
        seen = real(layout, stamped=True)
        stamps = {}
        for path, stamp in seen.stamps.items():
            size, mtime, inode, ctime = stamp.split(" ")
            stamps[path] = f"{size} {int(mtime) // tick * tick} {inode} {int(ctime) // tick * tick}"
        return replace(seen, stamps=stamps, digest=f"{len(stamps)} {stamps}")

    for module in (indexing, sync):
        monkeypatch.setattr(module, "sweep", coarse)
    file = memories / "a.md"
    for number in range(6):
        file.write_text(memory(f"title {number:03}"), "utf-8")
        repository.core.index.refresh()
        file.write_text(memory(f"other {number:03}"), "utf-8")
        assert titles(repository) == [f"other {number:03}"]


def test_a_time_stamp_in_the_future_does_not_make_every_search_a_sync(repository, memories, monkeypatch):
    file = write(memories, "a.md", memory("A"))
    os.utime(file, (4_000_000_000, 4_000_000_000))
    repository.sync()
    settle(repository)
    monkeypatch.setattr(indexing.Index, "sync", lambda *_: pytest.fail("nothing changed"))
    assert titles(repository) == ["A"]


def test_a_file_above_the_cap_does_not_make_the_index_look_old(repository, memories):
    file = write(memories, "a.md", memory("A", "x" * (6 * 1024 * 1024)))
    write(memories, "b.md", memory("B"))
    assert titles(repository) == ["B"]
    status = repository.store.status()
    assert status.fresh and status.quarantined == 1
    os.utime(file)
    assert repository.sync().read == 0


# --- files and folders that cannot be read ------------------------------------------------------------------------


@pytest.fixture
def deny(monkeypatch):
    """Make single files unreadable, whoever runs the test; `allow` makes them readable again."""
    denied: set[str] = set()
    real = os.open

    def guarded(path, *arguments, **named):
        if str(path) in denied:
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **named)

    monkeypatch.setattr(os, "open", guarded)
    return denied


def test_what_an_unreadable_file_said_stays(repository, memories, deny):
    file = write(memories, "a.md", memory("A", "apples"))
    write(memories, "b.md", memory("B"))
    repository.sync()
    deny.add(str(file))
    file.write_text(memory("Changed"), "utf-8")
    write(memories, "c.md", memory("C"))
    assert titles(repository) == ["A", "B", "C"] and repository.store.status().stale == ("memories/a.md",)
    deny.clear()
    assert titles(repository) == ["B", "C", "Changed"] and repository.store.status().stale == ()
    assert_equals_rebuild(repository.core.index)


def test_a_file_that_was_busy_for_a_moment_is_read_without_any_other_change(repository, memories, deny):
    """On Windows an editor may hold a file: nothing about it changes when the editor lets go."""
    deny.add(str(memories / "a.md"))
    write(memories, "a.md", memory("A"))
    write(memories, "b.md", memory("B"))
    assert titles(repository) == ["B"]
    settle(repository)
    assert titles(repository) == ["B"] and repository.store.status().stale == ("memories/a.md",)
    deny.clear()
    assert titles(repository) == ["A", "B"]


def test_a_change_that_came_while_its_memory_was_unreadable_counts_at_once(repository, memories, deny):
    file = write(memories, "a.md", memory("A", "old", id="mem_1"))
    repository.sync()
    settle(repository)
    deny.add(str(file))
    write(memories, "b.md", change("amend", "mem_1", "new"))
    assert repository.get("mem_1").body == "new"
    deny.clear()
    assert repository.get("mem_1").body == "new"
    assert_equals_rebuild(repository.core.index)


def test_a_file_that_changes_to_and_fro_during_a_sync_is_read_again(repository, memories, monkeypatch):
    """A checkout and back while another file of the same memory is read: the fold must not keep what is gone."""
    file = write(memories, "a.md", memory("A", "true", id="mem_1"))
    write(memories, "b.md", change("feedback", "mem_1", signal="helpful"))
    repository.sync()
    settle(repository)
    real = ingest.read_bytes

    def checkout_and_back(path):
        if path != str(file):
            return real(path)
        file.write_text(memory("A", "false", id="mem_1"), "utf-8")
        data = real(path)
        file.write_text(memory("A", "true", id="mem_1"), "utf-8")
        return data

    monkeypatch.setattr(ingest, "read_bytes", checkout_and_back)
    write(memories, "b.md", change("feedback", "mem_1", signal="harmful"))
    repository.sync()
    monkeypatch.setattr(ingest, "read_bytes", real)
    assert repository.get("mem_1").body == "true"
    assert_equals_rebuild(repository.core.index)


def test_a_vanished_folder_is_not_taken_for_a_deletion(repository, memories):
    for number in range(10):
        write(memories, f"{number}.md", memory(f"M{number}"))
    repository.sync()
    memories.rename(memories.parent / "elsewhere")
    with pytest.raises(Refused, match="10 of 10 indexed files"):
        repository.search("anything")
    with pytest.raises(Refused):
        repository.sync()
    (memories.parent / "elsewhere").rename(memories)
    assert len(titles(repository)) == 10
    shutil.rmtree(memories)
    assert repository.store.rebuild().files == 0
    assert titles(repository) == []


def test_many_files_may_go_while_the_folder_is_there(repository, memories):
    for number in range(10):
        write(memories, f"{number}.md", memory(f"M{number}"))
    repository.sync()
    for number in range(9):
        (memories / f"{number}.md").unlink()
    assert titles(repository) == ["M9"]


def test_a_deleted_repository_is_not_brought_back_to_life(repository, memories, layout):
    write(memories, "a.md", memory("A"))
    repository.sync()
    shutil.rmtree(layout.root)
    with pytest.raises(NotFound, match="is gone"):
        repository.search("A")
    assert not os.path.exists(layout.root)


# --- what happens to the index ------------------------------------------------------------------------------------


@pytest.fixture
def filled(repository, memories):
    """A repository with a few memories in a fresh index, closed."""
    for number in range(12):
        body = f"Note {number} about apples and pears.\n\n" * 8
        write(memories, f"m{number:02}.md", memory(f"M{number:02}", body, tags="[fruit]"))
    repository.sync()
    settle(repository)
    repository.core.index.close()
    repository.warnings.clear()
    return repository


def assert_repaired(repository, why: str) -> None:
    assert [row.title for row in repository.list()] and len(titles(repository)) == 12
    assert len(repository.warnings) == 1 and why in repository.warnings[0], repository.warnings
    assert_equals_rebuild(repository.core.index)
    titles(repository)
    assert len(repository.warnings) == 1, "told once, mended once"


def damage_nothing_there(path):
    os.unlink(path)


def damage_empty(path):
    os.truncate(path, 0)


def damage_cut_off(path):
    os.truncate(path, os.path.getsize(path) // 2)


def damage_cut_to_a_byte(path):
    os.truncate(path, 1)


def damage_not_a_database(path):
    with open(path, "wb") as stream:
        stream.write(b"this is not a database\n" * 1000)


def damage_header(path):
    with open(path, "r+b") as stream:
        stream.write(os.urandom(100))


def damage_missing_tables(path):
    _sql(path, "DROP TABLE entries; DROP TABLE passages")


def damage_missing_meta(path):
    _sql(path, "DROP TABLE meta")


def damage_another_schema(path):
    _sql(path, "DROP TABLE meta; CREATE VIEW meta AS SELECT 1 AS key, 2 AS value")


def _sql(path, text):
    from rawkomem.index.stores.database import open_database

    connection = open_database(path)
    connection.execute(text)
    connection.close()


DAMAGES = [value for name, value in list(globals().items()) if name.startswith("damage_")]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_broken_index_is_made_anew_with_one_warning(filled, memories, damage):
    damage(filled.core.index.path)
    write(memories, "m00.md", memory("M00", "changed"))
    assert_repaired(filled, "building")


@pytest.mark.parametrize("ask", ["status", "sync", "search", "list", "get", "rebuild"])
def test_whatever_is_asked_first_mends_the_index(filled, memories, ask):
    damage_missing_tables(filled.core.index.path)
    write(memories, "m00.md", memory("M00", "changed"))
    calls = {"search": ("apples",), "get": ("m01",)}
    getattr(filled if hasattr(filled, ask) else filled.store, ask)(*calls.get(ask, ()))
    assert len(filled.warnings) == (0 if ask == "rebuild" else 1), filled.warnings
    assert_equals_rebuild(filled.core.index)


def test_random_bytes_anywhere_never_lead_to_a_wrong_answer_or_a_traceback(filled):
    """One page of the database after the other is overwritten: a search repairs what it reads."""
    path = filled.core.index.path
    expected = (titles(filled), [found.row.id for found in filled.search("apples", limit=12)])
    repaired = page = 0
    while page * 4096 < os.path.getsize(path):
        filled.store.rebuild()  # also of a damaged one
        filled.core.index.close()
        with open(path, "r+b") as stream:
            stream.seek(page * 4096)
            stream.write(os.urandom(4096))
        filled.warnings.clear()
        assert (titles(filled), [found.row.id for found in filled.search("apples", limit=12)]) == expected
        assert len(filled.warnings) <= 1, filled.warnings
        repaired += len(filled.warnings)
        page += cases(1, 3)
    assert repaired >= 2
    filled.store.rebuild()
    assert_equals_rebuild(filled.core.index)


def test_garbage_beside_the_database_does_no_harm(filled):
    with open(filled.core.index.path + "-wal", "wb") as stream:
        stream.write(os.urandom(50_000))
    assert len(titles(filled)) == 12
    assert_equals_rebuild(filled.core.index)


def test_a_folder_in_place_of_the_index_is_told(filled):
    os.unlink(filled.core.index.path)
    os.mkdir(filled.core.index.path)
    with pytest.raises(RawkoError):
        filled.search("apples")


def test_an_index_deleted_under_an_open_repository_is_made_anew(filled):
    titles(filled)
    for name in os.listdir(os.path.dirname(filled.core.index.path)):
        if name.startswith("index-"):
            os.unlink(os.path.join(os.path.dirname(filled.core.index.path), name))
    assert len(titles(filled)) == 12


def test_a_copied_index_is_foreign(filled, project, tmp_path_factory):
    """One that came with a clone or a copy of the folder may lie: its stamps are those of other files."""
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(project, copy)
    write(copy / ".rawko" / "memories", "m00.md", memory("M00", "theirs"))
    warnings: list[str] = []
    other = Repository.open(str(copy), warn=warnings.append)
    assert other.get("m00").body == "theirs"
    assert len(warnings) == 1 and "there is no index yet" in warnings[0]
    assert_equals_rebuild(other.core.index)


def test_a_moved_project_keeps_its_index(filled, project, tmp_path_factory):
    moved = tmp_path_factory.mktemp("moved") / "project"
    os.rename(project, moved)
    warnings: list[str] = []
    assert len(titles(Repository.open(str(moved), warn=warnings.append))) == 12
    assert warnings == []
    os.rename(moved, project)


def test_another_chunker_or_embedder_makes_the_index_anew(filled, monkeypatch):
    monkeypatch.setattr(indexing, "CHUNKER", "another-1")
    assert_repaired(filled, "made with schema")


def test_vectors_of_two_embedders_never_meet(filled):
    class Other:
        name, dims = "other-8", 8

        def embed(self, texts):
            return [b"\0\0\x80?" + bytes(28) for _ in texts]

    filled.core.index._embedder = Other()
    assert len(filled.search("apples")) == 10
    filled.core.index._embedder = embedder()
    assert len(filled.search("apples")) == 10
    assert_equals_rebuild(filled.core.index)


# --- a sync that does not finish ----------------------------------------------------------------------------------


class Failing:
    """The bundled embedder, failing at one call."""

    def __init__(self, at: int):
        self.left = at
        self.name, self.dims = embedder().name, embedder().dims

    def embed(self, texts):
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("out of memory")
        return embedder().embed(texts)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_error_in_the_middle_leaves_the_old_state_and_the_next_sync_repairs(filled, memories, monkeypatch, at):
    monkeypatch.setattr(sync, "BATCH_FILES", 5)
    for number in range(12):
        write(memories, f"m{number:02}.md", memory(f"N{number:02}", "now about zebras"))
    (memories / "m11.md").unlink()
    filled.core.index._embedder = Failing(at)
    with pytest.raises(RuntimeError):
        filled.sync()
    done = 5 * (at - 1)
    index = index_of(filled.layout)
    assert sum(row.title.startswith("N") for row in index.catalogue.rows()) == min(done, 11)
    index.close()
    filled.core.index._embedder = embedder()
    assert all(title.startswith("N") for title in titles(filled)) and len(titles(filled)) == 11
    assert_equals_rebuild(filled.core.index)


def test_a_rebuild_that_does_not_finish_is_finished_by_the_next_search(filled, monkeypatch):
    monkeypatch.setattr(sync, "BATCH_FILES", 5)
    filled.core.index._embedder = Failing(2)
    with pytest.raises(RuntimeError):
        filled.store.rebuild()
    filled.core.index._embedder = embedder()
    assert len(titles(filled)) == 12
    assert_equals_rebuild(filled.core.index)


# --- where the index lies -----------------------------------------------------------------------------------------

SEARCH = """
import json, sys
from rawkomem.repository import Repository
repository = Repository.open(sys.argv[1], warn=lambda message: None)
found = [found.row.title for found in repository.search("zebra", limit=1)]
print(json.dumps({"found": found, "index": repository.core.index.path}))
"""


@pytest.mark.parametrize("indexed", [False, True], ids=["new", "indexed-before"])
def test_a_read_only_repository_has_its_index_in_the_cache_folder(repository, memories, layout, indexed):
    write(memories, "a.md", memory("A"))
    if indexed:
        repository.sync()
        repository.core.index.close()
    write(memories, "b.md", memory("B", "zebra"))
    folders = [folder for folder in (memories, layout.local, layout.root) if os.path.isdir(folder)]
    before = sorted(os.listdir(layout.root))
    for folder in folders:
        os.chmod(folder, 0o555)
    try:
        result = run_plain(SEARCH, layout.root)
        again = run_plain(SEARCH, layout.root)
    finally:
        for folder in folders:
            os.chmod(folder, 0o755)
    assert result.returncode == again.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert seen["found"] == ["B"] and seen["index"].startswith(user_cache()) and os.path.exists(seen["index"])
    assert json.loads(again.stdout) == seen and sorted(os.listdir(layout.root)) == before


def test_two_repositories_never_share_a_cache_folder(tmp_path, monkeypatch):
    from rawkomem.index.stores import database

    monkeypatch.setattr(database, "_unwritable", lambda layout: True)
    names = ["a-b", "a/b", "a_b", "a b", "x" * 200 + "/end", "y" * 200 + "/end"]
    paths = {index_path(Layout(str(tmp_path / name / ".rawko"))) for name in names}
    assert len(paths) == len(names)
    assert all(len(os.path.basename(os.path.dirname(path))) <= 200 for path in paths)


def test_a_network_drive_has_its_index_in_the_cache_folder(layout, monkeypatch):
    from rawkomem.index.stores import database

    monkeypatch.setattr(database, "file_system", lambda path: "nfs4")
    assert index_path(layout).startswith(user_cache())


def test_cold_commands_one_after_another_make_the_same_index_as_a_rebuild(repository, memories, rawkomem):
    """A cold command embeds and packs without numpy; a rebuild does it in bulk. Both must come to the same numbers."""
    for number, word in enumerate(["apples", "zebras and login", "how we deploy: blue, then green"]):
        rawkomem("add", "--title", f"About {word}", input=f"Text {number} on {word}.\n\n# More\n\nAnd {number / 7}.\n")
        assert word.split()[0] in rawkomem("search", word, "--json").stdout
    assert_equals_rebuild(repository.core.index)


def test_a_process_that_stays_open_spares_itself_long_sweeps_but_sees_its_own_writes(repository, memories, monkeypatch):
    monkeypatch.setattr("rawkomem.index.index.MAX_SWEPT_FILES", 1)
    monkeypatch.setattr("rawkomem.index.index.SWEEP_PAUSE_FACTOR", 1_000_000)
    for name in ("a", "b"):
        (memories / f"{name}.md").write_text(f"---\ntitle: About {name}\n---\n\nText.\n", "utf-8")
    repository.sync()
    assert len(repository.list()) == 2
    (memories / "c.md").write_text("---\ntitle: About c\n---\n\nText.\n", "utf-8")
    assert len(repository.list()) == 2  # the last sweep is recent
    repository.add(Entry(title="Mine", body="Text."))
    assert len(repository.list()) == 4
    (memories / "d.md").write_text("---\ntitle: About d\n---\n\nText.\n", "utf-8")
    repository.sync()
    assert len(repository.list()) == 5
    assert len(Repository.open(repository.layout.project).list()) == 5


ASK_APART = """
import os, sys
from rawkomem.index import index
from rawkomem.repository import Repository
forked = os.fork
os.fork = lambda: print("apart", file=sys.stderr) or forked()
index.MAX_SWEPT_FILES = 1
repository = Repository.open(sys.argv[1])
print(sorted(row.title for row in repository.list()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a thread sweeps elsewhere")
def test_many_files_are_swept_by_a_child_process_that_sees_every_change(repository, memories):
    def asked() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", ASK_APART, repository.layout.project]
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)

    for name in "ab":
        write(memories, f"{name}.md", memory(name.upper()))
    repository.sync()
    settle(repository)
    assert asked().stdout == "['A', 'B']\n" and asked().stderr == "apart\n"
    stat = (memories / "b.md").stat()
    write(memories, "b.md", memory("C"))
    os.utime(memories / "b.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert asked().stdout == "['A', 'C']\n"
    (memories / "a.md").unlink()
    assert asked().stdout == "['C']\n"


@pytest.mark.skipif(sys.platform != "linux", reason="a thread sweeps elsewhere")
def test_a_sweep_whose_child_process_dies_is_repeated(layout, memories):
    write(memories, "a.md", memory("A"))
    program = (
        "import sys; from rawkomem.files import layout as files; real = files.sweep\n"
        "files.sweep = lambda layout: sys.exit(1)\n"
        "sweeping = files.SweepingApart(files.Layout(sys.argv[1])); files.sweep = real; print(sweeping.digest())"
    )
    command = [sys.executable, "-c", program, layout.root]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == sweep(layout).digest and done.stdout.startswith("1 ")


def test_a_name_of_any_length_is_just_no_memory(repository):
    with pytest.raises(NotFound):
        repository.get("x" * 100_000)
    assert not repository.warnings  # the index was not thrown away


def interrupted_creation(file) -> None:
    """Leave what a kill while tables are made in place leaves: a database and the journal that takes it back."""
    import apsw

    scratch = file.with_name("scratch.db")
    database = apsw.Connection(str(scratch))
    database.execute("PRAGMA cache_size = 5; PRAGMA cache_spill = 5; CREATE TABLE first (x)")
    database.execute("BEGIN; CREATE TABLE meta (key, value)")
    database.executemany("INSERT INTO meta VALUES (?, randomblob(900))", [(n,) for n in range(500)])
    for suffix in ("", "-journal"):
        shutil.copy(f"{scratch}{suffix}", f"{file}{suffix}")
    database.close(True)
    for left in file.parent.glob("scratch.db*"):
        left.unlink()


@pytest.mark.parametrize("words", [("search", "apple"), ("inject", "apple"), ("status",), ("list",), ("show", "a")])
def test_an_interrupted_creation_of_the_index_is_mended_by_any_command(project, memories, rawkomem, words):
    write(memories, "a.md", memory("Apple", "An apple a day."))
    index = Path(index_path(Layout(str(project / ".rawko"))))
    interrupted_creation(index)
    assert Path(f"{index}-journal").stat().st_size
    assert "pple" in rawkomem(*words).stdout or words[0] in ("status", "inject")
    assert rawkomem.json("status")["fresh"]


def test_an_index_whose_tables_were_not_finished_is_made_anew(repository, memories, monkeypatch):
    from rawkomem.index import sync

    write(memories, "a.md", memory("Apple"))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(sync, "own_inode", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        repository.sync()
    assert titles(repository) == ["Apple"]


@pytest.mark.parametrize("kind", ["ReadOnlyError", "CantOpenError", "IOError", "AuthError", "ProtocolError"])
def test_whatever_keeps_an_index_from_being_opened_it_is_made_anew(filled, monkeypatch, kind):
    import apsw

    real, failures = indexing.open_database, iter([getattr(apsw, kind)("injected")])

    def fail_once(*arguments, **named):
        failure = next(failures, None)
        if failure:
            raise failure
        return real(*arguments, **named)

    filled.core.index.release()
    monkeypatch.setattr(indexing, "open_database", fail_once)
    assert filled.list()


def test_an_index_that_cannot_be_removed_is_told_in_one_line(project, rawkomem, monkeypatch):
    os.mkdir(index_path(Layout(str(project / ".rawko"))))
    told = rawkomem("list", check=1).stderr
    assert told.count("\n") == 1 and "index" in told


def test_a_file_that_could_not_be_read_once_is_read_by_the_next_sync(repository, memories, rawkomem, monkeypatch):
    write(memories, "a.md", memory("Apple"))
    real, failures = ingest.read_bytes, iter([OSError(5, "Input/output error")])

    def fail_once(*arguments):
        failure = next(failures, None)
        if failure:
            raise failure
        return real(*arguments)

    monkeypatch.setattr(ingest, "read_bytes", fail_once)
    assert [titles(repository), titles(repository)] == [[], ["Apple"]]
    assert rawkomem.json("status")["fresh"]


APPLE = memory("Apple", "About apples.", id="mem_1", discoveredAt="2026-01-01")
VOTE = change("feedback", "mem_1", id="feedback_1", at="2026-02-01", signal="helpful")


def test_an_entry_that_does_not_come_last_is_folded_from_all(repository, memories):
    (memories / "a.md").write_text(APPLE)
    for body in ("First.", "Second."):
        repository.amend("mem_1", body=body)
        repository.sync()
    with (memories / "a.md").open("a") as stream:
        stream.write("\n---\n\n" + change("amend", "mem_1", "Earlier.", id="x", at="2026-01-05"))
    assert repository.get("mem_1").body == "Second."
    (memories / "b.md").write_text(VOTE + "\n---\n\n" + VOTE.replace("_1", "_2"))
    repository.sync()
    with (memories / "b.md").open("a") as stream:  # an id that is known already
        stream.write("\n---\n\n" + change("amend", "mem_1", "Copied.", id="x", at="2099-01-05"))
    assert repository.get("mem_1").body == "Second."
    assert_equals_rebuild(repository.core.index)


# A first sync reads files in a second process

AHEAD = """
import os, signal, sys
from rawkomem.index import ingest, sync
from rawkomem.repository import Repository
ingest.MIN_FILES_AHEAD, sync.BATCH_FILES, os.cpu_count = 1, 3, lambda: 2
real, fork, first = ingest.read_rows, os.fork, os.getpid()

def read_here(*arguments):
    if os.getpid() == first:
        print(arguments)
    return real(*arguments)

def fork_and_kill():
    child = fork()
    if child:
        os.kill(child, signal.SIGKILL)
    return child

ingest.read_rows = read_here
if sys.argv[2] == "killed":
    os.fork = fork_and_kill
with Repository.open(sys.argv[1]) as repository:
    assert repository.sync().read == 8
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="for want of fork")
@pytest.mark.parametrize("how", ["alive", "killed"])
def test_a_first_sync_reads_in_a_second_process(how, project, memories, repository):
    for number in range(8):
        (memories / f"m{number}.md").write_text(f"---\ntitle: Memory {number}\n---\n\nText {number}.\n")
    done = subprocess.run(
        [sys.executable, "-c", AHEAD, str(project), how], capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    assert bool(done.stdout) == (how == "killed")
    assert_equals_rebuild(repository.core.index)


def test_an_index_that_somebody_removes_during_a_sync_is_built_again(repository, memories, monkeypatch):
    (memories / "a.md").write_text("---\ntitle: About a\n---\n\nText.\n", "utf-8")
    index = repository.core.index
    follow = index.follow_commits
    removed = []

    def follow_without_index():
        if not removed:
            index.release()
            os.unlink(index.path)
            removed.append(index.path)
        return follow()

    monkeypatch.setattr(index, "follow_commits", follow_without_index)
    repository.sync()
    assert removed and [row.title for row in repository.list()] == ["About a"]
