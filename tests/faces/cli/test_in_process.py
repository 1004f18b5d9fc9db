"""Commands in the test's process: they print what a process of their own prints, and leave no state behind."""

import pytest

MEMORY = "---\nid: one\ntitle: Grüße aus Köln\ntags: [a]\n---\n\nZebra crossings — naïve ☃.\n"


@pytest.mark.parametrize(
    ("words", "input"),
    [
        (("search", "zebra crossings", "--json"), ""),
        (("show", "none-such"), ""),
        (("serch",), ""),
        (("inject", "-", "--format", "json", "--explain"), "zebra crossings"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_both_ways_print_the_same(words, input, rawkomem, memories):
    (memories / "one.md").write_text(MEMORY, "utf-8")
    rawkomem("sync")
    here, there = (run(*words, input=input, check=None) for run in (rawkomem, rawkomem.process))
    assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)
