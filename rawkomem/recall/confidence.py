"""Confidence: the probability that a memory is relevant, from its evidence and weights that were fitted offline.

A logistic regression over named values (tools/fit_gate.py). `fired` has a weight that was set, not fitted: whoever
writes a condition expects that it brings the memory.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

BIAS = "bias"
FIRED_WEIGHT = 2.5
FIRST_WEIGHTS = {  # with the bundled static vectors, or whatever the first tier holds
    "meaning": 2.98, "condition_meaning": 2.17, "agreement": 4.18, "unusual": 0.33, "shared_words": 0.56,
    "rare_word": 1.41, "fired": FIRED_WEIGHT, "fired_rarity": 0.70, "pasted_name": 0.79, "pasted_short": 2.05,
    "pasted_thin": 5.31, "thin": 0.47, "long": -0.13, BIAS: -6.46,
}  # fmt: skip
DEEP_WEIGHTS = {  # with the contextual vectors, beside the first tier's
    "meaning": 4.74, "condition_meaning": 2.74, "agreement": 5.12, "shared_words": 0.38, "rare_word": 1.42,
    "fired": FIRED_WEIGHT, "fired_rarity": 0.57, "pasted_name": 0.79, "pasted_short": 1.74, "pasted_thin": 6.11,
    "thin": 0.40, "long": -0.10, "first_meaning": -1.80, "first_unusual": 0.35, BIAS: -7.28,
}  # fmt: skip
ABOUT = {  # evidence → what it is, for `why`
    "meaning": "cosine of the passage or condition that is closest to a sentence of the task",
    "condition_meaning": "cosine of the closest condition that is a sentence",
    "agreement": "cosine of the second closest passage or condition",
    "unusual": "how far that closeness is above what is usual here, in standard deviations",
    "shared_words": "words shared with the task, weighed by how rare they are",
    "rare_word": "a shared word that few memories hold",
    "fired": "a pattern of whenToUse occurs in a task of few words",
    "fired_rarity": "how rare the term is that fired",
    "pasted_name": "a pattern of whenToUse names something in the pasted text",
    "pasted_short": "… and the task says little else",
    "pasted_thin": "… and the task says nearly nothing else",
    "first_meaning": "the same cosine with the static vectors",
    "first_unusual": "how unusual that is with the static vectors",
    "thin": "the task has fewer than three content words",
    "long": "the task has many content words",
    BIAS: "what a memory starts with",
}


def weighed(values: Mapping[str, float], deep: bool) -> list[tuple[str, float, float]]:
    """Return (name, value, what it adds) of each piece of evidence; the sum is the logarithm of the odds."""
    weights = DEEP_WEIGHTS if deep else FIRST_WEIGHTS
    terms = {**values, **crossed(values), BIAS: 1.0}
    return [(name, terms.get(name, 0.0), terms.get(name, 0.0) * weight) for name, weight in weights.items()]


def crossed(values: Mapping[str, float]) -> dict[str, float]:
    """Return the values that only count together: a name in a paste is the subject where little else is said."""
    pasted = values.get("pasted_name", 0.0)
    return {"pasted_thin": pasted * values.get("thin", 0.0), "pasted_short": pasted * values.get("short", 0.0)}


def confidence(values: Mapping[str, float], deep: bool) -> float:
    """Return the probability that a memory with this evidence is relevant."""
    total = sum(added for _, _, added in weighed(values, deep))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
