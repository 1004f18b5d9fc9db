"""Short ways to make what recall works on."""

from __future__ import annotations

from rawkomem.model.entry import Memory
from rawkomem.recall.candidates import Signals
from rawkomem.recall.factors import Context, factor
from rawkomem.recall.profiles import profile_of
from rawkomem.recall.rank import Scored, combine

NOW = 1_800_000_000_000
HOUR = 3_600_000
DAY = 24 * HOUR


def memory(id: str = "m", **fields) -> Memory:
    return Memory(id, **{"title": "T", "body": "body", **fields})


def score(profile: str, of: Memory, task: str = "x", agent: str = "", **signals) -> float:
    chosen = profile_of(profile)
    context = Context(task, agent, NOW)
    return combine(
        [factor(name, weight, of, Signals(of.id, **signals), context) for name, weight in chosen.weights], chosen
    )


def item(of: Memory, value: float = 1.0, relevance: float = 0.6, fired: str = "", out: str = "") -> Scored:
    return Scored(of, Signals(of.id, score=value, relevance=relevance, fired=fired), value, (), out)
