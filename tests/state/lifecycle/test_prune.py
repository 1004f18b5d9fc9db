"""Prune archives memories that faded, deletes nothing, and changes nothing when it runs again."""

import pytest
from rawkomem.model.entries import Entry
from rawkomem.state.housekeeping import decay_outlook, plan_prune

from tests.state.lifecycle.lives import AT_NOW, NOW, census_of, said


@pytest.fixture(autouse=True)
def fixed_clock(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", AT_NOW)


def archived(plan) -> list[str]:
    return [entry.about for entry in plan.entries if entry.kind == "archive"]


def link(one: str, other: str, **extra) -> Entry:
    return Entry(kind="link", id=f"link-{one}-{other}", about=one, at=NOW - 10**10, extra={"to": other, **extra})


@pytest.mark.parametrize(
    "fields", [{"importance": "critical"}, {"kind": "lesson"}, {"kind": "skill"}, {"kind": "trace"}]
)
def test_spared(fields):
    assert not plan_prune(census_of(said("old", 900, **fields))).entries


def test_what_a_faded_memory_held_fades_with_it():
    """Three links hold a memory; when their other ends go, so does it, in one run."""
    census = census_of(
        said("hub", 900), *(said(f"leaf{n}", 900) for n in range(3)), *(link("hub", f"leaf{n}") for n in range(3))
    )
    plan = plan_prune(census)
    assert archived(plan) == ["hub", "leaf0", "leaf1", "leaf2"]
    held = census_of(
        said("hub", 900), *(said(f"leaf{n}") for n in range(3)), *(link("hub", f"leaf{n}") for n in range(3))
    )
    assert archived(plan_prune(held)) == []


def test_links_to_nothing_are_taken_back():
    gone = Entry(kind="delete", id="d", about="gone", at=NOW)
    census = census_of(
        said("a"), said("gone"), gone, said("b"), link("a", "gone"), link("a", "b"), link("a", "lost", type="causes")
    )
    plan = plan_prune(census)
    assert [(entry.kind, entry.about, entry.extra["to"], entry.extra["removed"]) for entry in plan.entries] == [
        ("link", "a", "gone", "true"),
        ("link", "a", "lost", "true"),
    ]
    after = census.after(plan)
    assert after.memories["a"].links == (("related", "b"),) and not plan_prune(after).entries


def test_a_digest_does_not_hold_what_it_was_made_of():
    census = census_of(said("old", 60), said("digest", extra={"derivedFrom": ["old"]}))
    assert archived(plan_prune(census)) == ["old"]
    assert decay_outlook(census).strengths["old"].value == 0.0875


def test_prune():
    by_now = {"supersededBy": "new", "reason": ""}
    census = census_of(
        said("new"),
        said("long-ago", 200), Entry(kind="supersede", id="s1", about="long-ago", at=NOW - 91 * 86_400_000, extra=by_now),
        said("lately", 200), Entry(kind="supersede", id="s2", about="lately", at=NOW - 89 * 86_400_000, extra=by_now),
        said("forgotten", 80), said("weak", 30),
    )  # fmt: skip
    plan = plan_prune(census)
    assert archived(plan) == ["forgotten", "long-ago"]
    assert not plan_prune(census.after(plan)).entries


def test_what_a_person_vouches_for_is_in_no_plan():
    superseded = Entry(
        kind="supersede", id="s", about="replaced", at=NOW - 200 * 86_400_000, extra={"supersededBy": "b"}
    )
    entries = said("a", 500), said("b", 500), said("replaced", 500), superseded
    assert archived(plan_prune(census_of(*entries))) == ["a", "b", "replaced"]
    assert archived(plan_prune(census_of(*entries, vouched={"a"}))) == ["b", "replaced"]
    # without `b`, the memory that it superseded would be in use again
    assert archived(plan_prune(census_of(*entries, vouched={"a", "replaced"}))) == []
