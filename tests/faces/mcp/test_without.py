"""Without its package, a server says what to install, with a command for the installer in use."""

import os

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize("command, module", [("mcp", "mcp"), ("lsp", "pygls")])
def test_a_missing_extra_is_named(rawkomem, tmp_path, command, module):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    result = rawkomem.process(command, env={"PYTHONPATH": f"{tmp_path / 'hidden'}{os.pathsep}{ROOT}"}, check=1)
    assert result.stderr.count("\n") == 1 and f"install '{module}" in result.stderr
