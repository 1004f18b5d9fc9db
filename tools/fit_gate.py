"""Fit the weights of recall/relevance.py on labeled prompts, and test them on sessions that were left out.

    python tools/fit_gate.py PROMPTS.json [--also REQUESTS.json]… [--sessions FILE]… [--deep] [--least 0.59] [--ablate]

A set is a file of `rawkomem bench recall`. PROMPTS are real prompts with `acceptable` memories and a `source`
"session.prompt"; the figures of a prompt come from weights that were fitted without its session. The prompts are also
asked with memories whose conditions have no patterns, so that memories with sentences alone are judged, too. Further
sets keep the weights right for short requests: requests for one half of a set's memories are judged by weights that
were fitted on requests for the other half.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import zlib
from typing import Any

import numpy as np

from rawkomem.bench.recall import (
    Session,
    _sets,
    read_sessions,
    records_before,
    write_repository,
    write_transcript,
)
from rawkomem.hosts.hook_prompt import lately
from rawkomem.model.entries import Task
from rawkomem.recall.relevance import BIAS, SET_WEIGHTS, crossed_values
from rawkomem.repository import Repository
from rawkomem.text.conditions import is_sentence

NAMES = (
    "meaning", "condition_meaning", "agreement", "unusual", "shared_words", "rare_word", "pasted_name",
    "pasted_short", "pasted_thin", "thin", "long", "spoken", "spoken_meaning", "spoken_unusual",
)  # fmt: skip
DEEP_NAMES = (*NAMES, "spoken_agreement", "first_meaning", "first_unusual")
RIDGE = 10.0
RELEVANT_WEIGHT, ACCEPTABLE = 4.0, 0.35  # weight of a relevant memory; label of an acceptable one
HARD_WEIGHT, HARD_MARGIN = (
    4.0,
    0.08,
)  # weight of the closest memories for a prompt that needs none; how close
REQUEST_RELEVANT_WEIGHT, REQUEST_HARD_WEIGHT = 40.0, 100.0  # the same weights for requests
REQUEST_OTHER_WEIGHT = (
    0.03  # weight of a wrong memory for a request that has a right one: it does less harm
)
BARE_SHARE = 0.3  # weight of the prompts without patterns, compared with the prompts
MAX_REQUESTS = 1_400
Row = dict[str, Any]
Set = tuple[list[Row], list[Row]]  # pairs of prompt and memory, and prompts


def rows_of(
    file: str, deep: bool, sessions: list[Session], most: int = 0, bare: bool = False
) -> Set:
    """Return (pairs of prompt and memory with their evidence, prompts) of a set, computed by the product itself."""
    pairs: list[Row] = []
    prompts: list[Row] = []
    for part in _sets(file):
        with tempfile.TemporaryDirectory() as project:
            names = write_repository(
                project, [without_patterns(one) if bare else one for one in part["memories"]]
            )
            repository = Repository.open(project, warn=lambda text: None)
            repository.sync()
            if deep:
                repository.store.deepen(lambda done, total: None)
            for query in chosen(part["queries"], most):
                injection = repository.inject(
                    Task(query["q"], **before(query, sessions)), limit=10, budget=10**9
                )
                at = len(prompts)
                relevant, fine = (
                    set(map(str, query["relevant"])),
                    set(map(str, query.get("acceptable", ()))),
                )
                prompts.append({
                    "relevant": relevant, "fine": fine, "category": query.get("category", ""),
                    "session": str(query.get("source", at)).partition(".")[0], "q": query["q"],
                })  # fmt: skip
                for item in (*injection.items, *injection.left_out):
                    values = dict(item.signals.evidence)
                    pairs.append({
                        **values, **crossed_values(values), "prompt": at, "memory": names[item.memory.id],
                        "fired_text": str(item.signals.fired),
                    })  # fmt: skip
            repository.close()
    return pairs, prompts


def without_patterns(memory: Row) -> Row:
    """Return a memory with only those of its conditions that are sentences."""
    return {
        **memory,
        "when": [condition for condition in memory.get("when", ()) if is_sentence(condition)],
    }


def before(query: Row, sessions: list[Session]) -> Row:
    """Return the fields of a task about the records before a prompt."""
    records = records_before(sessions, query.get("source", ""), query["q"]) if sessions else ()
    if not records:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        found = lately(
            write_transcript(f"{folder}/t.jsonl", records),
            records[0].get("cwd", folder),
            query["q"],
        )
    return {"lately": found.exchange, "touched": found.touched}


def chosen(queries: list[Row], most: int) -> list[Row]:
    """Return all queries without an answer and a sample of the others, `most` in total."""
    if not most or len(queries) <= most:
        return queries
    open_ones = [query for query in queries if not query["relevant"]]
    rest = [query for query in queries if query["relevant"]]
    return open_ones + random.Random(3).sample(rest, max(0, most - len(open_ones)))


def labels(
    pairs: list[Row], prompts: list[Row], relevant: float, hard: float, other: float
) -> tuple[np.ndarray, np.ndarray]:
    top: dict[int, float] = {}
    for pair in pairs:
        top[pair["prompt"]] = max(top.get(pair["prompt"], -1.0), pair.get("meaning", 0.0))
    y, w = [], []
    for pair in pairs:
        prompt = prompts[pair["prompt"]]
        is_relevant = pair["memory"] in prompt["relevant"]
        is_hard = (
            not prompt["relevant"] and pair.get("meaning", 0.0) > top[pair["prompt"]] - HARD_MARGIN
        )
        y.append(1.0 if is_relevant else ACCEPTABLE if pair["memory"] in prompt["fine"] else 0.0)
        w.append(
            relevant if is_relevant else hard if is_hard else other if prompt["relevant"] else 1.0
        )
    return np.array(y), np.array(w)


def fitted(x: np.ndarray, y: np.ndarray, w: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return the weights of a ridge logistic regression with a fixed offset, by Newton's method; the bias is last."""
    x = np.c_[x, np.ones(len(x))]
    b = np.zeros(x.shape[1])
    ridge = np.eye(len(b)) * RIDGE
    ridge[-1, -1] = 1e-6
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(x @ b + offset, -30, 30)))
        s = w * np.maximum(p * (1 - p), 1e-4)
        step = np.linalg.solve((x * s[:, None]).T @ x + ridge, x.T @ (w * (p - y)) + ridge @ b)
        b -= step
        if abs(step).max() < 1e-6:
            break
    return b


def report(
    pairs: list[Row], prompts: list[Row], p: np.ndarray, least: float, most: int = 5
) -> dict[str, float]:
    given: dict[int, list[tuple[float, str]]] = {}
    for pair, value in zip(pairs, p, strict=True):
        if value >= least:
            given.setdefault(pair["prompt"], []).append((value, pair["memory"]))
    items = right = fine = hit = answerable = false = 0
    for at, prompt in enumerate(prompts):
        got = [memory for _, memory in sorted(given.get(at, ()), reverse=True)[:most]]
        items += len(got)
        right += sum(memory in prompt["relevant"] for memory in got)
        fine += sum(memory in prompt["relevant"] | prompt["fine"] for memory in got)
        answerable += bool(prompt["relevant"])
        hit += any(memory in prompt["relevant"] for memory in got)
        false += not prompt["relevant"] and any(memory not in prompt["fine"] for memory in got)
    rest = max(1, len(prompts) - answerable)
    shares = {"precision": right / max(1, items), "with_acceptable": fine / max(1, items)}
    return {"items": items, **shares, "hit": hit / max(1, answerable), "false": false / rest}


def labels_of(sets: list[Set]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return labels and weights of all pairs; all further sets together weigh as much as the prompts."""
    prompts = (RELEVANT_WEIGHT, HARD_WEIGHT, 1.0)
    requests = (REQUEST_RELEVANT_WEIGHT, REQUEST_HARD_WEIGHT, REQUEST_OTHER_WEIGHT)
    ys, ws = [], []
    for number, (pairs, own) in enumerate(sets):
        y, w = labels(pairs, own, *(prompts if number < 2 else requests))
        share = (1.0, BARE_SHARE)[number] if number < 2 else 1 / (len(sets) - 2)
        ys.append(y)
        ws.append(w * share * (ws[0].sum() / w.sum() if number else 1.0))
    return ys, ws


def folds_of(sets: list[Set]) -> list[np.ndarray]:
    """Return the fold of each pair: its session, or for requests the half of the memories that they ask for."""
    folds = []
    for number, (pairs, prompts) in enumerate(sets):
        names = [
            one["session"] if number < 2 else half(min(one["relevant"], default=one["q"]))
            for one in prompts
        ]
        folds.append(np.array([names[pair["prompt"]] for pair in pairs]))
    return folds


def half(text: str) -> str:
    return f"half {zlib.crc32(text.encode()) % 2}"


def judge(
    sets: list[Set], names: tuple[str, ...], fixed: dict[str, float]
) -> tuple[list[np.ndarray], dict[str, float]]:
    """Return the probability of every pair by weights fitted without its fold, and the weights fitted on all pairs."""
    matrices = [
        np.array([[pair.get(name, 0.0) for name in names] for pair in pairs]) for pairs, _ in sets
    ]
    mean, spread = matrices[0].mean(0), matrices[0].std(0) + 1e-6
    xs = [(matrix - mean) / spread for matrix in matrices]
    offsets = [
        np.array([sum(pair.get(k, 0.0) * v for k, v in fixed.items()) for pair in pairs])
        for pairs, _ in sets
    ]
    ys, ws = labels_of(sets)
    folds = folds_of(sets)
    judged = [np.zeros(len(y)) for y in ys]
    for fold in sorted({name for own in folds for name in own}):
        keep = [own != fold for own in folds]
        parts = (
            [part[mask] for part, mask in zip(all_, keep, strict=True)]
            for all_ in (xs, ys, ws, offsets)
        )
        b = fitted(*map(np.concatenate, parts))
        for x, offset, result, kept in zip(xs, offsets, judged, keep, strict=True):
            odds = np.c_[x[~kept], np.ones((~kept).sum())] @ b + offset[~kept]
            result[~kept] = 1 / (1 + np.exp(-odds))
    b = fitted(*map(np.concatenate, (xs, ys, ws, offsets)))
    raw = b[:-1] / spread
    return judged, {**dict(zip(names, raw, strict=True)), BIAS: b[-1] - (raw * mean).sum()}


def said(figures: dict[str, float]) -> str:
    return "  ".join(
        f"{name} {value:.3f}" if value < 1 else f"{name} {value:.0f}"
        for name, value in figures.items()
    )


def main() -> None:
    """Fit, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prompts")
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--deep", action="store_true")
    parser.add_argument(
        "--least",
        type=float,
        default=0.5,
        help="shift the bias so that this probability becomes 0.5",
    )
    parser.add_argument(
        "--sessions",
        action="append",
        default=[],
        help="a file of the sessions that prompts name as their source",
    )
    parser.add_argument(
        "--ablate", action="store_true", help="also report a fit without each piece of evidence"
    )
    given = parser.parse_args()
    sessions = read_sessions(given.sessions)
    sets = [rows_of(given.prompts, given.deep, sessions, bare=bare) for bare in (False, True)]
    sets += [rows_of(file, given.deep, [], MAX_REQUESTS) for file in given.also]
    names = DEEP_NAMES if given.deep else NAMES
    judged, weights = judge(sets, names, SET_WEIGHTS)
    files = (given.prompts, f"{given.prompts}, without patterns", *given.also)
    for file, (pairs, prompts), p in zip(files, sets, judged, strict=True):
        print(file)
        for least in sorted({0.45, 0.5, 0.55, 0.6, 0.65, given.least}):
            print(f"  {least:.2f}  {said(report(pairs, prompts, p, least))}")
    weights[BIAS] -= np.log(given.least / (1 - given.least))
    print("{" + ", ".join(f'"{name}": {value:.2f}' for name, value in weights.items()) + "}")
    for name in (*names, *SET_WEIGHTS) if given.ablate else ():
        fixed = {other: weight for other, weight in SET_WEIGHTS.items() if other != name}
        (p, *_), _ = judge(sets, tuple(other for other in names if other != name), fixed)
        print(f"  without {name:18} {said(report(*sets[0], p, given.least))}")


if __name__ == "__main__":
    main()
