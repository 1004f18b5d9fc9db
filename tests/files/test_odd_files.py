"""Odd and hostile files: every row of the shared corpus or of its sample, and many of our own."""

import json
import os
import unicodedata
from hashlib import sha256
from pathlib import Path

import pytest
from rawkomem.files.check import check_files, check_repository, printable
from rawkomem.files.layout import MAX_FILE_BYTES
from rawkomem.files.reading import QUARANTINE, decode_file, read_file
from rawkomem.model.entries import Entry
from rawkomem.model.ids import slug
from rawkomem.model.values import STYLE, replace

from tests.conftest import shared
from tests.files.odd_more import ODD, SECRET_PEM, SECRETS, front
from tests.files.plain_user import run_plain

CORPUS = shared("data/odd_md")


def rows_of(folder: Path) -> list[dict]:
    return [row for row in json.loads((folder / "index.json").read_text("utf-8")) if row["file"]]


def names(row: dict | None) -> str:
    return row["file"] if row else "none"


# --- what a row of a corpus says ----------------------------------------------------------------------------------
def assert_told(problems, data: bytes) -> None:
    """Every Problem has a line of the file, a message and a hint."""
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1
    for problem in problems:
        assert problem.message and problem.hint, problem
        assert 1 <= problem.line <= lines, problem


def assert_row(row: dict, file: Path, folder: Path) -> None:
    data = file.read_bytes()
    before = (sha256(data).digest(), file.stat().st_mtime_ns)
    (checked,) = check_files([str(file)])
    reading = read_file(str(file), f"memories/{file.name}")
    assert checked.verdict == row["verdict"], checked.problems
    assert (sha256(file.read_bytes()).digest(), file.stat().st_mtime_ns) == before
    told = [problem for problem in checked.problems if problem.level != STYLE]
    assert bool(told) == (row["verdict"] != "accept")
    assert_told(checked.problems, data)
    if "entries" in row:
        assert checked.entries == row["entries"]
    if row["verdict"] != QUARANTINE:
        assert checked.entries >= 1
    for key in ("title", "tags", "when"):
        if key in row:
            value = getattr(reading.entries[0], key)
            assert (value if key == "title" else list(value)) == row[key]
    if "same_as" in row:
        assert_same(file, folder / row["same_as"])
    detail = DETAILS.get(file.name[:3])
    if detail:
        detail(reading, " / ".join(f"{problem.message} ({problem.hint})" for problem in told))


def assert_same(file: Path, other: Path) -> None:
    """The same text and the same entries, but for the name of the file."""
    assert decode_file(file.read_bytes())[0] == decode_file(other.read_bytes())[0]
    ours, theirs = (read_file(str(path), "memories/x.md").entries for path in (file, other))
    assert ours == theirs


def first(reading):
    return reading.entries[0]


def is_true(*conditions: object) -> None:
    assert all(conditions), conditions


# What `expect` says in words, as far as reading a file can show it.
DETAILS = {
    "001": lambda r, told: is_true(first(r).when == ("auth|login",)),
    "005": lambda r, told: is_true(first(r).extra == {"x-custom": {"a": "1"}, "future": ["1", "2"]}),
    "007": lambda r, told: is_true(first(r).draft, "just text" in first(r).body),
    "011": lambda r, told: is_true(first(r).importance == "low", "importance" in told),
    "012": lambda r, told: is_true(first(r).importance == "high"),
    "018": lambda r, told: is_true(first(r).tags == ("a",)),
    "019": lambda r, told: is_true("never closed" in told),
    "025": lambda r, told: is_true(first(r).title == "T", "title" not in first(r).body),
    "027": lambda r, told: is_true(first(r).body == ""),
    "028": lambda r, told: is_true("part one" in first(r).body, "part two" in first(r).body),
    "031": lambda r, told: is_true("FAKE" in first(r).body),
    "035": lambda r, told: is_true("hidden content" in told),
    "039": lambda r, told: is_true("TOML" in told),
    "043": lambda r, told: is_true(first(r).draft, first(r).title == "A", len(r.entries) == 1),
    "051": lambda r, told: is_true("anchor" in told),
    "053": lambda r, told: is_true("python/object/apply" in told),
    "058": lambda r, told: is_true(r.problems[0].line == 2),
    "059": lambda r, told: is_true(first(r).extra == {"x": "aGVsbG8="}),
    "062": lambda r, told: is_true("duplicate key 'title'" in told),
    "063": lambda r, told: is_true(first(r).extra == {"Title": "EVIL"}),
    "065": lambda r, told: is_true("looks like 'title'" in told),
    "076": lambda r, told: is_true(first(r).at == 1769126400000),
    "077": lambda r, told: is_true(first(r).at == 1769144400000),
    "078": lambda r, told: is_true(first(r).at == 1769164200000, "UTC" in told),
    "081": lambda r, told: is_true("future" in told),
    "082": lambda r, told: is_true(first(r).at == 1769164200000),
    "092": lambda r, told: is_true(len(first(r).extra["x"]) >= 60_000),
    "093": lambda r, told: is_true(r.problems[0].line == 4, "column 1" in told, "tabs" in told),
    "102": lambda r, told: is_true("single quotes" in told),
    "105": lambda r, told: is_true(first(r).when == ("auth.*",)),
    "107": lambda r, told: is_true(first(r).title == "line1 line2"),
    "109": lambda r, told: is_true(first(r).extra == {"1": "a", "true": "b", "~": "c"}),
    "110": lambda r, told: is_true(not first(r).extra),
    "113": lambda r, told: is_true(first(r).title == "ared"),
    "119": lambda r, told: is_true(first(r).body.count("\n") == 2),
    "125": lambda r, told: is_true("byte 15" in told),
    "126": lambda r, told: is_true("ends inside a character" in told),
    "135": lambda r, told: is_true(first(r).conflicted),
    "136": lambda r, told: is_true("merge conflict" in told),
    "137": lambda r, told: is_true("LFS" in told),
    "147": lambda r, told: is_true("\n" not in first(r).title),
    "150": lambda r, told: is_true(first(r).body == "payload  here"),
    "151": lambda r, told: is_true(first(r).body == "x"),
    "154": lambda r, told: is_true(first(r).body == "red"),
    "164": lambda r, told: is_true(first(r).leaks),
    "166": lambda r, told: is_true(first(r).leaks),
    "167": lambda r, told: is_true(first(r).leaks),
    "168": lambda r, told: is_true(first(r).related == ()),
    "171": lambda r, told: is_true(told.count("whenToUse") >= 6),
    "179": lambda r, told: is_true(len(first(r).body) < 100),
}


@pytest.mark.parametrize("row", rows_of(CORPUS), ids=names)
def test_row_of_the_corpus(row, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = CORPUS / row["file"]
    if row.get("generate"):
        assert row["generate"] == "frontmatter + 6 MiB body"
        file = tmp_path / row["file"]
        file.write_bytes(front().encode() + b"x" * (6 * 1024 * 1024))
    assert_row(row, file, CORPUS)
    assert not list(tmp_path.rglob("rawko_pwned")) and not os.path.exists("/tmp/rawko_pwned")


@pytest.mark.parametrize("name", ODD)
def test_odd_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    item = ODD[name]
    file = tmp_path / f"{name}.md"
    file.write_bytes(item.data)
    (checked,) = check_files([str(file)])
    told = [problem for problem in checked.problems if problem.level != STYLE]
    assert checked.verdict == item.verdict, told
    assert item.entries is None or checked.entries == item.entries
    assert not item.says or any(item.says in f"{problem.message} ({problem.hint})" for problem in told), told
    assert not item.line or item.line in {problem.line for problem in told}, told
    assert_told(told, item.data)
    if item.entry:
        entry = read_file(str(file), f"memories/{name}.md").entries[0]
        assert {key: getattr(entry, key) for key in item.entry} == item.entry
    assert file.read_bytes() == item.data and os.listdir(tmp_path) == [file.name]


def test_exactly_five_mebibytes_are_read(tmp_path):
    file = tmp_path / "edge.md"
    file.write_bytes(front().encode().ljust(MAX_FILE_BYTES, b"x"))
    assert check_files([str(file)])[0].entries == 1
    file.write_bytes(front().encode().ljust(MAX_FILE_BYTES + 1, b"x"))
    assert check_files([str(file)])[0].verdict == QUARANTINE


# --- all of them in one repository --------------------------------------------------------------------------------
def test_one_repository_of_odd_files(memories, repository):
    """One bad file never blocks the rest; drafts are listed as such; files stay as they are; no secret is indexed."""
    items = {name: item for name, item in ODD.items() if len(item.data) < 70_000}
    for name, item in items.items():
        (memories / f"{name}.md").write_bytes(item.data)
    (memories / "good.md").write_text(front(title="A good one") + "\nAbout zebra crossings.\n", "utf-8")
    assert [found.row.id for found in repository.search("zebra crossings", limit=1)] == ["good"]
    status = repository.store.status()
    assert status.fresh and status.indexed == len(items) + 1
    assert all((memories / f"{name}.md").read_bytes() == item.data for name, item in items.items())
    rows = {row.id: row for row in repository.core.index.catalogue.rows()}
    for name, item in items.items():
        if item.verdict != QUARANTINE and "conflict" not in name and "kind-" not in name:
            assert rows[item.entry.get("id", name)].status == "active", name
        elif item.verdict == QUARANTINE and item.entries == 0 and name in rows:
            assert rows[name].status == "draft", name
    assert rows["bytes-conflict-diff3"].status == "conflicted"
    stored = stored_text(repository)
    for name, secret in {**SECRETS, "pem": SECRET_PEM.split("\n")[1]}.items():
        assert secret not in stored, f"{name} is in the index"


def stored_text(repository) -> str:
    """All text that the index holds."""
    database = repository.core.index.catalogue.db
    docs = [doc for (doc,) in database.execute("SELECT doc FROM memories")]
    docs += [f"{heading} {text}" for heading, text in database.execute("SELECT heading, text FROM passages")]
    return "\n".join(docs)


def test_a_conflicted_memory_is_active_once_it_is_solved(memories, repository):
    file = memories / "a.md"
    file.write_bytes(ODD["bytes-conflict-diff3"].data)
    assert [row.status for row in repository.list()] == ["conflicted"]
    file.write_text(front() + "theirs\n", "utf-8")
    assert [row.status for row in repository.list()] == ["active"]


def test_line_ends_make_no_difference_to_what_is_said(memories, repository):
    text = front() + "one\n\ntwo\n"
    (memories / "lf.md").write_bytes(text.encode())
    (memories / "crlf.md").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    lf, crlf = repository.get("lf"), repository.get("crlf")
    assert replace(crlf, id="lf", path=lf.path) == lf


# Odd things in the folders: links, devices, names that other systems refuse, files that cannot be read
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


COMMAND = "import sys; from rawkomem.faces.cli import main; sys.argv[:] = ['rawkomem', *sys.argv[1:]]; main()"
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


def test_an_unreadable_folder_is_an_error_and_does_not_look_empty(good, project):
    good.chmod(0)
    check, listed, doctor = (run_plain(COMMAND, "-C", project, *words) for words in (["check"], ["list"], ["doctor"]))
    good.chmod(0o755)
    assert check.returncode == 1 and "memories:1: error " in check.stdout, check
    assert listed.returncode == 0 and "memories cannot be read" in listed.stderr, listed
    assert "no memories yet" not in listed.stderr
    assert doctor.returncode == 1 and "memories: folder cannot be read: Permission denied" in doctor.stdout, doctor
    (good.parent / "traces").symlink_to(good)
    linked = run_plain(COMMAND, "-C", project, "check")
    assert linked.returncode == 0 and "traces:1: warning" in linked.stdout, linked


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


@pytest.mark.parametrize("command", [("check",), ("import", "--from", "markdown"), ("learn",)])
def test_a_folder_that_cannot_be_listed_is_not_left_out(project, tmp_path, command):
    """A check that skips a folder reports no problems, and an import that skips one looks whole."""
    closed = tmp_path / "notes" / "closed"
    closed.mkdir(parents=True)
    (closed / "a.md").write_text("# Deploys\n\nWe deploy on Fridays.\n", "utf-8")
    closed.chmod(0)
    done = run_plain(COMMAND, "-C", project, *command, tmp_path / "notes")
    closed.chmod(0o700)
    assert done.returncode != 0 and f"{closed} cannot be read: Permission denied" in done.stderr, done
