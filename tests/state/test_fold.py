"""State is a fold: the order of arrival cannot matter."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from rawkomem.model.entries import Entry
from rawkomem.model.values import CHANGES
from rawkomem.state.changes import plan_amend
from rawkomem.state.fold import REGISTRY, FoldTogether, after, fold
from rawkomem.state.plans import Change

CREATE = Entry(id="m", title="T", body="one", at=10, tags=("a",), path="memories/m.md", line=1)


def change(kind: str, at: int, id: str = "", **fields: object) -> Entry:
    return Entry(kind=kind, about="m", at=at, id=id or f"{kind}_{at}", **fields)  # type: ignore[arg-type]


def test_every_kind_of_change_is_registered():
    assert {*REGISTRY} == {*CHANGES}
    for kind in CHANGES:
        assert isinstance(REGISTRY[kind], Change) and REGISTRY[kind].tell(change(kind, 5))


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
