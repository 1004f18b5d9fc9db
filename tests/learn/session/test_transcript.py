"""Transcripts of every host give the same turns; what is unknown, broken, huge or injected costs itself only."""

import io
import json
import os
from pathlib import Path

import pytest
from rawkomem.learn.transcripts import MAX_LINE_BYTES, Transcript, session_began, transcripts_in
from rawkomem.learn.turns import TOOL, Did, Turn, calls_asked, exit_failed
from rawkomem.model.errors import BadInput

from tests.learn.session.sessions import HOSTS, SESSION, TALK, claude_code, codex, jsonl, markdown, opencode


def read(data: bytes) -> tuple[list[tuple[str, str]], Transcript]:
    transcript = Transcript(io.BytesIO(data))
    return [(turn.role, turn.text) for turn in transcript.turns()], transcript


def said(data: bytes) -> list[tuple[str, str]]:
    """What people said."""
    return [turn for turn in read(data)[0] if turn[0] in ("user", "assistant", "")]


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_tells_the_same(host):
    turns, transcript = read(HOSTS[host]())
    spoken = [turn for turn in turns if turn[0] != "system"]
    assert spoken == TALK or spoken == [*TALK[:2], TALK[3], TALK[2], TALK[4]]
    assert transcript.host == {"gemini-lines": "gemini", "markdown": "text", "bold": "text"}.get(host, host)
    assert not any(transcript.counts.values())
    if host in ("claude-code", "codex", "opencode"):
        assert (
            transcript.session == SESSION and [*Transcript(io.BytesIO(HOSTS[host]())).turns()][-1].at == 1786363200000
        )


def test_what_the_host_put_in_is_nobodys_word():
    assert ("system", "We always use ed.") in read(opencode())[0]
    assert not any("vi" in text.split() for _, text in said(codex()))
    record = json.loads(claude_code().split(b"\n")[1])
    for mark in ({"isMeta": True}, {"isCompactSummary": True}, {"isSidechain": True}):
        assert said(jsonl([{**record, **mark}])) == []
    record["message"]["content"] = "Do it.<system-reminder>\nWe always use ed.\n</system-reminder>\nNow."
    assert said(jsonl([record])) == [("user", "Do it.\nNow.")]
    record["message"]["content"] = "<command-name>/clear</command-name>\n<local-command-stdout>x</local-command-stdout>"
    assert said(jsonl([record])) == []


def test_what_is_said_again_later_is_a_turn_of_its_own():
    talk = [("user", "yes please"), *[("assistant", f"step {number}") for number in range(10)], ("user", "yes please")]
    assert said(codex(talk)) == talk


def test_broken_lines_are_counted_and_cost_themselves_only():
    lines = claude_code().split(b"\n")
    torn = b"\n".join([lines[0][:-7], b"not json", b"[1, 2]", *lines[1:-2], lines[-2][:20]])
    turns, transcript = read(torn)
    assert turns == TALK and transcript.counts["broken"] == 4


def test_unknown_records_are_counted():
    turns, transcript = read(claude_code() + jsonl([{"hello": "world"}, {"type": "novelty", "uuid": "n"}]))
    assert turns == TALK and transcript.counts["unknown"] == 1, "a new type of a known host is no surprise"


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "uuid": "x", "message": "text"},
        {"type": "user", "uuid": "x", "message": {"content": None}},
        {"type": "user", "uuid": "x", "message": {"content": [None, 3, {"type": "text"}, {"type": "text", "text": 7}]}},
        {"type": "response_item", "payload": {"type": "message", "role": None, "content": 5}},
        {"info": {"time": 7}, "parts": [{"type": "tool", "state": None}, 4]},
        {"type": "gemini", "content": {"text": None}, "toolCalls": 3, "timestamp": "yesterday"},
        {"role": "user", "content": {"a": 1}, "timestamp": 1e300},
    ],
)
def test_odd_records_say_nothing_and_harm_nobody(record):
    assert said(jsonl([record, {"role": "user", "content": "fine"}])) == [("user", "fine")]


def test_a_line_of_absurd_length_is_passed_over():
    huge = b'{"type": "user", "uuid": "x", "message": {"content": "' + b"x" * (MAX_LINE_BYTES + 10) + b'"}}\n'
    turns, transcript = read(claude_code() + huge + claude_code([("user", "after it")]))
    assert turns[-1] == ("user", "after it") and transcript.counts["too long"] == 1


def test_a_huge_file_is_read_as_a_stream(tmp_path):
    """40 MB of tool output take a fraction of that in memory."""
    import tracemalloc

    file = tmp_path / "big.jsonl"
    line = claude_code([("tool", "x" * 100_000)]).split(b"\n")[1] + b"\n"
    with open(file, "wb") as stream:
        for _ in range(400):
            stream.write(line)
        stream.write(claude_code([("user", "at the end")]))
    assert os.path.getsize(file) > 40_000_000
    tracemalloc.start()
    with open(file, "rb") as stream:
        last = [turn.text for turn in Transcript(stream).turns() if turn.role == "user"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert last == ["at the end"] and peak < 10_000_000


@pytest.mark.parametrize(("data", "hint"), [(b"\x7fELF\0\0\0", "give another"), (b"[1, 2", "complete")])
def test_what_is_no_transcript_is_refused(data, hint):
    with pytest.raises(BadInput) as caught:
        read(data)
    assert hint in caught.value.hint


@pytest.mark.parametrize("data", [b"", b"\n\n", b"{}", b"[]", b'{"messages": []}', b"\xef\xbb\xbf"])
def test_nothing_is_nothing(data):
    assert said(data) == []


def test_a_text_without_roles_is_somebodys():
    assert said("We decided: ümlauts.\n\nNote: no role here.".encode()) == [
        ("", "We decided: ümlauts.\n\nNote: no role here.")
    ]
    assert said(b"\xff\xfe bad bytes") == [("", "\ufffd\ufffd bad bytes")]


def test_roles_in_code_and_quotes_are_no_speakers():
    log = b"User: look\n\n```\nAssistant: hello\n```\n> User: quoted\n\nAssistant (10:31): yes"
    assert said(log) == [("user", "look\n\n```\nAssistant: hello\n```\n> User: quoted"), ("assistant", "yes")]


# Transcripts are found in folders and put in the order of their sessions
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


# What tools did is read the same from every host: the command, the file, what is new in it, and whether it failed
SAMPLES = sorted((Path(__file__).parent / "data" / "tools").iterdir())
RULE = "- Run `make db` before `make test`."
SILENT = "cursor"  # records no results


def tools(data: bytes) -> list[Turn]:
    return [turn for turn in Transcript(io.BytesIO(data)).turns() if turn.role == TOOL]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_every_host_tells_what_failed_what_was_written_and_what_passed(sample):
    turns = tools(sample.read_bytes())
    asked = [turn.did for turn in turns if not turn.text and turn.did.failed is None]
    assert [did.command for did in asked if did.command.startswith("make")] == ["make test", "make test"]
    assert [(did.file, did.written) for did in asked if did.written] == [("/x/CLAUDE.md", RULE)]
    results = [turn for turn in turns if turn.did.failed is not None]
    if sample.stem == SILENT:
        assert not results and len(asked) == 4
        return
    assert [turn.did.failed for turn in results] == [True, False, False, False]
    assert [turn.did.command for turn in results if turn.did.command.startswith("make")] == ["make test", "make test"]
    assert "refused" in results[0].text and "42 passed" in results[3].text
    assert [turn.did.id for turn in results] == [did.id for did in asked], "a call and its result have one id"
    assert all(turn.tool for turn in turns) or sample.stem == "codex"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_what_people_say_beside_tools_stays(sample):
    turns = Transcript(io.BytesIO(sample.read_bytes())).turns()
    assert [(turn.role, turn.text) for turn in turns if turn.role != TOOL] == [
        ("user", "Make the tests pass."),
        ("assistant", "They pass."),
    ]


@pytest.mark.parametrize(
    ("given", "done"),
    [
        ({"command": ["bash", "-lc", "ls -l"]}, [Did("i", "ls -l")]),
        ({"command": ["ls", "-l"]}, [Did("i", "ls -l")]),
        ({"command": "view", "path": "a.md"}, [Did("i", file="a.md")]),
        ({"path": "src/shop", "pattern": "x"}, [Did("i")]),
        ({"command": "create", "path": "a.md", "file_text": "x"}, [Did("i", file="a.md", written="x")]),
        ({"file_path": "a.md", "content": ""}, [Did("i", file="a.md", written="")]),
        ({"notebook_path": "a.ipynb", "new_source": "x = 1"}, [Did("i", file="a.ipynb", written="x = 1")]),
        (
            {
                "file_path": "a.md",
                "edits": [{"old_string": "a", "new_string": "a\nb"}, {"old_string": "c", "new_string": "d"}],
            },
            [Did("i", file="a.md", written="b\nd")],
        ),
        (
            {"command": "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n-y\n+z\nE"},
            [Did("i", file="a", written="x"), Did("i", file="b", written="z")],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n+x\n*** Delete File: c\n*** End Patch",
            [Did("i", file="b", written="x"), Did("i", file="c")],
        ),
        ({"text": "hello"}, [Did("i")]),
        (None, [Did("i")]),
        ({"command": 7, "edits": [3], "path": ["a"]}, [Did("i")]),
    ],
)
def test_calls(given, done):
    assert [*calls_asked("i", given)] == done


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Exit code: 1\nWall time: 1 seconds\nOutput:\nx", True),
        ("Process exited with code 0\nOutput:\nx", False),
        ("x\n<exited with exit code 3>", True),
        ("Exit Code: 0", False),
        ("the process ended with exit code 1 yesterday", None),
        ("", None),
    ],
)
def test_exit_codes(output, failed):
    assert exit_failed(output) is failed
