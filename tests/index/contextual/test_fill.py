"""The second tier of vectors: filled in behind, used when nearly complete, never mixed with the first."""

import os
import shutil
import subprocess
import sys
import time
from unittest.mock import patch

import apsw
import pytest
from rawkomem.files.background import BACKGROUND_VARIABLE, MARK, WORK, is_background
from rawkomem.files.layout import user_cache
from rawkomem.index import contextual
from rawkomem.index.contextual import MAX_WORK_S, deepen
from rawkomem.index.index import worker_lock
from rawkomem.index.ingest import vectors_of
from rawkomem.index.status import MACHINE_BUSY, NO_WORKER, why_wait
from rawkomem.index.stores.sqlite import DEEP, REST
from rawkomem.model.entries import Task
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT, ROOT
from tests.index.digest import digest_parts

SUBJECTS = {
    "deploy": "Ship the service with a blue-green switch; the old version keeps running for an hour.",
    "backup": "Copies of the database are taken every night and tried out every week.",
    "colours": "Buttons are dark blue, warnings amber; never tell states apart by colour alone.",
    "payments": "Money is held in whole cents; a refund is a second booking, never a change of the first.",
}


@pytest.fixture
def auto(monkeypatch, project, memories):
    """A repository with the default embedder and a handful of memories."""
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "auto")
    monkeypatch.setenv("RAWKOMEM_BACKGROUND", "eager")  # a busy machine must not hold a worker up here
    for name, text in SUBJECTS.items():
        write(memories, name, text)
    opened = Repository.open(str(project), warn=lambda message: None)
    yield opened
    opened.close()


def write(memories, name: str, text: str) -> None:
    (memories / f"{name}.md").write_text(f"---\ntitle: About {name}\nwhenToUse: [{name}]\n---\n\n{text}\n")


def held(repository) -> list[tuple]:
    sql = "SELECT d.id, p.number, f.vector, c.bits FROM deep_fine f JOIN deep_coarse c ON c.n = f.n"
    sql += " JOIN passages p ON p.n = f.n JOIN documents d ON d.n = p.document ORDER BY d.id, p.number"
    return list(repository.core.index.reading().execute(sql))


def test_questions_are_answered_from_the_first_tier_until_the_second_is_there(auto):
    auto.sync()
    assert auto.store.status().tier.startswith("static") and auto.store.status().deep == 0
    before = auto.search("restoring lost data")
    assert auto.store.deepen() == 4
    status = auto.store.status()
    assert status.tier.startswith("minilm") and (status.deep, status.documents) == (4, 4)
    after = auto.search("restoring lost data")
    assert after[0].row.title == "About backup"
    assert [found.relevance for found in before] != [found.relevance for found in after]


def test_a_new_memory_is_found_before_it_has_contextual_vectors(auto, memories):
    auto.store.deepen()
    write(memories, "tea", "Earl Grey is kept in the left cupboard of the kitchen, beside the mugs.")
    found = auto.search("where is the tea kept in the kitchen")
    assert found[0].row.title == "About tea" and found[0].relevance > 0.43
    assert auto.store.status().tier.startswith("minilm") and auto.store.status().deep == 4
    injected = auto.inject(Task("make some tea in the kitchen, it is in a cupboard"))
    assert injected.items[0].memory.title == "About tea"


def test_the_rest_is_asked_in_the_first_tier_alone(auto, memories):
    auto.store.deepen()
    write(memories, "tea", "Earl Grey is kept in the left cupboard.")
    auto.sync()
    store, embedder = auto.core.index.store, auto.core.index.embedder
    rest = store.nearest(embedder.embed(["database backups"])[0], 50, Filter(), REST)
    assert {hit.id for hit in rest} == {"tea"}
    deep = store.nearest(auto.core.index.deep().embed(["database backups"])[0], 50, Filter(), DEEP)
    assert {hit.id for hit in deep} == set(SUBJECTS)


def test_many_new_memories_send_questions_back_to_the_first_tier(auto, memories):
    auto.store.deepen()
    for number in range(4):
        write(memories, f"new{number}", f"Something new, number {number}.")
    assert auto.store.status().tier.startswith("static")
    auto.store.deepen()
    assert auto.store.status().tier.startswith("minilm")


def test_new_memories_that_nobody_vouches_for_do_not(auto, memories, git):
    git.commit()
    auto.store.deepen()
    before = auto.search("restoring lost data")
    for number in range(6):
        write(memories, f"new{number}", f"Lost data is restored, number {number}.")
    after = auto.search("restoring lost data")
    assert [found for found in after if found.row.vouched] == before and len(after) > len(before)
    assert auto.store.status().tier.startswith("minilm")


def test_an_edited_memory_gets_new_vectors_and_the_others_keep_theirs(auto, memories):
    auto.store.deepen()
    before = {(id, number): vector for id, number, vector, _ in held(auto)}
    write(memories, "colours", "Everything is green now.")
    assert auto.store.deepen() == 1
    after = {(id, number): vector for id, number, vector, _ in held(auto)}
    changed = {id for (id, number) in after if before.get((id, number)) != after[id, number]}
    assert changed == {"colours"}


@pytest.fixture
def encoder_refused(monkeypatch):
    """Call it to make every further computation of a vector fail."""

    def refuse(*_):
        raise AssertionError("nothing should be embedded again")

    return lambda: monkeypatch.setattr("rawkomem.embed.minilm_pass.Encoder.__call__", refuse)


def test_a_rebuild_takes_kept_vectors_and_ends_the_same(auto, encoder_refused):
    auto.store.deepen()
    before, hash = held(auto), digest_parts(auto.core.index)
    auto.store.rebuild()
    assert held(auto) == []
    encoder_refused()
    assert auto.store.deepen() == 4
    assert held(auto) == before and digest_parts(auto.core.index) == hash


def test_vectors_of_another_model_are_thrown_away(auto, project):
    auto.store.deepen()
    auto.core.index.close()
    connection = apsw.Connection(auto.core.index.path)
    connection.execute("UPDATE meta SET value = 'another-model' WHERE key = 'deep'")
    connection.close()
    assert auto.store.status().tier.startswith("static")
    assert auto.store.deepen() == 4
    assert auto.store.status().tier.startswith("minilm")


def test_the_setting_static_switches_it_off(auto, project, monkeypatch):
    auto.store.deepen()
    monkeypatch.delenv("RAWKOMEM_EMBEDDER")
    (project / ".rawko" / "config.yaml").write_text("embedder: static\n")
    plain = Repository.open(str(project), warn=lambda message: None)
    assert plain.store.status().tier.startswith("static")
    assert plain.store.deepen() == 0 and not plain.core.deepen_in_background()
    status = plain.store.status()
    assert (status.deep, status.documents, status.deep_waits) == (0, 0, "")
    plain.close()


def test_status_promises_nothing_that_does_not_come(auto, project, rawkomem):
    auto.sync()
    shown = {name: rawkomem("status", env={"RAWKOMEM_EMBEDDER": name}).stdout for name in ("static", "auto")}
    assert "contextual vectors: none to compute" in shown["static"]
    assert f"contextual vectors: 0 of 4; {NO_WORKER}" in shown["auto"]
    with worker_lock():
        assert auto.store.status().deep_waits in ("", MACHINE_BUSY)


def test_a_deleted_memory_leaves_no_vectors(auto):
    auto.store.deepen()
    auto.delete("backup")
    auto.sync()
    assert {row[0] for row in held(auto)} == set(SUBJECTS) - {"backup"}


def cached_keys() -> list[tuple[bytes]]:
    connection = apsw.Connection(cache_path())
    found = list(connection.execute("SELECT key FROM vectors ORDER BY n"))
    connection.close()
    return found


def cache_path() -> str:
    return os.path.join(user_cache(), "vectors.db")


def test_another_clone_reuses_the_vectors(auto, project, tmp_path, encoder_refused):
    auto.store.deepen()
    shutil.copytree(project / ".rawko" / "memories", tmp_path / "clone" / ".rawko" / "memories")
    encoder_refused()
    with Repository.open(str(tmp_path / "clone")) as clone:
        assert clone.store.deepen() == 4 and held(clone) == held(auto)


def test_the_cache_is_private_and_holds_no_text(auto):
    auto.store.deepen()
    assert os.stat(cache_path()).st_mode & 0o777 == 0o600
    with open(cache_path(), "rb") as stream:
        data = stream.read()
    assert len(cached_keys()) >= 4 and not any(word in data for word in (b"blue-green", b"backup", b"cents"))


def test_a_purge_forgets_kept_vectors(auto):
    auto.store.deepen()
    keys = cached_keys()
    auto.lifecycle.purge("backup")
    with open(cache_path(), "rb") as stream:
        data = stream.read()
    assert keys and not cached_keys() and not any(key in data for (key,) in keys)


def test_the_oldest_vectors_are_dropped(auto, memories, monkeypatch):
    auto.store.deepen()
    before = cached_keys()
    monkeypatch.setattr(contextual, "MAX_VECTORS", len(before))
    write(memories, "tea", "Earl Grey is kept in the left cupboard.")
    auto.store.deepen()
    write(memories, "milk", "Oat milk is kept in the fridge.")
    auto.store.deepen()
    after = cached_keys()
    assert before[0] not in after and before[-1] in after


def test_a_broken_file_of_kept_vectors_is_made_anew(auto):
    auto.sync()
    os.makedirs(user_cache(), exist_ok=True)
    with open(cache_path(), "wb") as stream:
        stream.write(b"not a database" * 500)
    assert auto.store.deepen() == 4
    auto.store.rebuild()
    assert auto.store.deepen() == 4 and cached_keys()


@pytest.mark.parametrize("problem", ["a folder", "a link", "no folder", "locked"])
def test_a_cache_that_cannot_be_used_stops_nothing(auto, tmp_path, monkeypatch, problem):
    os.makedirs(user_cache(), exist_ok=True)
    monkeypatch.setattr(contextual, "CACHE_WAIT_MS", 10)
    other = apsw.Connection(cache_path()) if problem == "locked" else None
    if other:
        other.execute("BEGIN EXCLUSIVE")
    elif problem == "a folder":
        os.mkdir(cache_path())
    elif problem == "a link":
        os.symlink(tmp_path / "elsewhere", cache_path())
    else:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert auto.store.deepen() == 4 and not (tmp_path / "elsewhere").exists()


def test_several_processes_share_the_cache(auto, project, tmp_path, rawkomem):
    auto.sync()
    clones = [tmp_path / f"clone{number}" for number in range(2)]
    for clone in clones:
        shutil.copytree(project / ".rawko" / "memories", clone / ".rawko" / "memories")
    env = {**os.environ, "RAWKOMEM_EMBEDDER": "auto", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "rawkomem", "sync", "--deep"]
    running = [subprocess.Popen(words, cwd=clone, env=env, stdout=subprocess.PIPE, text=True) for clone in clones]
    assert all("4 memories got contextual vectors" in one.communicate()[0] for one in running)
    keys = cached_keys()
    assert len(keys) == len(set(keys)) >= 4


def test_two_at_once_do_the_work_once(auto):
    auto.sync()
    with auto.core.index.locked("contextual"):
        assert auto.store.deepen() == 0
    assert auto.store.deepen() == 4


def test_files_and_indexes_may_change_meanwhile(auto, memories):
    auto.sync()
    changes = iter(("edit", "remove", "index"))

    def disturb(done, total):
        change = next(changes, "")
        if change == "edit":
            write(memories, "colours", "Everything is green now.")
        elif change == "remove":
            (memories / "deploy.md").unlink()
        elif change == "index":
            auto.core.index.discard()

    with patch("rawkomem.index.contextual.BATCH_MEMORIES", 1):
        auto.store.deepen(disturb)
    assert {row[0] for row in held(auto)} == set(SUBJECTS) - {"deploy"}
    fresh = {row[:2]: row[2] for row in held(auto)}
    auto.store.rebuild()
    auto.store.deepen()
    assert {row[:2]: row[2] for row in held(auto)} == fresh


@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="the worker is started with posix_spawn")
def test_a_recall_leaves_a_worker_behind_and_does_not_wait_for_it(auto, rawkomem, project):
    auto.sync()
    env = {"RAWKOMEM_EMBEDDER": "auto", "RAWKOMEM_BACKGROUND": "eager"}
    rawkomem.process("inject", "take a backup of the database", env=env)
    deadline = time.monotonic() + 60
    while auto.store.status().deep < 4 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert auto.store.status().deep == 4
    assert not auto.core.deepen_in_background()  # nothing is missing


def test_a_worker_takes_no_module_from_the_project(auto, rawkomem, project):
    for name in ("numpy.py", "rawkomem.py"):
        (project / name).write_text("open('taken', 'w').close()\n")
    auto.sync()
    rawkomem.process("sync", env={"RAWKOMEM_EMBEDDER": "auto", "PYTHONSAFEPATH": "1"})
    assert auto.core.deepen_in_background()
    deadline = time.monotonic() + 60
    while auto.store.status().deep < 4 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert auto.store.status().deep == 4 and not (project / "taken").exists()


def test_sync_deep_tells_what_it_did(auto, rawkomem):
    result = rawkomem("sync", "--deep", env={"RAWKOMEM_EMBEDDER": "auto"})
    assert "4 memories got contextual vectors" in result.stdout
    status = rawkomem("status", env={"RAWKOMEM_EMBEDDER": "auto"}).stdout
    assert "minilm-l6-v1; contextual vectors: 4 of 4" in status


def test_a_cold_recall_in_the_first_tier_does_not_import_numpy(auto, rawkomem, project):
    code = "import sys; from rawkomem.faces.cli import run; run(['search', 'backup']); print('numpy' in sys.modules)"
    auto.sync()
    env = {**os.environ, "RAWKOMEM_EMBEDDER": "auto"}
    printed = subprocess.run([sys.executable, "-c", code], cwd=project, env=env, capture_output=True, check=True)
    assert printed.stdout.strip().endswith(b"False")


# Background work stays in the background: one core, lowest priority, aside under load
MEMORIES = 6


class Machine:
    """A machine of two cores with a load and a clock of its own."""

    def __init__(self, monkeypatch):
        self.load, self.now, self.cores = 0.0, 0.0, 2
        monkeypatch.setattr(os, "getloadavg", lambda: (self.ask_load(), 0.0, 0.0))
        monkeypatch.setattr(os, "cpu_count", lambda: self.cores)
        monkeypatch.setattr(contextual, "time", self)

    def ask_load(self) -> float:
        return self.load

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def machine(monkeypatch) -> Machine:
    return Machine(monkeypatch)


@pytest.fixture
def filled(monkeypatch, project, memories):
    """A repository whose memories have no contextual vectors yet, and get them two at a time."""
    monkeypatch.setattr(contextual, "BATCH_MEMORIES", 2)
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "auto")
    for number in range(MEMORIES):
        text = f"Service {number} restarts on port {8000 + number} after its nightly check."
        (memories / f"m{number}.md").write_text(f"---\ntitle: Service {number}\n---\n\n{text}\n")
    opened = Repository.open(str(project), warn=lambda message: None)
    opened.sync()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("load", "cores", "why"), [(0.2, 2, ""), (1.4, 2, ""), (1.6, 2, MACHINE_BUSY), (5.0, 8, ""), (0.6, 1, MACHINE_BUSY)]
)
def test_others_come_first(machine, load, cores, why):
    machine.load, machine.cores = load, cores
    assert why_wait() == why


def test_its_own_load_is_not_that_of_others(machine):
    machine.load, machine.cores = 1.0, 1
    assert why_wait(worked=True) == ""
    machine.load = 2.0
    assert why_wait(worked=True) == MACHINE_BUSY


def test_it_waits_under_load_and_goes_on_later(filled, machine):
    machine.load = 9.0
    ticks: list[int] = []

    def sleep(seconds: float) -> None:
        machine.now += seconds
        ticks.append(filled.store.status().deep)
        machine.load = 9.0 if len(ticks) < 3 else 0.0

    machine.sleep = sleep
    assert deepen(filled.core.index, waits=True) == MEMORIES
    assert ticks == [0, 0, 0]


def test_it_stops_between_two_batches_and_ends_where_the_load_stays(filled, machine):
    seen: list[int] = []

    def progress(made: int, total: int) -> None:
        seen.append(made)
        machine.load = 9.0

    done = deepen(filled.core.index, progress, waits=True)
    assert 0 < done < MEMORIES and seen == [done]
    assert machine.now >= MAX_WORK_S
    assert filled.store.status().deep == done
    assert deepen(filled.core.index) == MEMORIES - done
    assert filled.store.status().deep_seconds_left == 0


def test_status_tells_how_far_it_is(filled, rawkomem, machine):
    asked: list[int] = []

    def load() -> float:
        asked.append(1)
        return 0.0 if len(asked) == 1 else 9.0

    machine.ask_load = load
    deepen(filled.core.index, waits=True)
    assert "contextual vectors: 2 of 6" in rawkomem("status").stdout


def test_it_works_for_a_limited_time(filled, machine, monkeypatch):
    def progress(made: int, total: int) -> None:
        machine.now += MAX_WORK_S

    assert deepen(filled.core.index, progress, waits=True) == 2
    assert deepen(filled.core.index, waits=True) == MEMORIES - 2


@pytest.mark.parametrize("moment", ["while it waits", "between batches", "while it computes"])
def test_it_ends_when_its_folder_is_deleted(filled, project, machine, monkeypatch, moment):
    def vanish(*_: object) -> None:
        shutil.rmtree(project / ".rawko" / "local")

    if moment == "while it waits":
        machine.load, machine.sleep = 9.0, vanish
    elif moment == "while it computes":
        monkeypatch.setattr(contextual, "vectors_of", lambda *given: (vectors_of(*given), vanish())[0])
    done = deepen(filled.core.index, vanish if moment == "between batches" else None, waits=True)
    assert done == (2 if moment == "between batches" else 0) and not (project / ".rawko" / "local").exists()


def test_a_user_has_one_worker_for_all_repositories(filled, project, tmp_path, monkeypatch):
    shutil.copytree(project / ".rawko" / "memories", tmp_path / "other" / ".rawko" / "memories")
    started: list[str] = []
    monkeypatch.setattr("rawkomem.files.background._spawn", lambda command, *_: started.append(command[5]))
    with Repository.open(str(tmp_path / "other"), warn=lambda message: None) as other:
        other.sync()
        with worker_lock():
            os.utime(worker_lock().path, (0, 0))
            assert not filled.core.deepen_in_background() and not other.core.deepen_in_background()
            monkeypatch.setenv(BACKGROUND_VARIABLE, MARK)
            assert filled.store.deepen() == 0, "a second worker has nothing to do"
        assert filled.core.deepen_in_background() and not other.core.deepen_in_background()
        os.utime(worker_lock().path, (0, 0))
        assert other.core.deepen_in_background()
    assert started == [filled.layout.root, str(tmp_path / "other" / ".rawko")]


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="for want of priorities: not on Windows")
def test_the_worker_has_the_lowest_priority_and_one_thread():
    check = WORK.replace("from rawkomem.faces.cli import run; sys.exit(run(sys.argv[1:]))", "")
    check += "from rawkomem.embed.minilm_pass import workers"
    check += "; print(os.getpriority(os.PRIO_PROCESS, 0), workers(), os.environ['OMP_NUM_THREADS'])"
    environment = {**ENVIRONMENT, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", check], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["19", "1", "1"]
    assert not is_background()
