"""`undo`, `restore` and `delete`: nothing that a command did is lost, and nothing is rewritten."""

import json
import re
import sys

import pytest
from rawkomem.files.machine_records import read_changes
from rawkomem.model.errors import Refused
from rawkomem.repository import Repository, undoing

from tests.git.gitting import AGENT
from tests.terminals import detached, scrubbed, typed

KEPT = ("status", "title", "helpful", "harmful", "reinforcements", "disputes", "links", "valid_until", "superseded_by")


@pytest.fixture
def memory(rawkomem) -> str:
    told = rawkomem("add", "--title", "Queue jobs", "--tag", "ops", "--body", "Use one queue.", "--json")
    return json.loads(told.stdout)["id"]


def show(rawkomem, id: str) -> dict:
    return rawkomem.json("show", id)


def test_undo_twice_goes_back_twice_and_rewrites_nothing(rawkomem, memory, memories):
    rawkomem("amend", memory, "--title", "Jobs", "--body", "Use two queues.")
    rawkomem("amend", memory, "--tag", "db")
    before = {file: file.read_bytes() for file in memories.rglob("*.md")}
    rawkomem("undo")
    rawkomem("undo")
    now = show(rawkomem, memory)
    assert (now["title"], now["body"], now["tags"]) == ("Queue jobs", "Use one queue.", ["ops"])
    assert all(file.read_bytes().startswith(data) for file, data in before.items())
    assert "created → deleted" in rawkomem("undo").stdout
    assert show(rawkomem, memory)["status"] == "deleted"
    assert "there is no change to undo" in rawkomem("undo", check=1).stderr
    rawkomem("restore", memory)
    assert show(rawkomem, memory)["status"] == "active"


def test_an_undo_prints_the_command_that_takes_it_back(rawkomem, memory):
    rawkomem("amend", memory, "--title", "Jobs")
    told = rawkomem("undo").stderr
    for title in ("Queue jobs", "Jobs", "Queue jobs"):
        assert show(rawkomem, memory)["title"] == title
        (command,) = re.findall(r"to take this back: rawkomem (undo \S+)", told)
        told = rawkomem(*command.split()).stderr


def test_a_dry_run_writes_nothing_and_says_what_would_happen(rawkomem, memory, memories):
    rawkomem("feedback", memory, "--harmful")
    before = {file: file.read_bytes() for file in memories.rglob("*.md")}
    assert "would undo  voted harmful → undid feedback_" in rawkomem("undo", "--dry-run").stdout
    assert before == {file: file.read_bytes() for file in memories.rglob("*.md")}
    assert show(rawkomem, memory)["harmful"] == 1
    rawkomem("undo")
    assert show(rawkomem, memory)["harmful"] == 0


def test_votes_links_and_windows(rawkomem, memory):
    other = rawkomem.json("add", "--title", "Retry jobs", "--body", "Three times.")["id"]
    before = show(rawkomem, memory)
    for words in (
        ("feedback", memory, "--helpful"),
        ("reinforce", memory),
        ("dispute", memory),
        ("link", memory, other),
        ("amend", memory, "--valid-until", "2030-01-01"),
        ("supersede", memory, other, "--anyway"),
        ("quarantine", memory),
        ("archive", memory),
    ):
        rawkomem(*words)
        rawkomem("undo")
        now = show(rawkomem, memory)
        assert {key: now[key] for key in KEPT} == {key: before[key] for key in KEPT}, words


def test_an_import_is_one_change_and_a_large_one_asks_for_all(repository, tmp_path_factory, monkeypatch):
    monkeypatch.setattr("rawkomem.exchange.import_plan.ENTRIES_AT_ONCE", 4)  # several writes
    folder = tmp_path_factory.mktemp("from")
    monkeypatch.setattr(undoing, "MAX_UNDONE", 9)
    count = 10
    sections = (f"## Rule {n}\n\nBuild step {n} needs the cache {n} of the compiler.\n\n" for n in range(count))
    (folder / "CLAUDE.md").write_text("# Rules\n\n" + "".join(sections))
    repository.exchange.import_from(str(folder / "CLAUDE.md"))
    changes = read_changes(repository.layout)
    assert len(changes) == 1 and len(changes[0].memories) == count
    with pytest.raises(Refused, match=f"wrote {count} memories"):
        repository.undoing.undo()
    repository.undoing.undo(everything=True)
    assert not repository.core.all()


def test_the_list_names_memories_by_their_titles(rawkomem, memory, project):
    rawkomem("amend", memory, "--title", "Jobs")
    (project / "note.md").write_text("# Alerts\n\nPage the owner.\n")
    rawkomem("import", "note.md")
    told = [line.partition("  ")[2] for line in rawkomem("undo", "--list").stdout.splitlines()]
    assert told == ["created, held for a review: 'Alerts'", "changed title: 'Jobs'", "created: 'Jobs'"]


def test_the_list_can_be_shortened(rawkomem, memory, repository):
    for number in range(21):
        repository.add(f"Text {number}.", title=f"Jobs {number}")
    assert "showing 20 of 22: -n 0 shows all" in rawkomem("undo", "--list").stderr
    assert "'Jobs 20'" in rawkomem("undo", "--list", "-n", "1").stdout
    assert [len(rawkomem.json("undo", "--list", "-n", n)) for n in "10"] == [1, 22]


def test_a_change_of_a_memory_that_was_purged_since_is_undone_for_the_others(rawkomem, project):
    for name in ("Alerts", "Pages"):
        (project / "notes").mkdir(exist_ok=True)
        (project / "notes" / f"{name}.md").write_text(f"# {name}\n\nWho reads {name} in the morning.\n")
    rawkomem("import", "notes")
    names = {row["title"]: row["id"] for row in rawkomem.json("review")["quarantined"]}
    rawkomem("purge", names["Alerts"], "--yes")
    first = rawkomem("undo", "--list").stdout.split()[0]
    told = rawkomem("undo", first).stdout
    assert names["Pages"] in told and names["Alerts"] not in told


def test_what_only_a_person_may_undo_is_called_proposed(rawkomem, memory, git):
    git.commit()
    told = rawkomem("undo")
    assert told.stdout.startswith("proposed  created → deleted") and "review" in told.stderr
    assert show(rawkomem, memory)["status"] == "active"


def test_a_purge_cannot_be_undone_and_an_earlier_change_can(rawkomem, memory, memories):
    rawkomem("feedback", memory, "--helpful")
    other = rawkomem.json("add", "--title", "A leak", "--body", "x")["id"]
    rawkomem("purge", other, "--yes")
    told = rawkomem("undo", check=1).stderr
    assert f"the purge of {other}" in told and "undo --list" in told
    listed = rawkomem.json("undo", "--list")
    vote = next(item["change"] for item in listed if item["told"] == ["voted helpful"])
    rawkomem("undo", vote)
    assert show(rawkomem, memory)["helpful"] == 0
    assert "already undone" in rawkomem("undo", vote, check=1).stderr
    assert "made no change 'amend_x'" in rawkomem("undo", "amend_x", check=1).stderr


def test_a_change_on_another_branch_is_not_here(rawkomem, git, memory, memories):
    git.commit()
    git("checkout", "-qb", "side")
    rawkomem("add", "--title", "Only here", "--body", "x")
    git.commit()
    git("checkout", "-q", "main")
    assert "no file here contains the change" in rawkomem("undo", check=1).stderr


@pytest.mark.parametrize("away", [("delete",), ("archive",), ("quarantine", "--reason", "looks wrong")])
def test_restore_brings_back(rawkomem, memory, away):
    command, *more = away
    rawkomem(command, memory, *more)
    assert "restored  Queue jobs" in rawkomem("restore", memory).stdout
    assert show(rawkomem, memory)["status"] == "active"
    assert "is active (nothing to do)" in rawkomem("restore", memory, check=1).stderr


def test_restore_leaves_what_waits_for_a_review(repository):
    claim = {"subject": "api", "predicate": "port", "value": "80"}
    repository.add("Port 80", claim=claim, via="person")
    held = repository.add("Port 81", claim={**claim, "value": "81"}, via="tool_output")
    assert repository.get(held.id).status == "quarantined"
    with pytest.raises(Refused, match="is quarantined"):
        repository.beliefs.restore(held.id)


@pytest.mark.parametrize("away", [("delete", "--yes"), ("archive",)])
def test_restore_lets_nothing_pass_a_review(rawkomem, project, away):
    (project / "note.md").write_text("# Alerts\n\nPage the owner.\n")
    rawkomem("import", "note.md")
    (waiting,) = rawkomem.json("review")["quarantined"]
    command, *more = away
    rawkomem(command, waiting["id"], *more)
    told = rawkomem("restore", waiting["id"])
    assert f"rawkomem review {waiting['id']}" in told.stderr
    now = show(rawkomem, waiting["id"])
    assert (now["status"], now["reason"]) == ("quarantined", waiting["reason"])


def test_an_import_names_what_was_deleted_here(rawkomem, project):
    (project / "notes").mkdir()
    (project / "notes" / "a.md").write_text("# Alerts\n\nPage the owner.\n")
    (project / "notes" / "broken.md").write_bytes(b"# Latin \xe9\n")
    rawkomem("import", "notes")
    again = rawkomem("import", "notes")
    assert "1 known" in again.stderr and "deleted" not in again.stdout + again.stderr
    rawkomem("delete", rawkomem.json("review")["quarantined"][0]["id"], "--yes")
    again = rawkomem("import", "notes")
    assert "deleted here: mem_" in again.stdout and "rawkomem restore ID" in again.stderr


def test_delete_asks_at_a_terminal_with_the_title(project, rawkomem, memory, terminal):
    shown, env = project / "shown", scrubbed(NO_COLOR="1")
    line = f"{sys.executable} -m rawkomem delete {memory}"
    detached(terminal, typed(line, shown), project, env)
    assert "Delete" in shown.read_text() and "Queue jobs" in shown.read_text()
    assert show(rawkomem, memory)["status"] == "active", "nobody answered"
    (project / "ended").unlink()
    detached(terminal, typed(f"{line} --yes", shown), project, env)
    assert show(rawkomem, memory)["status"] == "deleted"


def test_without_git_the_file_of_an_added_memory_is_removed(rawkomem, memory, memories, project):
    """A repository without git has nothing else to keep: the same text can be added again under the same file name."""
    (file,) = memories.glob("queue-*.md")
    text = file.read_bytes()
    told = rawkomem.json("undo")
    assert told["removed"] == [memory] and not file.exists()
    assert (project / ".rawko" / told["copies"][0]).read_bytes() == text
    rawkomem("add", "--title", "Queue jobs", "--body", "Use one queue.")
    assert file.exists()


# What an agent wrote and nobody committed


PROPOSALS = (
    "amend {id} --body Nine.",
    "amend {id} --valid-until 2030-01-01",
    "delete {id}",
    "delete {id} --archive",
    "supersede {id} {other} --anyway",
    "review {id} --hold",
    "feedback {id} wrong",
    "feedback {id} true",
    "link {id} {other}",
)


@pytest.mark.parametrize("line", PROPOSALS)
def test_an_agent_takes_back_its_proposal_and_no_commit_carries_it_out(rawkomem, memory, git, project, line):
    other = rawkomem.json("add", "--title", "Retry", "--body", "Three times.")["id"]
    git.commit()
    before = show(rawkomem, memory)
    rawkomem(*line.format(id=memory, other=other).split())
    (file,) = (project / ".rawko" / "changes").rglob("*.md")
    text = file.read_bytes()
    assert "would undo" in rawkomem("undo", "--dry-run").stdout and file.read_bytes() == text
    told = rawkomem.json("undo")
    assert told["removed"] == [memory] and not file.exists()
    assert (project / ".rawko" / told["copies"][0]).read_bytes() == text
    assert "nothing waits" in rawkomem("review").stderr
    git.commit()
    now = show(rawkomem, memory)
    kept = (*KEPT, "body", "tags", "proposed", "updated")
    assert {key: now[key] for key in kept} == {key: before[key] for key in kept}
    assert "already undone" in rawkomem("undo", told["change"], check=1).stderr


def test_an_agent_takes_back_only_its_own_entry_of_a_file(rawkomem, memory, git, project):
    """A memory that a person typed and did not commit holds the agent's proposal in its own file."""
    git.commit()
    with Repository.open(str(project), via="person") as person:
        typed_one = person.add("Page the owner at night.", title="Alerts").id
        person.amend(typed_one, tags=("ops",))
    (file,) = (project / ".rawko" / "memories").glob("alerts.md")
    before = file.read_bytes()
    rawkomem("feedback", typed_one, "wrong")
    assert file.read_bytes() != before and show(rawkomem, typed_one)["proposed"]
    rawkomem("undo")
    assert file.read_bytes() == before and not show(rawkomem, typed_one)["proposed"]


def test_an_agent_does_not_take_back_a_persons_change(rawkomem, memory, git, project):
    git.commit()
    with Repository.open(str(project), via="person") as person:
        person.amend(memory, title="Jobs")
    (file,) = (project / ".rawko" / "changes").rglob("*-amend-*.md")
    assert rawkomem("undo").stdout.startswith("proposed  ")
    assert file.exists() and show(rawkomem, memory)["title"] == "Jobs"


def test_a_committed_proposal_waits_for_a_person(rawkomem, memory, git, project):
    git.commit()
    rawkomem("delete", memory)
    git.commit(by=AGENT)
    assert f"rawkomem review {memory}" in rawkomem("undo", check=1).stderr
    assert show(rawkomem, memory)["proposed"]


def test_a_staged_proposal_is_named_with_the_command_that_unstages_it(rawkomem, memory, git, project):
    git.commit()
    rawkomem("delete", memory)
    git("add", "-A")
    hint = rawkomem("undo", check=1).stderr
    unstage, undo = re.findall(r"'(?:git|rawkomem) ([^']+)'", hint)
    git(*unstage.split())
    rawkomem(*undo.split())
    assert "nothing waits" in rawkomem("review").stderr


def test_a_deletion_that_only_waits_names_no_restore(rawkomem, memory, git):
    git.commit()
    assert "restore" not in rawkomem("delete", memory).stderr


def test_the_hint_about_a_large_change_undoes_that_change(rawkomem, project, monkeypatch):
    monkeypatch.setattr(undoing, "MAX_UNDONE", 1)
    (project / "CLAUDE.md").write_text(
        "# Rules\n\n## One\n\nBuild the parser twice before a release.\n\n## Two\n\nRun the slow tests three times at night.\n"
    )
    rawkomem("import", "CLAUDE.md")
    rawkomem("review", "--all-from", "CLAUDE.md", "--activate")
    name = rawkomem("undo", "--list").stdout.split()[0]
    rawkomem("add", "--title", "Later", "--body", "Another change.")
    hint = rawkomem("undo", name, check=1).stderr
    (command,) = re.findall(r"'rawkomem ([^']+)'", hint)
    rawkomem(*command.split())
    assert len(rawkomem.json("review")["quarantined"]) == 2
    assert show(rawkomem, "Later")["status"] == "active"
