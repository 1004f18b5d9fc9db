"""How it stands with cited code: real files, real git repositories, no git process on our side."""

import os

import pytest
from rawkomem.files.layout import MAX_FILE_BYTES, Layout
from rawkomem.format.blocks import read_citation
from rawkomem.git.citations import FRESH, GONE, MAX_CITATIONS, STALE, UNKNOWN, CitationChecks, blob_id, place_from
from rawkomem.model.entries import Task
from rawkomem.model.errors import BadInput

from tests.git.gitting import Git

CODE = "import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"


@pytest.fixture
def src(project):
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text(CODE)
    return project / "src"


@pytest.fixture
def git(project, src):
    git = Git(project)
    git("init", "-q")
    git.commit()
    return git


def state(project, text: str) -> tuple[str, str]:
    cited = CitationChecks(Layout(str(project / ".rawko"))).check(read_citation(text))
    return cited.state, cited.note


def cite(project, place: str) -> str:
    return CitationChecks(Layout(str(project / ".rawko"))).now(read_citation(place)).citation.text


def test_a_blob_is_gits(git, project, src):
    assert blob_id(CODE.encode()) == git("hash-object", "src/a.py")
    assert cite(project, "src/a.py") == f"src/a.py@{git('rev-parse', 'HEAD:src/a.py')[:12]}"


def test_fresh_stale_gone_without_git(project, src):
    whole, symbol, lines = (cite(project, f"src/a.py{part}") for part in ("", "#second", ":8-9"))
    assert [state(project, text)[0] for text in (whole, symbol, lines)] == [FRESH] * 3
    (src / "a.py").write_text(CODE.replace("return 1", "return 10\n    # longer"))
    assert state(project, whole)[0] == STALE
    assert state(project, symbol) == (FRESH, "")
    assert state(project, lines) == (FRESH, "now lines 9-10")
    (src / "a.py").write_text(CODE.replace("return 2", "return 20"))
    assert [state(project, text)[0] for text in (whole, symbol, lines)] == [STALE] * 3
    (src / "a.py").write_text("import os\n")
    assert [state(project, text)[0] for text in (whole, symbol, lines)] == [STALE, GONE, GONE]
    (src / "a.py").unlink()
    assert [state(project, text)[0] for text in (whole, symbol, lines)] == [GONE] * 3


def test_without_a_blob_it_must_only_be_there(project, src):
    assert [state(project, text)[0] for text in ("src/a.py", "src/a.py#first", "src/a.py:1-9", "src")] == [FRESH] * 4
    assert [state(project, text)[0] for text in ("src/b.py", "src/a.py#third", "src/a.py:90-99", "src/a.py/x")] == [
        GONE
    ] * 4


def test_a_renamed_file_is_followed(git, project, src):
    whole, symbol = cite(project, "src/a.py"), cite(project, "src/a.py#first")
    git("mv", "src/a.py", "src/other.py")
    assert state(project, whole) == (FRESH, "moved to src/other.py")
    git.commit("rename")
    assert state(project, whole) == (FRESH, "moved to src/other.py")
    assert state(project, symbol) == (FRESH, "moved to src/other.py")
    (project / "lib").mkdir()
    git("mv", "src/other.py", "lib/a.py")
    assert state(project, symbol) == (FRESH, "moved to lib/a.py")
    (project / "lib" / "a.py").write_text(CODE + "# more\n")
    assert state(project, whole)[0] == GONE and state(project, symbol)[0] == FRESH


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index(git, project, src, version):
    for name in ("b", "c", "deep/er/d"):
        (src / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (src / f"{name}.py").write_text(f"# {name}\n" + CODE)
    git.commit()
    text = cite(project, "src/deep/er/d.py")
    git("mv", "src/deep/er/d.py", "src/deep/er/moved.py")
    git("add", "--intent-to-add", "-f", ".rawko/local", check=False)
    git("update-index", "--index-version", version)
    assert state(project, text) == (FRESH, "moved to src/deep/er/moved.py")


def test_the_project_may_be_a_folder_of_the_work_tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("mono")
    project = top / "packages" / "one"
    (project / ".rawko" / "memories").mkdir(parents=True)
    (project / "a.py").write_text(CODE)
    git = Git(top)
    git("init", "-q")
    git.commit()
    text = cite(project, "a.py")
    git("mv", "packages/one/a.py", "packages/one/b.py")
    assert state(project, text) == (FRESH, "moved to b.py")
    git("mv", "packages/one/b.py", "outside.py")
    assert state(project, text)[0] == GONE


def test_line_ends_do_not_matter(git, project, src):
    git("config", "core.autocrlf", "true")
    committed = [cite(project, place) for place in ("src/a.py", "src/a.py#first", "src/a.py:4-5")]
    (src / "a.py").unlink()
    git("checkout", "-q", "--", "src/a.py")
    assert b"\r\n" in (src / "a.py").read_bytes()
    assert [state(project, text)[0] for text in committed] == [FRESH] * 3
    assert [cite(project, place) for place in ("src/a.py", "src/a.py#first", "src/a.py:4-5")] == committed
    (src / "dos.py").write_bytes(b"x\r\ny\r\n")
    git("config", "core.autocrlf", "false")
    git.commit()
    assert cite(project, "src/dos.py").endswith(git("rev-parse", "HEAD:src/dos.py")[:12])


def test_links_and_ways_out_are_refused(project, src, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("token\n")
    (project / "link").symlink_to(secret)
    (project / "inner").symlink_to(src)
    for path in ("link", "inner/a.py", "../x", str(secret), "src/../../x"):
        found, note = state(project, f"{path}@{blob_id(b'token' + bytes([10]))}")
        assert found == UNKNOWN and note.startswith("refused"), path
        with pytest.raises(BadInput):
            cite(project, path)
    layout = Layout(str(project / ".rawko"))
    assert place_from(layout, "inner/a.py#first", str(project)) == "src/a.py#first"
    with pytest.raises(BadInput, match="outside"):
        place_from(layout, "link", str(project))


def test_what_is_not_checked_out_is_not_gone(git, project, src, tmp_path_factory):
    other = Git(tmp_path_factory.mktemp("library"))
    other("init", "-q")
    (other.folder / "lib.py").write_text(CODE)
    other.commit()
    git("submodule", "--quiet", "add", str(other.folder), "vendor/lib")
    git.commit()
    inside, own = cite(project, "vendor/lib/lib.py#first"), cite(project, "src/a.py")
    assert state(project, inside)[0] == FRESH
    git("submodule", "--quiet", "deinit", "-f", "vendor/lib")
    assert state(project, inside) == (UNKNOWN, "the submodule vendor/lib is not checked out")
    git("sparse-checkout", "set", "--no-cone", "/.rawko/", "/.gitmodules")
    assert not src.exists()
    assert state(project, own) == (UNKNOWN, "not checked out here (sparse checkout)")


def test_large_and_odd_files(project, src):
    (src / "large.py").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    os.mkfifo(src / "pipe")
    assert "larger than 5 MiB" in state(project, "src/large.py@1234567")[1]
    assert state(project, "src/pipe@1234567")[0] == UNKNOWN
    (src / "b.py").write_text("x = 1\n" * 100)
    tight = CitationChecks(Layout(str(project / ".rawko")), budget=10)
    assert [tight.check(read_citation(f"src/{name}.py")).state for name in "ab"] == [FRESH, UNKNOWN]


def test_a_symbol_that_cannot_be_told_apart_stands_for_the_file(project, src):
    (src / "t.txt").write_text("the word gizmo occurs\n")
    found = CitationChecks(Layout(str(project / ".rawko"))).now(read_citation("src/t.txt#gizmo"))
    assert "whole file" in found.note and found.citation.blob == blob_id(b"the word gizmo occurs\n")[:12]


MEMORY = "---\ntitle: {title}\nwhenToUse: login|auth\n{cites}---\n\n{title}: all login code of the project lives in one place.\n"


def test_stale_memories_are_demoted_and_labelled(project, memories, src, repository):
    (memories / "plain.md").write_text(MEMORY.format(title="Plain", cites=""))
    (memories / "citing.md").write_text(MEMORY.format(title="Citing", cites=""))
    repository.citations.add("citing", ["src/a.py#first", "src/a.py#second"])
    task = Task("fix the login page")
    before = {item.memory.title: item for item in repository.inject(task).items}
    factors = {factor.name: factor for factor in before["Citing"].factors}
    assert factors["citations"].value == 1.0 and "citations" not in {f.name for f in before["Plain"].factors}
    assert "Caution" not in repository.inject(task).text
    (src / "a.py").write_text(CODE.replace("return 1", "return 7"))
    after = repository.inject(task)
    citing = next(item for item in after.items if item.memory.title == "Citing")
    assert citing.score == pytest.approx(before["Citing"].score * 0.75)
    assert "*Caution: cites code that changed since: src/a.py#first*" in after.text
    assert [item.memory.title for item in after.items] == ["Plain", "Citing"]
    (src / "a.py").unlink()
    for form in ("rawko", "mesh", "xml", "json", "plain"):
        assert "cites code that is gone: src/a.py#first, src/a.py#second" in repository.inject(task, form=form).text
    item, _ = repository.explain("citing", task)
    assert item.factors[-1].value == pytest.approx(0.3) and "src/a.py#first gone" in item.factors[-1].why


def test_a_byte_order_mark_changes_nothing(project, src):
    whole, symbol = cite(project, "src/a.py"), cite(project, "src/a.py#first")
    (src / "a.py").write_bytes(b"\xef\xbb\xbf" + CODE.encode())
    assert [state(project, text)[0] for text in (whole, symbol)] == [FRESH] * 2
    (src / "b.py").write_bytes(b"\xef\xbb\xbfdef alone():\n    return 1\n")
    assert state(project, cite(project, "src/b.py#alone"))[0] == FRESH


def test_a_definition_that_only_a_remark_names_is_gone(project, src):
    text = cite(project, "src/a.py#second")
    (src / "a.py").write_text("# second is gone\n")
    assert state(project, text)[0] == state(project, "src/a.py#second")[0] == GONE


def test_citations_that_are_not_looked_at_are_told(project, src):
    many = [f"src/a.py:{number}" for number in range(1, MAX_CITATIONS + 3)]
    found = CitationChecks(Layout(str(project / ".rawko"))).of({"cites": many})
    assert len(found) == MAX_CITATIONS + 2 and found[-1].state == UNKNOWN and "first 64 citations" in found[-1].note
