"""Claims: normal forms, the registry, what conflicts, what is the same, and what is planned then."""

import pytest
from rawkomem.model.entries import Entry
from rawkomem.model.errors import BadInput
from rawkomem.model.values import read_time
from rawkomem.state.claims import (
    Claim,
    Predicate,
    claim_of,
    conflicting,
    normalized_value,
    plan_claim,
    read_registry,
    same_claim,
    stored_outcome,
)
from rawkomem.state.fold import after, new_memory
from rawkomem.state.trust import Standing, claimed_source, trust_of

from tests.seeds import by_case

NOW = 1_800_000_000_000
DIVERGE = {  # where we follow the advice, or seed-behaviour.md, instead of what the original does
    "USD750": "USD 750",
    "A$50": "AUD 50",
    "C$50": "CAD 50",
    "$1.5k": "USD 1500",
    "750-800 USD": "750-800 USD",
}


def trust(memory) -> float:
    return trust_of(memory, Standing(claimed_source(memory.extra) or "unknown"), NOW)


def entry(value: str, source: str = "", id: str = "", at: int = NOW, **claim: str) -> Entry:
    extra = {"claim": {"subject": "user", "predicate": "plan", "value": value, **claim}}
    if source:
        extra["provenance"] = {"source": source}
    return Entry(id=id or f"mem_{value}", title=f"Plan is {value}", at=at, extra=extra, by="me")


def memory(value: str, source: str = "", **more):
    return new_memory(entry(value, source, **more))


def day(text: str) -> int:
    return read_time(text)[0]


@by_case("neolata-mem", "normalizeClaim")
def test_normal_forms(case):
    value = case["input"]["value"]
    assert normalized_value(value, case["input"]["normalize"]) == DIVERGE.get(value, case["expected"])


@by_case("neolata-mem", "registerPredicate")
def test_registry(case):
    given = {case["input"]["predicate"]: case["input"]["schema"]}
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises(BadInput) as failure:
            read_registry(given)
        assert failure.value.message.lower().startswith(expected["error"].lower())
    else:
        wanted = Predicate(
            expected["cardinality"], expected["conflictPolicy"], expected["normalize"], expected["dedupPolicy"]
        )
        assert read_registry(given) == {expected["predicate"]: wanted}


def test_a_wrong_rule_of_a_predicate_is_a_warning_and_its_default(project, repository):
    """D2: `add --claim` failed without a file or a line, and `check` was silent."""
    (project / ".rawko" / "config.yaml").write_text("predicates: {plan: {cardinality: many}}\n")
    assert repository.add(entry("A")).id
    assert repository.beliefs.predicates() == {}


@by_case("neolata-mem", "store validation")
def test_what_is_refused(case, repository):
    given, wanted = case["input"], case["expected"]["error"]
    new = Entry(title=given["text"], by=given["agent"], extra=given["opts"])
    if given["agent"] == "":
        repository.add(new)  # discoveredBy is optional in SPEC-0009; the command line says who you are
        return
    if wanted.startswith("claim.value must be a string"):  # a number is a text, as in a file
        assert repository.get(repository.add(new).id).extra["claim"]["value"] == str(given["opts"]["claim"]["value"])
        return
    with pytest.raises(BadInput) as failure:
        repository.add(new)
    ours = {"text must be a non-empty string": "a memory needs a title"}.get(wanted, wanted.partition(" (alpha")[0])
    assert ours.removeprefix("agent ") in failure.value.message
    assert not repository.list()


LONG = "x" * 101


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"predicate": "p", "value": "v", "subject": LONG}, "claim.subject"),
        ({"subject": "s", "value": "v", "predicate": LONG}, "claim.predicate"),
        ({"subject": "s", "predicate": " ", "value": "v"}, "claim.predicate"),
        ({"subject": "s", "predicate": "p", "value": "v" * 1001}, "claim.value"),
        ({"subject": "s", "predicate": "p", "value": "v", "scope": "galaxy"}, "claim.scope"),
        ({"subject": "s", "predicate": "p", "value": "v", "scope": "session"}, "needs a session"),
        ({"subject": "s", "predicate": "p", "value": "v", "exclusive": "maybe"}, "claim.exclusive"),
        ({"subject": "s", "predicate": "p", "value": "v", "validFrom": "soon"}, "is not a time"),
        ({"subject": "s", "predicate": "p", "value": "v", "validFrom": "2026-02-01", "validUntil": "2026-01-01"}, "ends before"),
        ({"subject": "s", "predicate": "p", "value": "v", "colour": "red"}, "unknown key 'colour'"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_used_is_refused(claim, message):
    with pytest.raises(BadInput, match=message):
        plan_claim(Entry(title="T", extra={"claim": claim}), (), {}, trust)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"by": "x" * 65}, "64"),
        ({"by": "bad/agent"}, "invalid characters"),
        ({"tags": ("x" * 101,)}, "tags"),
        ({"tags": tuple(f"t{n}" for n in range(65))}, "tags"),
        ({"body": "x" * 10_001, "extra": {"claim": {"subject": "s", "predicate": "p", "value": "v"}}}, "10,000"),
    ],
)
def test_limits(fields, message):
    with pytest.raises(BadInput, match=message):
        plan_claim(Entry(title="T", **fields), (), {}, trust)


A, B = Claim("s", "p", "a"), Claim("s", "p", "b")


@pytest.mark.parametrize(
    ("a", "b", "rules"),
    [
        ({}, {"value": "a"}, {}),
        ({}, {"subject": "other"}, {}),
        ({}, {"predicate": "other"}, {}),
        ({}, {}, {"cardinality": "multi"}),
        ({"exclusive": False}, {}, {}),
        ({}, {"exclusive": False}, {}),
        ({"valid_until": 10}, {"valid_from": 10}, {}),
        ({"scope": "session", "session": "s1"}, {}, {}),
        ({}, {"scope": "session", "session": "s1"}, {}),
        ({"scope": "session", "session": "s1"}, {"scope": "session", "session": "s2"}, {}),
        ({"value": "A "}, {"value": "a"}, {"normalize": "lowercase_trim"}),
    ],
)
def test_no_conflict(a, b, rules):
    from rawkomem.model.values import replace

    assert not conflicting(replace(A, **a), replace(B, **b), read_registry({"p": rules}))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"valid_until": 11}, {"valid_from": 10}),
        ({"scope": "session", "session": "s1"}, {"scope": "session", "session": "s1"}),
        ({"scope": "temporal", "valid_from": 5}, {"scope": "global"}),
    ],
)
def test_conflict(a, b):
    from rawkomem.model.values import replace

    assert conflicting(replace(A, **a), replace(B, **b), {})


@pytest.mark.parametrize(
    ("new", "known", "same"),
    [
        ({}, {}, True),
        ({"valid_from": 5, "valid_until": 8}, {}, True),
        ({}, {"valid_until": 8}, False),
        ({"valid_from": 5, "valid_until": 12}, {"valid_from": 0, "valid_until": 10}, False),
        ({"valid_from": 10, "valid_until": 12}, {"valid_until": 10}, False),
        ({"scope": "session", "session": "s"}, {}, False),
        ({"scope": "session", "session": "s"}, {"scope": "session", "session": "s"}, True),
        ({"scope": "session", "session": "s"}, {"scope": "session", "session": "t"}, False),
        ({"scope": "temporal"}, {}, False),
    ],
)
def test_the_same_claim_says_all_of_it(new, known, same):
    from rawkomem.model.values import replace

    assert same_claim(replace(A, **new), replace(A, **known), {}) is same


def test_the_window_of_a_claim_is_the_memory_s():
    of = memory("A", validFrom="2024-01-01", validUntil="2024-06-01")
    assert (of.valid_from, of.valid_until) == (day("2024-01-01"), day("2024-06-01"))
    ended = after(
        of, [Entry(kind="validity", about=of.id, at=NOW, extra={"validUntil": "2024-03-01"}, given=("validUntil",))]
    )
    assert claim_of(ended).valid_until == day("2024-03-01")


def test_what_ended_before_is_no_rival():
    old = memory("A", "user_explicit", at=day("2024-01-01"), validUntil="2024-06-01")
    plan = plan_claim(entry("B", "inference"), [old], {}, trust)
    assert stored_outcome(plan.entries).what == "stored"


def outcome(new: Entry, others, rules=None, on_conflict="quarantine"):
    return stored_outcome(plan_claim(new, others, read_registry({"plan": rules or {}}), trust, on_conflict).entries)


def test_outcomes():
    low, high = memory("A", "inference"), memory("A", "user_explicit")
    assert outcome(entry("B", "document"), [low]).what == "superseded"
    held = outcome(entry("B", "document"), [high])
    assert (held.what, held.others, held.reason) == ("quarantined", ("mem_A",), "trust_insufficient")
    assert outcome(entry("B", "document"), [high], on_conflict="keep_active").what == "conflict"
    assert outcome(entry("B"), [low], {"conflictPolicy": "keep_both"}).what == "kept_both"
    assert (
        outcome(entry("B", "user_explicit"), [low], {"conflictPolicy": "require_review"}).reason
        == "predicate_requires_review"
    )
    assert outcome(entry("A", id="mem_2"), [low]).id == "mem_A"
    assert outcome(entry("A", id="mem_2"), [low], {"dedupPolicy": "store"}).what == "stored"


def test_all_rivals_are_superseded_or_none():
    others = [memory("A", "inference"), memory("C", "user_explicit")]
    assert outcome(entry("B", "document"), others).others == ("mem_A", "mem_C")
    assert outcome(entry("B", "document"), others).what == "quarantined"
    assert outcome(entry("B", "user_explicit"), others).what == "superseded"


def test_a_claim_in_quarantine_is_not_piled_up():
    held = memory("B", "inference")
    held = after(held, [Entry(kind="quarantine", about=held.id, at=NOW, extra={"reason": "x"})])
    others = [memory("A", "user_explicit"), held]
    assert outcome(entry("B", "inference", id="mem_2"), others) == outcome(entry("B", id="mem_3"), others)
    assert outcome(entry("B", "inference", id="mem_2"), others).id == "mem_B"
    assert outcome(entry("B", "user_explicit", id="mem_2"), others).what == "superseded"
