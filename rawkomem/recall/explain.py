"""Explains recall to people: the one place where its codes and values become sentences."""

from __future__ import annotations

from .gate import MIN_RELEVANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .score import Scored

WHY_NOT = {  # code of a Reason → its sentence
    "withdrawn": "voted harmful: {} votes, against {} for it",
    "voted-harmful": "voted harmful: similarity alone does not bring it",
    "nothing-fired": "no whenToUse condition fired",
    "not-similar": "similarity {:.2f} is below the profile's {:g}",
    "nothing-relevant": "not relevant enough: nothing reaches the floor of {:g} (the closest has {:.2f})",
    "unverified-irrelevant": "relevance {:.2f} is below the floor of {:g}, and it is unverified",
    "far-from-best": "relevance {:.2f} is below half of the best one's {:.2f}",
    "unsure-lesson": "a lesson of confidence {}: {:g} is needed",
    "old-lesson": "a lesson of {} days ago: they are kept for {} days unless somebody confirms them",
    "full": "only {} are injected",
    "unimportant": "importance {} is below {}",
    "twin": "says the same as {}",
    "vouched-twin": "says the same as {}, for which a person vouches",
    "unverified": "unverified ({}): commit it or run 'rawkomem review {} --activate'",
    "over-budget": "needs {} tokens, {} are left",
    "not-in-use": "{}",
}


def why_fired(item: Scored) -> str:
    """Return which part of a condition fired, in words; empty where none did."""
    return item.signals.fired.sentence if item.signals.fired else ""


def explain(item: Scored) -> list[str]:
    """Return the factors of a score, a line each; of a memory that came along with another one, which."""
    if not item.factors:
        return [why_fired(item)]
    lines = [f"{f.name:16} {f.value:7.3f} × {f.weight:g}   {f.why}" for f in item.factors]
    if item.is_named:
        lines.append("the task holds the words of its title: no floor applies")
    floor = f"the best one needs {MIN_RELEVANCE:g} where no condition fires"
    return [*lines, f"{'relevance':16} {item.signals.relevance:7.3f}       {floor}"]
