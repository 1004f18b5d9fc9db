"""Short ways to make what recall works on."""

from rawkomem.model.entries import Memory
from rawkomem.recall.scoring import Reason, Scored, combine_factors, compute_factor, profile_of
from rawkomem.recall.signals import Question, Signals
from rawkomem.text.conditions import Fired

NOW = 1_800_000_000_000
HOUR = 3_600_000
DAY = 24 * HOUR


def memory(id: str = "m", **fields) -> Memory:
    return Memory(id, **{"title": "T", "body": "body", **fields})


def score(profile: str, of: Memory, task: str = "x", agent: str = "", **signals) -> float:
    chosen = profile_of(profile)
    question = Question(task, task=task, agent=agent, at=NOW)
    factors = [compute_factor(name, weight, of, Signals(of.id, **signals), question) for name, weight in chosen.weights]
    return combine_factors([item for item in factors if item], chosen)


def item(
    of: Memory, value: float = 1.0, relevance: float = 0.6, fired: Fired | None = None, out: Reason | None = None
) -> Scored:
    return Scored(of, Signals(of.id, score=value, relevance=relevance, fired=fired), value, (), out)
