"""`check --staged` looks at what a commit would bring: real git, real hooks, each check by itself."""

import random
import shutil

import pytest
from rawkomem.files import reading
from rawkomem.files.layout import Layout
from rawkomem.files.reading import read_data
from rawkomem.git.commit_checks import AddedMemories, CheckedCommit, check_commit, duplicate_problems
from rawkomem.git.staged import Staged, search_key, searched
from rawkomem.state.claims import read_registry

from tests.git.gitting import Git

GOOD = "---\nid: mem_1_a\ntitle: How we deploy\nwhenToUse: [deploy]\n---\n\nPush to main.\n"
AMEND = "\n---\n\n---\nid: amend_1\nkind: amend\nabout: mem_1_a\nat: 2026-01-02T00:00:00Z\n---\n\nPush a tag.\n"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def claim(id: str, value: str, more: str = "") -> str:
    return f"---\nid: {id}\ntitle: Port {value}\ndiscoveredAt: 2026-01-01T00:00:00Z\nclaim:\n  subject: api\n  predicate: port\n  value: '{value}'\n---\n\nPort {value}.\n{more}"


def found(project, skip=(), **predicates) -> dict[str, list[str]]:
    layout = Layout(str(project / ".rawko"))
    told = check_commit(CheckedCommit(layout, Staged(layout), read_registry(predicates)), skip)
    return {
        name: [f"{problem.path}:{problem.line}: {problem.message}" for problem in problems]
        for name, problems in told.items()
        if problems
    }


@pytest.fixture
def started(project, memories, git):
    """A project with a committed memory."""
    (memories / "deploy.md").write_text(GOOD)
    (project / "code.py").write_text("def run():\n    return 1\n")
    git.commit()
    return project


def test_nothing_staged_and_good_appends_pass(started, memories, git):
    assert found(started) == {}
    (memories / "deploy.md").write_text(GOOD + AMEND)
    (memories / "new.md").write_text(claim("mem_2_a", "80"))
    git("add", "-A")
    assert found(started) == {}


def test_all_checks_together_parse_each_version_of_a_file_once(started, memories, git, monkeypatch):
    for number in range(60):
        (memories / f"new-{number}.md").write_text(claim(f"mem_9_{number}", f"{number}", "citations: [code.py:1]\n"))
    (memories / "deploy.md").write_text(GOOD.replace("main", "a branch"))
    git("add", "-A")
    parsed = []
    read_entries = reading.read_entries
    monkeypatch.setattr(reading, "read_entries", lambda text, *more: parsed.append(text) or read_entries(text, *more))
    layout = Layout(str(started / ".rawko"))
    staged = Staged(layout)
    brought = AddedMemories(staged)
    problems = check_commit(CheckedCommit(layout, staged, read_registry({})), ())
    assert len(brought.memories) == 61 and duplicate_problems(brought) == []
    assert [name for name, told in problems.items() if told] == ["history", "contradictions"]
    assert len(parsed) == len({*parsed}) == 62, "60 new files, and a changed one before and after"


@pytest.fixture
def parsed(monkeypatch) -> list[str]:
    """The texts of all files that are parsed from here on."""
    parsed: list[str] = []
    read_entries = reading.read_entries
    monkeypatch.setattr(reading, "read_entries", lambda text, *more: parsed.append(text) or read_entries(text, *more))
    return parsed


def check_all(project) -> set[str]:
    """Run all checks of staged files; return the names of those that found something."""
    layout = Layout(str(project / ".rawko"))
    staged = Staged(layout)
    brought = AddedMemories(staged)
    problems = check_commit(CheckedCommit(layout, staged, read_registry({})), ())
    problems["duplicates"] = duplicate_problems(brought)
    return {name for name, told in problems.items() if told}


@pytest.mark.parametrize("staged", ["a new memory", "120 new memories", "code", "an edit", "a claim", "a source"])
def test_a_commit_parses_what_it_concerns_not_every_file_with_unusual_signs(started, memories, git, parsed, staged):
    """Regexes, paths of Windows, words of other languages and claims on other subjects hide nothing."""
    (started / "mapp (ä)").mkdir()
    (started / "mapp (ä)" / "kod.py").write_text("x = 1\n")
    for number in range(70):
        text = f"Größe {number} ⚠️ of C:\\temp: the pattern is \\bport\\b, 位置 {number}.\n"
        other = claim(f"mem_8_{number}", "80").replace("subject: api", f"subject: shop{number}")
        (memories / f"odd-{number}.md").write_text(other.replace("title: Port", "title: 'Ä\\bport\\b'") + text)
    git.commit()
    if staged == "code":
        (started / "mapp (ä)" / "kod.py").write_text("x = 2\n")
    elif staged == "an edit":
        (memories / "deploy.md").write_text(GOOD.replace("main", "a branch"))
    elif staged == "a claim":
        (memories / "new.md").write_text(claim("mem_9_a", "81"))
    elif staged == "a source":
        (memories / "new.md").write_text(
            f"{GOOD.replace('mem_1_a', 'mem_9_a')}".replace("title", "derivedFrom: [mem_1_a]\ntitle")
        )
    for number in range({"a new memory": 1, "120 new memories": 120}.get(staged, 0)):
        (memories / f"new-{number}.md").write_text(
            GOOD.replace("mem_1_a", f"mem_9_{number}").replace("main", f"{number}")
        )
    git("add", "-A")
    found = check_all(started)
    assert found == ({"history"} if staged == "an edit" else set())
    assert len(parsed) <= (122 if staged == "120 new memories" else 3)


def test_the_staged_blob_counts_not_the_work_tree(started, memories, git):
    (memories / "new.md").write_text(GOOD.replace("mem_1_a", "mem_2_a") + KEY + "\n")
    git("add", "-A")
    (memories / "new.md").write_text(GOOD.replace("mem_1_a", "mem_2_a"))
    assert list(found(started)) == ["secrets"]
    git("add", "-A")
    (memories / "new.md").write_text(KEY)
    assert found(started) == {}


def test_secrets_are_told_with_their_line_and_not_repeated(started, memories, git):
    (memories / "new.md").write_text(f"{GOOD.replace('mem_1_a', 'mem_2_a')}token: {KEY}\n")
    (started / ".rawko" / "config.yaml").write_text(f"# {KEY}\n")
    git("add", "-A")
    told = found(started)["secrets"]
    assert [line.rpartition(": a secret")[0] for line in told] == [".rawko/config.yaml:1", ".rawko/memories/new.md:8"]
    assert KEY not in str(told)
    assert found(started, skip=["secrets"]) == {}


@pytest.mark.parametrize(
    "code", ['API_KEY: str = "§"', 'const apiSecret: string = "§";', '#define API_KEY "§"', 'jwtSecret := []byte("§")']
)
def test_secrets_in_typed_code(started, memories, git, code):
    key = KEY.removeprefix("ghp_")
    (memories / "new.md").write_text(f"{GOOD.replace('mem_1_a', 'mem_2_a')}\n```\n{code.replace('§', key)}\n```\n")
    git("add", "-A")
    assert [line.partition(": ")[0] for line in found(started)["secrets"]] == [".rawko/memories/new.md:10"]


def test_what_cannot_be_read(started, memories, git):
    for text, message in (
        ("---\ntitle: [a\n---\n\nx\n", "not valid YAML"),
        ("no frontmatter\n", "no frontmatter"),
        (GOOD.replace("mem_1_a", "m") + "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", "merge conflict markers"),
    ):
        (memories / "new.md").write_text(text)
        git("add", "-A")
        told = found(started)
        assert list(told) == ["frontmatter"] and message in told["frontmatter"][0]
        assert found(started, skip=["frontmatter"]) == {}


def test_rewritten_and_dropped_entries(started, memories, git):
    (memories / "deploy.md").write_text(GOOD + AMEND)
    git.commit()
    (memories / "deploy.md").write_text(GOOD.replace("Push to main", "Push to staging") + AMEND)
    git("add", "-A")
    assert found(started) == {
        "history": [
            ".rawko/memories/deploy.md:1: 'How we deploy' (mem_1_a) was edited: changed text"
            "; an amendment replaces the edited text, so the edit waits for a review"
        ]
    }
    (memories / "deploy.md").write_text(GOOD)
    git("add", "-A")
    assert found(started) == {
        "history": [".rawko/memories/deploy.md:1: amend_1, about mem_1_a, was removed: it changed text"]
    }
    (memories / "deploy.md").unlink()
    git("add", "-A")
    assert len(found(started)["history"]) == 2
    assert found(started, skip=["history"]) == {}


def test_contradictions_until_settled(started, memories, git):
    (memories / "a.md").write_text(claim("mem_2_a", "80"))
    git.commit()
    (memories / "b.md").write_text(claim("mem_3_b", "81"))
    git("add", "-A")
    assert found(started) == {"contradictions": [".rawko/memories/b.md:1: mem_3_b contradicts mem_2_a: api port 81"]}
    assert found(started, port={"conflictPolicy": "keep_both"}) == {}
    assert found(started, skip=["contradictions"]) == {}
    settled = (
        "\n---\n\n---\nid: s_1\nkind: supersede\nabout: mem_2_a\nat: 2026-01-03T00:00:00Z\nsupersededBy: mem_3_b\n---\n"
    )
    (memories / "other.md").write_text(GOOD.replace("mem_1_a", "mem_9_z") + settled)
    git("add", "-A")
    assert found(started) == {}


def test_code_that_a_memory_cites(started, memories, git, rawkomem):
    rawkomem("link", "cite", "mem_1_a", "code.py#run")
    git("add", "-A")
    assert found(started) == {}
    git.commit()
    (started / "code.py").write_text("def run():\n    return 2\n")
    assert found(started) == {}, "not staged yet"
    git("add", "-A")
    (started / "code.py").write_text("def run():\n    return 1\n")
    assert ["mem_1_a cites code.py#run" in line for line in found(started)["citations"]] == [True]
    assert found(started, skip=["citations"]) == {}
    git("commit", "-qm", "code")
    (started / "code.py").write_text("def run():\n    return 2\n")
    (started / "other.py").write_text("x = 1\n")
    git("add", "-A")
    assert found(started) == {}, "this commit did not make it stale"


def test_a_merge_takes_what_one_side_changed_and_reports_what_it_loses(started, memories, git):
    (memories / "two.md").write_text(GOOD.replace("mem_1_a", "mem_2_b") + AMEND.replace("amend_1", "amend_2"))
    git.commit()
    git("checkout", "-qb", "side")
    (memories / "two.md").write_text(GOOD.replace("mem_1_a", "mem_2_b"))  # a purge
    (memories / "deploy.md").write_text(GOOD + AMEND)
    git.commit()
    git("checkout", "-q", "main")
    (memories / "new.md").write_text(GOOD.replace("mem_1_a", "mem_3_c"))
    git.commit()
    git("merge", "-q", "--no-commit", "--no-ff", "side")
    assert found(started) == {}
    (memories / "deploy.md").write_text(GOOD)
    git("add", "-A")
    assert found(started) == {
        "history": [".rawko/memories/deploy.md:1: amend_1, about mem_1_a, was removed: it changed text"]
    }
    git("checkout", "-q", "side", "--", ".rawko/memories/deploy.md")
    git("rm", "-qf", ".rawko/memories/new.md")
    assert found(started) == {"history": [".rawko/memories/new.md:1: 'How we deploy' (mem_3_c) was removed"]}


def test_the_command(started, memories, git, rawkomem):
    assert rawkomem("check", "--staged").stdout == ""
    (memories / "new.md").write_text(f"{GOOD.replace('mem_1_a', 'mem_2_a')}token: {KEY}\n")
    (memories / "deploy.md").write_text(GOOD.replace("main", "staging"))
    git("add", "-A")
    agent = {"CLAUDECODE": "1"}
    told = rawkomem("check", "--staged", ".rawko/memories/new.md", env=agent, check=1)
    assert ".rawko/memories/new.md:8: secrets: a secret" in told.stdout
    assert ".rawko/memories/deploy.md:1: history: 'How we deploy' (mem_1_a) was edited" in told.stdout
    assert "2 errors in staged files: secrets, history" in told.stderr and "--no-" not in told.stdout + told.stderr
    assert rawkomem("check", "--staged", "--no-secrets", "--no-history").stdout == ""
    facts = rawkomem.json("check", "--staged", env=agent, check=1)
    assert [(fact["check"], fact["line"]) for fact in facts] == [("secrets", 8), ("history", 1)]


def test_hook_environments(started, memories, git, rawkomem, tmp_path_factory):
    """Another index, a linked work tree, a bare repository with its files elsewhere, the hook of another repository."""
    bad = GOOD.replace("mem_1_a", "mem_2_a") + KEY + "\n"
    (memories / "new.md").write_text(bad)
    index = started / ".git" / "other-index"
    git("read-tree", "HEAD", env={"GIT_INDEX_FILE": str(index)})
    git("add", ".rawko/memories/new.md", env={"GIT_INDEX_FILE": str(index)})
    assert rawkomem("check", "--staged").stdout == ""
    rawkomem("check", "--staged", env={"GIT_INDEX_FILE": ".git/other-index"}, check=1)
    (memories / "new.md").unlink()

    linked = tmp_path_factory.mktemp("linked") / "tree"
    git("worktree", "add", "-q", str(linked))
    (linked / ".rawko" / "memories" / "new.md").write_text(bad)
    Git(linked)("add", "-A")
    rawkomem("check", "--staged", cwd=linked, check=1)
    own = Git(linked)("rev-parse", "--absolute-git-dir")
    hook = {"GIT_DIR": own, "GIT_INDEX_FILE": f"{own}/index"}
    rawkomem("check", "--staged", cwd=linked, env=hook, check=1)
    assert rawkomem("-C", str(started), "check", "--staged", cwd=linked, env=hook).stdout == ""

    bare = tmp_path_factory.mktemp("bare") / "dots.git"
    home = {"GIT_DIR": str(bare), "GIT_WORK_TREE": str(linked)}
    git("init", "-q", "--bare", str(bare))
    git("add", ".rawko/memories/new.md", env={**home})
    told = rawkomem("check", "--staged", cwd=linked / ".rawko", env=home, check=1)
    assert told.stdout.startswith(".rawko/memories/new.md:")


def test_a_submodule(started, memories, git, rawkomem, tmp_path_factory):
    outer = Git(tmp_path_factory.mktemp("outer"))
    outer("init", "-q")
    outer("submodule", "add", "-q", str(started), "inner")
    outer.commit()
    inner = outer.folder / "inner"
    (inner / ".rawko" / "memories" / "new.md").write_text(GOOD.replace("mem_1_a", "mem_2_a") + KEY + "\n")
    Git(inner)("add", "-A")
    told = rawkomem("check", "--staged", cwd=inner, check=1)
    assert told.stdout.startswith(".rawko/memories/new.md:")
    own = Git(inner)("rev-parse", "--absolute-git-dir")
    rawkomem("check", "--staged", cwd=inner, env={"GIT_DIR": own, "GIT_INDEX_FILE": f"{own}/index"}, check=1)
    hook = {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index"}  # of the outer repository
    rawkomem("-C", "inner", "check", "--staged", cwd=outer.folder, env=hook, check=1)


def test_checks_find_memories_however_yaml_spells_them(started, memories, git):
    """Each of these files hides its id or key from a search for bytes."""
    hidden = claim("mem_2_a", "80").replace("claim:", '"cl\\x61im":').replace("subject: api", 'subject: "a\\x70i"')
    (memories / "port.md").write_text(hidden)
    (memories / "cites.md").write_text('---\nid: mem_4_a\ntitle: C\n"cit\\x65s": [code.py@0000000]\n---\n\nText.\n')
    source = '---\nid: mem_5_a\ntitle: D\n"d\\x65rivedFrom": [mem_1_a]\n---\n\nText.\n'
    (memories / "derived.md").write_text(source)
    git.commit()
    changes = started / ".rawko" / "changes" / "2026-11"
    changes.mkdir(parents=True)
    (changes / "d.md").write_text('---\nid: delete_1\nkind: delete\nabout: "mem\\x5f1_a"\n---\n')
    (memories / "new.md").write_text(claim("mem_3_a", "81"))
    (started / "code.py").write_text("changed\n")
    git("add", "-A")
    told = found(started)
    assert "mem_3_a contradicts mem_2_a" in told["contradictions"][0]
    assert "mem_4_a cites code.py" in told["citations"][0]
    assert "mem_5_a was made from mem_1_a" in told["derived"][0]


def spelled(text: str, choose: random.Random) -> str:
    """Return a text as a value of YAML, in one of many spellings."""
    signs = (choose.choice([sign, f"\\x{ord(sign):02x}", f"\\u{ord(sign):04x}"]) for sign in text)
    return choose.choice([
        text, "'" + text.replace("'", "''") + "'", f'"{"".join(signs)}"', f'"{text[:2]}\\\n   {text[2:]}"', f">-\n  {text}",
        f"|\n  {text}", f"!!str {text}", f"\u200b{text}", f"{text[:2]}\u200d{text[2:]}", f"{text[:2]}\n  {text[2:]}",
    ])  # fmt: skip


def test_no_spelling_hides_an_id_from_the_search_for_files():
    """A file is skipped only if it cannot hold the id."""
    choose, hidden = random.Random(7), 0
    for _ in range(1_000):
        text = "".join(choose.choice("abcxyz019_-.#/@ '\\:") for _ in range(choose.randrange(1, 9)))
        data = f"---\nkind: amend\nabout: {spelled(text, choose)}\n---\n\nText.\n".encode()
        for entry in read_data(data, "memories/q.md").entries:
            hidden += entry.target.encode() not in data
            text = searched(data, "memories/q.md")
            assert text is None or all(part in text for part in search_key(entry.target)), data
    assert hidden > 20


def test_check_and_status_report_changes_that_a_sparse_checkout_leaves_out(
    started, memories, git, rawkomem, repository
):
    """Without `.rawko/changes`, a deleted memory seems to be in use."""
    repository.delete("mem_1_a", "gone")
    git.commit()
    git("sparse-checkout", "set", "--no-cone", "/*", "!/.rawko/changes/")
    told = rawkomem("check", check=1)
    assert "not checked out: 1 tracked file of changes/" in told.stdout and "git sparse-checkout" in told.stdout
    assert "not checked out: 1 tracked file of changes/" in rawkomem("status").stderr
    git("sparse-checkout", "disable")
    assert "not checked out" not in rawkomem("check").stdout


MARKED = "<<<<<<< HEAD\nPush a tag.\n=======\nPush to main.\n>>>>>>> one\n"


@pytest.mark.parametrize("where", ["memory", "amendment"])
def test_committed_conflict_markers_are_an_error_and_are_not_injected(started, memories, git, rawkomem, where):
    """As `git rebase --continue` commits them if no hook runs."""
    marked = (
        GOOD.replace("Push to main.\n", MARKED) if where == "memory" else GOOD + AMEND.replace("Push a tag.\n", MARKED)
    )
    (memories / "deploy.md").write_text(marked)
    git("commit", "-qam", "continued", "--no-verify")
    assert "error   merge conflict markers" in rawkomem("check", check=1).stdout
    assert rawkomem("inject", "deploy the service").stdout == ""
    (memories / "deploy.md").write_text(GOOD)
    git("commit", "-qam", "resolved")
    assert "Push to main." in rawkomem("inject", "deploy the service").stdout


def test_check_reports_that_the_memories_were_deleted_from_disk(started, memories, git, rawkomem):
    shutil.rmtree(memories)
    told = rawkomem("check", check=1)
    assert "not checked out: 1 tracked file of memories/" in told.stdout
    assert "git restore .rawko/memories" in told.stdout
    git("restore", ".rawko/memories")
    assert "not checked out" not in rawkomem("check").stdout


COPY = GOOD.replace("How we deploy", "How we test").replace("Push to main.", "Run the suite.")


def test_a_copied_id_is_refused_and_check_fix_gives_the_copy_its_own(started, memories, git, rawkomem):
    amend = AMEND.replace("amend_1", "amend_2")
    (memories / "test.md").write_text(COPY + amend)
    git("add", "-A")
    (problem,) = found(started)["frontmatter"]
    assert problem.startswith(".rawko/memories/test.md:1: id 'mem_1_a' is in memories/deploy.md, too")
    rawkomem("check", "--staged", check=1)
    (fixed,) = rawkomem.json("check", "--fix")
    assert (fixed["file"], fixed["title"], fixed["old"]) == ("memories/test.md", "How we test", "mem_1_a")
    assert (memories / "deploy.md").read_text() == GOOD
    copy, change = read_data((memories / "test.md").read_bytes(), "memories/test.md").entries
    assert copy.id == change.about == fixed["new"] and change.id not in ("amend_1", "amend_2")
    git("add", "-A")
    assert found(started) == {}
    assert {row["title"] for row in rawkomem.json("list")} == {"How we deploy", "How we test"}
    assert rawkomem.json("check", "--fix") == []


def test_two_files_with_one_id_from_two_branches_are_refused_in_the_merge(started, memories, git):
    for branch, name in (("one", "a.md"), ("two", "b.md")):
        git("checkout", "-q", "-b", branch, "main")
        (memories / name).write_text(GOOD.replace("mem_1_a", "mem_9_z").replace("main", branch))
        git.commit()
    git("merge", "-q", "--no-commit", "one")
    assert len(found(started)["frontmatter"]) == 1
    git("commit", "-q", "-m", "merged without hooks")
    (memories / "a.md").write_text((memories / "a.md").read_text().replace("Push", "Pull"))
    git("add", "-A")
    assert "frontmatter" not in found(started), "a later commit is not held up by what is committed"


@pytest.mark.parametrize("moved", ["memories/deploys.md", "archive/deploy.md"])
def test_a_moved_or_equal_copy_is_no_copied_id(started, memories, git, moved):
    (memories.parent / "archive").mkdir()
    git("mv", ".rawko/memories/deploy.md", f".rawko/{moved}")
    assert found(started) == {}
    (memories / "deploy.md").write_text(GOOD)
    git.commit()
    assert "frontmatter" not in found(started)
    (memories.parent / moved).write_text(COPY)
    git("add", "-A")
    assert len(found(started)["frontmatter"]) == 1, "an edit of the copy would take the place of the original"
