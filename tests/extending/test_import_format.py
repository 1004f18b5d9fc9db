"""A new format touches 1 or 2 files of the package: a row of exchange/formats.py, and a module that reads or writes it.

The toy is one line per memory, `title = text`. Import, export and the command's own help know it from its row.
"""

from __future__ import annotations

import importlib

import pytest
from click.testing import CliRunner
from rawkomem.exchange import formats
from rawkomem.exchange.formats import Format
from rawkomem.exchange.imported_entries import entry_from
from rawkomem.exchange.sources import Source
from rawkomem.faces.cli import importing as cli


def is_toy(source: Source) -> bool:
    return source.path.endswith(".toy")


def read_toy(source: Source):
    for page in source.pages(".toy"):
        for line in page.text.splitlines():
            title, _, text = line.partition(" = ")
            yield entry_from(page, title, text, section=title)


def write_toy(memories, project: str) -> dict[str, str]:
    return {f"{project}.toy": "".join(f"{memory.title} = {memory.body.strip()}\n" for memory in memories)}


TOY = Format("toy", "toy notes", is_toy, read_toy, write_toy, usual=("notes.toy",))


@pytest.fixture
def toy(monkeypatch):
    for table in (formats.FORMATS, formats.READABLE_FORMATS, formats.WRITABLE_FORMATS):
        monkeypatch.setitem(table, "toy", TOY)


def test_a_toy_format_is_recognized_imported_and_exported(toy, repository, project, tmp_path):
    (project / "notes.toy").write_text("Package manager = We use pnpm for every package.\n")
    assert (str(project / "notes.toy"), "toy") in repository.exchange.sources()
    done = repository.exchange.import_from(str(project / "notes.toy"))
    assert done.kind == "toy" and [item.entry.title for item in done.news] == ["Package manager"]
    assert repository.exchange.import_from(str(project / "notes.toy")).news == ()
    repository.beliefs.review_all("toy", "activate")
    repository.exchange.export_folder(str(tmp_path / "out"), "toy")
    written = (tmp_path / "out" / f"{project.name}.toy").read_text()
    assert written == "Package manager = We use pnpm for every package.\n"


def test_the_command_line_knows_it_from_the_row(toy):
    try:
        loaded = importlib.reload(cli)
        said = CliRunner().invoke(loaded.import_command, ["--help"], obj=".").output
        assert "toy notes" in " ".join(said.split()) and "|toy" in "".join(said.split())
        assert "toy" in CliRunner().invoke(loaded.export_command, ["--help"], obj=".").output
    finally:
        for table in (formats.READABLE_FORMATS, formats.WRITABLE_FORMATS):
            table.pop("toy", None)
        importlib.reload(cli)


def test_without_the_row_nobody_knows_it(repository, project):
    (project / "notes.toy").write_text("Package manager = We use pnpm.\n")
    with pytest.raises(Exception, match="in no format that can be imported"):
        repository.exchange.import_from(str(project / "notes.toy"))
