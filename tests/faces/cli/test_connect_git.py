"""`rawkomem connect git`: real repositories, real hooks and merges; and everything as it was after --remove."""

import os
import stat
import subprocess
import sys

import pytest
import yaml
from rawkomem.files.layout import Layout
from rawkomem.git.connection import Wanted, carry_out_connection, plan_git_connection
from rawkomem.git.staged import staged_layouts
from rawkomem.model.errors import Refused, Unwritable

from tests.conftest import ROOT
from tests.git.gitting import PERSON, Git

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OLD = "# Memories have the same bytes on every system.\n*.md text eol=lf"  # of an older init, without a last line end


def memory(id: str, body: str = "Text.") -> str:
    return f"---\nid: {id}\ntitle: {id}\nwhenToUse: [{id}]\ndiscoveredAt: 2026-01-01T00:00:00Z\n---\n\n{body}\n"


def everything(folder) -> dict[str, tuple[int, bytes]]:
    """Every file that connecting could touch, with its mode."""
    wanted = ("config", "hooks", ".gitattributes", ".gitignore", ".githooks", ".husky")
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("objects", "logs", "refs")]
        for name in names:
            path = os.path.join(place, name)
            if any(word in path.removeprefix(str(folder)) for word in wanted):
                with open(path, "rb") as stream:
                    found[path] = (stat.S_IMODE(os.stat(path).st_mode), stream.read())
    return found


@pytest.fixture
def hooked(git, monkeypatch):
    """Git whose hooks find this very checkout."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return git


def try_commit(git: Git, **env: str) -> subprocess.CompletedProcess:
    who = {f"GIT_{role}_{key}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    return subprocess.run(
        ["git", "commit", "-qm", "x"], cwd=git.folder, env={**os.environ, **who, **env}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_the_hook_stops_a_secret_and_lets_the_rest_pass(hooked, memories, rawkomem):
    """`git commit` with a path checks what that brings."""
    rawkomem("connect", "git")
    hooked.commit("start", PERSON, "--no-verify")
    (memories / "a.md").write_text(memory("a"))
    (memories / "b.md").write_text(memory("b", KEY))
    hooked("add", "-A")
    hooked("commit", "-qm", "only a", "--", ".rawko/memories/a.md")
    told = try_commit(hooked)
    assert told.returncode == 1 and ".rawko/memories/b.md:8: secrets" in told.stdout + told.stderr
    assert KEY not in told.stdout + told.stderr


def test_two_clones_that_both_append_merge_to_the_same(hooked, project, memories, rawkomem, tmp_path_factory):
    (memories / "a.md").write_text(memory("a"))
    hooked.commit()
    folders = [tmp_path_factory.mktemp(name) / "clone" for name in ("one", "two")]
    clones = []
    for number, folder in enumerate(folders):
        hooked("clone", "-q", str(project), str(folder))
        rawkomem("connect", "git", cwd=folder)
        file = folder / ".rawko" / "memories" / "a.md"
        file.write_text(file.read_text() + "\n---\n\n" + memory(f"new-{number}"))
        clones.append(Git(folder))
        clones[-1].commit("change", PERSON, "--no-verify")
    one, two = clones
    one("remote", "add", "two", str(two.folder))
    two("remote", "add", "one", str(one.folder))
    heads = [git("rev-parse", "HEAD") for git in clones]
    for git, other in ((one, "two"), (two, "one")):
        git("fetch", "-q", other)
    one("merge", "-q", "--no-edit", "--no-verify", heads[1])
    two("merge", "-q", "--no-edit", "--no-verify", heads[0])
    assert one("rev-parse", "HEAD^{tree}") == two("rev-parse", "HEAD^{tree}")
    listed = rawkomem("list", "--json", cwd=one.folder).stdout
    assert all(f'"{id}"' in listed for id in ("a", "new-0", "new-1"))


def test_an_edit_of_one_entry_on_both_sides_is_loud(hooked, memories, rawkomem):
    (memories / "a.md").write_text(memory("a") + "\n---\n\n" + memory("b"))
    hooked.commit()
    hooked("checkout", "-qb", "side")
    (memories / "a.md").write_text(memory("a", "Theirs.") + "\n---\n\n" + memory("b"))
    hooked.commit()
    hooked("checkout", "-q", "main")
    (memories / "a.md").write_text(memory("a", "Ours.") + "\n---\n\n" + memory("b", "Edited."))
    hooked.commit()
    rawkomem("connect", "git", "--without", "history")
    hooked("merge", "-q", "side", check=False)
    text = (memories / "a.md").read_text()
    assert "<<<<<<< ours\nOurs.\n=======\nTheirs.\n>>>>>>> theirs\n" in text and text.endswith("Edited.\n")
    assert hooked("diff", "--name-only", "--diff-filter=U") == ".rawko/memories/a.md"
    hooked("add", "-A")
    told = try_commit(hooked)
    assert told.returncode == 1 and "merge conflict markers" in told.stdout + told.stderr
    (memories / "a.md").write_text(memory("a", "Ours and theirs.") + "\n---\n\n" + memory("b", "Edited."))
    hooked("add", "-A")
    assert rawkomem("check", "--staged").stdout == "", "what both sides changed may be settled"


@pytest.fixture
def diverged(hooked, memories, rawkomem):
    """A memory file to which two branches appended; on `main`, with git connected."""
    (memories / "a.md").write_text(memory("a"))
    hooked.commit()
    for branch, id in (("side", "theirs"), ("main", "ours")):
        hooked("checkout", "-q", "main")
        hooked("checkout", "-q", *(["-b", branch] if branch == "side" else [branch]))
        (memories / "a.md").write_text(memory("a") + "\n---\n\n" + memory(id))
        hooked.commit()
    rawkomem("connect", "git")
    return memories / "a.md"


@pytest.mark.parametrize(
    "breakage",
    [("-P -m rawkomem", "-P -m rawkomem_that_is_gone"), (sys.executable, "/nowhere/python"), ("merge-driver", "what")],
)
def test_a_driver_that_cannot_run_leaves_both_sides(breakage, diverged, hooked):
    """Our side alone would pass for the result, and theirs be lost with the next `git add`."""
    driver = hooked("config", "merge.rawkomem.driver")
    assert breakage[0] in driver
    hooked("config", "merge.rawkomem.driver", driver.replace(*breakage, 1))
    hooked("merge", "-q", "side", check=False)
    text = diverged.read_text()
    assert "<<<<<<< ours\nid: ours" in text and "id: theirs" in text and ">>>>>>> theirs" in text
    assert hooked("diff", "--name-only", "--diff-filter=U") == ".rawko/memories/a.md"


def test_git_runs_no_module_of_the_work_tree(diverged, hooked, project):
    """Whoever can commit a file could otherwise have it run in every clone."""
    for module in ("rawkomem.py", "apsw.py", "shlex.py"):
        (project / module).write_text("open('ran', 'w')\nraise SystemExit(0)\n")
    hooked.commit()
    hooked("merge", "-q", "--no-edit", "side")
    assert not (project / "ran").exists() and "id: theirs" in diverged.read_text()


def test_a_merge_is_checked_too(hooked, memories, rawkomem):
    (memories / "a.md").write_text(memory("a") + "\n---\n\n" + memory("b"))
    hooked.commit()
    hooked("checkout", "-qb", "side")
    (memories / "a.md").write_text(memory("a", "Edited."))  # one changed, one purged: theirs to answer for
    hooked.commit("change", ("Ada", "ada@example.org"), "--no-verify")
    hooked("checkout", "-qb", "secret")
    (memories / "b.md").write_text(memory("c", KEY))
    hooked.commit("change", ("Ada", "ada@example.org"), "--no-verify")
    hooked("checkout", "-q", "main")
    (memories / "own.md").write_text(memory("own"))
    hooked.commit()
    rawkomem("connect", "git")
    head = hooked("rev-parse", "HEAD")
    hooked("merge", "-q", "--no-edit", "secret", check=False)
    assert hooked("rev-parse", "HEAD") == head
    hooked("merge", "--abort")
    hooked("merge", "-q", "--no-edit", "side")
    assert (memories / "a.md").read_text() == memory("a", "Edited.")


def test_a_check_is_left_out_for_once(hooked, memories, rawkomem):
    rawkomem("connect", "git")
    (memories / "a.md").write_text(memory("a") + "\n---\n\n" + memory("b"))
    hooked.commit("start", PERSON, "--no-verify")
    (memories / "a.md").write_text(memory("a"))
    (memories / "c.md").write_text(memory("c", KEY))
    hooked("add", "-A")
    told = rawkomem("check", "--staged", env={"CLAUDECODE": "1"}, check=1)
    assert "history" in told.stdout + told.stderr
    assert "RAWKOMEM_SKIP" not in told.stdout + told.stderr, "no message says to skip a check"
    told = rawkomem("check", "--staged", env={"CLAUDECODE": "1", "RAWKOMEM_SKIP": "history"}, check=1)
    assert "history" not in told.stdout + told.stderr
    assert "secrets" in told.stdout + told.stderr, "the other checks still hold"
    hooked("rm", "-qf", ".rawko/memories/c.md")
    told = rawkomem("check", "--staged", env={"RAWKOMEM_SKIP": "histroy"}, check=None)
    assert told.returncode != 0 and "names unknown checks: histroy" in told.stdout + told.stderr
    assert try_commit(hooked, RAWKOMEM_SKIP="history, citations", CLAUDECODE="1").returncode == 0


@pytest.mark.parametrize(
    "hook", ["", "#!/bin/sh\nexit 0\n", "#!/usr/bin/env bash\nset -e\nexec true", "#!/usr/bin/env python3\nprint(1)\n"]
)
def test_remove_restores_every_byte(git, project, rawkomem, hook):
    attributes = project / ".rawko" / ".gitattributes"
    attributes.write_text(OLD)
    (project / ".rawko" / ".gitignore").unlink()
    if hook:
        file = project / ".git" / "hooks" / "pre-commit"
        file.write_text(hook)
        file.chmod(0o755)
    before = everything(project)
    assert "nothing was changed" in rawkomem("connect", "git", "--dry-run").stderr
    assert everything(project) == before
    rawkomem("connect", "git")
    connected = everything(project)
    assert connected != before and b"merge=rawkomem" in attributes.read_bytes()
    assert "nothing to change" in rawkomem("connect", "git").stderr
    assert everything(project) == connected
    rawkomem("connect", "git", "--without", "history")
    rawkomem("connect", "git", "--remove")
    assert everything(project) == before
    assert "nothing to change" in rawkomem("connect", "git", "--remove").stderr


def test_a_hook_that_is_there_still_runs(hooked, project, memories, rawkomem):
    file = project / ".git" / "hooks" / "pre-commit"
    file.write_text("#!/bin/sh\ntouch ran\nexec false\n")
    file.chmod(0o755)
    rawkomem("connect", "git")
    (memories / "a.md").write_text(memory("a"))
    hooked("add", "-A")
    assert try_commit(hooked).returncode == 1 and (project / "ran").exists()


CHECKING = "if command -v rawkomem >/dev/null 2>&1; then rawkomem check --staged --no-citations || exit $?; fi"
LOCAL = {"language": "system", "pass_filenames": False, "always_run": True}
LOCAL_REPO = {
    "repo": "local",
    "hooks": [
        {"id": f"rawkomem-{event}", "name": f"rawkomem {event}", "entry": f"sh -c '{run}'", **LOCAL, "stages": [event]}
        for event, run in (("pre-commit", CHECKING), ("pre-merge-commit", CHECKING))
    ],
}
JOBS = {
    event: {"jobs": [{"name": "rawkomem", "run": run}]}
    for event, run in (("pre-commit", CHECKING), ("pre-merge-commit", CHECKING))
}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (".pre-commit-config.yaml", [LOCAL_REPO]),
        ("prek.toml", [LOCAL_REPO]),
        ("lefthook.yml", JOBS),
        (".config/lefthook.yaml", JOBS),
        (".lefthook.json", JOBS),
    ],
)
def test_hooks_of_other_programs_are_theirs(git, project, rawkomem, file, expected):
    """What it advises is YAML, as that program reads it; nothing is written."""
    (project / file).parent.mkdir(exist_ok=True)
    (project / file).write_text("# theirs\n")
    said = rawkomem("connect", "git", "--without", "citations").stdout
    _, _, advised = said.partition(f"{file}:\n")
    lines = [line for line in advised.splitlines() if line.startswith("  ")]
    assert yaml.safe_load("\n".join(line[2:] for line in lines)) == expected
    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert (project / file).read_text() == "# theirs\n"
    assert git("config", "merge.rawkomem.driver")


def test_husky_is_told_lines_that_stop_nobody(git, project, rawkomem):
    (project / ".husky").mkdir()
    said = rawkomem("connect", "git").stdout
    lines = {line.strip() for line in said.splitlines() if line.startswith("  if ")}
    assert {f"add a line to .husky/{event}:" in said for event in ("pre-commit", "pre-merge-commit")} == {True}
    for line in lines:
        done = subprocess.run(
            ["/bin/sh", "-c", f"{line}\necho after"], env={"PATH": "/nowhere"}, capture_output=True, check=True
        )
        assert done.stdout == b"after\n"
    (line,) = lines
    (project / ".husky" / "pre-commit").write_text(f"yarn lint\n{line}\n")
    said = rawkomem("connect", "git").stdout
    assert "pre-merge-commit" in said and "to .husky/pre-commit:" not in said, "it is there"
    (project / ".husky" / "pre-merge-commit").write_text(f"{line}\n")
    assert "to do" not in rawkomem("connect", "git").stdout
    assert not (project / ".git" / "hooks" / "pre-commit").exists()


def test_a_committed_hook_folder_names_the_program_and_not_this_machine(git, project, rawkomem):
    git("config", "core.hooksPath", ".githooks")
    rawkomem("connect", "git")
    text = (project / ".githooks" / "pre-commit").read_text()
    assert "then rawkomem check --staged" in text and sys.executable not in text


def test_hooks_of_all_projects_are_left_alone(git, rawkomem, tmp_path_factory):
    everywhere = tmp_path_factory.mktemp("hooks")
    git("config", "core.hooksPath", str(everywhere))
    assert "which other projects use" in rawkomem("connect", "git").stdout
    assert not list(everywhere.iterdir())


def test_what_git_says_gets_a_hint_that_helps(git, project, rawkomem):
    (project / ".git" / "config.lock").write_text("")
    told = rawkomem("connect", "git", check=1).stderr
    assert "could not lock" in told and "no other git is running" in told
    (project / ".git" / "config.lock").unlink()
    git("config", "--local", "x.y", "z")
    with (project / ".git" / "config").open("a") as stream:
        stream.write("[broken\n")
    told = rawkomem("connect", "git", check=1).stderr
    assert "git init" not in told and "fix the cause" in told


def test_hook_files_are_written_whole_or_not_at_all(git, project, monkeypatch):
    file = project / ".git" / "hooks" / "pre-commit"
    file.write_text("#!/bin/sh\nexit 0\n")
    file.chmod(0o755)
    before = everything(project)
    connection = plan_git_connection(Layout(str(project / ".rawko")), Wanted(["rawkomem"]))

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(Unwritable):
            carry_out_connection(connection)
    assert everything(project) == before and not list(project.rglob(".rawkomem-*"))


def test_a_hook_that_changed_since_the_plan_is_not_replaced(git, project):
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    connection = plan_git_connection(Layout(str(project / ".rawko")), Wanted(["rawkomem"]))
    hook.write_text("#!/bin/sh\ntrue\n")
    with pytest.raises(Refused, match="changed meanwhile"):
        carry_out_connection(connection)
    assert hook.read_text() == "#!/bin/sh\ntrue\n"


def test_the_doctor_misses_a_driver_that_attributes_name(git, project, rawkomem):
    told = rawkomem("doctor").stdout  # nothing is wrong with a clone that was not told how
    assert "line by line" in told and "rawkomem connect git" in told
    rawkomem("connect", "git")
    assert "entry by entry" in rawkomem("doctor").stdout
    git("config", "merge.rawkomem.driver", "/nowhere/rawkomem merge-driver %O %A %B")
    assert "program is missing" in rawkomem("doctor", check=1).stdout
    (project / ".rawko" / ".gitattributes").unlink()
    assert "line by line" in rawkomem("doctor").stdout and "connect git" not in rawkomem("doctor").stdout


def test_a_merge_names_the_change_whose_memory_the_other_branch_removed(hooked, memories, rawkomem):
    rawkomem("connect", "git")
    file = memories / "ledger.md"
    file.write_text(memory("mem_ledger"))
    hooked.commit("a rule")
    hooked("checkout", "-qb", "other")
    hooked("rm", "-q", str(file))
    hooked("commit", "-qm", "no rule")
    hooked("checkout", "-q", "-")
    rawkomem("amend", "mem_ledger", "--title", "The ledger is signed")
    hooked.commit("a better rule")
    told = hooked.run("merge", "other", "-m", "both")
    assert told.returncode == 0
    assert "this change of 'mem_ledger' (mem_ledger) has no effect: its memory was removed" in told.stdout + told.stderr


def test_a_hook_at_the_top_checks_repositories_below(rawkomem, tmp_path_factory):
    """The pre-commit framework starts its hooks at the top of the work tree, where there may be no .rawko folder."""
    below = "packages/the web"
    top = Git(tmp_path_factory.mktemp("mono"))
    top("init", "-q")
    for name in ("packages/one", below):
        (top.folder / name).mkdir(parents=True)
        rawkomem("init", cwd=top.folder / name)
    folder = top.folder / below / ".rawko" / "memories"
    (folder / "b.md").write_text(memory("b", KEY))
    top("add", "-A")
    told = rawkomem("check", "--staged", cwd=top.folder, check=1).stdout
    assert told.startswith(f"{below}/.rawko/memories/b.md:8: secrets")
    (folder / "b.md").write_text(memory("b") + "\n---\n\n" + memory("c").replace("title: c", "title: b"))
    top("add", "-A")
    for words in (("check", "--staged"), ("consolidate", "--staged")):
        told = rawkomem(*words, cwd=top.folder, check=1).stdout
        assert told.startswith(f"{below}/.rawko/memories/b.md:12: duplicates: c says exactly what b says")
    assert top("diff", "--name-only") == "" and "?? " not in top("status", "--porcelain"), "nothing is written"
    told = rawkomem("consolidate", "--staged", "--apply", cwd=top.folder, check=1).stderr
    assert f"review the entries, run 'git add {below}/.rawko', and commit again" in told
    assert "?? " in top("status", "--porcelain"), "nothing was added for them"
    top("add", "-A")
    rawkomem("consolidate", "--staged", cwd=top.folder)
    rawkomem("check", "--staged", cwd=top.folder)


def test_a_project_inside_a_work_tree(hooked, project, rawkomem):
    inner = project / "packages" / "the api"
    inner.mkdir(parents=True)
    rawkomem("init", "--here", cwd=inner)
    rawkomem("connect", "git")
    rawkomem("connect", "git", cwd=inner)
    (inner / ".rawko" / "memories" / "b.md").write_text(memory("b", KEY))
    hooked("add", "-A")
    told = try_commit(hooked)
    assert told.returncode == 1 and "packages/the api/.rawko/memories/b.md:8: secrets" in told.stdout + told.stderr
    rawkomem("connect", "git", "--remove", cwd=inner)
    assert "the api" not in (project / ".git" / "hooks" / "pre-commit").read_text()


@pytest.fixture
def mono(tmp_path_factory, rawkomem, monkeypatch):
    """A git repository without memories at its top, and with three projects below; the first is connected by itself."""
    top = Git(tmp_path_factory.mktemp("mono"))
    top("init", "-q")
    for name in ("api", "libs/web", "libs/the app"):
        (top.folder / name).mkdir(parents=True)
        rawkomem("init", cwd=top.folder / name)
    rawkomem("connect", "git", cwd=top.folder / "api")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return top


def add_secret(top: Git, project: str, checking) -> str:
    """Stage a memory with a secret in a project, and return what a commit or its check prints; take it back."""
    file = top.folder / project / ".rawko" / "memories" / "b.md"
    file.write_text(memory("b", KEY))
    top("add", "-A")
    told = checking("check", "--staged", cwd=top.folder, check=1) if checking else try_commit(top)
    top("rm", "-qf", str(file))
    return told.stdout + told.stderr if told.returncode else ""


def test_connecting_at_the_top_connects_all_projects_below_and_later_ones(mono, rawkomem):
    """Each commit checks the projects that it changes, once."""
    (mono.folder / "libs" / "web" / ".rawko" / ".gitattributes").unlink()
    told = rawkomem("connect", "git", cwd=mono.folder)
    assert "3 projects" in told.stderr and "libs/web/.rawko/.gitattributes" in told.stdout
    hook = (mono.folder / ".git" / "hooks" / "pre-commit").read_text()
    assert hook.count("check --staged") == 1, "the lines of the first project are replaced"
    assert "nothing to change" in rawkomem("connect", "git", cwd=mono.folder).stderr
    mono.commit("start", PERSON, "--no-verify")
    for project, checking in (("api", rawkomem), ("libs/the app", None)):
        told = add_secret(mono, project, checking)
        assert f"{project}/.rawko/memories/b.md:8: secrets" in told and told.count("secrets: ") == 1
    (mono.folder / "later").mkdir()
    rawkomem("init", cwd=mono.folder / "later")
    assert "nothing to change" in rawkomem("connect", "git", cwd=mono.folder / "later").stderr
    assert "later/.rawko/memories/b.md:8: secrets" in add_secret(mono, "later", rawkomem)
    rawkomem("connect", "git", "--remove", cwd=mono.folder)
    assert not (mono.folder / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("is_top", [True, False])
def test_the_merge_driver_stays_until_the_last_project_is_uninstalled(is_top, mono, rawkomem):
    names = ("api", "libs/web", "libs/the app")
    for name in ("",) if is_top else names:
        rawkomem("connect", "git", cwd=mono.folder / name)
    for name in names[:-1]:
        rawkomem("uninstall", "--yes", cwd=mono.folder / name)
        assert mono.run("config", "merge.rawkomem.driver").stdout, "another project needs it"
        assert "libs/the app/.rawko/memories/b.md:8: secrets" in add_secret(mono, "libs/the app", None)
    rawkomem("uninstall", "--yes", cwd=mono.folder / names[-1])
    assert not mono.run("config", "merge.rawkomem.driver").stdout
    hook = mono.folder / ".git" / "hooks" / "pre-commit"
    assert "rawkomem" not in (hook.read_text() if hook.exists() else "")


def test_uninstalling_at_the_top_leaves_the_check_of_the_projects_below(mono, rawkomem):
    rawkomem("init", cwd=mono.folder)
    rawkomem("connect", "git", cwd=mono.folder)
    rawkomem("uninstall", "--yes", cwd=mono.folder)
    assert mono.run("config", "merge.rawkomem.driver").stdout
    assert "api/.rawko/memories/b.md:8: secrets" in add_secret(mono, "api", None)
    rawkomem("connect", "git", "--remove", cwd=mono.folder)
    assert not (mono.folder / ".git" / "hooks" / "pre-commit").exists()


def test_a_commit_checks_the_projects_that_it_changes_and_no_other(mono, rawkomem):
    """A secret that is in a project already stops no commit of another one; a project at the top is checked, too."""
    rawkomem("connect", "git", cwd=mono.folder)
    (mono.folder / "api" / ".rawko" / "memories" / "b.md").write_text(memory("b", KEY))
    mono("add", "-A")
    mono("commit", "-qnm", "not checked")
    (mono.folder / "libs" / "web" / "code.py").write_text("x = 1\n")
    mono("add", "-A")
    told = rawkomem("check", "--staged", cwd=mono.folder)
    assert told.stdout == told.stderr == ""
    assert staged_layouts(str(mono.folder)) == [Layout(str(mono.folder / "libs" / "web" / ".rawko"))]
    mono("rm", "-qrf", "api")
    mono("commit", "-qnm", "without api")
    rawkomem("init", cwd=mono.folder)
    assert "libs/web/.rawko/memories/b.md:8: secrets" in add_secret(mono, "libs/web", rawkomem)
    assert "\n.rawko/memories/b.md:8: secrets" in "\n" + add_secret(mono, ".", None)


def test_status_at_the_top_lists_all_projects(mono, rawkomem):
    (mono.folder / "api" / ".rawko" / "memories" / "a.md").write_text(memory("a"))
    told = rawkomem("status", cwd=mono.folder).stdout.splitlines()
    assert [line.split("  ")[0] for line in told] == ["api", "libs/the app", "libs/web"]
    assert "1 active" in told[0]
    rows = rawkomem.json("status", cwd=mono.folder)
    assert [(row["project"], row["files"]) for row in rows[:2]] == [("api", 1), ("libs/the app", 0)]


def test_a_linked_work_tree_and_a_submodule_are_checked(hooked, project, memories, rawkomem, tmp_path_factory):
    rawkomem("connect", "git")
    hooked.commit("start", PERSON, "--no-verify")
    linked = Git(tmp_path_factory.mktemp("linked") / "tree")
    hooked("worktree", "add", "-q", str(linked.folder))
    outer = Git(tmp_path_factory.mktemp("outer"))
    outer("init", "-q")
    outer("submodule", "add", "-q", str(project), "inner")
    inner = Git(outer.folder / "inner")
    rawkomem("connect", "git", cwd=inner.folder)
    for tree in (linked, inner):
        (tree.folder / ".rawko" / "memories" / "b.md").write_text(memory("b", KEY))
        tree("add", "-A")
        told = try_commit(tree)
        assert told.returncode == 1 and ".rawko/memories/b.md:8: secrets" in told.stdout + told.stderr


def test_without_git_or_memories(project, rawkomem, tmp_path_factory):
    assert "not a git repository" in rawkomem("connect", "git", check=1).stderr
    assert "rawkomem init" in rawkomem("connect", "git", cwd=tmp_path_factory.mktemp("empty"), check=1).stderr


def test_a_branch_without_memories_and_a_missing_program_stop_nobody(hooked, project, memories, rawkomem):
    rawkomem("connect", "git")
    hook = project / ".git" / "hooks" / "pre-commit"
    (project / "x").write_text("x")
    hooked.commit("start", PERSON, "--no-verify")
    connected = hook.read_text()
    for missing in ((sys.executable, "/nowhere/python"), ("import rawkomem", "import rawkomem_that_is_gone")):
        hook.write_text(connected.replace(*missing))
        assert hook.read_text() != connected
        (project / "x").write_text(missing[1])
        hooked("add", "-A")
        told = try_commit(hooked)
        assert told.returncode == 0 and "memories are not checked" in told.stderr
    hooked("rm", "-rqf", ".rawko")
    (project / "x").write_text("z")
    hooked("add", "x")
    assert try_commit(hooked).returncode == 0
