"""docs/cli.md is what the commands say, and docs/recall.md what the filters are."""

import os
import runpy
import subprocess
import sys

from tests.conftest import ROOT


def test_the_reference_is_up_to_date():
    """In a process of its own: click keeps a command's help option from its first call, whoever made it."""
    code = "import runpy, sys; sys.stdout.write(runpy.run_path('tools/write_cli_docs.py')['write']())"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, check=True)
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == done.stdout.decode(), "run 'make docs'"


def test_the_table_of_filters_is_up_to_date():
    tool = runpy.run_path(str(ROOT / "tools" / "write_cli_docs.py"))
    page = (ROOT / "docs" / "recall.md").read_text(encoding="utf-8")
    assert page == tool["with_filters"](page), "run 'make docs'"


def test_every_command_says_what_it_does():
    from rawkomem.faces.cli.commands import COMMANDS, cli

    for name, (_, text) in COMMANDS.items():
        command = cli.get_command(None, name)
        assert command.name == name and text.endswith(".")
        assert (command.help or "").split("\n")[0].rstrip(".") == text.rstrip("."), name


def test_the_help_of_inject_has_the_limits_in_force(rawkomem):
    from rawkomem.recall.signals import BUDGET_TOKENS, MAX_FULL, MAX_INJECTED

    shown = " ".join(rawkomem("inject", "--help").stdout.split())
    assert f"memories. Default: the agent's setting, else {MAX_FULL} ({MAX_INJECTED} with another profile" in shown
    assert f"tokens. Default: the agent's setting, else {BUDGET_TOKENS:,}." in shown


def test_the_page_about_json_is_up_to_date():
    tool = runpy.run_path(str(ROOT / "tools" / "write_json_docs.py"))
    assert (ROOT / "docs" / "json.md").read_text(encoding="utf-8") == tool["write"](), "run 'make docs'"
