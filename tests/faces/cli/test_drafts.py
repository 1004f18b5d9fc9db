"""`rawkomem drafts` and what `learn` says about drafts: from the session to the prompt."""

import json
import os

import pytest
from rawkomem.files.session_records import DraftRecords, effects
from rawkomem.learn.drafts import choose_drafts, entry_of_draft
from rawkomem.learn.transcripts import Heard
from rawkomem.learn.turns import TOOL, Did, RunFacts, Turn
from rawkomem.model.entries import FIX, RULE, Draft, Entry
from rawkomem.model.values import now, replace
from rawkomem.repository import Repository
from rawkomem.repository.learning import EDITED_SCORE

from tests.commands import START
from tests.learn.drafts.talk import DONE, talk
from tests.terminals import converse, scrubbed

SESSION = """## User
Add a test for the parser.

## Assistant
I added a test and ran it with vitest. All tests pass.

## User
no, we use jest here, not vitest. never add vitest again

## Assistant
Done.

## User
From now on always write commit messages in the imperative mood.
"""
LODASH = "we don't use lodash any more"
TOOLKIT = "always import from es-toolkit instead of lodash"


@pytest.fixture
def waiting(repository) -> list[Draft]:
    """Two drafts of two sessions."""
    for session, words in (("s-1", LODASH), ("other-2", TOOLKIT)):
        repository.drafts.take(
            choose_drafts(talk("do the first task", DONE, words), RunFacts("claude-code", session=session))
        )
    return repository.drafts.all()


def by_words(drafts: list[Draft], words: str) -> Draft:
    return next(draft for draft in drafts if draft.said == words)


def put(repository, **fields) -> Draft:
    draft = Draft(
        **{"id": "drf_0123456789ab", "kind": RULE, "said": "use tabs", "title": "Tabs", "text": "Use tabs.", **fields}
    )
    repository.drafts.store.put([draft])
    return draft


def test_from_a_session_to_the_prompt(rawkomem, project):
    (project / "chat.md").write_text(SESSION, encoding="utf-8")
    learned = rawkomem("learn", "chat.md")
    assert "2 new drafts" in learned.stderr and "stored" not in learned.stdout
    first = rawkomem.json("drafts")[0]
    assert first["id"] in learned.stdout and f"drafts keep {first['id']}" in learned.stderr
    assert rawkomem("inject", "add tests with vitest").stdout == ""
    for draft in rawkomem.json("drafts"):
        rawkomem("drafts", "keep", draft["id"])
    given = rawkomem("inject", "add tests with vitest").stdout
    assert "We use jest here, not vitest" in given and "imperative" not in given
    assert "there are no drafts" in rawkomem("drafts").stderr
    assert "nothing new to learn" in rawkomem("learn", "chat.md").stderr


def test_from_a_review_to_the_prompt(rawkomem, project, repository):
    said = "We never call requests directly, always use shop.http with a timeout. The key is AKIAIOSFODNN7EXAMPLQ."
    asked = {"id": 1, "user": {"login": "rita"}, "body": said, "path": "shop/mail.py", "line": None, "original_line": 4}
    (project / "comments.json").write_text(json.dumps([asked]), encoding="utf-8")
    dry = rawkomem.json("learn", "--reviews", "comments.json", "--dry-run")
    assert dry["dry_run"] and dry["counts"] == {"with a request and a change": 1} and dry["waiting"] == []
    assert repository.drafts.all() == []
    learned = rawkomem("learn", "--reviews", "-", input=json.dumps([asked]) + json.dumps([]))
    assert "1 new draft" in learned.stderr and "AKIA" not in learned.stdout
    assert "threads: 1 with a request and a change" in learned.stderr
    (draft,) = rawkomem.json("drafts")
    assert draft["id"] == dry["drafts"][0]["id"] and draft["appliesTo"] == ["paths=shop/mail.py"]
    assert "nothing new to learn" in rawkomem("learn", "--reviews", "comments.json").stderr
    rawkomem("drafts", "keep", draft["id"])
    (memory,) = repository.get_many([row.id for row in repository.list()])
    assert memory.extra["appliesTo"] == {"paths": ["shop/mail.py"]} and "github review" in memory.source
    assert memory.extra["quote"].startswith("We never call requests directly") and "AKIA" not in memory.extra["quote"]
    assert "use shop.http with a timeout" in rawkomem("inject", "send the mail with requests and shop.http").stdout


def test_reviews_that_cannot_be_read_are_an_error_with_a_hint(rawkomem, project):
    (project / "not.json").write_text("{", encoding="utf-8")
    failed = rawkomem("learn", "--reviews", "not.json", check=2).stderr
    assert "not.json is not valid JSON" in failed and "gh api repos/OWNER/NAME/pulls/NUMBER/comments" in failed
    assert "is a folder" in rawkomem("learn", "--reviews", ".", check=2).stderr
    assert "standard input holds no" in rawkomem("learn", "--reviews", "-", input="[]", check=2).stderr
    assert "--dry-run and --json only" in rawkomem("learn", "--reviews", "--llm", "not.json", check=2).stderr


def test_a_list_shows_exchange_proposal_and_reasons(rawkomem, waiting):
    listed = rawkomem("drafts")
    blocks = listed.stdout.strip().split("\n\n")
    assert len(blocks) == 2
    block = next(block for block in blocks if LODASH in block)
    draft = by_words(waiting, LODASH)
    assert draft.id in block and f"agent     {DONE}" in block and f"person    {LODASH}" in block
    assert (
        "; ".join(draft.when) in block and f"score {draft.score:.1f}: {draft.why}" in block and "claude-code" in block
    )
    assert "drafts keep drf_" in listed.stderr and "drafts drop" in listed.stderr


def test_sessions_limits_and_none(rawkomem, waiting):
    (only,) = rawkomem.json("drafts", "--session", "other")
    assert only["said"] == TOOLKIT and only["session"] == "other-2"
    assert "there are no drafts" in rawkomem("drafts", "--session", "nowhere").stderr
    assert "showing 1 of 2" in rawkomem("drafts", "--limit", "1").stderr


def test_show_prints_the_whole_draft(rawkomem, repository):
    old = repository.add(Entry(title="Use spaces", body="Use spaces."))
    put(repository, before="long " * 100, text="Use tabs.\n\nIn every file.", corrects=(old.id, "mem_gone"))
    shown = rawkomem("drafts", "show", "drf_01").stdout
    assert "long " * 99 in shown and "  In every file." in shown and "the person said\n  use tabs" in shown
    assert f"Use spaces  {old.id}" in shown and "(no longer exists)  mem_gone" in shown
    assert rawkomem.json("drafts", "show", "drf_01")["corrects"] == [old.id, "mem_gone"]


def test_evidence_is_not_called_a_persons_word(rawkomem, repository):
    put(repository, kind=FIX, said="pytest failed, then passed")
    assert "person" not in rawkomem("drafts").stdout + rawkomem("drafts", "show", "drf_").stdout


def test_keep_with_another_text(rawkomem, waiting, repository):
    draft = by_words(waiting, LODASH)
    words = ("--title", "No lodash", "--text", "Use es-toolkit, not lodash.", "--when", "lodash", "--by", "kim")
    (kept,) = rawkomem.json("drafts", "keep", draft.id, *words)
    memory = repository.get(kept["id"])
    assert (memory.title, memory.body, memory.when) == ("No lodash", "Use es-toolkit, not lodash.", ("lodash",))
    assert memory.by == "kim" and memory.extra["quote"] == LODASH and kept["draft"] == draft.id


def test_what_an_agent_keeps_is_an_agents_word(rawkomem, waiting, repository):
    (kept,) = rawkomem.json("drafts", "keep", waiting[0].id)
    assert not repository.beliefs.trust(repository.get(kept["id"])).standing.verified


@pytest.mark.parametrize(("answer", "kept"), [("y", True), ("n", False)])
def test_a_person_is_shown_what_they_keep_and_asked(answer, kept, terminal, project, waiting, own_home):
    words = [*START, "drafts", "keep", waiting[0].id]
    told = converse(terminal, words, [(r"\[y/N\]", f"{answer}\n")], project, scrubbed())
    assert waiting[0].said in told and "Keep it?" in told
    repository = Repository.open(str(project))
    assert len(repository.drafts.all()) == (1 if kept else 2)
    memories = repository.get_many([row.id for row in repository.list()])
    assert [repository.beliefs.trust(memory).standing.verified for memory in memories] == ([True] if kept else [])


@pytest.mark.parametrize(("answer", "title"), [("n", ""), ("y", "No lodash")])
def test_a_draft_is_edited_only_after_a_yes(answer, title, terminal, project, waiting, own_home):
    draft = by_words(waiting, LODASH)
    words = [*START, "drafts", "keep", draft.id, "--title", "No lodash"]
    told = converse(terminal, words, [(r"\[y/N\]", f"{answer}\n")], project, scrubbed())
    assert "No lodash" in told.partition("Keep it?")[0], "the question is about the new title"
    repository = Repository.open(str(project))
    assert ("nothing more was changed" in told) == (draft in repository.drafts.all()) == (not title)
    assert [row.title for row in repository.list()] == ([title] if title else [])


def test_nothing_is_kept_or_dropped_where_one_id_is_wrong(rawkomem, waiting, repository):
    for verb in ("keep", "drop"):
        failed = rawkomem("drafts", verb, waiting[0].id, "drf_none", check=None)
        assert failed.returncode and "there is no draft 'drf_none'" in failed.stderr
    failed = rawkomem("drafts", "keep", *(draft.id for draft in waiting), "--title", "Both", check=None)
    assert failed.returncode and "work with one draft only" in failed.stderr
    assert repository.drafts.all() == waiting and not repository.list()


def test_what_a_kept_draft_corrects_gives_way(rawkomem, repository):
    old = repository.add(Entry(title="Use spaces", body="Use spaces."), via="agent")
    put(repository, corrects=(old.id,))
    assert f"supersedes Use spaces {old.id}" in rawkomem("drafts", "keep", "drf_").stdout
    assert repository.get(old.id).status == "superseded"


def test_what_a_person_vouches_for_waits_for_a_review(rawkomem, repository, git):
    old = repository.add(Entry(title="Use spaces", body="Use spaces."))
    git.commit()
    put(repository, corrects=(old.id,))
    assert f"decide with 'rawkomem review {old.id}'" in rawkomem("drafts", "keep", "drf_").stderr
    assert repository.get(old.id).status == "active" and repository.get(old.id).proposed


def test_a_draft_of_a_lesson_becomes_a_lesson(rawkomem, repository):
    fields = (("errorPattern", "stale_cache"), ("severity", "high"), ("preventativeRule", "Clear the cache."))
    put(repository, kind=FIX, title="Clear the cache", tags=("lesson",), fields=fields)
    rawkomem("drafts", "keep", "drf_")
    (lesson,) = rawkomem.json("list", "--kind", "lesson")
    memory = repository.get(lesson["id"])
    assert memory.kind == "lesson" and memory.importance == "high" and memory.extra["errorPattern"] == "stale_cache"


def test_edit_by_options_and_in_the_editor(rawkomem, waiting, repository, tmp_path):
    draft = by_words(waiting, LODASH)
    rawkomem("drafts", "edit", draft.id, "--title", "No lodash", "--when", "lodash|underscore")
    edited = repository.drafts.get(draft.id)
    why = "edited by an agent or a program"  # no terminal shows that a person runs this command
    assert edited == replace(draft, title="No lodash", when=("lodash|underscore",), score=EDITED_SCORE, why=why)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf -- "---\\ntitle: Gone\\n---\\n\\nUse es-toolkit.\\n" > "$1"\n')
    editor.chmod(0o700)
    rawkomem("drafts", "edit", draft.id, env={"VISUAL": str(editor), "EDITOR": str(editor)})
    assert repository.drafts.get(draft.id) == replace(edited, title="Gone", text="Use es-toolkit.", when=())
    refused = rawkomem("drafts", "edit", draft.id, "--when", "(open", check=None)
    assert refused.returncode and "nothing was changed" in refused.stderr and repository.drafts.get(draft.id).when == ()


def test_dropping_all_asks(rawkomem, waiting, repository):
    assert rawkomem("drafts", "drop", check=None).returncode
    assert rawkomem("drafts", "drop", "--all", input="n\n", check=None).returncode
    assert repository.drafts.all() == waiting
    assert len(rawkomem.json("drafts", "drop", "--all", input="y\n")) == 2
    assert repository.drafts.all() == [] and "there are no drafts" in rawkomem("drafts", "drop", "--all").stderr


def test_one_undo_brings_back_all_drafts_that_an_agent_dropped(rawkomem, waiting, repository):
    assert "'rawkomem undo' brings back" in rawkomem("drafts", "drop", "--all", "--yes").stderr
    assert repository.drafts.all() == []
    rawkomem("undo")
    assert {one.id for one in repository.drafts.all()} == {one.id for one in waiting}


def test_a_drop_that_is_killed_between_two_drafts_can_be_undone(rawkomem, waiting, repository, monkeypatch):
    decide = DraftRecords.decide

    def decide_once(self, draft, what, entry=""):
        if len(repository.drafts.all()) < len(waiting):
            raise KeyboardInterrupt
        decide(self, draft, what, entry)

    with monkeypatch.context() as patched:
        patched.setattr(DraftRecords, "decide", decide_once)
        with pytest.raises(KeyboardInterrupt):
            repository.drafts.drop(*(one.id for one in waiting))
    assert len(repository.drafts.all()) == len(waiting) - 1
    rawkomem("undo")
    assert {one.id for one in repository.drafts.all()} == {one.id for one in waiting}


def test_control_characters_of_a_session_do_not_reach_the_terminal(rawkomem, repository):
    put(repository, said="use \x1b[2J tabs\x07", before="\x1b]0;title\x07hi", title="\x1b[31mred", text="a\x1b[2Jb")
    for words in (("drafts",), ("drafts", "show", "drf_"), ("drafts", "drop", "drf_")):
        assert "\x1b" not in rawkomem(*words).stdout


def test_errors_name_the_transcript(rawkomem, project):
    (project / "half.json").write_text('{"messages": [', encoding="utf-8")
    (project / "note.txt").write_text("hello", encoding="utf-8")
    assert "half.json is not valid JSON" in rawkomem("learn", "half.json", check=None).stderr
    assert "no words of a person in note.txt" in rawkomem("replay", "note.txt", check=None).stderr


def test_learn_refuses_a_named_pipe_at_once(rawkomem, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = rawkomem("learn", str(pipe), check=2).stderr
    assert "is neither a file nor a folder" in said and "use '-'" in said


BARE = "no, never run bare pytest here, use make suite"


def test_a_draft_that_names_a_command_is_kept_as_a_guard(repository, rawkomem):
    (draft,) = repository.drafts.take(
        choose_drafts(talk("run the tests", DONE, BARE), RunFacts("claude-code", session="s-1"))
    )
    assert "applies   commands=pytest*" in rawkomem("drafts").stdout
    (kept,) = rawkomem.json("drafts", "keep", draft.id, "--guard", "ask")
    shown = rawkomem("show", kept["id"]).stdout
    assert "appliesTo   commands pytest*" in shown and "guard       ask" in shown


@pytest.mark.parametrize(("guard", "applies"), [("", {"commands": ["pytest*"]}), ("none", None)])
def test_a_kept_draft_only_reminds_by_default_and_need_not_apply(repository, guard, applies):
    put(repository, applies=("commands=pytest*",))
    stored = repository.drafts.keep("drf_0123456789ab", guard=guard)
    extra = repository.get(stored.id).extra
    assert (extra.get("appliesTo"), extra.get("guard")) == (applies, None)


def test_a_draft_without_acts_takes_no_guard(repository, rawkomem):
    draft = put(repository)
    told = rawkomem("drafts", "keep", draft.id, "--guard", "ask", check=2).stderr
    assert "names no command or file" in told and "rawkomem amend ID --applies-to" in told
    assert repository.drafts.all() == [draft]


def test_a_rule_that_was_said_in_two_sessions_proposes_to_ask(repository, rawkomem):
    for session, said in (("s-1", BARE), ("s-2", "I said never run bare pytest, use make suite")):
        repository.drafts.take(
            choose_drafts(talk("run the tests", DONE, said), RunFacts("claude-code", session=session))
        )
    assert sorted(draft.guard for draft in repository.drafts.all()) == ["", "ask"]
    assert "proposes the guard 'ask'" in rawkomem("drafts").stdout


def test_a_memory_that_a_person_had_to_repeat_is_counted_once(repository, rawkomem):
    turns, run = talk("run the tests", DONE, BARE), RunFacts("claude-code", session="s-1")
    (draft,) = choose_drafts(turns, run)
    stored = repository.add(entry_of_draft(draft))
    heard = Heard(run, tuple(turns), "claude-code", "s-1", {})
    for _ in range(2):  # hooks read a session after each turn
        learned = repository.learning.take(heard, [replace(draft, at=now() + 1000)])
        assert [id for _, id in learned.known] == [stored.id]
    assert effects(repository.layout)[stored.id]["corrected again"] == 1
    assert "corrected again 1" in rawkomem("show", stored.id).stdout
    assert "corrected again 1" in rawkomem("why", stored.id, "run the tests with pytest").stdout


def test_a_memory_whose_file_the_agent_read_counts_as_opened(repository, project):
    stored = repository.add(Entry(title="Ports", body="The database listens on port 6432."))
    path = f"{project}/.rawko/{repository.get(stored.id).path}"
    turns = (*talk("which port?", DONE), Turn(TOOL, "", did=Did(file=path)))
    repository.learning.take(Heard(RunFacts(session="s-1"), turns, "claude-code", "s-1", {}), [])
    assert effects(repository.layout)[stored.id]["opened"] == 1
