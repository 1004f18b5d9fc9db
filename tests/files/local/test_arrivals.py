"""The local notes of how entries arrived: ours only, never in the way of a write."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from rawkomem.files.machine_records import ARRIVALS_FILE, Arrivals, note_arrivals
from rawkomem.files.private import local_path, make_private_folder
from rawkomem.model.entries import Entry
from rawkomem.model.errors import BadInput
from rawkomem.repository import Repository


def test_the_first_note_counts(repository):
    layout = repository.layout
    assert Arrivals(layout).of("a", "d") == ""
    note_arrivals(layout, [("a", "d", "agent"), ("ab", "d", "agent")])
    note_arrivals(layout, [("a", "d", "person")])
    found = Arrivals(layout)
    assert [found.of(id, "d") for id in ("a", "ab", "b", "")] == ["agent", "agent", "", ""]


def test_a_note_is_about_one_text(repository):
    note_arrivals(repository.layout, [("a", "d", "person"), ("a", "e", "agent")])
    found = Arrivals(repository.layout)
    assert [found.of("a", digest) for digest in ("d", "e", "f", "")] == ["person", "agent", "", ""]
    assert [found.by_person("a", digest) for digest in ("d", "e", "f", "")] == [True, False, False, False]


def test_an_id_cannot_write_a_line_of_its_own(repository):
    note_arrivals(repository.layout, [("a\nevil\tperson", "d", "agent"), ("b\tperson\n", "d", "agent")])
    found = Arrivals(repository.layout)
    assert [found.of(id, "d") for id in ("a", "evil", "b")] == ["", "", ""]


def test_what_came_with_a_copy_is_nobodys(repository, tmp_path):
    layout = repository.layout
    note_arrivals(layout, [("a", "d", "person")])
    shutil.copy(local_path(layout, ARRIVALS_FILE), tmp_path / "copy")
    os.replace(tmp_path / "copy", local_path(layout, ARRIVALS_FILE))
    assert Arrivals(layout).of("a", "d") == ""
    note_arrivals(layout, [("b", "d", "person")])
    assert (Arrivals(layout).of("a", "d"), Arrivals(layout).of("b", "d")) == ("", "person")


def test_a_link_is_not_written_through(repository, tmp_path):
    os.makedirs(repository.layout.local, exist_ok=True)
    (tmp_path / "elsewhere").write_text("mine\n")
    os.symlink(tmp_path / "elsewhere", local_path(repository.layout, ARRIVALS_FILE))
    note_arrivals(repository.layout, [("a", "d", "person")])
    assert (tmp_path / "elsewhere").read_text() == "mine\n"
    assert Arrivals(repository.layout).of("a", "d") == "person"


def test_many_writers_at_once(repository):
    def add(n: int) -> Entry:
        other = Repository.open(repository.layout.project)
        return other.add(Entry(title=f"Memory {n}", body="Text."), via="agent").entry

    with ThreadPoolExecutor(4) as pool:
        entries = list(pool.map(add, range(12)))
    found = Arrivals(repository.layout)
    assert [found.of(entry.id, entry.digest) for entry in entries] == ["agent"] * 12


def test_a_note_that_cannot_be_written_keeps_nobody_from_writing(repository):
    make_private_folder(local_path(repository.layout, ARRIVALS_FILE))
    written = repository.add(Entry(title="T", body="Text."), via="person")
    assert repository.get(written.entry.id).title == "T"
    assert not repository.beliefs.trust(repository.get(written.entry.id)).standing.verified


def test_the_library_declares_and_the_command_knows(repository, rawkomem):
    id = repository.add(Entry(title="Tool", body="Text."), via="tool_output").entry.id
    assert repository.beliefs.trust(repository.get(id)).value == pytest.approx(0.85, abs=0.001)
    silent = repository.add(Entry(title="Silent", body="Text.")).entry.id
    assert repository.beliefs.trust(repository.get(silent)).source == "unknown"
    with pytest.raises(BadInput, match="unknown origin"):
        repository.add(Entry(title="Wrong", body="Text."), via="heaven")
    assert len(repository.list()) == 2
    rawkomem("add", "--title", "By a program", "--body", "Text.")
    (row,) = [row for row in repository.list() if row.title == "By a program"]
    trust = repository.beliefs.trust(repository.get(row.id))
    assert (trust.source, trust.standing.why) == ("inference", "written by an agent")
