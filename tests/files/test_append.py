"""The only writer: not a byte before changes, nothing is lost, and a write that fails leaves files untouched."""

import os
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rawkomem.files import append, replace
from rawkomem.files.append import FULL_FILE_BYTES
from rawkomem.files.installation import plan_start, write_start
from rawkomem.files.layout import Layout
from rawkomem.files.private import make_private_folder
from rawkomem.files.reading import read_data, read_file
from rawkomem.files.replace import TEMPORARY_SUFFIX
from rawkomem.model.entries import Entry, Plan
from rawkomem.model.errors import BadInput, Refused, Unwritable

from tests.files.odd_more import SECRETS, front
from tests.files.plain_user import run_plain
from tests.files.writing import write_plan


def entry(title: str = "Use apsw", body: str = "Because.", **fields) -> Entry:
    given = fields.pop("id", "mem_1_aaaaaa")
    return Entry(id=given, title=title, body=body, at=1769164200000, by="me", **fields)


def below(body: str = "Because.", **fields) -> Entry:
    """An entry for the file memories/t.md, which may be there already."""
    return entry("T", body, path="memories/t.md", **fields)


@pytest.fixture
def write(layout):
    """Append entries and return the path of the last."""

    def run(*entries: Entry) -> str:
        return write_plan(layout, Plan(entries, "a test"))[-1].entry.path

    return run


def entries_of(file: Path) -> list[Entry]:
    return list(read_file(str(file), f"memories/{file.name}").entries)


def test_the_first_entry_makes_the_file_of_its_title(write, memories):
    assert write(entry()) == "memories/use-apsw.md"
    assert (memories / "use-apsw.md").read_text("utf-8") == (
        "---\nid: mem_1_aaaaaa\ntitle: Use apsw\nimportance: medium\ndiscoveredAt: 2026-01-23T10:30:00Z\n"
        "discoveredBy: me\n---\n\nBecause.\n"
    )


@pytest.mark.parametrize(
    "before",
    [
        front() + "\nbody\n",
        front() + "\nbody",
        front() + "\nbody\n\n\n",
        front() + "\nbody\n\n---\n",
        (front() + "\nbody\n").replace("\n", "\r\n"),
        "\ufeff" + (front() + "\nbody\n").replace("\n", "\r\n"),
        (front() + "\none\n").replace("\n", "\r\n") + "two\nthree",
        front() + "\none\rtwo\r",
        "\n\n" + front() + "\nbody\n",
        front() + "\n```\nclosed\n```\n",
    ],
)
def test_not_a_byte_before_changes(write, memories, before):
    file = memories / "t.md"
    file.write_bytes(before.encode())
    old = entries_of(file)
    assert write(below("new")) == "memories/t.md"
    assert file.read_bytes().startswith(before.encode())
    assert entries_of(file)[:-1] == old and entries_of(file)[-1].body == "new"


def test_an_appended_entry_follows_the_line_ends_of_the_file(write, memories):
    file = memories / "t.md"
    file.write_bytes((front() + "\nbody\n").replace("\n", "\r\n").encode())
    write(below("one\n\ntwo"))
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")


@pytest.mark.parametrize(
    "before",
    [
        front() + "\n```\nnever closed\n",
        front() + "\n<!-- never closed\n",
        "just text\n",
        front(title=None),
        "\0",
        "\xe9",
    ],
)
def test_a_file_that_would_swallow_or_refuse_the_entry_is_left_alone(write, memories, before):
    file = memories / "t.md"
    file.write_bytes(before.encode("latin-1"))
    old = file.read_bytes()
    path = write(below("new"))
    if path == "memories/t.md":  # a draft above is no obstacle: the entry reads back as it is
        assert file.read_bytes().startswith(old) and entries_of(file)[-1].body == "new"
    else:
        assert path == "memories/t-2.md" and file.read_bytes() == old
        assert [e.body for e in entries_of(memories / "t-2.md")] == ["new"]


def test_two_titles_with_one_name_have_a_file_each(write, memories):
    assert write(entry("Use apsw!"), entry("use  APSW", id="mem_2")) == "memories/use-apsw-2.md"
    assert write(entry("Use: apsw", id="mem_3")) == "memories/use-apsw-3.md"
    assert [len(entries_of(file)) for file in memories.glob("*.md")] == [1, 1, 1]


@pytest.mark.parametrize("there", ["Use-Apsw.md", "USE-APSW.MD", "use-apsw.md"])
def test_a_name_that_differs_in_case_alone_is_taken(write, memories, there):
    (memories / there).write_text("somebody's own", "utf-8")
    assert write(entry("Use apsw")) == "memories/use-apsw-2.md"
    assert (memories / there).read_text("utf-8") == "somebody's own"


def test_a_name_that_differs_in_its_normal_form_alone_is_taken(write, memories):
    (memories / unicodedata.normalize("NFD", "größe-é.md")).write_text(front() + "\nbody\n", "utf-8")
    (memories / unicodedata.normalize("NFD", "Grösse-É.md")).write_text(front() + "\nbody\n", "utf-8")
    assert write(entry("Größe É")) == "memories/grösse-é-2.md"


@pytest.mark.parametrize(
    ("kind", "folder"), [("lesson", "memories/lessons"), ("trace", "traces"), ("experience", "log")]
)
def test_each_kind_has_its_folder(write, kind, folder):
    assert write(entry("T", kind=kind)) == f"{folder}/t.md"


def test_a_full_file_is_followed_by_a_sibling(write, memories):
    write(below("x" * FULL_FILE_BYTES))
    assert write(below("small", id="mem_2")) == "memories/t-2.md"


def test_a_change_goes_to_the_file_of_its_memory(repository, memories):
    (memories / "By Hand.md").write_text(front() + "\nbody\n", "utf-8")
    assert repository.amend("By Hand", Entry(body="new")).entry.path == "memories/By Hand.md"
    assert repository.get("By Hand").body == "new"


def test_the_mode_of_a_file_is_kept(write, memories):
    file = memories / "t.md"
    file.write_text(front() + "\nbody\n", "utf-8")
    file.chmod(0o640)
    write(below())
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_new_file_follows_the_umask(write, memories):
    old = os.umask(0o027)
    try:
        write(entry("T"))
    finally:
        os.umask(old)
    assert (memories / "t.md").stat().st_mode & 0o777 == 0o640


def test_a_file_that_changes_between_read_and_rename_is_read_again(write, memories, monkeypatch):
    """Somebody saves the file while we write: their save and our entry are both in it."""
    file = memories / "t.md"
    file.write_text(front() + "\nold\n", "utf-8")
    durably, saves = replace._write_durably, iter(["first save", "second save"])

    def meddle(*arguments):
        durably(*arguments)
        save = next(saves, None)
        if save:
            file.write_text(front() + f"\n{save}\n", "utf-8")

    monkeypatch.setattr(replace, "_write_durably", meddle)
    write(below("ours"))
    assert [e.body for e in entries_of(file)] == ["second save", "ours"]


@pytest.mark.parametrize("ours", [below("ours"), entry("T", "ours")])
def test_a_file_that_appears_between_look_and_rename_is_kept(write, memories, monkeypatch, ours):
    durably, file, done = replace._write_durably, memories / "t.md", []

    def meddle(*arguments):
        durably(*arguments)
        if not done:
            done.append(file.write_text(front() + "\ntheirs\n", "utf-8"))

    monkeypatch.setattr(replace, "_write_durably", meddle)
    written = write(ours)
    files = [file] if ours.path else [file, memories / "t-2.md"]
    assert [e.body for one in files for e in entries_of(one)] == ["theirs", "ours"]
    assert written == f"memories/{files[-1].name}"


def test_a_file_that_never_rests_is_refused(write, memories, monkeypatch):
    file = memories / "t.md"
    file.write_text(front() + "\nold\n", "utf-8")
    durably, count = replace._write_durably, iter(range(1000))

    def meddle(*arguments):
        durably(*arguments)
        file.write_text(front() + f"\nsave {next(count)}\n", "utf-8")

    monkeypatch.setattr(replace, "_write_durably", meddle)
    monkeypatch.setattr(append.time, "sleep", lambda seconds: None)
    with pytest.raises(Refused, match="changed while"):
        write(below())
    assert len(entries_of(file)) == 1


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_redacted_before_the_file_is_written(write, memories, name):
    secret = SECRETS[name]
    fields = {"tags": (secret,), "when": (secret,), "found_in": secret, "source": secret, "extra": {"key": [secret]}}
    write(entry(f"About {secret}", f"Use {secret} here.", **fields))
    (file,) = memories.glob("*.md")
    text = file.read_text("utf-8")
    assert secret not in text and "REDACTED" in text and secret.lower()[:20] not in file.name


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(write, layout):
    folder = Path(layout.local, "tmp")
    make_private_folder(str(folder))
    (folder / f"123{TEMPORARY_SUFFIX}").write_text("torn")
    (folder / "mine.txt").write_text("not ours")
    write(entry())
    assert os.listdir(folder) == ["mine.txt"]


def test_a_link_in_a_foreign_repository_leads_no_cleaning_astray(write, layout, tmp_path_factory):
    home = tmp_path_factory.mktemp("somebody")
    (home / "thesis.md").write_text("years of work")
    make_private_folder(layout.local)
    os.symlink(home, os.path.join(layout.local, "tmp"))
    with pytest.raises((Unwritable, Refused), match="is a link"):
        write(entry())
    assert [file.read_text() for file in home.iterdir()] == ["years of work"]


def test_a_folder_link_does_not_lead_the_writer_out(write, memories, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (memories / "lessons").symlink_to(elsewhere)
    with pytest.raises(Refused, match="link out of the repository"):
        write(entry(kind="lesson"))
    assert os.listdir(elsewhere) == []


def test_a_file_link_is_no_place_for_an_entry(write, memories, tmp_path):
    target = tmp_path / "target.md"
    target.write_text(front() + "\nbody\n", "utf-8")
    (memories / "t.md").symlink_to(target)
    assert write(entry("T")) == "memories/t-2.md"
    assert target.read_text("utf-8") == front() + "\nbody\n"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"body": "a\0b"}, "NUL"),
        ({"title": "a\0b"}, "NUL"),
        ({"body": "a\udce9b"}, "UTF-8"),
        ({"tags": tuple(f"t{n}" for n in range(65))}, "65 tags"),
        ({"when": tuple(f"w{n}" for n in range(33))}, "33 conditions"),
        ({"extra": {"x": "y" * 70_000}}, "64 KiB"),
        ({"body": "w" * (6 * 1024 * 1024)}, "5 MiB"),
        ({"title": "\u200b"}, "no title"),
    ],
)
def test_what_could_not_be_read_back_is_refused(write, memories, fields, said):
    """Above all a NUL: it would make the whole file, with all its older entries, unreadable."""
    write(entry("T", "old"))
    before = (memories / "t.md").read_bytes()
    with pytest.raises(BadInput, match=said):
        write(entry(**{"title": "T", **fields}))
    assert (memories / "t.md").read_bytes() == before and len(list(memories.glob("*.md"))) == 1


def test_a_body_that_reads_as_several_entries_is_refused(write, memories):
    with pytest.raises(Refused, match="several"):
        write(entry("T", "one\n\n---\ntitle: B\n---\n\ntwo"))
    assert list(memories.glob("*.md")) == []


def test_a_read_only_folder_is_told_and_files_stay(memories, layout):
    (memories / "t.md").write_text(front() + "\nbody\n", "utf-8")
    before = (memories / "t.md").read_bytes()
    memories.chmod(0o555)
    result = run_plain(ADD, layout.root, "T", "x")
    memories.chmod(0o755)
    assert "Unwritable: cannot write memories/t.md: Permission denied" in result.stdout, result
    assert (memories / "t.md").read_bytes() == before
    assert not any(name.endswith(replace.TEMPORARY_SUFFIX) for _, _, names in os.walk(layout.local) for name in names)


def test_a_read_only_repository_is_told(memories, layout):
    os.chmod(layout.root, 0o555)
    result = run_plain(ADD, layout.root, "T", "x")
    os.chmod(layout.root, 0o755)
    assert "Unwritable" in result.stdout and "Permission denied" in result.stdout, result


ADD = """
import sys
from tests.files.writing import write_plan
from rawkomem.files.layout import Layout
from rawkomem.files.private import make_private_folder
from rawkomem.model.entries import Entry, Plan
from rawkomem.model.errors import RawkoError
try:
    write_plan(Layout(sys.argv[1]), Plan((Entry(id="mem_2", title=sys.argv[2], body=sys.argv[3], path="memories/t.md"),), "a test"))
except RawkoError as failure:
    print(f"{type(failure).__name__}: {failure.message}")
"""


def test_a_full_disk_is_told_and_files_stay(tmp_path):
    """On a real file system that really is full."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a small file system here; the file-size limit below stands in")
    try:
        write_start(plan_start(str(tmp_path)))
        layout = Layout(str(tmp_path / ".rawko"))
        write_plan(layout, Plan((below("x" * 50_000),), "fits"))
        file, filler = tmp_path / ".rawko" / "memories" / "t.md", tmp_path / "filler"
        before = file.read_bytes()
        filler.write_bytes(b"f" * 160_000)
        with pytest.raises(Unwritable, match="No space left"):
            write_plan(layout, Plan((below("y" * 5_000, id="mem_2"),), "does not"))
        with pytest.raises(Unwritable, match="No space left"):
            write_plan(layout, Plan((entry("Other", "y" * 60_000, id="mem_3"),), "neither"))
        assert file.read_bytes() == before and sorted(os.listdir(file.parent)) == [".gitkeep", "t.md"]
        assert os.listdir(os.path.join(layout.local, "tmp")) == []
        filler.unlink()
        write_plan(layout, Plan((below("y" * 5_000, id="mem_4"),), "fits again"))
        assert [e.id for e in entries_of(file)] == ["mem_1_aaaaaa", "mem_4"]
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_write_that_is_cut_short_leaves_files_as_they_were(memories, layout):
    (memories / "t.md").write_text(front() + "\nbody\n", "utf-8")
    before = (memories / "t.md").read_bytes()
    result = run_plain(ADD, layout.root, "T", "x" * 20_000, limit_file=8_000)
    assert "Unwritable: cannot write memories/t.md: File too large" in result.stdout, result
    assert (memories / "t.md").read_bytes() == before


LINES = st.lists(
    st.sampled_from(
        ["---", "--- ", "title: x", "kind: x", "```", "~~~", "<!--", "-->", "text", "", "# H", "\ufeff", "é"]
    ),
    max_size=10,
)


@settings(deadline=None)
@given(st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n"])), min_size=1, max_size=4))
def test_whatever_is_appended_reads_back_and_changes_nothing_before(tmp_path_factory, bodies):
    """The append law on real files, with bodies made of what could confuse a splitter."""
    project = tmp_path_factory.mktemp("law")
    write_start(plan_start(str(project)))
    layout = Layout(str(project / ".rawko"))
    expected: dict[str, list[str]] = {}
    for number, (lines, newline) in enumerate(bodies):
        new = below(newline.join(lines), id=f"mem_{number}")
        files = {path: path.read_bytes() for path in Path(layout.root, "memories").glob("*.md")}
        try:
            path = write_plan(layout, Plan((new,), "law"))[0].entry.path
        except (Refused, BadInput):
            assert {path: path.read_bytes() for path in Path(layout.root, "memories").glob("*.md")} == files
            continue
        expected.setdefault(path, []).append(new.id)
        for file, before in files.items():
            assert file.read_bytes().startswith(before)
    for path, ids in expected.items():
        reading = read_data(Path(layout.path(path)).read_bytes(), path)
        assert [e.id for e in reading.entries] == ids and not any(e.draft for e in reading.entries)


def test_a_plan_for_many_files_leaves_all_of_them_old_where_one_cannot_be_written(memories, layout):
    memories.joinpath("lessons").mkdir()
    memories.joinpath("lessons").chmod(0o555)
    result = run_plain(ADD_TWO, layout.root)
    memories.joinpath("lessons").chmod(0o755)
    assert "Unwritable: cannot write memories/lessons/second.md: Permission denied" in result.stdout, result
    assert list(memories.rglob("*.md")) == [] and os.listdir(os.path.join(layout.local, "tmp")) == []


ADD_TWO = ADD.replace(
    'Plan((Entry(id="mem_2", title=sys.argv[2], body=sys.argv[3], path="memories/t.md"),), "a test")',
    "Plan((Entry(id='mem_1', title='First'), Entry(id='mem_2', title='Second', kind='lesson')), 'a test')",
)


def test_a_folder_is_synced_once_for_all_the_files_in_it(write, monkeypatch):
    synced: list[str] = []
    sync_folder = replace.sync_folder
    monkeypatch.setattr(replace, "sync_folder", lambda folder: (synced.append(folder), sync_folder(folder)))
    write(*[entry(f"Memory {number}", id=f"mem_{number}_aaaaaa") for number in range(20)])
    assert len(synced) == 1


def test_only_the_file_that_somebody_saved_meanwhile_is_written_again(write, memories, monkeypatch):
    (memories / "a.md").write_text(front() + "\nold\n", "utf-8")
    durably, done = replace._write_durably, []

    def meddle(*arguments):
        durably(*arguments)
        if not done:
            done.append((memories / "a.md").write_text(front() + "\ntheirs\n", "utf-8"))

    monkeypatch.setattr(replace, "_write_durably", meddle)
    first, third = (entry("A", body, id=f"mem_{body}", path="memories/a.md") for body in ("one", "three"))
    write(first, entry("B", "two", id="mem_2_aaaaaa"), third)
    assert [e.body for e in entries_of(memories / "a.md")] == ["theirs", "one", "three"]
    assert [e.body for e in entries_of(memories / "b.md")] == ["two"]


def test_an_open_fence_starts_a_new_file(write, memories):
    write(below("```\nopen"))
    assert write(below("second", id="mem_2")) == "memories/t-2.md"
    assert write(below("third", id="mem_3")) == "memories/t-2.md"


def test_entries_of_one_plan_that_share_a_file_are_all_in_it(write, memories):
    write(*[below(f"body {number}", id=f"mem_{number}_aaaaaa") for number in range(5)])
    assert [e.body for e in entries_of(memories / "t.md")] == [f"body {number}" for number in range(5)]


def test_a_text_is_durably_in_its_new_place_before_it_leaves_the_old_one(layout, memories, monkeypatch):
    old, new = memories / "old.md", memories / "deep" / "new.md"
    old.write_text(front())
    moved, synced = os.replace, replace.sync_folder
    steps: list[str] = []

    def watched_move(source, target):
        moved(source, target)
        steps.append("written" if str(target) == str(new) else "removed")
        assert old.exists() or new.exists()

    def watched_sync(folder):
        synced(folder)
        steps.append(f"synced {os.path.basename(folder)}")

    monkeypatch.setattr(os, "replace", watched_move)
    monkeypatch.setattr(replace, "sync_folder", watched_sync)
    files = replace.Replacing(layout)
    data = files.read(layout.relative(old))
    files.put(layout.relative(old), None)  # said first, done last
    files.put(layout.relative(new), data)
    files.finish()
    assert new.read_bytes() == front().encode() and not old.exists()
    done = [step for step in steps if step in ("written", "removed") or step in ("synced deep", "synced memories")]
    assert done[-4:] == ["written", "synced deep", "removed", "synced memories"]
