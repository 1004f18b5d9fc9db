"""What rawkomem injected is recognised in every format that it can print, and never learned again."""

import pytest
from rawkomem.learn.drafts import choose_drafts
from rawkomem.learn.transcripts import without_injected
from rawkomem.learn.turns import RunFacts, Turn
from rawkomem.model.entries import Memory
from rawkomem.recall.render import FORMS, GROUPED, render

from tests.recall.helpers import item

SAID = "We decided to use Postgres instead of MySQL because we need partial indexes."
MEMORIES = [
    item(
        Memory(
            "a",
            title="Use Postgres",
            body=f"{SAID}\n\n# Why\n\n```\n# a comment\n```\n\nAll tables must have a key.",
            path="memories/a.md",
            line=1,
        )
    ),
    item(
        Memory(
            "b",
            title="Never use npm",
            body="No, use pnpm, not npm. Every package must be pinned to 1.2.3.",
            by="me",
            path="memories/b.md",
            line=3,
            created=1,
        )
    ),
]
EVERY = tuple(FORMS)


def learned(text: str) -> list[str]:
    return [draft.said for draft in choose_drafts([Turn("user", text)], RunFacts())]


@pytest.mark.parametrize("form", EVERY)
@pytest.mark.parametrize("items", [MEMORIES, MEMORIES[:1], MEMORIES[1:]], ids=["both", "first", "second"])
def test_a_block_is_cut_out_and_what_stands_before_it_stays(form, items):
    text, blocks = without_injected(f"Please fix the login.\n\n{render(items, form, 'the login')}")
    assert text.strip() == "Please fix the login." and blocks == 1


@pytest.mark.parametrize("form", ["xml", "json", GROUPED])
def test_formats_that_tell_where_they_end_leave_what_follows(form):
    text, _ = without_injected(f"{render(MEMORIES, form, 'x')}\n\n{SAID}")
    assert text.strip() == SAID


def test_the_default_format_ends_at_a_heading_that_is_none_of_ours():
    text, _ = without_injected(f"{render(MEMORIES, 'rawko')}\n\n## Task\n\n{SAID}")
    assert text.strip() == f"## Task\n\n{SAID}"


@pytest.mark.parametrize("form", ["rawko", "mesh", "plain"])
def test_formats_that_do_not_tell_take_the_rest_with_them(form):
    """Rather lose what a person said than take a memory for it."""
    assert SAID not in without_injected(f"{render(MEMORIES[1:], form)}\n\n{SAID}")[0]


def test_other_texts_stay_as_they_are():
    for text in (SAID, "## Background", "[1, 2] [{}] [{", '[{"id": 1}]', "<memories>x</memories>", "x (high, five)\n"):
        assert without_injected(text) == (text, 0)


def test_a_fence_that_was_cut_off_takes_the_rest():
    fenced = render(MEMORIES, "xml")
    assert without_injected(f"before {fenced[:200]}")[0].strip() == "before"
