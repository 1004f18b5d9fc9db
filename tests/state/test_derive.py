"""Memories made from memories: their sources, what was made before, and how far they are believed."""

from __future__ import annotations

from time import process_time

import pytest
from rawkomem.model.entries import Entry, Memory
from rawkomem.state.trust import (
    derived_from,
    lowest_trust,
    memory_by_source,
    with_sources,
)

MAX_CPU_S = 2.0  # of `trust` over a pile that took 33 s when each path was walked


def made(id: str, *sources: str, **fields: object) -> Memory:
    return Memory(id, extra={"derivedFrom": [*sources]}, **fields)  # type: ignore[arg-type]


def test_sources_are_named_by_the_frontmatter_and_by_later_entries():
    assert derived_from(Memory("m", extra={"derivedFrom": ["a", "b"]}, heritage=("b", "c"))) == ("a", "b", "c")
    assert derived_from(Memory("m", extra={"derivedFrom": "a"})) == ("a",) and derived_from(Memory("m")) == ()
    assert with_sources(Entry(extra={"goal": "g"}), ["a", "b", "a"]).extra == {"goal": "g", "derivedFrom": ["a", "b"]}


def test_what_a_person_put_away_is_not_made_again_unless_it_is_deleted():
    skill, gone = made("s", "a", kind="skill", status="archived"), made("d", "b", kind="skill", status="deleted")
    learning = made("l", "c", kind="learning")
    assert memory_by_source([skill, gone, learning]) == {"a": skill, "c": learning}
    assert memory_by_source([skill, gone, learning], "skill") == {"a": skill}


def test_the_lowest_trust_of_everything_below_counts_in_circles_too():
    pile = {"a": (0.9, ["b", "a"]), "b": (0.8, ["a", "c"]), "c": (0.3, []), "d": (1.0, [])}
    assert lowest_trust(["a"], pile.__getitem__) == 0.3 and lowest_trust(["d"], pile.__getitem__) == 1.0
    assert lowest_trust([], pile.__getitem__) == 1.0


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
