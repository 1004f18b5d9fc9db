"""Which traces become which learning: grouping, amending, merging, and that a second run finds nothing."""

import pytest
from rawkomem.index.neighbors import group_leaders
from rawkomem.learn.learnings import is_consolidation_due, made_learnings, plan_learnings, unlearned_traces
from rawkomem.model.entries import Entry
from rawkomem.model.values import DAY
from rawkomem.state.trust import derived_from

from tests.seeds import by_case
from tests.state.lifecycle.lives import NOW, census_of, said


def run(id: str, goal: str, status: str = "success", days: float = 1, **fields) -> Entry:
    body = f"## Learnings\n- Learned by {id}"
    return said(id, days, kind="trace", title=goal, body=body, extra={"status": status}, **fields)


FFT = [
    run("t1", "Create FFT plot from audio data", days=5),
    run("t2", "Create an FFT plot of audio data", "failure", 4),
]
BLOG = [run("t3", "Write blog article", days=3)]


def learned(census):
    plan = plan_learnings(census)
    return plan, census.after(plan)


def test_alike_goals_become_one_learning_and_one_alone_stays():
    plan, after = learned(census_of(*FFT, *BLOG))
    (entry,) = plan.entries
    assert (entry.kind, entry.title, entry.source) == (
        "learning",
        "Learning: Create FFT plot from audio data",
        "consolidate",
    )
    assert entry.extra == {"goal": FFT[0].title, "derivedFrom": ["t1", "t2"], "failed": ["t2"]}
    assert "Observed in 2 executions\n- Success rate: 50%" in entry.body
    assert entry.when == ("When the task is to create fft plot from audio data",)
    assert [trace.id for trace in unlearned_traces(after)] == ["t3"]
    assert plan_learnings(after).entries == ()


def test_traces_without_a_goal_are_no_error():
    plan, after = learned(census_of(run("t1", ""), run("t2", "")))
    assert all(entry.kind == "learning" for entry in plan.entries) and plan_learnings(after).entries == ()


def test_sources_that_are_gone_still_count_and_speak():
    _, after = learned(census_of(*FFT))
    left = {id: memory for id, memory in after.memories.items() if id not in ("t1", "t2")}
    memories = {**left, **census_of(run("t4", "Create FFT plot from audio data", days=0)).memories}
    _, last = learned(type(after)(memories, after.now, after.trust))
    (learning,) = made_learnings(last)
    assert "Observed in 3 executions\n- Success rate: 67%" in learning.body
    assert all(f"Learned by {id}" in learning.body for id in ("t1", "t4"))


def test_old_learnings_that_resemble_each_other_become_one():
    old = [
        said(f"l{n}", 200, kind="learning", title=f"Learning: {goal}", source="consolidate", body="# Learning: x",
             extra={"goal": goal, "derivedFrom": [f"t{n}"], "failed": []})
        for n, goal in ((1, "Create FFT plot from audio data"), (2, "Plot the spectrum of an audio file"), (3, "Write blog article"))
    ]  # fmt: skip
    plan, after = learned(census_of(*old))
    assert [(entry.kind, entry.target) for entry in plan.entries] == [("amend", "l1"), ("supersede", "l2")]
    assert derived_from(after.memories["l1"]) == ("t1", "t2") and after.memories["l2"].superseded_by == "l1"
    assert plan_learnings(after).entries == ()


@pytest.mark.parametrize("status", ["quarantine", "dispute", "archive", "delete"])
def test_only_traces_in_use_are_learned_from(status):
    change = Entry(kind=status, id="c1", about="t2", at=NOW, extra={"reason": "r", "outcome": "disputed"})
    assert learned(census_of(*FFT, change))[0].entries == ()


def test_a_deleted_learning_gives_its_traces_back():
    _, after = learned(census_of(*FFT))
    (learning,) = made_learnings(after)
    deleted = after.after(type(learned(after)[0])((Entry(kind="delete", id="d", about=learning.id, at=NOW + 1),), ""))
    assert {trace.id for trace in unlearned_traces(deleted)} == {"t1", "t2"}


def test_a_thousand_of_one_goal_make_several_learnings():
    many = [run(f"t{n:04}", "Deploy", days=2_000 - n) for n in range(1_003)]
    _, after = learned(census_of(*many))
    assert sorted(len(derived_from(one)) for one in made_learnings(after)) == [3, 1_000]
    assert plan_learnings(after).entries == ()


@by_case("llmos", "consolidateMemory")
def test_due_at_ten_traces(case):
    """As the advice says: the seed asks for ten, its code for three."""
    assert case["input"]["traces"] == [2, 3, 10]
    assert [is_consolidation_due(count, NOW, NOW, NOW, 10) for count in case["input"]["traces"]] == [False, False, True]


@pytest.mark.parametrize(
    ("count", "oldest", "last", "due"),
    [(1, 8, 8, True), (1, 8, 1, False), (1, 1, 99, False), (0, 0, 99, False), (3, 9, 7, True)],
)
def test_due_after_a_week(count, oldest, last, due):
    assert is_consolidation_due(count, NOW - oldest * DAY, NOW - last * DAY, NOW, 10) is due


def test_leaders_are_the_first_and_later_texts_change_nothing():
    texts = [
        "Deploy API to staging",
        "Write blog article",
        "deploy api to staging!",
        "Deploy API to production",
        "zzqq",
        "zzqq",
        "",
    ]
    found = group_leaders(texts, 0.7)
    assert found == [0, 1, 0, 0, 4, 4, 6]
    assert all(group_leaders(texts[:n], 0.7) == found[:n] for n in range(len(texts)))
