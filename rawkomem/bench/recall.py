"""`bench recall`: measures how well the real search and the real injection find the memories that a question needs.

A file holds memories (text, speaker, date, `when` conditions) and questions with the ids that
answer them, perhaps none. The memories are written as a real repository and indexed; questions use
the same calls as the command line. Questions that name `acceptable` memories are real prompts,
which are sent through the prompt hook, too. Recorded sessions are replayed through the hook; each
prompt comes with the records before it, as the host writes them.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log2
from statistics import fmean
from typing import Any

from ..files.installation import plan_start, write_start
from ..files.layout import FOLDER, find_layout
from ..files.session_records import note_fresh
from ..format.blocks import SEPARATOR
from ..format.frontmatter import emit_entry
from ..hosts.hook_prompt import recalled
from ..hosts.known_hosts import HOSTS, PROMPT, Call
from ..learn.transcripts import COMPACTED, read_recorded_sessions
from ..model.entries import Entry, Task
from ..model.errors import BadInput
from ..model.ids import slug
from ..model.values import record
from ..recall.inject import Injection
from ..repository import Repository

Record = dict[str, Any]


# Retrieval metrics. "Recall" has three definitions, so all three are reported: any, all and
# fraction.

CUTS = (1, 5, 10)
RESAMPLES = 500  # samples of the bootstrap: enough for two digits


def metrics_of(found: Sequence[str], relevant: Sequence[str]) -> dict[str, float]:
    """Return all metrics of one answered question."""
    wanted = set(relevant)
    row: dict[str, float] = {}
    for cut in CUTS:
        hits = len(wanted & set(found[:cut]))
        row |= {
            f"any@{cut}": float(hits > 0),
            f"all@{cut}": float(hits == len(wanted)),
            f"recall@{cut}": hits / len(wanted),
        }
    first = next((rank for rank, id in enumerate(found[:10], 1) if id in wanted), 0)
    row["mrr@10"] = 1 / first if first else 0.0
    gain = sum(1 / log2(rank + 1) for rank, id in enumerate(found[:10], 1) if id in wanted)
    row["ndcg@10"] = gain / sum(1 / log2(rank + 1) for rank in range(1, min(10, len(wanted)) + 1))
    return row


def summary_of(rows: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return mean and 95 % bootstrap interval of every metric."""
    if not rows:
        return {}
    chance = random.Random(7)  # the same samples in every run
    samples = [
        [chance.randrange(len(rows)) for _ in rows]
        for _ in range(RESAMPLES if len(rows) < 5_000 else 100)
    ]
    result = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        means = sorted(fmean(values[at] for at in sample) for sample in samples)
        low, high = means[int(0.025 * len(means))], means[int(0.975 * len(means))]
        result[name] = {
            "mean": round(fmean(values), 4),
            "low": round(low, 4),
            "high": round(high, 4),
        }
    return result


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how often the best relevance of an answerable question is above that of an unanswerable one."""
    below = sorted(negative)
    pairs = len(positive) * len(negative)
    # A pair of equal values counts half.
    wins = sum(bisect_left(below, value) + bisect_right(below, value) for value in positive) / 2
    return wins / pairs if pairs else 0.0


def injected_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the quality of injections into prompts. A row holds sets of ids, the injected ids and their tokens.

    precision: the share of the memories with full text that are relevant (or acceptable).
    hit: of the prompts that have a relevant memory, the share that gets its text (or a pointer to it).
    false_injection: of the other prompts, the share that gets the text of a memory which is not even acceptable.
    """
    items = sum(len(row["injected"]) for row in rows)
    relevant = sum(len(row["relevant"] & {*row["injected"]}) for row in rows)
    fitting = sum(len((row["relevant"] | row["acceptable"]) & {*row["injected"]}) for row in rows)
    wanting = [row for row in rows if row["relevant"]]
    others = [row for row in rows if not row["relevant"]]
    return {
        "prompts": len(rows),
        "items": items,
        "precision": _share(relevant, items),
        "precision_acceptable": _share(fitting, items),
        "hit": _share(
            sum(not row["relevant"].isdisjoint(row["injected"]) for row in wanting), len(wanting)
        ),
        "hit_with_pointers": _share(
            sum(
                not row["relevant"].isdisjoint((*row["injected"], *row["pointers"]))
                for row in wanting
            ),
            len(wanting),
        ),
        "false_injection": _share(
            sum(bool({*row["injected"]} - row["acceptable"]) for row in others), len(others)
        ),
        "tokens_per_prompt": round(sum(row["tokens"] for row in rows) / max(1, len(rows)), 1),
        "pointers_per_prompt": round(
            sum(len(row["pointers"]) for row in rows) / max(1, len(rows)), 2
        ),
    }


def _share(part: int, whole: int) -> float | None:
    """Return a share; None if the whole is 0."""
    return round(part / whole, 4) if whole else None


# Replays recorded sessions through the prompt hook. A file of sessions holds Claude Code's records
# of each session.
#
# Each prompt is sent with a transcript of the records before it, as the host would have written
# them by then.

REPLAYED_HOST = "claude"
CLEARED = "<command-name>/clear</command-name>"
REPLAY_COUNTS = (
    "sessions", "prompts", "injections", "items", "repeats", "tokens", "tokens_saved",
)  # fmt: skip


@record
class Session:
    """A recorded session: its id, its records, and the positions of a person's prompts in them."""

    id: str
    records: tuple[Record, ...]
    prompts: tuple[int, ...]

    def prompt(self, number: int) -> str:
        """Return the text of a prompt."""
        return _text_of_record(self.records[self.prompts[number]])

    def before(self, number: int) -> tuple[Record, ...]:
        """Return the records before a prompt."""
        return self.records[: self.prompts[number]]


def read_sessions(files: Iterable[str]) -> list[Session]:
    """Return the sessions of JSON files, compressed by xz or not."""
    return [_session(one) for file in files for one in read_recorded_sessions(file)]


def _session(one: Record) -> Session:
    records = tuple(line for line in one["records"] if isinstance(line, dict))
    prompts = tuple(
        at
        for at, line in enumerate(records)
        if line.get("type") == "user" and _text_of_record(line).strip()
    )
    return Session(str(one.get("id", "")), records, prompts)


def _text_of_record(line: Record) -> str:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else ""
    if isinstance(content, str):
        return content
    parts = (
        [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def records_before(sessions: Sequence[Session], source: str, prompt: str) -> Sequence[Record]:
    """Return the records before a prompt, which a set names as "session.number", from 0; none if it is not found.

    If the number and the text do not match, the text decides.
    """
    name, _, number = source.partition(".")
    for session in sessions:
        if name and session.id.rpartition("/")[2] == name:
            same = [
                at
                for at in range(len(session.prompts))
                if session.prompt(at).strip() == prompt.strip()
            ]
            if same:
                return session.before(
                    int(number) if number.isdecimal() and int(number) in same else same[0]
                )
    return ()


def write_transcript(file: str, records: Iterable[Record]) -> str:
    """Write records as the host does, one per line, and return the file's name."""
    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{json.dumps(line)}\n" for line in records)
    return file


def hook_injection(repository: Repository, prompt: str, session: str, transcript: str) -> Injection:
    """Return the hook's injection for a prompt, and record its use as the hook does."""
    call = Call(REPLAYED_HOST, PROMPT, {}, session, prompt, repository.layout.project, transcript)
    injection = recalled(repository, call, HOSTS[REPLAYED_HOST].max_context_bytes)
    repository.note_use(injection, session)
    return injection


def replay_sessions(
    repository: Repository, sessions: Iterable[Session], folder: str
) -> dict[str, Any]:
    """Return counts over all sessions: prompts, injections, memories, repeats, tokens, and tokens saved."""
    counts = Counter(dict.fromkeys(REPLAY_COUNTS, 0))
    for number, session in enumerate(sessions):
        counts["sessions"] += 1
        _replay_session(repository, session, f"bench-{number}", folder, counts)
    return {
        **counts,
        "repeated": round(counts["repeats"] / max(1, counts["items"]), 4),
        "tokens_per_prompt": round(counts["tokens"] / max(1, counts["prompts"]), 1),
    }


def _replay_session(
    repository: Repository, session: Session, name: str, folder: str, counts: Counter[str]
) -> None:
    injected_before: set[str] = set()
    for number in range(len(session.prompts)):
        prompt = session.prompt(number)
        if prompt.startswith(COMPACTED) or CLEARED in prompt:
            injected_before.clear()
            note_fresh(repository.layout, name)
        transcript = write_transcript(os.path.join(folder, f"{name}.jsonl"), session.before(number))
        injection = hook_injection(repository, prompt, name, transcript)
        ids = {item.memory.id for item in injection.items}
        counts.update(
            prompts=1,
            injections=bool(ids),
            items=len(ids),
            repeats=len(ids & injected_before),
            tokens=injection.tokens,
            tokens_saved=injection.saved,
        )
        injected_before |= ids


# `bench recall`: measures how well the real search and the real injection find the memories that a
# question needs.
#
# A file holds memories (text, speaker, date, `when` conditions) and questions with the ids that
# answer them, perhaps none. The memories are written as a real repository and indexed; questions
# use the same calls as the command line. Questions that name `acceptable` memories are real
# prompts, which are sent through the prompt hook, too.

BUDGET_TOKENS = 2_000  # for the figures "within a budget"


def measure_recall(
    file: str,
    profile: str,
    say: Callable[[str], None],
    deep: bool = False,
    sessions: Sequence[str] = (),
) -> dict[str, Any]:
    """Return all figures of one file; with `deep`, contextual vectors are computed before the first question.

    With files of sessions, prompts are sent with the records before them, and whole sessions are replayed.
    """
    rows: list[dict[str, Any]] = []
    recorded = read_sessions(sessions)
    for part in _sets(file):
        with tempfile.TemporaryDirectory(prefix="rawkomem-recall-") as project:
            names = write_repository(project, part["memories"])
            repository = _indexed(project, say, deep)
            say(
                f"{os.path.basename(file)}: {len(names)} memories, {len(part['queries'])} questions"
            )
            rows += [
                _ask_question(repository, question, names, profile) for question in part["queries"]
            ]
            if any("acceptable" in question for question in part["queries"]):
                own = rows[-len(part["queries"]) :]
                for number, (question, row) in enumerate(zip(part["queries"], own, strict=True)):
                    row["prompt"] = _ask_hook(
                        repository, question, names, f"query-{number}", recorded
                    )
            replayed = replay_sessions(repository, recorded, project) if recorded else {}
            embedder = repository.store.status().tier
            repository.close()
    return {
        "file": os.path.basename(file),
        "profile": profile or "fit",
        "embedder": embedder,
        **_report(rows),
        **({"sessions": replayed} if replayed else {}),
    }


def replay_here(
    folder: str, sessions: Sequence[str], say: Callable[[str], None], deep: bool = False
) -> dict[str, Any]:
    """Return the figures of sessions replayed against a copy of a repository, so that nothing in it changes."""
    root = find_layout(folder).root
    with tempfile.TemporaryDirectory(prefix="rawkomem-recall-") as project:
        shutil.copytree(root, os.path.join(project, FOLDER), ignore=shutil.ignore_patterns("local"))
        repository = _indexed(project, say, deep)
        replayed = replay_sessions(repository, read_sessions(sessions), project)
        repository.close()
    return {"file": root, "sessions": replayed}


def _indexed(project: str, say: Callable[[str], None], deep: bool) -> Repository:
    repository = Repository.open(project, warn=lambda text: None)
    repository.sync()
    if deep:
        repository.store.deepen(lambda done, total: say(f"contextual vectors: {done} of {total}"))
    return repository


def _sets(file: str) -> Iterable[dict[str, Any]]:
    try:
        with open(file, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError) as failure:
        raise BadInput(
            f"cannot read {file}: {failure}", "name a JSON file with memories and queries"
        ) from None
    sets = data.get("sets", [data]) if isinstance(data, dict) else []
    if not sets or any("memories" not in part or "queries" not in part for part in sets):
        raise BadInput(
            f"{file} holds no memories and queries", "see 'rawkomem docs recall' for the format"
        )
    return sets


def write_repository(project: str, memories: list[dict[str, Any]]) -> dict[str, str]:
    """Write the memories as a repository, with one file per session; return new id → id in the set."""
    write_start(plan_start(project))
    folder = os.path.join(project, ".rawko", "memories")
    files: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for number, memory in enumerate(memories):
        session = memory.get("session")
        stem = (
            f"session-{session}"
            if session is not None
            else f"{number:06d}-{slug(str(memory['id']))}"
        )
        names[f"m{number}"] = str(memory["id"])
        files.setdefault(stem, []).append(emit_entry(_entry_of_memory(f"m{number}", memory)))
    for stem, entries in files.items():
        with open(
            os.path.join(folder, f"{stem}.md"), "w", encoding="utf-8", newline="\n"
        ) as stream:
            stream.write(SEPARATOR.join(entries))
    return names


def _entry_of_memory(id: str, memory: dict[str, Any]) -> Entry:
    text = str(memory.get("text") or "")
    if memory.get("image"):
        text += f" [{memory['image']}]"
    when = memory.get("when") or ()
    conditions = tuple([when] if isinstance(when, str) else when)
    by, body = str(memory.get("speaker") or ""), text.replace("\n---", "\n ---")
    return Entry(id=id, title=_title_of_memory(memory, text), when=conditions, by=by, body=body)


def _title_of_memory(memory: dict[str, Any], text: str) -> str:
    """Return a title as a person would write it: speaker and date, the memory's id as words, or the first line."""
    if memory.get("title"):
        return str(memory["title"])
    if memory.get("speaker"):
        return " ".join(f"{memory['speaker']} ({memory.get('date', '')})".split()).replace(
            " ()", ""
        )
    name = str(memory["id"]).replace("_", " ").strip()
    return (
        name
        if not name.replace(":", "").isdigit() or not text
        else text.strip().split("\n")[0][:100]
    )


def _ask_question(
    repository: Repository,
    question: dict[str, Any],
    names: dict[str, str],
    profile: str,
) -> dict[str, Any]:
    text, relevant = str(question["q"]), [str(id) for id in question.get("relevant") or ()]
    row: dict[str, Any] = {"category": str(question.get("category", "")), "relevant": relevant}
    injection = repository.inject(Task(text), profile=profile, limit=10, budget=10**9)
    ranked = sorted(
        (*injection.items, *injection.left_out), key=lambda item: (-item.score, item.memory.id)
    )
    found = [names[item.memory.id] for item in ranked[:10]]
    row["top"] = max((item.signals.relevance for item in ranked[:5]), default=0.0)
    within = repository.inject(Task(text), profile=profile, budget=BUDGET_TOKENS)
    row["injected"] = [names[item.memory.id] for item in within.items]
    row["metrics"] = metrics_of(found, relevant) if relevant else {}
    return row


def _ask_hook(
    repository: Repository,
    question: dict[str, Any],
    names: dict[str, str],
    name: str,
    recorded: Sequence[Session],
) -> dict[str, Any]:
    """Return what the prompt hook answers to a question in a session of its own."""
    text = str(question["q"])
    before = _records_of_question(question) or records_before(
        recorded, str(question.get("source", "")), text
    )
    file = os.path.join(repository.layout.project, f"{name}.jsonl")
    injection = hook_injection(
        repository, text, name, write_transcript(file, before) if before else ""
    )
    return {
        "category": str(question.get("category", "")),
        "relevant": {str(id) for id in question.get("relevant") or ()},
        "acceptable": {str(id) for id in question.get("acceptable") or ()},
        "injected": [names[item.memory.id] for item in injection.items],
        "pointers": [names[item.memory.id] for item in injection.pointers],
        "tokens": injection.tokens,
    }


def _records_of_question(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records before a question: its `transcript`, or one that holds its `lately` and `touched`."""
    if question.get("transcript"):
        return list(question["transcript"])
    calls = [
        {"type": "tool_use", "input": {"file_path": path}}
        for path in reversed(question.get("touched") or ())
    ]
    said = [{"type": "text", "text": str(question["lately"])}] if question.get("lately") else []
    return [{"role": "assistant", "content": [*calls, *said]}] if calls or said else []


def _report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    answerable = [row for row in rows if row["relevant"]]
    unanswerable = [row for row in rows if not row["relevant"]]
    categories = sorted({row["category"] for row in answerable})
    report: dict[str, Any] = {
        "questions": len(rows),
        "all": summary_of([row["metrics"] for row in answerable]),
        "within_budget": _budget_figures(answerable),
    }
    if len(categories) > 1:
        own = {
            name: [row["metrics"] for row in answerable if row["category"] == name]
            for name in categories
        }
        report["categories"] = {name: summary_of(metrics) for name, metrics in own.items()}
    if unanswerable:
        report["unanswerable"] = {
            "questions": len(unanswerable),
            "false_injection": round(
                sum(bool(row["injected"]) for row in unanswerable) / len(unanswerable), 4
            ),
            "auroc": round(
                auroc([row["top"] for row in answerable], [row["top"] for row in unanswerable]), 4
            ),
        }
    prompts = [row["prompt"] for row in rows if "prompt" in row]
    if prompts:
        report["injected"] = injected_of(prompts)
        found = sorted({row["category"] for row in prompts})
        report["injected"]["categories"] = {
            name: injected_of([row for row in prompts if row["category"] == name]) for name in found
        }
    return report


def _budget_figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return how often the first injected memory is relevant, how often any is, and the share of relevant ones."""
    shares = [
        len(set(row["injected"]) & set(row["relevant"])) / len(row["relevant"]) for row in rows
    ]
    sums = {
        "hit@1": sum(bool(set(row["injected"][:1]) & set(row["relevant"])) for row in rows),
        "hit@5": sum(share > 0 for share in shares),
        "recall": sum(shares),
    }
    return {name: round(total / max(1, len(rows)), 4) for name, total in sums.items()}
