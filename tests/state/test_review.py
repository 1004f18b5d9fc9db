"""Disputes, quarantines and reviews as pure decisions: what is planned for a memory, and what is refused."""

import pytest
from rawkomem.model.entries import Entry, Memory, Plan
from rawkomem.model.errors import BadInput, Refused
from rawkomem.model.values import replace
from rawkomem.state.fold import (
    Review,
    after,
    deciding,
    imported_state,
    imported_status_entries,
    imported_votes_and_links,
    is_by_hand,
    plan_decide,
    plan_dispute,
    plan_quarantine,
    plan_quarantined,
    plan_restore,
    plan_review,
    quarantining,
)

MEMORY = Memory("m", title="M", path="memories/m.md", updated=5)
HELD = replace(MEMORY, status="quarantined")
LEFT = "as it stood where it was imported from"


def trusted(value: float):
    return lambda memory: value


def planned(entries: Plan | list[Entry]) -> list[tuple]:
    """What each entry says: its kind, the memory, and its keys. All have an author, a place and a time."""
    found = [*entries.entries] if isinstance(entries, Plan) else entries
    assert all(entry.by == "ada" and entry.id and entry.at > 5 for entry in found)
    assert len({entry.id for entry in found}) == len(found)
    return [
        (entry.kind, entry.about, {key: entry.extra[key] for key in entry.extra if key != "replaces"})
        for entry in found
    ]


@pytest.mark.parametrize(
    ("status", "trust", "outcome"),
    [("active", 0.29, "disputed"), ("active", 0.3, ""), ("active", 0.9, ""), ("archived", 0.1, "")],
)
def test_a_dispute_records_that_trust_is_too_low(status, trust, outcome):
    plan = plan_dispute(replace(MEMORY, status=status), "why", "ada", trusted(trust))
    assert planned(plan) == [("dispute", "m", {"reason": "why", **({"outcome": outcome} if outcome else {})})]


def test_a_dispute_counts_itself():
    falling = plan_dispute(MEMORY, "", "ada", lambda memory: 0.5 - memory.disputes)
    assert planned(falling) == [("dispute", "m", {"outcome": "disputed"})]


def test_only_a_memory_in_use_is_quarantined_by_hand():
    assert planned(plan_quarantine(MEMORY, "", "ada")) == [("quarantine", "m", {"reason": "manual", "cause": "manual"})]
    assert planned(plan_quarantine(MEMORY, "why", "ada")) == [("quarantine", "m", {"reason": "why", "cause": "manual"})]
    with pytest.raises(Refused) as failure:
        plan_quarantine(HELD, "", "ada")
    assert failure.value.in_full == "m is quarantined: only active memories can be quarantined (nothing to do)"


@pytest.mark.parametrize(
    ("extra", "by_hand"),
    [
        ({"cause": "manual", "reason": "x"}, True),
        ({"reason": "manual"}, True),
        ({"reason": "trust"}, False),
        ({}, False),
    ],
)
def test_a_quarantine_by_hand_says_so(extra, by_hand):
    assert is_by_hand(Entry(kind="quarantine", extra=extra)) is by_hand


def test_a_new_memory_is_stored_in_quarantine_with_its_rivals():
    new = Entry(id="n", title="New", at=6, by="ada", path="memories/n.md")
    plan = plan_quarantined(new, "why", "ada", ["m", "o"])
    assert plan.entries[0] is new and plan.why == "hold 'New' for a review"
    assert planned([*plan.entries[1:]]) == [("quarantine", "n", {"reason": "why", "conflictsWith": ["m", "o"]})]
    assert planned([quarantining(MEMORY, "why", "ada")]) == [("quarantine", "m", {"reason": "why"})]


CHANGES = [Entry(kind="amend", id=id, digest=f"{id}-digest-of-the-text") for id in ("one", "two")]
NAMES = ["one@one-digest-of-th", "two@two-digest-of-th"]


def test_a_decision_names_the_changes():
    for accept, key in ((True, "accepts"), (False, "declines")):
        plan = plan_decide(MEMORY, CHANGES, accept, "why", "ada")
        assert planned(plan) == [("review", "m", {"action": "decide", key: NAMES, "reason": "why"})]
    undone = deciding(MEMORY, "undoes", CHANGES[:1], "", "ada")
    assert planned([undone]) == [("review", "m", {"action": "decide", "undoes": NAMES[:1]})]
    with pytest.raises(BadInput):
        deciding(MEMORY, "undoes", CHANGES, "", "a/b")


def reviewing(memory: Memory, *rivals: Memory, settle: str = "", trust=None, **more) -> Review:
    fields = {"reason": "why", "by": "ada", "trust": trust or trusted(0.5), **more}
    return Review(memory, rivals, settle, **fields)


@pytest.mark.parametrize(
    ("memory", "rivals", "is_reviewed"),
    [
        (HELD, [], True),
        (MEMORY, [], False),
        (MEMORY, [Memory("r")], True),
        (replace(MEMORY, vouched=False), [], True),
        (replace(MEMORY, status="archived"), [Memory("r")], False),
        (replace(MEMORY, status="archived", vouched=False), [], False),
    ],
)
def test_what_can_be_reviewed(memory, rivals, is_reviewed):
    review = reviewing(memory, *rivals)
    if is_reviewed:
        assert planned(plan_review(review, "reject")) == [("review", "m", {"action": "reject", "reason": "why"})]
        assert plan_review(review, "activate").entries
        return
    for action in ("reject", "activate"):
        with pytest.raises(Refused) as failure:
            plan_review(review, action)
        assert failure.value.in_full == f"m is {memory.status}: the memory is not quarantined (nothing to review)"


@pytest.mark.parametrize(
    ("action", "settle", "named"),
    [("decide", "", "decide"), ("", "keep_both", "keep_both"), ("activate", "merge", "activate")],
)
def test_an_unknown_review_is_refused(action, settle, named):
    with pytest.raises(BadInput) as failure:
        plan_review(reviewing(HELD, settle=settle), action)
    assert failure.value.in_full == f"unknown review {named!r} (use one of activate, reject)"


@pytest.mark.parametrize(
    "plan", [lambda review: plan_review(review, "activate"), lambda review: plan_restore(review, True)]
)
def test_an_activation_vouches_for_the_text_and_declines_other_changes(plan):
    review = reviewing(HELD, words=CHANGES[:1], others=CHANGES[1:])
    wanted = {"action": "activate", "reason": "why", "accepts": NAMES[:1], "declines": NAMES[1:]}
    assert planned(plan(review)) == [("review", "m", wanted)]
    with pytest.raises(BadInput):
        plan(replace(review, by="a/b"))


@pytest.mark.parametrize(
    ("status", "by_hand", "hint"),
    [
        ("superseded", False, None),
        ("disputed", False, None),
        ("archived", False, None),
        ("deleted", False, None),
        ("quarantined", True, None),
        ("quarantined", False, "use 'rawkomem review'"),
        ("active", False, "nothing to do"),
    ],
)
def test_what_can_be_restored(status, by_hand, hint):
    review = reviewing(replace(MEMORY, status=status))
    if hint is None:
        assert planned(plan_restore(review, by_hand)) == [("review", "m", {"action": "activate", "reason": "why"})]
        return
    with pytest.raises(Refused) as failure:
        plan_restore(review, by_hand) if by_hand else plan_restore(review)
    assert failure.value.in_full == f"m is {status} ({hint})"


ACTIVATED = ("review", "m", {"action": "activate", "reason": "why"})
OPEN = ("review", "m", {"action": "activate", "reason": "why", "conflictsWith": ["r", "s"]})
BOTH = ("link", "m", {"to": ["r", "s"], "type": "keptBoth"})
WINS = [("supersede", id, {"supersededBy": "m", "reason": "why"}) for id in "rs"]


def strong(memory: Memory) -> float:
    return 0.9 if memory.id == "m" else 0.1


def weak(memory: Memory) -> float:
    return 1 - strong(memory)


@pytest.mark.parametrize(
    ("memory", "settle", "trust", "wanted"),
    [
        (HELD, "", strong, [ACTIVATED, *WINS]),
        (HELD, "", weak, [OPEN]),
        (HELD, "supersede", weak, [ACTIVATED, *WINS]),
        (HELD, "keep_both", strong, [ACTIVATED, BOTH]),
        (HELD, "keep_both", weak, [ACTIVATED, BOTH]),
        (MEMORY, "", strong, WINS),
        (MEMORY, "supersede", weak, WINS),
        (MEMORY, "keep_both", weak, [BOTH]),
        (replace(MEMORY, vouched=False), "", weak, [OPEN]),
        (replace(MEMORY, vouched=False), "", strong, [ACTIVATED, *WINS]),
    ],
)
def test_how_a_review_settles_conflicts(memory, settle, trust, wanted):
    plan = plan_review(reviewing(memory, Memory("r"), Memory("s"), settle=settle, trust=trust), "activate")
    assert planned(plan) == wanted


def test_a_supersede_by_a_review_has_a_reason():
    plan = plan_review(reviewing(HELD, Memory("r"), reason="", trust=strong), "activate")
    extra = plan.entries[1].extra
    assert (extra["supersededBy"], extra["reason"]) == ("m", "activated in a review")


def test_a_memory_that_is_trusted_less_than_its_rivals_needs_a_decision():
    with pytest.raises(Refused) as failure:
        plan_review(reviewing(MEMORY, Memory("r"), trust=weak), "activate")
    assert failure.value.in_full == "m is trusted less than its rivals (add --supersede or --keep-both)"


# Memories from another system come with the state they had there; the first review restores it.


def imported(id: str = "m", of: str = "neolata:store.json#1", **state: object) -> Memory:
    extra = {"importedState": state, "importedFrom": of}
    return Memory(id, status="quarantined", title=id, extra=extra, path="memories/m.md", updated=5)


def test_the_imported_state_counts_until_the_first_review():
    memory = imported(status="archived")
    assert imported_state(memory) == {"status": "archived"}
    assert imported_state(replace(memory, status="active")) == {}
    assert imported_state(replace(memory, reviewed_in=("r",))) == {}
    assert imported_state(replace(memory, extra={"importedState": "archived"})) == {}
    assert imported_state(HELD) == {}


VOTE = {"reason": LEFT}


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ({}, []),
        ({"reinforcements": "2", "disputes": 1}, [("reinforce", "m", VOTE)] * 2 + [("dispute", "m", VOTE)]),
        ({"reinforcements": "99"}, [("reinforce", "m", VOTE)] * 10),
        ({"reinforcements": "many", "disputes": "-1"}, []),
        ({"links": {"related": ["a"]}}, [("link", "m", {"to": "a"})]),
        (
            {"links": {"about": ["a", 7], "none": [], "odd": "a", "cause": ["b"]}},
            [("link", "m", {"to": ["a", "7"], "type": "about"}), ("link", "m", {"to": "b", "type": "cause"})],
        ),
        ({"links": ["a"]}, []),
    ],
)
def test_imported_votes_and_links_become_entries(state, wanted):
    entries = imported_votes_and_links(imported(**state), "ada")
    assert planned(entries) == wanted
    assert [entry.at for entry in entries] == sorted({entry.at for entry in entries})  # one after the other


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ({}, []),
        ({"status": "active"}, []),
        ({"status": "superseded", "supersededBy": "n"}, [("supersede", "m", {"supersededBy": "n", "reason": LEFT})]),
        ({"status": "superseded"}, [("archive", "m", {"reason": LEFT, "cause": "housekeeping"})]),
        ({"status": "archived", "supersededBy": "n"}, [("archive", "m", {"reason": LEFT, "cause": "housekeeping"})]),
        ({"status": "archived", "reason": "old"}, [("archive", "m", {"reason": "old", "cause": "housekeeping"})]),
        ({"status": "disputed"}, [("dispute", "m", {"reason": LEFT, "outcome": "disputed"})]),
        ({"status": "quarantined"}, [("quarantine", "m", {"reason": LEFT})]),
        (
            {"status": "quarantined", "conflictsWith": ["a", 7]},
            [("quarantine", "m", {"reason": LEFT, "conflictsWith": ["a", "7"]})],
        ),
        ({"status": "quarantined", "conflictsWith": "a"}, [("quarantine", "m", {"reason": LEFT})]),
    ],
)
def test_the_imported_status_comes_back_with_the_first_review(state, wanted):
    memory = imported(**state)
    assert planned(imported_status_entries(memory, state, "ada")) == wanted
    review = reviewing(memory, Memory("r"), trust=weak)
    if wanted:
        plan = plan_review(review, "activate")
        assert planned(plan) == [ACTIVATED, *wanted]
        status = {"superseded": "superseded" if "supersededBy" in state else "archived"}
        assert after(memory, plan.entries).status == status.get(state["status"], state["status"])
    decided = plan_review(replace(review, settle="supersede"), "activate")  # the reviewer decides otherwise
    assert planned(decided) == [ACTIVATED, WINS[0]]


def test_votes_come_before_the_imported_status():
    plan = plan_review(reviewing(imported(status="archived", disputes=1)), "activate")
    assert [entry.kind for entry in plan.entries] == ["dispute", "review", "archive"]
    assert [entry.at for entry in plan.entries] == sorted({entry.at for entry in plan.entries})


def used(id: str, of: str = "neolata:store.json#2", **state: object) -> Memory:
    return replace(imported(id, of, **state), status="active")


@pytest.mark.parametrize(
    ("memory", "rivals", "wanted"),
    [
        # both were in use in the other system: the review keeps both
        (imported(status="active"), [used("r"), used("s")], [ACTIVATED, BOTH]),
        (imported(status="active"), [used("r")], [ACTIVATED, ("link", "m", {"to": "r", "type": "keptBoth"})]),
        (
            imported(of="neolata:C:/a.json#1", status="active"),
            [replace(used("r", "neolata:D:/b.json#2"), extra={"importedFrom": "neolata:x", "importedState": "odd"})],
            [ACTIVATED, ("link", "m", {"to": "r", "type": "keptBoth"})],
        ),
        # their conflict was open there: it stays open
        (imported(status="active", conflictsWith=["r", "s"]), [used("r"), used("s")], [OPEN]),
        (imported(status="active"), [used("r", conflictsWith=["m"]), used("s", conflictsWith=["m"])], [OPEN]),
        # a rival of this system, or of another one, is settled by trust
        (imported(status="active"), [Memory("r"), Memory("s")], [OPEN]),
        (imported(status="active"), [used("r", "yamo:a.yml#1"), used("s", "yamo:a.yml#2")], [OPEN]),
        (imported(), [Memory("r"), used("s")], [("review", "m", {**ACTIVATED[2], "conflictsWith": ["r", "s"]})]),
        (
            imported(status="active"),
            [Memory("r"), used("s")],
            [("review", "m", {**ACTIVATED[2], "conflictsWith": ["r"]}), ("link", "m", {"to": "s", "type": "keptBoth"})],
        ),
    ],
)
def test_rivals_of_the_same_system_are_kept_as_they_were(memory, rivals, wanted):
    plan = plan_review(reviewing(memory, *rivals, trust=weak), "activate")
    assert planned(plan) == wanted


def test_a_reviewer_decides_over_the_imported_state():
    rivals = (used("r"), used("s"))
    for settle, wanted in (("supersede", [ACTIVATED, *WINS]), ("keep_both", [ACTIVATED, BOTH])):
        plan = plan_review(reviewing(imported(status="active"), *rivals, settle=settle, trust=weak), "activate")
        assert planned(plan) == wanted
