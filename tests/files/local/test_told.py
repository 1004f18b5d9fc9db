"""What sessions were told is remembered in a small private file."""

from __future__ import annotations

import stat

import pytest
from rawkomem.files import session_records
from rawkomem.files.session_records import MAX_TOLD_BYTES, note_asked, note_fresh, note_lost, note_told, told_to
from rawkomem.model.values import DAY


@pytest.fixture
def layout(repository):
    return repository.layout


def test_what_was_told_lost_and_forgotten(layout):
    note_asked(layout, "s", "p1", 10)
    note_told(layout, "s", 30, ["a@1"])
    note_told(layout, "other", 99, ["x@1"])
    note_asked(layout, "s", "p2", 20)
    note_told(layout, "s", 5, ["b@1", "c@1"])
    found = told_to(layout, "s")
    assert (found.keys, found.tokens, found.prompt, found.heard) == ({"a@1", "b@1", "c@1"}, 35, "p2", 20)
    note_lost(layout, "s")
    assert (told_to(layout, "s").keys, told_to(layout, "s").tokens) == ({"a@1"}, 30)
    note_fresh(layout, "s")
    assert told_to(layout, "s").keys == frozenset() and told_to(layout, "other").tokens == 99
    assert told_to(layout, "").keys == frozenset()


def test_it_expires(layout, monkeypatch):
    note_told(layout, "s", 30, ["a@1"])
    at = session_records.now() + session_records.MAX_TOLD_DAYS * DAY + 1
    monkeypatch.setattr(session_records, "now", lambda: at)
    assert told_to(layout, "s").keys == frozenset()


def test_the_file_is_private_small_and_names_no_session(layout, project):
    file = project / ".rawko" / "local" / "told.tsv"
    for number in range(3_000):
        note_told(layout, f"session-{number % 7}", 30, [f"mem_{number}@0123456789abcdef-1f"])
    assert MAX_TOLD_BYTES // 3 < file.stat().st_size <= MAX_TOLD_BYTES
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and "session-" not in file.read_text()
    assert "mem_2999@0123456789abcdef-1f" in told_to(layout, f"session-{2999 % 7}").keys


def test_nonsense_in_the_file_is_skipped(layout, project):
    note_told(layout, "s", 30, ["a@1"])
    key = session_records.checksum("s")
    with open(project / ".rawko" / "local" / "told.tsv", "ab") as stream:
        stream.write(
            f"\xff\n\t{key}\ttold\nx\t{key}\ttold\t1\tb@1\n1\t{key}\n9\t{key}\ttold\t-1\tc\n".encode("latin-1")
        )
    assert told_to(layout, "s").keys == {"a@1"}


def test_a_folder_that_cannot_be_written_does_not_matter(layout, project):
    note_told(layout, "s", 30, ["a@1"])
    (project / ".rawko" / "local" / "told.tsv").unlink()
    (project / ".rawko" / "local" / "told.tsv").mkdir()
    note_told(layout, "s", 30, ["a@1"])
    assert told_to(layout, "s").keys == frozenset()
