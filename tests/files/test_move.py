"""Moving files to the archive and back, bundling months, rotating the log: no byte changes, nothing is lost."""

import os
import subprocess
import sys

import pytest
from rawkomem.files import archive as bundle
from rawkomem.files.archive import (
    Move,
    bundle_holding,
    bundles,
    folder_of_bundle,
    from_archive,
    move_files,
    next_experience_number,
    pack_folder,
    read_bundle,
    rotate_log,
    to_archive,
    unpack_folder,
)
from rawkomem.model.errors import Refused
from rawkomem.model.ids import holds_id
from rawkomem.model.values import DAY, iso, read_time

from tests.seeds import by_case
from tests.torture.helpers import write

START = read_time("2026-01-01")[0]


@pytest.fixture
def root(project):
    return project / ".rawko"


def test_there_and_back(layout, root):
    text = "---\ntrace_id: t1\ngoal: G\n---\n\r\nodd \t bytes"
    write(root, "traces/2026-01/a.md", text)
    (there,) = move_files(layout, [to_archive("traces/2026-01/a.md"), to_archive("traces/2026-01/gone.md")])
    assert there.target == "archive/2026-01/a.md" and not (root / "traces/2026-01").exists()
    assert (root / there.target).read_bytes() == text.encode()
    (back,) = move_files(layout, [from_archive(there.target)])
    assert back.target == "traces/2026-01/a.md" and (root / back.target).read_bytes() == text.encode()


def test_a_name_that_is_taken_gets_a_number(layout, root):
    write(root, "traces/a.md", "new")
    write(root, "archive/a.md", "old")
    (done,) = move_files(layout, [to_archive("traces/a.md")])
    assert (done.target, (root / "archive/a.md").read_text()) == ("archive/a-2.md", "old")


def test_a_folder_that_leads_out_is_refused(layout, root, tmp_path_factory):
    write(root, "traces/a.md", "x")
    (root / "archive").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(Refused, match="out of the repository"):
        move_files(layout, [Move("traces/a.md", "archive/a.md")])
    assert (root / "traces/a.md").read_text() == "x"


def test_an_id_made_of_the_path_stays(repository, layout, root):
    write(root, "traces/2026-01/by-hand.md", "---\nkind: trace\ntitle: By hand\n---\n\nText.\n")
    assert repository.get("2026-01/by-hand").status == "active"
    move_files(layout, [to_archive("traces/2026-01/by-hand.md")])
    memory = repository.get("2026-01/by-hand")
    assert (memory.status, memory.reason) == ("archived", "lies in archive/")
    assert [row.id for row in repository.list()] == [] and repository.search("by hand") == []


def month(root, files: dict[str, str]) -> None:
    for name, text in files.items():
        write(root, f"archive/2025-01/{name}", text)


def test_a_bundle_holds_the_same_bytes_and_gives_them_back(layout, root):
    files = {"a.md": "one\r\n", "b.md": "zwei ü"}
    month(root, files)
    assert pack_folder(layout, "archive/2025-01") == 2 and not (root / "archive/2025-01").exists()
    (made,) = bundles(layout)
    assert folder_of_bundle(made) == "archive/2025-01" and bundle_holding(layout, "zwei") == made
    first = (root / made).read_bytes()
    assert unpack_folder(layout, "archive/2025-01") == 2 and not list(bundles(layout))
    assert {name: (root / "archive/2025-01" / name).read_bytes().decode() for name in files} == files
    pack_folder(layout, "archive/2025-01")
    assert list(bundles(layout)) == [made] and (root / made).read_bytes() == first


@pytest.mark.parametrize(
    ("text", "id", "holds"),
    [
        ("id: exp_1\n", "exp_1", True),
        ("exp_10 exp_11", "exp_1", False),
        ("exp_10, [exp_1]", "exp_1", True),
        ("x", "", False),
    ],
)
def test_an_id_is_held_as_a_whole(text, id, holds):
    assert holds_id(text, id) is holds


def held(layout) -> list[tuple[str, bytes]]:
    return sorted(item for bundle in bundles(layout) for item in read_bundle(layout, bundle).items())


def test_what_came_later_goes_into_another_bundle_and_the_month_is_all_of_them(layout, root):
    month(root, {"a.md": "one"})
    pack_folder(layout, "archive/2025-01")
    month(root, {"a.md": "one", "b.md": "two"})  # as after a kill between writing the bundle and removing the file
    assert pack_folder(layout, "archive/2025-01") == 2
    assert held(layout) == [("a.md", b"one"), ("b.md", b"two")] and not (root / "archive/2025-01").exists()
    month(root, {"a.md": "another"})
    assert pack_folder(layout, "archive/2025-01") == 1
    assert held(layout) == [("a.md", b"another"), ("a.md", b"one"), ("b.md", b"two")]
    month(root, {"b.md": "two"})
    assert unpack_folder(layout, "archive/2025-01") == 2 and not list(bundles(layout))
    texts = {file.name: file.read_text() for file in (root / "archive/2025-01").iterdir()}
    assert sorted(texts) == ["a-2.md", "a.md", "b.md"] and sorted(texts.values()) == ["another", "one", "two"]


def test_a_bundle_of_an_earlier_version_is_read(layout, root):
    month(root, {"a.md": "one"})
    pack_folder(layout, "archive/2025-01")
    (made,) = bundles(layout)
    (root / made).rename(root / "archive/2025-01.tar.gz")
    assert folder_of_bundle("archive/2025-01.tar.gz") == "archive/2025-01" and bundle_holding(layout, "one")
    assert unpack_folder(layout, "archive/2025-01") == 1 and (root / "archive/2025-01/a.md").read_text() == "one"


def test_files_of_other_programs_do_not_stop_a_bundle(layout, root):
    month(root, {"a.md": "one", "._a.md": "\0\5\26\7 of macOS"})
    assert pack_folder(layout, "archive/2025-01") == 1 and held(layout) == [("a.md", b"one")]
    assert [file.name for file in (root / "archive/2025-01").iterdir()] == ["._a.md"]


def test_what_is_saved_while_a_month_is_packed_stays(layout, root, monkeypatch):
    month(root, {"a.md": "one", "b.md": "two"})
    put = bundle._put_bundle

    def put_then_save(*arguments):
        put(*arguments)
        month(root, {"a.md": "ONE"})  # an editor's save, of the same length

    monkeypatch.setattr(bundle, "_put_bundle", put_then_save)
    assert pack_folder(layout, "archive/2025-01") == 0
    assert (root / "archive/2025-01/a.md").read_text() == "ONE"
    monkeypatch.undo()
    pack_folder(layout, "archive/2025-01")
    assert held(layout) == [("a.md", b"ONE"), ("b.md", b"two")]


def test_a_broken_or_foreign_bundle_harms_nobody(layout, root):
    import io
    import tarfile

    write(root, "archive/2025-02.tar.gz", "not a bundle")
    with pytest.raises(Refused, match="cannot be read"):
        unpack_folder(layout, "archive/2025-02")
    with tarfile.open(root / "archive/2025-02.tar.gz", "w:gz") as archive:
        for name in ("../../evil.md", "/evil.md", "x/evil.md", "good.md", "link.md"):
            member = tarfile.TarInfo(name)
            if name == "link.md":
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            member.size = 0 if name == "link.md" else 2
            archive.addfile(member, io.BytesIO(b"hi"))
    assert unpack_folder(layout, "archive/2025-02") == 1
    assert [file.name for file in root.rglob("*.md")] == ["good.md"]


def experiences(count: int, start: int = 1) -> str:
    blocks = [
        f'---\nexperience_id: exp_{n}\nprimary_goal: "x{n - 1}"\ntimestamp: {iso(START + n * DAY)}\n---\n'
        for n in range(start, start + count)
    ]
    return "\n---\n\n".join(blocks)


def ids(repository, area: str) -> list[str]:
    found = {row.id for row in repository.list(include_all()) if row.path.startswith(area)}
    return sorted(found, key=lambda id: int(id.removeprefix("exp_")))


def include_all():
    from rawkomem.recall.signals import filter_of

    return filter_of(include=["all"])


@by_case("llmos", "addTrace cap")
def test_the_oldest_leave_and_nothing_is_deleted(case, layout, root, repository):
    """The seed's memory drops what is above its cap; ours moves it to the archive."""
    added, kept = case["input"]["added"], case["expected"]["kept"]
    write(root, "log/memory_log.md", experiences(added))
    assert len(rotate_log(layout, kept)) == added - kept
    assert len(ids(repository, "log/")) == kept and len(ids(repository, "archive/log/")) == added - kept
    assert repository.get(ids(repository, "log/")[0]).title == case["expected"]["first"]
    assert rotate_log(layout, kept) == [] and next_experience_number(layout) == added + 1


def test_rotation_keeps_text_and_changes_together(layout, root, repository):
    change = "---\nkind: amend\nabout: exp_1\nid: amend_1\nat: 2026-03-01\n---\n\nAmended.\n"
    write(root, "log/memory_log.md", experiences(1) + "\n---\n\n" + change + "\n---\n\n" + experiences(2, 2))
    before = repository.get("exp_3")
    assert rotate_log(layout, 2) == ["exp_1"]
    assert (root / "log/memory_log.md").read_text() == experiences(2, 2)
    assert (root / "archive/log/2026-01/memory_log.md").read_text() == experiences(1) + "\n---\n\n" + change
    assert repository.get("exp_1").body == "Amended." and repository.get("exp_3") != before
    assert [entry.entry.id for entry in repository.history("exp_1")] == ["exp_1", "amend_1"]


def test_an_entry_in_both_places_is_one_and_the_next_rotation_ends_it(layout, root, repository, monkeypatch):
    write(root, "log/memory_log.md", experiences(5))

    rename = os.replace

    def killed_at_the_log(source, target):
        if target.endswith("log/memory_log.md") and "archive" not in target:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", killed_at_the_log)
    with pytest.raises(KeyboardInterrupt):
        rotate_log(layout, 3)
    monkeypatch.undo()
    assert (root / "archive/log/2026-01/memory_log.md").exists() and len(repository.list(include_all())) == 5
    rotate_log(layout, 3)
    assert ids(repository, "log/") == ["exp_3", "exp_4", "exp_5"] and ids(repository, "archive/") == ["exp_1", "exp_2"]
    assert sum(file.read_text().count("experience_id: exp_1\n") for file in root.rglob("*.md")) == 1


def test_another_branch_s_entry_with_the_same_number_is_not_lost(layout, root, repository):
    """After a merge, the archive holds one exp_1 and the log another: a number does not say what is archived."""
    write(root, "archive/log/2026-01/memory_log.md", experiences(1))
    other = experiences(1).replace('"x0"', '"said on the other branch"')
    write(root, "log/memory_log.md", "\n---\n\n".join([other, experiences(3, 2)]))
    assert rotate_log(layout, 2) == ["exp_1", "exp_2"]
    archived = "".join(file.read_text() for file in (root / "archive/log").rglob("*.md"))
    assert archived.count("said on the other branch") == 1 and archived.count('"x0"') == 1


def test_a_form_feed_in_an_entry_moves_with_it(layout, root):
    odd = experiences(1) + "\nbefore\x0cafter\u2028end\n"
    write(root, "log/memory_log.md", "\n---\n\n".join([odd, experiences(2, 2)]))
    rotate_log(layout, 2)
    assert (root / "archive/log/2026-01/memory_log.md").read_text() == odd
    assert (root / "log/memory_log.md").read_text() == experiences(2, 2)


def test_a_log_folder_that_is_a_link_out_of_the_repository_is_not_rotated(layout, root, tmp_path):
    outside = tmp_path / "outside"
    write(outside, "memory_log.md", experiences(3))
    (root / "log").symlink_to(outside)
    with pytest.raises(Refused, match="link out of the repository"):
        rotate_log(layout, 1)
    assert (outside / "memory_log.md").read_text() == experiences(3)
    assert not (root / "archive").exists()


ADD = """
import sys
from rawkomem.learn.traces import ToldExperience
from rawkomem.repository import Repository
repository = Repository.open(sys.argv[1], warn=lambda message: None)
for number in range(int(sys.argv[3])):
    repository.traces.log(ToldExperience(goal=f"{sys.argv[2]}-{number}"), keep=int(sys.argv[4]))
"""


@pytest.mark.parametrize(("processes", "each"), [(2, 12), pytest.param(16, 20, marks=pytest.mark.slow)])
def test_processes_number_without_gap_or_double(processes, each, project, repository):
    count = processes * each
    keep = count - 20
    words = [sys.executable, "-c", ADD, str(project)]
    children = [
        subprocess.Popen([*words, str(n), str(each), str(keep)], stderr=subprocess.PIPE, text=True)
        for n in range(processes)
    ]
    for child in children:
        assert child.communicate(timeout=300)[1] == "" and child.returncode == 0
    rows = [row for row in repository.list(include_all()) if row.kind == "experience"]
    numbers = [int(repository.get(row.id).extra["experience_number"]) for row in rows]
    assert sorted(numbers) == list(range(1, count + 1))
    assert len({row.title for row in rows}) == count
    assert sum(row.path.startswith("log/") for row in rows) == keep
