"""A locale without Unicode and folders whose names are no Unicode give an answer, never a traceback."""

import os
import sys

import pytest
from rawkomem.model.errors import Refused
from rawkomem.repository import Repository

from tests.commands import Command

ASCII_ONLY = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are always Unicode here")


def test_a_locale_with_only_ascii_in_a_folder_with_another_name(tmp_path):
    folder = tmp_path / "für-проект"
    folder.mkdir()
    rawkomem = Command(folder)
    rawkomem.process("init", "--no-import", env=ASCII_ONLY)
    rawkomem.process("add", "Zebras cross at the café.", "--title", "Zébra", env=ASCII_ONLY)
    told = rawkomem.process("search", "café", env=ASCII_ONLY).stdout
    assert "Zébra" in told and "café" in next((folder / ".rawko" / "memories").glob("*.md")).read_text("utf-8")
    for words in (("doctor",), ("show", "zébra")):
        rawkomem.process(*words, env=ASCII_ONLY)


@pytest.mark.parametrize("words", [("init", "--no-import"), ("add", "Text."), ("list",), ("doctor",), ("check",)])
def test_a_folder_whose_name_is_no_unicode_is_refused_in_one_line(words, tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    if words[0] != "init":
        os.makedirs(folder + b"/.rawko/memories")
    done = Command(os.fsdecode(folder))(*words, check=None)
    assert done.returncode == 1 and "is not UTF-8 (rename it" in done.stderr and done.stderr.count("\n") == 1, done
    with pytest.raises(Refused, match="not UTF-8"):
        Repository.init(os.fsdecode(folder))
