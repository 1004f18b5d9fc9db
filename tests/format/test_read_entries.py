"""Each test reads as a memory file and what is said about it."""

import pytest
from rawkomem.format.entries import is_inside_memories, read_entries


def read(front: str, body: str = "body"):
    entries, problems = read_entries(f"---\n{front}\n---\n\n{body}\n")
    return entries[0], [problem.message for problem in problems]


def test_every_key_of_the_format():
    entry, problems = read(
        "id: mem_1\ntitle: T\nwhenToUse: auth|login\ntags: [a, b]\nimportance: High\ndiscoveredAt: 2026-01-23T10:30:00+05:30\n"
        "discoveredBy: planner\ndiscoveredIn: Task\nsource: s\nrelatedMemories: [x, y.md]\nx-custom: {a: 1}"
    )
    assert not problems
    assert (entry.id, entry.title, entry.when, entry.tags, entry.importance) == (
        "mem_1",
        "T",
        ("auth|login",),
        ("a", "b"),
        "high",
    )
    assert (entry.at, entry.by, entry.found_in, entry.source) == (1769144400000, "planner", "Task", "s")
    assert (entry.related, entry.extra, entry.body) == (("x", "y.md"), {"x-custom": {"a": "1"}}, "body")


def test_objects_of_older_files_are_conditions():
    assert read("title: T\nwhenToUse: [{pattern: auth}, login]")[0].when == ("auth", "login")


def test_an_error_makes_a_draft():
    """tests/files/odd_more.py has all kinds."""
    entry, problems = read("title: [a]")
    assert entry.draft and any("title must be text" in problem for problem in problems)


@pytest.mark.parametrize(
    ("front", "says"),
    [
        ("title: T\ndiscoveredAt: 2026-01-23 10:30:00", "no time zone"),
        ("title: T\ndiscoveredAt: 2999-01-01", "future"),
        ("title: T\nTitle: x", "looks like 'title'"),
        ("title: T\n__proto__: x", "not allowed"),
        ("title: T\nwhenToUse: |\n  auth", "line break"),
        ("title: Аdmin", "look-alike"),
    ],
)
def test_a_warning_keeps_the_entry(front, says):
    entry, problems = read(front)
    assert not entry.draft and any(says in problem for problem in problems), problems


@pytest.mark.parametrize(
    "way_out", ["../x", "/etc/x", "C:\\x", "..\\x", "a/../../b", "file:///x", "%2e%2e/x", "x\0", ""]
)
def test_references_stay_inside(way_out):
    assert not is_inside_memories(way_out)


@pytest.mark.parametrize("claim", ["user is tall", "{subject: user}", "{subject: user, predicate: [a], value: v}"])
def test_a_claim_that_cannot_be_used_is_told(claim):
    _, problems = read_entries(f"---\ntitle: T\nwhenToUse: x\nclaim: {claim}\n---\n\nBody.\n")
    assert [problem.code for problem in problems] == ["bad-claim"]
