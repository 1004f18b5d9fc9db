"""Trust: what a standing allows, what a file may say about itself, and who counts as another source."""

from time import process_time

import pytest
from rawkomem.model.entries import Entry, Memory
from rawkomem.state.fold import fold
from rawkomem.state.trust import (
    AGENT,
    BASE_TRUST,
    PERSON,
    UNCOMMITTED,
    UNKNOWN,
    Standing,
    claimed_source,
    explain_trust,
    limited_by_sources,
    standing_of,
    standing_of_entry,
    trust_of,
)

DAY = 86_400_000
NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("commit", "arrival", "allowed", "verified"),
    [
        (PERSON, "", "user_explicit", True),
        (PERSON, "import", "user_explicit", True),
        (UNCOMMITTED, "person", "user_explicit", True),
        (AGENT, "", "inference", False),
        (UNCOMMITTED, "", "inference", False),
        (UNCOMMITTED, "agent", "inference", False),
        (UNCOMMITTED, "tool_output", "tool_output", False),
        (UNCOMMITTED, "user_explicit", "user_explicit", False),
        (UNCOMMITTED, "import", "document", False),
        (UNKNOWN, "", "document", False),
        (UNKNOWN, "person", "user_explicit", True),
        (UNKNOWN, "distilled", "inference", False),
        (UNKNOWN, "forged", "document", False),
    ],
)
def test_what_a_standing_allows(commit, arrival, allowed, verified):
    standing = standing_of_entry(commit, arrival)
    assert (standing.allowed, standing.verified) == (allowed, verified)
    assert standing.why


@pytest.mark.parametrize("claimed", [*BASE_TRUST, "", "god"])
@pytest.mark.parametrize("allowed", BASE_TRUST)
def test_a_files_own_word_never_raises(claimed, allowed):
    silent = Memory("m", created=NOW)
    says = Memory("m", created=NOW, extra={"provenance": {"source": claimed}})
    standing = Standing(allowed, "so")
    assert trust_of(says, standing, NOW) <= trust_of(silent, standing, NOW) == BASE_TRUST[allowed]
    if BASE_TRUST.get(claimed, 1.0) < BASE_TRUST[allowed]:
        assert trust_of(says, standing, NOW) == BASE_TRUST[claimed]


def test_the_parts_add_up():
    memory = Memory("m", created=NOW - 100 * DAY, corroborations=2, reinforcements=1, disputes=3)
    trust = explain_trust(memory, Standing("document", "so"), NOW)
    assert trust.value == pytest.approx(sum(amount for _, amount, _ in trust.parts))
    assert [name for name, _, _ in trust.parts] == ["source", "confirmed", "votes", "age"]
    assert "document: so" in trust.parts[0][2]
    below = limited_by_sources(trust, 0.2)
    assert below.value == 0.2 == pytest.approx(sum(amount for _, amount, _ in below.parts))
    assert limited_by_sources(trust, 1.0) is limited_by_sources(trust, 0.99) is trust


CREATE = Entry(id="m", title="T", at=1, by="developer")


def about(kind: str, at: int, by: str = "", **extra: str) -> Entry:
    return Entry(kind=kind, id=f"{kind}-{at}", about="m", at=at, by=by, extra=extra)


def folded(*entries: Entry) -> Memory:
    memory = fold([CREATE, *entries])
    assert memory is not None
    return memory


def test_each_other_source_confirms_once():
    said = [about("corroborate", n, by) for n, by in enumerate(("tester", "tester", "Tester", "planner"), 2)]
    assert folded(*said).corroborations == 2
    assert folded(*said, about("corroborate", 9, "developer")).corroborations == 2  # who found it is no other source
    sessions = [about("corroborate", n, session=name) for n, name in enumerate(("s1", "s1", "s2", ""), 2)]
    assert folded(*sessions).corroborations == 3


def test_the_weakest_words_count_and_a_later_review_covers_them():
    good, bad = standing_of_entry(PERSON, ""), standing_of_entry(UNCOMMITTED, "")
    amended = folded(about("amend", 5))
    assert amended.amended_in == ("amend-5",)
    assert standing_of(amended, {"m": good, "amend-5": good}).verified
    assert standing_of(amended, {"m": good, "amend-5": bad}) == bad
    assert not standing_of(amended, {"m": good}).verified  # an entry of which nothing is known
    reviewed = folded(about("amend", 5), about("review", 6, action="activate"))
    assert standing_of(reviewed, {"m": bad, "amend-5": bad, "review-6": good}).verified
    assert not standing_of(reviewed, {"m": bad, "amend-5": bad, "review-6": bad}).verified
    later = folded(about("review", 4, action="activate"), about("amend", 5))
    assert not standing_of(later, {"m": bad, "amend-5": bad, "review-4": good}).verified
    rejected = folded(about("review", 4, action="activate"), about("review", 6, action="reject"))
    assert rejected.reviewed_in == ()


def test_odd_claims_are_no_claims():
    for odd in ("user_explicit", ["user_explicit"], {"source": ["system"]}, {"from": "system"}):
        assert claimed_source({"provenance": odd}) == ""


MAX_CPU_S = 2.0  # of `trust` over a pile that took 33 s when each path was walked


@pytest.mark.time
def test_a_deep_pile_of_derived_memories_is_looked_up_once_each(memories, repository):
    """Nine layers of five memories, each made from all five below: two million paths, 45 memories."""
    for layer in range(9):
        for place in range(5):
            below = ", ".join(f"m{layer - 1}-{other}" for other in range(5)) if layer else ""
            text = f"---\nid: m{layer}-{place}\ntitle: M {layer} {place}\nderivedFrom: [{below}]\n---\n\ntext\n"
            (memories / f"m{layer}-{place}.md").write_text(text, encoding="utf-8")
    repository.sync()
    top = repository.get("m8-0")
    before = process_time()
    assert 0 < repository.beliefs.trust(top).value < 1
    assert process_time() - before < MAX_CPU_S
