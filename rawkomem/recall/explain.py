"""Explains recall to people: the one place where its codes and values become sentences."""

from __future__ import annotations

from .limits import MIN_RELEVANCE

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
    floor = f"the best one needs {MIN_RELEVANCE:g} where no condition fires"
    return [*lines, f"{'relevance':16} {item.signals.relevance:7.3f}       {floor}"]
