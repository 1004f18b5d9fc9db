"""Who committed an entry, in real git repositories: merges, rebases, amends, checkouts, work trees and odd ones."""

import os
import shutil
import sys

import pytest
from rawkomem.files.git_folder import git_stamp
from rawkomem.files.installation import plan_start, write_start
from rawkomem.files.layout import Layout
from rawkomem.git import authorship
from rawkomem.git.authorship import History, digests_in, read_blobs, read_history, read_versions
from rawkomem.git.runner import Git as OurGit
from rawkomem.git.runner import GitFailed
from rawkomem.state.trust import AGENT, AUTHORS, HIDDEN_AUTHOR, PERSON, UNCOMMITTED, UNKNOWN, author_state

from tests.git.gitting import AGENT as BOT
from tests.git.gitting import PERSON as ADA
from tests.git.gitting import Git
from tests.git.provenance import provenance_of


def entry(id: str, text: str = "Text.", about: str = "") -> str:
    head = f"kind: amend\nabout: {about}" if about else f"title: {id}"
    return f"---\nid: {id}\n{head}\n---\n\n{text}\n"


def states(folder) -> dict[str, str]:
    found, stamp = provenance_of(Layout(str(folder / ".rawko")))
    assert stamp == git_stamp(str(folder / ".rawko"))
    return found


def append(file, text: str) -> None:
    file.write_text(file.read_text() + "\n---\n\n" + text)


def test_person_agent_and_nobody_in_one_file(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    assert states(project) == {"one": UNCOMMITTED}
    git.commit()
    append(memories / "a.md", entry("two", about="one"))
    git.commit("agent", BOT)
    append(memories / "a.md", entry("three", about="one"))
    assert states(project) == {"one": PERSON, "two": AGENT, "three": UNCOMMITTED}
    git("add", "-A")
    assert states(project)["three"] == UNCOMMITTED  # staged is not committed
    git.commit("with help\n\nCo-authored-by: Claude <noreply@anthropic.com>")
    assert states(project)["three"] == PERSON


def test_an_edited_entry_is_whose_edit_it_is(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    (memories / "a.md").write_text(entry("one", "Something else."))
    assert states(project) == {"one": UNCOMMITTED}
    git.commit("edit", BOT)
    assert states(project) == {"one": AGENT}
    (memories / "a.md").write_text(entry("one"))  # back to what the person wrote
    assert states(project) == {"one": UNCOMMITTED}
    git.commit("back", BOT)
    assert states(project) == {"one": AGENT}


def test_an_agent_cannot_revive_what_a_person_withdrew(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    append(memories / "a.md", entry("two"))
    git.commit()
    (memories / "a.md").write_text(entry("one"))
    git.commit("withdrawn")
    append(memories / "a.md", entry("two"))
    git.commit("revived", BOT)
    assert states(project) == {"one": PERSON, "two": AGENT}
    git("revert", "--no-edit", "HEAD", by=ADA)
    git("revert", "--no-edit", "HEAD", by=ADA)
    assert states(project) == {"one": PERSON, "two": PERSON}


@pytest.mark.parametrize("merge", [("merge", "-q", "stale"), ("merge", "-q", "-s", "ours", "main")])
def test_nor_by_a_branch_from_before(git, memories, project, merge):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    first = git("rev-parse", "HEAD")
    if "ours" not in merge:
        (memories / "b.md").write_text(entry("two"))
        git.commit()
    (memories / ("a.md" if "ours" in merge else "b.md")).unlink()
    git.commit("withdrawn")
    git("checkout", "-q", "-b", "stale", first)
    if "ours" not in merge:
        (memories / "b.md").write_text(entry("two"))
        git.commit("the same text", BOT)
        git("checkout", "-q", "main")
    git(*merge, by=BOT)
    found = states(project)
    assert found == ({"one": AGENT} if "ours" in merge else {"one": PERSON, "two": AGENT})


def test_of_the_same_text_on_two_branches_a_person_counts(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    git("checkout", "-q", "-b", "side")
    (memories / "b.md").write_text(entry("two"))
    git.commit("agent", BOT)
    git("checkout", "-q", "main")
    (memories / "b.md").write_text(entry("two"))
    git.commit("person")
    git("merge", "-q", "--no-edit", "side")
    assert states(project) == {"one": PERSON, "two": PERSON}


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_files_with_odd_names_have_authors(git, memories, project):
    for number, name in enumerate(('a"b', "bäck\\slash", "ordinär")):
        (memories / f"{name}.md").write_text(entry(f"e{number}"))
    git.commit()
    assert states(project) == {f"e{number}": PERSON for number in range(3)}


@pytest.mark.parametrize(
    ("key", "moved", "committed"),
    [("id: mem_a\n", {"mem_a": PERSON}, {"mem_a": PERSON}), ("", {"b": UNCOMMITTED}, {"b": PERSON})],
    ids=["with an id", "without an id it is another memory until the move is committed"],
)
def test_a_renamed_file_keeps_its_author(git, memories, project, key, moved, committed):
    (memories / "a.md").write_text(f"---\n{key}title: A title\n---\n\nText.\n")
    git.commit()
    git("mv", ".rawko/memories/a.md", ".rawko/memories/b.md")
    assert states(project) == moved
    git.commit("rename", BOT)
    assert states(project) == committed


def _move(git, source: str, target: str, name: str = "move") -> None:
    git("mv", f".rawko/memories/{source}", f".rawko/memories/{target}")
    git.commit(name, BOT)


def _rename_and_back(git, memories):
    _move(git, "a.md", "b.md")
    _move(git, "b.md", "a.md")


def _rename_reverted(git, memories):
    _move(git, "a.md", "b.md")
    git("revert", "--no-edit", "HEAD", by=BOT)


def _rename_on_two_branches(git, memories):
    for branch in ("one", "two"):
        git("checkout", "-q", "-b", branch, "main")
        _move(git, "a.md", "b.md", branch)
    git("merge", "-q", "--no-edit", "one", by=BOT)


def _rename_cherry_picked_then_merged(git, memories):
    git("checkout", "-q", "-b", "release")
    _move(git, "a.md", "b.md")
    git("checkout", "-q", "main")
    (memories.parent.parent / "code").write_text("code")
    git.commit("code", BOT)
    git("cherry-pick", "release", by=BOT)
    git("merge", "-q", "--no-edit", "release", by=BOT)


def _split_and_joined(git, memories):
    one, two = (memories / "a.md").read_text().split("\n---\n\n---\n")
    (memories / "a.md").write_text(one + "\n")
    (memories / "b.md").write_text(f"---\n{two}")
    git.commit("split", BOT)
    (memories / "a.md").unlink()
    append(memories / "b.md", one + "\n")
    git.commit("join", BOT)


def _archived_in_a_merge(git, memories):
    (memories.parent / "archive").mkdir()
    git("checkout", "-q", "-b", "other")
    append(memories / "c.md", entry("late", about="one"))
    git.commit("late")
    git("checkout", "-q", "main")
    git("mv", ".rawko/memories/a.md", ".rawko/archive/a.md")
    git("mv", ".rawko/memories/c.md", ".rawko/archive/c.md")
    git.commit("archive", BOT)
    git("merge", "-q", "--no-edit", "other", by=BOT)


MOVES = [
    _rename_and_back, _rename_reverted, _rename_on_two_branches, _rename_cherry_picked_then_merged, _split_and_joined,
    _archived_in_a_merge,
]  # fmt: skip


@pytest.mark.parametrize("move", MOVES)
def test_an_entry_that_an_agent_moves_keeps_its_author(git, memories, project, move):
    (memories / "a.md").write_text(entry("one"))
    append(memories / "a.md", entry("two", about="one"))
    (memories / "c.md").write_text(entry("three"))
    (memories / "d.md").write_text("---\ntitle: By hand\n---\n\nBy hand.\n")
    git.commit()
    layout = Layout(str(project / ".rawko"))
    kept = read_history(layout)
    move(git, memories)
    _move(git, "d.md", "e.md")
    (memories / "e.md").write_text((memories / "e.md").read_text().replace("---\n", "---\nid: e\n", 1))
    git.commit("a change writes the id", BOT)
    assert set(states(project).values()) == {PERSON}
    assert {"one", "two", "three", "e"} <= states(project).keys()
    assert read_history(layout, kept) == read_history(layout)


def test_rebase_and_cherry_pick_keep_the_author(git, memories, project):
    (memories / "a.md").write_text(entry("base"))
    git.commit()
    git("checkout", "-q", "-b", "agent")
    (memories / "b.md").write_text(entry("theirs"))
    git.commit("agent", BOT)
    git("checkout", "-q", "main")
    (memories / "c.md").write_text(entry("ours"))
    git.commit()
    git("rebase", "-q", "main", "agent", by=ADA)
    assert git("log", "-1", "--format=%ae %ce") == f"{BOT[1]} {ADA[1]}"
    assert states(project) == {"base": PERSON, "theirs": AGENT, "ours": PERSON}


def test_work_trees_and_submodules(git, memories, project, tmp_path_factory):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    other = tmp_path_factory.mktemp("trees") / "other"
    git("worktree", "add", "-q", str(other), "-b", "side")
    tree = Git(other)
    (other / ".rawko" / "memories" / "b.md").write_text(entry("two"))
    before = git_stamp(str(project))
    own = git_stamp(str(other))
    assert states(other) == {"one": PERSON, "two": UNCOMMITTED}
    tree.commit("agent", BOT)
    assert states(other) == {"one": PERSON, "two": AGENT} and states(project) == {"one": PERSON}
    assert git_stamp(str(project)) == before and git_stamp(str(other)) != own
    around = Git(tmp_path_factory.mktemp("around"))
    around("init", "-q")
    around("submodule", "--quiet", "add", str(project), "inner")
    assert states(around.folder / "inner") == {"one": PERSON}


@pytest.mark.parametrize("packed", [False, True])
def test_the_stamp_moves_with_head(git, memories, project, packed):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    git("commit", "-q", "--allow-empty", "-m", "second")
    git("branch", "kept")
    git("checkout", "-q", "-b", "side")
    git("commit", "-q", "--allow-empty", "-m", "third")
    for move in (
        ("commit", "-q", "--allow-empty", "-m", "x"),
        ("commit", "-q", "--amend", "--allow-empty", "-m", "other"),
        ("checkout", "-q", "side"),
        ("reset", "-q", "--hard", "HEAD~1"),
        ("merge", "-q", "side"),
        ("checkout", "-q", "--detach"),
    ):
        git("checkout", "-q", "-B", "main", "kept")
        if packed:
            git("pack-refs", "--all")
        before = git_stamp(str(project / ".rawko"))
        assert before == git_stamp(str(project / ".rawko"))
        git(*move)
        assert git_stamp(str(project / ".rawko")) != before, move


def test_where_git_has_no_answer(git, memories, project, monkeypatch, tmp_path_factory):
    (memories / "a.md").write_text(entry("one"))
    assert states(project) == {"one": UNCOMMITTED}  # no commit yet
    git.commit()
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path_factory.mktemp("empty")))
        assert states(project) == {"one": UNKNOWN}
        assert "not installed" in read_history(Layout(str(project / ".rawko"))).why
    shutil.rmtree(project / ".git")
    assert states(project) == {"one": UNKNOWN} and git_stamp(str(project / ".rawko")) == ""
    (project / ".git").mkdir()  # not a repository
    assert states(project) == {"one": UNKNOWN}


def test_in_ignored_folders_it_is_unknown(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    (project / ".rawko" / "log").mkdir()
    (project / ".rawko" / "log" / "l.md").write_text(entry("two"))
    (project / ".gitignore").write_text("/.rawko/log/\n")
    git.commit()
    assert states(project) == {"one": PERSON, "two": UNKNOWN}
    (project / ".gitignore").write_text("/.rawko/\n")
    (memories / "b.md").write_text(entry("three"))
    assert states(project) == {"one": PERSON, "two": UNKNOWN, "three": UNCOMMITTED}  # its folder is followed
    git("rm", "-q", "-r", "--cached", ".rawko")
    git.commit()
    assert states(project) == {"one": UNKNOWN, "two": UNKNOWN, "three": UNKNOWN}


def test_a_repository_of_somebody_else_is_not_believed(git, memories, project):
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("needs to give files away")
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    for path in (project, project / ".git"):
        os.chown(path, 12345, 12345)
    history = read_history(Layout(str(project / ".rawko")))
    assert "dubious ownership" in history.why and states(project) == {"one": UNKNOWN}


def test_the_environment_of_a_hook_leads_nowhere_else(git, memories, project, tmp_path_factory, monkeypatch):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    other = Git(tmp_path_factory.mktemp("other"))
    other("init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.folder))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.folder / "index"))
    assert states(project) == {"one": PERSON}


def test_a_repositorys_settings_start_nothing(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    trap = project / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {project}/sprung\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "gpg.program", "core.pager", "pager.log", "diff.external", "core.sshCommand"):
        git("config", key, str(trap))
    git("config", "log.showSignature", "true")
    git("config", "log.showRoot", "false")
    assert states(project) == {"one": PERSON} and not (project / "sprung").exists()


def test_what_a_shallow_clone_hides_is_unknown(git, memories, project, tmp_path_factory):
    (memories / "a.md").write_text(entry("one"))
    git.commit("agent", BOT)
    (project / "x").write_text("x")
    git.commit()
    clone = tmp_path_factory.mktemp("clones") / "shallow"
    git("clone", "-q", "--depth", "1", f"file://{project}", str(clone))
    assert states(clone) == {"one": UNKNOWN}
    before = git_stamp(str(clone))
    Git(clone)("fetch", "-q", "--unshallow")
    assert states(clone) == {"one": AGENT} and git_stamp(str(clone)) != before


def test_a_partial_clone_fetches_nothing(git, memories, project, tmp_path_factory):
    git("config", "uploadpack.allowFilter", "true")
    (memories / "a.md").write_text(entry("one"))
    git.commit("agent", BOT)
    append(memories / "a.md", entry("two", about="one"))
    git.commit()
    clone = tmp_path_factory.mktemp("clones") / "partial"
    git("clone", "-q", "--filter=blob:none", f"file://{project}", str(clone))
    missing = Git(clone)("rev-list", "--objects", "--all", "--missing=print").count("?")
    assert missing and states(clone) == {"one": UNKNOWN, "two": UNKNOWN}
    assert Git(clone)("rev-list", "--objects", "--all", "--missing=print").count("?") == missing


def test_line_ends_are_not_an_edit(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    (memories / "a.md").write_bytes(entry("one").replace("\n", "\r\n").encode())
    assert states(project) == {"one": PERSON}


def test_reading_on_is_reading_anew(git, memories, project):
    layout = Layout(str(project / ".rawko"))
    history = History()
    (memories / "a.md").write_text(entry("one"))
    steps = [
        git.commit,
        lambda: (append(memories / "a.md", entry("two", about="one")), git.commit("agent", BOT)),
        lambda: git("commit", "-q", "--amend", "--no-edit", f"--author={ADA[0]} <{ADA[1]}>"),
        lambda: ((memories / "b.md").write_text(entry("three")), git.commit("agent", BOT)),
        lambda: git("reset", "-q", "--hard", "HEAD~1"),
        lambda: ((memories / "b.md").write_text(entry("three")), git.commit("agent", BOT)),
        lambda: ((memories / "b.md").unlink(), git.commit("withdrawn")),
        lambda: ((memories / "b.md").write_text(entry("three")), git.commit("again")),
        lambda: git("mv", ".rawko/memories/b.md", ".rawko/memories/c.md") or git.commit("moved", BOT),
        lambda: ((memories / "d.md").write_text(entry("three")), git.commit("copied", BOT)),
        lambda: ((memories / "c.md").unlink(), git.commit("one copy left", BOT)),
        lambda: (git("checkout", "-q", "-b", "old", "HEAD~2"), _move(git, "a.md", "e.md")),
        lambda: git("checkout", "-q", "main"),
        lambda: git("merge", "-q", "--no-edit", "old", by=BOT),
        lambda: (git("checkout", "-q", "-b", "code"), (project / "code").write_text("x"), git.commit("code", BOT)),
        lambda: (git("checkout", "-q", "main"), (project / "more").write_text("x"), git.commit("more code", BOT)),
        lambda: git("merge", "-q", "--no-edit", "code", by=BOT),
        lambda: _move(git, "d.md", "c.md"),
        lambda: _move(git, "e.md", "a.md"),
        lambda: ((memories / "c.md").unlink(), git.commit("gone")),
        lambda: ((memories / "a.md").unlink(), git.commit("gone")),
    ]
    for step in steps:
        step()
        history = read_history(layout, history)
        anew = read_history(layout)
        assert (history.head, history.authors, history.blobs) == (anew.head, anew.authors, anew.blobs)
    assert history.blobs == {}


def test_names_of_agents_and_people():
    for author in (
        "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
        "Claude <noreply@anthropic.com>",
        "Ada (aider) <ada@example.org>",
        "Cursor Agent <cursoragent@cursor.com>",
        "Copilot <198982749+Copilot@users.noreply.github.com>",
    ):
        assert author_state(author) == AGENT, author
    for author in (
        "Claude Monet <claude@giverny.fr>",
        "Abbott <abbott@example.org>",
        "Ada <1+ada@users.noreply.github.com>",
    ):
        assert author_state(author) == PERSON, author
    assert author_state("Robo <r@ci.example.org>", ("*@ci.example.org",)) == AGENT
    assert author_state("") == UNCOMMITTED and author_state(HIDDEN_AUTHOR) == UNKNOWN


def test_a_time_limit(git, project):
    with pytest.raises(GitFailed, match="too long"):
        OurGit(str(project), seconds=-1).run("cat-file", "--batch", given=b"x\n" * 4_000_000)


def test_a_copy_is_whose_copy_it_is(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    (memories / "b.md").write_text(entry("one"))
    git.commit("copied", BOT)
    assert states(project) == {"one": PERSON}
    (memories / "a.md").unlink()
    git.commit("withdrawn")
    assert states(project) == {"one": AGENT}


def test_a_merge_keeps_the_authors_of_both_sides(git, memories, project):
    (memories / "a.md").write_text(entry("base"))
    git.commit()
    git("checkout", "-q", "-b", "agent")
    append(memories / "a.md", entry("theirs", about="base"))
    git.commit("agent", BOT)
    git("checkout", "-q", "main")
    append(memories / "a.md", entry("ours", about="base"))
    git.commit()
    git("merge", "-q", "agent", check=False)
    text = entry("base") + "".join(
        "\n---\n\n" + part for part in (entry("ours", about="base"), entry("theirs", about="base"))
    )
    (memories / "a.md").write_text(text + "\n---\n\n" + entry("in the merge", about="base"))
    git.commit("merged", BOT)
    assert states(project) == {"base": PERSON, "ours": PERSON, "theirs": AGENT, "in the merge": AGENT}


def test_checkout_and_reset(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    first = git("rev-parse", "HEAD")
    (memories / "b.md").write_text(entry("two"))
    git.commit()
    git("reset", "-q", "--mixed", first)
    assert states(project) == {"one": PERSON, "two": UNCOMMITTED}
    git.commit("again", BOT)
    assert states(project) == {"one": PERSON, "two": AGENT}
    git("checkout", "-q", "--detach", first)
    assert states(project) == {"one": PERSON}


def history_of(folder, known: History | None = None) -> History:
    return read_history(Layout(str(folder / ".rawko")), known)


def authors(folder) -> dict[str, str]:
    """The author of each entry in HEAD, by the file's name."""
    found = history_of(folder)
    return {
        key.partition(" ")[2].rpartition("/")[2]: found.authors[digest]
        for key, digests in found.blobs.items()
        for digest in digests
    }


AUTHOR = f"{ADA[0]} <{ADA[1]}>"
AGENT_AUTHOR = f"{BOT[0]} <{BOT[1]}>"


def test_the_author_is_told_with_the_committer_if_that_is_somebody_else(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    (memories / "b.md").write_text(entry("two"))
    git.commit("b", BOT, f"--author={AUTHOR}")
    (memories / "c.md").write_text(entry("one"))
    git.commit("c", BOT)
    assert authors(project) == {
        "a.md": AUTHORS.join(sorted([AUTHOR, AGENT_AUTHOR])),  # the same text in two files
        "b.md": f"{AUTHOR}\t{AGENT_AUTHOR}",
        "c.md": AUTHORS.join(sorted([AUTHOR, AGENT_AUTHOR])),
    }


def test_the_history_holds_the_entries_of_each_file_in_head(git, memories, project):
    assert history_of(project) == History()
    (project / ".gitignore").write_text("/.rawko/log\n/.rawko/traces\n")
    assert {*history_of(project).ignored} == {"log", "traces"}
    (memories / "deep").mkdir()
    (memories / "deep" / "a.md").write_text(entry("one") + "\n---\n\n" + entry("two"))
    (memories / "note.txt").write_text(entry("no memory"))
    (memories / "link.md").symlink_to("deep/a.md")
    (project / "outside.md").write_text(entry("outside"))
    git.commit()
    head = git("rev-parse", "HEAD")
    found = history_of(project)
    data = (memories / "deep" / "a.md").read_bytes()
    blob = git("hash-object", str(memories / "deep" / "a.md"))
    assert (found.head, {*found.ignored}, found.why) == (head, {"log", "traces"}, "")
    assert found.blobs == {f"{blob} memories/deep/a.md": digests_in(data, "memories/deep/a.md")}
    assert found.authors == dict.fromkeys(digests_in(data), AUTHOR) and len(found.authors) == 2


def test_a_file_that_becomes_a_link_or_another_kind_of_file_has_no_entries(git, memories, project):
    file = memories / "a.md"
    file.write_text(entry("one"))
    git.commit()
    file.unlink()
    file.symlink_to("elsewhere")
    git.commit("a link", BOT)
    assert history_of(project).blobs == {}
    file.unlink()
    file.write_text(entry("one"))
    git.commit("a file again", BOT)
    assert states(project) == {"one": AGENT}


def test_a_repository_below_the_top_of_the_tree(project, git):
    inner = project / "services" / "pay.rawko"
    inner.mkdir(parents=True)
    write_start(plan_start(str(inner)))
    for folder in (project, inner):
        (folder / ".rawko" / "memories" / "a.md").write_text(entry(folder.name))
    (inner / ".gitignore").write_text("/.rawko/log\n")
    git.commit()
    (inner / ".rawko" / "memories" / "a.md").write_text(entry("edited"))
    git.commit("edit", BOT)
    assert states(inner) == {"edited": AGENT} and states(project) == {project.name: PERSON}
    assert history_of(inner).ignored == ("log",)


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_moves_between_files_with_odd_names_keep_the_author(git, memories, project):
    names = ["tab\there", 'quote"d', "back\\slash", "üml\täut", "line\nend", "with blank", "plain"]
    if sys.platform == "linux":
        names.append(os.fsdecode(b"no utf-8: \xe9\t"))
    for number, name in enumerate(names):
        (memories / f"{name}.md").write_text(entry(f"e{number}"))
    git.commit()
    known = history_of(project)
    for name in names:
        (memories / f"{name}.md").rename(memories / f"{name} moved.md")
    git.commit("moved", BOT)
    assert history_of(project, known) == history_of(project)
    assert authors(project) == {f"{name} moved.md": AUTHOR for name in names}


def test_a_moved_entry_that_an_agent_revived_stays_the_agents(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    (memories / "a.md").unlink()
    git.commit("withdrawn")
    (memories / "a.md").write_text(entry("one"))
    git.commit("revived", BOT)
    (memories / "a.md").rename(memories / "b.md")
    git.commit("moved", BOT)
    assert states(project) == {"one": AGENT}


def test_a_history_with_unknown_authors_is_read_again(git, memories, project, tmp_path_factory):
    (memories / "a.md").write_text(entry("one"))
    git.commit("agent", BOT)
    (memories / "b.md").write_text(entry("two"))
    git.commit()
    clone = tmp_path_factory.mktemp("clones") / "shallow"
    git("clone", "-q", "--depth", "1", f"file://{project}", str(clone))
    shallow = history_of(clone)
    assert {*shallow.authors.values()} == {HIDDEN_AUTHOR}
    Git(clone)("fetch", "-q", "--unshallow")
    assert history_of(clone, shallow) == history_of(project)


def test_a_history_of_other_commits_is_read_again(git, memories, project):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    found = history_of(project)
    (digest,) = found.authors
    forged = {digest: "Nobody <n@example.org>"}
    for head in ("", "0" * 40, "no commit"):
        assert history_of(project, History(head, forged, found.blobs)) == found
    assert history_of(project, History(found.head, forged, found.blobs)).authors == forged  # as it was known


def test_many_files_are_read_in_several_calls(git, memories, project, monkeypatch):
    for number in range(5):
        (memories / f"m{number}.md").write_text(entry(f"e{number}", "ä\n" * number))
    git.commit()
    found = history_of(project)
    monkeypatch.setattr(authorship, "BLOBS_PER_CALL", 2)
    assert history_of(project) == found
    ours = OurGit(str(project))
    blobs = [key.partition(" ")[0] for key in found.blobs]
    asked = ["0" * 40, *blobs, "1" * 40]
    wanted = [(memories / key.rpartition("/")[2]).read_bytes() for key in found.blobs]
    assert [*read_blobs(ours, asked)] == [*zip(blobs, wanted, strict=True)]
    assert [*read_blobs(ours, [])] == []


def test_digests_depend_on_the_path_only_without_an_id():
    data = f"{entry('one')}\n---\n\n---\ntitle: Two\n---\n\nText.\n".encode()
    here, there = digests_in(data, "memories/a.md"), digests_in(data, "memories/b.md")
    assert here[0] == there[0] and here[1] != there[1] and len(here) == 2
    assert digests_in(data.replace(b"\n", b"\r\n"), "memories/a.md") == here
    assert digests_in(b"\0", "memories/a.md") == ()


def test_a_commit_on_a_branch_that_was_withdrawn_there_only(git, memories, project):
    """A removal ends what was added before it, not what another branch added at the same time."""
    (memories / "a.md").write_text(entry("base"))
    git.commit()
    git("checkout", "-q", "-b", "side")
    (memories / "b.md").write_text(entry("one"))
    git.commit("agent", BOT)
    (memories / "b.md").unlink()
    git.commit("withdrawn", BOT)
    git("checkout", "-q", "main")
    (memories / "b.md").write_text(entry("one"))
    git.commit()
    git("merge", "-q", "--no-edit", "side")
    assert states(project) == {"base": PERSON, "one": PERSON}


def test_a_removal_after_a_merge_ends_what_either_side_added(git, memories, project):
    (memories / "a.md").write_text(entry("base"))
    git.commit()
    git("checkout", "-q", "-b", "side")
    (memories / "c.md").write_text(entry("other"))
    git.commit()
    git("checkout", "-q", "main")
    (memories / "b.md").write_text(entry("one"))
    git.commit()
    git("merge", "-q", "--no-edit", "side")
    for name in ("b.md", "c.md"):
        (memories / name).unlink()
    git.commit("withdrawn")
    (memories / "b.md").write_text(entry("one"))
    (memories / "c.md").write_text(entry("other"))
    git.commit("revived", BOT)
    assert states(project) == {"base": PERSON, "one": AGENT, "other": AGENT}


@pytest.mark.parametrize("keeper", ["keeps", "removes"])
def test_an_agents_merge_cannot_keep_what_a_person_removed_on_one_side(git, memories, project, keeper):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    for branch in ("keeps", "removes"):
        git("checkout", "-q", "-b", branch, "main")
        (memories / f"{branch}.md").write_text(entry(branch))
        (memories / "a.md").unlink() if branch == "removes" else None
        git.commit(branch)
    git("checkout", "-q", keeper)
    git("merge", "-q", "--no-commit", "removes" if keeper == "keeps" else "keeps")
    git("checkout", "-q", "keeps", "--", ".rawko/memories/a.md")
    git.commit("merged", BOT)
    assert states(project) == {"one": AGENT, "keeps": PERSON, "removes": PERSON}


def test_what_a_merge_removed_stays_removed_for_a_later_merge(git, memories, project):
    """Two branches have the person's entry when the third, which removed it, is merged into one of them."""
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    for branch in ("removes", "keeps"):
        git("checkout", "-q", "-b", branch, "main")
        (memories / f"{branch}.md").write_text(entry(branch))
        (memories / "a.md").unlink() if branch == "removes" else None
        git.commit(branch)
    git("checkout", "-q", "main")
    (memories / "main.md").write_text(entry("main"))
    git.commit()
    git("merge", "-q", "--no-edit", "removes")
    git("merge", "-q", "--no-commit", "keeps")
    git("checkout", "-q", "keeps", "--", ".rawko/memories/a.md")
    git.commit("merged", BOT)
    assert states(project)["one"] == AGENT


def test_only_later_commits_are_read_after_a_history(git, memories, project, monkeypatch):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    first = history_of(project)
    (memories / "b.md").write_text(entry("two"))
    git.commit()
    spans = []
    commits = authorship._commits
    monkeypatch.setattr(authorship, "_commits", lambda git, root, span: spans.append(span) or commits(git, root, span))
    assert history_of(project, first).head != first.head
    assert spans == [f"{first.head}..{git('rev-parse', 'HEAD')}"]


def test_versions_of_a_file_with_a_space_in_its_name(git, memories, project, tmp_path_factory):
    (memories / "a b.md").write_text(entry("one"))
    git.commit()
    (version,) = history_of(project).blobs
    layout, warnings = Layout(str(project / ".rawko")), []
    assert [*read_versions(layout, [version], warnings.append)] == [(version, entry("one").encode())]
    assert not warnings
    elsewhere = Layout(str(tmp_path_factory.mktemp("no git") / ".rawko"))
    assert not [*read_versions(elsewhere, [version], warnings.append)]
    assert "git cannot read memories" in warnings[0]


def test_an_entry_from_a_file_that_holds_no_memories_is_whose_move_it_is(git, memories, project):
    (memories / "note.txt").write_text(entry("one"))
    (project / "note.md").write_text(entry("two"))
    git.commit()
    (memories / "note.txt").rename(memories / "a.md")
    (project / "note.md").rename(memories / "b.md")
    git.commit("moved", BOT)
    assert states(project) == {"one": AGENT, "two": AGENT}
