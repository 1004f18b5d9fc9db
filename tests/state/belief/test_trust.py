"""Trust: what a standing allows, what a file may say about itself, and who counts as another source."""

from time import process_time

import pytest
from rawkomem.model.entries import Entry, Memory
from rawkomem.state.fold import fold
from rawkomem.state.trust import (
    AGENT,
    ARRIVALS,
    AUTHORS,
    BASE_TRUST,
    COMMITTED,
    HIDDEN_AUTHOR,
    PERSON,
    REVIEWED,
    UNCOMMITTED,
    UNKNOWN,
    Standing,
    Weak,
    author_state,
    category_of,
    claimed_about,
    claimed_for,
    claimed_source,
    compute_trust,
    derived_from,
    explain_trust,
    facet_of,
    facets_of,
    imported_from,
    is_valid,
    limited_by_sources,
    lowest_trust,
    made_from_exactly,
    memory_by_source,
    reachable,
    session_of,
    sources_in,
    standing_of,
    standing_of_entry,
    trust_amounts,
    trust_of,
    type_of,
    weak_sources,
    with_sources,
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


@pytest.mark.parametrize(
    ("counts", "amounts"),
    [
        (("system", 1, 0, 0, 0), {"source": 0.95, "confirmed": 0, "votes": 0, "age": 0}),
        (("nobody", 1, 0, 0, 0), {"source": 0.5, "confirmed": 0, "votes": 0, "age": 0}),
        (("document", 3, 0, 0, 0), {"source": 0.6, "confirmed": 0.1, "votes": 0, "age": 0}),
        (("document", 9, 0, 0, 0), {"source": 0.6, "confirmed": 0.2, "votes": 0, "age": 0}),
        (("document", 1, 3, 1, 0), {"source": 0.6, "confirmed": 0, "votes": 0.075, "age": 0}),
        (("document", 1, 0, 1, 0), {"source": 0.6, "confirmed": 0, "votes": -0.15, "age": 0}),
        (("document", 1, 0, 0, 73), {"source": 0.6, "confirmed": 0, "votes": 0, "age": -0.02}),
        (("document", 1, 0, 0, 800), {"source": 0.6, "confirmed": 0, "votes": 0, "age": -0.1}),
    ],
)
def test_trust_is_the_sum_of_origin_confirmations_votes_and_age(counts, amounts):
    assert trust_amounts(*counts) == pytest.approx(amounts)
    assert compute_trust(*counts) == pytest.approx(sum(amounts.values()))


def test_trust_is_between_0_and_1():
    assert compute_trust("user_explicit", 5, 5, 0, 0) == 1.0
    assert compute_trust("unknown", -20, 0, 5, 800) == 0.0


def test_every_part_of_trust_has_a_reason_and_parts_of_nothing_are_left_out():
    standing = Standing("user_explicit", "typed")
    assert explain_trust(Memory("m"), standing, NOW).parts == (("source", 1.0, "user_explicit: typed"),)
    assert explain_trust(Memory("m", created=NOW + DAY), standing, NOW).value == 1.0  # a clock that was wrong
    claims = {"provenance": {"source": "document"}}
    old = Memory("m", created=NOW - 73 * DAY, corroborations=1, reinforcements=3, disputes=1, extra=claims)
    found = explain_trust(old, standing, NOW)
    assert (found.source, found.standing) == ("document", standing)
    assert [(name, pytest.approx(amount), why) for name, amount, why in found.parts] == [
        ("source", 0.6, "document: typed; it declares document"),
        ("confirmed", 0.05, "by 1 others"),
        ("votes", 0.075, "3 reinforced, 1 disputed"),
        ("age", -0.02, "73 days"),
    ]
    assert explain_trust(Memory("m", extra=claims), Standing("document", "typed"), NOW).parts[0][2] == "document: typed"


def test_a_derived_memory_is_trusted_as_its_least_trusted_source():
    trust = explain_trust(Memory("m"), Standing("document", "so"), NOW)
    assert limited_by_sources(trust, 0.6) is trust
    assert limited_by_sources(trust, 0.25).parts[1:] == (
        ("derived", pytest.approx(-0.35), "no more than the least trusted of its sources"),
    )
    graph = {"a": (0.9, ["b", "c"]), "b": (0.4, ["a"]), "c": (0.7, [])}
    assert lowest_trust(["a"], graph.__getitem__) == 0.4
    assert lowest_trust(["c"], graph.__getitem__) == 0.7
    assert lowest_trust([], graph.__getitem__) == 1.0


def test_the_weakest_entry_of_a_text_decides_its_standing():
    person, said, document = (standing_of_entry(*origin) for origin in ((PERSON, ""), (UNKNOWN, "said"), (UNKNOWN, "")))
    three = Memory("m", amended_in=("one", "two"))
    assert standing_of(three, {"m": person, "one": said, "two": document}) == document
    assert standing_of(three, {"m": document, "one": person, "two": person}) == document
    declared = Standing("user_explicit", "declared")  # a high class that nobody verified is weaker than a person
    assert standing_of(three, {"m": person, "one": declared, "two": person}) == declared
    assert standing_of(three, {"m": person, "one": person}) == Standing()
    reviewed = Memory("m", amended_in=("one",), reviewed_in=("gone", "by-agent", "by-person"))
    assert standing_of(reviewed, {"m": document, "by-agent": document, "by-person": person}) == REVIEWED


def test_how_an_entry_arrived_says_why_it_is_trusted():
    assert standing_of_entry(UNCOMMITTED, "said") == ARRIVALS["said"] and ARRIVALS["said"].said
    assert standing_of_entry(PERSON, "tool_output") == standing_of_entry(PERSON, "said") == COMMITTED[PERSON]
    assert standing_of_entry(AGENT, "system").why == "declared as system on this machine"


@pytest.mark.parametrize("source", BASE_TRUST)
def test_a_known_class_is_read_from_a_file(source):
    assert claimed_source({"provenance": {"source": source}}) == source
    assert claimed_source({"provenance": {}}) == claimed_source({}) == ""


@pytest.mark.parametrize(
    ("author", "state"),
    [
        ("Ada <ada@example.org>", PERSON),
        ("", UNCOMMITTED),
        (HIDDEN_AUTHOR, UNKNOWN),
        ("renovate[bot] <1+renovate@users.noreply.github.com>", AGENT),
        ("Claude <NoReply@Anthropic.com>", AGENT),
        ("Ada (aider) <ada@example.org>", AGENT),
        ("Ada <ada@example.org>\tClaude <noreply@anthropic.com>", AGENT),  # an agent amended a person's commit
        ("Claude <noreply@anthropic.com>\tAda <ada@example.org>", AGENT),
        ("Ada <ada@example.org>\tBob <bob@example.org>", PERSON),
        (AUTHORS.join(["Claude <noreply@anthropic.com>", "Ada <ada@example.org>"]), PERSON),
        (AUTHORS.join(["Claude <noreply@anthropic.com>", HIDDEN_AUTHOR]), AGENT),
        (AUTHORS.join([HIDDEN_AUTHOR, HIDDEN_AUTHOR]), UNKNOWN),
        ("noreply@anthropic.com", AGENT),
        ("Ada noreply@anthropic.com.org <ada@example.org>", PERSON),
    ],
)
def test_who_is_a_person(author, state):
    assert author_state(author) == state


def test_the_patterns_of_agents_are_those_of_the_repository():
    patterns = ("Build Robot", "ops@example.org", "*@CI.example.org", "what?")
    assert author_state("Build Robot <b@example.org>", patterns) == AGENT
    assert author_state("Ops <team <ops@example.org>", patterns) == AGENT
    assert author_state("Robo <robo@ci.example.org>", patterns) == AGENT
    assert author_state(AUTHORS.join(["Robo <robo@ci.example.org>"] * 2), patterns) == AGENT
    assert author_state("Claude <noreply@anthropic.com>", patterns) == PERSON
    assert author_state("whats <a@example.org>", patterns) == PERSON  # only * is special
    assert author_state("What? <a@example.org>", patterns) == AGENT


@pytest.mark.parametrize(
    ("window", "at", "valid"),
    [
        ((0, 0), 5, True),
        ((5, 0), 5, True),
        ((6, 0), 5, False),
        ((0, 5), 5, False),
        ((0, 6), 5, True),
        ((5, 6), 5, True),
        ((7, 9), 5, False),
    ],
)
def test_windows_are_half_open(window, at, valid):
    assert is_valid(Memory("m", valid_from=window[0], valid_until=window[1]), at) is valid


@pytest.mark.parametrize(
    ("extra", "type", "category", "session"),
    [
        ({}, "", "", ""),
        ({"type": "Decision", "category": " Fact ", "session": "S1"}, "decision", "fact", "S1"),
        ({"memory_type": "learning", "session_id": "s2"}, "learning", "", "s2"),
        ({"type": "none", "memoryType": ["", "Gotcha", "other"]}, "gotcha", "", ""),
        ({"type": {"a": "b"}, "category": [["x"], "y"]}, "", "y", ""),
        ({"session": "s3", "claim": {"scope": "session", "session": "s4"}}, "", "", "s4"),
        ({"session": "s3", "claim": {"scope": "session", "sessionId": "s4"}}, "", "", "s4"),
        ({"session": "s3", "claim": {"scope": "session"}}, "", "", "s3"),
        ({"session": "s3", "claim": {"scope": "global", "session": "s4"}}, "", "", "s3"),
        ({"session": "s3", "claim": "session"}, "", "", "s3"),
    ],
)
def test_facets_are_read_under_all_their_names(extra, type, category, session):
    memory = Memory("m", extra=extra)
    assert (type_of(memory), category_of(memory), session_of(memory)) == (type, category, session)


@pytest.mark.parametrize(
    ("claim", "session", "about"),
    [
        ({"subject": "user", "predicate": "plan", "scope": "session", "session": "s1"}, "s1", ("user", "plan")),
        ({"subject": "user", "predicate": "plan", "session": "s1"}, "", ("user", "plan")),
        ({}, "", ("", "")),
        ("user", "", None),
        (None, "", None),
    ],
)
def test_what_a_claim_is_about(claim, session, about):
    memory = Memory("m", extra={"claim": claim} if claim is not None else {})
    assert (claimed_for(memory), claimed_about(memory)) == (session, about)


def test_all_facets_of_a_memory():
    memory = Memory(
        "m", kind="lesson", status="archived", title="Use PostgreSQL", importance="critical", created=7, tags=("db",),
        by="ada", extra={"type": "decision", "category": "fact", "session": "s1", "entities": ["Pay"]}, vouched=False,
    )  # fmt: skip
    found = facets_of(memory)
    assert (found.id, found.kind, found.status, found.created, found.tags, found.by) == (
        "m", "lesson", "archived", 7, ("db",), "ada",
    )  # fmt: skip
    assert (found.type, found.category, found.session) == ("decision", "fact", "s1")
    assert (found.importance, found.vouched) == (3, 0)
    assert found.entities == ("pay",)
    assert facet_of(memory, "title") == "Use PostgreSQL"


@pytest.mark.parametrize(
    ("named", "place"),
    [
        ("claude:CLAUDE.md#Rules", "CLAUDE.md#Rules"),
        ("claude:notes.md#a: b", "notes.md#a: b"),
        ("notes.md", ""),
        (None, ""),
    ],
)
def test_where_a_memory_was_imported_from(named, place):
    assert imported_from(Memory("m", extra={"importedFrom": named} if named else {})) == place


def test_sources_are_read_from_the_frontmatter_and_from_heritage():
    made = with_sources(Entry(title="T", extra={"type": "fact"}), ["a", "b", "a"])
    assert made.extra == {"type": "fact", "derivedFrom": ["a", "b"]}
    assert sources_in({"derivedFrom": "one"}) == ("one",)
    assert sources_in({"derivedFrom": ["a", "", 7]}) == ("a", "7")
    assert sources_in({}) == sources_in({"derivedFrom": ""}) == ()
    assert derived_from(Memory("m", extra=made.extra, heritage=("b", "c"))) == ("a", "b", "c")


def derived(id: str, *sources: str, **fields) -> Memory:
    return Memory(id, extra={"derivedFrom": [*sources]}, **fields)


def test_memories_are_found_by_their_sources():
    digest, lesson = derived("digest", "a", "b"), derived("lesson", "c", kind="lesson", status="archived")
    deleted = derived("deleted", "d", status="deleted")
    memories = [digest, lesson, deleted]
    assert memory_by_source(memories) == {"a": digest, "b": digest, "c": lesson}
    assert memory_by_source(memories, "lesson") == {"c": lesson}
    assert memory_by_source(memories, "skill") == {}
    assert made_from_exactly([digest, lesson], [Memory("b"), Memory("a")]) == [digest]
    assert made_from_exactly([digest], [Memory("a")]) == []
    assert made_from_exactly([lesson], [Memory("c")]) == []  # archived
    assert made_from_exactly([Memory("m")], []) == []


@pytest.mark.parametrize(
    ("source", "why", "holds_back"),
    [
        ({}, "", False),
        ({"status": "deleted"}, "deleted", True),
        ({"status": "quarantined"}, "quarantined", True),
        ({"status": "disputed"}, "disputed", True),
        ({"status": "superseded"}, "superseded", False),
        ({"status": "archived"}, "", False),
        ({"status": "archived", "retracted": True}, "retracted", True),
        ({"status": "archived", "valid_until": 5}, "", False),
        ({"valid_until": 10}, "ended", False),
        ({"valid_until": 11}, "", False),
        ({"valid_from": 11}, "", False),  # not yet valid: nothing ended
        ({"valid_from": 10}, "", False),
        ({"valid_from": 10, "valid_until": 10}, "ended", False),
        ({"status": "deleted", "kind": "trace"}, "deleted", False),
        ({"status": "deleted", "vouched": False}, "deleted", False),
    ],
)
def test_what_makes_a_source_weak(source, why, holds_back):
    known = {"source": Memory("source", **source)}
    wanted = (Weak("source", why, holds_back),) if why else ()
    assert weak_sources(derived("m", "source", "gone"), known.get, 10) == wanted


def test_weak_sources_are_found_at_any_depth_once_and_hold_back_by_who_vouches():
    known = {
        "a": derived("a", "b", "c"),
        "b": derived("b", "c", "a", status="superseded"),
        "c": derived("c", "a", status="deleted", vouched=False),
    }
    assert weak_sources(derived("m", "a"), known.get, 10) == (
        Weak("b", "superseded", False),
        Weak("c", "deleted", False),
    )
    unvouched = derived("m", "a", vouched=False)
    assert weak_sources(unvouched, known.get, 10)[1] == Weak("c", "deleted", True)
    assert [*reachable(["a"], lambda id: derived_from(known[id]))] == ["a", "b", "c"]
