"""Compute the probability that a memory is relevant, from its evidence and from weights that were fitted offline.

It is a logistic regression over named values (tools/fit_gate.py). The weights of fired conditions and of small
repositories were set by hand: somebody who writes a condition expects that it causes a recall.
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
FIRST_WEIGHTS = {  # with the vectors of the first tier only, usually the bundled static ones
    "meaning": 1.57, "condition_meaning": 0.02, "agreement": 3.28, "unusual": 0.65, "shared_words": 0.65,
    "rare_word": 1.57, "pasted_name": -1.28, "pasted_short": 4.26, "pasted_thin": 5.07, "thin": 0.25,
    "long": 0.11, "spoken": -0.36, "spoken_meaning": 6.78, "spoken_unusual": -0.64, BIAS: -6.45, **SET_WEIGHTS,
}  # fmt: skip
DEEP_WEIGHTS = {  # with the contextual vectors and those of the first tier
    "meaning": 2.58, "condition_meaning": 0.83, "agreement": 1.00, "unusual": 0.72, "shared_words": 0.13,
    "rare_word": 1.62, "pasted_name": -0.11, "pasted_short": 2.85, "pasted_thin": 5.03, "thin": 0.47,
    "long": 0.07, "first_meaning": -1.54, "first_unusual": 0.33, "spoken": -0.88, "spoken_meaning": 7.71,
    "spoken_agreement": 6.20, "spoken_unusual": -1.19, BIAS: -6.68, **SET_WEIGHTS,
}  # fmt: skip
ABOUT = {  # evidence → its description in `rawkomem why`
    "meaning": "cosine of the passage or condition that is closest to a sentence of the task",
    "condition_meaning": "cosine of the closest condition that is a sentence",
    "agreement": "cosine of the second closest passage or condition",
    "unusual": "how far the highest cosine is above the average of this repository, in standard deviations",
    "shared_words": "words shared with the task, weighed by how rare they are",
    "rare_word": "a shared word that few memories contain",
    "fired_few": "a pattern of whenToUse fires in a task of few words",
    "fired": "a pattern of whenToUse fires; less in a task of many words",
    "fired_path": "a pattern of whenToUse fires in a path only",
    "fired_far": "a pattern of whenToUse fires, but the memory is far from the task in meaning",
    "recent_name": "a pattern of whenToUse names something in the exchange before a task of few words",
    "pasted_name": "a pattern of whenToUse names something in the pasted text",
    "pasted_short": "a pattern of whenToUse names something in the pasted text, and the task says little else",
    "pasted_thin": "a pattern of whenToUse names something in the pasted text, and the task says almost nothing else",
    "spoken": "most conditions of the memory are sentences, so only their meaning can match",
    "spoken_meaning": "cosine of the closest condition, if most conditions are sentences",
    "spoken_agreement": "cosine of the second closest passage or condition, if most conditions are sentences",
    "spoken_unusual": "the value of 'unusual', if most conditions are sentences",
    "first_meaning": "the value of 'meaning' with the static vectors",
    "first_unusual": "the value of 'unusual' with the static vectors",
    "thin": "the task has fewer than three content words",
    "long": "the task has many content words",
    "few_memories": "the repository is small: each memory is more likely to be relevant",
    BIAS: "the start value of every memory",
}


def weighed(values: Mapping[str, float], deep: bool) -> list[tuple[str, float, float]]:
    """Return (name, value, what it adds) for each piece of evidence. The sum of the added parts is the log odds."""
    weights = DEEP_WEIGHTS if deep else FIRST_WEIGHTS
    terms = {**values, **crossed(values), BIAS: 1.0}
    return [(name, terms.get(name, 0.0), terms.get(name, 0.0) * weight) for name, weight in weights.items()]


def crossed(values: Mapping[str, float]) -> dict[str, float]:
    """Return products of values that count only together.

    A name in pasted text is the subject if the task says little else. If conditions are sentences, meaning decides.
    """
    pasted, spoken = values.get("pasted_name", 0.0), values.get("spoken", 0.0)
    return {
        "pasted_thin": pasted * values.get("thin", 0.0),
        "pasted_short": pasted * values.get("short", 0.0),
        "spoken_meaning": spoken * values.get("condition_meaning", 0.0),
        "spoken_agreement": spoken * values.get("agreement", 0.0),
        "spoken_unusual": spoken * values.get("unusual", 0.0),
    }


def confidence(values: Mapping[str, float], deep: bool) -> float:
    """Return the probability that a memory with this evidence is relevant."""
    total = sum(added for _, _, added in weighed(values, deep))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
