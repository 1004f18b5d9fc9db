"""Editing and removing committed memories by hand: reported, and allowed for people."""

import os
import sys

import pytest
from rawkomem.files.kept_texts import keep_edited
from rawkomem.model.entries import Entry
from rawkomem.model.values import DAY
from rawkomem.repository import Repository

from tests.git.gitting import AGENT
from tests.terminals import detached, scrubbed, typed

CACHE = """---
id: mem_1_a
title: Cache keys
tags: [web, cache]
owner: ada
---

Keys hold the tenant, then the rout and the language.
"""
VOTE = "\n---\n\n---\nid: feedback_1\nkind: feedback\nabout: mem_1_a\nat: 2026-01-02T00:00:00Z\nsignal: helpful\n---\n"
DIGEST = "---\nid: mem_2_b\ntitle: Digest of caching\nderivedFrom: [mem_1_a]\n---\n\nSee [[cache]].\n"
START = 1_767_225_600_000  # 2026-01-01
OTHER = "---\nid: mem_3_c\ntitle: Ports\n---\n\nApi on 80.\n"


@pytest.fixture
def started(project, memories, git):
    (memories / "cache.md").write_text(CACHE + VOTE)
    (memories / "digest.md").write_text(DIGEST)
    git.commit()
    return project


@pytest.fixture
def repository(project):
    """The repository of `project`, opened by a person."""
    with Repository.open(str(project), via="person") as opened:
        yield opened


def edit(memories, git, *changes: tuple[str, str]) -> None:
    text = (memories / "cache.md").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (memories / "cache.md").write_text(text)
    git("add", "-A")


def history_of(repository, agent: bool = False) -> list[tuple[str, str]]:
    return [(problem.level, problem.message) for problem in repository.edits.check((), agent)["history"]]


def test_a_person_may_edit_and_is_told_what_changed(started, memories, git, repository):
    edit(memories, git, ("rout ", "route "), ("[web, cache]", "[web]"), ("owner: ada", "owner: bob"))
    said = "'Cache keys' (mem_1_a) was edited: changed tags, owner, text"
    assert history_of(repository) == [("warning", said)]
    assert history_of(repository, agent=True) == [("error", said)]


def test_a_person_may_remove_and_is_told_what_is_gone(started, memories, git, repository):
    git("rm", "-q", ".rawko/memories/cache.md")
    told = history_of(repository)
    assert told[0] == ("warning", "'Cache keys' (mem_1_a) was removed")
    assert told[1] == ("warning", "feedback_1, about mem_1_a, was removed: it voted helpful")


def test_an_agents_commit_is_refused_by_its_author(started, memories, git, rawkomem, monkeypatch):
    edit(memories, git, ("rout ", "route "))
    monkeypatch.setenv("GIT_AUTHOR_NAME", AGENT[0])
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", AGENT[1])
    told = rawkomem("check", "--staged", check=1)
    assert "was edited" in told.stdout and "rawkomem amend" in told.stdout


def test_the_hook_passes_at_a_terminal_and_gives_one_line_of_advice(started, memories, git, terminal):
    edit(memories, git, ("rout ", "route "))
    shown = started / "shown"
    detached(terminal, typed(f"{sys.executable} -m rawkomem check --staged; echo exit $?", shown), started, scrubbed())
    assert "was edited" in shown.read_text() and "exit 0" in shown.read_text()
    assert shown.read_text().count("rawkomem amend") == 1
    (started / "ended").unlink()
    env = scrubbed(CLAUDECODE="1")
    detached(terminal, typed(f"{sys.executable} -m rawkomem check --staged; echo exit $?", shown), started, env)
    assert "exit 1" in shown.read_text()


def test_a_purge_is_committed_without_skipping_a_check(started, memories, git, repository):
    repository.lifecycle.purge("mem_1_a")
    git("add", "-A")
    assert history_of(repository) == []
    assert [level for level, _ in history_of(repository, agent=True)] == ["error", "error"]


def test_old_copies_of_edited_files_are_removed_except_the_newest(started, memories, git, repository, monkeypatch):
    first, last = (kept_at(repository, monkeypatch, second * 1_000) for second in (1, 2))
    at_time(monkeypatch, 29 * DAY)
    repository.sync()
    assert os.path.exists(first)
    at_time(monkeypatch, 31 * DAY)
    repository.sync()
    assert not os.path.exists(first) and os.path.exists(last)
    kept_at(repository, monkeypatch, 62 * DAY)
    assert len(os.listdir(last.partition("/edits/")[0] + "/edits")) == 1


def kept_at(repository, patch, ms: int) -> str:
    at_time(patch, ms)
    return keep_edited(repository.layout, {"memories/cache.md": b"edited"})[0]


def at_time(patch, ms: int) -> None:
    patch.setattr("rawkomem.files.kept_texts.now", lambda: START + ms)


def test_an_edit_of_words_that_an_amendment_replaced_waits_for_a_review(started, memories, git, repository):
    repository.amend("mem_1_a", Entry(title="Keys", extra={"owner": "bob"}))
    git.commit()
    edit(memories, git, ("title: Cache keys", "title: Cache names"))
    ((level, message),) = history_of(repository)
    assert level == "warning" and "waits for a review" in message
    git("commit", "-qm", "edit", "--no-verify")
    assert repository.beliefs.proposal("mem_1_a").differences == (("title", "Keys", "Cache names"),)


def test_an_edit_beside_an_amendment_has_an_effect(started, memories, git, repository):
    repository.amend("mem_1_a", title="Keys")
    git.commit()
    edit(memories, git, ("rout ", "route "))
    assert [level for level, _ in history_of(repository)] == ["warning"]
    git("commit", "-qm", "edit", "--no-verify")
    assert repository.get("mem_1_a").body.endswith("route and the language.")


def test_a_purge_removes_the_copies_of_edited_files(started, repository):
    kept = keep_edited(repository.layout, {"memories/cache.md": CACHE.encode()})
    repository.lifecycle.purge("mem_1_a")
    assert kept and not any(os.path.exists(copy) for copy in kept)


# A hand edit beside or after an amendment

RETENTION = "---\nid: mem_1_k\ntitle: Kafka retention\nimportance: low\n---\n\nTopics keep messages for seven days.\n"
BY_COMMAND = {"body": "Topics keep messages for nine days.", "title": "Kafka, nine days", "importance": "high"}
BY_HAND = {"body": "Topics keep messages for thirty days.", "title": "Kafka, thirty days", "importance": "critical"}
OLD = {"body": "Topics keep messages for seven days.", "title": "Kafka retention", "importance": "low"}


def _edit_by_hand(memories, field: str) -> None:
    file = memories / "kafka.md"
    file.write_text(file.read_text().replace(OLD[field], BY_HAND[field]))


@pytest.mark.parametrize(
    ("field", "into", "has_hooks"),
    [("body", "amended", True), ("title", "edited", True), ("importance", "amended", False), ("body", "edited", False)],
)
def test_an_edit_on_one_branch_waits_for_a_review_if_the_other_amends(
    memories, git, rawkomem, repository, field, into, has_hooks
):
    (memories / "kafka.md").write_text(RETENTION)
    git.commit()
    if has_hooks:
        rawkomem("connect", "git")
    git("checkout", "-qb", "edited")
    _edit_by_hand(memories, field)
    git.commit()
    git("checkout", "-qb", "amended", "main")
    repository.amend("mem_1_k", **{field: BY_COMMAND[field]})
    git.commit()
    git("checkout", "-q", into)
    git("merge", "-q", "--no-edit", "edited" if into == "amended" else "amended")
    assert getattr(repository.get("mem_1_k"), field) == BY_COMMAND[field]
    proposal = repository.beliefs.proposal("mem_1_k")
    assert proposal.differences == ((field, BY_COMMAND[field], BY_HAND[field]),)
    created, amended = repository.history("mem_1_k")
    assert "edited" in created.told
    assert (OLD[field] not in str(amended.changes)) and BY_HAND[field] not in str(amended.changes)
    repository.beliefs.decide("mem_1_k", accept=True)
    assert getattr(repository.get("mem_1_k"), field) == BY_HAND[field]
    assert not repository.get("mem_1_k").proposed
    assert (field, BY_COMMAND[field], BY_HAND[field]) in repository.history("mem_1_k")[-1].changes
    repository.amend("mem_1_k", **{field: BY_COMMAND[field]})
    assert getattr(repository.get("mem_1_k"), field) == BY_COMMAND[field] and not repository.get("mem_1_k").proposed


@pytest.mark.parametrize("is_accepted", [True, False])
def test_an_edit_after_an_amendment_without_a_hook_waits_for_a_review(memories, git, repository, is_accepted):
    (memories / "kafka.md").write_text(RETENTION)
    git.commit()
    repository.amend("mem_1_k", body=BY_COMMAND["body"])
    git.commit()
    _edit_by_hand(memories, "body")
    git.commit()
    memory = repository.get("mem_1_k")
    assert (memory.body, memory.proposed) == (BY_COMMAND["body"], ("mem_1_k",))
    repository.beliefs.decide("mem_1_k", accept=is_accepted)
    memory = repository.get("mem_1_k")
    assert (memory.body, memory.proposed) == ((BY_HAND if is_accepted else BY_COMMAND)["body"], ())


def test_an_edit_of_another_field_is_used_and_nothing_waits(memories, git, repository):
    (memories / "kafka.md").write_text(RETENTION)
    git.commit()
    repository.amend("mem_1_k", body=BY_COMMAND["body"])
    git.commit()
    _edit_by_hand(memories, "title")
    git.commit()
    memory = repository.get("mem_1_k")
    assert (memory.body, memory.title, memory.proposed) == (BY_COMMAND["body"], BY_HAND["title"], ())


def test_without_git_an_edit_after_an_amendment_waits_for_a_review_too(memories, repository):
    (memories / "kafka.md").write_text(RETENTION)
    repository.amend("mem_1_k", body=BY_COMMAND["body"])
    _edit_by_hand(memories, "body")
    assert repository.beliefs.proposal("mem_1_k").proposed.body == BY_HAND["body"]
    assert [proposal.memory.id for proposal in repository.beliefs.proposals()] == ["mem_1_k"]


@pytest.mark.parametrize("is_archived", [True, False])
def test_a_text_that_an_archive_or_a_supersession_did_not_know_waits_for_a_review(
    memories, git, repository, is_archived
):
    (memories / "kafka.md").write_text(RETENTION)
    (memories / "ports.md").write_text(OTHER)
    git.commit()
    git("checkout", "-qb", "edited")
    _edit_by_hand(memories, "body")
    git.commit()
    git("checkout", "-q", "main")
    if is_archived:
        repository.beliefs.archive("mem_1_k")
    else:
        repository.beliefs.supersede("mem_1_k", "mem_3_c", anyway=True)
    git.commit()
    git("merge", "-q", "--no-edit", "edited")
    assert repository.get("mem_1_k").status == ("archived" if is_archived else "superseded")
    assert repository.beliefs.proposal("mem_1_k").proposed.body == BY_HAND["body"]
    repository.beliefs.decide("mem_1_k", accept=True)
    memory = repository.get("mem_1_k")
    assert (memory.status, memory.body, memory.proposed) == ("active", BY_HAND["body"], ())


@pytest.mark.parametrize("first", ["delete", "amend"])
@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_text_beside_a_deletion_waits_for_a_review(memories, git, repository, first, is_accepted):
    (memories / "kafka.md").write_text(RETENTION)
    git.commit()
    for branch in ("amend", "delete") if first == "amend" else ("delete", "amend"):
        git("checkout", "-qb", branch, "main")
        if branch == "amend":
            repository.amend("mem_1_k", body=BY_COMMAND["body"])
        else:
            repository.delete("mem_1_k")
        git.commit()
    git("merge", "-q", "--no-edit", first)
    assert repository.get("mem_1_k").status == "deleted"
    (proposal,) = repository.beliefs.proposals()
    assert [change.body for change in proposal.changes] == [BY_COMMAND["body"]]
    body = repository.beliefs.proposal("mem_1_k").memory.body
    shown = {name: (before, after) for name, before, after in proposal.differences}
    assert (
        shown["status"] == ("deleted", "active") and shown["body"] == (body, BY_COMMAND["body"]) and body in RETENTION
    )
    repository.beliefs.decide("mem_1_k", accept=is_accepted)
    memory = repository.get("mem_1_k")
    assert not memory.proposed
    assert (memory.status, memory.body) == ("active" if is_accepted else "deleted", BY_COMMAND["body"])


def test_a_text_that_waits_beside_an_archive_still_waits_after_a_further_text(memories, git, repository):
    """Only a review, or another removal, decides on it."""
    (memories / "kafka.md").write_text(RETENTION)
    git.commit()
    git("checkout", "-qb", "amended")
    repository.amend("mem_1_k", body=BY_COMMAND["body"])
    git.commit()
    git("checkout", "-q", "main")
    repository.beliefs.archive("mem_1_k")
    git.commit()
    git("merge", "-q", "--no-edit", "amended")
    repository.amend("mem_1_k", body=BY_HAND["body"])
    git.commit()
    assert (repository.get("mem_1_k").status, repository.get("mem_1_k").body) == ("archived", BY_HAND["body"])
    assert repository.beliefs.proposal("mem_1_k").proposed.body == BY_COMMAND["body"]
    repository.delete("mem_1_k")
    assert not repository.get("mem_1_k").proposed
