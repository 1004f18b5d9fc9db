"""Without its package, a server says what to install, with a command for the installer in use."""

import os

from tests.conftest import ROOT


def test_a_missing_extra_is_named(rawkomem, tmp_path):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    result = rawkomem.process("mcp", env={"PYTHONPATH": f"{tmp_path / 'hidden'}{os.pathsep}{ROOT}"}, check=1)
    assert result.stderr.count("\n") == 1 and "install 'mcp" in result.stderr
