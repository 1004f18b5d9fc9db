"""The file of this machine's records: ours alone, whole after a kill, set aside if it is foreign or damaged."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import pytest
from rawkomem.files import records
from rawkomem.files.background import do_unwaited
from rawkomem.files.layout import Layout
from rawkomem.files.private import make_private_folder
from rawkomem.files.records import (
    change,
    close_records,
    erase_removed,
    fact,
    insert,
    note,
    read,
    records_path,
    set_fact,
)
from rawkomem.model.errors import Unwritable

from tests.commands import ENVIRONMENT
from tests.files.plain_user import run_plain

NEWS = "SELECT line FROM news ORDER BY number"


@pytest.fixture
def layout(project):
    yield Layout(str(project / ".rawko"))
    close_records()


@pytest.fixture
def file(layout) -> Path:
    return Path(records_path(layout, make=True))


def lines(layout: Layout) -> list[str]:
    return [line for (line,) in read(layout, NEWS)]


def test_rows_come_back_and_the_oldest_leave(layout, file):
    assert read(layout, NEWS) == [] and not file.exists()  # reading makes no file
    for number in range(50):
        note(layout, "news", f"line {number} naïve \ud800")
    assert lines(layout) == [f"line {number} naïve ?" for number in range(30, 50)]
    set_fact(layout, "clone", "a")
    set_fact(layout, "clone", "b", replace=False)
    assert fact(layout, "clone") == "a" and fact(layout, "unknown") == ""
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_change_that_fails_changes_nothing(layout):
    note(layout, "news", "first")
    with pytest.raises(ZeroDivisionError), change(layout) as db:
        insert(db, "news", "second")
        raise ZeroDivisionError
    with pytest.raises(Unwritable, match="no such table: unknown"), change(layout) as db:
        insert(db, "news", "third")
        insert(db, "unknown", "x")
    assert lines(layout) == ["first"]


def test_a_removed_row_leaves_no_bytes(layout, file):
    with change(layout) as db:
        insert(db, "news", "violet harbour " * 1_000)
    with change(layout) as db:
        db.execute("DELETE FROM news")
    erase_removed(layout)
    assert not any(b"violet harbour" in path.read_bytes() for path in file.parent.glob("local-*"))


def test_bytes_that_another_process_still_reads_are_not_reported_as_gone(layout, file, monkeypatch):
    monkeypatch.setattr(records, "BUSY_TIMEOUT_MS", 20)
    note(layout, "news", "violet harbour")
    reader = apsw.Connection(str(file))
    reader.execute("BEGIN; SELECT * FROM news").fetchall()
    with change(layout) as db:
        db.execute("DELETE FROM news")
    with pytest.raises(Unwritable, match="another process reads it"):
        erase_removed(layout)
    reader.close()
    erase_removed(layout)
    assert not any(b"violet harbour" in path.read_bytes() for path in file.parent.glob("local-*"))


def test_a_damaged_schema_is_set_aside(layout, file):
    note(layout, "news", "old")
    erase_removed(layout)
    close_records()
    with file.open("r+b") as stream:
        stream.seek(100)
        stream.write(b"\xff" * 400)
    for _ in range(2):
        note(layout, "news", "new")
    assert lines(layout)[-1] == "new" and os.path.exists(f"{file}.aside-1")


def test_threads_share_one_connection(layout):
    def work() -> None:
        for _ in range(25):
            with change(layout) as db:
                count = int(next((value for (value,) in db.execute("SELECT value FROM facts")), 0))
                db.execute("INSERT OR REPLACE INTO facts VALUES ('count', ?)", (str(count + 1),))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fact(layout, "count") == "100"


def test_a_file_that_is_deleted_while_it_is_open_is_made_again(layout, file):
    note(layout, "news", "first")
    shutil.rmtree(layout.local)
    note(layout, "news", "second")
    assert lines(layout) == ["second"] and os.path.exists(records_path(layout))


CHILD = """
import sys
from rawkomem.files.layout import Layout
from rawkomem.files.records import change, insert
for number in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
    with change(Layout(sys.argv[1])) as db:
        insert(db, "learned", str(number), "first half")
        insert(db, "learned", str(number), "second half")
    print(number, flush=True)
"""


def child(layout: Layout, start: int, count: int) -> subprocess.Popen:
    words = [sys.executable, "-c", CHILD, layout.root, str(start), str(count)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


def test_a_kill_loses_no_change_and_leaves_none_half_done(layout):
    done: set[str] = set()
    for number in range(4):
        process = child(layout, 1_000_000 * number, 100_000)
        done.add(process.stdout.readline().strip())
        time.sleep(0.04 * number)
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        done |= {line.strip() for line in out.splitlines(keepends=True) if line.endswith("\n")}
        close_records()
    rows = read(layout, "SELECT source, count(*) FROM learned GROUP BY source")
    assert done <= {source for source, _ in rows} and {count for _, count in rows} == {2}


def test_processes_that_start_at_once_make_one_file(layout, file):
    processes = [child(layout, 1_000 * number, 40) for number in range(3)]
    assert [process.wait() for process in processes if process.communicate()] == [0, 0, 0]
    assert read(layout, "SELECT count(*) FROM learned") == [(240,)]
    assert not list(file.parent.glob("*aside*")) and not list(file.parent.glob("*.new"))


def test_a_forked_process_opens_the_file_itself(layout, monkeypatch):
    monkeypatch.setattr("rawkomem.files.background.can_fork", lambda: True)
    note(layout, "news", "parent")
    do_unwaited(lambda: note(layout, "news", "child"))
    note(layout, "news", "parent again")
    deadline = time.monotonic() + 30
    while "child" not in lines(layout) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert sorted(lines(layout)) == ["child", "parent", "parent again"]


# A file that is not ours


def plant(file: Path, tmp_path: Path, kind: str) -> None:
    """Put something into the place of our file."""
    close_records()
    data = file.read_bytes()
    if kind == "copy":  # with all tables, but another inode
        shutil.copy(file, tmp_path / "copy")
        os.replace(tmp_path / "copy", file)
        return
    if kind == "open to others":
        file.chmod(0o644)
        return
    for path in file.parent.glob("local-*"):
        path.unlink()
    if kind == "link":
        (tmp_path / "victim").write_text("precious")
        file.symlink_to(tmp_path / "victim")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        torn = {
            "empty": b"",
            "text": b"planted\n" * 2_000,
            "cut off": data[:5_000],
            "noise": data[:16] + os.urandom(9_000),
        }
        file.write_bytes(torn[kind])
        file.chmod(0o600)


@pytest.mark.parametrize(
    "kind", ["copy", "open to others", "link", "pipe", "folder", "empty", "text", "cut off", "noise"]
)
def test_a_foreign_or_damaged_file_is_set_aside(kind, layout, file, tmp_path, capsys):
    note(layout, "news", "ours")
    for _ in range(300):
        note(layout, "calls", 1, "host", "event", 1, 0)
    plant(file, tmp_path, kind)
    for _ in range(2):  # a file that is cut off may show its damage only when it is read
        note(layout, "news", "new")
        lines(layout)
    note(layout, "news", "last")
    assert lines(layout)[-1] == "last" and "ours" not in lines(layout)
    assert os.path.lexists(f"{file}.aside-1")
    assert "is damaged or was not made here, and is not used" in capsys.readouterr().err
    assert kind != "link" or (tmp_path / "victim").read_text() == "precious"


def test_a_log_without_its_file_is_not_replayed_into_a_new_one(layout, file):
    """A user deletes the file alone, or a kill comes while it is set aside."""
    for number in range(200):
        note(layout, "learned", str(number), "old")
    close_records()
    file.unlink()
    assert os.path.getsize(f"{file}-wal") > 0
    note(layout, "learned", "1", "new")
    assert read(layout, "SELECT source, part FROM learned") == [("1", "new")]
    assert read(layout, "PRAGMA integrity_check") == [("ok",)]


def test_a_process_that_still_reads_a_damaged_file_does_not_set_its_successor_aside(layout, file):
    note(layout, "news", "old")
    damaged = file.stat().st_ino
    connection = records._connections[str(file)][2]
    os.rename(file, f"{file}.aside-1")  # another process set it aside and made a new one
    records._connections.clear()
    note(layout, "news", "new")
    records._connections[str(file)] = (os.getpid(), damaged, connection)
    records._look_after(layout, apsw.CorruptError())
    assert lines(layout) == ["new"] and not os.path.exists(f"{file}.aside-2")


def test_on_a_full_disk_nothing_is_changed_and_later_changes_work(layout, file):
    note(layout, "news", "first")
    with pytest.raises(Unwritable, match="full"), change(layout) as db:
        pages = db.execute("PRAGMA page_count").fetchall()[0][0]
        db.execute(f"PRAGMA max_page_count = {pages}")
        insert(db, "news", "second" * 100_000)
    with change(layout) as db:
        db.execute("PRAGMA max_page_count = 1000000")
        insert(db, "news", "third")
    assert lines(layout) == ["first", "third"]


def test_no_pull_can_put_a_log_beside_the_file(layout, tmp_path):
    """SQLite would replay it: each name holds a secret, so that it is another one in each folder."""
    other = Layout(str(tmp_path / "other" / ".rawko"))
    names = []
    for one in (layout, other):
        note(one, "news", "ours")
        names.append({path.name for path in Path(one.local).glob("local*")})
    assert len(names[0]) == len(names[1]) >= 3 and names[0].isdisjoint(names[1])


def test_no_statement_of_a_hostile_schema_runs(layout, file, capsys):
    """A view that never ends, in the place of each of our tables, and triggers: its seal is wrong, so nothing reads it."""
    make_private_folder(layout.local)
    forged = apsw.Connection(str(file))
    for name in ("news", "facts", "purges", "blocks"):
        forged.execute(
            f"CREATE VIEW {name} AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n"
        )
    forged.close()
    file.chmod(0o600)
    assert lines(layout) == [] and fact(layout, "clone") == ""
    note(layout, "news", "ours")
    assert lines(layout) == ["ours"] and "not used" in capsys.readouterr().err


def test_the_seal_holds_the_secret_of_the_folder(layout, file, monkeypatch):
    note(layout, "news", "ours")
    close_records()
    monkeypatch.setattr(records, "seal_of", lambda path, inode: str(inode))
    assert read(layout, NEWS) == [] and os.path.exists(f"{file}.aside-1")


READ_ONLY = """
import sys
from rawkomem.files.layout import Layout
from rawkomem.files.records import note, read
layout = Layout(sys.argv[1])
note(layout, "news", "not written")
print([line for line, in read(layout, "SELECT line FROM news")])
"""


@pytest.mark.parametrize("closed", [True, False])
def test_in_a_read_only_folder_records_are_read(closed, layout, file):
    note(layout, "news", "ours")
    if closed:
        erase_removed(layout)
        close_records()
        for suffix in ("-wal", "-shm"):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
    for path in file.parent.glob("local-*"):
        path.chmod(0o400)
    file.parent.chmod(0o500)
    try:
        result = run_plain(READ_ONLY, layout.root)
    finally:
        file.parent.chmod(0o700)
    assert result.stdout == "['ours']\n", result.stderr
