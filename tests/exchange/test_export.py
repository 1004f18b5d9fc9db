"""What leaves a repository, comes into another as it was, and never replaces what others wrote."""

import json

import pytest
from rawkomem.files.installation import plan_start, write_start
from rawkomem.model.entries import Entry
from rawkomem.model.errors import Refused
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository
from rawkomem.state.strength import IMPORTANCES

KEPT = ("id", "kind", "title", "when", "tags", "importance", "created", "by", "found_in", "source", "related", "body")
ENTRIES = (
    Entry(
        title="Why apsw: [extensions] & more",
        when=("sqlite|apsw", r"\bvec0?\b", "When a SQLite extension must be loaded"),
        tags=("sqlite", "two words"),
        importance="high",
        by="alice",
        found_in="the first index",
        source="https://example.org/apsw",
        related=("mem_1769164200000_3fa9c1",),
        body="Many Pythons are built without extension loading.\n\n```sh\n# a comment\n---\n```\n\nSo apsw.",
        extra={"type": "decision", "claim": {"subject": "db", "predicate": "driver", "value": "apsw"}},
    ),
    Entry(kind="lesson", title="Fsync the folder", when=("rename",), body="A rename is lost without it.", importance="critical"),
    Entry(title="No conditions", tags=("a",), body="Found by its words only, ünïcode included."),
    Entry(title="Index", body="A title whose file name is reserved in some formats.", when=("reserved",)),
)  # fmt: skip


@pytest.fixture
def filled(repository):
    for entry in ENTRIES:
        repository.add(entry, via="person")
    return repository


@pytest.fixture
def elsewhere(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    write_start(plan_start(str(folder)))
    opened = Repository.open(str(folder))
    yield opened
    opened.close()


def said(repository) -> dict:
    memories = repository.get_many([row.id for row in repository.list()])
    return {
        memory.id: {**{name: getattr(memory, name) for name in KEPT}, "extra": without_origin(memory.extra)}
        for memory in memories
    }


def without_origin(extra) -> dict:
    return {key: value for key, value in extra.items() if key != "importedFrom"}


def export(repository, form: str, target: str) -> None:
    if form == "jsonl":
        repository.exchange.export_file(target)
    else:
        repository.exchange.export_folder(target, form)


@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_a_round_trip_keeps_what_memories_say(form, filled, elsewhere, tmp_path_factory):
    target = str(tmp_path_factory.mktemp("out") / ("all.jsonl" if form == "jsonl" else "folder"))
    export(filled, form, target)
    done = elsewhere.exchange.import_from(target)
    assert len(done.news) == len(ENTRIES) and not done.skipped and not said(elsewhere)
    elsewhere.beliefs.review_all(done.kind, "activate")
    assert said(elsewhere) == said(filled)
    assert not elsewhere.exchange.import_from(target).news
    assert not filled.exchange.import_from(target).news, "what comes home is known"


@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_windows_and_links_that_were_set_later_come_along(form, filled, elsewhere, tmp_path_factory):
    first, second = (row.id for row in filled.list()[:2])
    filled.beliefs.validity(first, end="2031-01-01")
    filled.graph.link(first, second)
    target = str(tmp_path_factory.mktemp("out") / ("all.jsonl" if form == "jsonl" else "folder"))
    export(filled, form, target)
    elsewhere.exchange.import_from(target)
    came = elsewhere.get(first)
    assert came.valid_until == filled.get(first).valid_until > 0
    assert second in came.related


def test_a_memory_that_is_no_longer_in_use_is_not_in_use_elsewhere(filled, elsewhere, tmp_path_factory):
    first, second = (row.id for row in filled.list()[:2])
    filled.beliefs.supersede(first, second, anyway=True)
    target = str(tmp_path_factory.mktemp("out") / "all.jsonl")
    filled.exchange.export_file(target, Filter(statuses=("active", "superseded"), current=False))
    elsewhere.exchange.import_from(target)
    elsewhere.beliefs.review_all("rawkomem", "activate")
    assert (elsewhere.get(first).status, elsewhere.get(second).status) == ("archived", "active")


def test_a_folder_of_neolata_comes_back(filled, elsewhere, tmp_path_factory, rawkomem):
    """Texts, titles, conditions, tags, importance, times and claims; what neolata has no word for stays behind."""
    folder = tmp_path_factory.mktemp("out") / "neolata"
    rawkomem("export", "--format", "neolata", "--out", str(folder))
    graph = {item["title"]: item for item in json.loads((folder / "graph.json").read_text())}
    assert [graph[entry.title]["importance"] for entry in ENTRIES] == [IMPORTANCES[e.importance] for e in ENTRIES]
    assert {file.name for file in folder.glob("*.json")} >= {"graph.json", "archived.json", "episodes.json"}
    done = elsewhere.exchange.import_from(str(folder))
    assert done.kind == "neolata" and len(done.news) == len(ENTRIES)
    elsewhere.beliefs.review_all("neolata", "activate")
    same = ("id", "title", "when", "tags", "importance", "created", "by", "body")
    kept = [{id: [told[name] for name in same] for id, told in said(one).items()} for one in (filled, elsewhere)]
    assert kept[0] == kept[1]
    assert not filled.exchange.import_from(str(folder)).news, "what comes home is known"
    (folder / "graph.json").write_text("[]")
    assert "changed since" in rawkomem("export", "--format", "neolata", "--out", str(folder), check=1).stderr


def test_nothing_is_replaced_that_we_did_not_write(filled, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "fsync-the-folder.md").write_text("mine")
    with pytest.raises(Refused, match=r"fsync-the-folder\.md"):
        filled.exchange.export_folder(str(folder), "markdown")
    assert [file.name for file in folder.iterdir()] == ["fsync-the-folder.md"], "nothing was half written"
    (folder / "fsync-the-folder.md").unlink()
    filled.exchange.export_folder(str(folder), "markdown")
    (folder / "no-conditions.md").write_text("changed by me")
    filled.amend("no-conditions", Entry(body="Another text."))
    with pytest.raises(Refused, match=r"no-conditions\.md"):
        filled.exchange.export_folder(str(folder), "markdown")
    assert (folder / "no-conditions.md").read_text() == "changed by me"
    (tmp_path / "notes.jsonl").write_text("mine\n")
    with pytest.raises(Refused, match="not written by rawkomem"):
        filled.exchange.export_file(str(tmp_path / "notes.jsonl"))
    with pytest.raises(Refused, match="repository itself"):
        filled.exchange.export_folder(filled.layout.path("memories/out"), "markdown")


def test_a_list_of_files_from_elsewhere_removes_nothing_outside(filled, tmp_path):
    from hashlib import sha256

    (tmp_path / "out").mkdir()
    (tmp_path / "precious").write_text("x")
    listed = {name: sha256(b"x").hexdigest() for name in ("../precious", str(tmp_path / "precious"))}
    (tmp_path / "out" / ".rawkomem-export.json").write_text(json.dumps(listed))
    filled.exchange.export_folder(str(tmp_path / "out"), "markdown")
    assert (tmp_path / "precious").exists()


def test_markdown_needs_a_folder(rawkomem):
    assert "add --out FOLDER" in rawkomem("export", "--format", "markdown", check=2).stderr
