"""Keys of other systems do what our keys do, or are kept; the docs list all of them."""

import re

import pytest
from rawkomem.format.entries import ENTRY_FIELD_KEYS, near_key, read_entries
from rawkomem.model.values import KEPT_KEYS, KEY_ALIASES, KEY_NAMES, replace
from rawkomem.recall.scoring import FACTORS
from rawkomem.state.fold import fold
from rawkomem.state.trust import facets_of

from tests.commands import ROOT


def folded(front: str, body: str = "Text."):
    """Return the memory of a file with this frontmatter."""
    entries, problems = read_entries(f"---\ntitle: T\nid: mem_1_aaaaaa\n{front}\n---\n\n{body}\n")
    assert not [problem for problem in problems if problem.level == "error"]
    return fold(entries)


def without_extra(memory):
    """Return all that a memory says but the keys as they are spelled."""
    return [getattr(memory, name) for name in memory.__fields__ if name != "extra"], facets_of(memory)


@pytest.mark.parametrize(
    "theirs, ours",
    [
        ("valid_until: 2030-05-06", "validUntil: 2030-05-06"),
        ("valid_from: 2021-05-06", "validFrom: 2021-05-06"),
        ("superseded_by: mem_9_cccccc", "supersededBy: mem_9_cccccc"),
        ("conflicts_with: [mem_2_bbbbbb]", "conflictsWith: [mem_2_bbbbbb]"),
        ("times_observed: 5", "timesObserved: 5"),
        ("first_observed_at: 2020-01-01", "firstObservedAt: 2020-01-01"),
        ("memory_type: gap", "type: gap"),
        ("memoryType: gap", "type: gap"),
        ("entity_slugs: [project:kiln]", "entities: [project:kiln]"),
        ("session_id: s-77", "session: s-77"),
        ("when_to_use: [kiln|glaze]", "whenToUse: [kiln|glaze]"),
        ("agent_id: potter", "discoveredBy: potter"),
        ("created_at: 2022-02-02T02:02:02Z", "discoveredAt: 2022-02-02T02:02:02Z"),
        ("related_memories: [glaze]", "relatedMemories: [glaze]"),
    ],
)
def test_a_foreign_name_does_what_our_key_does(theirs, ours):
    one, other, plain = folded(theirs), folded(ours), folded("importance: medium")
    assert without_extra(one) == without_extra(other) != without_extra(plain)


@pytest.mark.parametrize("word", ["null", "~", "none", "None", "NULL", '""', "[null]", "[]"])
def test_a_value_that_means_nothing_links_nothing(word):
    memory = folded(f"supersedes: {word}\nsuperseded_by: {word}\nrelatedMemories: {word}\nvalid_until: {word}")
    assert (memory.supersedes, memory.superseded_by, memory.related, memory.valid_until) == ((), "", (), 0)
    assert memory.status == "active"


@pytest.mark.parametrize(
    "typo, meant",
    [
        ("whenToUze", "whenToUse"), ("when-to-use", "whenToUse"), ("relatedMemorys", "relatedMemories"),
        ("superceded_by", "superseded_by"), ("discoverdBy", "discoveredBy"), ("titel", "title"),
        ("importnace", "importance"), ("valid_form", "valid_from"), ("times_obserbed", "times_observed"),
    ],
)  # fmt: skip
def test_check_names_the_key_that_was_meant(typo, meant):
    _, problems = read_entries(f"---\ntitle: T\nwhenToUse: kiln\n{typo}: x\n---\n\nText.\n")
    found = [problem for problem in problems if problem.code == "near-miss-key"]
    assert len(found) == 1 and near_key(typo) == meant and meant in found[0].message and found[0].line == 4


@pytest.mark.parametrize(
    "own",
    ["resource", "conference", "sources", "score", "tile", "author", "cssclasses", "permalink", "kiln_temperature",
     "ticket", "version", "owner", "reviewers", "description", "priority", "imports", "stage", "x", "Straße"],
)  # fmt: skip
def test_a_key_of_ones_own_is_no_near_miss(own):
    assert near_key(own) == ""


def test_known_keys_are_no_near_misses_of_each_other():
    assert not [key for key in (*ENTRY_FIELD_KEYS, *KEY_NAMES, *KEY_ALIASES, *KEPT_KEYS) if near_key(key)]
    assert not set(KEY_ALIASES) & set(KEY_NAMES) and not set(KEPT_KEYS) & {*KEY_NAMES, *KEY_ALIASES}


def test_the_docs_list_every_key():
    page = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    section = page.partition("### Keys of other systems")[2].partition("\n### ")[0]
    first, _, second = section.partition("are kept and shown")
    rows = [line.split(" | ") for line in first.split("\n") if line.startswith("| `")]
    listed = {re.findall(r"`([^`]+)`", ours)[0]: tuple(re.findall(r"`([^`]+)`", names)) for ours, names in rows}
    assert listed == {ours: names for ours, names in KEY_NAMES.items() if names}
    assert set(re.findall(r"`(\w+)`", second.partition("\n\n")[0])) == set(KEPT_KEYS)


@pytest.mark.parametrize(
    "front, votes, value",
    [("feedback_score: 1.5", (0, 0), 1.5), ("feedbackScore: 0.5", (1, 0), 0.55), ("feedback_score: 9", (0, 0), 2.0),
     ("feedback_score: nan", (1, 0), 1.1), ("feedback_score: null", (0, 1), 0.5)],
)  # fmt: skip
def test_votes_of_another_system_count_and_later_ones_multiply(front, votes, value):
    memory = replace(folded(front), helpful=votes[0], harmful=votes[1])
    assert FACTORS["feedback"][0](memory, None, None)[0] == pytest.approx(value)
