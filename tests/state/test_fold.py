"""State is a fold: the order of arrival cannot matter."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Entry
from rawkomem.model.values import CHANGES
from rawkomem.state.fold import REGISTRY, fold
from rawkomem.state.plans import Change

CREATE = Entry(id="m", title="T", body="one", at=10, tags=("a",), path="memories/m.md", line=1)


def change(kind: str, at: int, id: str = "", **fields: object) -> Entry:
    return Entry(kind=kind, about="m", at=at, id=id or f"{kind}_{at}", **fields)  # type: ignore[arg-type]


def test_every_kind_of_change_is_registered():
    assert {*REGISTRY} == {*CHANGES}
    for kind in CHANGES:
        assert isinstance(REGISTRY[kind], Change) and REGISTRY[kind].tell(change(kind, 5))


def test_nothing_creates_it():
    assert fold([change("delete", 5)]) is None


def test_an_amend_changes_only_what_it_gives():
    memory = fold([CREATE, change("amend", 11, title="T2", given=("title",), tags=("ignored",))])
    assert (memory.title, memory.body, memory.tags, memory.updated, memory.entries) == ("T2", "one", ("a",), 11, 2)


def test_the_last_status_wins_by_time_and_can_be_reversed():
    dispute = [change("quarantine", 12, extra={"reason": "doubt"}), change("review", 13, extra={"action": "activate"})]
    assert fold([CREATE, *dispute]).status == "active"
    assert fold([CREATE, *dispute, change("delete", 14)]).status == "deleted"


def test_counts():
    votes = [change("feedback", n, extra={"signal": s}) for n, s in ((11, "helpful"), (12, "helpful"), (13, "harmful"))]
    memory = fold([CREATE, *votes, change("dispute", 14), change("reinforce", 15), change("corroborate", 16)])
    assert (memory.helpful, memory.harmful, memory.disputes, memory.reinforcements, memory.corroborations) == (
        2,
        1,
        1,
        1,
        1,
    )


def test_an_entry_that_came_twice_counts_once():
    vote = change("feedback", 11, extra={"signal": "helpful"})
    assert fold([CREATE, vote, vote]).helpful == 1


def test_supersede_validity_links_heritage():
    memory = fold(
        [
            CREATE,
            change("supersede", 11, extra={"supersededBy": "n"}),
            change("validity", 12, extra={"validUntil": "2026-01-23"}, given=("validUntil",)),
            change("link", 13, extra={"to": "x", "type": "supports"}),
            change("heritage", 14, extra={"from": ["p", "q"]}),
        ]
    )
    assert (memory.status, memory.superseded_by) == ("superseded", "n")
    assert (memory.valid_until, memory.links, memory.heritage) == (1769126400000, (("supports", "x"),), ("p", "q"))


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
