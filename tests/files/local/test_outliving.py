"""What only this machine has outlives a worktree, a stash, a move and another home folder, and is nobody else's."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rawkomem.files import layout, records
from rawkomem.files.kept_texts import keep_text, unsaved_texts
from rawkomem.files.layout import find_layout, own_secret
from rawkomem.files.ledger import verify_ledger
from rawkomem.files.machine_records import note_intent, read_changes
from rawkomem.files.records import close_records, note, open_intents, read
from rawkomem.files.session_records import DraftRecords
from rawkomem.git.runner import clone_id
from rawkomem.model.entries import Draft, Entry
from rawkomem.model.errors import NotFound, Refused
from rawkomem.model.values import now
from rawkomem.repository import Repository

from tests.conftest import ROOT
from tests.git.gitting import Git

WRITER = """
import sys
from rawkomem.files.layout import find_layout
from rawkomem.files.session_records import DraftRecords
from rawkomem.model.entries import Draft
from rawkomem.model.values import now
drafts = DraftRecords(find_layout(sys.argv[1]))
for number in range(20):
    drafts.put([Draft(id=f"drf_{sys.argv[2]}{number}", kind="rule", text="Rule.", at=now())])
"""


def put(folder: Path, *ids: str) -> None:
    drafts = [Draft(id=f"drf_{id}", kind="rule", text=f"Rule {id}.", at=now()) for id in ids]
    DraftRecords(find_layout(str(folder))).put(drafts)


def drafts(folder: Path) -> set[str]:
    """The ids of the drafts, as a new process sees them."""
    close_records()
    return {draft.id.removeprefix("drf_") for draft in DraftRecords(find_layout(str(folder))).all()}


def typed(folder: Path, title: str) -> str:
    """Store a memory as a person, and return its id."""
    with Repository.open(str(folder), via="person", warn=lambda text: None) as repository:
        return repository.add(f"About {title}.", title=title).id


def is_vouched(folder: Path, id: str) -> bool:
    close_records()
    with Repository.open(str(folder), warn=lambda text: None) as repository:
        return repository.beliefs.trust(repository.get(id)).standing.verified


@pytest.fixture
def committed(git, project) -> Path:
    git.commit("start")
    return project


@pytest.fixture
def worktree(committed, git, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("trees") / "feature"
    git("worktree", "add", "-q", str(folder), "-b", "feature")
    return folder


def test_drafts_of_a_worktree_are_listed_everywhere_and_outlive_it(committed, worktree, git, tmp_path_factory):
    put(worktree, "here")
    put(committed, "main")
    other = tmp_path_factory.mktemp("trees") / "other"
    git("worktree", "add", "-q", str(other), "-b", "other")
    for folder in (committed, worktree, other):
        assert drafts(folder) == {"here", "main"}
    git("worktree", "remove", str(worktree))
    assert drafts(committed) == drafts(other) == {"here", "main"}


def test_a_project_below_the_top_of_a_work_tree_has_records_of_its_own(git, project, rawkomem, tmp_path_factory):
    inner = project / "packages" / "a"
    inner.mkdir(parents=True)
    rawkomem("init", "--here", cwd=inner)
    git.commit("two projects")
    tree = tmp_path_factory.mktemp("trees") / "feature"
    git("worktree", "add", "-q", str(tree), "-b", "feature")
    put(tree / "packages" / "a", "inner")
    put(tree, "outer")
    git("worktree", "remove", str(tree))
    assert drafts(inner) == {"inner"} and drafts(project) == {"outer"}


def test_a_submodule_and_its_worktrees_share_their_records(committed, tmp_path_factory):
    above = Git(tmp_path_factory.mktemp("above"))
    above("init", "-q")
    above("submodule", "add", "-q", str(committed), "inner")
    inner, tree = above.folder / "inner", tmp_path_factory.mktemp("trees") / "feature"
    Git(inner)("worktree", "add", "-q", str(tree), "-b", "feature")
    put(tree, "there")
    Git(inner)("worktree", "remove", str(tree))
    Git(inner)("clean", "-fdxq")
    assert drafts(inner) == {"there"} and drafts(committed) == set()


def test_two_worktrees_write_at_once_and_lose_nothing(committed, worktree):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(folder), letter], env=environment)
        for folder, letter in ((committed, "a"), (worktree, "b"), (committed, "c"))
    ]
    assert [run.wait(60) for run in runs] == [0, 0, 0]
    assert drafts(worktree) == {f"{letter}{number}" for letter in "abc" for number in range(20)}


def test_a_purge_is_finished_where_it_began(committed, worktree):
    """The text of another checkout is not removed, so its record must not be closed there."""
    here, there = find_layout(str(worktree)), find_layout(str(committed))
    note_intent(here, "mem_1")
    assert open_intents(here) == ["mem_1"] and open_intents(there) == []


def test_each_checkout_has_an_index_of_its_own_in_a_shared_store(committed, worktree):
    assert clone_id(find_layout(str(committed))) != clone_id(find_layout(str(worktree)))
    assert clone_id(find_layout(str(committed))) == clone_id(find_layout(str(committed)))


@pytest.mark.parametrize("words", ["stash -u", "stash -a", "clean -fdx"])
def test_records_outlive_what_git_removes(committed, git, words):
    id = typed(committed, "Tea")
    git.commit("tea", ("claude[bot]", "noreply@anthropic.com"))
    put(committed, "one")
    layout = find_layout(str(committed))
    keep_text(layout, "add", "Not stored yet.")
    (committed / "new.txt").write_text("new")
    git(*words.split())
    assert not (committed / "new.txt").exists()
    assert drafts(committed) == {"one"} and len(unsaved_texts(layout)) == 1
    assert [change.name for change in read_changes(layout)] == [id] and is_vouched(committed, id)


def test_a_moved_and_renamed_checkout_finds_its_records(committed, tmp_path_factory):
    id = typed(committed, "Tea")
    put(committed, "one")
    close_records()
    moved = tmp_path_factory.mktemp("elsewhere") / "renamed"
    os.rename(committed, moved)
    assert drafts(moved) == {"one"} and is_vouched(moved, id)


@pytest.mark.parametrize("in_git", [True, False])
def test_another_home_folder_disturbs_nothing(project, rawkomem, tmp_path_factory, in_git):
    if in_git:
        Git(project)("init", "-q")
    put(project, "one", "two")
    id = typed(project, "Tea")
    close_records()
    other = {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("home"))}
    for number in range(2):
        told = rawkomem.process("add", "--title", f"Coffee {number}", "--body", "Black.", env=other).stderr
        assert ("was not made by you on this machine" in told) == (number == 0), "it is said once"
        assert drafts(project) == {"one", "two"} and is_vouched(project, id)
    assert len(rawkomem.process("undo", "--list", env=other).stdout.splitlines()) == 2
    assert "no drafts" in rawkomem.process("drafts", env=other).stderr
    assert id in rawkomem("undo", "--list").stdout
    assert {path.name for path in (project / ".rawko").glob("local*")} == {"local", "local-2"}
    assert not list(project.rglob("*aside*"))
    if in_git:
        assert "local" not in Git(project)("status", "--porcelain", "-uall")


def adopted(folder: Path, path: str, via: str = "person") -> str:
    from rawkomem.repository.machine import adopt

    with Repository.open(str(folder), via=via, warn=lambda text: None) as repository:
        return adopt(repository, path).text


@pytest.mark.parametrize("in_git", [True, False])
def test_a_person_adopts_the_records_of_a_copied_project(project, rawkomem, tmp_path_factory, in_git):
    """Also those that came with its git folder: nothing of them is used before."""
    if in_git:
        Git(project)("init", "-q")
    id = typed(project, "Tea")
    put(project, "one")
    keep_text(find_layout(str(project)), "add", "Not stored yet.")
    close_records()
    copy = tmp_path_factory.mktemp("elsewhere") / "copy"
    shutil.copytree(project, copy, symlinks=True)
    put(copy, "new")
    assert drafts(copy) == {"new"} and not is_vouched(copy, id)
    told = rawkomem("doctor", cwd=copy, check=None).stdout
    command = shlex.split(told.partition("if its records are yours, run: ")[2].partition(")")[0])
    assert command[:3] == ["rawkomem", "doctor", "--adopt"]
    refused = rawkomem(*command[1:], cwd=copy, check=1).stderr
    assert "only a person at a terminal may adopt records" in refused
    for _ in range(2):  # the second time, there is nothing new
        adopted(copy, command[3])
        assert drafts(copy) == {"one", "new"} and is_vouched(copy, id)
        assert len(unsaved_texts(find_layout(str(copy)))) == 1
        assert [change.name for change in read_changes(find_layout(str(copy)))] == [id]
        assert not verify_ledger(find_layout(str(copy))).problems
    assert drafts(project) == {"one"}


def test_only_records_are_adopted(project, tmp_path):
    with pytest.raises(Refused, match="only a person"):
        adopted(project, str(project / ".rawko"), via="agent")
    with pytest.raises(NotFound, match="holds no records of yours"):
        adopted(project, str(project / ".rawko"))
    forged = tmp_path / "local-0.db"
    forged.write_bytes(b"no database")
    put(project, "one")
    with pytest.raises(Exception, match="cannot copy the records"):
        adopted(project, str(forged))
    assert drafts(project) == {"one"}, "a damaged file of somebody does no harm to ours"


@pytest.mark.parametrize("trick", ["git file", "git folder in the clone", "commondir", "link", "link of records"])
def test_a_hostile_folder_does_not_reach_the_records_of_another_project(committed, tmp_path_factory, trick):
    """An archive can hold any `.git`."""
    put(committed, "private")
    hostile = tmp_path_factory.mktemp("hostile") / "project"
    shutil.copytree(committed, hostile, ignore=shutil.ignore_patterns(".git", "local"))
    real, dot = committed / ".git", hostile / ".git"
    if trick == "git file":
        dot.write_text(f"gitdir: {real}\n")
    elif trick == "git folder in the clone":
        own = hostile / "worktrees" / "x"
        own.mkdir(parents=True)
        dot.write_text("gitdir: worktrees/x\n")
        for name, text in (("HEAD", "ref: refs/heads/main"), ("commondir", str(real)), ("gitdir", str(dot))):
            (own / name).write_text(f"{text}\n")
    elif trick == "link":
        dot.symlink_to(real)
    else:
        Git(hostile)("init", "-q")
        if trick == "commondir":
            (dot / "commondir").write_text(f"{real}\n")
        else:
            os.symlink(real / "rawkomem", dot / "rawkomem")
    assert drafts(hostile) == set()
    put(hostile, "theirs")
    assert drafts(committed) == {"private"} and drafts(hostile) == {"theirs"}


def filled(project: Path) -> str:
    """Fill a project without git: a memory, drafts, a text, the ledger. Return the memory's id."""
    id = typed(project, "Tea")
    put(project, "one", "two")
    keep_text(find_layout(str(project)), "add", "Not stored yet.")
    note(find_layout(str(project)), "usage", now(), "s", 10, id, 0)
    records._looked.clear()
    close_records()
    return id


def check_filled(project: Path, id: str) -> None:
    layout = find_layout(str(project))
    assert drafts(project) == {"one", "two"} and is_vouched(project, id)
    assert [change.name for change in read_changes(layout)] == [id]
    assert read(layout, "SELECT session FROM usage") == [("s",)]
    verdict = verify_ledger(layout)
    assert verdict.blocks == 1 and not verdict.problems
    (text,) = unsaved_texts(layout)
    assert Path(text).read_text() == "Not stored yet." and "/.git/" in text


def test_a_project_that_comes_into_git_keeps_its_records(project):
    """As a project of an earlier version, whose records are in .rawko/local."""
    id = filled(project)
    Git(project)("init", "-q")
    check_filled(project, id)
    assert not [*(project / ".rawko" / "local").glob("local-*.db")]
    assert not (project / ".rawko" / "local" / "unsaved").exists()


def test_a_kill_during_the_move_loses_and_doubles_nothing(project, monkeypatch):
    id = filled(project)
    Git(project)("init", "-q")
    for step in (
        "rawkomem.files.records.copy_rows",
        "rawkomem.files.records.remove_texts",
        "rawkomem.files.records._remove",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(step, killed)
            with pytest.raises(KeyboardInterrupt):
                DraftRecords(find_layout(str(project))).all()
        records._looked.clear()
        close_records()
        assert [*(project / ".rawko" / "local").glob("local-*.db")], step
    check_filled(project, id)


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_records_of_two_checkouts_become_one(committed, worktree, monkeypatch):
    """Of an earlier version, which kept them in each work tree."""
    ids = []
    with monkeypatch.context() as patch:
        for module in ("records", "private", "git_folder"):
            patch.setattr(f"rawkomem.files.{module}.kept_folder", lambda layout: layout.local)
        for folder in (committed, worktree):
            ids.append(typed(folder, folder.name))
            put(folder, folder.name, "same")
            close_records()
    records._looked.clear()
    for folder in (committed, worktree):
        drafts(folder)
    for folder in (committed, worktree):
        assert drafts(folder) == {committed.name, worktree.name, "same"}
    layout = find_layout(str(committed))
    assert [change.name for change in read_changes(layout)] == ids
    verdict = verify_ledger(layout)
    assert verdict.blocks == 2 and not verdict.problems


def test_another_schema_keeps_the_rows(project, monkeypatch):
    """Of an earlier or a later version."""
    id = typed(project, "Tea")
    put(project, "one")
    (before,) = (project / ".rawko" / "local").glob("local-*.db")
    inode = before.stat().st_ino
    close_records()
    changed = records.SCHEMA.replace("memory TEXT);", "memory TEXT, reason TEXT);", 1) + "CREATE TABLE more (x TEXT);"
    monkeypatch.setattr(records, "SCHEMA", changed)
    assert drafts(project) == {"one"} and is_vouched(project, id) and before.stat().st_ino != inode
    assert read(find_layout(str(project)), "SELECT memory, reason FROM changes") == [(id, None)]
    assert not [*(project / ".rawko" / "local").glob("*aside*")]


def test_a_folder_with_the_inode_of_a_removed_one_is_recognized(repository, monkeypatch):
    """A process that knew the removed folder took the new one for somebody else's."""
    repository.add(Entry(title="A fact"))
    local = repository.layout.local
    monkeypatch.setitem(layout._secrets, os.lstat(local).st_ino, b"the secret of the removed folder")
    assert own_secret(local)
