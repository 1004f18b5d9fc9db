"""Transcripts are found in folders and put in the order of their sessions."""

import os

from rawkomem.learn.transcripts import session_began, transcripts_in

from tests.learn.session.sessions import claude_code, markdown


def test_oldest_session_first_whatever_the_files_say(tmp_path):
    for name, year in (("a", "2026"), ("b", "2024"), ("c", "2025")):
        (tmp_path / f"{name}.jsonl").write_bytes(claude_code().replace(b"2026-", f"{year}-".encode()))
    undated = tmp_path / "d.md"
    undated.write_bytes(markdown())
    os.utime(undated, (1, 1))
    found = transcripts_in([str(tmp_path), str(tmp_path / "a.jsonl")])
    assert [os.path.basename(file) for file in found] == ["d.md", "b.jsonl", "c.jsonl", "a.jsonl"]
    assert session_began(str(undated)) == 1000 and session_began(str(tmp_path / "none")) == 0


def test_hidden_files_and_other_kinds_are_left_out_of_folders(tmp_path):
    for name in (".git/x.json", "sub/yes.txt", "sub/no.png", ".hidden.md", "given.weird"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    os.mkfifo(tmp_path / "pipe.json")
    assert [os.path.basename(file) for file in transcripts_in([str(tmp_path)])] == ["yes.txt"]
    assert len(transcripts_in([str(tmp_path / "given.weird")])) == 1
    assert session_began(str(tmp_path / "pipe.json")) == 0
