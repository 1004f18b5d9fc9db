"""`rawkomem review` and `drafts` at a terminal: one item a screen, one key for each decision."""

import json

import pytest
from rawkomem.model.entries import RULE, Draft, Entry
from rawkomem.repository import Repository

from tests.commands import START
from tests.terminals import converse, scrubbed

PROMPT = r"q.{0,8} quit"


@pytest.fixture
def drafts(repository) -> list[Draft]:
    """Two drafts, the latest first."""
    found = [
        Draft(id=f"drf_{name}", kind=RULE, said=f"use {name}", title=f"Use {name}", text=f"Use {name}.", at=at,
              when=(name,), session="s-1")
        for name, at in (("tabs", 2_000_000_000_000), ("jest", 1_999_999_999_999))
    ]  # fmt: skip
    repository.drafts.store.put(found)
    return found


@pytest.fixture
def walk(terminal, project, own_home):
    """Press keys at the terminal, each when the walk asks; return what it shows."""

    def press(*words_and_keys: str, words: tuple[str, ...] = ("drafts",), **env: str) -> str:
        replies = [(PROMPT, key) for key in words_and_keys]
        return converse(terminal, [*START, *words], replies, project, scrubbed(NO_COLOR="1", **env))

    return press


def titles(project) -> list[str]:
    with Repository.open(str(project)) as repository:
        return sorted(row.title for row in repository.list())


def waiting(project) -> list[str]:
    with Repository.open(str(project)) as repository:
        return [item.id for item in repository.waiting()]


def test_one_key_keeps_a_draft_as_a_persons_word(walk, drafts, project):
    told = walk("k", "q")
    assert "[1/2] draft" in told and "the person said\n  use tabs" in told and "1 kept" in told
    assert "\nk keep (store it as a memory)\nd drop (discard it)\ne edit   l later   q quit\n" in told
    assert titles(project) == ["Use tabs"] and waiting(project) == ["drf_jest"]
    with Repository.open(str(project)) as repository:
        (row,) = repository.list()
        assert repository.beliefs.trust(repository.get(row.id)).standing.verified


def test_an_interrupt_leaves_what_was_decided(walk, drafts, project):
    told = walk("k", "\x03")
    assert "stopped here: nothing more was changed" in told
    assert titles(project) == ["Use tabs"] and waiting(project) == ["drf_jest"]


@pytest.mark.parametrize(
    ("key", "guard", "told"), [("k", None, "1 kept"), ("a", "ask", "1 kept with a guard that asks")]
)
def test_one_key_keeps_a_draft_as_a_reminder_and_another_as_a_guard_that_asks(
    walk, repository, project, key, guard, told
):
    repository.drafts.store.put([
        Draft("drf_bare", RULE, said="never run pytest", title="No pytest", text="Never run pytest.", at=2_000_000_000_000,
              applies=("commands=pytest*",))
    ])  # fmt: skip
    shown = walk(key)
    assert told in shown and "a ask (store it; you are asked when an agent does this)" in shown
    with Repository.open(str(project)) as opened:
        (row,) = opened.list()
        extra = opened.get(row.id).extra
    assert extra["appliesTo"] == {"commands": ["pytest*"]} and extra.get("guard") == guard


@pytest.fixture
def less_sure(repository, drafts) -> list[Draft]:
    """Two drafts of which the person is not asked, the weaker one first."""
    found = [
        Draft(id=f"drf_{name}", kind=RULE, said=f"I want {name}", title=f"I want {name}", text=f"I want {name}.",
              at=2_000_000_000_000, score=score, more=True)
        for name, score in (("beer", 0.4), ("cake", 0.6))
    ]  # fmt: skip
    repository.drafts.store.put(found)
    return found


def test_drafts_that_are_less_sure_are_one_key_away(walk, less_sure, project):
    told = walk("l", "m", "l", "k", "q")
    assert "[2/2] draft" in told and "m more" in told and "2 drafts added at the end" in told
    assert titles(project) == ["I want cake"], "the stronger one comes first"
    assert "1 draft less sure" not in told.partition("added at the end")[0] and waiting(project) == [
        "drf_tabs",
        "drf_jest",
    ]


def test_a_list_of_drafts_names_those_that_are_less_sure_and_more_shows_them_by_score(rawkomem, less_sure):
    listed = rawkomem("drafts", "--json")
    assert [one["id"] for one in json.loads(listed.stdout)] == ["drf_tabs", "drf_jest"]
    assert "2 drafts less sure: 'rawkomem drafts --more' shows all" in rawkomem("drafts").stderr
    ids = [one["id"] for one in rawkomem.json("drafts", "--more")]
    assert ids == ["drf_tabs", "drf_jest", "drf_cake", "drf_beer"]
    assert "score 0.6, less sure" in rawkomem("drafts", "--more").stdout


def test_drop_later_and_the_end(walk, drafts, project):
    told = walk("d", "l")
    assert "1 dropped, 1 left for later" in told and waiting(project) == ["drf_jest"]


def test_undo_after_the_walk_brings_a_dropped_draft_back(walk, drafts, project, rawkomem):
    walk("d", "q")
    (change,) = rawkomem.json("undo", "--list")
    assert change["told"] == ["dropped a draft"] and waiting(project) == ["drf_jest"]
    assert "dropped → waits again  drf_tabs" in rawkomem("undo").stdout
    assert waiting(project) == ["drf_tabs", "drf_jest"] and rawkomem.json("undo", "--list") == []


def test_undo_brings_the_last_decision_back(walk, drafts, project):
    told = walk("d", "u", "k", "u", "q")
    assert "undone: dropped" in told and "undone: kept" in told
    assert waiting(project) == ["drf_tabs", "drf_jest"] and titles(project) == []


def test_edit_opens_title_text_and_condition_together(walk, drafts, project, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/Use tabs/Use tabs in Go/; /whenToUse/,+1s/tabs/gofmt/" "$1"\n')
    editor.chmod(0o700)
    told = walk("e", "k", "q", EDITOR=str(editor), VISUAL=str(editor))
    assert told.count("[1/2] draft") == 2 and titles(project) == ["Use tabs in Go"]
    with Repository.open(str(project)) as repository:
        (row,) = repository.list()
        memory = repository.get(row.id)
        assert memory.when == ("gofmt",) and memory.body == "Use tabs in Go."


def test_a_proposal_is_edited_and_undone(walk, git, project, tmp_path):
    with Repository.open(str(project), via="person") as repository:
        repository.add(Entry(id="mem_one", title="Tests", body="Use npm."))
    git.commit()
    with Repository.open(str(project), via="agent") as repository:
        repository.amend("mem_one", body="Use pnpm.")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/Use pnpm/Use pnpm 9/" "$1"\n')
    editor.chmod(0o700)
    told = walk("e", words=("review",), EDITOR=str(editor), VISUAL=str(editor))
    assert "Use npm. → Use pnpm." in told and "1 edited" in told and waiting(project) == []
    with Repository.open(str(project), via="person") as repository:
        assert repository.get("mem_one").body == "Use pnpm 9."
        repository.undoing.undo()
        assert repository.get("mem_one").body == "Use npm." and [one.id for one in repository.waiting()] == ["mem_one"]


def test_keys_typed_ahead_decide_nothing(terminal, drafts, project, own_home):
    words = [*START, "drafts"]
    told = converse(terminal, words, [(PROMPT, "kkkk"), ("press one of", "q")], project, scrubbed(NO_COLOR="1"))
    assert "press one of" in told and len(waiting(project)) == 2


def test_a_person_can_ask_for_the_list(walk, drafts, project):
    told = walk(words=("drafts", "--list"))
    assert "drf_tabs" in told and "drf_jest" in told and "[1/2]" not in told
