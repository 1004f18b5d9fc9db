"""Strength: neolata's formula, and what it promises: reinforcing never weakens, nothing is nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Memory
from rawkomem.model.values import DAY, replace
from rawkomem.state import strength as life
from rawkomem.state.strength import strength_of

from tests.seeds import by_case

NOW = 1_790_000_000_000


def aged(days: float, **fields) -> Memory:
    at = NOW - round(days * DAY)
    return Memory("m", **{"created": at, "updated": at, **fields})


def value(memory: Memory, links: int = 0, uses: int = 0, last_use: int = 0) -> float:
    return strength_of(memory, links, NOW, uses, last_use).value


@by_case("neolata-mem", "calcStrength")
def test_seed_cases(case, monkeypatch):
    """neolata's numbers, but: a `stability` never weakens a memory, and importance 0 stays 0."""
    given = case["input"]
    monkeypatch.setitem(life.IMPORTANCES, "medium", given["importance"])
    age = given["ageDays"]
    extra = {key: str(given[key]) for key in ("category", "stability") if key in given}
    memory = aged(age, updated=NOW - round(given.get("touchDays", age) * DAY), extra=extra)
    found = value(memory, given.get("links", 0), given.get("accessCount", 0))
    if case.get("advice"):
        assert found == value(replace(memory, extra={})) == 0.495
    elif not given["importance"]:
        assert found == 0
    else:
        assert found == pytest.approx(case["expected"]["strength"], abs=1e-4)


@pytest.mark.parametrize("stability", ["", "a lot", "-3", "0", "nan", ["7"]])
def test_a_stability_that_is_no_number_of_days_counts_for_nothing(stability):
    assert value(aged(10, extra={"stability": stability})) == 0.495


@given(st.floats(0, 3000), st.sampled_from(list(life.IMPORTANCES)), st.integers(0, 12), st.integers(0, 9))
def test_reinforcing_never_weakens(days, importance, reinforcements, links):
    memory = aged(days, importance=importance, reinforcements=reinforcements)
    assert 0 <= value(memory, links) <= value(replace(memory, reinforcements=reinforcements + 1), links) <= 1
