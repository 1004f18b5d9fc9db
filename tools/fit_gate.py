"""Fit the weights of recall/relevance.py on labeled prompts of several projects, and test them on the project left out.

    python tools/fit_gate.py SET.json SET.json… [--sessions FILE]… [--deep] [--weights]

A set is a file of `rawkomem bench recall` with the prompts and memories of one project. For each project, weights are
fitted on the others, and `bench recall` measures what the prompt hook hands over with them. The last line has the
weights that were fitted on all projects. Every prompt is also asked without the patterns of the memories, without all
their conditions, and with a few memories only, so that these kinds of repositories are judged, too.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from typing import Any

import numpy as np

from rawkomem.bench.recall import (
    measure_recall,
    read_sets,
    turns_before,
    write_repository,
)
from rawkomem.hosts.hook_prompt import lately_in
from rawkomem.hosts.replay import Past, recorded_pasts
from rawkomem.model.entries import Task
from rawkomem.recall import relevance
from rawkomem.recall.relevance import BIAS
from rawkomem.repository import Repository
from rawkomem.text.conditions import is_sentence

NAMES = tuple(name for name in relevance.WEIGHTS if name != BIAS)
RIDGE = 10.0
# weight of a relevant memory; label of an acceptable one
RELEVANT_WEIGHT, ACCEPTABLE = 4.0, 0.35
HARD_WEIGHT, HARD_MARGIN = (
    12.0,
    0.08,
)  # of the closest memories for a prompt that needs none; how close
VARIANTS = {
    "as is": 1.0,
    "no patterns": 0.3,
    "no conditions": 0.3,
    "few memories": 0.3,
}  # weight of each
FEW_MEMORIES = 6
PAIRS = 3_000  # the sum of the weights of a project
Row = dict[str, Any]


def rows_of(file: str, variant: str, deep: bool, sessions: list[Past]) -> list[Row]:
    """Return pairs of prompt and memory with their evidence, label and weight, computed by the product itself."""
    pairs: list[Row] = []
    for part in read_sets(file):
        memories = [changed(one, variant) for one in part["memories"]]
        if variant == "few memories":
            memories = random.Random(5).sample(
                memories, min(FEW_MEMORIES, len(memories))
            )
        with tempfile.TemporaryDirectory() as project:
            names = write_repository(project, memories)
            repository = Repository.open(project, warn=lambda text: None)
            repository.sync()
            if deep:
                repository.store.deepen(lambda done, total: None)
            for query in part["queries"]:
                pairs += pairs_of(repository, query, names, sessions)
            repository.close()
    total = sum(pair["weight"] for pair in pairs)
    return [
        {**pair, "weight": pair["weight"] * PAIRS * VARIANTS[variant] / total}
        for pair in pairs
    ]


def changed(memory: Row, variant: str) -> Row:
    """Return a memory with the conditions that a variant leaves."""
    kept = memory.get("when", ())
    if variant == "no patterns":
        kept = [condition for condition in kept if is_sentence(condition)]
    return {**memory, "when": [] if variant == "no conditions" else kept}


def pairs_of(
    repository: Repository, query: Row, names: dict[str, str], sessions: list[Past]
) -> list[Row]:
    """Return the pairs of one prompt."""
    relevant, fine = (
        set(map(str, query["relevant"])),
        set(map(str, query.get("acceptable", ()))),
    )
    injection = repository.inject(
        Task(query["q"], **before(query, sessions)), limit=10, budget=10**9
    )
    items = [
        (names[item.memory.id], dict(item.signals.evidence))
        for item in (*injection.items, *injection.left_out)
    ]
    needed = any(name in relevant for name, _ in items)
    top = max((values.get("meaning", 0.0) for _, values in items), default=0.0)
    pairs = []
    for name, values in items:
        label = 1.0 if name in relevant else ACCEPTABLE if name in fine else 0.0
        is_hard = (
            not needed and not label and values.get("meaning", 0.0) > top - HARD_MARGIN
        )
        weight = (
            RELEVANT_WEIGHT if name in relevant else HARD_WEIGHT if is_hard else 1.0
        )
        pairs.append({"values": values, "label": label, "weight": weight})
    return pairs


def before(query: Row, sessions: list[Past]) -> Row:
    """Return the fields of a task about the records before a prompt."""
    turns = turns_before(sessions, query.get("source", ""), query["q"])
    return {"lately": lately_in(turns[::-1], turns[::-1], query["q"]).exchange}


def fitted(pairs: list[Row]) -> dict[str, float]:
    """Return the weights of a ridge logistic regression, by Newton's method."""
    x = np.array([[pair["values"].get(name, 0.0) for name in NAMES] for pair in pairs])
    y, w = (
        np.array([pair["label"] for pair in pairs]),
        np.array([pair["weight"] for pair in pairs]),
    )
    mean, spread = x.mean(0), x.std(0) + 1e-6
    x = np.c_[(x - mean) / spread, np.ones(len(x))]
    b = np.zeros(x.shape[1])
    ridge = np.eye(len(b)) * RIDGE
    ridge[-1, -1] = 1e-6
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        s = w * np.maximum(p * (1 - p), 1e-4)
        step = np.linalg.solve(
            (x * s[:, None]).T @ x + ridge, x.T @ (w * (p - y)) + ridge @ b
        )
        b -= step
        if abs(step).max() < 1e-6:
            break
    raw = b[:-1] / spread
    return {**dict(zip(NAMES, raw, strict=True)), BIAS: b[-1] - (raw * mean).sum()}


def main() -> None:
    """Fit without each project, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument(
        "--deep", action="store_true", help="also with contextual vectors"
    )
    parser.add_argument(
        "--sessions",
        action="append",
        default=[],
        help="sessions that prompts name as their source",
    )
    parser.add_argument("--weights", action="store_true", help="print only the weights")
    given = parser.parse_args()
    sessions = recorded_pasts(given.sessions)
    tiers = (False, True) if given.deep else (False,)
    known = {
        file: [
            pair
            for deep in tiers
            for variant in VARIANTS
            for pair in rows_of(file, variant, deep, sessions)
        ]
        for file in given.sets
    }
    for left in () if given.weights else given.sets:
        relevance.WEIGHTS.update(
            fitted(
                [pair for file in given.sets if file != left for pair in known[file]]
            )
        )
        for deep in tiers:
            figures = measure_recall(left, "", lambda text: None, deep, given.sessions)[
                "injected"
            ]
            print(
                left,
                "contextual" if deep else "static",
                json.dumps({k: v for k, v in figures.items() if k != "categories"}),
            )
    weights = fitted([pair for file in given.sets for pair in known[file]])
    print(json.dumps({name: round(value, 2) for name, value in weights.items()}))


if __name__ == "__main__":
    main()
