"""What a view of all memories computed is kept beside the index: a new process reads it, unless a memory changed."""

import os
import time

import pytest
from rawkomem.faces.web import page_views
from rawkomem.index import catalogue, index, summaries
from rawkomem.model.filters import READABLE
from rawkomem.repository import Repository, beliefs
from rawkomem.state.contradictions import contradictions

TABS = "Always indent Go files with tabs."
NO_TABS = "Never indent Go files with tabs."


def note(memories, id: str, body: str, more: str = "") -> None:
    text = f"---\nid: {id}\ntitle: {id.capitalize()}\ntags: [Go, go, style]\ntype: rule\n{more}---\n\n{body}\n"
    (memories / f"{id}.md").write_text(text)


@pytest.fixture
def many(memories):
    """Forty memories, of which two contradict each other."""
    for number in range(38):
        note(memories, f"port{number}", f"Service {number} listens on port {6000 + number}. See [[port0]].")
    note(memories, "tabs", TABS)
    note(memories, "never", NO_TABS)
    return memories


@pytest.fixture
def looked(monkeypatch) -> list[str]:
    """The names of the slow functions that ran."""
    ran: list[str] = []
    build = summaries.build_graph

    def compare(*given):
        ran.append("compare")
        return contradictions(*given)

    def connect(*given):
        ran.append("connect")
        return build(*given)

    monkeypatch.setattr(beliefs, "contradictions", compare)
    monkeypatch.setattr(summaries, "build_graph", connect)
    monkeypatch.setattr(page_views, "SETTLED_MS", 0)
    return ran


def look(project) -> tuple[dict, dict, dict]:
    """The views as a page shows them that was opened just now."""
    with Repository.open(str(project), warn=lambda message: None) as repository:
        return tuple(
            view(repository, {}, lambda text, meant: text)
            for view in (page_views.overview_view, page_views.waiting_view, page_views.graph_view)
        )


def test_another_process_reads_what_the_first_computed(project, many, looked):
    time.sleep(0.03)  # the sync after the next one has nothing left to hash
    first = look(project)
    assert sorted(looked) == ["compare", "connect"]
    assert first[0]["waiting"] == 1 and len(first[1]["items"]) == 1 and first[2]["total"] == 40 and first[2]["edges"]
    look(project)
    looked.clear()
    assert look(project) == look(project) and not looked


@pytest.mark.parametrize("change", ["edit", "same size", "new", "removed", "amend", "expires"])
def test_a_change_is_never_hidden_by_what_was_kept(project, many, looked, change):
    if change == "expires":
        note(many, "tabs", TABS, "validUntil: 2100-01-01T00:00:00Z\n")
    for _ in range(3):
        look(project)
    if change == "edit":
        note(many, "never", "Gofmt is run by the editor.")
    elif change == "same size":
        facts = os.stat(many / "never.md")
        note(many, "never", NO_TABS.replace("Never", "Maybe"))
        os.utime(many / "never.md", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    elif change == "new":
        note(many, "third", NO_TABS, "related: [tabs]\n")
    elif change == "removed":
        (many / "never.md").unlink()
    elif change == "amend":
        with Repository.open(str(project)) as repository:
            repository.amend("never", body="Gofmt is run by the editor.")
    else:
        note(many, "tabs", TABS, "validUntil: 2020-01-01T00:00:00Z\n")
    overview, waiting, graph = look(project)
    expected = 2 if change == "new" else 0
    assert overview["waiting"] == len(waiting["items"]) == expected
    count = {"new": 41, "removed": 39, "expires": 39}.get(change, 40)
    assert overview["memories"] == graph["total"] == count
    with Repository.open(str(project)) as repository:
        page_views.DRAWN, kept = ".other", page_views.DRAWN
        try:
            assert page_views.graph_view(repository, {}, None) == graph
        finally:
            page_views.DRAWN = kept


def test_the_first_view_reads_no_whole_memory(project, many, repository, monkeypatch):
    (many / "tabs.md").unlink()
    repository.delete("port3", "gone")
    repository.sync()
    read = []
    memory_of = catalogue.memory_of
    monkeypatch.setattr(catalogue, "memory_of", lambda doc: read.append(doc) or memory_of(doc))
    overview = page_views.overview_view(repository, {}, lambda text, meant: text)
    rows = repository.core.rows()
    assert overview["memories"] == len(rows) == 38 == overview["kinds"]["memory"] == overview["week"]["never"]
    assert overview["filters"] | {"importance": []} == {
        "kind": ["memory"], "type": ["rule"], "importance": [], "status": ["active"], "tag": ["go", "style"]
    }  # fmt: skip
    assert repository.core.read(lambda: repository.core.catalogue.ids(READABLE, 1)) == {row.id for row in rows}
    assert not read


def test_a_purge_leaves_nothing_in_what_was_kept(project, many, looked, rawkomem):
    look(project)
    local = project / ".rawko" / "local"
    kept = [file for file in local.iterdir() if file.suffix in (".compared", ".drawn")]
    assert len(kept) == 2 and all(TABS in file.read_text() for file in kept)
    with Repository.open(str(project), warn=lambda message: None) as repository:
        repository.lifecycle.purge("tabs")
    assert not any(TABS in file.read_text() for file in kept if file.exists())


def test_a_folder_that_cannot_be_written_keeps_nothing_and_answers(project, many, looked, monkeypatch):
    def refuse(*given, **named):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(index, "replace_private", refuse)
    assert look(project) == look(project)
