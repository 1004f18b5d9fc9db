"""Contradictions in plain sentences: which pairs of memories are found, and which are left in peace."""

import json
from pathlib import Path

import pytest
from rawkomem.model.entries import Memory
from rawkomem.state.contradictions import contradictions, disagreement, prose_of

DATA = Path(__file__).parents[2] / "data"
SETS = Path(__file__).parents[4] / "shared" / "data" / "eval"


def pairs():
    part = ""
    for line in (DATA / "contrary.txt").read_text().splitlines():
        if line.startswith("["):
            part = line.strip("[]")
        elif line and not line.startswith("#"):
            title, *texts = line.split(" | ")
            yield part == "contrary", title, texts


def memories(title, texts):
    when = ("some|words",) if title.startswith("~") else ()
    titles = ("Alpha", "Beta") if title[0] in "~-" else (title, title)
    return [Memory(id, title=titles[n], body=texts[n], when=when, created=n + 1) for n, id in enumerate("ab")]


def test_precision_and_recall():
    found = {True: [0, 0], False: [0, 0]}
    wrong = []
    for contrary, title, texts in pairs():
        one, other = (prose_of(memory) for memory in memories(title, texts))
        says = bool(disagreement(one, other))
        assert says == bool(disagreement(other, one))
        found[contrary][says] += 1
        wrong += [] if says == contrary else [(title, *texts)]
    assert sum(found[True]) >= 30 and sum(found[False]) >= 150
    precision = found[True][True] / (found[True][True] + found[False][True])
    recall = found[True][True] / sum(found[True])
    assert precision >= 0.95 and recall >= 0.98, wrong


def test_a_repository_is_searched_as_the_pairs_are():
    for _, title, texts in pairs():
        one, other = memories(title, texts)
        found = [(pair.newer.id, pair.older.id) for pair in contradictions([one, other])]
        assert found == ([("b", "a")] if disagreement(prose_of(one), prose_of(other)) else []), (title, texts)


@pytest.mark.parametrize("name", ["real-specstory", "metatool", "clinc", "locomo"])
def test_real_memories_raise_no_alarm(name):
    if not (SETS / f"{name}.json").exists():
        pytest.skip("needs the evaluation sets")
    data = json.loads((SETS / f"{name}.json").read_text())
    for part in data.get("sets", [data])[:3]:
        found = contradictions(
            Memory(item["id"], title=item.get("title") or "", body=item.get("text") or str(item["when"]))
            for item in part["memories"]
        )
        assert not found


def test_what_somebody_settled_and_claims_are_left_in_peace():
    one, other = memories("Queue", ["We use SQS.", "We use Kafka."])
    assert contradictions([one, other])
    from rawkomem.model.values import replace

    assert not contradictions([one, replace(other, links=(("keptBoth", "a"),))])
    assert not contradictions([one, replace(other, extra={"claim": {"subject": "x"}})])
    assert not contradictions([one, replace(other, status="superseded")])


def test_a_version_in_a_title_that_states_a_rule_is_a_value():
    titles = ("Use Node 16 for builds", "Use Node 22 for builds")
    made = [
        Memory(str(n), title=title, body="See the docs.", when=("node",), created=n) for n, title in enumerate(titles)
    ]
    assert contradictions(made)
