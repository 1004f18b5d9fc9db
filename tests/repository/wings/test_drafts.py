"""Drafts from the session to the memory: kept, edited, merged, dropped, expired, said again, moved back."""

from __future__ import annotations

import pytest
from rawkomem.files.records import change
from rawkomem.files.session_records import MAX_DRAFT_DAYS, Drafts
from rawkomem.learn.drafts import choose_drafts
from rawkomem.learn.turns import Run
from rawkomem.model.entries import RULE, Draft
from rawkomem.model.values import DAY, now, replace

from tests.learn.drafts.talk import DONE, talk


def said(words: str, session: str = "s-1"):
    return choose_drafts(talk("do the first task", DONE, words), Run("claude-code", session=session))


def take(repository, words: str, session: str = "s-1"):
    return repository.drafts.take(said(words, session))


AGAIN = "no, I said jest and not vitest, use jest"


@pytest.mark.parametrize(
    ("one", "other", "raised"),
    [
        ("use jest here, not vitest", AGAIN, True),
        ("never use eslint here, use biome", AGAIN, False),
        ("use port 8080 for the proxy instead", "use port 9090 for the proxy instead", False),
        ("always mock the payment gateway in tests", "never mock the payment gateway in tests", False),
    ],
)
def test_what_a_person_says_again_in_another_session_is_raised_and_not_stored(one, other, raised, repository):
    (alone,) = said(other, "s-2")
    take(repository, one)
    (draft,) = take(repository, other, "s-2")
    assert (draft.score > alone.score, draft.again) == ((True, ("s-1",)) if raised else (False, ()))
    assert len(repository.drafts.all()) == 2 and not repository.list()


def test_a_waiting_draft_gets_its_new_grade_and_an_edited_one_keeps_its_own(repository):
    drafts = [Draft(f"drf_{n}", RULE, f"rule {n}", title=f"Rule {n}", score=n, session="s-1") for n in range(1, 4)]
    repository.drafts.take(drafts)
    repository.drafts.edit("drf_1", "Rule one")
    assert repository.drafts.take([replace(one, more=True) for one in drafts]) == ()
    assert [draft.id for draft in repository.drafts.asked()] == ["drf_1"] and len(repository.drafts.all()) == 3
    repository.drafts.take(drafts)
    assert len(repository.drafts.asked()) == 3


def test_the_same_text_in_two_sessions_is_sent_by_a_program(repository):
    assert take(repository, AGAIN) and not take(repository, AGAIN, "s-2")


def test_drafts_expire(repository):
    store = Drafts(repository.layout)
    take(repository, "we don't use lodash any more")
    with change(repository.layout) as db:
        db.execute("UPDATE drafts SET at = ?", (now() - (MAX_DRAFT_DAYS + 1) * DAY,))
    assert store.all() == [] and store.expire() == 1 and store.expire() == 0
