"""Which store a repository has: who may say so, where it lies, and that a program can have one of its own."""

import os
from types import SimpleNamespace

import pytest
from rawkomem.files.layout import Layout, user_config, user_repository_config
from rawkomem.index.stores.database import catalogue_path
from rawkomem.model.errors import BadInput, RawkoError, Refused
from rawkomem.repository import Repository, machine
from rawkomem.repository.settings import load_settings


def settings_of(project, repository: str = "", user: str = "", own: str = ""):
    layout, warnings = Layout(str(project / ".rawko")), []
    for file, text in ((layout.config, repository), (user_config(), user), (user_repository_config(layout), own)):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text)
    return load_settings(layout, warnings.append).store, warnings


def test_a_repository_cannot_send_its_index_anywhere(project):
    store, warnings = settings_of(project, repository="store:\n  name: postgres\n  url: postgres://elsewhere\n")
    assert (store.name, store.url) == ("sqlite", "")
    assert len(warnings) == 2 and all("may be set in your own config only" in warning for warning in warnings)


def test_the_environment_goes_before_settings(project, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_STORE", "memory")
    assert settings_of(project, user="store: lancedb\n")[0].name == "memory"
    monkeypatch.setenv("RAWKOMEM_STORE", "cloud")
    with pytest.raises(BadInput, match="unknown store 'cloud'"):
        settings_of(project)


def test_a_url_comes_from_the_environment_it_names(project, monkeypatch):
    store, _ = settings_of(project, user="store:\n  name: postgres\n  url: env:TEAM_STORE\n")
    with pytest.raises(BadInput, match="TEAM_STORE is not set"):
        store.where()
    monkeypatch.setenv("TEAM_STORE", "postgres://x")
    assert store.where() == "postgres://x"


OWN = """\
# mine
trust:
  maxUnverified: 0
store:
  name: postgres
  url: env:TEAM  # of the team

  repository: shop
llm:
  model: small
"""


def use(project, monkeypatch, name: str, url_env: str = ""):
    """Choose a store that opens; the user's own file for the repository, and the settings it then gives."""
    monkeypatch.setattr(machine, "open_store", lambda layout, chosen, dims: SimpleNamespace(close=lambda: None))
    repository = Repository.open(str(project))
    repository.store.use(name, url_env)
    repository.close()
    layout = Layout(str(project / ".rawko"))
    with open(user_repository_config(layout), encoding="utf-8") as stream:
        text = stream.read()
    return text, load_settings(layout, lambda text: None).store


def test_choosing_a_store_changes_nothing_else(project, monkeypatch):
    settings_of(project, own=OWN)
    text, store = use(project, monkeypatch, "postgres", "OTHER")
    assert (store.name, store.url_env, store.repository) == ("postgres", "OTHER", "shop")
    before, after = OWN.split("store:")[0], OWN[OWN.index("llm:") :]
    assert text.startswith(before) and text.endswith(after)


def test_a_url_stays_with_its_store(project, monkeypatch):
    """Neither this file's nor the user's other one's is taken for another store."""
    settings_of(project, user="store:\n  name: postgres\n  url: postgresql://elsewhere\n", own=OWN)
    _, store = use(project, monkeypatch, "lancedb")
    assert (store.name, store.url, store.url_env, store.repository) == ("lancedb", "", "", "shop")


def test_a_config_that_no_program_can_change_is_left_alone(project, monkeypatch):
    settings_of(project, own="{store: {name: sqlite}, llm: {model: small}}\n")
    with pytest.raises(Refused, match="cannot be changed"):
        use(project, monkeypatch, "lancedb")
    assert load_settings(Layout(str(project / ".rawko")), print).store.name == "sqlite"


@pytest.mark.stores
@pytest.mark.parametrize("place", ["nonsense://me:s3cr3t@host/db", "s3://"])
def test_a_lancedb_that_cannot_be_opened_is_one_line(repository, place):
    pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")
    for work in (repository.store.migrate, repository.store.rollback):
        with pytest.raises(RawkoError) as caught:
            work(place)
        assert "\n" not in caught.value.message and "s3cr3t" not in caught.value.message + caught.value.hint


def test_a_program_has_a_store_in_memory(project, memories):
    """It answers like any other, follows the files, and leaves the index of the others alone."""
    (memories / "one.md").write_text("---\ntitle: Zebras\n---\n\nStripes.\n")
    repository = Repository.open(str(project), store="memory")
    assert [found.row.id for found in repository.search("zebras")] == ["one"]
    assert [found.row.id for found in repository.search("zebras")] == ["one"]
    (memories / "two.md").write_text("---\ntitle: Quaggas\n---\n\nFewer stripes.\n")
    (memories / "one.md").unlink()
    assert [found.row.id for found in repository.search("zebras quaggas")] == ["two"]
    assert repository.store.status().fresh
    repository.close()
    left = os.listdir(repository.layout.local) if os.path.isdir(repository.layout.local) else []
    assert not [name for name in left if name.endswith((".db", ".lock")) and not name.startswith(("ledger", "local"))]
    assert not os.path.exists("file:")


def test_a_purge_reaches_the_other_stores(project, memories):
    (memories / "one.md").write_text("---\ntitle: Zebras\n---\n\nStripes.\n")
    repository = Repository.open(str(project))
    repository.sync()
    others = [catalogue_path(repository.layout, "lancedb"), os.path.join(repository.layout.local, "lancedb", "part")]
    for other in others:
        os.makedirs(os.path.dirname(other), exist_ok=True)
        with open(other, "w", encoding="utf-8") as stream:
            stream.write("Stripes.")
    repository.lifecycle.purge("one")
    repository.close()
    assert not any(map(os.path.exists, others))
