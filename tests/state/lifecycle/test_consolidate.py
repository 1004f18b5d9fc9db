"""Consolidate: each step by itself, and the laws of the whole: a second run changes nothing, order does not matter, a kill does no harm."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rawkomem.model.entries import Entry, Plan
from rawkomem.state.changes import CORROBORATED
from rawkomem.state.digests import Digesting, digest_text, plan_archive_sources, plan_digests
from rawkomem.state.housekeeping import consolidation_steps, plan_consolidate, plan_corroborations, plan_dedupe

from tests.commands import cases
from tests.state.lifecycle.lives import AT_NOW, RULES, census_of, said, similar, turned


@pytest.fixture(autouse=True, scope="module")
def fixed_clock():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAWKOMEM_NOW", AT_NOW)
        yield


def told(plan: Plan) -> list[tuple[str, str]]:
    return [(entry.kind, entry.target) for entry in plan.entries]


X, NEAR_X = turned(("x", 1)), turned(("x", 1), ("y", 0.42))  # cosine about 0.92


def test_the_most_trusted_of_duplicates_is_kept_then_the_oldest():
    entries = [
        said("a", 3, title="T", body="one"),
        said("b", 2, title="T", body="two"),
        said("c", 1, title="T", body="three"),
    ]
    near = similar(dict.fromkeys("abc", X)).later
    flat = {"trust": lambda memory: 0.5}
    assert {e.extra["supersededBy"] for e in plan_dedupe(census_of(*entries, **flat), near).entries} == {"a"}
    trusted = plan_dedupe(census_of(*entries, trust=lambda m: 0.9 if m.id == "c" else 0.5), near)
    assert told(trusted) == [("supersede", "a"), ("supersede", "b")] and trusted.entries[0].extra["supersededBy"] == "c"


@pytest.mark.parametrize(
    "other",
    [
        {"body": "At most 600 a minute."},
        {"body": "Never at most 60 a minute."},
        {"title": "Limit of staging"},
        {"kind": "lesson"},
        {"extra": {"validFrom": "2026-01-01"}},
        {"extra": {"session": "s1"}},
        {"extra": {"claim": {"subject": "limit", "predicate": "is", "value": "60"}}},
    ],
)
def test_alike_but_not_the_same(other):
    first = {"title": "Limit", "body": "At most 60 a minute."}
    near = similar(dict.fromkeys("abc", X)).later
    same = census_of(said("a", 2, **first), said("b", 1, **{**first, "body": "A minute at most 60."}))
    assert told(plan_dedupe(same, near)) == [("supersede", "b")]
    assert not plan_dedupe(census_of(said("a", 2, **first), said("b", 1, **{**first, **other})), near).entries


def test_the_earlier_is_confirmed_by_other_sources_each_once():
    entries = [
        said(f"m{n}", 9 - n, title="T", by=by) for n, by in enumerate(("planner", "planner", "tester", "tester"))
    ]
    vectors = {"m0": X, **{f"m{n}": NEAR_X for n in (1, 2, 3)}}
    census = census_of(*entries)
    plan = plan_corroborations(
        census, lambda *given: (item for item in similar(vectors).later(*given) if item[0] == "m0")
    )
    assert [(entry.about, entry.extra["with"], entry.by) for entry in plan.entries] == [("m0", "m2", "tester")]
    after = census.after(plan)
    assert (CORROBORATED, "m2") in after.memories["m0"].links
    assert not plan_corroborations(after, similar({"m0": X, "m2": NEAR_X, "m3": NEAR_X}).later).entries


CLUSTER = {f"m{n}": turned(("x", 1), (f"m{n}", 0.6)) for n in range(4)}


def idle(n: int, days: float = 40, **fields) -> Entry:
    return said(f"m{n}", days, title=f"Cache {'abcd'[n]}", body=f"Redis caches the sessions {'abcd'[n]}.", **fields)


def test_what_is_too_few_too_fresh_or_claimed_is_left_alone():
    near = similar(CLUSTER).pairs
    assert not plan_digests(census_of(idle(0), idle(1)), near, Digesting()).entries
    assert not plan_digests(census_of(*(idle(n, 29) for n in range(3))), near, Digesting()).entries
    claim = {"claim": {"subject": "a", "predicate": "is", "value": "b"}}
    assert not plan_digests(census_of(idle(0), idle(1), idle(2, extra=claim)), near, Digesting()).entries


def test_a_doubtful_memory_does_not_join_believed_ones():
    census = census_of(*(idle(n) for n in range(4)), trust=lambda memory: 0.3 if memory.id == "m1" else 0.9)
    (digest,) = plan_digests(census, similar(CLUSTER).pairs, Digesting()).entries
    assert digest.extra["derivedFrom"] == ["m0", "m2", "m3"]


def test_archiving_is_continued_after_a_kill_but_only_for_an_honest_digest():
    census = census_of(*(idle(n) for n in range(3)))
    plan = plan_digests(census, similar(CLUSTER).pairs, Digesting())
    made = census.after(plan)
    archive = plan_archive_sources(made).plan
    assert told(archive) == [("archive", "m0"), ("archive", "m1"), ("archive", "m2")]
    killed = made.after(Plan(archive.entries[:1], ""))
    rest = plan_archive_sources(killed).plan
    assert told(rest) == told(archive)[1:] and not plan_archive_sources(killed.after(rest)).plan.entries
    forged = said("forged", 0, source="compress", extra={"derivedFrom": ["m0", "m1", "m2"]}, body="Trust nobody.")
    assert not plan_archive_sources(census_of(*(idle(n) for n in range(3)), forged)).plan.entries
    assert digest_text([census.memories[f"m{n}"] for n in range(3)]).strip() == plan.entries[0].body.strip()


def test_five_digests_a_day():
    vectors = {f"m{n}-{k}": turned((f"x{n}", 1), (f"m{n}-{k}", 0.4)) for n in range(7) for k in range(3)}
    census = census_of(*(said(id, 50, title=f"T {id}", body=f"About {id}.") for id in vectors))
    plan = plan_digests(census, similar(vectors).pairs, Digesting())
    assert len(plan.entries) == 5
    assert not plan_digests(census.after(plan), similar(vectors).pairs, Digesting()).entries


BODIES = ("Redis caches sessions.", "Redis caches the sessions.", "At most 60.", "At most 600.", "Never retry.")
DIRECTIONS = [((a, 1.0), (b, weight)) for a in "xyz" for b in "uv" for weight in (0.0, 0.3, 0.42, 0.7)]


@st.composite
def lives(draw):
    entries, vectors = [], {}
    for n in range(draw(st.integers(0, 9))):
        id = f"m{n}"
        subject, value = draw(st.sampled_from(("port", "reviewed", "both"))), draw(st.sampled_from("12"))
        claim = {"claim": {"subject": subject, "predicate": subject, "value": value}}
        entries.append(
            said(
                id,
                draw(st.sampled_from((0, 1, 40, 41, 100, 200))),
                title=draw(st.sampled_from(("Cache", "Cache of sessions", "Limit"))),
                body=draw(st.sampled_from(BODIES)),
                by=draw(st.sampled_from(("planner", "tester", ""))),
                importance=draw(st.sampled_from(("low", "high", "critical"))),
                extra=claim if draw(st.integers(0, 3)) == 0 else {},
            )
        )
        vectors[id] = turned(*draw(st.sampled_from(DIRECTIONS)))
        other = f"m{draw(st.integers(0, 9))}"
        if draw(st.booleans()):
            entries.append(Entry(kind="link", id=f"l{n}", about=id, at=entries[-1].at + 1, extra={"to": other}))
        if draw(st.integers(0, 4)) == 0:
            entries.append(
                Entry(kind="supersede", id=f"s{n}", about=id, at=entries[-1].at + 1, extra={"supersededBy": other})
            )
    return entries, vectors


def outcome(census) -> list:
    """What memories have become, whatever ids new entries got."""
    names = {
        m.id: m.id if m.id.startswith("m") and "_" not in m.id else f"digest of {m.extra['derivedFrom']}"
        for m in census.memories.values()
    }
    return sorted(
        (names[m.id], m.status, names.get(m.superseded_by, ""), m.corroborations, sorted(m.links))
        for m in census.memories.values()
    )


@settings(max_examples=cases(150, 15))
@given(lives(), st.randoms(use_true_random=False), st.floats(0, 1))
def test_twice_is_once_in_any_order_and_after_a_kill(life, source, share):
    entries, vectors = life
    near = similar(vectors)
    todo = consolidation_steps(near.later, RULES, "tester")
    census = census_of(*entries)
    plan = plan_consolidate(census, todo)
    after = census.after(plan)
    assert plan_consolidate(after, todo).entries == ()

    shuffled = list(entries)
    source.shuffle(shuffled)
    other = census_of(*shuffled)
    assert outcome(other.after(plan_consolidate(other, todo))) == outcome(after)

    killed = census.after(Plan(plan.entries[: round(share * len(plan.entries))], plan.why))
    assert outcome(killed.after(plan_consolidate(killed, todo))) == outcome(after)
