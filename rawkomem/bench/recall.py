"""`bench recall`: measures how well the real search and the real injection find the memories that a question needs.

A file holds memories (text, speaker, date, `when` conditions) and questions with the ids that answer them, perhaps
none. The memories are written as a real repository and indexed; questions use the same calls as the command line.
Questions that name `acceptable` memories are real prompts, which are sent through the prompt hook, too.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from ..files.layout import FOLDER, find_layout
from ..files.start import plan_start, write_start
from ..format.emit import emit_entry
from ..format.split import SEPARATOR
from ..model.entry import Entry
from ..model.errors import BadInput
from ..model.ids import slug
from ..model.task import Task
from ..repository import Repository
from .metrics import auroc, injected_of, metrics_of, summary
from .sessions import Session, ask, read_sessions, records_before, replay, write_transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BUDGET_TOKENS = 2_000  # for the figures "within a budget"


def measure_recall(
    file: str, profile: str, say: Callable[[str], None], deep: bool = False, budget: int = BUDGET_TOKENS,
    sessions: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return all figures of one file; with `deep`, contextual vectors are computed before the first question.

    With files of sessions, prompts are sent with the records before them, and whole sessions are replayed.
    """
    rows: list[dict[str, Any]] = []
    recorded = read_sessions(sessions)
    for part in _sets(file):
        with tempfile.TemporaryDirectory(prefix="rawkomem-recall-") as project:
            names = write_repository(project, part["memories"])
            repository = _indexed(project, say, deep)
            say(f"{os.path.basename(file)}: {len(names)} memories, {len(part['queries'])} questions")
            rows += [_ask(repository, question, names, profile, budget) for question in part["queries"]]
            if any("acceptable" in question for question in part["queries"]):
                own = rows[-len(part["queries"]) :]
                for number, (question, row) in enumerate(zip(part["queries"], own, strict=True)):
                    row["prompt"] = _ask_hook(repository, question, names, f"query-{number}", recorded)
            replayed = replay(repository, recorded, project) if recorded else {}
            embedder = repository.store.status().tier
            repository.close()
    head = {"file": os.path.basename(file), "profile": profile or "fit", "embedder": embedder}
    return {**head, **_report(rows), **({"sessions": replayed} if replayed else {})}


def replay_here(folder: str, sessions: Sequence[str], say: Callable[[str], None], deep: bool = False) -> dict[str, Any]:
    """Return the figures of sessions replayed against a copy of a repository, so that nothing in it changes."""
    root = find_layout(folder).root
    with tempfile.TemporaryDirectory(prefix="rawkomem-recall-") as project:
        shutil.copytree(root, os.path.join(project, FOLDER), ignore=shutil.ignore_patterns("local"))
        repository = _indexed(project, say, deep)
        replayed = replay(repository, read_sessions(sessions), project)
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
        raise BadInput(f"cannot read {file}: {failure}", "name a JSON file with memories and queries") from None
    sets = data.get("sets", [data]) if isinstance(data, dict) else []
    if not sets or any("memories" not in part or "queries" not in part for part in sets):
        raise BadInput(f"{file} holds no memories and queries", "see 'rawkomem docs recall' for the format")
    return sets


def write_repository(project: str, memories: list[dict[str, Any]]) -> dict[str, str]:
    """Write the memories as a repository, with one file per session; return new id → id in the set."""
    write_start(plan_start(project))
    folder = os.path.join(project, ".rawko", "memories")
    files: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for number, memory in enumerate(memories):
        session = memory.get("session")
        stem = f"session-{session}" if session is not None else f"{number:06d}-{slug(str(memory['id']))}"
        names[f"m{number}"] = str(memory["id"])
        files.setdefault(stem, []).append(emit_entry(_entry(f"m{number}", memory)))
    for stem, entries in files.items():
        with open(os.path.join(folder, f"{stem}.md"), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(SEPARATOR.join(entries))
    return names


def _entry(id: str, memory: dict[str, Any]) -> Entry:
    text = str(memory.get("text") or "")
    if memory.get("image"):
        text += f" [{memory['image']}]"
    when = memory.get("when") or ()
    conditions = tuple([when] if isinstance(when, str) else when)
    by, body = str(memory.get("speaker") or ""), text.replace("\n---", "\n ---")
    return Entry(id=id, title=_title(memory, text), when=conditions, by=by, body=body)


def _title(memory: dict[str, Any], text: str) -> str:
    """Return a title as a person would write it: speaker and date, the memory's id as words, or the first line."""
    if memory.get("title"):
        return str(memory["title"])
    if memory.get("speaker"):
        return " ".join(f"{memory['speaker']} ({memory.get('date', '')})".split()).replace(" ()", "")
    name = str(memory["id"]).replace("_", " ").strip()
    return name if not name.replace(":", "").isdigit() or not text else text.strip().split("\n")[0][:100]


def _ask(
    repository: Repository, question: dict[str, Any], names: dict[str, str], profile: str, budget: int
) -> dict[str, Any]:
    text, relevant = str(question["q"]), [str(id) for id in question.get("relevant") or ()]
    row: dict[str, Any] = {"category": str(question.get("category", "")), "relevant": relevant}
    injection = repository.inject(Task(text), profile=profile, limit=10, budget=10**9)
    ranked = sorted((*injection.items, *injection.left_out), key=lambda item: (-item.score, item.memory.id))
    found = [names[item.memory.id] for item in ranked[:10]]
    row["top"] = max((item.signals.relevance for item in ranked[:5]), default=0.0)
    within = repository.inject(Task(text), profile=profile, budget=budget)
    row["injected"] = [names[item.memory.id] for item in within.items]
    row["metrics"] = metrics_of(found, relevant) if relevant else {}
    return row


def _ask_hook(
    repository: Repository, question: dict[str, Any], names: dict[str, str], name: str, recorded: Sequence[Session]
) -> dict[str, Any]:
    """Return what the prompt hook answers to a question in a session of its own."""
    text = str(question["q"])
    before = _before(question) or records_before(recorded, str(question.get("source", "")), text)
    file = os.path.join(repository.layout.project, f"{name}.jsonl")
    injection = ask(repository, text, name, write_transcript(file, before) if before else "")
    return {
        "category": str(question.get("category", "")),
        "relevant": {str(id) for id in question.get("relevant") or ()},
        "acceptable": {str(id) for id in question.get("acceptable") or ()},
        "injected": [names[item.memory.id] for item in injection.items],
        "tokens": injection.tokens,
    }


def _before(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records before a question: its `transcript`, or one that holds its `lately` and `touched`."""
    if question.get("transcript"):
        return list(question["transcript"])
    calls = [{"type": "tool_use", "input": {"file_path": path}} for path in reversed(question.get("touched") or ())]
    said = [{"type": "text", "text": str(question["lately"])}] if question.get("lately") else []
    return [{"role": "assistant", "content": [*calls, *said]}] if calls or said else []


def _report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    answerable = [row for row in rows if row["relevant"]]
    unanswerable = [row for row in rows if not row["relevant"]]
    categories = sorted({row["category"] for row in answerable})
    report: dict[str, Any] = {
        "questions": len(rows),
        "all": summary([row["metrics"] for row in answerable]),
        "within_budget": _injected(answerable),
    }
    if len(categories) > 1:
        own = {name: [row["metrics"] for row in answerable if row["category"] == name] for name in categories}
        report["categories"] = {name: summary(metrics) for name, metrics in own.items()}
    if unanswerable:
        report["unanswerable"] = {
            "questions": len(unanswerable),
            "false_injection": round(sum(bool(row["injected"]) for row in unanswerable) / len(unanswerable), 4),
            "auroc": round(auroc([row["top"] for row in answerable], [row["top"] for row in unanswerable]), 4),
        }
    prompts = [row["prompt"] for row in rows if "prompt" in row]
    if prompts:
        report["injected"] = injected_of(prompts)
        found = sorted({row["category"] for row in prompts})
        report["injected"]["categories"] = {
            name: injected_of([row for row in prompts if row["category"] == name]) for name in found
        }
    return report


def _injected(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return how often the first injected memory is relevant, how often any is, and the share of relevant ones."""
    shares = [len(set(row["injected"]) & set(row["relevant"])) / len(row["relevant"]) for row in rows]
    sums = {
        "hit@1": sum(bool(set(row["injected"][:1]) & set(row["relevant"])) for row in rows),
        "hit@5": sum(share > 0 for share in shares),
        "recall": sum(shares),
    }
    return {name: round(total / max(1, len(rows)), 4) for name, total in sums.items()}
