"""The markdown sink: readable, complete under many writers, and a text cannot leave its block."""

import os
import threading

import pytest
from markdown_it import MarkdownIt
from rawkomem.exchange.sinks import checked_folder, log_events, rendered_event
from rawkomem.model.errors import BadInput
from rawkomem.model.user_settings import MarkdownSettings
from rawkomem.model.values import replace

from tests.exchange.sinks.helpers import STORED, configure, event, layout_of

SECRET = "ghp_" + "Ab1" * 12


def test_a_day_of_two_events(project, tmp_path, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-01-23T23:59:59Z")
    layout = layout_of(project)
    log_events(str(tmp_path / "log"), [event(layout, 1, by="alice", tags=("a", "b*"))])
    log_events(str(tmp_path / "log"), [event(layout, 2, body="")])
    assert (tmp_path / "log" / "2026-01-23.md").read_text() == (
        "# 2026-01-23\n"
        "\n## 23:59:59 store: Number 1\n\n"
        f"- repository: {project.name.replace('_', chr(92) + '_')}\n"
        "- memory: mem\\_1\n- kind: memory\n- importance: medium\n- tags: a, b\\*\n- by: alice\n"
        "\n```markdown\ntext\n```\n"
        "\n## 23:59:59 store: Number 2\n\n"
        f"- repository: {project.name.replace('_', chr(92) + '_')}\n"
        "- memory: mem\\_2\n- kind: memory\n- importance: medium\n"
    )
    assert os.stat(tmp_path / "log" / "2026-01-23.md").st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("x", "```\n# not a heading\n````\n# nor this\n~~~\n<script>alert(1)</script>"),
        (
            "# [a](javascript:alert(1)) <img src=x onerror=1> `code` **b** | &amp; \\",
            "</details>\n\n---\n\n## 10:00 store",
        ),
        ("![x](http://169.254.169.254/)", "    indented\n> quote\n`````` "),
    ],
)
def test_a_text_cannot_leave_its_block(project, title, body):
    page = rendered_event(event(layout_of(project), title=title, body=body), "10:00:00")
    tokens = MarkdownIt("commonmark").parse(page)
    inline = [child.type for token in tokens for child in token.children or []]
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h2"]
    assert [token.content for token in tokens if token.type == "fence"] == [body.strip() + "\n"]
    assert set(inline) <= {"text", "text_special"} and "html_block" not in {token.type for token in tokens}
    assert next(token for token in tokens if token.type == "inline").children[0].content.startswith("10:00:00 store: ")


def test_many_writers_lose_nothing(project, tmp_path):
    layout = layout_of(project)
    folder = str(tmp_path / "log")

    def write(start: int) -> None:
        for number in range(start, start + 20):
            log_events(folder, [event(layout, number)])

    threads = [threading.Thread(target=write, args=(start,)) for start in range(0, 160, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pages = [page.read_text() for page in (tmp_path / "log").glob("*.md")]
    assert sorted(int(line.rpartition(" ")[2]) for page in pages for line in page.splitlines() if line.startswith("## ")) \
        == list(range(160))  # fmt: skip
    assert all(page.count("\n# ") == 0 and page.startswith("# ") for page in pages)


@pytest.mark.parametrize(
    ("folder", "events", "said"),
    [
        ("log", ("store",), "not a full path"),
        ("{rawko}/memories/log", ("store",), "inside the repository"),
        ("{rawko}", ("store",), "inside the repository"),
    ],
)
def test_settings_that_cannot_be(project, folder, events, said):
    settings = MarkdownSettings(folder.format(rawko=project / ".rawko"), events)
    with pytest.raises(BadInput, match=said) as caught:
        checked_folder(settings, layout_of(project))
    assert caught.value.hint


def test_a_write_is_logged_without_its_secret(repository, tmp_path_factory):
    log = tmp_path_factory.mktemp("log")
    configure(folder=str(log), events=["store"])
    entry = replace(STORED, title="A key", body=f"the key is {SECRET}")
    repository.delete(repository.add(entry).entry.id)
    (page,) = log.glob("*.md")
    assert "store: A key" in page.read_text() and SECRET not in page.read_text() and "archive" not in page.read_text()
    assert not any("sink" in warning for warning in repository.warnings)


@pytest.mark.parametrize("where", ["file", "relative", "link"])
def test_a_log_that_cannot_be_written_costs_a_warning_and_no_write(repository, tmp_path_factory, where, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-01-23T10:00:00Z")
    folder = tmp_path_factory.mktemp("log")
    (folder / "file").write_text("precious")
    if where == "link":
        (folder / "2026-01-23.md").symlink_to(folder / "file")
    configure(folder={"file": str(folder / "file"), "relative": "x", "link": str(folder)}[where])
    repository.add(STORED)
    assert (
        len(repository.warnings) == 1
        and "the memory is stored, but the markdown sink failed: " in repository.warnings[0]
    )
    assert "\n" not in repository.warnings[0]
    assert repository.get(STORED.id).title == "Why apsw" and (folder / "file").read_text() == "precious"
