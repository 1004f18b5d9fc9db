"""All stores find the same: the top 10 of every question are those of SQLite, up to ties."""

from __future__ import annotations

import json

import pytest

from rawkomem.bench.corpus import make_repository
from rawkomem.bench.recall import write_repository
from rawkomem.bench.speed import queries
from rawkomem.repository import Repository

from ..conftest import shared

OWN = [f"{text} {extra}" for text in queries() for extra in ("", "why", "of the memory index")]
CLOSE = 1e-6  # scores that differ by less are equal: SQLite's distances are float32


@pytest.fixture(params=["memory", pytest.param("lancedb", marks=pytest.mark.stores)])
def other(request) -> str:
    """A store besides SQLite's."""
    if request.param == "lancedb":
        pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")
    return request.param


def disagreements(project: str, other: str, asked: list[str]) -> list[str]:
    """The questions whose top 10 differ by more than ties."""
    first, second = (Repository.open(project, store=name) for name in ("sqlite", other))
    try:
        return [text for text in asked if not _agree(first.search(text, 30), second.search(text, 30))]
    finally:
        first.close()
        second.close()


def _agree(one, two) -> bool:
    """The same memories within the first ten, where those that score as much as the tenth may stand for each other."""
    if len(one) < 10:
        return {found.row.id for found in one} == {found.row.id for found in two}
    last = one[9].score
    surely = {found.row.id for found in one[:10] if found.score > last + CLOSE}
    perhaps = {found.row.id for found in one if abs(found.score - last) <= CLOSE}
    top = {found.row.id for found in two[:10]}
    return surely <= top <= surely | perhaps


def test_on_a_sample_of_our_own(tmp_path, other):
    make_repository(str(tmp_path), 150)
    assert disagreements(str(tmp_path), other, OWN) == []


@pytest.mark.parametrize("name", ["metatool", "locomo", "clinc"])
def test_on_the_development_sets(tmp_path, other, name):
    data = json.loads(shared(f"data/eval/{name}.json").read_text(encoding="utf-8"))
    part = data["sets"][0] if "sets" in data else data
    write_repository(str(tmp_path), part["memories"][:700])
    asked = [str(question["q"]) for question in part["queries"]][:: max(1, len(part["queries"]) // 40)]
    assert disagreements(str(tmp_path), other, asked) == []
