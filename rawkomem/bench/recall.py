"""`bench recall`: how well the real search and the real injection find what a question needs.

A file holds memories (text, speaker, date, `when` conditions) and questions with the ids that answer them, perhaps
none. They are written as a real repository, indexed, and asked through the same calls as the command line.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

from ..files.start import plan_start, write_start
from ..format.emit import emit_entry
from ..format.split import SEPARATOR
from ..model.entry import Entry
from ..model.errors import BadInput
from ..model.ids import slug
from ..model.task import Task
from ..repository import Repository
from .metrics import auroc, metrics_of, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BUDGET_TOKENS = 2_000  # for the figures "within a budget"


def measure_recall(
    file: str, profile: str, say: Callable[[str], None], deep: bool = False, budget: int = BUDGET_TOKENS
) -> dict[str, Any]:
    """Return all figures of one file; with `deep`, contextual vectors are filled in before anything is asked."""
    rows: list[dict[str, Any]] = []
    for part in _sets(file):
        with tempfile.TemporaryDirectory(prefix="rawkomem-recall-") as project:
            names = write_repository(project, part["memories"])
            repository = Repository.open(project, warn=lambda text: None)
            repository.sync()
            if deep:
                repository.store.deepen(lambda done, total: say(f"contextual vectors: {done} of {total}"))
            say(f"{os.path.basename(file)}: {len(names)} memories, {len(part['queries'])} questions")
            rows += [_ask(repository, question, names, profile, budget) for question in part["queries"]]
            embedder = repository.store.status().tier
            repository.close()
    return {"file": os.path.basename(file), "profile": profile or "fit", "embedder": embedder, **_report(rows)}


def _sets(file: str) -> Iterable[dict[str, Any]]:
    try:
        with open(file, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError) as failure:
        raise BadInput(f"cannot read {file}: {failure}", "give a JSON file with memories and queries") from None
    sets = data.get("sets", [data]) if isinstance(data, dict) else []
    if not sets or any("memories" not in part or "queries" not in part for part in sets):
        raise BadInput(f"{file} holds no memories and queries", "see 'rawkomem docs recall' for the format")
    return sets


def write_repository(project: str, memories: list[dict[str, Any]]) -> dict[str, str]:
    """Write the memories, those of one session into one file; return id → the set's own id."""
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
    """Return the title that a person would write: who and when, a name, or the first line."""
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
    return report


def _injected(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return how often, for answerable questions, the right memory is first, or among those injected."""
    shares = [len(set(row["injected"]) & set(row["relevant"])) / len(row["relevant"]) for row in rows]
    sums = {
        "hit@1": sum(bool(set(row["injected"][:1]) & set(row["relevant"])) for row in rows),
        "hit@5": sum(share > 0 for share in shares),
        "recall": sum(shares),
    }
    return {name: round(total / max(1, len(rows)), 4) for name, total in sums.items()}
