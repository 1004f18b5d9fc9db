"""A real watcher in storms of changes. The index is read as it lies, without any sweep of our own."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from rawkomem.files import watch as watching
from rawkomem.files.layout import Layout, sweep
from rawkomem.files.watch import Watch

from tests.commands import ENVIRONMENT, cases
from tests.torture.helpers import (
    assert_equals_rebuild,
    change,
    files_as_indexed,
    files_as_they_are,
    follows_head,
    index_of,
    memory,
    write,
)

QUIET = 300.0  # seconds after the last change within which the index says what the files say; 1 on an idle machine
GIT = {
    **ENVIRONMENT,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{f"GIT_{who}_{what}": "t@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


@contextmanager
def watcher(project: Path, log: Path):
    """`rawkomem watch` in a process of its own, from its first words to SIGTERM and a clean end."""
    with open(log, "w", encoding="utf-8") as stream:
        command = [sys.executable, "-m", "rawkomem", "-C", str(project), "index", "watch"]
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=ENVIRONMENT)
        try:
            wait_for(lambda: "watching" in log.read_text("utf-8"), 60, "the watcher did not start")
            yield process
            assert process.poll() is None, f"the watcher ended by itself: {log.read_text('utf-8')}"
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            code = process.wait(30)
    assert code == 0 and "Traceback" not in log.read_text("utf-8"), log.read_text("utf-8")


def wait_for(is_so, seconds: float, otherwise: str) -> float:
    """How long it took until it was so."""
    started = time.monotonic()
    while not is_so():
        if time.monotonic() - started > seconds:
            pytest.fail(f"{otherwise} within {seconds:g} s")
        time.sleep(0.02)
    return time.monotonic() - started


def wait_until_equal(layout: Layout, seconds: float = QUIET) -> float:
    """How long it took until the index knew every file, and then HEAD, which it follows in a step of its own."""
    index, files = index_of(layout), files_as_they_are(layout)
    took = wait_for(lambda: files_as_indexed(index) == files, seconds, "the index does not say what the files say")
    took += wait_for(lambda: follows_head(index), seconds, "the index does not know who vouches for what HEAD holds")
    assert files_as_they_are(layout) == files
    return took


# --- storms -------------------------------------------------------------------------------------------------------


class Storm:
    """Random changes of files, by hand and by git."""

    def __init__(self, project: Path, seed: int):
        self.project, self.memories, self.source = project, project / ".rawko" / "memories", random.Random(seed)
        self.count = 0
        self.operations = [self.create] * 6 + [self.edit] * 6 + [self.rename] * 3 + [self.remove] * 2
        self.operations += [self.save] * 6 + [self.append] * 2 + [self.touch] + [self.move_folder]
        self.git_operations = [self.commit, self.checkout, self.reset, self.stash, self.pop]
        self.git("init", "-q", "-b", "main")
        write(self.memories, "base.md", memory("Base", "apple"))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        assert self.git("branch", "other").returncode == 0

    def git(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["git", *words], cwd=self.project, env=GIT, capture_output=True, check=False)

    def run(self, count: int) -> None:
        for _ in range(count):
            every = self.git_operations if self.source.random() < 0.04 else self.operations
            self.source.choice(every)()

    def any_file(self) -> Path:
        files = sorted(self.memories.rglob("*.md"))
        return self.source.choice(files) if files else self.new_file()

    def new_file(self) -> Path:
        folder = self.source.choice(["", "", "", "lessons", "deep/er"])
        path = self.memories / folder / f"m{self.source.randrange(60)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self) -> str:
        self.count += 1
        word = self.source.choice(["apple", "banana", "zebra", "login"])
        return memory(f"T{self.count}", f"{word} number {self.count}", id=f"mem_{self.source.randrange(40)}")

    def create(self) -> None:
        self.new_file().write_text(self.text(), "utf-8")

    def edit(self) -> None:
        self.any_file().write_text(self.text(), "utf-8")

    def append(self) -> None:
        with open(self.any_file(), "a", encoding="utf-8") as stream:
            stream.write("\n---\n\n" + change("amend", f"mem_{self.source.randrange(40)}", "amended"))

    def rename(self) -> None:
        file = self.any_file()
        if file.exists():
            file.rename(self.new_file())

    def remove(self) -> None:
        self.any_file().unlink(missing_ok=True)

    def save(self) -> None:
        file = self.any_file()
        temporary = file.with_name(f".{file.name}.swp")
        temporary.write_text(self.text(), "utf-8")
        temporary.replace(file)

    def touch(self) -> None:
        self.any_file().touch()

    def move_folder(self) -> None:
        one, other = self.memories / "deep", self.memories / "moved"
        if one.exists() and not other.exists():
            one.rename(other)
        elif other.exists():
            shutil.rmtree(other)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "more")

    def checkout(self) -> None:
        self.git("checkout", "-q", "-f", self.source.choice(["main", "other"]))

    def reset(self) -> None:
        self.git("reset", "-q", "--hard", self.source.choice(["HEAD", "HEAD~1"]))

    def stash(self) -> None:
        self.git("stash", "push", "-q", "-u")

    def pop(self) -> None:
        self.git("stash", "pop", "-q")


def weather(project: Path, layout: Layout, log: Path, seed: int, bursts: int, each: int) -> None:
    storm, slowest = Storm(project, seed), 0.0
    with watcher(project, log):
        for _ in range(bursts):
            storm.run(each)
            slowest = max(slowest, wait_until_equal(layout))
            assert_equals_rebuild(index_of(layout))
    print(f"seed {seed}: {bursts * each} operations, quiet within {slowest:.2f} s at worst")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(11, 11 + cases(5, 2)))
def test_storms_of_operations(project, layout, tmp_path_factory, seed):
    weather(project, layout, tmp_path_factory.mktemp("log") / "log", seed, bursts=cases(10, 6), each=200)


def burst(project: Path, layout: Layout, log: Path, count: int, patience: float) -> None:
    """More events than a queue holds: watch events are dropped, and every file is indexed all the same."""
    folder = project / ".rawko" / "memories"
    with watcher(project, log):
        for number in range(count):
            write(folder, f"m{number}.md", memory(f"T{number}", f"apple number {number}"))
        took = wait_until_equal(layout, patience)
    print(f"{count} files in a burst: indexed {took:.1f} s after the last was written")


@pytest.mark.slow
def test_a_burst_of_thousands_of_files(project, layout, tmp_path_factory):
    """Each file makes four events, and the queue of a Linux system holds 16,384."""
    burst(project, layout, tmp_path_factory.mktemp("log") / "log", cases(10_000, 6_000), patience=300)


# --- the watcher itself -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_folders_and_indexes_may_go_and_come_back(project, layout, memories, tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "log"
    write(memories, "a.md", memory("A"))
    with watcher(project, log):
        wait_until_equal(layout)
        shutil.rmtree(memories)
        wait_for(lambda: "cannot be read fully" in log.read_text("utf-8"), QUIET, "nothing was said")
        write(memories, "b.md", memory("B"))
        wait_until_equal(layout)
        write(memories, "later.md", memory("Later"))
        wait_until_equal(layout)
        os.unlink(index_of(layout).path)
        wait_until_equal(layout)
        with open(index_of(layout).path, "r+b") as stream:
            stream.write(os.urandom(8192))
        write(memories, "c.md", memory("C"))
        wait_until_equal(layout)
        write(Path(layout.root), "traces/2026-01/t.md", memory("T", kind="trace"))
        wait_until_equal(layout)


def test_a_deleted_repository_is_not_brought_back_by_its_watcher(project, layout, tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "log"
    with watcher(project, log):
        time.sleep(0.3)
        shutil.rmtree(layout.root)
        wait_for(lambda: "is gone" in log.read_text("utf-8"), QUIET, "nothing was said")
        assert not os.path.exists(layout.root)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_watcher_cleanly_and_soon(project, tmp_path_factory, number):
    log = tmp_path_factory.mktemp("log") / "log"
    command = [sys.executable, "-m", "rawkomem", "-C", str(project), "index", "watch"]
    with open(log, "w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=ENVIRONMENT)
        wait_for(lambda: "watching" in log.read_text("utf-8"), 60, "the watcher did not start")
        time.sleep(0.2)
        started = time.monotonic()
        process.send_signal(number)
        assert process.wait(QUIET) == 0 and time.monotonic() - started < QUIET
    assert "Traceback" not in log.read_text("utf-8")


@contextmanager
def watch_in_a_thread(layout: Layout, reconcile, said: list[str]):
    watch = Watch(layout, reconcile, said.append)
    thread = threading.Thread(target=watch.run, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.stop()
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("step", "failure", "told"),
    [
        ("start", OSError(28, "inotify watch limit reached"), "inotify watch limit reached"),  # events are refused
        ("run", KeyError("deep/er"), "'deep/er'"),  # the thread that reads them ends
    ],
)
def test_without_events_the_watcher_looks_for_itself(layout, memories, monkeypatch, capfd, step, failure, told):
    def fail(observer):
        raise failure

    monkeypatch.setattr(watching, "Observer", type("Failing", (watching.Observer,), {step: fail}))
    monkeypatch.setattr(watching, "SWEEP_EVERY_S", 0.1)
    said: list[str] = []
    with watch_in_a_thread(layout, lambda: index_of(layout).refresh(), said):
        wait_for(lambda: said, QUIET, "nothing was said")
        for name in ("a", "b"):
            write(memories, f"{name}.md", memory(name.upper()))
            wait_until_equal(layout)
    assert said == [f"no file events here ({told}): checking every 0.1 s"]
    assert "Traceback" not in capfd.readouterr().err


def test_an_observer_that_lost_a_folder_is_stopped_all_the_same(layout, monkeypatch, capfd):
    """watchdog 7 raises a KeyError in `stop` after some moves of folders."""

    class Lost(watching.Observer):
        def stop(self):
            super().stop()
            raise KeyError("moved")

    monkeypatch.setattr(watching, "Observer", Lost)
    with watch_in_a_thread(layout, lambda: None, []) as watch:
        wait_for(lambda: watch.observer and watch.observer.is_alive(), QUIET, "it does not watch")
    assert watch.observer is None and "Traceback" not in capfd.readouterr().err


def test_reading_thousands_of_folders_makes_no_events(layout, memories, monkeypatch, caplog):
    """A sweep opens every folder: its own events would overflow the queue, and the answer would be another walk."""
    for number in range(4_500):
        (memories / f"n{number // 100}" / f"k{number % 100}").mkdir(parents=True)
    write(memories, "a.md", memory("A"))
    events: list[str] = []
    take = watching._Hints.on_any_event

    def record(hints, event):
        events.append(f"{event.event_type} {event.src_path}")
        take(hints, event)

    monkeypatch.setattr(watching._Hints, "on_any_event", record)
    monkeypatch.setattr(watching, "SWEEP_EVERY_S", 600)
    with watch_in_a_thread(layout, lambda: None, []) as watch:
        wait_for(lambda: watch.observer and watch.observer.is_alive(), QUIET, "it does not watch")
        write(memories, "n0/k0/first.md", memory("First"))
        wait_for(lambda: any("first.md" in event for event in events), 60, "the folders are not watched")
        for _ in range(3):
            sweep(layout)
            (memories / "a.md").read_text()
        write(memories, "n44/k99/last.md", memory("Last"))
        wait_for(lambda: any("last.md" in event for event in events), 60, "a change was not seen")
    assert not [
        event for event in events if not event.startswith(("created", "modified", "closed ", "moved", "deleted"))
    ]
    assert not [event for event in events if "a.md" in event]
    assert "overflowed" not in caplog.text


def test_a_folder_that_goes_away_at_the_wrong_moment_costs_no_events(layout, monkeypatch):
    """It was there when we looked and gone when we watched: try again, rather than poll for ever."""
    failures = iter([FileNotFoundError(2, "No such file or directory")])

    class Once(watching.Observer):
        def start(self):
            failure = next(failures, None)
            if failure:
                raise failure
            super().start()

    monkeypatch.setattr(watching, "Observer", Once)
    monkeypatch.setattr(watching, "SWEEP_EVERY_S", 0.05)
    said: list[str] = []
    with watch_in_a_thread(layout, lambda: None, said) as watch:
        wait_for(lambda: watch.observer and watch.observer.is_alive(), QUIET, "it does not watch")
        assert not watch.polling and said == []


def test_a_long_reconcile_does_not_put_the_next_sweep_far_off(layout, monkeypatch):
    """Events are dropped while a large burst is indexed: what they told must not wait fifty times as long."""
    monkeypatch.setattr(watching, "SWEEP_EVERY_S", 0.1)
    monkeypatch.setattr(watching._Hints, "on_any_event", lambda *_: None)
    times: list[float] = []

    def reconcile():
        times.append(time.monotonic())
        if len(times) == 1:
            time.sleep(1)

    with watch_in_a_thread(layout, reconcile, []):
        wait_for(lambda: len(times) >= 2, QUIET, "no second look")
    assert times[1] - times[0] < 40  # fifty seconds otherwise


def test_a_failure_is_told_once_and_the_watcher_goes_on(layout, monkeypatch):
    from rawkomem.model.errors import Unwritable

    monkeypatch.setattr(watching, "SWEEP_EVERY_S", 0.02)
    said, calls = [], []

    def reconcile():
        calls.append(1)
        if len(calls) < 6:
            raise Unwritable("the disk is full", "free some space")

    with watch_in_a_thread(layout, reconcile, said):
        wait_for(lambda: len(calls) > 8, QUIET, "it gave up")
    assert said == ["the disk is full (free some space)"]
