"""A database of memory-mesh where the package lancedb is missing: one line that says what to install."""

import sys

import pytest
from rawkomem.exchange.formats import format_of
from rawkomem.exchange.sources import Source
from rawkomem.model.errors import BadInput

from tests.commands import Command


@pytest.fixture
def database(tmp_path_factory):
    folder = tmp_path_factory.mktemp("db")
    (folder / "synthesized_skills.lance" / "_versions").mkdir(parents=True)
    return folder


def test_the_install_command_is_named(project, database, monkeypatch):
    monkeypatch.setitem(sys.modules, "lancedb", None)
    done = Command(project)("import", str(database), check=2)
    assert "pip install" in done.stderr and "lancedb" in done.stderr and "added" not in done.stderr + done.stdout
    assert len(done.stderr.strip().split("\n")) == 1


def test_a_lancedb_is_recognized_without_it(database, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lancedb", None)
    assert format_of(Source(str(database))) == "yamo"
    (tmp_path / "notes.lance").write_text("a file, no table")
    assert format_of(Source(str(tmp_path))) == "markdown"


def test_an_export_needs_it(repository, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(BadInput, match="needs the package lancedb"):
        repository.exchange.export_folder(str(tmp_path / "out"), "yamo")
