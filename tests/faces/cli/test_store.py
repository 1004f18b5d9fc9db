"""`rawkomem index store`, as people use it."""

import os
from importlib import import_module

import pytest
from rawkomem.files.layout import Layout, user_repository_config
from rawkomem.model.entries import Entry

MEMORY = "---\ntitle: Zebras\n---\n\nStripes.\n"


def test_status_names_the_store_in_use(rawkomem, memories):
    (memories / "one.md").write_text(MEMORY)
    shown = {row["name"]: row for row in rawkomem.json("index", "store", "status")}
    assert [name for name, row in shown.items() if row["used"]] == ["sqlite"]
    assert shown["sqlite"]["memories"] == 1 and shown["lancedb"]["memories"] == 0
    assert "* sqlite" in rawkomem("index", "store", "status").stdout


def test_an_engine_that_is_not_installed_is_one_clear_line(rawkomem, tmp_path):
    """A package of that name that cannot be imported stands for one that is missing."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "lancedb.py").write_text("raise ModuleNotFoundError(name='lancedb')\n")
    hidden = {
        "PYTHONPATH": f"{tmp_path / 'hidden'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "PYTHONSAFEPATH": "",
    }
    said = rawkomem.process("index", "store", "use", "lancedb", env=hidden, check=2, cwd=tmp_path).stderr
    assert "install 'lancedb>=0.40' 'pyarrow>=16'" in said and len(said.splitlines()) <= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("use", "postgres"), "no url"),
        (("use", "postgres", "--url-env", "NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE is not set"),
        (("use", "sqlite", "--url-env", "X"), "takes no url"),
        (("use", "postgres", "--url-env", "a-b"), "--url-env 'a-b'"),
        (("use", "cloud"), "cloud"),
    ],
)
def test_mistakes_are_named_and_change_nothing(rawkomem, project, words, said):
    assert said in rawkomem("index", "store", *words, check=2).stderr
    assert not os.path.exists(user_repository_config(Layout(str(project / ".rawko"))))


@pytest.mark.stores
def test_using_another_store_and_coming_back(rawkomem, memories):
    pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")
    import_module("rawkomem.index.stores.lance.tables")  # sets a variable of lancedb, which no command may do here
    (memories / "one.md").write_text(MEMORY)
    rawkomem("sync")
    rawkomem("index", "store", "use", "lancedb")
    assert "* lancedb" in rawkomem("index", "store", "status").stdout
    assert "Zebras" in rawkomem("search", "stripes").stdout
    (memories / "two.md").write_text(MEMORY.replace("Zebras", "Quaggas"))
    assert "Quaggas" in rawkomem("search", "stripes").stdout
    assert rawkomem.json("index", "rebuild")["read"] == 2
    assert "already V2" in rawkomem("index", "store", "migrate").stdout
    assert "no backup" in rawkomem("index", "store", "rollback", check=1).stderr
    rawkomem("index", "store", "use", "sqlite")
    assert "Quaggas" in rawkomem("search", "stripes").stdout


@pytest.mark.stores
def test_what_goes_wrong_in_an_engine_is_one_line(project, repository, rawkomem):
    """A table that vanishes under an open store: told, not a traceback; and a rebuild mends it."""
    repository.add(Entry(title="Stripes keep flies away"))
    rawkomem("index", "store", "use", "lancedb")
    assert "Stripes" in rawkomem("search", "stripes").stdout
    for table in (project / ".rawko" / "local" / "lancedb").glob("passages.lance/data/*"):
        table.write_bytes(b"not a table")
    broken = rawkomem("search", "stripes", check=None)
    assert broken.returncode == 0 or "rawkomem: the lancedb store failed" in broken.stderr
    rawkomem("index", "rebuild")
    assert "Stripes" in rawkomem("search", "stripes").stdout
