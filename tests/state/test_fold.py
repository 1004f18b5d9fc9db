"""State is a fold: the order of arrival cannot matter."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Entry, Memory
from rawkomem.model.values import CHANGES, replace
from rawkomem.state.changes import plan_amend
from rawkomem.state.fold import (
    REGISTRY,
    FoldTogether,
    Split,
    after,
    fold,
    fold_proposed,
    in_fold_order,
    new_memory,
    reviewed_name,
    split_changes,
)
from rawkomem.state.plans import ChangeKind, value_name

CREATE = Entry(id="m", title="T", body="one", at=10, tags=("a",), path="memories/m.md", line=1)


def change(kind: str, at: int, id: str = "", **fields: object) -> Entry:
    return Entry(kind=kind, about="m", at=at, id=id or f"{kind}_{at}", **fields)  # type: ignore[arg-type]


def test_every_kind_of_change_is_registered():
    assert {*REGISTRY} == {*CHANGES}
    for kind in CHANGES:
        assert isinstance(REGISTRY[kind], ChangeKind) and REGISTRY[kind].tell(change(kind, 5))


ENTRIES = st.lists(
    st.builds(
        change,
        st.sampled_from([*CHANGES]),
        st.integers(1, 6),
        id=st.sampled_from(["", "same", "x#2", "x#10"]),
        title=st.sampled_from(["", "T2", "T3"]),
        body=st.sampled_from(["", "two"]),
        given=st.sampled_from([(), ("title",), ("tags",)]),
        extra=st.sampled_from(
            [
                {},
                {"signal": "helpful"},
                {"action": "activate"},
                {"action": "reject"},
                {"supersededBy": "n"},
                {"to": "x"},
            ]
        ),
    ),
    max_size=12,
)


@given(ENTRIES, st.integers())
def test_order_of_arrival_does_not_matter(changes, seed):
    entries = [CREATE, *changes]
    shuffled = entries[:]
    random.Random(seed).shuffle(shuffled)
    assert fold(shuffled) == fold(entries)


@given(ENTRIES, ENTRIES)
def test_two_branches_merge_to_the_same_memory_in_either_order(ours, theirs):
    assert fold([CREATE, *ours, CREATE, *theirs]) == fold([CREATE, *theirs, CREATE, *ours])


def together(*entries: Entry) -> dict[str, tuple[str, str]]:
    """The status and the replacement of each memory."""
    about = {id: [entry for entry in entries if entry.target == id] for id in {entry.target for entry in entries}}
    folding = FoldTogether(lambda id: about.get(id, ()))
    memories = (folding.memory(id) for id in sorted(about))
    return {memory.id: (memory.status, memory.superseded_by) for memory in memories if memory}


def superseded(old: str, new: str, at: int) -> Entry:
    return Entry(kind="supersede", id=f"supersede_{old}_{at}", about=old, at=at, extra={"supersededBy": new})


def about(id: str, kind: str, at: int, **extra: str) -> Entry:
    return Entry(kind=kind, id=f"{kind}_{id}_{at}", about=id, at=at, extra=extra)


A, B, C = (Entry(id=id, title=id, at=1) for id in "abc")


def test_the_latest_of_two_that_supersede_each_other_wins():
    assert together(A, B, superseded("a", "b", 5), superseded("b", "a", 6)) == {
        "a": ("active", ""),
        "b": ("superseded", "a"),
    }
    assert together(A, B, superseded("a", "b", 6), superseded("b", "a", 5)) == {
        "a": ("superseded", "b"),
        "b": ("active", ""),
    }
    tie = together(A, B, superseded("a", "b", 5), superseded("b", "a", 5))
    assert tie == {"a": ("active", ""), "b": ("superseded", "a")}


def test_in_a_longer_cycle_only_the_earliest_has_no_effect():
    cycle = (superseded("a", "b", 6), superseded("b", "c", 5), superseded("c", "a", 7))
    assert together(A, B, C, *cycle) == {"a": ("superseded", "b"), "b": ("active", ""), "c": ("superseded", "a")}
    assert together(A, superseded("a", "a", 5)) == {"a": ("active", "")}


def test_a_memory_is_in_use_again_when_its_replacement_is_not():
    for put_away in (
        about("b", "delete", 6),
        about("b", "archive", 6),
        about("b", "quarantine", 6),
        about("b", "dispute", 6, outcome="disputed"),
    ):
        assert together(A, B, superseded("a", "b", 5), put_away)["a"] == ("active", ""), put_away.kind
    assert together(A, superseded("a", "b", 5)) == {"a": ("active", "")}  # purged
    back = (about("b", "delete", 6), about("b", "review", 7, action="activate"))
    assert together(A, B, superseded("a", "b", 5), *back)["a"] == ("superseded", "b")


def test_a_replacement_that_was_replaced_itself_counts_by_its_own_replacement():
    chain = (superseded("a", "b", 5), superseded("b", "c", 6), about("b", "archive", 7))
    assert together(A, B, C, *chain)["a"] == ("superseded", "b")
    assert together(A, B, C, *chain, about("c", "delete", 8)) == {
        "a": ("active", ""),
        "b": ("archived", ""),
        "c": ("deleted", ""),
    }


def test_what_was_decided_before_a_supersede_without_effect_still_counts():
    held = about("a", "quarantine", 4)
    assert together(A, B, held, superseded("a", "b", 5), about("b", "delete", 6))["a"] == ("quarantined", "")
    both = (held, about("b", "quarantine", 6), superseded("a", "b", 5))  # as an import writes them: both wait
    assert together(A, B, *both)["a"] == ("superseded", "b")
    assert together(A, B, *both, about("b", "review", 7, action="reject"))["a"] == ("quarantined", "")
    doubted = [about("a", "dispute", at) for at in (6, 7, 8)]
    assert together(A, B, superseded("a", "b", 5), *doubted, about("b", "delete", 9))["a"] == ("disputed", "")


def test_a_memory_is_in_use_again_if_its_replacements_wait_for_a_review():
    waiting = (about("b", "quarantine", 4), superseded("b", "c", 6), about("c", "quarantine", 7))
    assert together(A, B, C, superseded("a", "b", 5), *waiting) == {
        "a": ("active", ""),
        "b": ("superseded", "c"),
        "c": ("quarantined", ""),
    }


def test_memories_that_supersede_one_another_are_folded_by_who_vouches():
    entries = [A, B, superseded("a", "b", 5), about("b", "quarantine", 4), about("a", "quarantine", 3)]
    mine = [replace(entry, by="ada") for entry in entries]
    folding = FoldTogether(lambda id: [entry for entry in mine if entry.target == id], vouches)
    first, again = folding.memory("a"), folding.memory("a")
    assert first == again and (first.status, first.vouched) == ("superseded", True)
    theirs = [replace(A, by="ada"), replace(B, by="ada"), replace(superseded("a", "b", 5), by="bot")]
    folding = FoldTogether(lambda id: [entry for entry in theirs if entry.target == id], vouches)
    kept = folding.memory("a")
    assert (kept.status, kept.proposed) == ("active", ("supersede_a_5",))
    assert folding.memory("unknown") is None


def test_a_list_is_changed_one_by_one():
    memory = fold([CREATE])
    given = {"tags": ("a", "x"), "when": ("kafka",), "given": ("tags", "whenToUse")}
    (ours,) = plan_amend(memory, Entry(**given), one_by_one=True).entries
    assert (ours.extra, ours.given) == ({"tagsAdded": ["x"], "whenToUseAdded": ["kafka"]}, ())
    (theirs,) = plan_amend(memory, Entry(tags=("y",), given=("tags",)), one_by_one=True).entries
    assert theirs.extra == {"tagsAdded": ["y"], "tagsRemoved": ["a"]}
    both = fold([CREATE, ours, theirs])
    assert ({*both.tags}, both.when, both.extra) == ({"x", "y"}, ("kafka",), {})
    assert REGISTRY["amend"].tell(theirs) == "added tags: y, removed tags: a"
    (whole,) = plan_amend(memory, Entry(tags=("z",), given=("tags",))).entries
    assert fold([CREATE, whole]).tags == ("z",)
    (again,) = plan_amend(memory, Entry(tags=("a",), given=("tags",)), one_by_one=True).entries
    assert again.extra == {"tagsAdded": ["a"]}  # as a retry writes it: no effect


# A memory with later entries applied equals the fold of all its entries
@given(st.lists(st.sampled_from(["helpful", "harmful", "amend", "archive", "link", "dispute"]), max_size=8), st.data())
def test_a_continued_fold_is_the_fold_of_all(kinds, data):
    made = [Entry(id="m", title="M", body="B", at=1)]
    for at, kind in enumerate(kinds, 2):
        vote = kind in ("helpful", "harmful")
        said = {"signal": kind} if vote else {"links": ["x"], "type": "about"} if kind == "link" else {"reason": "r"}
        given_keys = ("title",) if kind == "amend" else ()
        what = {"kind": "feedback" if vote else kind, "id": f"e{at}", "about": "m", "at": at, "extra": said}
        made.append(Entry(title=f"T{at}" if kind == "amend" else "", given=given_keys, **what))
    cut = data.draw(st.integers(1, len(made)))
    assert after(fold(made[:cut]), made[cut:]) == fold(made)


# Who vouches: ada is a person, bot is an agent.


def vouches(entry: Entry) -> bool:
    return entry.by == "ada"


def by(who: str, kind: str, at: int, **fields: object) -> Entry:
    """A change by somebody; its digest names its text, as the reader of a file sets it."""
    fields = {"digest": f"{kind}-{at}-by-{who}-of-the-text", **fields}
    return change(kind, at, by=who, **fields)


def review(who: str, at: int, **named: Entry | list[Entry]) -> Entry:
    """A review that accepts, declines or undoes entries."""
    lists = {key: entries if isinstance(entries, list) else [entries] for key, entries in named.items()}
    return by(who, "review", at, extra={key: [*map(reviewed_name, entries)] for key, entries in lists.items()})


MINE = replace(CREATE, by="ada", digest="the-digest-of-the-memory", given=("id",))
THEIRS = replace(MINE, by="bot")


def test_a_review_names_an_entry_by_its_id_and_the_start_of_its_digest():
    assert reviewed_name(Entry(id="x", digest="0123456789abcdef0123")) == "x@0123456789abcdef"


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("signal", ["helpful", "harmful"])
def test_a_change_of_an_agent_waits_for_a_review_if_it_decides_something(kind, signal):
    said = by("bot", kind, 20, title="Other", body="Other", given=("title",), extra={"signal": signal, "to": "x"})
    decides = kind in {"amend", "dispute", "supersede", "quarantine", "review", "validity", "archive", "delete"}
    waits = decides or (kind == "feedback" and signal == "harmful")
    found = fold([MINE, said], vouches)
    assert found == replace(fold([MINE], vouches), proposed=(said.id,) if waits else ())
    assert found.vouched and found.entries == 1


def test_changes_of_agents_count_for_a_memory_of_an_agent_until_a_person_decides():
    early = by("bot", "amend", 20, body="early")
    mine = by("ada", "amend", 30, body="mine")
    late = by("bot", "amend", 40, body="late")
    vote = by("bot", "feedback", 50, extra={"signal": "helpful"})
    alone = fold([THEIRS, early, late], vouches)
    assert (alone.body, alone.vouched, alone.proposed) == ("late", False, ())
    both = fold([THEIRS, early, mine, late, vote], vouches)
    assert (both.body, both.vouched, both.proposed, both.helpful) == ("mine", False, (late.id,), 1)
    trusting = fold([THEIRS, early, mine, late, vote])  # every entry is a person's
    assert (trusting.body, trusting.vouched, trusting.proposed) == ("late", True, ())


def test_a_person_who_accepts_the_first_entry_vouches_for_the_memory():
    change = by("bot", "archive", 30)
    accepted = fold([THEIRS, review("ada", 20, accepts=THEIRS), change], vouches)
    assert (accepted.vouched, accepted.status, accepted.proposed) == (True, "active", (change.id,))
    edited = replace(THEIRS, digest="another-text-since-then")
    assert not fold([edited, review("ada", 20, accepts=THEIRS)], vouches).vouched
    assert not fold([THEIRS, review("bot", 20, accepts=THEIRS)], vouches).vouched


PROPOSED = by("bot", "amend", 20, title="Proposed", given=("title",))
DECIDED = by("ada", "archive", 21)
ACCEPT, DECLINE = review("ada", 30, accepts=PROPOSED), review("ada", 31, declines=PROPOSED)
UNDO = review("ada", 40, undoes=ACCEPT)


@pytest.mark.parametrize(
    ("reviews", "counting", "proposed", "declined", "undone"),
    [
        ([], [DECIDED], [PROPOSED], [], []),
        ([ACCEPT], [PROPOSED, DECIDED, ACCEPT], [], [], []),
        ([DECLINE], [DECIDED, DECLINE], [], [PROPOSED], []),
        ([ACCEPT, DECLINE], [PROPOSED, DECIDED, ACCEPT, DECLINE], [], [], []),
        ([ACCEPT, UNDO], [DECIDED, UNDO], [PROPOSED], [], [ACCEPT]),
        ([ACCEPT, DECLINE, UNDO], [DECIDED, DECLINE, UNDO], [], [PROPOSED], [ACCEPT]),
        ([ACCEPT, UNDO, again := review("ada", 50, undoes=UNDO)], [PROPOSED, DECIDED, ACCEPT, again], [], [], [UNDO]),
        ([one := review("ada", 30, undoes=[DECIDED, PROPOSED])], [one], [], [], [PROPOSED, DECIDED]),
        ([one := review("ada", 30, undoes=PROPOSED, accepts=PROPOSED)], [DECIDED, one], [], [], [PROPOSED]),
        ([one := review("bot", 30, undoes=[DECIDED, PROPOSED])], [DECIDED], [one], [], [PROPOSED]),
        ([one := review("bot", 30, accepts=PROPOSED)], [DECIDED], [PROPOSED, one], [], []),
        ([one := review("bot", 30, declines=PROPOSED)], [DECIDED], [PROPOSED, one], [], []),
        ([one := review("bot", 35, undoes=ACCEPT), ACCEPT], [PROPOSED, DECIDED, ACCEPT], [one], [], []),
        ([one := review("ada", 30, accepts=replace(PROPOSED, digest="x"))], [DECIDED, one], [PROPOSED], [], []),
        ([DECLINE, one := review("bot", 41, undoes=PROPOSED)], [DECIDED, DECLINE], [one], [PROPOSED], []),
    ],
)
def test_what_reviews_accept_decline_and_undo(reviews, counting, proposed, declined, undone):
    ordered, creating = in_fold_order([*reviews, DECIDED, PROPOSED, MINE], vouches)
    assert creating is MINE
    assert split_changes(creating, ordered, vouches) == Split(
        True, tuple(counting), tuple(proposed), tuple(declined), tuple(undone)
    )


def test_the_time_of_a_review_decides_and_not_its_id():
    accept = replace(ACCEPT, id="z")
    undo = replace(review("ada", 40, undoes=accept), id="a")
    assert fold([MINE, PROPOSED, accept, undo], vouches).proposed == (PROPOSED.id,)
    assert fold([MINE, PROPOSED, accept, replace(undo, at=20)], vouches).proposed == ()


def test_without_knowing_who_vouches_every_change_counts():
    ordered, creating = in_fold_order([MINE, PROPOSED, DECIDED, DECLINE])
    assert split_changes(creating, ordered, None) == Split(True, (PROPOSED, DECIDED, DECLINE), (), (), ())


def test_drafts_and_unknown_kinds_change_nothing():
    draft = by("ada", "delete", 20, draft=True)
    unknown = replace(by("ada", "delete", 21), kind="memory", id="m#2")
    for who in (None, vouches):
        assert fold([MINE, draft, unknown], who) == fold([MINE], who)
    assert after(fold([MINE]), [draft, unknown]) == fold([MINE])


def test_a_copied_vote_of_a_person_counts_once():
    vote, other = (by(who, "feedback", 20, extra={"signal": "helpful"}) for who in ("ada", "bot"))
    copies = [vote, replace(vote, id="copy", path="memories/other.md"), replace(vote, id="later", at=30)]
    assert fold([MINE, *copies], vouches).helpful == 1
    assert fold([THEIRS, other, replace(other, id="copy")], vouches).helpful == 2  # an agent's do not count as such
    unread = replace(vote, digest="")
    assert fold([MINE, unread, replace(unread, id="second")], vouches).helpful == 2  # two votes that are in no file


def amend(who: str, at: int, *known: Entry) -> Entry:
    """An amendment that replaces the texts of some entries."""
    names = [value_name("body", entry.body) for entry in known]
    return by(who, "amend", at, body=f"text of {at}", extra={"replaces": names} if known else {})


def retitled(at: int, known: str) -> Entry:
    extra = {"replaces": [value_name("title", known)]}
    return by("ada", "amend", at, title=f"Title of {at}", given=("title",), extra=extra)


ONE, OTHER = amend("ada", 20, MINE), amend("ada", 30, MINE)
TAGGED = by("ada", "amend", 21, tags=("b",), given=("tags",))
SEEN = replace(amend("ada", 40, OTHER), extra={**amend("ada", 40, OTHER).extra, "after": [ONE.id]})
KNOWING = replace(OTHER, extra={"replaces": [*OTHER.extra["replaces"], value_name("status", "archived")]})
DELETED = by("ada", "delete", 25, extra={"replaces": [value_name("body", MINE.body)]})


@pytest.mark.parametrize(
    ("later", "body", "proposed"),
    [
        ([ONE], ONE.body, []),
        ([ONE, OTHER], OTHER.body, [ONE]),
        ([ONE, amend("ada", 30, ONE)], "text of 30", []),
        ([ONE, amend("ada", 30)], "text of 30", []),  # it says of no text that it knew it
        ([ONE, TAGGED, amend("ada", 30, ONE)], "text of 30", []),  # a change after the text
        ([ONE, retitled(30, MINE.title)], ONE.body, []),
        ([retitled(20, MINE.title), retitled(30, MINE.title)], MINE.body, [retitled(20, "")]),
        ([retitled(20, MINE.title), retitled(30, "Title of 20")], MINE.body, []),
        ([ONE, OTHER, SEEN], "text of 40", []),  # ONE waited when it was written
        ([ONE, DELETED], ONE.body, [ONE]),  # the deletion did not know the text
        ([ONE, replace(DELETED, extra={"replaces": [value_name("body", ONE.body)]})], ONE.body, []),
        ([DELETED, OTHER], OTHER.body, [OTHER]),  # a text for a deleted memory
        ([replace(DELETED, kind="archive"), OTHER], OTHER.body, [OTHER]),  # its author did not know of the archive
        ([replace(DELETED, kind="archive"), KNOWING], KNOWING.body, []),
        ([replace(DELETED, kind="supersede"), OTHER], OTHER.body, []),  # a supersession without effect
        ([DELETED, OTHER, review("ada", 40, declines=OTHER)], OTHER.body, []),
        ([DELETED, by("ada", "review", 26, extra={"action": "activate"}), OTHER], OTHER.body, []),
        ([DELETED, by("ada", "review", 26, extra={"action": "decide"}), OTHER], OTHER.body, [OTHER]),
        ([ONE, OTHER, amend("ada", 40, ONE, OTHER)], "text of 40", []),  # a later text knew both
        ([ONE, OTHER, amend("ada", 40, OTHER)], "text of 40", [ONE]),
        ([ONE, OTHER, review("ada", 40, declines=ONE)], OTHER.body, []),
        ([ONE, OTHER, review("ada", 40, accepts=ONE)], ONE.body, []),
        ([ONE, OTHER, review("bot", 40, accepts=ONE)], OTHER.body, [ONE]),
        ([ONE, OTHER, review("ada", 40, accepts=ONE), amend("ada", 50, OTHER)], "text of 50", [ONE]),
    ],
)
def test_of_two_texts_of_two_branches_the_earlier_one_waits_until_a_person_or_a_later_text_knew_it(
    later, body, proposed
):
    found = fold([MINE, *later], vouches)
    waiting = [id for id in found.proposed if id.startswith("amend")]
    assert (found.body, waiting) == (body, [entry.id for entry in proposed])


def test_the_memory_with_all_proposed_changes():
    text = by("bot", "amend", 22, body="Proposed text")
    declined = by("bot", "delete", 23)
    undone = by("ada", "quarantine", 24)
    vote = by("bot", "feedback", 25, extra={"signal": "harmful"})
    decided = review("ada", 30, declines=declined, undoes=undone)
    entries = [MINE, PROPOSED, DECIDED, text, declined, undone, vote, decided]
    memory, parts = fold_proposed(entries, vouches)
    assert (memory.title, memory.body, memory.status, memory.harmful) == ("Proposed", "Proposed text", "archived", 1)
    assert parts == split_changes(MINE, in_fold_order(entries, vouches)[0], vouches)
    assert fold_proposed([PROPOSED], vouches) is None is fold([PROPOSED], vouches)
    copied = copy(title="Of an agent", path="memories/a.md", at=1)
    assert fold_proposed([copied, MINE, PROPOSED], vouches)[0].created == MINE.at
    memory, _ = fold_proposed([MINE, ONE, OTHER], vouches)
    assert memory.body == ONE.body  # the text that waits, as it would be if a person accepted it


def copy(**fields: object) -> Entry:
    return replace(MINE, **{"by": "bot", "path": "memories/m.md", **fields})


@pytest.mark.parametrize(
    ("kept", "other"),
    [
        (copy(by="ada", path="archive/m.md", at=99), copy(path="memories/a.md", at=1)),
        (copy(path="memories/z.md", at=99), copy(path="archive/m.md", at=1)),
        (copy(at=5, path="memories/z.md"), copy(at=6, path="memories/a.md")),
        (copy(path="memories/a.md", line=9), copy(path="memories/b.md", line=1)),
        (copy(line=1, body="z"), copy(line=2, body="a")),
        (copy(body="a", title="Z"), copy(body="b", title="A")),
        (copy(title="A"), copy(title="B")),
    ],
)
def test_of_two_entries_with_one_id_the_same_one_counts_in_any_order(kept, other):
    for entries in ([kept, other], [other, kept]):
        assert in_fold_order(entries, vouches) == ([kept], kept)
    if kept.by == other.by:
        assert in_fold_order([other, kept]) == ([kept], kept)
    else:
        assert in_fold_order([kept, other]) == ([other], other)  # without knowing who vouches


def test_of_two_entries_with_one_id_the_accepted_one_counts():
    one, two = copy(title="One", digest="one"), copy(title="Two", digest="two")
    for accepted in (one, two):
        assert fold([one, two, review("ada", 20, accepts=accepted)], vouches).title == accepted.title
        assert fold([one, two, review("bot", 20, accepts=two)], vouches).title == "One"


def test_the_memory_that_an_entry_creates():
    entry = Entry(
        kind="lesson", id="x", title="T", body="B", when=("w",), tags=("t",), importance="high", at=7, by="ada",
        found_in="f", source="s", related=("r",), extra={"owner": "o"}, path="memories/x.md", line=3,
    )  # fmt: skip
    assert new_memory(entry) == fold([entry]) == Memory(
        kind="lesson", id="x", title="T", body="B", when=("w",), tags=("t",), importance="high", by="ada", found_in="f",
        source="s", related=("r",), extra={"owner": "o"}, path="memories/x.md", line=3,
        status="active", created=7, updated=7, first_observed=7, last_observed=7, entries=1,
    )  # fmt: skip


NEW_YEAR = 1_767_225_600_000  # 2026-01-01


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"draft": True}, {"status": "draft"}),
        ({"conflicted": True}, {"status": "conflicted"}),
        ({"draft": True, "conflicted": True}, {"status": "draft"}),
        ({"path": "archive/m.md"}, {"status": "archived", "reason": "lies in archive/"}),
        ({"path": "archive/m.md", "draft": True}, {"status": "draft", "reason": ""}),
        ({"path": "memories/archive/m.md"}, {"status": "active", "reason": ""}),
        ({"extra": {"supersededBy": "n"}}, {"status": "superseded", "superseded_by": "n", "superseded_at": 10}),
        ({"extra": {"supersededBy": "n"}, "draft": True}, {"status": "draft", "superseded_by": "n"}),
        ({"extra": {"supersededBy": "n"}, "path": "archive/m.md"}, {"status": "archived", "superseded_by": "n"}),
        ({}, {"superseded_by": "", "superseded_at": 0, "supersedes": (), "conflicts_with": (), "links": ()}),
        ({"extra": {"validFrom": "2026-01-01"}}, {"valid_from": NEW_YEAR, "valid_until": 0}),
        ({"extra": {"validUntil": "2026-01-01"}}, {"valid_from": 0, "valid_until": NEW_YEAR}),
        ({"extra": {"supersedes": ["a", "b"]}}, {"supersedes": ("a", "b")}),
        ({"extra": {"conflictsWith": "a"}}, {"conflicts_with": ("a",)}),
        ({"extra": {"timesObserved": "3"}}, {"repeated": 2}),
        ({"extra": {"timesObserved": "0"}}, {"repeated": 0}),
        ({"extra": {"timesObserved": "many"}}, {"repeated": 0}),
        ({"extra": {"timesObserved": "-3"}}, {"repeated": 0}),
        ({"extra": {"timesObserved": "999999"}}, {"repeated": 999_998}),
        ({"extra": {"timesObserved": "1000000"}}, {"repeated": 0}),
        ({"extra": {"firstObservedAt": "2026-01-01"}}, {"first_observed": NEW_YEAR, "last_observed": 10}),
        ({"extra": {"lastObservedAt": "2026-01-01"}}, {"first_observed": 10, "last_observed": NEW_YEAR}),
        ({"extra": {"members": ["a", "b"]}}, {"links": ()}),
        ({"kind": "episode", "extra": {"members": ["a", "b"]}}, {"links": (("member", "a"), ("member", "b"))}),
    ],
)
def test_what_an_entry_says_about_the_memory_it_creates(fields, wanted):
    memory = fold([replace(CREATE, **fields)])
    assert {name: getattr(memory, name) for name in wanted} == wanted


def test_changes_count_and_the_latest_one_is_when_it_was_updated():
    memory = fold([CREATE, change("link", 30, extra={"to": "x"}), change("reinforce", 20)])
    assert (memory.created, memory.updated, memory.entries) == (10, 30, 3)
    assert after(memory, [change("reinforce", 25)]).updated == 30


@pytest.mark.parametrize(("before", "status"), [([], "conflicted"), ([change("archive", 15)], "archived")])
def test_conflict_markers_in_a_change_mark_a_memory_in_use(before, status):
    assert fold([CREATE, *before, change("amend", 20, body="x", conflicted=True)]).status == status


DISPUTE = change("dispute", 20)


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ([DISPUTE], "active", ""),
        ([change("dispute", at, extra={"reason": f"r{at}"}) for at in (20, 21)], "active", ""),
        ([change("dispute", at, extra={"reason": f"r{at}"}) for at in (20, 21, 22)], "disputed", "r22"),
        ([change("dispute", at) for at in (20, 21, 22, 23)], "disputed", ""),
        ([change("reinforce", 19), *(change("dispute", at) for at in (20, 21, 22, 23))], "active", ""),
        ([change("dispute", 20, extra={"outcome": "disputed", "reason": "r"})], "disputed", "r"),
        ([change("dispute", 20, extra={"outcome": "other", "reason": "r"})], "active", ""),
        ([change("archive", 19), change("dispute", 20, extra={"outcome": "disputed"})], "archived", ""),
        ([change("dispute", 20, extra={"outcome": "disputed"}), change("reinforce", 21)], "active", ""),
    ],
)
def test_disputes_mark_a_memory_if_trust_is_low_or_there_are_three_without_a_reinforcement(changes, status, reason):
    memory = fold([CREATE, *changes])
    assert (memory.status, memory.reason) == (status, reason)
    assert memory.disputes == sum(entry.kind == "dispute" for entry in changes)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ([("quarantine", {"reason": "r", "conflictsWith": ["a"]})], ("quarantined", "r", ("a",), False, ())),
        (
            [("quarantine", {"conflictsWith": ["a", "b"]}), ("quarantine", {"conflictsWith": ["b", "c"]})],
            ("quarantined", "", ("a", "b", "c"), False, ()),
        ),
        ([("review", {"action": "activate", "reason": "r"})], ("active", "r", (), False, ("review_20",))),
        ([("review", {"action": "reject", "reason": "r"})], ("archived", "r", (), True, ())),
        ([("review", {"action": "decide", "reason": "r"})], ("active", "", (), False, ())),
        ([("review", {})], ("active", "", (), False, ())),
        (
            [("archive", {}), ("review", {"action": "activate", "conflictsWith": "a"})],
            ("active", "", ("a",), False, ("review_21",)),
        ),
        (
            [("review", {"action": "activate"}), ("review", {"action": "activate"})],
            ("active", "", (), False, ("review_20", "review_21")),
        ),
        (
            [("supersede", {"supersededBy": "n"}), ("review", {"action": "activate"})],
            ("active", "", (), False, ("review_21",)),
        ),
    ],
)
def test_quarantines_and_reviews_set_the_status(changes, fields):
    memory = fold([CREATE, *(change(kind, at, extra=extra) for at, (kind, extra) in enumerate(changes, 20))])
    assert (memory.status, memory.reason, memory.conflicts_with, memory.retracted, memory.reviewed_in) == fields


def test_a_review_ends_a_supersede_and_a_rejection_keeps_it():
    gone = superseded("m", "n", 20)
    active = fold([CREATE, gone, change("review", 30, extra={"action": "activate"})])
    assert (active.superseded_by, active.superseded_at) == ("", 0)
    rejected = fold([CREATE, gone, change("review", 30, extra={"action": "reject"})])
    assert (rejected.status, rejected.superseded_by, rejected.superseded_at) == ("archived", "n", 20)


@pytest.mark.parametrize(
    ("kind", "extra", "told"),
    [
        ("dispute", {}, "doubted"),
        ("quarantine", {}, "held for a review"),
        ("quarantine", {"conflictsWith": ["a", "b"]}, "held for a review: contradicts a, b"),
        ("review", {"action": "activate"}, "activated"),
        ("review", {"action": "reject"}, "rejected"),
        ("review", {"action": "activate", "conflictsWith": ["a", "b"]}, "activated, in conflict with a, b"),
        ("review", {"action": "activate", "accepts": ["x@1"]}, "activated"),
        ("review", {}, "reviewed without a decision"),
        ("review", {"action": "decide", "accepts": ["x@1", "y@2"]}, "accepted x, y"),
        ("review", {"action": "decide", "declines": ["x@y@1"]}, "declined x@y"),
        ("review", {"undoes": ["x@1"], "declines": ["y@2"]}, "declined y, undid x"),
    ],
)
def test_what_history_tells_about_a_change(kind, extra, told):
    assert REGISTRY[kind].tell(change(kind, 20, extra=extra)) == told
