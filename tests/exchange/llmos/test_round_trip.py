"""A folder of LLMos comes in whole, and goes out to the same files with the same meaning."""

import pytest
from rawkomem.exchange.llmos import origin_of
from rawkomem.model.entries import Memory
from rawkomem.repository import Repository
from rawkomem.state.trust import category_of

from .folder import FILES, LOG, read, write


@pytest.fixture
def llmos(tmp_path_factory):
    """A folder with two projects."""
    return write(tmp_path_factory.mktemp("llmos"))


def said(repository) -> set[tuple]:
    """What each memory says; a section may have another level of heading."""
    return {
        (one.kind, one.title, one.body.removeprefix("#").removeprefix("# ").removeprefix(" ").removeprefix(one.title).strip(),
         one.found_in, origin_of(one.extra))
        for one in repository.core.all()
    }  # fmt: skip


def test_what_comes_in_goes_out_to_its_own_files(repository, llmos, tmp_path_factory):
    done = repository.exchange.import_llmos(str(llmos))
    assert not done.skipped and len(done.entries) == 18
    target = tmp_path_factory.mktemp("target")
    repository.exchange.export_llmos(str(target))
    found = read(target)
    assert found.keys() == FILES.keys()
    with Repository.init(tmp_path_factory.mktemp("other")) as other:
        other.exchange.import_llmos(str(target))
        assert said(other) == said(repository)
    assert not repository.exchange.export_llmos(str(target)) and read(target) == found
    assert not repository.exchange.import_llmos(str(target)).entries


def test_an_id_of_llmos_goes_back(repository, llmos, tmp_path_factory):
    """The export adds nothing to a file that has the trace by that id."""
    file = "projects/shop/memory/short_term/own.md"
    (llmos / file).parent.mkdir(parents=True, exist_ok=True)
    (llmos / file).write_text(
        "---\ntrace_id: t1\ntimestamp: 2026-01-05T10:00:00Z\ngoal: Upgrade\nstatus: success\n---\n\n## Plan\nx\n"
    )
    repository.exchange.import_llmos(str(llmos))
    before = read(llmos)
    target = tmp_path_factory.mktemp("target")
    repository.exchange.export_llmos(str(target))
    assert "trace_id: t1\n" in read(target)[file] and "llmosId" not in read(target)[file]
    repository.exchange.export_llmos(str(llmos))
    assert read(llmos)[file] == before[file]


def test_what_each_file_becomes(repository, llmos):
    repository.exchange.import_llmos(str(llmos))
    memories = {memory.title: memory for memory in repository.core.all()}
    context = memories["Context of quantum"]
    assert (context.status, context.importance, category_of(context)) == ("active", "high", "context")
    assert "We simulate ears." in context.body
    assert memories["quantum: short_term/context_cache.md"].status == "archived"
    assert memories["quantum: short_term/tool_results/plot.json"].status == "archived"
    assert memories["Export audio"].kind == "trace" and memories["Export audio"].found_in == "quantum"
    assert "make plots" in memories["Learning: Overlapping windows"].body


def test_decisions_do_not_land_among_patterns(repository, tmp_path_factory):
    repository.add("We keep SQLite.", title="SQLite", extra={"type": "decision"})
    repository.add("We ship on Mondays.", title="Mondays", tags=["decisions"])
    repository.add("We sign tags.", title="Signing", extra={"category": "Decision"})
    repository.add("Tests come first.", title="Tests first")
    target = tmp_path_factory.mktemp("target")
    repository.exchange.export_llmos(str(target), "here")
    long_term = target / "projects/here/memory/long_term"
    decisions, patterns = ((long_term / name).read_text() for name in ("decisions.md", "patterns.md"))
    assert all(title in decisions and title not in patterns for title in ("SQLite", "Mondays", "Signing"))
    assert "Tests first" in patterns


def test_a_log_with_a_heading_and_one_project_alone(repository, tmp_path_factory):
    root = write(tmp_path_factory.mktemp("llmos"), {"system/memory_log.md": LOG, **dict(list(FILES.items())[1:])})
    repository.exchange.import_llmos(str(root))
    alone = repository.exchange.import_llmos(str(root / "projects" / "shop"))
    assert not alone.entries and alone.known == 2
    target = tmp_path_factory.mktemp("target")
    repository.exchange.export_llmos(str(target))
    log = read(target)["system/memory_log.md"]
    assert "Simulate a cochlea: 3 filters" in log and "Windows must overlap." in log and "exp_2" in log


def test_what_was_deleted_here_is_named(llmos, rawkomem):
    rawkomem("trace", "project", "import", str(llmos))
    rawkomem("delete", "exp_1")
    again = rawkomem("trace", "project", "import", str(llmos))
    assert (
        "0 stored" in again.stderr and "rawkomem restore ID" in again.stderr and "deleted here: exp_1" in again.stdout
    )


def test_what_cannot_be_taken_over_is_said(project, llmos, rawkomem):
    (llmos / "projects/shop/memory/short_term/tool_results").mkdir(parents=True)
    (llmos / "projects/shop/memory/short_term/tool_results/image.png").write_bytes(b"\x89PNG\xff\xfe")
    (llmos / "projects/shop/memory/long_term/empty.md").write_text("")
    told = rawkomem.json("trace", "project", "import", str(llmos), "--dry-run")
    assert {row["place"].rpartition("/")[2] for row in told["skipped"]} == {"image.png", "empty.md"}
    said = rawkomem("trace", "project", "import", str(llmos))
    assert "image.png: a binary file" in said.stdout and "18 stored, 0 known, 2 skipped" in said.stderr


@pytest.mark.parametrize("file", ["../../etc/passwd", "/etc/passwd", "projects/../../x/y", "projects/.git/config", "x"])
def test_a_memory_cannot_name_a_file_outside(file):
    memory = Memory("mem_1", extra={"llmos": file})
    assert origin_of(memory.extra) == ""
