"""A filter is a field and a row in model/filters.py: a real one touches 1 file, or 2 if it compares a new column.

The toy changes the source as a developer would, in a copy of the package, and is then used from every side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import rawkomem
from rawkomem.faces.cli.options import FILTER_LINES
from rawkomem.model.filters import FILTER_FIELDS, Facets, Filter

from tests.torture.helpers import memory

PACKAGE = os.path.dirname(rawkomem.__file__)
FIELD = "    kinds: Texts = NO_TEXTS\n", "    moods: Texts = NO_TEXTS\n"
ROW = "FILTER_FIELDS = (\n", (
    '    FilterField("moods", "mood", "Only in this mood.", some_of("calm", "angry"), many=True,'
    ' column="mood", any_case=True, agents="calm, angry"),\n'
)  # fmt: skip
COLUMN = '    session: str = ""\n', '    mood: str = ""\n'
VALUE = '    "session": session_of,\n', '    "mood": lambda memory: str(memory.extra.get("mood", "")),\n'


@pytest.fixture
def changed(tmp_path):
    """A folder with the package in it: two files are changed, the rest are links."""
    root = tmp_path / "changed" / "rawkomem"
    for part in ("", "model", "state"):
        (root / part).mkdir(parents=True, exist_ok=True)
        for name in os.listdir(os.path.join(PACKAGE, part)):
            if name not in ("model", "state", "__pycache__"):
                os.symlink(os.path.join(PACKAGE, part, name), root / part / name)
    _write(root, "model/filters.py", FIELD, ROW, COLUMN)
    _write(root, "state/trust.py", VALUE)
    return str(root.parent)


def _write(root, name: str, *additions: tuple[str, str]) -> None:
    with open(os.path.join(PACKAGE, name), encoding="utf-8") as stream:
        text = stream.read()
    for anchor, added in additions:
        assert text.count(anchor) == 1, anchor
        text = text.replace(anchor, anchor + added)
    (root / name).unlink()  # a link to the real file
    (root / name).write_text(text)


@pytest.fixture
def run(changed, project, memories, tmp_path):
    """Run Python with the changed package, in a project with two moods."""
    for mood in ("calm", "Angry"):
        (memories / f"{mood.lower()}.md").write_text(memory(f"Database {mood}", "The database is up.", mood=mood))

    def run(*arguments: str, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": changed, "PYTHONSAFEPATH": "1", "XDG_CONFIG_HOME": str(tmp_path / "config")}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=project, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        return done.stdout or done.stderr

    return run


COMMAND = ("-m", "rawkomem")


def test_a_toy_filter_from_the_command_line_to_the_store(run):
    found = json.loads(run(*COMMAND, "search", "database", "--mood", "angry", "--json"))
    assert [row["id"] for row in found] == ["angry"]
    assert "Only in this mood." in run(*COMMAND, "list", "--help")
    assert "one of calm, angry" in run(*COMMAND, "list", "--mood", "sad", code=2)


def test_a_toy_filter_in_tools_the_page_and_the_ledger(run):
    verbs = "from rawkomem.faces.mcp.tools import VERBS; print(VERBS['search'].schema['properties']['mood']);"
    page = "from rawkomem.faces.web.page_views import _filter; print(_filter({'mood': 'calm'}).moods);"
    ledger = "from rawkomem.model.filters import Filter, filter_text; print(filter_text(Filter(moods=('calm',))))"
    schema, moods, noted = run("-c", verbs + page + ledger).splitlines()
    assert "'description': 'calm, angry'" in schema and moods == "('calm',)" and "moods=('calm',)" in noted


def test_table_and_class_are_in_step():
    assert tuple(field.name for field in FILTER_FIELDS) == Filter.__fields__
    columns = {field.column for field in FILTER_FIELDS if field.column}
    assert columns <= {*Facets.__fields__} and len({field.name for field in FILTER_FIELDS}) == len(FILTER_FIELDS)
    assert [*FILTER_LINES] == [field.word for field in FILTER_FIELDS if field.help]
