"""Guards hold in a commit and on a branch: added lines, whole files, exceptions; real git, real hooks."""

import os
import shutil

import pytest
from rawkomem.git.runner import Git as OurGit
from rawkomem.git.staged import read_patch
from rawkomem.model.entries import Entry
from rawkomem.repository import Repository, acts

from tests.commands import ROOT
from tests.git.gitting import AGENT, Git

BODY = "Use tmp_path instead, it finds wrong permissions."


def guard(id: str, guard: str, **applies: str) -> str:
    keys = "".join(f"  {key}: ['{pattern}']\n" for key, pattern in applies.items())
    return f"---\nid: {id}\ntitle: Rule {id}\nappliesTo:\n{keys}guard: {guard}\n---\n\n{BODY}\n"


@pytest.fixture
def guarded(project, memories, git, monkeypatch):
    """A project with a committed guard of each kind."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for hooks
    (memories / "mock.md").write_text(guard("mem_mock", "deny", paths="tests/**", text="MockFileSystem"))
    (memories / "seeds.md").write_text(guard("mem_seeds", "ask", paths="db/**"))
    (memories / "vendor.md").write_text(guard("mem_vendor", "deny", paths="vendor/**"))
    (memories / "words.md").write_text(guard("mem_words", "deny", text="FIXME"))
    (memories / "hint.md").write_text(guard("mem_hint", "remind", paths="docs/**"))
    write(project, "tests/old.py", "import os\nMockFileSystem()\nend = 1\n")
    git.commit()
    return project


def write(project, path: str, text: str | bytes) -> None:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_bytes(text.encode() if isinstance(text, str) else text)


def told(rawkomem, *words: str) -> list[tuple]:
    """Return (code, file, line) of what a check says about guards."""
    rows = rawkomem.json("check", *(words or ("--staged",)), check=None)
    return [(row["code"], row["file"], row["line"]) for row in rows if row["check"] == "guards"]


def staged(project, git, path: str, text: str | bytes) -> None:
    write(project, path, text)
    git("add", "-A")


def test_the_hook_refuses_a_denied_line_and_names_the_memory(guarded, git, rawkomem):
    rawkomem("connect", "git")
    staged(guarded, git, "tests/new.py", "import os\n\nfs = MockFileSystem()\nother = 1\nMockFileSystem()\n")
    done = git.run("commit", "-qm", "mocks")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("tests/new.py")]
    assert line.startswith(
        f"tests/new.py:3: guards: 'Rule mem_mock' (mem_mock) denies this change (also line 5). {BODY}"
    )
    assert "Read: .rawko/memories/mock.md" in line and "rawkomem: allow mem_mock" in line
    assert "1 error in staged files: guards" in done.stderr
    git("commit", "-qm", "mocks", env={"RAWKOMEM_SKIP": "guards"})


def test_ask_warns_and_remind_is_silent(guarded, git, rawkomem):
    rawkomem("connect", "git")
    staged(guarded, git, "db/seeds.sql", "insert\n")
    staged(guarded, git, "docs/a.md", "text\n")
    done = git.run("commit", "-qm", "seeds")
    assert done.returncode == 0
    assert "db/seeds.sql:1: guards: 'Rule mem_seeds' (mem_seeds) asks for a second look at this change" in done.stderr
    assert "mem_hint" not in done.stderr and "rawkomem amend" not in done.stderr


def test_only_added_lines_count(guarded, git, rawkomem):
    staged(guarded, git, "tests/old.py", "import os\nMockFileSystem()\nend = 2\n")
    assert told(rawkomem) == []
    staged(guarded, git, "tests/old.py", "import os\nend = 1\n")
    assert told(rawkomem) == []
    staged(guarded, git, "tests/old.py", "import os\r\nMockFileSystem()\nend = 1\nMockFileSystem(2)\r\n")
    assert told(rawkomem) == [("guard-deny", "tests/old.py", 4)]
    git("reset", "-q", "--hard")
    git("mv", "tests/old.py", "tests/renamed.py")
    assert told(rawkomem) == []


def test_a_guard_without_text_holds_for_the_whole_file(guarded, git, rawkomem):
    staged(guarded, git, "vendor/a b.c", "one\n")
    staged(guarded, git, "vendor/bin", b"\0\1MockFileSystem\0")
    assert told(rawkomem) == [("guard-deny", "vendor/a b.c", 1), ("guard-deny", "vendor/bin", 1)]
    git.commit()
    git("mv", "vendor/a b.c", "free.c")
    assert told(rawkomem) == [("guard-deny", "vendor/a b.c", 1)]
    git("reset", "-q", "--hard")
    git("rm", "-q", "vendor/bin")
    assert told(rawkomem) == [("guard-deny", "vendor/bin", 1)]
    git("reset", "-q", "--hard")
    git("update-index", "--chmod=+x", "vendor/bin")
    assert told(rawkomem) == [("guard-deny", "vendor/bin", 1)]


def test_odd_files(guarded, git, rawkomem):
    plus = "++ FIXME\n@@ -1 +1 @@\ndiff --git a/x b/x\n"
    for name in ('we "i rd\n.py', "-x", "ünï", "a\\b"):
        staged(guarded, git, name, plus)
    staged(guarded, git, "binary", b"\0FIXME\n")
    staged(guarded, git, "no-end", "a\nFIXME")
    (guarded / "link").symlink_to("no-end")
    inner = Git(guarded / "sub")
    inner.folder.mkdir()
    inner("init", "-q")
    inner("commit", "-qm", "x", "--allow-empty")
    git("add", "-A")
    names = ['we "i rd\\x0a.py', "-x", "ünï", "a\\b"]
    places = [*((name, 1) for name in names), ("no-end", 2)]
    assert told(rawkomem) == [("guard-deny", *place) for place in sorted(places)]


def test_files_of_the_repository_never_count(guarded, git, rawkomem, memories):
    staged(guarded, git, ".rawko/memories/new.md", "---\nid: mem_n\ntitle: FIXME\n---\n\nA FIXME must go.\n")
    staged(guarded, git, "part/.rawko/memories/new.md", "---\nid: mem_n\ntitle: FIXME\n---\n\nA FIXME must go.\n")
    assert told(rawkomem) == []


EXCEPTIONS = (
    "FIXME()  # rawkomem: allow mem_words\n",
    "/* rawkomem: allow mem_words*/\nFIXME()\n",
    "FIXME()\n<!-- rawkomem: allow mem_other, mem_words-->\n",
)


def test_a_comment_makes_an_exception(guarded, git, rawkomem):
    for text in EXCEPTIONS:
        staged(guarded, git, "a.c", f"\n{text}")
        assert [code for code, *_ in told(rawkomem)] == ["guard-exception"], text
    rawkomem("connect", "git")
    done = git.run("commit", "-qm", "fix")
    assert done.returncode == 0 and "exception to 'Rule mem_words' (mem_words)" in done.stderr
    assert "rawkomem: 1 exception to guards" in done.stderr


def test_an_exception_holds_for_its_line_and_its_memory_only(guarded, git, rawkomem):
    staged(guarded, git, "a.c", "FIXME // rawkomem: allow mem_words\n1\n2\nFIXME\n")
    assert told(rawkomem) == [("guard-exception", "a.c", 1), ("guard-deny", "a.c", 4)]
    staged(guarded, git, "a.c", "FIXME // rawkomem: allow mem_word\nFIXME // mem_words\n")
    assert told(rawkomem) == [("guard-deny", "a.c", 1)]
    staged(guarded, git, "a.c", "1\n")
    staged(guarded, git, "vendor/a.c", "1\n2\n3\n// rawkomem: allow mem_vendor\n")
    assert told(rawkomem) == [("guard-exception", "vendor/a.c", 1)]


def test_a_comment_that_is_committed_already_counts(guarded, git, rawkomem):
    staged(guarded, git, "a.c", "// rawkomem: allow mem_words\n1\n")
    git.commit()
    staged(guarded, git, "a.c", "// rawkomem: allow mem_words\nFIXME\n")
    assert told(rawkomem) == [("guard-exception", "a.c", 2)]


def test_a_branch_and_the_trailer_of_a_commit(guarded, git, rawkomem):
    git("checkout", "-qb", "topic")
    write(guarded, "tests/new.py", "MockFileSystem()\n")
    write(guarded, "db/seeds.sql", "insert\n")
    git.commit()
    branch = ("--diff", "main...HEAD")
    assert told(rawkomem, *branch) == [("guard-ask", "db/seeds.sql", 1), ("guard-deny", "tests/new.py", 1)]
    assert rawkomem("check", *branch, check=1).stderr == "rawkomem: 2 problems in what this branch changed\n"
    annotated = rawkomem("check", *branch, "--format", "github", check=1).stdout
    assert "::error file=tests/new.py,line=1,title=rawkomem%3A guards::'Rule mem_mock' (mem_mock) denies" in annotated
    assert "::warning file=db/seeds.sql,line=1" in annotated
    assert rawkomem("check", *branch, "--no-guards").stdout == ""
    git("commit", "-qm", "why\n\nRawkomem-Allow: mem_mock", "--allow-empty")
    assert told(rawkomem, *branch) == [("guard-ask", "db/seeds.sql", 1), ("guard-exception", "tests/new.py", 1)]
    done = rawkomem("check", *branch)
    assert done.stderr == "rawkomem: 1 exception to guards\nrawkomem: 1 problem in what this branch changed\n"


def test_a_merge_brings_what_others_committed(guarded, git, rawkomem):
    rawkomem("connect", "git")
    git("checkout", "-qb", "topic")
    write(guarded, "tests/new.py", "MockFileSystem()\n")
    write(guarded, "vendor/a.c", "1\n")
    git("add", "-A")
    git("commit", "-qm", "topic", "--no-verify")
    git("checkout", "-q", "main")
    write(guarded, "a.c", "1\n")
    git.commit()
    git("merge", "-q", "--no-edit", "topic")


def test_before_the_first_commit(project, memories, git, rawkomem):
    extra = {"appliesTo": {"text": ["FIXME"]}, "guard": "deny"}
    with Repository.open(str(project), via="person") as repository:
        repository.add(Entry(title="Never write FIXME", body="Fix it.", extra=extra))
    staged(project, git, "a.c", "FIXME\n")
    assert told(rawkomem) == [("guard-deny", "a.c", 1)]


def test_a_project_below_the_top_of_the_work_tree(tmp_path, rawkomem, monkeypatch):
    git, part = Git(tmp_path), tmp_path / "part"
    git("init", "-q")
    rawkomem("init", "--here", cwd=_made(part))
    write(part, ".rawko/memories/v.md", guard("mem_v", "deny", paths="vendor/**"))
    git.commit()
    for path in ("part/vendor/a", "vendor/b"):
        staged(tmp_path, git, path, "1\n")
    rows = rawkomem.json("-C", "part", "check", "--staged", check=1, cwd=tmp_path)
    assert [row["file"] for row in rows] == ["part/vendor/a"]


def _made(folder):
    folder.mkdir()
    return folder


def test_only_what_a_person_vouches_for_refuses(guarded, git, rawkomem, memories):
    (memories / "agent.md").write_text(guard("mem_agent", "deny", text="TODO"))
    git.commit("agent", AGENT)
    staged(guarded, git, "a.c", "TODO\n")
    assert told(rawkomem) == []


def test_no_patch_is_read_if_no_guard_names_a_changed_file(guarded, git, rawkomem, memories, monkeypatch):
    (memories / "words.md").unlink()
    git.commit()
    ran = []
    run = OurGit.run
    monkeypatch.setattr(OurGit, "run", lambda self, *words, **given: ran.append(words) or run(self, *words, **given))
    staged(guarded, git, "src/a.c", "MockFileSystem\n")
    assert told(rawkomem) == []
    assert ran and not [words for words in ran if "--patch-with-raw" in words]
    staged(guarded, git, "tests/a.c", "1\n")
    assert told(rawkomem) == []
    assert [words for words in ran if "--patch-with-raw" in words]


def test_an_error_inside_rawkomem_refuses_no_commit(guarded, git, rawkomem, monkeypatch):
    staged(guarded, git, "a.c", "FIXME\n")

    def broken(core):
        raise OSError("disk is gone")

    monkeypatch.setattr(acts, "act_rules", broken)
    done = rawkomem("check", "--staged")
    assert "rawkomem: not all checks ran: OSError: disk is gone" in done.stderr


def test_no_program_that_the_repository_names_runs(guarded, git, rawkomem, tmp_path):
    for key in ("diff.evil.command", "diff.evil.textconv", "diff.external"):
        git("config", key, f"touch {tmp_path}/ran; true")
    write(guarded, ".gitattributes", "*.c diff=evil\n")
    staged(guarded, git, "a.c", "FIXME\n")
    assert told(rawkomem) == [("guard-deny", "a.c", 1)]
    assert not os.path.exists(tmp_path / "ran")


def test_a_patch_of_many_files_is_read_once(guarded, git, rawkomem):
    for n in range(150):  # more than are named in a command
        write(guarded, f"vendor/{n}.c", "1\n")
    staged(guarded, git, "tests/new.py", "MockFileSystem\n")
    assert len(told(rawkomem)) == 151


def test_lines_of_a_patch():
    listed = ":1 1 a b M\0x\0:1 1 a b R90\0old\0new\0\0"
    patch = "diff --git a/x b/x\n@@ -1,2 +1,2 @@ f\n a\n-b\n+++ c\n\\ No newline\ndiff --git a/old b/new\n@@ -0,0 +7 @@\n+d\n"
    assert read_patch(listed + patch) == {"x": {1: " a", 2: "+++ c"}, "new": {7: "+d"}}
    assert read_patch("") == {}


def removed(file) -> None:
    file.unlink()


def narrowed(file) -> None:
    file.write_text(file.read_text().replace("tests/**", "tests/none/**"))


def reminding(file) -> None:
    file.write_text(file.read_text().replace("guard: deny", "guard: remind"))


def without_text(file) -> None:
    file.write_text(file.read_text().replace("MockFileSystem", "Mock File System"))


def put_away(file) -> None:
    (file.parents[1] / "archive").mkdir()
    file.rename(file.parents[1] / "archive" / file.name)


def ended(file) -> None:
    folder = file.parents[1] / "changes" / "2026-01"
    folder.mkdir(parents=True)
    (folder / "x.md").write_text("---\nid: x\nkind: delete\nabout: mem_mock\n---\n")


def expired(file) -> None:
    file.write_text(file.read_text().replace("guard: deny", "guard: deny\nvalidUntil: 2001-01-01"))


def without_memories(file) -> None:
    shutil.rmtree(file.parents[1])


@pytest.mark.parametrize(
    "way", [removed, narrowed, reminding, without_text, put_away, ended, expired, without_memories]
)
def test_a_branch_takes_no_guard_away_for_its_own_review(way, guarded, git, rawkomem):
    """The branch changes the guard and does what it denies: `check --diff` was silent."""
    git("checkout", "-q", "-b", "work")
    way(guarded / ".rawko" / "memories" / "mock.md")
    write(guarded, "tests/new.py", "fs = MockFileSystem()\n")
    git.commit()
    found = told(rawkomem, "--diff", "main...HEAD")
    assert ("guard-deny", "tests/new.py", 1) in found
    changed = [file for code, file, _ in found if code == "guard-changed"]
    assert changed and all(file.startswith(".rawko/") for file in changed)
    done = rawkomem("check", "--diff", "main...HEAD", check=1)
    assert "'Rule mem_mock' (mem_mock) no longer guards as before: deny tests/**, MockFileSystem → " in done.stdout
    git("commit", "-q", "--allow-empty", "-m", "agreed\n\nRawkomem-Allow: mem_mock")
    assert "exception to 'Rule mem_mock'" in rawkomem("check", "--diff", "main...HEAD", check=None).stdout


def test_a_guard_that_a_branch_leaves_alone_is_told_once(guarded, git, rawkomem):
    git("checkout", "-q", "-b", "work")
    mock = guarded / ".rawko" / "memories" / "mock.md"
    mock.write_text(mock.read_text().replace("'tests/**'", "'tests/**', 'more/**'"))
    write(guarded, "tests/new.py", "fs = MockFileSystem()\n")
    git.commit()
    assert [code for code, *_ in told(rawkomem, "--diff", "main...HEAD")] == ["guard-changed", "guard-deny"]


def retitled(file) -> None:
    file.write_text(file.read_text().replace("title: Rule", "title: A rule"))


def with_a_key(file) -> None:
    file.write_text(file.read_text().replace("guard: deny", "guard: deny\ndraft: true"))


def with_more_text(file) -> None:
    file.write_text(file.read_text() + "\n---\nid: mem_more\ntitle: More\n")


@pytest.mark.parametrize("way", [retitled, with_a_key, with_more_text])
def test_an_agents_edit_of_a_guards_file_does_not_end_the_guard_for_the_same_branch(way, guarded, git, rawkomem):
    """Nobody vouches for the edited memory, so by itself it only reminds."""
    git("checkout", "-q", "-b", "work")
    way(guarded / ".rawko" / "memories" / "mock.md")
    write(guarded, "tests/new.py", "fs = MockFileSystem()\n")
    git.commit("edited", AGENT)
    found = told(rawkomem, "--diff", "main...HEAD")
    assert [one for one in found if one[0].startswith("guard")] == [("guard-deny", "tests/new.py", 1)]
