"""Explain recall to people: turn its codes and values into sentences."""

from __future__ import annotations

from .relevance.confidence import ABOUT, weighed

MIN_TOLD = 0.005  # evidence that adds less is not shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .score import Scored


def why_fired(item: Scored) -> str:
    """Return a sentence about the part of a condition that fired; empty if none did."""
    return item.signals.fired.sentence if item.signals.fired else ""


def explain(item: Scored) -> list[str]:
    """Return a line per factor and per piece of evidence. A linked memory has no factors: return the link instead."""
    if not item.factors:
        return [why_fired(item)] if item.signals.fired else []
    lines = [f"{f.name:16} {f.value:7.3f} × {f.weight:g}   {f.why}" for f in item.factors]
    if item.is_named:
        lines.append("the task contains the words of its title: no minimum applies")
    return [*lines, *_evidence(item)]


def _evidence(item: Scored) -> list[str]:
    """Return the evidence for and against relevance, the strongest first, and the resulting confidence."""
    values = dict(item.signals.evidence)
    added = sorted(weighed(values, "first_meaning" in values), key=lambda part: -abs(part[2]))
    told = [part for part in added if abs(part[2]) >= MIN_TOLD]
    lines = [f"{name:17} {value:7.3f} → {more:+.2f}   {ABOUT[name]}" for name, value, more in told]
    return [*lines, f"{'confidence':17} {item.signals.confidence:7.3f}   the probability that it is relevant"]
