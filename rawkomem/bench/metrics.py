"""Retrieval metrics. "Recall" has three definitions, so all three are reported: any, all and fraction."""

from __future__ import annotations

import random
from math import log2
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def summary(rows: Sequence[dict[str, float]], seed: int = 7) -> dict[str, dict[str, float]]:
    """Return mean and 95 % bootstrap interval of every metric."""
    if not rows:
        return {}
    chance = random.Random(seed)
    samples = [[chance.randrange(len(rows)) for _ in rows] for _ in range(RESAMPLES if len(rows) < 5_000 else 100)]
    result = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        means = sorted(fmean(values[at] for at in sample) for sample in samples)
        low, high = means[int(0.025 * len(means))], means[int(0.975 * len(means))]
        result[name] = {"mean": round(fmean(values), 4), "low": round(low, 4), "high": round(high, 4)}
    return result


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how often the best relevance of an answerable question is above that of an unanswerable one."""
    ranked = sorted([(value, 1) for value in positive] + [(value, 0) for value in negative])
    total, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            end += 1
        total += sum(kind for _, kind in ranked[at:end]) * (at + 1 + end) / 2
        at = end
    count = len(positive)
    return (total - count * (count + 1) / 2) / (count * len(negative)) if positive and negative else 0.0


def injected_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the quality of injections into prompts. A row holds sets of ids, the injected ids and their tokens.

    precision: the share of injected memories that are relevant (or acceptable).
    hit: of the prompts that have a relevant memory, the share that gets one.
    false_injection: of the other prompts, the share that gets a memory which is not even acceptable.
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
        "hit": _share(sum(not row["relevant"].isdisjoint(row["injected"]) for row in wanting), len(wanting)),
        "false_injection": _share(sum(bool({*row["injected"]} - row["acceptable"]) for row in others), len(others)),
        "tokens_per_prompt": round(sum(row["tokens"] for row in rows) / max(1, len(rows)), 1),
    }


def _share(part: int, whole: int) -> float | None:
    """Return a share; None if the whole is 0."""
    return round(part / whole, 4) if whole else None
