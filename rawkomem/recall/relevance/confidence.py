"""Confidence: the probability that a memory is relevant, from its evidence and weights that were fitted offline.

A logistic regression over named values (tools/fit_gate.py). The weights of fired conditions and of small
repositories were set, not fitted: whoever writes a condition expects that it brings the memory.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

BIAS = "bias"
SET_WEIGHTS = {
    "fired_few": 7.0,
    "fired": 3.5,
    "fired_far": -5.0,
    "fired_path": 2.5,
    "recent_name": 1.5,
    "few_memories": 0.5,
}
FIRST_WEIGHTS = {  # with the bundled static vectors, or whatever the first tier holds
    "meaning": 2.90, "condition_meaning": 2.45, "agreement": 4.07, "unusual": 0.34, "shared_words": 0.43,
    "rare_word": 1.46, "pasted_name": -1.56, "pasted_short": 4.69, "pasted_thin": 5.14, "thin": 0.48,
    "long": -0.07, BIAS: -6.85, **SET_WEIGHTS,
}  # fmt: skip
DEEP_WEIGHTS = {  # with the contextual vectors, beside those of the first tier
    "meaning": 5.10, "condition_meaning": 2.86, "agreement": 4.93, "unusual": 0.07, "shared_words": 0.17,
    "rare_word": 1.63, "pasted_name": -0.13, "pasted_short": 3.06, "pasted_thin": 5.91, "thin": 0.43,
    "first_meaning": -1.91, "first_unusual": 0.29, BIAS: -7.80, **SET_WEIGHTS,
}  # fmt: skip
ABOUT = {  # evidence → what it is, for `why`
    "meaning": "cosine of the passage or condition that is closest to a sentence of the task",
    "condition_meaning": "cosine of the closest condition that is a sentence",
    "agreement": "cosine of the second closest passage or condition",
    "unusual": "how far that closeness is above what is usual here, in standard deviations",
    "shared_words": "words shared with the task, weighed by how rare they are",
    "rare_word": "a shared word that few memories hold",
    "fired_few": "a pattern of whenToUse fires in a task of few words",
    "fired": "a pattern of whenToUse fires; less in a task of many words",
    "fired_path": "a pattern of whenToUse fires in a path only",
    "fired_far": "… although the memory is far from it in meaning",
    "recent_name": "a pattern of whenToUse names something in the exchange before a task of few words",
    "pasted_name": "a pattern of whenToUse names something in the pasted text",
    "pasted_short": "… and the task says little else",
    "pasted_thin": "… and the task says nearly nothing else",
    "first_meaning": "the same cosine with the static vectors",
    "first_unusual": "how unusual that is with the static vectors",
    "thin": "the task has fewer than three content words",
    "long": "the task has many content words",
    "few_memories": "the repository is small: each memory is likelier to be meant",
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
