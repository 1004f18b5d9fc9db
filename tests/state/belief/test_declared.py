"""The declared class of a source decides where a cap makes trust the same; it lifts nothing above the cap."""

import pytest
from rawkomem.model.entries import Memory
from rawkomem.model.values import DAY
from rawkomem.state.changes import outweighs
from rawkomem.state.trust import UNKNOWN, standing_of_entry, trust_of

NOW = 1_790_000_000_000


def said(source: str, arrival: str, days: float = 0, **counts: int) -> Memory:
    extra = {"provenance": {"source": source}} if source else {}
    return Memory(f"mem_{source}_{arrival}_{days}", created=NOW - int(days * DAY), by=arrival, extra=extra, **counts)


def trust(memory: Memory) -> float:
    return trust_of(memory, standing_of_entry(UNKNOWN, memory.by), NOW)


@pytest.mark.parametrize("days", [0, 1, 40, 365, 3_000])
@pytest.mark.parametrize("guess", ["inference", "document", ""])
def test_a_guess_does_not_replace_what_the_user_said(guess, days):
    """Both are words of an agent, trusted with .50 at most; that the user's are older changes nothing."""
    user, new = said("user_explicit", "agent", days), said(guess, "agent")
    assert trust(new) >= trust(user) and not outweighs(new, [user], trust)
    assert outweighs(user, [new], trust) == (days == 0)


def test_a_declared_class_lifts_nothing_above_the_cap():
    assert not outweighs(said("user_explicit", "agent"), [said("", "person", 300)], trust)
    assert not outweighs(said("user_explicit", "agent"), [said("", "import")], trust)
    assert trust(said("user_explicit", "agent")) == trust(said("inference", "agent")) == 0.5


def test_doubt_outweighs_the_declared_class():
    doubted = said("user_explicit", "agent", 5, disputes=2)
    assert outweighs(said("inference", "agent"), [doubted], trust)
