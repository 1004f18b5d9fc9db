"""docs/cli.md is what the commands say."""

from __future__ import annotations

import runpy

from tests.conftest import ROOT


def test_the_reference_is_up_to_date():
    tool = runpy.run_path(str(ROOT / "tools" / "write_cli_docs.py"))
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == tool["write"](), "run 'make docs'"


def test_every_command_says_what_it_does():
    from rawkomem.faces.cli.commands import COMMANDS, cli

    for name, (_, text) in COMMANDS.items():
        command = cli.get_command(None, name)
        assert command.name == name and text.endswith(".")
        assert (command.help or "").split("\n")[0].rstrip(".") == text.rstrip("."), name
