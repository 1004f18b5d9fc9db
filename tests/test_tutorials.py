"""The tutorials work as written: a shell runs their commands one after the other, in an empty folder."""

import os
import re
import subprocess
import sys

import pytest

from tests.commands import ENVIRONMENT
from tests.conftest import ROOT

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHO = {
    f"GIT_{role}_{part}": f"Ann{end}"
    for role in ("AUTHOR", "COMMITTER")
    for part, end in (("NAME", ""), ("EMAIL", "@x.org"))
}
SHOWN = {  # what a reader must see
    "ten-minutes": (
        "Payments are tried three times",
        "whenToUse fired",
        "five tries within a minute",
        "rawkomem hook claude prompt; exit 0",
        "next: start 'claude' in this folder",
    ),
    "team": ("Deploys go out on Tuesdays", "so it was last month", "amend", "Retry three times.", "0 problems"),
}


def test_every_tutorial_is_tried():
    assert {file.stem.removeprefix("tutorial-") for file in (ROOT / "docs").glob("tutorial-*.md")} == set(SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_tutorial_works_as_written(name, tmp_path):
    script = "".join(SHELL.findall((ROOT / "docs" / f"tutorial-{name}.md").read_text("utf-8")))
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    around = {**ENVIRONMENT, **os.environ, **WHO, "PATH": path, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=tmp_path, env=around, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert [words for words in SHOWN[name] if words not in done.stdout] == [], done.stdout
