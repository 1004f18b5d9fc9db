"""Files that a person wrote without an `id`: the first change writes the id, and a rename keeps every change."""

import pytest
from rawkomem.files.reading import read_data
from rawkomem.git.merge import merge_entries
from rawkomem.model.errors import Refused
from rawkomem.repository import Repository

from tests.commands import spread
from tests.git.gitting import AGENT

NOTES = "---\ntitle: Deploy host\nwhenToUse: deploy\n---\n\nDeploy from the harbor host.\n"
NAMED = NOTES.replace("---\n", "---\nid: notes\n", 1)


@pytest.fixture
def notes(memories, git):
    """A committed file that a person wrote."""
    (memories / "notes.md").write_text(NOTES)
    git.commit()
    return memories / "notes.md"


@pytest.fixture
def repository(project):
    """The repository of `project`, opened by a person."""
    with Repository.open(str(project), via="person") as opened:
        yield opened


def test_a_renamed_file_keeps_deletion_amendments_and_votes(notes, memories, git, repository):
    repository.feedback("notes", "helpful")
    repository.amend("notes", title="Where we deploy")
    repository.delete("notes", "moved away")
    git.commit()
    git("mv", ".rawko/memories/notes.md", ".rawko/memories/deploy-host.md")
    git("commit", "-qm", "rename")
    memory = repository.get("notes")
    assert (memory.status, memory.title, memory.helpful) == ("deleted", "Where we deploy", 1)
    assert repository.inject("deploy the service").text == ""
    assert repository.get("notes").path == "memories/deploy-host.md"


def test_the_id_is_written_once_and_nothing_else_changes(notes, repository):
    repository.feedback("notes", "helpful")
    assert notes.read_text() == NAMED
    repository.feedback("notes", "helpful")
    assert notes.read_text() == NAMED and repository.get("notes").helpful == 2


def test_the_id_changes_neither_who_vouches_nor_history(notes, git, rawkomem, repository):
    """Also where an agent makes the first change: the text is still the person's."""
    assert repository.get("notes").vouched
    with Repository.open(str(notes.parents[2]), via="agent") as agents:
        agents.feedback("notes", "helpful")
    assert notes.read_text() == NAMED and repository.get("notes").vouched
    git("add", "-A")
    assert repository.edits.check((), agent=True)["history"] == []
    git("commit", "-qm", "a vote", by=AGENT)
    assert repository.get("notes").vouched


TEXTS = {
    "crlf": NOTES.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + NOTES,
    "blank lines": "\n\n" + NOTES,
    "flow": NOTES.replace("title: Deploy host\nwhenToUse: deploy", "{title: Deploy host}"),
    "empty id": NOTES.replace("title:", "id:\ntitle:"),
    "two memories": f"{NOTES}\n---\n\n{NOTES.replace('host', 'port')}",
}


@pytest.mark.parametrize(
    ("name", "looks"), spread(["notes", "Überblick 日本", "a b", "12", "yes", "x'y", "sub/~odd"], [*TEXTS])
)
def test_whatever_the_file_looks_like_its_entries_keep_ids_and_digests(memories, git, repository, name, looks):
    text = TEXTS[looks]
    file = memories / f"{name}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    git.commit()
    path = f"memories/{name}.md"
    before = read_data(file.read_bytes(), path).entries
    for entry in before:
        if not entry.draft:
            repository.feedback(entry.id, "helpful")
    can_have_id = "{" not in text and "id:\n" not in text
    after = read_data(file.read_bytes(), path).entries
    kept = after if can_have_id else after[:-1]  # a change goes to the file itself
    assert [(e.id, e.digest, e.body) for e in kept] == [(e.id, e.digest, e.body) for e in before]
    assert all("id" in entry.given for entry in after) == can_have_id
    assert all(repository.get(entry.id).helpful == 1 for entry in before if not entry.draft)


def _amended(repository):
    repository.amend("notes", body="Deploy from the river host.")


def _deleted(repository):
    repository.delete("notes")


@pytest.mark.parametrize("change", [_amended, _deleted])
def test_a_new_file_with_the_name_of_a_removed_one_gets_none_of_its_changes(notes, git, repository, change):
    change(repository)
    git.commit()
    git("rm", "-q", ".rawko/memories/notes.md")
    git.commit()
    notes.write_text("---\ntitle: Otters\nwhenToUse: otters\n---\n\nOtters sleep afloat.\n")
    git.commit()
    memory = repository.get("notes")
    assert (memory.title, memory.body, memory.status) == ("Otters", "Otters sleep afloat.", "active")
    assert "Otters sleep afloat." in repository.inject("feed the otters").text
    (left,) = [problem for checked in repository.check() for problem in checked.problems if problem.level == "warning"]
    assert left.code == "about-nothing" and left.path.startswith("changes/")
    assert not repository.edits.gather().written and repository.get("notes").status == "active"
    with pytest.raises(Refused, match="an earlier file"):
        repository.amend("notes", body="Otters sleep in the kelp.")
    (separated,) = repository.edits.separate_copies()
    git.commit()
    repository.amend(separated.new, body="Otters sleep in the kelp.")
    memory = repository.get(separated.new)
    assert (memory.body, memory.status, memory.vouched) == ("Otters sleep in the kelp.", "active", True)


def test_a_replacement_without_an_id_gets_one_so_that_a_rename_restores_nothing(notes, memories, git, repository):
    (memories / "newer.md").write_text(NOTES.replace("harbor", "river"))
    git.commit()
    repository.beliefs.supersede("notes", "newer", anyway=True)
    git.commit()
    git("mv", ".rawko/memories/newer.md", ".rawko/memories/newest.md")
    git.commit()
    assert (repository.get("notes").status, repository.get("newer").path) == ("superseded", "memories/newest.md")


def test_a_new_file_with_the_old_name_of_a_renamed_one_is_reported_and_gets_an_id(notes, git, repository, rawkomem):
    _amended(repository)
    git.commit()
    git("mv", ".rawko/memories/notes.md", ".rawko/memories/deploy-host.md")
    git.commit()
    notes.write_text("---\ntitle: Otters\nwhenToUse: otters\n---\n\nOtters sleep afloat.\n")
    git("add", "-A")
    (problem,) = repository.edits.check((), agent=False)["frontmatter"]
    assert problem.code == "duplicate-id" and problem.path == ".rawko/memories/notes.md"
    assert repository.get("notes").body == "Deploy from the river host."
    assert "--fix" in rawkomem("status").stdout
    assert rawkomem("check", "--fix").returncode == 0
    assert {memory.title for memory in repository.list()} == {"Deploy host", "Otters"}
    assert rawkomem("check").returncode == 0


def test_branches_that_both_write_the_id_merge_without_a_driver(notes, git, repository):
    for branch in ("one", "two"):
        git("checkout", "-q", "-b", branch, "main")
        repository.feedback("notes", "helpful")
        if branch == "two":
            notes.write_text(notes.read_text().replace("harbor", "river"))
        git.commit()
    git("merge", "-q", "--no-edit", "one")
    memory = repository.get("notes")
    assert (memory.helpful, memory.body) == (2, "Deploy from the river host.")


@pytest.mark.parametrize("edited", [NOTES.replace("Deploy host", "Host"), NOTES.replace("harbor", "river")])
def test_the_driver_merges_an_id_with_an_edit(edited):
    wanted = edited.replace("---\n", "---\nid: notes\n", 1)
    for ours, theirs in ((NAMED, edited), (edited, NAMED), (NAMED, wanted)):
        merged = merge_entries(NOTES.encode(), ours.encode(), theirs.encode(), ".rawko/memories/notes.md")
        assert merged is not None and (merged.data.decode(), merged.conflicts) == (wanted, ())


def test_a_branch_that_renames_and_a_branch_that_deletes_merge_without_a_driver(notes, git, repository):
    git("checkout", "-qb", "side")
    git("mv", ".rawko/memories/notes.md", ".rawko/memories/deploy-host.md")
    git.commit()
    git("checkout", "-q", "main")
    repository.delete("notes", "gone")
    git.commit()
    git("merge", "-q", "--no-edit", "side")
    assert repository.get("notes").status == "deleted"
    assert repository.get("notes").path == "memories/deploy-host.md"


def test_a_file_that_lost_its_id_line_gets_it_back(notes, memories, git, repository):
    """A revert of the first change of one branch takes the line from the changes of another branch, too."""
    (memories / "old.md").write_text(NOTES.replace("harbor", "old"))
    git.commit()
    git("checkout", "-q", "-b", "side")
    repository.delete("notes")
    git.commit()
    git("checkout", "-q", "main")
    repository.amend("notes", title="Host of deployments")
    repository.beliefs.supersede("old", "notes", anyway=True)
    git.commit()
    git("checkout", "-q", "side")
    git("rebase", "-q", "main")
    git("revert", "--no-edit", "HEAD")
    notes.write_text(notes.read_text().replace("id: notes\n", ""))
    git.commit()
    with pytest.raises(Refused, match="an earlier file"):
        repository.amend("notes", body="Deploy from the river host.")
    (restored,) = repository.edits.separate_copies()
    assert (restored.old, restored.new) == ("notes", "notes")
    git.commit()
    memory = repository.get("notes")
    assert (memory.title, memory.status, memory.vouched) == ("Host of deployments", "active", True)
    assert repository.get("old").superseded_by == "notes"


def test_a_copy_with_the_text_of_an_earlier_file_gets_an_id_of_its_own(notes, git, repository):
    _amended(repository)
    git.commit()
    git("mv", ".rawko/memories/notes.md", ".rawko/memories/deploy-host.md")
    git.commit()
    notes.write_text(NOTES.replace("Deploy host", "Host of tests"))
    (separated,) = repository.edits.separate_copies()
    assert separated.new != separated.old == "notes"


@pytest.mark.parametrize("joined", [NOTES.replace("harbor", "river"), NOTES.replace("Deploy host", "Host")])
def test_the_driver_leaves_two_ids_for_one_entry_to_a_person(joined):
    """Both sides gave the entry an id of its own, and one of them edited it: that is one memory, not two."""
    ours, theirs = (text.replace("---\n", f"---\nid: mem_{n}\n", 1) for n, text in enumerate((NOTES, joined)))
    for one, other in ((ours, theirs), (theirs, ours)):
        assert merge_entries(NOTES.encode(), one.encode(), other.encode(), ".rawko/memories/notes.md") is None
