"""A new kind of change, `pin`, works everywhere after one row and one record.

A real one would touch four files: a row in rawkomem/model/values.py (CHANGES), its plan and the record below in
state/changes.py, REGISTRY in state/fold.py, and a row for each key in state/schema.py. A new kind of memory is one row
in CREATES: one file.
"""

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from rawkomem.faces.cli.commands import cli
from rawkomem.format.entries import read_entries
from rawkomem.model.entries import Entry
from rawkomem.model.values import CHANGES, CREATES, Kind
from rawkomem.state import schema
from rawkomem.state.fold import REGISTRY
from rawkomem.state.plans import ChangeKind, plan_change
from rawkomem.state.schema import frontmatter_keys, frontmatter_schema

FILE = """---
id: mem_1_aaaaaa
title: Use apsw
whenToUse: sqlite
importance: low
---

The standard module cannot load extensions.

---
id: pin_2_bbbbbb
kind: pin
about: mem_1_aaaaaa
at: 2026-05-01T00:00:00Z
place: front desk
---
"""
UNKNOWN = "unknown kind 'pin': kept, but ignored"


def plan_pin(memory, place, by):
    """Pin a memory: it always matters."""
    return plan_change(memory, "pin", by, {"place": place})


PIN = ChangeKind(
    reduce=lambda fields, entry: {"importance": "critical"}, tell=lambda entry: f"pinned to the {entry.extra['place']}"
)


@pytest.fixture
def pin(monkeypatch):
    """The toy, as one row and one record."""
    monkeypatch.setitem(CHANGES, "pin", "pins the memory")
    monkeypatch.setitem(REGISTRY, "pin", PIN)
    monkeypatch.setattr(schema, "KEY_ROWS", f"{schema.KEY_ROWS}place text Where a memory is pinned\n")


def run(project, *words: str) -> str:
    done = CliRunner().invoke(cli, ["-C", str(project), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def problems(text: str) -> list[str]:
    return [problem.message for problem in read_entries(text)[1]]


def test_without_the_row_the_kind_is_unknown(repository, memories):
    (memories / "apsw.md").write_text(FILE, encoding="utf-8")
    assert repository.get("mem_1_aaaaaa").importance == "low" and UNKNOWN in problems(FILE)


def test_a_file_with_the_new_kind_is_read_folded_and_told(pin, project, repository, memories):
    (memories / "apsw.md").write_text(FILE, encoding="utf-8")
    assert repository.get("mem_1_aaaaaa").importance == "critical" and UNKNOWN not in problems(FILE)
    steps = repository.history("mem_1_aaaaaa")
    assert [(step.entry.kind, step.told) for step in steps] == [
        ("memory", "created"), ("pin", "pinned to the front desk"),
    ]  # fmt: skip
    assert "pinned to the front desk" in run(project, "history", "mem_1_aaaaaa")
    assert "pinned to the front desk" in run(project, "why", "mem_1_aaaaaa")


def test_its_plan_is_written_like_any_other(pin, repository):
    id = repository.add(Entry(title="Use apsw", when=("sqlite",))).entry.id
    (written,) = repository.core.write(plan_pin(repository.get(id), "wall", "ada"))
    assert written.entry.id.startswith("pin_") and repository.get(id).importance == "critical"


def test_the_schema_knows_the_kind_and_its_keys(pin):
    valid = Draft202012Validator(frontmatter_schema()).is_valid
    assert valid({"kind": "pin", "about": "mem_1", "place": "wall"})
    assert not valid({"kind": "pin", "place": "wall"}) and not valid({"kind": "pun", "about": "mem_1"})
    assert frontmatter_keys()["place"].says == "Where a memory is pinned"


def test_a_new_kind_of_memory_is_one_row(monkeypatch, repository):
    monkeypatch.setitem(CREATES, "recipe", Kind("how to cook", "rcp", "memories/recipes"))
    written = repository.add(Entry(kind="recipe", title="Soup", when=("soup",), body="Boil water."))
    assert written.entry.id.startswith("rcp_") and written.entry.path == "memories/recipes/soup.md"
    assert repository.get(written.entry.id).kind == "recipe"
    assert [item.row.title for item in repository.search("soup")] == ["Soup"]
