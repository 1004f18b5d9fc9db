"""Reading one file: ids and places of its entries, retries, and files that are no files."""

import os
import threading

import pytest
from rawkomem.files import reading as read
from rawkomem.files.layout import hash_of_file, read_bytes
from rawkomem.files.reading import read_data, read_file

from tests.files.odd_more import front

TWO = "---\ntitle: A\n---\n\none\n\n---\n\n---\ntitle: B\n---\n\ntwo\n"


def test_entries_without_ids_are_named_by_file_and_number():
    entries = read_data(TWO.encode(), "memories/auth.md").entries
    assert [(e.id, e.path, e.line) for e in entries] == [
        ("auth", "memories/auth.md", 1),
        ("auth#2", "memories/auth.md", 9),
    ]


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("memories/a.md", "a"),
        ("memories/lessons/a.md", "lessons/a"),
        ("traces/2026-01/a.md", "2026-01/a"),
        ("x.md", "x"),
    ],
)
def test_the_first_entry_is_named_by_its_path_below_the_area(path, id):
    assert read_data(front().encode(), path).entries[0].id == id


def test_an_id_is_the_same_however_its_accents_are_spelt():
    apart, together = "cafe\u0301", "caf\u00e9"
    assert read_data(front().encode(), f"memories/{apart}.md").entries[0].id == together
    about = read_data(front("kind: amend", f"about: {apart}").encode(), "memories/x.md").entries[0].about
    assert about == together


def test_a_change_without_a_time_happened_after_what_stands_above_it():
    text = front() + "\n---\n\n---\nkind: amend\nabout: t\n---\n\nnew\n"
    created, changed = read_data(text.encode(), "memories/t.md").entries
    assert changed.at == created.at == 1769164200000


def test_the_verdict_is_that_of_the_worst_problem():
    assert read_data(front().encode(), "memories/a.md").verdict == "accept"
    assert read_data(front(importance="huge").encode(), "memories/a.md").verdict == "accept_warn"
    assert (
        read_data((front(importance="huge") + TWO.replace("B", "[")).encode(), "memories/a.md").verdict == "quarantine"
    )


def test_a_file_cut_off_inside_a_character_is_read_once_more(tmp_path, monkeypatch):
    """Probably somebody is writing it just now."""
    file = tmp_path / "a.md"
    whole = (front() + "café").encode()
    file.write_bytes(whole[:-1])
    monkeypatch.setattr(read.time, "sleep", lambda seconds: file.write_bytes(whole))
    assert read_file(str(file), "memories/a.md").entries[0].body == "café"


def test_a_file_that_vanishes_before_the_second_look_is_unreadable(tmp_path, monkeypatch):
    file = tmp_path / "a.md"
    file.write_bytes((front() + "café").encode()[:-1])
    monkeypatch.setattr(read.time, "sleep", lambda seconds: file.unlink())
    reading = read_file(str(file), "memories/a.md")
    assert not reading.readable and reading.verdict == "quarantine"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_never_waited_for(tmp_path, make):
    make(tmp_path / "a.md")
    result: list[read.Reading] = []
    thread = threading.Thread(
        target=lambda: result.append(read_file(str(tmp_path / "a.md"), "memories/a.md")), daemon=True
    )
    thread.start()
    thread.join(5)
    assert result and not result[0].readable


def test_no_more_is_read_than_the_cap_allows(tmp_path):
    file = tmp_path / "huge.md"
    with open(file, "wb") as stream:
        stream.truncate(50 * 1024 * 1024 * 1024)  # 50 GiB, all holes
    assert len(read_bytes(str(file))) == read.MAX_FILE_BYTES + 1
    assert "5 MiB" in read_file(str(file), "memories/huge.md").problems[0].message


def test_the_hash_is_that_of_what_is_read(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(b"abc")
    assert hash_of_file(str(file)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hash_of_file(str(tmp_path / "none.md")) == ""
