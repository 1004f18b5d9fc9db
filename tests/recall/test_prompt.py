"""The orchestrator's call before a run, and titles as questions."""

import pytest
from rawkomem.files.session_records import accesses
from rawkomem.model.entries import Task
from rawkomem.recall.relevance import is_named
from rawkomem.recall.signals import question_of_task

from tests.torture.helpers import memory

BASE = "You are a careful developer.\n"


@pytest.fixture
def filled(memories, repository):
    (memories / "auth.md").write_text(memory("Login", "All login code lives in src/auth.", whenToUse="login|auth"))
    return repository


def test_the_prompt_holds_the_base_and_the_memories(filled):
    prompt = filled.prompt_for(Task("fix the login page", agent="developer", session="s1"), BASE)
    assert prompt.text.startswith("You are a careful developer.\n\n## Background Knowledge from Previous Runs\n")
    assert "All login code lives in src/auth." in prompt.text
    assert [item.memory.id for item in prompt.injection.items] == ["auth"]
    assert accesses(filled.layout)["auth"].count == 1


def test_nothing_to_say_leaves_the_prompt_alone(filled):
    prompt = filled.prompt_for(Task("compile the kernel for a toaster"), BASE)
    assert prompt.text == BASE and accesses(filled.layout) == {}


LONG = "\n\n".join(
    f"Paragraph {n} speaks of harbours, lighthouses, gulls, ropes, tar, sails and the weather at sea."
    for n in range(40)
)


@pytest.mark.parametrize("title", ["Quarterly ledger reconciliation quirks", "Zyx", "Frobnicating the blorp gadget"])
def test_a_title_finds_its_memory(repository, memories, title):
    """The body speaks of something else, so meaning does not help."""
    (memories / "a.md").write_text(memory(title, LONG))
    (memories / "b.md").write_text(memory("Other", "Another text about gulls."))
    assert repository.search(title)[0].row.title == title
    assert [item.memory.title for item in repository.inject(Task(title)).items] == [title]


@pytest.mark.parametrize(
    ("title", "task", "named"),
    [
        ("Quarterly ledger reconciliation", "explain the reconciliation of the quarterly ledgers", True),
        ("Quarterly ledger reconciliation", "explain the quarterly ledger", False),
        ("Cake", "cake", True),
        ("Cake", "the cake", True),
        ("Cake", "buy a cake", False),
        ("Login page", "fix the login page", False),
        ("", "", False),
        ("The", "the", False),
    ],
)
def test_when_a_title_is_named(title, task, named):
    assert is_named(title, question_of_task(Task(task), 0).title_stems) is named


def test_being_named_is_explained(rawkomem, memories):
    (memories / "a.md").write_text(memory("Quarterly ledger quirks", LONG))
    assert "contains the words of its title" in rawkomem("why", "a", "quarterly ledger quirks").stdout
