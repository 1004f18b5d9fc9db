"""Purge cuts every entry about one memory out of its files, and keeps the rest to the byte."""

import os
from pathlib import Path

import pytest
from rawkomem.files import replace
from rawkomem.files.archive import purge_files
from rawkomem.files.layout import Layout
from rawkomem.format.blocks import join_entry
from rawkomem.model.entries import Entry
from rawkomem.model.errors import Refused

from tests.files.plain_user import run_plain

A = "---\nid: a\ntitle: A\n---\n\nabout a\n"
B = "---\nid: b\ntitle: B\n---\n\nabout b  \n"
C = "---\nid: c\ntitle: C\n---\n\nabout c\n"
AMEND_A = "---\nid: a2\nkind: amend\nabout: a\n---\n\nmore about a\n"


def texts(*entries: str) -> str:
    whole = ""
    for entry in entries:
        whole = join_entry(whole, entry)
    return whole


def after(file: Path, layout: Layout, id: str, text: str) -> str:
    file.write_bytes(text.encode())
    assert purge_files(layout, id) == [f"memories/{file.name}"]
    return file.read_bytes().decode()


@pytest.mark.parametrize(
    ("entries", "left"),
    [
        ((A, B), (B,)),
        ((B, A), (B,)),
        ((B, A, C), (B, C)),
        ((A, B, AMEND_A), (B,)),
        ((B, A, AMEND_A), (B,)),
        ((A, AMEND_A, B, C), (B, C)),
        ((B, A, C, AMEND_A), (B, C)),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_rest_is_kept_to_the_byte(memories, layout, entries, left, newline):
    text = texts(*entries).replace("\n", newline)
    assert after(memories / "x.md", layout, "a", text) == texts(*left).replace("\n", newline)


def test_a_rule_of_its_own_at_the_end_of_a_body_is_kept(memories, layout):
    assert after(memories / "x.md", layout, "a", texts(B + "\n---\n", A)) == B + "\n---\n"


def test_a_file_left_empty_is_removed(memories, layout):
    (memories / "x.md").write_text(texts(A, AMEND_A), "utf-8")
    purge_files(layout, "a")
    assert not (memories / "x.md").exists()


def test_a_file_that_holds_nothing_about_it_stays(memories, layout):
    (memories / "x.md").write_text(texts(B, C), "utf-8")
    before = (memories / "x.md").stat()
    assert purge_files(layout, "a") == []
    assert (memories / "x.md").stat() == before


def test_entries_in_several_files_are_all_cut(repository, memories):
    (memories / "x.md").write_text(texts(B, A), "utf-8")
    (memories / "y.md").write_text(texts(AMEND_A, C), "utf-8")
    (memories / "z.md").write_text(texts(C.replace("id: c", "id: d")), "utf-8")
    assert repository.get("a").body == "more about a"
    assert repository.lifecycle.purge("a") == ["memories/x.md", "memories/y.md"]
    assert sorted(row.id for row in repository.list()) == ["b", "c", "d"]
    assert "about a" not in "".join(file.read_text("utf-8") for file in memories.glob("*.md"))


def test_entries_without_ids_would_change_their_names(memories, layout):
    text = texts("---\ntitle: one\n---\n\n1\n", "---\ntitle: two\n---\n\n2\n", "---\ntitle: three\n---\n\n3\n")
    (memories / "x.md").write_text(text, "utf-8")
    with pytest.raises(Refused, match="their ids would change"):
        purge_files(layout, "x#2")
    assert (memories / "x.md").read_text("utf-8") == text


def test_the_last_entry_without_an_id_can_go(memories, layout):
    text = texts("---\ntitle: one\n---\n\n1\n", "---\ntitle: two\n---\n\n2\n")
    assert after(memories / "x.md", layout, "x#2", text) == "---\ntitle: one\n---\n\n1\n"


@pytest.mark.parametrize(("before", "saved"), [((A, B), (A, B, C)), ((A,), (A, B)), ((A,), (A.upper(),))])
def test_a_file_saved_meanwhile_is_neither_overwritten_nor_removed(memories, layout, monkeypatch, before, saved):
    file = memories / "x.md"
    file.write_text(texts(*before), "utf-8")

    def read_then_save(path):
        data = Path(path).read_bytes()
        file.write_text(texts(*saved), "utf-8")
        return data

    monkeypatch.setattr(replace, "read_bytes", read_then_save)
    with pytest.raises(Refused, match="changed while"):
        purge_files(layout, "a")
    assert file.read_text("utf-8") == texts(*saved)


@pytest.mark.parametrize("text", [A, texts(A, B)])
def test_a_read_only_folder_is_told_and_the_file_stays(memories, layout, text):
    (memories / "x.md").write_text(text, "utf-8")
    os.makedirs(layout.local)
    memories.chmod(0o555)
    code = "import sys; from rawkomem.files.archive import purge_files; from rawkomem.files.layout import Layout\n"
    code += "from rawkomem.model.errors import Unwritable\n"
    code += "try: purge_files(Layout(sys.argv[1]), 'a')\nexcept Unwritable as failure: print(failure)"
    result = run_plain(code, layout.root)
    memories.chmod(0o755)
    assert "Permission denied" in result.stdout, result.stderr
    assert (memories / "x.md").read_text("utf-8") == text


def test_the_text_of_a_purged_memory_is_in_no_file_of_the_repository(repository, project):
    """Also not in the free pages of the index: purge is for what must not be found again."""
    repository.add(Entry(title="Launch", body="The codename is quixotic-zebra.", by="me"))
    repository.add(Entry(title="Other", body="Something else.", by="me"))
    assert repository.search("quixotic zebra")[0].row.title == "Launch"
    repository.lifecycle.purge(repository.search("quixotic zebra")[0].row.id)
    repository.close()
    holding = [path for path in (project / ".rawko").rglob("*") if path.is_file() and b"quixotic" in path.read_bytes()]
    assert holding == []
