"""A mesh over a project of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rawkomem.faces.mesh import SyncMemoryMesh
from rawkomem.files.layout import user_config
from tests.conftest import ROOT


@pytest.fixture
def mesh(project):
    mesh = SyncMemoryMesh(db_dir=str(project), agent_id="Tester")
    yield mesh
    mesh.close()


@pytest.fixture
def memory_mesh(project):
    """Run the real command in a process of its own, in `project`."""

    def run(*words: str, check: int = 0):
        result = subprocess.run(
            [sys.executable, "-c", "from rawkomem.faces.mesh.cli import main; main()", *words],
            cwd=project,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=120,
            check=False,
        )
        assert result.returncode == check, f"exit {result.returncode}: {result.stdout}\n{result.stderr}"
        assert "Traceback" not in result.stderr, result.stderr
        return result

    return run


def write_user_config(text: str) -> None:
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    with open(user_config(), "w", encoding="utf-8") as stream:
        stream.write(text)


LESSON = {
    "situation": "The login was deployed without its fallback",
    "errorPattern": "auth_fallback_bypass",
    "oversight": "Nobody tried an expired token",
    "fix": "Refuse expired tokens before the fallback",
    "preventativeRule": "Try an expired token before every release of the login",
    "severity": "high",
    "applicableScope": "authentication",
    "confidence": 0.8,
}
SKILL = "name: Rotate keys;\nintent: rotate the signing keys of the API;\ntags: keys, security;\n\nSteps follow.\n"
