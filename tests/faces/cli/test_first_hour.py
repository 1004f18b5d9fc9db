"""docs/first-hour.md is what tools/first_hour.py records: the same commands, and nothing of one machine."""

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from tests.conftest import ROOT

TOOL, PAGE = ROOT / "tools" / "first_hour.py", ROOT / "docs" / "first-hour.md"
PROMPT = re.compile(r"^(~\S*)\$ (.+)$", re.MULTILINE)


@pytest.fixture
def tool(monkeypatch) -> ModuleType:
    spec = spec_from_file_location("first_hour", TOOL)
    assert spec and spec.loader
    loaded = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "first_hour", loaded)
    spec.loader.exec_module(loaded)
    return loaded


def test_the_page_shows_the_commands_of_the_script(tool):
    commands = [command.line for step in tool.steps() for command in step.commands]
    assert [line for _, line in PROMPT.findall(PAGE.read_text(encoding="utf-8"))] == commands


def test_the_page_names_no_path_of_a_machine():
    assert re.findall(r"(?<![\w.~/])/(?:tmp|home|root|work|Users|dev/shm)\b\S*", PAGE.read_text(encoding="utf-8")) == []


@pytest.mark.slow
def test_every_command_of_the_page_works(tool, tmp_path):
    """Builds the wheel, installs it, and runs the whole page; needs the package index."""
    out = tmp_path / "page.md"
    done = subprocess.run([sys.executable, str(TOOL), "--out", str(out)], capture_output=True, text=True, check=False)
    if done.returncode == tool.NO_INDEX_EXIT_CODE:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    recorded, page = (PROMPT.findall(file.read_text(encoding="utf-8")) for file in (out, PAGE))
    assert recorded == page
