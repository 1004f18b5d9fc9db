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
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..hosts.replay import COVERED, MISSING, SILENT, Correction, read_past, replay
from ..learn.drafts import choose_drafts
from ..learn.requests import MIN_REQUEST_TURNS, next_request
from ..learn.transcripts import read_recorded_sessions, read_session
from ..learn.turns import Run
from ..model.entries import Draft, Entry
from ..model.values import as_dict, record
from ..repository import Repository
from ..text.language import language
from ..text.prose import sentences

Record = dict[str, Any]


# Measures learning on recorded sessions with gold memories: which share of the drafts is worth
# keeping.
#
# A file holds sessions with `id`, Claude Code's `records` and `gold`: memories with `evidence`,
# each a verbatim `quote`. An item touches a gold memory if it shares at least 60 % of the content
# words of one of its quotes.

TOUCHING_SHARE = 0.6  # share of a quote's content words


@record
class Counts:
    """The results of learning from one session, or from all."""

    sessions: int = 1
    drafts: int = 0
    stored: int = 0  # memories, without a review
    touching_gold: int = 0  # drafts and stored items that touch a gold memory
    gold: int = 0
    found: int = 0  # gold memories that an item touches
    requests: int = 0  # requests to the agent to write a memory

    @property
    def figures(self) -> dict[str, Any]:
        """Return the counts with precision and recall; None where there is nothing to divide by."""
        items = self.drafts + self.stored
        return {
            **as_dict(self),
            "precision": round(self.touching_gold / items, 3) if items else None,
            "recall": round(self.found / self.gold, 3) if self.gold else None,
        }


def measure_learning(files: Sequence[str], tell: Callable[[str], None]) -> dict[str, Any]:
    """Return the figures of all sessions and of each session."""
    sessions = [session for file in files for session in read_recorded_sessions(file)]
    each: dict[str, Counts] = {}
    for number, session in enumerate(sessions, 1):
        tell(f"session {number} of {len(sessions)}")
        each[str(session.get("id", number))] = _measure_session(session)
    rows = [as_dict(counts) for counts in each.values()]
    total = Counts(**{name: sum(row[name] for row in rows) for name in Counts.__annotations__})
    return {
        **total.figures,
        "each": {name: counts.figures for name, counts in each.items()},
    }


def _measure_session(session: Record) -> Counts:
    """Learn from one session in a repository of its own, turn by turn, as the hooks do."""
    lines = "".join(json.dumps(one) + "\n" for one in session["records"])
    heard = read_session(io.BytesIO(lines.encode()), Run())
    with tempfile.TemporaryDirectory() as folder, Repository.init(folder) as repository:
        people = [number for number, turn in enumerate(heard.turns) if turn.role == "user"]
        requests, since = 0, MIN_REQUEST_TURNS
        stored: list[str] = []
        for end in (*people[1:], len(heard.turns)):
            learned = repository.learning.take(heard, choose_drafts(heard.turns[:end], heard.run))
            stored += [f"{one.entry.title}\n{one.entry.body}" for one in learned.stored]
            asked = next_request(repository.drafts.all(), since)
            since = 1 if asked else since + 1
            if asked:
                requests += 1
                repository.drafts.store.note_asked(asked)
        texts = [*map(text_of_draft, repository.drafts.all()), *stored]
    gold = [quotes_of(memory) for memory in session.get("gold", [])]
    touched = [touched_by(text, gold) for text in texts]
    touching, found = sum(map(bool, touched)), set[int]().union(*touched)
    drafts = len(texts) - len(stored)
    return Counts(1, drafts, len(stored), touching, len(gold), len(found), requests)


def text_of_draft(draft: Draft) -> str:
    """Return the whole text of a draft."""
    return f"{draft.said}\n{draft.text}"


def quotes_of(gold: Record) -> list[frozenset[str]]:
    """Return the content words of the quotes of a gold memory."""
    return [_words(one["quote"]) for one in gold.get("evidence", [])]


def touched_by(text: str, gold: Sequence[Sequence[frozenset[str]]]) -> set[int]:
    """Return which gold memories a text touches."""
    words = _words(text)
    return {
        number
        for number, quotes in enumerate(gold)
        if any(quote and len(quote & words) >= TOUCHING_SHARE * len(quote) for quote in quotes)
    }


def _words(text: str) -> frozenset[str]:
    spoken = language()
    return frozenset(word for word in spoken.words(text.lower()) if not spoken.is_stop(word))


# Measures `replay` on recorded sessions with gold memories: how many corrections the gold memories
# cover.

MAX_TITLE_CHARS = 100


def measure_replay(files: Sequence[str], tell: Callable[[str], None]) -> dict[str, Any]:
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
        for past in (past for file in files for past in read_past(file)):
            tell(f"session {past.name}")
            replayed = replay(repository, past)
            corrections += replayed.corrections
            each[past.name] = {
                "prompts": len(replayed.answers),
                **_verdict_counts(replayed.corrections),
            }
        repository.close()
    return {
        "sessions": len(each),
        "prompts": sum(row["prompts"] for row in each.values()),
        "gold": len(gold),
        **_verdict_counts(corrections),
        "kinds": {
            kind: _verdict_counts(one for one in corrections if one.draft.kind == kind)
            for kind in sorted({one.draft.kind for one in corrections})
        },
        "each": each,
    }


def _entry_of_gold(memory: Record) -> Entry:
    title = next(iter(sentences(memory["memory"])), memory["memory"])[:MAX_TITLE_CHARS]
    return Entry(
        title=title, when=(memory["when"],) if memory.get("when") else (), body=memory["memory"]
    )


def _verdict_counts(corrections: Iterable[Correction]) -> dict[str, int]:
    """Return how many corrections there are, and how many of each verdict."""
    verdicts = Counter(one.verdict for one in corrections)
    names = {verdict: verdict.replace(" ", "_") for verdict in (COVERED, SILENT, MISSING)}
    return {
        "corrections": verdicts.total(),
        **{name: verdicts[verdict] for verdict, name in names.items()},
    }
