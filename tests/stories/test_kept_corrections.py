"""A correction that a person kept reaches later requests for the same kind of work, however they are worded."""

import json

import pytest
from rawkomem.learn.proposed_conditions import kinds_of_work
from rawkomem.learn.turns import RunFacts
from rawkomem.text.conditions import REFUSED, read_condition

from tests.commands import spread
from tests.stories.others import write_others
from tests.stories.requests import CORRECTIONS, NARROW, UNRELATED

# of ten requests, those that must get the text; the others must get a pointer
MIN_TEXTS = 8
# of the unrelated requests, those that may get a pointer
MAX_POINTED = 1
MIN_RELATED = 38  # of the fifty requests that the ten other corrections are about
ASKED = [(name, ask) for name, correction in CORRECTIONS.items() for ask in correction.requests]
CASES = [(*asked, others) for asked, others in spread(ASKED, [1, 45])]


@pytest.fixture
def kept(repository, memories, git):
    """Return a function that tells a session with a correction, keeps its draft, and commits it."""

    def tell(said: str, ask: str, others: int) -> str:
        write_others(memories, others)
        turns = [("user", ask), ("assistant", "I did it."), ("user", said), ("assistant", "Understood.")]
        messages = [{"role": role, "content": text} for role, text in turns]
        repository.learning.learn(json.dumps({"messages": messages}), RunFacts("claude", session="s-1"))
        (draft,) = repository.drafts.all()
        assert draft.said == said
        id = repository.drafts.keep(draft.id).id
        git.commit("memories")
        return id

    return tell


def _got(repository, id: str, task: str) -> str:
    """Return what a prompt gets of a memory: its text, a pointer, or nothing."""
    injection = repository.inject(task)
    if any(item.memory.id == id for item in injection.items):
        return "text"
    return "pointer" if any(item.memory.id == id for item in injection.pointers) else "nothing"


@pytest.mark.parametrize(("name", "ask", "others"), CASES)
def test_later_requests_get_it_and_unrelated_ones_do_not(name, ask, others, kept, repository):
    correction = CORRECTIONS[name]
    id = kept(correction.said, ask, others)
    got = {task: _got(repository, id, task) for task in correction.later}
    assert [*got.values()].count("text") >= MIN_TEXTS and "nothing" not in got.values(), got
    unrelated = {task: _got(repository, id, task) for task in UNRELATED}
    assert "text" not in unrelated.values() and [*unrelated.values()].count("pointer") <= MAX_POINTED, unrelated


def test_requests_that_share_a_word_with_a_correction_do_not_get_its_text(kept, repository, memories):
    texts = 0
    for number, (said, related, others) in enumerate(NARROW.values()):
        id = kept(f"from now on: {said}", "show the opening hours", 45 * (not number))
        got = {task: _got(repository, id, task) for task in (*related, *others)}
        texts += [*got.values()].count("text")
        assert "text" not in map(got.get, others), got
    assert texts >= MIN_RELATED


def test_every_kind_of_work_is_usable():
    for name, kind in kinds_of_work().items():
        for pattern in filter(None, (kind["named"], kind.get("tools"), kind["asked"])):
            read = read_condition(pattern)
            assert read.form != REFUSED and not read.notes, (name, pattern)
