"""Aider's history gives what a person typed, and no code or heading of an answer."""

import io
from pathlib import Path

from rawkomem.learn.transcripts import Transcript

SAMPLE = Path(__file__).parent / "data" / "aider.md"
MARCH_2 = 1772442900000
MARCH_3 = 1772532000000


def test_who_said_what():
    transcript = Transcript(io.BytesIO(SAMPLE.read_bytes()))
    turns = [*transcript.turns()]
    assert transcript.host == "aider"
    assert [(turn.text, turn.at) for turn in turns if turn.role == "user"] == [
        ("add a retry to the invoice call", MARCH_2),
        ("No, never write your own retry loop.\n\nUse `tenacity`, as in src/mail.py.", MARCH_2),
        ("how does the export choose its time zone?", MARCH_3),
    ]
    answers = [turn.text for turn in turns if turn.role == "assistant"]
    assert len(answers) == 4
    assert "#### What changes" in answers[1] and "deploy on Fridays" in answers[1]
    assert not any("Tokens:" in text or "KeyboardInterrupt" in text for text in answers)


def test_a_session_in_the_project_is_found(project, rawkomem):
    (project / ".aider.chat.history.md").write_bytes(SAMPLE.read_bytes())
    assert "2 ✗ not covered" in " ".join(rawkomem("replay").stdout.split())
    (draft,) = rawkomem.json("learn")["drafts"]
    assert "Never write your own retry loop" in draft["text"]


def test_a_project_without_sessions_is_told_where_they_were_searched(rawkomem):
    said = rawkomem("learn", check=1).stderr
    assert "no past session was found (looked in" in said and "'rawkomem learn FILE'" in said
