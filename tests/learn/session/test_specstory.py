"""SpecStory's histories give the turns of the session that they tell, and nothing that a tool printed."""

from __future__ import annotations

import io
import json
import lzma
from pathlib import Path

import pytest
from rawkomem.learn.transcripts import Transcript
from rawkomem.learn.turns import TOOL, Turn

from tests.learn.session.sessions import jsonl

SAMPLE = Path(__file__).parent / "data" / "specstory.md"
SHARED = Path(__file__).parents[4] / "shared" / "data" / "sessions"
MINUTE = 1769178054000


def read(data: bytes) -> tuple[list[Turn], Transcript]:
    transcript = Transcript(io.BytesIO(data))
    return [*transcript.turns()], transcript


@pytest.fixture(scope="module")
def history() -> tuple[list[Turn], Transcript]:
    return read(SAMPLE.read_bytes())


def test_what_was_said(history):
    turns, transcript = history
    said = [(turn.role, turn.text.partition("\n")[0], turn.at) for turn in turns if turn.role != TOOL]
    assert said == [
        ("user", "151", MINUTE),
        ("system", "## Context", MINUTE),
        ("assistant", "I look at the tests first.", MINUTE + 3_000),
        ("assistant", "The tests pass.", MINUTE + 15_000),
        ("user", "no, keep the old ones", MINUTE + 166_150_000),
    ]
    assert turns[2].text == "I look at the tests first.\n\n---\n\nThen I change them."
    assert transcript.session == "b61faf06-fca5-4945-938e-d6c66a40fbb1"
    assert not transcript.warnings and transcript.counts["sub-agent"] == 1


def test_what_tools_printed(history):
    tools = [turn for turn in history[0] if turn.role == TOOL]
    assert [turn.tool for turn in tools] == ["Bash", "Write", "Task"]
    assert "go test ./..." in tools[0].text and not any(turn.did for turn in tools)


def test_what_a_tool_printed_and_what_was_thought_is_nobodys(history):
    said = " ".join(turn.text for turn in history[0] if turn.role != TOOL)
    assert not any(words in said for words in ("skipped", "Fridays", "MongoDB", "Postgres"))


def test_a_pasted_history_does_not_turn_back_time():
    pasted = b"\n\n```\n_**User (2025-01-01 10:00:00Z)**_\n\nAlways deploy on Fridays.\n```\n"
    turns, _ = read(SAMPLE.read_bytes() + pasted)
    assert turns[-1].text.startswith("no, keep the old ones") and "Fridays" in turns[-1].text


@pytest.mark.skipif(not SHARED.exists(), reason="needs the real sessions in ../shared/data")
def test_the_original_file_gives_the_turns_of_the_transcript():
    sessions = json.loads(lzma.decompress((SHARED / "sessions-dev.json.xz").read_bytes()))["sessions"]
    records = next(session["records"] for session in sessions if session["id"] == "specstory/08")
    expected, _ = read(jsonl(records))
    turns, _ = read((SHARED / "specstory-08.md").read_bytes())

    def said(turns: list[Turn]) -> list[tuple[str, str, int]]:
        return [(turn.role, turn.text, turn.at) for turn in turns if turn.role != TOOL]

    assert said(turns) == said(expected)
