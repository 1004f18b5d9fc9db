"""Odd things in the folders: links, devices, names that other systems refuse, files that cannot be read."""

import json
import os
import unicodedata

import pytest
from rawkomem.files.check import check_repository, printable
from rawkomem.model.entries import Entry
from rawkomem.model.ids import slug

from tests.conftest import shared
from tests.files.odd_more import front
from tests.files.plain_user import run_plain

TESTED = {
    "symlink-in", "dangling", "dev-full", "unreadable", "case-clash", "nfc-nfd-clash", "trailing-dot", "long-name",
    "newline-name", "dash-name", "tmp-names",
}  # fmt: skip


def text(title: str = "T", body: str = "body") -> str:
    return front(title=f'"{title}"') + f"\n{body}\n"


def problems(repository) -> dict[str, str]:
    """path → everything `check` says of it, content rules left out."""
    found = {
        item.file: " / ".join(problem.message for problem in item.problems if problem.level != "style")
        for item in check_repository(repository.layout)
    }
    return {path: told for path, told in found.items() if told}


def ids(repository) -> list[str]:
    return sorted(row.id for row in repository.list())


@pytest.fixture
def good(memories):
    (memories / "good.md").write_text(text("Good"), "utf-8")
    return memories


def test_every_row_of_the_shared_corpus_has_a_test_here():
    rows = json.loads(shared("data/odd_md/index.json").read_text("utf-8"))
    assert {row["name"] for row in rows if row["category"] == "fs"} == TESTED


def test_a_link_to_a_memory_is_just_its_other_name(good, repository):
    (good / "alias.md").symlink_to("good.md")
    assert ids(repository) == ["good"] and problems(repository) == {}


def test_a_link_to_nowhere_is_told(good, repository):
    (good / "dang.md").symlink_to("nowhere.md")
    assert ids(repository) == ["good"]
    assert problems(repository) == {"memories/dang.md": "a symbolic link to a missing file"}


def test_a_link_to_itself_is_told(good, repository):
    (good / "loop.md").symlink_to("loop.md")
    assert ids(repository) == ["good"] and list(problems(repository)) == ["memories/loop.md"]


@pytest.mark.parametrize("target", ["/dev/full", "/dev/zero", "/etc/passwd"])
def test_a_link_out_of_the_repository_is_not_followed(good, repository, target):
    (good / "full.md").symlink_to(target)
    assert ids(repository) == ["good"]
    assert "link out of the repository" in problems(repository)["memories/full.md"]


def test_a_pipe_is_no_memory_and_nobody_waits_for_it(good, repository):
    os.mkfifo(good / "pipe.md")
    assert ids(repository) == ["good"]
    assert problems(repository) == {"memories/pipe.md": "not a regular file"}


def test_a_folder_with_the_name_of_a_file_is_told(good, repository):
    (good / "folder.md").mkdir()
    assert ids(repository) == ["good"] and "rename" not in problems(repository)
    assert "folder with the name" in problems(repository)["memories/folder.md"]


def test_folder_links_are_never_followed(good, repository, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "private.md").write_text(text("Private"), "utf-8")
    (good / "notes").symlink_to(elsewhere)
    (good / "round").symlink_to(good)
    (good.parent / "traces").symlink_to(elsewhere)
    assert ids(repository) == ["good"]
    assert "links are not followed" in problems(repository)["traces"]


def test_an_unreadable_file_is_told_and_what_it_said_stays(good, repository):
    """EACCES is told, the scan goes on, the old rows are kept and marked as stale; one that was never read is known."""
    (good / "no.md").write_text(text("No", "zebra"), "utf-8")
    assert ids(repository) == ["good", "no"]
    (good / "no.md").chmod(0)
    (good / "new.md").write_text(text("New"), "utf-8")
    (good / "never.md").write_text(text("Never"), "utf-8")
    (good / "never.md").chmod(0)
    result = run_plain(UNREADABLE, good)
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert seen["ids"] == ["good", "new", "no"] and seen["found"] == "no"
    assert seen["stale"] == ["memories/never.md", "memories/no.md"] and seen["fresh"]
    assert all("cannot be read: Permission denied" in seen["told"][f"memories/{name}.md"] for name in ("no", "never"))
    (good / "no.md").chmod(0o644)
    (good / "never.md").chmod(0o644)
    assert ids(repository) == ["good", "never", "new", "no"] and repository.store.status().stale == ()


UNREADABLE = """
import json, sys
from rawkomem.files.check import check_repository
from rawkomem.repository import Repository
repository = Repository.open(sys.argv[1], warn=print)
told = {item.file: [p.message for p in item.problems] for item in check_repository(repository.layout)}
status = repository.store.status()
print(json.dumps({"ids": sorted(row.id for row in repository.list()), "stale": status.stale, "fresh": status.fresh,
                  "found": repository.search("zebra", limit=1)[0].row.id, "told": told}))
"""


def test_an_unreadable_folder_does_not_look_deleted(good, repository):
    (good / "lessons").mkdir()
    (good / "lessons" / "one.md").write_text(text("One"), "utf-8")
    assert ids(repository) == ["good", "lessons/one"]
    (good / "lessons").chmod(0)
    (good / "new.md").write_text(text("New"), "utf-8")
    code = (
        "import sys; from rawkomem.repository import Repository;"
        "print(*sorted(row.id for row in Repository.open(sys.argv[1]).list()))"
    )
    result = run_plain(code, good)
    (good / "lessons").chmod(0o755)
    assert (result.returncode, result.stdout.split()) == (0, ["good", "lessons/one", "new"]), result.stderr


def test_names_that_differ_in_case_clash_elsewhere(good, repository):
    for name in ("Auth.md", "auth.md"):
        (good / name).write_text(text(name), "utf-8")
    assert ids(repository) == ["Auth", "auth", "good"]
    assert "same name as 'memories/auth.md' on macOS" in problems(repository)["memories/Auth.md"]
    assert "same name as 'memories/Auth.md' on macOS" in problems(repository)["memories/auth.md"]


def test_names_that_differ_in_normal_form_clash_elsewhere(good, repository):
    for form in ("NFC", "NFD"):
        (good / f"{unicodedata.normalize(form, 'café')}.md").write_text(text(form), "utf-8")
    told = problems(repository)
    assert len(told) == 2 and all("same name as" in message for message in told.values())


@pytest.mark.parametrize("name", ["name..md", "sp ace .md", "con.md", "COM1.md", "a:b.md", "a?.md", " lead.md"])
def test_names_that_windows_refuses(good, repository, name):
    (good / name).write_text(text(), "utf-8")
    assert "not allowed on Windows" in problems(repository)[f"memories/{name}"]


def test_a_long_name_is_read_told_and_appended_to(good, repository):
    name = "x" * 250
    (good / f"{name}.md").write_text(text("Long"), "utf-8")
    assert name in ids(repository)
    assert "longer than 200 bytes" in problems(repository)[f"memories/{name}.md"]
    repository.amend(name, Entry(body="amended", by="me"))
    assert repository.get(name).body == "amended" and repository.get(name).path == f"memories/{name}.md"


@pytest.mark.parametrize("title", ["x" * 1000, "é" * 400, "word " * 200, "認証" * 300, "🙂" * 300, "ß" * 90, "ﷺ" * 60])
def test_a_slug_is_short_in_bytes(title):
    assert 0 < len(os.fsencode(slug(title) + ".md")) <= 100


def test_a_line_break_in_a_name_is_escaped_wherever_it_is_shown(good, repository, rawkomem):
    (good / "a\nb.md").write_text(text("Broken name"), "utf-8")
    assert ids(repository) == ["good"]
    assert printable("a\nb.md") == "a\\x0ab.md"
    shown = rawkomem("check", "--json", check=1)
    assert "memories/a\\x0ab.md" in [item["file"] for item in json.loads(shown.stdout)]
    plain = rawkomem("check", check=1).stdout
    assert all(line.startswith(("memories/", "rawkomem:")) for line in plain.splitlines())


def test_a_name_that_is_no_text_is_told_and_left_alone(good, repository):
    with open(os.path.join(os.fsencode(good), b"latin-\xe9.md"), "w", encoding="utf-8") as stream:
        stream.write(text("Latin"))
    assert ids(repository) == ["good"] and repository.store.status().fresh
    assert any("not UTF-8" in message for message in problems(repository).values())


def test_a_name_that_looks_like_an_option_is_a_name(good, repository, rawkomem):
    (good / "-rf.md").write_text(text("Dash"), "utf-8")
    assert "-rf" not in ids(repository) and len(ids(repository)) == 2
    assert "Dash" in rawkomem("show", "--", "-rf").stdout
    assert rawkomem("check", cwd=good).returncode == 0


def test_temporary_files_of_editors_are_ignored(good, repository):
    for name in ("4913", "x.md.tmp", ".goutputstream-ABC", "x.md.swp", ".x.md.swp", "x.md~", "#x.md#", ".#x.md"):
        (good / name).write_text(text(name), "utf-8")
    assert ids(repository) == ["good"] and problems(repository) == {}
