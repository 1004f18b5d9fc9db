"""A new redaction rule touches 2 files of the package: a row of redaction/rules.json, and the checksum in index/index.py.

The toy is added as a person would add it: one line in a copy of rules.json. The rest of the package is the real one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zlib

import pytest
from rawkomem.index.index import REDACTION
from rawkomem.redaction import assigned, rules, values

from tests.conftest import ROOT

ROW = '  {"name": "toy-key", "literals": "toykey_", "pattern": "(toykey_[0-9]{8,})"},\n'
KEY = "toykey_4815162342"
TAG = "[REDACTED_TOY_KEY]"


@pytest.fixture
def run(project, tmp_path):
    """Run the command line of a package that has the row in its table."""
    package, original = tmp_path / "with-row" / "rawkomem", ROOT / "rawkomem"
    (package / "redaction").mkdir(parents=True)
    for folder in ("", "redaction"):
        for item in (original / folder).iterdir():
            if item.name not in ("redaction", "rules.py", "rules.json", "__pycache__"):
                (package / folder / item.name).symlink_to(item)
    shutil.copy(original / "redaction" / "rules.py", package / "redaction")  # it reads the file beside it
    table = (original / "redaction" / "rules.json").read_text(encoding="utf-8")
    head = '"prefixed": [\n'
    (package / "redaction" / "rules.json").write_text(table.replace(head, head + ROW, 1), encoding="utf-8")

    def call(*arguments: str, text: str = "") -> str:
        env = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "rawkomem", *arguments]
        result = subprocess.run(command, cwd=project, env=env, input=text, capture_output=True, text=True, check=False)
        assert "Traceback" not in result.stderr, result.stderr
        return result.stdout + result.stderr

    return call


def test_one_row_redacts_texts_entries_and_index_and_is_named_by_check(run, project):
    assert run("scrub", text=f"the key is {KEY}.\n").startswith(f"the key is {TAG}.\n")

    memories = project / ".rawko" / "memories"
    run("add", "--title", "Toy service", "--source", f"see {KEY}", text=f"Log in with {KEY}.")
    (written,) = memories.rglob("*.md")
    assert KEY not in written.read_text() and written.read_text().count(TAG) == 2

    (memories / "by-hand.md").write_text(f"---\ntitle: By hand\n---\n\nThe password lies here:\n{KEY}\n")
    found = run("search", "where does the password lie")
    assert TAG in found and KEY not in found

    said = run("check")
    assert "by-hand.md:6" in said and "toy-key" in said and KEY not in said


def test_a_changed_table_renews_the_index():
    """The index holds redacted copies: whoever changes the table must change the index's checksum with it."""
    rows = (
        (rules.DATA, rules.TAGS, assigned.ASCII_SIGNS),
        (assigned.URL, assigned.ASSIGNMENT, assigned.HEADINGS),
        [sorted(names) for names in (assigned.PASSWORDS, assigned.SECRETS, assigned.TOKENS, assigned.KEY_OWNERS)],
        (values.MIN_STRONG_LENGTH, values.MIN_RANDOM_LENGTH, values.CHOSEN.pattern),
    )
    assert f"{zlib.crc32(repr(rows).encode()):08x}" == REDACTION, "write this checksum into rawkomem/index/index.py"
