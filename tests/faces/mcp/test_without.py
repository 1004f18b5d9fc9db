"""Without its extra, `rawkomem mcp` says what to install."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("command, module", [("mcp", "mcp"), ("lsp", "pygls")])
def test_a_missing_extra_is_named(rawkomem, tmp_path, command, module):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    result = rawkomem.process(command, env={"PYTHONPATH": f"{tmp_path / 'hidden'}"}, check=1)
    assert result.stderr.count("\n") == 1 and f"pip install 'rawkomem[{command}]'" in result.stderr
