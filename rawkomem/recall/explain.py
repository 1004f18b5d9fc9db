"""Explains recall to people: the one place where its codes and values become sentences."""

from __future__ import annotations

from .relevance.confidence import ABOUT, weighed

MIN_TOLD = 0.005  # of what a piece of evidence adds: less is not shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .score import Scored


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
    return [*lines, *_evidence(item)]


def _evidence(item: Scored) -> list[str]:
    """Return what speaks for and against its relevance, the weightiest first; what adds nothing is left out."""
    values = dict(item.signals.evidence)
    added = sorted(weighed(values, "first_meaning" in values), key=lambda part: -abs(part[2]))
    told = [part for part in added if abs(part[2]) >= MIN_TOLD]
    lines = [f"{name:17} {value:7.3f} → {more:+.2f}   {ABOUT[name]}" for name, value, more in told]
    return [*lines, f"{'confidence':17} {item.signals.confidence:7.3f}   the probability that it is relevant"]
