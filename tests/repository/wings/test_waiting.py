"""The list of what waits for a person, the decisions about it, and undoing them."""

import pytest
from rawkomem.model.entries import RULE, Draft, Entry
from rawkomem.model.errors import BadInput
from rawkomem.repository import Repository

CLAIM = {"subject": "db", "predicate": "port", "value": "5432"}


@pytest.fixture
def person(project, git):
    """The repository of a person who committed one memory."""
    opened = Repository.open(str(project), via="person")
    opened.add(Entry(id="mem_one", title="Tests", body="Run the tests with npm.", when=("test",)))
    git.commit()
    yield opened
    opened.close()


def propose(project, **fields) -> None:
    with Repository.open(str(project), via="agent") as agent:
        agent.amend("mem_one", **(fields or {"body": "Run the tests with pnpm."}))


def put_draft(repository, **fields) -> Draft:
    draft = Draft(**{"id": "drf_0123456789ab", "kind": RULE, "said": "use tabs", "title": "Tabs", "text": "Use tabs.",
                     "at": 1, **fields})  # fmt: skip
    repository.drafts.store.put([draft])
    return draft


def kinds(repository) -> list[str]:
    return [item.kind for item in repository.waiting()]


def test_one_list_holds_all_four_kinds(person, project):
    propose(project)
    put_draft(person)
    person.add("Port 5432", claim=CLAIM)
    with Repository.open(str(project), via="agent") as agent:
        agent.add("Port 6432", claim={**CLAIM, "value": "6432"})
    held = person.add("Check the licence of each package.").id
    person.beliefs.quarantine(held)
    items = person.waiting()
    assert [item.kind for item in items] == ["proposal", "conflict", "draft", "quarantined"]
    assert [item.id for item in items][::3] == ["mem_one", held]
    assert items[1].other.title == "Port 5432" and items[2].title == "Tabs"
    assert all(item.at and item.title and {"keep", "drop"} <= {*item.decisions} for item in items)
    assert [item.kind for item in person.waiting(["draft"])] == ["draft"]
    with pytest.raises(BadInput):
        person.decide(items[0], "both")


def test_a_kept_draft_comes_back_and_its_file_goes(person, project):
    old = person.add("Use spaces in all files.").id
    draft = put_draft(person, corrects=(old,))
    before = {*(project / ".rawko" / "memories").rglob("*.md")}
    (item,) = person.waiting()
    written, replaced = person.decide(item, "keep")
    assert replaced.entry.about == old
    assert person.waiting() == [] and person.get(old).superseded_by == written.entry.id
    undone = person.undoing.undo()
    assert person.drafts.all() == [draft] and person.get(old).status == "active"
    assert {*(project / ".rawko" / "memories").rglob("*.md")} == before, "git never had the file of the memory"
    assert undone.removed == (written.entry.id,) and not person.core.holds(written.entry.id)
    assert b"Use tabs." in (project / ".rawko" / undone.copies[0]).read_bytes()
    person.decide(item, "keep")
    assert person.waiting() == []


def test_a_kept_and_committed_draft_comes_back_beside_a_deleted_memory(person, git):
    draft = put_draft(person)
    (written,) = person.decide(person.waiting()[0], "keep")
    git.commit()
    assert not person.undoing.undo().removed
    assert person.drafts.all() == [draft] and person.get(written.entry.id).status == "deleted"


def test_a_dropped_draft_comes_back_as_often_as_it_is_dropped(person):
    draft = put_draft(person, session="s-1")
    earlier = person.add("Check the licence of each package.").id
    for _ in range(2):
        person.decide(person.waiting()[0], "drop")
        assert person.drafts.all() == [] and person.drafts.store.decided() == {draft.id}
        assert person.undoing.changes(1)[0][1][0].told == "dropped a draft"
        assert person.undoing.undo(dry_run=True).reopened == (draft.id,) and person.drafts.all() == []
        assert person.undoing.undo().reopened == (draft.id,)
        assert person.drafts.all() == person.drafts.store.of_session("s-1") == [draft]
        assert person.drafts.store.decided() == frozenset()
    assert person.undoing.undo().removed == (earlier,)


@pytest.mark.parametrize("decision", ["keep", "drop"])
def test_a_decided_proposal_waits_again_after_undo(decision, person, project):
    propose(project)
    before = person.get("mem_one")
    for _ in range(2):
        (item,) = person.waiting()
        person.decide(item, decision)
        assert person.waiting() == []
        assert ("pnpm" in person.get("mem_one").body) == (decision == "keep")
        person.undoing.undo()
        now = person.get("mem_one")
        assert (now.body, now.proposed) == (before.body, before.proposed) and kinds(person) == ["proposal"]


def test_an_agent_cannot_reopen_what_a_person_decided(person, project):
    propose(project)
    person.decide(person.waiting()[0], "keep")
    with Repository.open(str(project), via="agent") as agent:
        agent.undoing.undo()
    assert "pnpm" in person.get("mem_one").body


def test_a_memory_that_was_let_in_waits_again_after_undo(person):
    held = person.add("Check the licence of each package.").id
    person.beliefs.quarantine(held, "import")
    person.decide(person.waiting()[0], "keep")
    assert person.get(held).status == "active"
    person.undoing.undo()
    assert kinds(person) == ["quarantined"]


@pytest.mark.parametrize(("decision", "status"), [("keep", "superseded"), ("both", "active"), ("drop", "active")])
def test_contradicting_sentences_are_settled(decision, status, person):
    old = person.add(Entry(title="Build", body="Use npm for the build of the app.", at=1_000)).id
    new = person.add(Entry(title="Build", body="Use pnpm for the build of the app.", at=2_000)).id
    (item,) = person.waiting()
    assert (item.kind, item.id, item.other.id) == ("conflict", new, old) and "pnpm" in item.said[0]
    person.decide(item, decision)
    assert person.get(old).status == status and person.waiting() == []
    assert (person.get(new).status == "archived") == (decision == "drop")


def test_only_a_file_of_one_uncommitted_change_is_removed(person, git, project):
    first = person.add("Use one queue.").id
    person.amend(first, title="Queue")  # its file holds two changes now
    person.undoing.undo()
    assert not person.undoing.undo().removed and person.get(first).status == "deleted"
    second = person.add("Use two queues.").id
    git("add", ".rawko")
    assert not person.undoing.undo().removed and person.get(second).status == "deleted"
