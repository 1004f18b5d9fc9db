"""`bench learn` and `bench replay`: measure recorded sessions with gold memories: which share of
the drafts is worth keeping, and how many corrections the gold memories cover.

A file holds sessions with `id`, Claude Code's `records` and `gold`: memories with `evidence`, each
a verbatim `quote`. An item touches a gold memory if it shares at least 60 % of the content words of
one of its quotes.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..hosts.hooks import MIN_REQUEST_TURNS, next_request
from ..hosts.replay import COVERED, MISSING, SILENT, Correction, recorded_pasts, replay
from ..learn.drafts import choose_drafts
from ..learn.transcripts import read_recorded_sessions, read_session
from ..learn.turns import Run
from ..model.entries import Entry
from ..repository import Repository
from ..text.language import language
from ..text.prose import sentences

Record = dict[str, Any]


TOUCHING_SHARE = 0.6  # share of a quote's content words


def measure_learning(files: Sequence[str], tell: Callable[[str], None]) -> Record:
    """Return the figures of all sessions and of each session.

    drafts and stored (memories stored without a review); touching_gold: those of both that touch a gold memory; gold,
    and found: gold memories that one of them touches; requests to the agent to write a memory.
    """
    sessions = [session for file in files for session in read_recorded_sessions(file)]
    total: Counter[str] = Counter()
    each: dict[str, Record] = {}
    for number, session in enumerate(sessions, 1):
        tell(f"session {number} of {len(sessions)}")
        counts = _measure_session(session)
        total.update(counts)
        each[str(session.get("id", number))] = _with_shares(counts)
    return {**_with_shares(total), "each": each}


def _with_shares(counts: Mapping[str, int]) -> Record:
    """Return the counts with precision and recall; None where there is nothing to divide by."""
    items, gold = counts["drafts"] + counts["stored"], counts["gold"]
    return {
        **counts,
        "precision": round(counts["touching_gold"] / items, 3) if items else None,
        "recall": round(counts["found"] / gold, 3) if gold else None,
    }


def _measure_session(session: Record) -> dict[str, int]:
    """Learn from one session in a repository of its own, turn by turn, as the hooks do."""
    lines = "".join(json.dumps(one) + "\n" for one in session["records"])
    heard = read_session(io.BytesIO(lines.encode()), Run())
    people = [number for number, turn in enumerate(heard.turns) if turn.role == "user"]
    requests, since = 0, MIN_REQUEST_TURNS
    stored: list[str] = []
    with tempfile.TemporaryDirectory() as folder, Repository.init(folder) as repository:
        for end in (*people[1:], len(heard.turns)):
            learned = repository.learning.take(
                heard, choose_drafts(heard.turns[:end], heard.run)
            )
            stored += [f"{one.entry.title}\n{one.entry.body}" for one in learned.stored]
            asked = next_request(repository.drafts.all(), since)
            since = 1 if asked else since + 1
            if asked:
                requests += 1
                repository.drafts.store.note_asked(asked)
        drafts = [f"{draft.said}\n{draft.text}" for draft in repository.drafts.all()]
    gold = [quotes_of(memory) for memory in session.get("gold", [])]
    touched = [touched_by(text, gold) for text in (*drafts, *stored)]
    return {
        "sessions": 1,
        "drafts": len(drafts),
        "stored": len(stored),
        "touching_gold": sum(map(bool, touched)),
        "gold": len(gold),
        "found": len(set[int]().union(*touched)),
        "requests": requests,
    }


def quotes_of(gold: Record) -> list[frozenset[str]]:
    """Return the content words of the quotes of a gold memory."""
    return [_words(one["quote"]) for one in gold.get("evidence", [])]


def touched_by(text: str, gold: Sequence[Sequence[frozenset[str]]]) -> set[int]:
    """Return which gold memories a text touches."""
    words = _words(text)
    return {
        number
        for number, quotes in enumerate(gold)
        if any(
            quote and len(quote & words) >= TOUCHING_SHARE * len(quote)
            for quote in quotes
        )
    }


def _words(text: str) -> frozenset[str]:
    spoken = language()
    return frozenset(
        word for word in spoken.words(text.lower()) if not spoken.is_stop(word)
    )


# Measures `replay` on recorded sessions with gold memories: how many corrections the gold memories
# cover.

MAX_TITLE_CHARS = 100


def measure_replay(files: Sequence[str], tell: Callable[[str], None]) -> Record:
    """Return the counts of all sessions, of each session and of each kind."""
    gold = [
        memory
        for file in files
        for session in read_recorded_sessions(file)
        for memory in session.get("gold", [])
    ]
    corrections: list[Correction] = []
    each: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory(prefix="rawkomem-replay-") as folder:
        repository = Repository.init(folder, warn=lambda text: None)
        repository.add_many([_entry_of_gold(memory) for memory in gold])
        for past in recorded_pasts(files):
            tell(f"session {past.name}")
            replayed = replay(repository, past)
            corrections += replayed.corrections
            each[past.name] = {
                "prompts": len(replayed.answers),
                **verdict_counts(replayed.corrections),
            }
        repository.close()
    return {
        "sessions": len(each),
        "prompts": sum(row["prompts"] for row in each.values()),
        "gold": len(gold),
        **verdict_counts(corrections),
        "kinds": {
            kind: verdict_counts(one for one in corrections if one.draft.kind == kind)
            for kind in sorted({one.draft.kind for one in corrections})
        },
        "each": each,
    }


def _entry_of_gold(memory: Record) -> Entry:
    title = next(iter(sentences(memory["memory"])), memory["memory"])[:MAX_TITLE_CHARS]
    return Entry(
        title=title,
        when=(memory["when"],) if memory.get("when") else (),
        body=memory["memory"],
    )


def verdict_counts(corrections: Iterable[Correction]) -> dict[str, int]:
    """Return how many corrections there are, and how many of each verdict."""
    verdicts = Counter(one.verdict for one in corrections)
    names = {
        verdict: verdict.replace(" ", "_") for verdict in (COVERED, SILENT, MISSING)
    }
    return {
        "corrections": verdicts.total(),
        **{name: verdicts[verdict] for verdict, name in names.items()},
    }
