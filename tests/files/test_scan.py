"""The sweep: which files there are, and whether any of them may have changed."""

import os
import signal
import time

import pytest
from rawkomem.files.layout import sweep


def paths(layout) -> list[str]:
    return sorted(sweep(layout).paths)


def test_markdown_files_of_all_areas_are_seen(layout):
    for path in ("memories/a.md", "memories/x/y/z/b.md", "traces/2026-01/c.md", "log/d.md", "archive/e.md"):
        os.makedirs(os.path.dirname(layout.path(path)), exist_ok=True)
        open(layout.path(path), "w").close()
    for path in ("config.md", "local/f.md", "memories/.hidden/g.md", "memories/h.txt", "memories/.i.md", "other/j.md"):
        os.makedirs(os.path.dirname(layout.path(path)), exist_ok=True)
        open(layout.path(path), "w").close()
    assert paths(layout) == ["archive/e.md", "log/d.md", "memories/a.md", "memories/x/y/z/b.md", "traces/2026-01/c.md"]


def test_an_empty_repository_has_no_files(layout):
    assert sweep(layout).paths == [] and sweep(layout, stamped=True).stamps == {}


def test_two_sweeps_of_the_same_files_are_equal(layout, memories):
    for number in range(100):
        (memories / f"{number}.md").write_text(str(number))
    assert sweep(layout) == sweep(layout)


def same_size(file):
    file.write_text("other")


def same_mtime(file):
    stat = file.stat()
    file.write_text("longer text")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def same_size_and_mtime(file):
    stat = file.stat()
    file.write_text("other")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def replaced_by_a_copy(file):
    stat = file.stat()
    copy = file.with_suffix(".tmp")
    copy.write_text("other")
    os.utime(copy, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    os.replace(copy, file)


def renamed(file):
    file.rename(file.with_name("b.md"))


def removed(file):
    file.unlink()


def permission(file):
    file.chmod(0o600)


@pytest.mark.parametrize(
    "change", [same_size, same_mtime, same_size_and_mtime, replaced_by_a_copy, renamed, removed, permission]
)
def test_no_change_goes_unseen(layout, memories, change):
    file = memories / "a.md"
    file.write_text("first")
    before = sweep(layout)
    time.sleep(0.02)  # the kernel's clock ticks every 4 ms; what happens within a tick is the index's care
    change(file)
    assert sweep(layout).digest != before.digest


def test_names_with_odd_characters_survive(layout, memories):
    names = ["a b.md", "a\nb.md", "a\tb.md", "ü.md", "-a.md", "a 1 2 3.md", "🙂.md"]
    for name in names:
        (memories / name).write_text("x")
    assert paths(layout) == sorted(f"memories/{name}" for name in names)


def test_a_file_that_goes_away_while_we_look_is_not_there(layout, memories, monkeypatch):
    (memories / "a.md").write_text("x")
    real = os.scandir

    class Gone:
        """A folder entry whose file was removed after the folder was read."""

        name, path = "gone.md", str(memories / "gone.md")

        def is_file(self, follow_symlinks=True):
            return True

        def is_dir(self, follow_symlinks=True):
            return False

        def stat(self, follow_symlinks=True):
            raise FileNotFoundError

    class Listing(list):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(os, "scandir", lambda folder: Listing([Gone(), *real(folder)]))
    assert paths(layout) == ["memories/a.md"]


def test_a_folder_that_breaks_off_is_unreadable_not_empty(layout, memories, monkeypatch):
    (memories / "a.md").write_text("x")

    def broken(folder):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "scandir", broken)
    seen = sweep(layout)
    assert "memories" in seen.unreadable and "Input/output error" in seen.problems[0].message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_in_the_place_of_a_folder_is_not_waited_for(layout):
    os.mkfifo(layout.path("traces"))
    signal.alarm(20)  # ends the test if the sweep waits for a writer
    try:
        assert sweep(layout).unreadable == ("traces",)
    finally:
        signal.alarm(0)
