"""Files below .rawko/local: for this user alone, never through a link."""

import os
import re
import stat

import pytest
from rawkomem.files.private import (
    PURPOSES,
    append_log,
    local_path,
    lock,
    make_private_folder,
    open_private,
    replace_kept,
)
from rawkomem.model.errors import Refused

from tests.conftest import ROOT


def test_a_long_log_loses_its_older_half(layout):
    for number in range(1000, 1100):
        append_log(local_path(layout, "log"), str(number), max_bytes=100)
    with open(local_path(layout, "log")) as stream:
        lines = stream.read().split()
    assert 8 < len(lines) < 25 and lines == [str(number) for number in range(1100 - len(lines), 1100)]


def test_what_is_written_is_for_this_user_alone(layout):
    umask = os.umask(0)
    try:
        append_log(local_path(layout, "some/log"), "x", 100)
        replace_kept(layout, "whole", b"x")
        with lock(layout, "write"):
            pass
    finally:
        os.umask(umask)
    for name in ("some/log", "whole", "write.lock"):
        assert stat.S_IMODE(os.stat(local_path(layout, name)).st_mode) == 0o600, name


@pytest.mark.parametrize("mode", ["r", "a", "a+", "w"])
def test_no_link_is_opened(layout, tmp_path, mode):
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    make_private_folder(layout.local)
    os.symlink(victim, os.path.join(layout.local, "name"))
    with pytest.raises(OSError):
        open_private(os.path.join(layout.local, "name"), mode)
    replace_kept(layout, "name", b"ours")
    assert victim.read_text() == "precious\n" and not os.path.islink(local_path(layout, "name"))


def test_no_folder_that_is_a_link_is_used(layout, tmp_path):
    make_private_folder(layout.local)
    os.symlink(tmp_path, os.path.join(layout.local, "sinks"))
    with pytest.raises(Refused, match="is a link"):
        local_path(layout, "sinks/sender.log")
    with pytest.raises(Refused, match="is a link"):
        lock(layout, "sender")


def test_every_lock_is_in_the_table_and_every_row_is_used():
    used: set[str] = set()
    for path in (ROOT / "rawkomem").rglob("*.py"):
        text = path.read_text("utf-8")
        used |= set(re.findall(r"\block(?:_in)?\([^\n]*?, \"([\w-]+)\"\)", text))
        used |= set(re.findall(r"\blocked\((?:self, purpose: str = )?\"([\w-]+)\"\)", text))
    assert used == set(PURPOSES)


def test_local_files_are_opened_in_one_place():
    """Nothing in the package joins a name to the local folder to open it; SQLite opens its files itself."""
    allowed = {"git/connection.py", "repository/__init__.py", "repository/machine.py"}
    found = {
        path.relative_to(ROOT / "rawkomem").as_posix()
        for path in (ROOT / "rawkomem").rglob("*.py")
        if re.search(r"join\((?:[\w.]*layout\.local|kept_folder)\b", path.read_text("utf-8"))
    }
    assert found == allowed
