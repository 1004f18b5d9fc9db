"""`bench recall`: measures how well the real search and the real injection find the memories that a question needs.

A file holds memories (text, speaker, date, `when` conditions) and questions with the ids that
answer them, perhaps none. The memories are written as a real repository and indexed; questions use
the same calls as the command line. Questions that name `acceptable` memories are real prompts,
which are answered as the prompt hook answers, too. Recorded sessions are replayed as `replay` does, and sessions with
gold memories measure learning.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log2, sqrt
from statistics import fmean, pstdev
from typing import Any

from ..files.installation import plan_start, write_start
from ..files.layout import FOLDER, find_layout
from ..files.session_records import Told
from ..format.blocks import SEPARATOR
from ..format.frontmatter import emit_entry
from ..hosts.hook_prompt import rehearsed
from ..hosts.hooks import MIN_REQUEST_TURNS, next_request
from ..hosts.known_hosts import HOSTS
from ..hosts.replay import (
    Past,
    past_answers,
    read_recorded_sessions,
    recorded_pasts,
)
from ..learn.drafts import choose_drafts
from ..learn.transcripts import read_session
from ..learn.turns import ASSISTANT, RunFacts, Turn, host_of, turns_of_record
from ..model.entries import AGREED, Draft, Entry, Task
from ..model.errors import BadInput
from ..model.ids import slug
from ..repository import Repository
from ..text.language import language

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
            stored += [one.entry.title_and_body for one in learned.stored]
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


CUTS = (1, 5, 10)
DEVIATIONS = 1.96  # standard errors on either side of a mean that make a 95 % interval


def metrics_of(ranked: Sequence[str], relevant: set[str]) -> dict[str, float]:
    """Return all metrics of one answered question."""
    row = {
        f"recall@{cut}": len(relevant & {*ranked[:cut]}) / len(relevant) for cut in CUTS
    }
    ranks = [rank for rank, id in enumerate(ranked[:10], 1) if id in relevant]
    best = range(1, min(10, len(relevant)) + 1)
    row["mrr@10"] = 1 / ranks[0] if ranks else 0.0
    row["ndcg@10"] = _gain(ranks) / _gain(best)
    return row


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / log2(rank + 1) for rank in ranks)


def summary_of(rows: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return mean and 95 % interval of every metric."""
    result = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        mean = fmean(values)
        margin = DEVIATIONS * pstdev(values) / sqrt(len(values))
        low = max(0.0, mean - margin)
        high = min(1.0, mean + margin)
        result[name] = {
            "mean": round(mean, 4),
            "low": round(low, 4),
            "high": round(high, 4),
        }
    return result


def injected_of(rows: Sequence[Record]) -> Record:
    """Return the quality of injections into prompts. A row holds sets of ids, and the injected tokens.

    precision: the share of the memories with full text that are relevant (or acceptable).
    hit: of the prompts that have a relevant memory, the share that gets its text (or a pointer to it).
    false_injection: of the other prompts, the share that gets the text of a memory which is not even acceptable.
    """
    items = [(row, id) for row in rows for id in row["injected"]]
    relevant = [id in row["relevant"] for row, id in items]
    fitting = [id in row["relevant"] | row["acceptable"] for row, id in items]
    wanting = [row for row in rows if row["relevant"]]
    others = [row for row in rows if not row["relevant"]]
    hits = [bool(row["relevant"] & row["injected"]) for row in wanting]
    named = [
        bool(row["relevant"] & (row["injected"] | row["pointers"])) for row in wanting
    ]
    return {
        "prompts": len(rows),
        "items": len(items),
        "precision": _mean(relevant),
        "precision_acceptable": _mean(fitting),
        "hit": _mean(hits),
        "hit_with_pointers": _mean(named),
        "false_injection": _mean(
            [bool(row["injected"] - row["acceptable"]) for row in others]
        ),
        "tokens_per_prompt": _mean([row["tokens"] for row in rows], 1),
        "pointers_per_prompt": _mean([len(row["pointers"]) for row in rows], 2),
    }


def _mean(values: Sequence[float], digits: int = 4) -> float | None:
    """Return the mean of numbers, or the share of True; None if there are none."""
    return round(fmean(values), digits) if values else None


# Recorded sessions: the transcript before a prompt, and whole sessions replayed.

REPLAYED_HOST = "claude"
REPLAY_COUNTS = (
    "sessions", "prompts", "injections", "items", "repeats", "tokens", "tokens_saved",
)  # fmt: skip


def turns_before(pasts: Iterable[Past], source: str, prompt: str) -> tuple[Turn, ...]:
    """Return the turns before a prompt, which a set names as "session.number", from 0; empty if it is not found.

    If the number and the text do not match, the text decides.
    """
    name, _, number = source.partition(".")
    for past in pasts:
        same = [
            (str(at) != number, past.before(moment))
            for at, moment in enumerate(past.moments)
            if moment.prompt.strip() == prompt.strip()
        ]
        if name and past.name.rpartition("/")[2] == name and same:
            return min(same, key=lambda one: one[0])[1]
    return ()


def replay_sessions(repository: Repository, pasts: Iterable[Past]) -> Record:
    """Return counts over all sessions: prompts, injections, memories, repeats, tokens, and tokens saved."""
    counts = Counter(dict.fromkeys(REPLAY_COUNTS, 0))
    for past in pasts:
        counts["sessions"] += 1
        injected_before: set[str] = set()
        for moment, answer in zip(
            past.moments, past_answers(repository, past), strict=True
        ):
            if moment.is_fresh:
                injected_before.clear()
            ids = {memory.id for memory in answer.memories}
            counts.update(
                prompts=1,
                injections=bool(ids),
                items=len(ids),
                repeats=len(ids & injected_before),
                tokens=answer.tokens,
                tokens_saved=answer.saved,
            )
            injected_before |= ids
    return {
        **counts,
        "repeated": round(counts["repeats"] / max(1, counts["items"]), 4),
        "tokens_per_prompt": round(counts["tokens"] / max(1, counts["prompts"]), 1),
    }


# Questions about the memories of a file.

BUDGET_TOKENS = 2_000  # for the figures "within a budget"


def measure_recall(
    file: str,
    profile: str,
    say: Callable[[str], None],
    deep: bool = False,
    sessions: Sequence[str] = (),
) -> Record:
    """Return all figures of one file; with `deep`, contextual vectors are computed before the first question.

    With files of sessions, prompts are sent with the transcript before them, and whole sessions are replayed.
    """
    rows: list[Record] = []
    prompts: list[Record] = []
    pasts = recorded_pasts(sessions)
    for part in read_sets(file):
        with tempfile.TemporaryDirectory(prefix="rawkomem-recall-") as project:
            names = write_repository(project, part["memories"])
            questions = part["queries"]
            say(
                f"{os.path.basename(file)}: {len(names)} memories, {len(questions)} questions"
            )
            with _indexed(project, say, deep) as repository:
                rows += [
                    _ask_question(repository, one, names, profile) for one in questions
                ]
                if any("acceptable" in question for question in questions):
                    prompts += [
                        _ask_hook(repository, one, names, pasts) for one in questions
                    ]
                replayed = replay_sessions(repository, pasts) if pasts else {}
                embedder = repository.store.status().tier
    return {
        "file": os.path.basename(file),
        "profile": profile or "fit",
        "embedder": embedder,
        **_report(rows),
        **({"injected": _report_prompts(prompts)} if prompts else {}),
        **({"sessions": replayed} if replayed else {}),
    }


def replay_here(
    folder: str, sessions: Sequence[str], say: Callable[[str], None], deep: bool = False
) -> Record:
    """Return the figures of sessions replayed against a copy of a repository, so that nothing in it changes."""
    root = find_layout(folder).root
    with tempfile.TemporaryDirectory(prefix="rawkomem-recall-") as project:
        shutil.copytree(
            root, os.path.join(project, FOLDER), ignore=shutil.ignore_patterns("local")
        )
        with _indexed(project, say, deep) as repository:
            replayed = replay_sessions(repository, recorded_pasts(sessions))
    return {"file": root, "sessions": replayed}


def _indexed(project: str, say: Callable[[str], None], deep: bool) -> Repository:
    repository = Repository.open(project, warn=lambda text: None)
    repository.sync()
    if deep:
        repository.store.deepen(
            lambda done, total: say(f"contextual vectors: {done} of {total}")
        )
    return repository


def read_sets(file: str) -> Sequence[Record]:
    """Return the sets of memories and queries in a file. Raises BadInput if there are none."""
    try:
        with open(file, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError) as failure:
        raise BadInput(
            f"cannot read {file}: {failure}",
            "name a JSON file with memories and queries",
        ) from None
    sets = data.get("sets", [data]) if isinstance(data, dict) else []
    if not sets or any(
        "memories" not in part or "queries" not in part for part in sets
    ):
        raise BadInput(
            f"{file} holds no memories and queries",
            "see 'rawkomem docs recall' for the format",
        )
    return sets


def write_repository(project: str, memories: list[Record]) -> dict[str, str]:
    """Write the memories as a repository, with one file per session; return new id → id in the set."""
    write_start(plan_start(project))
    files: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for number, memory in enumerate(memories):
        names[f"m{number}"] = str(memory["id"])
        stem = f"{number:06d}-{slug(str(memory['id']))}"
        if memory.get("session") is not None:
            stem = f"session-{memory['session']}"
        files.setdefault(stem, []).append(
            emit_entry(_entry_of_memory(f"m{number}", memory))
        )
    for stem, entries in files.items():
        file = os.path.join(project, FOLDER, "memories", f"{stem}.md")
        with open(file, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(SEPARATOR.join(entries))
    return names


def _entry_of_memory(id: str, memory: Record) -> Entry:
    text = str(memory.get("text") or "")
    when = memory.get("when") or ()
    conditions = tuple([when] if isinstance(when, str) else when)
    by = str(memory.get("speaker") or "")
    body = text.replace("\n---", "\n ---")
    return Entry(
        id=id, title=_title_of_memory(memory, text), when=conditions, by=by, body=body
    )


def _title_of_memory(memory: Record, text: str) -> str:
    """Return a title as a person would write it: speaker and date, the memory's id as words, or the first line."""
    if memory.get("title"):
        return str(memory["title"])
    if memory.get("speaker"):
        date = memory.get("date", "")
        return f"{memory['speaker']} ({date})" if date else str(memory["speaker"])
    name = str(memory["id"]).replace("_", " ").strip()
    is_number = name.replace(":", "").isdigit()
    return text.strip().split("\n")[0][:100] if is_number and text else name


def _ids(question: Record, key: str) -> set[str]:
    return {str(id) for id in question.get(key) or ()}


def _ask_question(
    repository: Repository, question: Record, names: dict[str, str], profile: str
) -> Record:
    task = Task(str(question["q"]))
    relevant = _ids(question, "relevant")
    injection = repository.inject(task, profile=profile, limit=10, budget=10**9)
    every = (*injection.items, *injection.left_out)
    ranked = sorted(every, key=lambda item: (-item.score, item.memory.id))[:10]
    within = repository.inject(task, profile=profile, budget=BUDGET_TOKENS)
    ids = [names[item.memory.id] for item in ranked]
    return {
        "relevant": relevant,
        "injected": [names[item.memory.id] for item in within.items],
        "metrics": metrics_of(ids, relevant) if relevant else {},
    }


def _ask_hook(
    repository: Repository,
    question: Record,
    names: dict[str, str],
    pasts: Sequence[Past],
) -> Record:
    """Return what the prompt hook answers to a question in a session of its own."""
    text = str(question["q"])
    source = str(question.get("source", ""))
    before = _turns_of_question(question) or turns_before(pasts, source, text)
    injection = rehearsed(
        repository, text, before, Told(), HOSTS[REPLAYED_HOST].max_context_bytes
    )
    return {
        "category": str(question.get("category", "")),
        "relevant": _ids(question, "relevant"),
        "acceptable": _ids(question, "acceptable"),
        "injected": {names[item.memory.id] for item in injection.items},
        "pointers": {names[item.memory.id] for item in injection.pointers},
        "tokens": injection.tokens,
    }


def _turns_of_question(question: Record) -> tuple[Turn, ...]:
    """Return the turns before a question: its `transcript`, or its `lately`."""
    records = question.get("transcript") or ()
    if records:
        return tuple(
            turn for one in records for turn in turns_of_record(one, host_of(one))
        )
    message = question.get("lately")
    return (Turn(ASSISTANT, str(message)),) if message else ()


def _report(rows: Sequence[Record]) -> Record:
    answerable = [row for row in rows if row["relevant"]]
    unanswerable = [row for row in rows if not row["relevant"]]
    report: Record = {
        "questions": len(rows),
        "all": summary_of([row["metrics"] for row in answerable]),
        "within_budget": _budget_figures(answerable),
    }
    if unanswerable:
        report["unanswerable"] = {
            "questions": len(unanswerable),
            "false_injection": _mean([bool(row["injected"]) for row in unanswerable]),
        }
    return report


def _report_prompts(prompts: Sequence[Record]) -> Record:
    """Return the quality of injections, over all prompts and for each category."""
    categories = {
        name: injected_of([row for row in prompts if row["category"] == name])
        for name in sorted({row["category"] for row in prompts})
    }
    return {**injected_of(prompts), "categories": categories}


def _budget_figures(rows: Sequence[Record]) -> dict[str, float | None]:
    """Return how often the first injected memory is relevant, how often any is, and the share of relevant ones."""
    shares = [
        len(row["relevant"] & {*row["injected"]}) / len(row["relevant"]) for row in rows
    ]
    return {
        "hit@1": _mean(
            [bool(row["relevant"] & {*row["injected"][:1]}) for row in rows]
        ),
        "hit@5": _mean([share > 0 for share in shares]),
        "recall": _mean(shares),
    }
