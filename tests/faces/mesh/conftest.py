"""A mesh over a project of its own."""

import os
import sys

import pytest
from rawkomem.faces.mesh.api import SyncMemoryMesh
from rawkomem.faces.mesh.cli import main
from rawkomem.files.layout import user_config

from tests.commands import Command


@pytest.fixture
def mesh(project):
    mesh = SyncMemoryMesh(db_dir=str(project), agent_id="Tester")
    yield mesh
    mesh.close()


@pytest.fixture
def memory_mesh(project) -> Command:
    """Run `memory-mesh` in `project`: called, in this process; `memory_mesh.process` starts a new one."""
    return Command(project, main, [sys.executable, "-c", "from rawkomem.faces.mesh.cli import main; main()"])


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
