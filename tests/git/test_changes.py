"""Changes in files of their own, and gathering them: where they go, who vouches, merges, commits, crashes."""

import os

import pytest
from rawkomem.files.check import check_repository
from rawkomem.files.layout import find_layout
from rawkomem.model.errors import NotFound
from rawkomem.repository import Repository

from tests.commands import ROOT
from tests.git.gitting import AGENT
from tests.git.provenance import provenance_of
from tests.git.test_staged import found


@pytest.fixture
def shared(git, project):
    """A repository with one committed memory, and a person at it."""
    with Repository.open(str(project), via="person") as opened:
        opened.add("Push to main.", title="How we deploy", id="mem_1_a")
        git.commit()
        yield opened


@pytest.fixture
def file(memories):
    return memories / "how-we-deploy.md"


def paths(project) -> list[str]:
    root = project / ".rawko"
    return sorted(str(path.relative_to(root)) for path in (root / "changes").rglob("*.md"))


def problems(project) -> list[str]:
    return [problem.code for one in check_repository(find_layout(str(project))) for problem in one.problems
            if problem.level == "error"]  # fmt: skip


def test_a_change_of_a_tracked_memory_gets_a_file_of_its_own(shared, project, file, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-12-31T23:59:59Z")
    before = file.read_bytes()
    vote = shared.feedback("mem_1_a", "helpful").entry
    assert vote.path == f"changes/2026-12/how-we-deploy-feedback-{vote.id[-6:]}.md" == paths(project)[0]
    assert file.read_bytes() == before and shared.get("mem_1_a").helpful == 1
    assert [step.entry.path for step in shared.history("mem_1_a")][1] == vote.path
    assert not problems(project)


def test_without_git_and_while_untracked_it_is_appended(project, memories, git):
    with Repository.open(str(project), via="person") as opened:
        opened.add("Text.", title="New")
        assert opened.feedback("new", "helpful").entry.path == "memories/new.md"
        git("add", "-A")
        assert opened.feedback("new", "helpful").entry.path.startswith("changes/")
        os.rename(project / ".git", project / "no-git")
        assert opened.feedback("new", "helpful").entry.path == "memories/new.md"


def test_an_id_that_somebody_gave_is_hashed_and_a_taken_name_gets_a_number(shared, project):
    from rawkomem.model.entries import Entry, Plan
    from rawkomem.state.plans import entry_about

    memory = shared.get("mem_1_a")
    for id in ("own id", "x_abcdef", "y_abcdef"):
        shared.core.write(Plan((entry_about(memory, Entry(kind="reinforce", id=id, at=1_767_225_600_000)),), "test"))
    names = [path.rpartition("-reinforce-")[2] for path in paths(project)]
    assert sorted(map(len, names)) == [9, 9, 11] and {"abcdef.md", "abcdef-2.md"} < {*names}


@pytest.mark.parametrize("put", ["link", "pipe", "folder"])
def test_what_lies_where_git_keeps_the_folder_stops_no_change(shared, project, tmp_path, monkeypatch, put):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-12-31T23:59:59Z")
    kept = project / ".rawko" / "changes" / "2026-12" / ".gitkeep"
    kept.parent.mkdir(parents=True)
    {"link": lambda: kept.symlink_to(tmp_path / "made"), "pipe": lambda: os.mkfifo(kept), "folder": kept.mkdir}[put]()
    shared.feedback("mem_1_a", "helpful")
    assert shared.get("mem_1_a").helpful == 1 and not (tmp_path / "made").exists()


def test_who_committed_a_change_file_vouches_for_it(shared, project, git):
    with Repository.open(str(project), via="agent") as agent:
        by_agent = agent.amend("mem_1_a", body="Send tokens away.").entry
        git.commit("agent", AGENT)
        by_person = shared.feedback("mem_1_a", "helpful").entry
        git.commit("person")
        assert provenance_of(shared.layout)[0] == {"mem_1_a": "person", by_agent.id: "agent", by_person.id: "person"}
        assert shared.get("mem_1_a").proposed == (by_agent.id,)
        agent.edits.gather()
        git.commit("an agent gathers", AGENT)
        assert provenance_of(shared.layout)[0] == {"mem_1_a": "person", by_agent.id: "agent", by_person.id: "person"}
        assert shared.get("mem_1_a").proposed == (by_agent.id,) and shared.get("mem_1_a").helpful == 1


def test_gather_appends_in_order_and_can_be_committed(shared, project, file, git, rawkomem):
    first = shared.amend("mem_1_a", body="Push a tag.").entry
    second = shared.feedback("mem_1_a", "helpful").entry
    git.commit()
    before, memory, kept = file.read_text(), shared.get("mem_1_a"), shared.feedback("mem_1_a", "harmful").entry
    assert rawkomem("tidy", "gather", "--dry-run").stdout.count("→ memories/how-we-deploy.md") == 2
    assert file.read_text() == before and len(paths(project)) == 3
    told = rawkomem("tidy", "gather")
    assert told.stdout.index(first.id) < told.stdout.index(second.id) and "not committed yet" in told.stderr
    assert file.read_text().startswith(before) and paths(project) == [kept.path]
    assert shared.get("mem_1_a").entries == memory.entries + 1 and shared.get("mem_1_a").body == "Push a tag."
    git("add", "-A")
    assert found(project) == {} and not problems(project)
    assert "nothing to gather" in rawkomem("tidy", "gather").stderr


def test_a_gather_that_loses_an_entry_cannot_be_committed(shared, project, file, git):
    shared.feedback("mem_1_a", "helpful")
    lost = shared.feedback("mem_1_a", "helpful").entry
    git.commit()
    shared.edits.gather()
    text = file.read_text()
    file.write_text(text[: text.index(f"\n---\n\n---\nid: {lost.id}")])
    git("add", "-A")
    assert [problem.split(": ")[1] for problem in found(project)["history"]] == [
        f"{lost.id}, about mem_1_a, was removed"
    ]


def test_changes_without_a_home_stay(shared, project, file, git, rawkomem):
    orphan, waiting = shared.add("Old.", title="Old").id, shared.add("Draft.", title="Draft").id
    git.commit()
    left = [shared.feedback(id, "helpful").entry.path for id in (orphan, waiting)]
    (project / ".rawko/memories/old.md").unlink()
    draft = project / ".rawko/memories/draft.md"
    draft.write_text(draft.read_text().replace("title: Draft\n", ""))
    nameless = project / ".rawko/changes/2026-01/by-hand.md"
    nameless.parent.mkdir()
    nameless.write_text("---\nkind: reinforce\nabout: mem_1_a\n---\n")
    git.commit()
    told = rawkomem("tidy", "gather").stderr
    assert f"{left[0]} was not moved: its memory has no file" in told
    assert f"{left[1]} was not moved: its memory" in told
    assert "changes/2026-01/by-hand.md was not moved: an entry in it has no id or no time" in told
    assert len(paths(project)) == 3 and "nothing to gather" in told


def test_a_gather_that_was_killed_is_finished_by_the_next(shared, project, file, git):
    vote = shared.feedback("mem_1_a", "helpful").entry
    git.commit()
    shared.edits.gather()
    git("checkout", "--", f".rawko/{vote.path}")  # as if it was killed before it removed the change file
    assert paths(project) == [vote.path] and vote.id in file.read_text() and shared.get("mem_1_a").helpful == 1
    assert not problems(project), "a copy is no second entry"
    git.commit("both copies")
    shared.edits.gather()
    assert not paths(project) and file.read_text().count(vote.id) == 1 and shared.get("mem_1_a").helpful == 1
    git("add", "-A")
    assert found(project) == {}, "the entry is in a file that this commit does not change"


def test_a_month_that_was_gathered_is_not_taken_for_a_renamed_folder(shared, git, monkeypatch):
    """Git moves new files of a folder that vanished to where its files seem to have gone, and calls it a conflict."""

    def vote(day: str) -> str:
        monkeypatch.setenv("RAWKOMEM_NOW", f"{day}T00:00:00Z")
        id = shared.feedback("mem_1_a", "helpful", by="ada").entry.id
        git.commit()
        return id

    ids = [vote("2030-01-01"), vote("2030-01-02")]
    git("checkout", "-q", "-b", "gathering")
    shared.edits.gather()
    git.commit()
    ids += [vote("2030-02-01"), vote("2030-02-02")]
    git("checkout", "-q", "main")
    ids.append(vote("2030-01-03"))
    git("merge", "-q", "--no-edit", "gathering")
    assert {step.entry.id for step in shared.history("mem_1_a")} == {"mem_1_a", *ids}


def test_two_branches_that_both_gather_need_the_driver(shared, git, file, rawkomem):
    ids = []
    for branch in ("one", "two"):
        git("checkout", "-q", "-b", branch, "main")
        ids.append(shared.feedback("mem_1_a", "helpful", by=branch).entry.id)
        git.commit()
        shared.edits.gather()
        git.commit()
    git("merge", "-q", "one", check=False)
    assert git("diff", "--name-only", "--diff-filter=U") == ".rawko/memories/how-we-deploy.md"
    git("merge", "--abort")
    rawkomem("connect", "git")
    git("merge", "-q", "--no-edit", "one", env={"PYTHONPATH": str(ROOT)})
    assert [id for id in ids if id in file.read_text()] == ids and shared.get("mem_1_a").helpful == 2


def test_a_branch_without_memories_is_no_repository(project, git, rawkomem, tmp_path_factory):
    (project / "code.py").write_text("x = 1\n")
    git("add", "code.py")
    git("commit", "-q", "-m", "code")
    git("checkout", "-q", "-b", "memories")
    rawkomem("add", "--title", "Deploy", "--body", "Push to main.")
    git.commit()
    git("checkout", "-q", "main")
    assert os.listdir(project / ".rawko") == ["local"] and not git("status", "--porcelain")
    for words in (("search", "deploy"), ("inject", "deploy"), ("list",), ("add", "--title", "x", "--body", "y")):
        told = rawkomem(*words, check=NotFound.exit_code)
        assert told.stderr.startswith("rawkomem: no repository here: ") and told.stderr.count("\n") == 1
        assert not told.stdout
    silent = rawkomem("hook", "claude-code", "prompt", input='{"prompt": "deploy"}')
    assert (silent.stdout, silent.stderr) == ("", "")
    checked = rawkomem("check", "--staged")
    assert (checked.stdout, checked.stderr) == ("", "")
    git("checkout", "-q", "memories")
    assert "Push to main." in rawkomem("search", "deploy").stdout


@pytest.fixture(params=["main", "other"])
def diverged(request, shared, git):
    """Two branches with a new text each, one merged into the other; the earlier text."""
    git("checkout", "-qb", "other")
    shared.feedback("mem_1_a", "helpful")
    shared.amend("mem_1_a", tags=("deploys",))
    earlier = shared.amend("mem_1_a", body="Push a tag.").entry
    git.commit()
    git("checkout", "-q", "main")
    shared.amend("mem_1_a", body="Ask Ada.")
    git.commit()
    git("checkout", "-q", request.param)
    assert not shared.get("mem_1_a").proposed
    git("merge", "-q", "--no-edit", "other" if request.param == "main" else "main")
    return earlier


def test_of_two_texts_of_two_branches_the_earlier_one_waits_for_a_review(shared, diverged, rawkomem):
    memory = shared.get("mem_1_a")
    assert (memory.body, memory.tags, memory.proposed) == ("Ask Ada.", ("deploys",), (diverged.id,))
    assert shared.beliefs.proposal("mem_1_a").proposed.body == "Push a tag."
    assert diverged.id in rawkomem("review", "--list", "--json").stdout
    shared.beliefs.decide("mem_1_a", accept=True)
    assert (shared.get("mem_1_a").body, shared.get("mem_1_a").proposed) == ("Push a tag.", ())
    shared.amend("mem_1_a", body="Ask Ada, then push a tag.")
    assert (shared.get("mem_1_a").body, shared.get("mem_1_a").proposed) == ("Ask Ada, then push a tag.", ())


def test_a_declined_text_of_a_branch_stays_declined(shared, diverged, git):
    shared.beliefs.decide("mem_1_a", accept=False)
    shared.amend("mem_1_a", body="Push a signed tag.")
    git.commit()
    assert (shared.get("mem_1_a").body, shared.get("mem_1_a").proposed) == ("Push a signed tag.", ())


def test_a_text_with_an_early_date_replaces_no_persons_text_unseen(shared, project, git):
    """An agent writes a date before the person's text: a commit of both changes nothing, and a review shows the text."""
    shared.amend("mem_1_a", body="Ask Ada.")
    git.commit()
    evil = project / ".rawko" / "changes" / "2025-01" / "evil.md"
    evil.parent.mkdir(parents=True)
    entry = "id: amend_1_e\nkind: amend\nabout: mem_1_a\nat: 2025-01-01\nby: claude\nafter: [mem_1_a]"
    evil.write_text(f"---\n{entry}\n---\n\nPush to evil.example.\n", "utf-8")
    waiting = shared.beliefs.proposal("mem_1_a")
    assert (waiting.memory.body, waiting.proposed.body) == ("Ask Ada.", "Push to evil.example.")
    git.commit()
    assert (shared.get("mem_1_a").body, shared.get("mem_1_a").proposed) == ("Ask Ada.", ("amend_1_e",))


def test_texts_after_one_another_do_not_wait(shared, git):
    for text in ("Push a tag.", "Ask Ada.", "Push a tag again."):
        shared.amend("mem_1_a", body=text)
        shared.amend("mem_1_a", tags=(text,))
        assert (shared.get("mem_1_a").body, shared.get("mem_1_a").proposed) == (text, ())
    git.commit()
    assert shared.get("mem_1_a").body == "Push a tag again." and not shared.get("mem_1_a").proposed


def test_a_text_that_a_person_writes_over_a_proposed_one_wins_when_both_are_committed(shared, project, git):
    with Repository.open(str(project), via="agent") as agent:
        agent.amend("mem_1_a", body="Push a tag.", by="claude")
    assert shared.get("mem_1_a").proposed
    shared.amend("mem_1_a", body="Ask Ada.")
    assert shared.get("mem_1_a").body == "Ask Ada."
    git.commit()
    assert (shared.get("mem_1_a").body, shared.get("mem_1_a").proposed) == ("Ask Ada.", ())


def test_a_retry_of_an_amendment_is_known_again(shared, project):
    first = shared.amend("mem_1_a", body="Push a tag.")
    assert shared.amend("mem_1_a", body="Push a tag.").again
    assert not shared.amend("mem_1_a", body="Ask Ada.").again
    assert not shared.amend("mem_1_a", body="Push a tag.").again, "another one followed"
    assert first.entry.path in paths(project) and len(paths(project)) == 3


def test_purging_removes_the_text_of_changes(shared, project, git):
    shared.amend("mem_1_a", body="The password is swordfish.")
    git.commit()
    shared.lifecycle.purge("mem_1_a")
    assert not paths(project) and not shared.list()


MOVED = {
    "renamed": ["mv", ".rawko/memories/how-we-deploy.md", ".rawko/memories/deploys.md"],
    "deleted": ["rm", "-q", ".rawko/memories/how-we-deploy.md"],
}


def both_gathered(shared, git, what: str) -> list[str]:
    """Let two branches vote and gather, the first one rename or delete the file, and merge them without a driver."""
    ids = []
    for branch in ("one", "two"):
        git("checkout", "-q", "-b", branch, "main")
        shared.sync()
        ids.append(shared.feedback("mem_1_a", "helpful", by=branch).entry.id)
        git.commit(f"vote of {branch}")
        assert shared.edits.gather().written
        git.commit(f"gathered on {branch}")
        if branch == "one":
            git(*MOVED[what])
            git.commit(f"{what} on {branch}")
    git("merge", "-q", "one", check=False)
    shared.sync()
    return ids


@pytest.mark.parametrize("recognized", [False, True])
def test_both_branches_gather_and_one_renames(shared, project, memories, git, file, recognized):
    """Git reports a conflict, of content where it recognizes the renamed file, and every vote is still in a file."""
    if recognized:
        file.write_text(file.read_text() + "Then look at the log.\n" * 50)
        git.commit("text")
    ids = both_gathered(shared, git, "renamed")
    texts = {path.name: path.read_text() for path in memories.glob("*.md")}
    assert git("diff", "--name-only", "--diff-filter=U")
    assert all(any(id in text for text in texts.values()) for id in ids)
    assert (len(texts) == 1) == recognized
    if recognized:
        assert "<<<<<<<" in texts["deploys.md"] and problems(project)
    else:
        git.commit("both files stay")
        shared.sync()
        assert shared.get("mem_1_a").helpful == 2 and {*problems(project)} == {"duplicate-id"}


def test_both_branches_gather_and_one_deletes(shared, project, memories, git, file):
    """Git reports a conflict and leaves the other branch's file; whoever removes it is told what is lost."""
    _, vote = both_gathered(shared, git, "deleted")
    assert git("diff", "--name-only", "--diff-filter=U") == ".rawko/memories/how-we-deploy.md"
    assert vote in file.read_text() and shared.get("mem_1_a").helpful == 1
    git("rm", "-q", ".rawko/memories/how-we-deploy.md")
    told = [problem.message for problem in shared.edits.check((), agent=False)["history"]]
    assert any(vote in message for message in told), told
