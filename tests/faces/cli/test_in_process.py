"""Commands in the test's process: they print what a process of their own prints, and leave no state behind."""

from __future__ import annotations

import os
import signal

import pytest

from tests.commands import run_here

MEMORY = "---\nid: one\ntitle: Grüße aus Köln\ntags: [a]\n---\n\nZebra crossings — naïve ☃.\n"


@pytest.mark.parametrize(
    ("words", "input"),
    [
        (("list",), ""),
        (("search", "zebra crossings", "--json"), ""),
        (("search", "-"), "zebra crossings"),
        (("show", "none-such"), ""),
        (("--help",), ""),
        (("serch",), ""),
        (("scrub",), "write to bob@example.org ☃"),
        (("inject", "-", "--format", "json", "--explain"), "zebra crossings"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_both_ways_print_the_same(words, input, rawkomem, memories):
    (memories / "one.md").write_text(MEMORY, "utf-8")
    rawkomem("sync")
    here, there = (run(*words, input=input, check=None) for run in (rawkomem, rawkomem.process))
    assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)


@pytest.mark.parametrize(
    "change",
    [
        lambda words: os.environ.update(LEFT_BEHIND="1"),
        lambda words: os.chdir("/"),
        lambda words: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    ],
    ids=["environment", "folder", "signals"],
)
def test_state_that_a_command_leaves_behind_is_found(change, tmp_path):
    handler, folder = signal.getsignal(signal.SIGTERM), os.getcwd()
    try:
        with pytest.raises(AssertionError):
            run_here(change, (), input="", cwd=tmp_path, env={})
        assert os.getcwd() == folder
    finally:
        signal.signal(signal.SIGTERM, handler)
        os.environ.pop("LEFT_BEHIND", None)
