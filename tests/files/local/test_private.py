"""Files below .rawko/local: for this user alone, never through a link, whole whatever is torn."""

from __future__ import annotations

import os
import re
import stat

import pytest
from rawkomem.files.layout import Layout
from rawkomem.files.private import PURPOSES, LineFile, local_path, lock, make_private_folder, open_local, replace_local
from rawkomem.model.errors import RawkoError, Refused, Unwritable

from tests.conftest import ROOT


@pytest.fixture
def layout(project) -> Layout:
    return Layout(str(project / ".rawko"))


@pytest.fixture
def file(layout) -> LineFile:
    return LineFile(local_path(layout, "some/lines.tsv"))


def test_lines_come_back(file):
    assert file.lines() == [] and file.size() == 0
    assert file.append("one", "two") == len("one\ntwo\n") == file.size()
    file.append("a\nb", "naïve \ud800")
    assert file.lines() == ["one", "two", "a b", "naïve ?"]
    file.replace("last")
    assert file.lines() == ["last"]
    file.replace()
    assert not os.path.exists(file.path)


def test_a_torn_line_is_skipped_and_spoils_no_other(file):
    file.append("1", "2", "x", "4")
    os.truncate(file.path, file.size() - 1)
    assert file.parsed(lambda line: int(line) if line.isdecimal() else None) == [1, 2, 4]
    os.truncate(file.path, file.size() - 2)
    with open(file.path, "ab") as stream:
        stream.write(b"\n7\xff")
    file.append("5")
    assert file.parsed(lambda line: int(line) if line.isdecimal() else None) == [1, 2, 5]


def test_a_long_file_loses_its_older_half(layout):
    file = LineFile(local_path(layout, "log"), max_bytes=100)
    for number in range(1000, 1100):
        file.append(str(number))
    lines = file.lines()
    assert file.size() <= 100 and lines == [str(number) for number in range(1100 - len(lines), 1100)] and len(lines) > 8


def test_what_is_written_is_for_this_user_alone(layout, file):
    umask = os.umask(0)
    try:
        file.append("x")
        replace_local(layout, "whole", b"x")
        with lock(layout, "write"):
            pass
    finally:
        os.umask(umask)
    for name in ("some/lines.tsv", "whole", "write.lock"):
        assert stat.S_IMODE(os.stat(local_path(layout, name)).st_mode) == 0o600, name


@pytest.mark.parametrize("mode", ["r", "r+", "a", "a+", "w"])
def test_no_link_is_opened(layout, tmp_path, mode):
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    make_private_folder(layout.local)
    os.symlink(victim, os.path.join(layout.local, "name"))
    with pytest.raises(OSError):
        open_local(layout, "name", mode)
    with pytest.raises(Unwritable, match=r"cannot use .*name"):
        LineFile(local_path(layout, "name")).append("x")
    replace_local(layout, "name", b"ours")
    assert victim.read_text() == "precious\n" and not os.path.islink(local_path(layout, "name"))


def test_no_folder_that_is_a_link_is_used(layout, tmp_path):
    make_private_folder(layout.local)
    os.symlink(tmp_path, os.path.join(layout.local, "ledger"))
    with pytest.raises(Refused, match="is a link"):
        local_path(layout, "ledger/spool.tsv")
    with pytest.raises(Refused, match="is a link"):
        lock(layout, "ledger-spool")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_is_not_waited_for(layout):
    make_private_folder(layout.local)
    os.mkfifo(os.path.join(layout.local, "pipe"))
    for use in (lambda file: file.lines(), lambda file: file.append("x")):
        with pytest.raises(RawkoError):
            use(LineFile(local_path(layout, "pipe")))


def test_every_lock_is_in_the_table_and_every_row_is_used():
    used: set[str] = set()
    for path in (ROOT / "rawkomem").rglob("*.py"):
        text = path.read_text("utf-8")
        used |= set(re.findall(r"\block(?:_in)?\([^\n]*?, \"([\w-]+)\"\)", text))
        used |= set(re.findall(r"\blocked\((?:self, purpose: str = )?\"([\w-]+)\"\)", text))
    assert used == set(PURPOSES)


def test_local_files_are_opened_in_one_place():
    """Nothing in the package joins a name to the local folder to open it; SQLite opens its index itself."""
    allowed = {"files/private.py", "files/ledger.py", "index/stores/database.py", "git/connection.py",
               "repository/machine.py"}  # fmt: skip
    found = {
        path.relative_to(ROOT / "rawkomem").as_posix()
        for path in (ROOT / "rawkomem").rglob("*.py")
        if re.search(r"join\([\w.]*layout\.local\b", path.read_text("utf-8"))
    }
    assert found == allowed
