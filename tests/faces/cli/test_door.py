"""The commands that agents run on every prompt load none of some slow modules; `rawkomem bench speed` shows the price."""

import json
import subprocess
import sys
import time

import pytest

from tests.commands import ENVIRONMENT
from tests.torture.helpers import memory

BANNED = {"click", "dataclasses", "pathlib", "numpy"}
THREADS = "threading"  # a process with threads cannot fork, so the hook's host would wait for its records
CODE = """
import sys
from rawkomem.faces.cli import run
code = run(sys.argv[1:])
sys.stdout.flush()
sys.stderr.write("\\n" + " ".join(sys.modules))
raise SystemExit(code)
"""
COMMANDS = {
    "search": ["search", "how do we deploy"],
    "inject": ["inject", "deploy the service"],
    "feedback": ["feedback", "deploy", "helpful"],
    "stats": ["stats"],
    "sync": ["sync"],
    "merge driver": ["merge-driver", "base.md", "ours.md", "theirs.md"],
    "prompt hook": ["hook", "claude", "prompt"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_frequent_command_loads_no_slow_module(name, project, memories, rawkomem):
    text = memory("Deploy", "Deploy with make ship.", id="deploy", whenToUse=["deploy the service"])
    for file in (memories / "deploy.md", project / "base.md", project / "ours.md", project / "theirs.md"):
        file.write_text(text)
    time.sleep(0.05)  # a file that changed a moment ago is read again
    rawkomem("sync")
    call = {"session_id": "s", "cwd": str(project), "prompt": "deploy the service", "transcript_path": ""}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *COMMANDS[name]],
        input=json.dumps(call), capture_output=True, text=True, cwd=project, env=ENVIRONMENT, check=False,
    )  # fmt: skip
    loaded = set(done.stderr.rpartition("\n")[2].split())
    assert done.returncode == 0, done.stderr
    assert "rawkomem.model.values" in loaded and not loaded & BANNED
    assert THREADS not in loaded or name == "feedback"  # which starts git
    assert "typing" not in loaded or name not in ("search", "inject", "sync", "prompt hook", "merge driver")
    assert not loaded & {"re", "json", "contextlib"} or name not in ("search", "sync", "merge driver")
