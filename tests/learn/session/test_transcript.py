"""Transcripts of every host give the same turns; what is unknown, broken, huge or injected costs itself only."""

import io
import json
import os

import pytest
from rawkomem.learn.transcripts import MAX_LINE_BYTES, Transcript
from rawkomem.model.errors import BadInput

from tests.learn.session.sessions import HOSTS, SESSION, TALK, claude_code, codex, jsonl, opencode


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


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"\x7fELF\0\0\0", "give another"),
        (b"[1, 2", "complete"),
    ],
)
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
