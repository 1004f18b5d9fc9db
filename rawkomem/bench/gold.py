"""`bench learn`, `bench replay` and `bench secrets`: measure recorded sessions with gold memories
(which share of the drafts is worth keeping, and how many corrections the gold memories cover), and
redaction on a labeled corpus.

A file holds sessions with `id`, Claude Code's `records` and `gold`: memories with `evidence`, each
a verbatim `quote`. A text holds the point of a gold memory if it has at least 60 % of the content
words of one of its quotes.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..hosts.hooks import MIN_REQUEST_TURNS, next_request
from ..hosts.replay import (
    COVERED,
    IGNORED,
    MISSING,
    SILENT,
    TITLED,
    Correction,
    recorded_pasts,
    replay,
)
from ..learn.drafts import choose_drafts
from ..learn.proposed_conditions import propose_acts
from ..learn.transcripts import read_recorded_sessions, read_session
from ..learn.turns import RunFacts
from ..model.entries import AGREED, Draft, Entry
from ..model.errors import BadInput
from ..model.values import record
from ..redaction.find import find_secrets, redact
from ..repository import Repository
from ..text.acts import APPLIES_KEY, patterns_given
from ..text.language import language
from ..text.prose import first_sentence

Record = dict[str, Any]


TOUCHING_SHARE = 0.6  # share of a quote's content words
# ways to count: the text of what is asked about, with the person's words, and with the drafts that are less sure
WAYS = ASKED, TURN, MORE = "", " by turn", " with more"


def measure_learning(files: Sequence[str], tell: Callable[[str], None]) -> Record:
    """Return the figures of all sessions and of each session.

    drafts that the person is asked about, others (drafts that are less sure) and stored (memories stored without a
    review); gold, and requests to the agent to write a memory. precision: the share of drafts and stored memories whose
    text holds the point of a gold memory; recall: the share of gold memories whose point one of them holds. by_turn
    counts the person's whole words as well as the text, more counts the others as well.
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


def _with_shares(counts: Counter[str]) -> Record:
    """Return the counts with precision and recall; None where there is nothing to divide by."""
    shares = {
        way: {
            "precision": _ratio(counts[f"right{way}"], counts[f"items{way}"]),
            "recall": _ratio(counts[f"found{way}"], counts["gold"]),
        }
        for way in WAYS
    }
    names = ("sessions", "drafts", "others", "stored", "gold", "requests")
    return {
        **{name: counts[name] for name in names},
        **shares[ASKED],
        "by_turn": shares[TURN],
        "more": shares[MORE],
    }


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _measure_session(session: Record) -> Counter[str]:
    """Learn from one session in a repository of its own, turn by turn, as the hooks do."""
    lines = "".join(json.dumps(one) + "\n" for one in session["records"])
    heard = read_session(io.BytesIO(lines.encode()), RunFacts())
    people = [number for number, turn in enumerate(heard.turns) if turn.role == "user"]
    requests = 0
    since = MIN_REQUEST_TURNS
    stored: list[str] = []
    with tempfile.TemporaryDirectory() as folder, Repository.init(folder) as repository:
        for end in (*people[1:], len(heard.turns)):
            learned = repository.learning.take(
                heard, choose_drafts(heard.turns[:end], heard.run), by_host=True
            )
            stored += [f"{one.entry.title}\n{one.entry.body}" for one in learned.stored]
            asked = next_request(repository.drafts.all(), since)
            since = 1 if asked else since + 1
            if asked:
                requests += 1
                repository.drafts.store.note_asked(asked)
        drafts = repository.drafts.all()
    gold = [quotes_of(memory) for memory in session.get("gold", [])]
    sure = [one for one in drafts if not one.more]
    texts = {
        ASKED: [*stored, *map(_held, sure)],
        TURN: [*stored, *(f"{one.said}\n{one.text}" for one in sure)],
        MORE: [*stored, *map(_held, drafts)],
    }
    counts = Counter(
        sessions=1,
        drafts=len(sure),
        others=len(drafts) - len(sure),
        stored=len(stored),
        gold=len(gold),
        requests=requests,
    )
    for way in WAYS:
        touched = [touched_by(text, gold) for text in texts[way]]
        counts[f"items{way}"] = len(touched)
        counts[f"right{way}"] = sum(map(bool, touched))
        counts[f"found{way}"] = len(set[int]().union(*touched))
    return counts


def _held(draft: Draft) -> str:
    """Return the text of a draft. What a person agreed to counts with the words that agree, which the memory quotes."""
    return f"{draft.said}\n{draft.text}" if draft.kind == AGREED else draft.text


def quotes_of(gold: Record) -> list[frozenset[str]]:
    """Return the content words of the quotes of a gold memory."""
    return [_words(one["quote"]) for one in gold.get("evidence", [])]


def touched_by(text: str, gold: Sequence[Sequence[frozenset[str]]]) -> set[int]:
    """Return the gold memories whose point a text holds."""
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


MAX_TITLE_CHARS = 100


def measure_replay(files: Sequence[str], tell: Callable[[str], None]) -> Record:
    """Return the counts of all sessions, of each session and of each kind.

    A session is replayed with the gold memories of the sessions before it in its file, and for `own` once more with its
    own gold memories.
    """
    stored = 0
    corrections: list[Correction] = []
    with_own: list[Correction] = []
    each: dict[str, dict[str, int]] = {}
    for file in files:
        with (
            tempfile.TemporaryDirectory(prefix="rawkomem-replay-") as folder,
            Repository.init(folder, warn=lambda text: None) as repository,
        ):
            sessions = zip(
                read_recorded_sessions(file), recorded_pasts([file]), strict=True
            )
            for session, past in sessions:
                tell(f"session {past.name}")
                replayed = replay(repository, past)
                gold = session.get("gold", [])
                repository.add_many([_entry_of_gold(rule) for rule in gold])
                stored += len(gold)
                corrections += replayed.corrections
                with_own += (
                    replay(repository, past).corrections if replayed.corrections else ()
                )
                each[past.name] = {
                    "prompts": len(replayed.answers),
                    **verdict_counts(replayed.corrections),
                }
    return {
        "sessions": len(each),
        "prompts": sum(row["prompts"] for row in each.values()),
        "gold": stored,
        **verdict_counts(corrections),
        "own": verdict_counts(with_own),
        "kinds": {
            kind: verdict_counts(one for one in corrections if one.draft.kind == kind)
            for kind in sorted({one.draft.kind for one in corrections})
        },
        "each": each,
    }


def _entry_of_gold(memory: Record) -> Entry:
    title = (first_sentence(memory["memory"]) or memory["memory"])[:MAX_TITLE_CHARS]
    acts = propose_acts(memory["memory"])
    return Entry(
        title=title,
        when=(memory["when"],) if memory.get("when") else (),
        body=memory["memory"],
        extra={APPLIES_KEY: patterns_given(acts)} if acts else {},
    )


def verdict_counts(corrections: Iterable[Correction]) -> dict[str, int]:
    """Return how many corrections there are, and how many of each verdict."""
    verdicts = Counter(one.verdict for one in corrections)
    names = {
        verdict: verdict.replace(" ", "_")
        for verdict in (COVERED, IGNORED, TITLED, SILENT, MISSING)
    }
    return {
        "corrections": verdicts.total(),
        **{name: verdicts[verdict] for verdict, name in names.items()},
    }


# `bench secrets`: measure on a labeled corpus how well redaction finds secrets and leaves other text alone.
#
# A corpus is JSON: a list of rows with `kind` (`secret:…`, `pii:…`, `benign:…`), `expected_redacted`,
# `text_b64`, and optionally `span_b64` (the secret alone), `scope` and `contested`. Only rows of scope
# `core` that are not contested count. Texts are base64, so that secret scanners do not report a corpus.

# beside a checkout of this project
DEFAULT_CORPUS = os.path.join("..", "shared", "data", "secrets.json")
PAGE_CHARS = 4_096  # characters of each text that is timed
ROUNDS = 5  # the fastest round counts: a busy machine can double the time of a round


@record
class LabelledText:
    """One labeled text."""

    kind: str
    wanted: bool
    text: str
    span: str = ""

    # text is redacted where the secret is, or anywhere if the corpus does not say where
    found: bool = False
    redacted: str = ""


@record
class Figures:
    """The measured values of the figures that the docs promise."""

    secrets: int
    secret_recall: float
    personal: int
    personal_recall: float
    benign: int
    false_positives: float  # per 1,000 benign texts
    lookalikes: int
    # share of texts that only look like a secret or personal data
    lookalikes_touched: float
    spans: int
    spans_removed: float
    pem_blocks: int
    pem_whole: float
    idempotent: float
    ms_per_4kb: float
    # of rows that should be redacted: kind, rows, recall
    by_kind: tuple[tuple[str, int, float], ...] = ()


def read_corpus(file: str) -> list[LabelledText]:
    """Return the rows of a corpus that count; raise BadInput for a file that is not a corpus."""
    try:
        with open(file, encoding="utf-8") as stream:
            rows = json.load(stream)
        return [
            _row(row)
            for row in rows
            if row.get("scope", "core") == "core" and not row.get("contested")
        ]
    except OSError as failure:
        raise BadInput(
            f"cannot read {file}: {failure.strerror}", "name a corpus with --file"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{file} is not a corpus of secrets",
            "name a JSON list of rows with --file; see 'rawkomem docs redaction'",
        ) from None


def measure_secrets(rows: Sequence[LabelledText]) -> Figures:
    """Run redaction over a corpus."""
    wanted = [row for row in rows if row.wanted]
    secrets = [row for row in wanted if row.kind.startswith("secret")]
    personal = [row for row in wanted if row.kind.startswith("pii")]
    benign = [row for row in rows if row.kind.startswith("benign")]
    lookalikes = [
        row for row in rows if not row.wanted and not row.kind.startswith("benign")
    ]
    spans = [row for row in wanted if row.span and row.found]
    blocks = [
        row for row in wanted if "PRIVATE KEY" in row.text and "-----END" in row.text
    ]
    return Figures(
        secrets=len(secrets),
        secret_recall=_share([row.found for row in secrets]),
        personal=len(personal),
        personal_recall=_share([row.found for row in personal]),
        benign=len(benign),
        false_positives=1_000
        * (1 - _share([row.redacted == row.text for row in benign])),
        lookalikes=len(lookalikes),
        lookalikes_touched=1 - _share([row.redacted == row.text for row in lookalikes]),
        spans=len(spans),
        spans_removed=_share([row.span not in row.redacted for row in spans]),
        pem_blocks=len(blocks),
        pem_whole=_share(["PRIVATE KEY-----" not in row.redacted for row in blocks]),
        idempotent=_share([redact(row.redacted) == row.redacted for row in rows]),
        ms_per_4kb=_ms_per_page("\n".join(row.text for row in benign or rows)),
        by_kind=_by_kind(wanted),
    )


def _row(row: dict[str, Any]) -> LabelledText:
    text, span = (
        b64decode(row.get(key, "")).decode("utf-8", "replace")
        for key in ("text_b64", "span_b64")
    )
    start = text.find(span)
    end = start + len(span) if span else len(text)
    found = any(hit.start < end and start < hit.end for hit in find_secrets(text))
    return LabelledText(
        row["kind"], row["expected_redacted"], text, span, found, redact(text)
    )


def _share(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts) if verdicts else 1.0


def _by_kind(wanted: Sequence[LabelledText]) -> tuple[tuple[str, int, float], ...]:
    kinds: dict[str, list[bool]] = {}
    for row in wanted:
        kinds.setdefault(row.kind, []).append(row.found)
    return tuple(
        (kind, len(verdicts), _share(verdicts))
        for kind, verdicts in sorted(kinds.items())
    )


def _ms_per_page(text: str) -> float:
    pages = [text[at : at + PAGE_CHARS] for at in range(0, len(text), PAGE_CHARS)] or [
        ""
    ]
    rounds = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        for page in pages:
            redact(page)
        rounds.append(
            (time.thread_time() - began) * 1_000 / max(1.0, len(text) / PAGE_CHARS)
        )
    return min(rounds)
