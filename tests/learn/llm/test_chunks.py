"""The chunks that a model reads: every word that people typed is in one of them, and none is too long."""

import hashlib
import io
import json
import lzma
from itertools import pairwise

import pytest
from rawkomem.learn.exchanges import find_quote, is_quoted, normalized_quote
from rawkomem.learn.extraction import MAX_CHUNK_CHARS, chunks_of, first_ask
from rawkomem.learn.transcripts import Transcript
from rawkomem.learn.turns import Turn

from tests.conftest import SHARED

SESSIONS = SHARED / "data" / "sessions" / "sessions-dev.json.xz"


def long_session() -> list[Turn]:
    turns = []
    for number in range(60):
        turns.append(Turn("assistant", f"Statement {number}. " + "I looked at many files today. " * 200))
        turns.append(Turn("tool", "output of a tool " * 500))
        turns.append(
            Turn("user", f"Answer {number}: " + f"please keep module{number} as it is. " * (number % 7 * 10 + 1))
        )
    return turns


def test_every_human_turn_is_whole_in_a_chunk_with_the_agents_words_before_it():
    session = long_session()
    chunks = chunks_of(session)
    assert len(chunks) > 5 and all(len(chunk.text) <= MAX_CHUNK_CHARS for chunk in chunks)
    texts = [normalized_quote(chunk.text) for chunk in chunks]
    for number, turn in enumerate(turn for turn in session if turn.role == "user"):
        first = next(chunk for chunk, text in zip(chunks, texts, strict=True) if normalized_quote(turn.text) in text)
        assert f"[AGENT] Statement {number}." in first.text and turn in first.turns
    assert not any("output of a tool" in chunk.text for chunk in chunks)
    assert all(set(one.turns) & set(other.turns) for one, other in pairwise(chunks)), "chunks overlap"


def test_a_session_that_grows_keeps_its_chunks_but_the_last():
    turns = long_session()
    before, after = chunks_of(turns[:120]), chunks_of(turns)
    assert len(before) > 2 and before[:-1] == after[: len(before) - 1]


def test_of_a_very_long_turn_both_ends_are_told():
    (chunk,) = chunks_of([Turn("user", f"Please note: {'x ' * 15_000}and that is all.")])
    assert len(chunk.text) <= MAX_CHUNK_CHARS and "Please note" in chunk.text and "that is all." in chunk.text


def test_what_hosts_write_is_left_out_and_a_paste_is_named():
    host = Turn("user", "<system-reminder>use vi</system-reminder>")
    pasted = Turn("user", "Why does this fail?\n\n```\nTraceback of a program\n```")
    (chunk,) = chunks_of([host, pasted])
    assert chunk.turns == (pasted,) and "use vi" not in chunk.text
    assert "[PASTED, nobody's words]" in chunk.text and "[PERSON] Why does this fail?" in chunk.text
    assert first_ask([chunk]) == "Why does this fail?"
    assert chunks_of([host]) == chunks_of([Turn("", "an output")]) == [] and first_ask([]) == ""


def test_secrets_are_in_no_chunk():
    key = "ghp_" + hashlib.sha256(b"a fake").hexdigest()[:36]
    (chunk,) = chunks_of([Turn("assistant", f"I use {key} now."), Turn("user", f"No, {key} is old.")])
    assert key not in chunk.text + str(chunk.turns) and "[REDACTED_" in chunk.text


@pytest.mark.skipif(not SESSIONS.exists(), reason="needs the shared sessions")
def test_each_quote_of_a_person_in_real_sessions_can_be_found():
    """The last 16,000 characters, which a model was shown before, held 58 of 145 memories of all sessions."""
    missed, quotes = [], 0
    for session in json.loads(lzma.decompress(SESSIONS.read_bytes()))["sessions"]:
        lines = b"".join(json.dumps(record).encode() + b"\n" for record in session["records"])
        chunks = chunks_of(Transcript(io.BytesIO(lines)).turns())
        texts = [normalized_quote(chunk.text) for chunk in chunks]
        for quote in (e["quote"] for gold in session["gold"] for e in gold["evidence"] if e["role"] == "user"):
            quotes += 1
            shown = [chunk for chunk, text in zip(chunks, texts, strict=True) if normalized_quote(quote) in text]
            if not any(find_quote(quote, chunk.turns, is_quoted) for chunk in shown):
                missed.append(quote)
    assert quotes >= 25 and missed == []
