"""MEMORY.md: every memory in use, linked, without churn, and no memory itself."""

import re
from urllib.parse import unquote

import pytest
from rawkomem.model.entries import Entry, Memory
from rawkomem.model.errors import Refused
from rawkomem.repository import Repository
from rawkomem.repository.writing import memory_page_text

LINK = re.compile(r"^- \[(.*)\]\(([^)]+)\)", re.MULTILINE)


def page(project) -> str:
    return (project / ".rawko" / "MEMORY.md").read_text()


def test_it_links_to_what_is_in_use(project, repository):
    repository.add(Entry(title="Beta", body="Second.", importance="high"))
    repository.add(Entry(title="alpha [x] <b>", body="First sentence. More of it."))
    repository.add(Entry(kind="lesson", title="A lesson", body="Look first."))
    repository.add(Entry(title="Held", body="Waits."))
    repository.beliefs.quarantine("held")
    repository.add(Entry(title="Gone", body="Gone."))
    repository.delete("gone")
    file, changed = repository.exchange.write_contents()
    assert changed and file == str(project / ".rawko" / "MEMORY.md")
    links = LINK.findall(page(project))
    assert [title for title, _ in links] == ["alpha \\[x\\] &lt;b>", "Beta", "A lesson"]
    assert all((project / ".rawko" / unquote(path)).is_file() for _, path in links)
    assert "**high** – Second." in page(project) and "– First sentence.\n" in page(project)


def test_the_order_does_not_depend_on_how_memories_come():
    memories = [Memory(f"m{n}", title=f"T{n % 3}", tags=(f"t{n % 2}",), path=f"memories/{n}.md") for n in range(20)]
    assert memory_page_text(memories) == memory_page_text(memories[::-1])
    assert memory_page_text(memories).index("### t0") < memory_page_text(memories).index("### t1")


def test_no_number_of_memories_makes_it_churn():
    tags = [(), ("b",), ("a",)]
    memories = [Memory(f"m{n}", title=f"T{n:02}", tags=tags[n % 3], path=f"memories/{n}.md") for n in range(20)]
    before = memory_page_text([])
    for number in range(1, len(memories)):
        page = memory_page_text(memories[:number])
        gone, new = ({*one.split("\n")} - {*other.split("\n")} for one, other in ((before, page), (page, before)))
        assert gone <= {"None yet."} and len(new) <= 2
        before = page


def test_what_is_told_of_a_memory_is_words():
    body = (
        "See [the `queue` docs](../queue.md), ![a picture](x.png), [[limits|the limits]], [[jitter]] and "
        "[![badge](b.svg)](https://example.com) or [label][1] in a[0]. More."
    )
    page = memory_page_text([Memory("m", title="Use `jitter [x]", body=body, path="memories/m.md")])
    assert "- [Use \\`jitter \\[x\\]](memories/m.md) – " in page
    assert page.endswith("See the \\`queue\\` docs, a picture, the limits, jitter and badge or label in a\\[0\\].\n")


def test_check_tells_that_it_is_out_of_date(project, repository, rawkomem):
    def told() -> list[str]:
        return [problem.message for item in repository.check() if item.file == "MEMORY.md" for problem in item.problems]

    repository.add(Entry(title="One", body="Text."))
    assert told() == []  # there is none
    repository.exchange.write_contents()
    assert told() == []
    file = project / ".rawko" / "MEMORY.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))  # as git may check it out
    assert told() == []
    repository.add(Entry(title="Two", body="Text."))
    assert told() == ["MEMORY.md is out of date"]
    assert "MEMORY.md:1: warning" in (said := rawkomem("check").stdout) and "rawkomem tidy toc" in said
    rawkomem("tidy", "toc")
    assert told() == []
    file.write_text("# Mine\n")
    assert told() == []


def test_a_page_of_somebody_else_stays(project, repository):
    (project / ".rawko" / "MEMORY.md").write_text("# Mine\n")
    with pytest.raises(Refused, match="not written by rawkomem"):
        repository.exchange.write_contents()
    assert page(project) == "# Mine\n"


def test_it_follows_writes_where_the_project_wants_that(project):
    (project / ".rawko" / "config.yaml").write_text("contents: on\n")
    warnings: list[str] = []
    repository = Repository.open(str(project), warn=warnings.append)
    repository.add(Entry(title="Secret plan", body="Text."))
    assert "Secret plan" in page(project)
    repository.lifecycle.purge("secret-plan")
    assert "Secret plan" not in page(project) and not [text for text in warnings if "MEMORY" in text]
    (project / ".rawko" / "MEMORY.md").write_text("# Mine\n")
    repository.add(Entry(title="Another", body="Text."))
    assert page(project) == "# Mine\n" and "MEMORY.md is not up to date" in warnings[-1]
    repository.close()


def test_the_command_writes_elsewhere_too(project, rawkomem):
    rawkomem("add", "--title", "Why", "--body", "Because.")
    assert rawkomem("tidy", "toc").stdout.startswith("written  .rawko/MEMORY.md")
    assert rawkomem("tidy", "toc").stdout.startswith("unchanged")
    (project / "docs").mkdir()
    rawkomem("tidy", "toc", "--out", "docs/memories.md")
    assert "(../.rawko/memories/why.md)" in (project / "docs" / "memories.md").read_text()
