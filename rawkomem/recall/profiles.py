"""Define profiles: which factors count, with which weights, as a sum or as a product. A new profile needs no code."""

from __future__ import annotations

from ..model.errors import BadInput
from ..model.record import record, replace
from .limits import MAX_SIMILAR, MIN_SIMILARITY

SUM, PRODUCT = "sum", "product"
RELEVANT, FIRED = "relevant", "fired"  # gates: relevant enough, or its condition fired; only if its condition fired
DOUBTS = ("feedback", "disputes")  # demotions that also lower the relevance and confidence that the gate checks


@record
class Profile:
    """A formula over factors. `gate` is what a memory needs to pass."""

    name: str
    about: str
    combine: str
    weights: tuple[tuple[str, float], ...]
    gate: str = RELEVANT
    min_similarity: float = 0.0  # cosine; 0: no minimum
    min_similarity_with_entities: float = 0.0  # … for a search by entities
    max_score: float = 0.0  # 0: no cap
    demotions: tuple[str, ...] = ()  # factors that multiply the sum, if a memory has data for them
    max_results: int = 0  # 0: no limit of its own
    margin: float = 0.0  # items whose scores are lower by at most this share count as equals

    def uses(self, factor: str) -> bool:
        """Tell whether a factor has a weight."""
        return any(name == factor for name, _ in self.weights)


PROFILES = {profile.name: profile for profile in (
    Profile(
        "fit",
        "default: words and meaning of the passage, its surroundings and the conditions; measured best on all sets",
        SUM, (("fit", 1.0), ("when_to_use", 0.05)), demotions=("citations", *DOUBTS), margin=0.1,
    ),
    Profile(
        "rawko",
        "SPEC-0009: points for importance, recency, title words, the agent's specialty and who found it",
        SUM, (("importance", 30.0), ("recency_steps", 10.0), ("title_words", 20.0), ("specialty", 15.0),
              ("same_discoverer", 10.0)),
        gate=FIRED, max_score=100.0,
    ),
    Profile("mesh", "RFC-0011: reciprocal ranks of words and meaning, k = 60", SUM, (("ranks", 1.0),)),
    Profile(
        "composite",
        "neolata: similarity, trust, recency and importance as a weighted sum",
        SUM, (("semantic", 0.40), ("trust", 0.25), ("recency", 0.20), ("importance", 0.15)),
    ),
    Profile(
        "lane",
        "Memory Lane: similarity times type, decay, feedback and intent",
        PRODUCT, (("semantic", 1.0), ("taxonomy", 1.0), ("decay", 1.0), ("feedback", 1.0), ("intent", 1.0)),
        min_similarity=0.2, min_similarity_with_entities=0.15,
    ),
    Profile(
        "llmos",
        "LLMos: similarity alone, three results of at least 0.3",
        SUM, (("semantic", 1.0),), min_similarity=MIN_SIMILARITY, max_results=MAX_SIMILAR,
    ),
)}  # fmt: skip
DEFAULT = "fit"


def profile_of(text: str) -> Profile:
    """Return a profile by name, optionally with other weights: `composite`, `composite:trust=0.4`, `:ranks=1`."""
    name, _, changes = text.partition(":")
    if name and name not in PROFILES:
        raise BadInput(f"unknown profile {name!r}", "use one of " + ", ".join(PROFILES))
    profile = PROFILES[name or DEFAULT]
    return _with_weights(profile, changes) if changes else profile


def _with_weights(profile: Profile, changes: str) -> Profile:
    from .factors import FACTORS  # slow import, only needed to change weights

    weights = dict(profile.weights)
    for change in changes.split(","):
        factor, _, weight = (part.strip() for part in change.partition("="))
        if factor not in FACTORS:
            raise BadInput(f"unknown factor {factor!r}", "use one of " + ", ".join(FACTORS))
        weights[factor] = _weight(factor, weight)
    kept = tuple((factor, weight) for factor, weight in weights.items() if weight)
    return replace(profile, name=f"{profile.name}:{changes}", weights=kept)


def _weight(factor: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < float("inf"):
        raise BadInput(f"the weight of {factor} must be a number from 0, not {text!r}", "use a weight like trust=0.4")
    return weight
