"""The merge of memory files: three texts in, one out. What both sides changed is loud; the rest is united."""

import os
import subprocess
import sys

import pytest
from rawkomem.files.reading import read_data
from rawkomem.git import merge as merge_driver
from rawkomem.git.merge import below_root, merge_entries, merge_files
from rawkomem.model.errors import Refused, Unwritable

PATH = ".rawko/memories/a.md"
GAP = "\n---\n\n"


def entry(id: str, body: str = "Text.", at: str = "2026-01-01", title: str = "", **keys: str) -> str:
    """An entry as the tool writes it; `id` may be empty, as people leave it."""
    fields = {"id": id, "title": title or ("" if "kind" in keys else id), **keys, "discoveredAt": at}
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items() if value)
    return f"---\n{lines}---\n\n{body}\n"


A, B, C, D = (entry(id) for id in "abcd")


def file(*entries: str) -> str:
    return GAP.join(entries)


def merged(base: str, ours: str, theirs: str, path: str = PATH) -> str:
    """The merge, which must be the same in both directions and without conflicts."""
    one = merge_entries(base.encode(), ours.encode(), theirs.encode(), path)
    other = merge_entries(base.encode(), theirs.encode(), ours.encode(), path)
    assert one is not None and one == other and not one.conflicts
    return one.data.decode()


def conflict(base: str, ours: str, theirs: str) -> tuple[tuple[str, ...], str]:
    found = merge_entries(base.encode(), ours.encode(), theirs.encode(), PATH)
    assert found is not None and found.conflicts
    return found.conflicts, found.data.decode()


def test_nothing_new_changes_no_byte():
    text = "\n\n" + file(A, B) + "\n\n  \n"
    assert merged(text, text, text) == text
    assert merged(text, text + GAP + C, text) == text + GAP + C


def test_both_sides_entries_are_united_by_time_then_id():
    early, late = entry("x", at="2026-02-01"), entry("b", at="2026-03-01")
    assert merged(A, file(A, late), file(A, early)) == file(A, early, late)
    assert merged(A, file(A, C), file(A, B)) == file(A, B, C)


def test_each_side_keeps_its_own_order():
    second = entry("z", at="2025-01-01")  # an earlier time, below all the same
    assert merged(A, file(A, B, second), file(A, C)) == file(A, B, second, C)


def test_the_same_entry_on_both_sides_comes_once():
    assert merged(A, file(A, B, C), file(A, C)) == file(A, B, C)


def test_an_edit_and_a_cut_of_one_side_are_taken():
    edited = entry("a", "Other words.")
    assert merged(file(A, B), file(edited, B), file(A, B, C)) == file(edited, B, C)
    assert merged(file(A, B), B, file(A, B, C)) == file(B, C)
    assert merged(file(A, B), A, file(A, B, C)) == file(A, C)
    assert merged(file(A, B, C), file(A, B), file(A, C)) == A
    assert merged(file(A, B, C), file(entry("a", "1"), B, C), file(A, B, entry("c", "3"))) == file(
        entry("a", "1"), B, entry("c", "3")
    )


def test_the_same_edit_on_both_sides_is_no_conflict():
    assert merged(A, entry("a", "New."), entry("a", "New.")) == entry("a", "New.")


def test_two_edits_of_one_entry_are_loud_and_the_rest_is_still_merged():
    ids, text = conflict(file(A, B), file(entry("a", "Ours."), B, C), file(entry("a", "Theirs."), B, D))
    assert ids == ("a",)
    assert text == file(entry("a", "<<<<<<< ours\nOurs.\n=======\nTheirs.\n>>>>>>> theirs"), B, C, D)
    read = read_data(text.encode(), "memories/a.md").entries
    assert [(item.id, item.conflicted) for item in read] == [("a", True), ("b", False), ("c", False), ("d", False)]


def test_an_edit_of_what_the_other_side_cut_out_is_loud():
    ids, text = conflict(file(A, B), B, file(entry("a", "New."), B))
    assert ids == ("a",) and text.startswith("<<<<<<< ours\n=======\n---\nid: a") and text.endswith(GAP + B)
    new = entry("a", "New.")
    ids, text = conflict(file(A, B), file(new, B), B)
    assert ids == ("a",) and text == file(f"<<<<<<< ours\n{new}=======\n>>>>>>> theirs\n", B)


def test_the_markers_stand_around_the_lines_that_differ():
    def with_lines(*lines: str) -> str:
        return entry("a", "\n".join(("First.", *lines, "Last but one.", "Last.")))

    _, text = conflict(with_lines("Base."), with_lines("Ours.", "More."), with_lines("Theirs."))
    assert text == with_lines("<<<<<<< ours", "Ours.", "More.", "=======", "Theirs.", ">>>>>>> theirs")


def test_two_entries_under_one_id_are_loud():
    assert conflict(A, file(A, entry("b", "1")), file(A, entry("b", "2")))[0] == ("b",)


def test_new_files_of_one_name_are_united():
    assert merged("", A, B) == file(A, B)


def test_entries_that_people_wrote_without_an_id():
    base, edited = entry("", title="T"), entry("", "Edited.", title="T")
    assert merged(base, edited, base + GAP + B) == edited + GAP + B
    assert conflict(base, edited, entry("", "Otherwise.", title="T"))[0] == ("a",)
    one, two = entry("", title="One"), entry("", title="Two", at="2026-01-02")
    assert merged(A, file(A, two), file(A, one)) == file(A, one, two)
    assert conflict("", entry("", "1", title="T"), entry("", "2", title="T"))[0] == ("a",)
    changed = entry("", "New.", title="Two")
    assert merged(file(one, two), two, file(one, changed)) == changed


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        (".rawko/memories/a.md", "memories/a.md"),
        (".rawko/memories/deep/er/a.md", "memories/deep/er/a.md"),
        ("services/one/.rawko/traces/2026-01/a.md", "traces/2026-01/a.md"),
        ("one/.rawko/memories/.rawko/archive/a.md", "archive/a.md"),
        ("one\\.rawko\\memories\\a.md", "memories/a.md"),
        ("memories/a.md", "memories/a.md"),
        ("docs/notes/a.md", "a.md"),
        (".merge_file_X1", ".merge_file_X1"),
        ("X1.md", "X1.md"),
    ],
)
def test_the_path_that_ids_come_from_is_the_one_in_the_repository(path, inside):
    assert below_root(path) == inside


def test_a_change_stays_with_the_entry_it_is_about():
    """A name from a place in the file would pass to another entry: that is not merged in silence."""
    one = entry("", title="One", at="2026-01-03")
    change = entry("", at="2026-01-04", kind="amend", about="a#2")
    assert merge_entries(A.encode(), file(A, one, change).encode(), file(A, B).encode(), PATH) is None
    assert merged(A, file(A, one, change), file(A, entry("z", at="2026-01-05"))) is not None


def test_a_time_that_comes_from_the_entry_above_stays():
    change = entry("", at="", kind="feedback", about="b", signal="helpful")
    late = entry("b", at="2026-03-01")
    found = merged(A, file(A, late, change), file(A, entry("y", at="2026-03-01"), entry("z", at="2026-04-01")))
    times = {item.kind: item.at for item in read_data(found.encode(), "memories/a.md").entries if item.about}
    assert times == {"feedback": read_data(late.encode(), "").entries[0].at}


def test_a_time_that_no_side_knows_is_left_to_git():
    """Each side removes one entry above a change without a time: it would get the time of the first entry."""
    vote = entry("v", at="", kind="feedback", about="a", signal="helpful")
    early, late = entry("b", at="2026-02-01"), entry("c", at="2026-03-01")
    base = file(A, early, late, vote)
    assert merge_entries(base.encode(), file(A, early, vote).encode(), file(A, late, vote).encode(), PATH) is None
    assert merged(base, file(A, early, late, vote, D), file(A, late, vote)) == file(A, late, vote, D)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_byte_order_mark_stay(mark, newline):
    texts = [mark + text.replace("\n", newline) for text in (A, file(A, B), file(A, C), file(A, B, C))]
    assert merged(*texts[:3]) == texts[3]


MARK = "\ufeff"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        ("\n" + A, "\n\n" + A, "\n" + file(A, B), "\n\n" + file(A, B)),  # one side changed it: that side's
        (A, "\n" + A, "\n\n" + file(A, B), "\n" + file(A, B)),
        (A, "\n\n\n" + A, "\n\n" + file(A, B), "\n\n" + file(A, B)),
        (A, MARK + A, file(A, B), MARK + file(A, B)),
        (MARK + A, A, MARK + file(A, B), file(A, B)),
        ("", A.replace("\n", "\r\n"), B, file(A, B)),
        (A, "", file(A, B), B),
    ],
)
def test_what_stands_before_the_entries_and_line_ends_are_chosen_the_same_from_both_sides(base, ours, theirs, wanted):
    assert merged(base, ours, theirs) == wanted


def test_entries_that_the_sides_order_differently_are_ordered_by_time_then_id():
    assert merged(file(B, A), file(A, B), file(B, A, C)) == file(A, B, C)
    nameless, named = entry("", title="T"), entry("z", title="T")
    assert merged(file(nameless, B), file(named, B), file(B, nameless), ".rawko/memories/z.md") == file(B, named)


def test_an_entry_with_a_mistake_is_merged_as_any_other():
    draft = entry("d").replace("title: d\n", "")
    assert read_data(draft.encode(), "memories/a.md").entries[0].draft
    assert merged(A, file(A, draft), file(A, B)) == file(A, draft, B)  # it has no time


def test_rules_fences_and_comments_in_texts():
    odd = entry("o", "Above\n\n---\n\nBelow\n\n```\n---\ntitle: no entry\n---\n```\n\n---")
    assert merged(A, file(A, odd), file(A, D)) == file(A, D, odd)
    assert merged(odd, file(odd, B), file(odd, C)) == file(odd, B, C)


@pytest.mark.parametrize(
    "odd",
    [
        "no frontmatter\n",
        "---\ntitle: [\n---\n\nx\n",
        file(A, "---\ntitle: x\nkind: [\n---\n"),
        file(A, A),
        A.replace("\n", "\r\n", 2),
        "\0",
    ],
)
def test_what_is_not_read_entry_by_entry_is_left_to_git(odd):
    assert merge_entries(A.encode(), odd.encode(), file(A, B).encode(), PATH) is None
    assert merge_entries(odd.encode(), (odd + GAP + B).encode(), (odd + GAP + C).encode(), PATH) is None


def test_what_would_swallow_the_entry_below_is_left_to_git():
    swallowing = entry("b", "```\nan open fence")
    assert merge_entries(A.encode(), file(A, swallowing).encode(), file(A, C).encode(), PATH) is None
    assert conflict(swallowing, file(swallowing, C), file(swallowing, D))[0] == ("b",)


def experience(number: int, goal: str, at: str) -> str:
    return f"---\nexperience_id: exp_{number}\ntimestamp: {at}\nprimary_goal: {goal}\noutcome: success\n---\n"


def written(folder, *texts: str) -> list[str]:
    """Write the files base, ours and theirs; return their paths."""
    paths = [folder / name for name in ("base", "ours", "theirs")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


BY_HAND = "fix it by hand, then git add"
KEEP_ONE = "keep one side between the markers, then git add"


@pytest.mark.parametrize(
    ("texts", "path", "message", "hint"),
    [
        ((A, entry("a", "1"), entry("a", "2")), PATH, f"{PATH}: both sides changed a", KEEP_ONE),
        (
            (file(A, B), file(entry("a", "1"), entry("b", "1")), file(entry("a", "2"), entry("b", "2"))),
            PATH,
            f"{PATH}: both sides changed a, b",
            KEEP_ONE,
        ),
        (
            [entry("", body, title="T") for body in "123"],
            ".rawko/memories/note.md",
            ".rawko/memories/note.md: both sides changed note",
            KEEP_ONE,
        ),
        ((A, entry("a", "1"), entry("a", "2")), "", "OURS: both sides changed a", KEEP_ONE),
        (("1\n", "2\n", "3\n"), PATH, f"{PATH} cannot be merged entry by entry", BY_HAND),
    ],
)
def test_a_conflict_names_the_file_the_entries_and_what_to_do(tmp_path, texts, path, message, hint):
    words = written(tmp_path, *texts)
    with pytest.raises(Refused) as failure:
        merge_files(*words, **({"path": path} if path else {}), marker=9)
    assert (failure.value.message, failure.value.hint) == (message.replace("OURS", words[1]), hint)
    assert "<" * 9 + " ours\n" in (tmp_path / "ours").read_text()


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path, monkeypatch):
    words = written(tmp_path, A, file(A, B), file(A, C))
    with pytest.raises(Unwritable) as failure:
        merge_files(str(tmp_path / "nowhere"), *words[1:])
    assert failure.value.message.startswith(f"cannot read {tmp_path / 'nowhere'}")
    assert failure.value.hint == "run 'git merge', which calls this command"
    monkeypatch.setattr(os, "replace", disk_full)
    with pytest.raises(Unwritable) as failure:
        merge_files(*words)
    assert failure.value.message.startswith(f"cannot write {words[1]}")


def test_the_temporary_file_is_in_the_folder_of_git(project, git, monkeypatch):
    words = written(project, A, file(A, B), file(A, C))
    abandoned = project / ".git" / ".rawkomem-abandoned"
    abandoned.write_text("")
    folders = []
    move = os.replace

    def watched(source, target):
        folders.append(os.path.dirname(source))
        move(source, target)

    monkeypatch.setattr(os, "replace", watched)
    merge_files(*words, PATH)
    assert folders == [str(project / ".git")] and not abandoned.exists()
    assert (project / "ours").read_text() == file(A, B, C)


def test_the_driver_falls_back_to_lines(tmp_path):
    """git merge-file, never a guess: far apart it merges, on the same lines it conflicts."""
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    words = [str(path) for path in files]
    lines = [f"line {number}\n" for number in range(20)]
    for path, text in zip(files, ("".join(lines), "ours\n" + "".join(lines), "".join(lines) + "theirs\n"), strict=True):
        path.write_text(text)
    merge_files(*words, PATH)
    assert files[1].read_text() == "ours\n" + "".join(lines) + "theirs\n"
    for path, text in zip(files, ("x\n", "ours\n", "theirs\n"), strict=True):
        path.write_text(text)
    with pytest.raises(Refused, match="cannot be merged entry by entry"):
        merge_files(*words, PATH, 9)
    assert files[1].read_text() == "<<<<<<<<< ours\nours\n=========\ntheirs\n>>>>>>>>> theirs\n"


def test_the_command(tmp_path, rawkomem):
    for name, text in (("base", A), ("ours", entry("a", "1")), ("theirs", entry("a", "2"))):
        (tmp_path / name).write_text(text)
    told = rawkomem("merge-driver", "base", "ours", "theirs", PATH, cwd=tmp_path, check=merge_driver.CONFLICT_EXIT_CODE)
    assert told.stderr.startswith("rawkomem: .rawko/memories/a.md: both sides changed a (") and not told.stdout
    assert "BASE OURS THEIRS" in rawkomem("merge-driver", "base", check=2).stderr
    assert "cannot read" in rawkomem("merge-driver", "nowhere", "ours", "theirs", check=1).stderr
    assert "merge-driver" not in rawkomem("--help").stdout


def disk_full(*_):
    raise OSError(28, "No space left on device")


def test_a_merge_that_cannot_be_written_leaves_nothing_beside(tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for path, text in zip(files, (A, file(A, B), file(A, C)), strict=True):
        path.write_text(text)
    monkeypatch.setattr(os, "replace", disk_full)
    with pytest.raises(Unwritable):
        merge_files(*map(str, files))
    assert sorted(tmp_path.iterdir()) == sorted(files) and files[1].read_text() == file(A, B)


def test_a_killed_driver_leaves_nothing_in_the_project(project, git):
    """The temporary file is in git's folder, and the next merge removes it."""
    files = [project / f".merge_file_{side}" for side in ("base", "ours", "theirs")]
    for file, text in zip(files, ("", "---\nid: a\ntitle: A\n---\n", "---\nid: b\ntitle: B\n---\n"), strict=True):
        file.write_text(text)
    before = {*os.listdir(project)}
    names = [str(file) for file in files]
    killed = "import os; os.replace = lambda *a: os.kill(os.getpid(), 9)"
    merge = f"from rawkomem.git.merge import merge_files; merge_files(*{names!r}, '.rawko/memories/a.md')"
    assert subprocess.run([sys.executable, "-c", f"{killed}; {merge}"], check=False).returncode == -9
    assert {*os.listdir(project)} == before and left_in(project / ".git")
    subprocess.run([sys.executable, "-c", merge], check=True)
    assert not left_in(project / ".git") and "title: B" in files[1].read_text()


def left_in(folder) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".rawkomem-")]


def test_edits_in_different_lines_of_one_entry_are_merged():
    """Also where another entry was appended, and where git must find the lines: each side changed two of them."""
    base, ours, theirs = entry("a", "One.\n\nTwo."), entry("a", "1.\n\nTwo."), entry("a", "One.\n\n2.")
    assert merged(base, ours, theirs) == entry("a", "1.\n\n2.")
    assert merged(base, file(ours, B), file(theirs, C)) == file(entry("a", "1.\n\n2."), B, C)
    lines = ["A.", "", "B.", "", "C.", "", "D."]
    odd = ["a.", *lines[1:4], "c.", *lines[5:]]
    even = [*lines[:2], "b.", *lines[3:6], "d."]
    both = entry("a", "a.\n\nb.\n\nc.\n\nd.")
    assert merged(*(entry("a", "\n".join(text)) for text in (lines, odd, even))) == both


def test_fields_of_one_entry_are_merged_by_key():
    """Plain git conflicts: the lines are next to each other."""
    fields = {"importance": "low", "tags": "[x]", "source": "web"}
    base, ours = entry("a", **fields), entry("a", **{**fields, "importance": "high", "whenToUse": "['deploy']"})
    theirs = entry("a", "Other text.", importance="low", tags="[x, y]")
    both = entry("a", "Other text.", importance="high", tags="[x, y]", whenToUse="['deploy']")
    assert merged(base, ours, theirs) == both
    assert merged(base, file(ours, B), theirs) == file(both, B)
    lists = [f"\n  - one\n  - {two}\n  - three\n  - {four}" for two, four in (("2", "4"), ("two", "4"), ("2", "four"))]
    assert "- two\n  - three\n  - four\n" in merged(*(entry("a", whenToUse=text) for text in lists))


def test_the_markers_stand_around_the_field_that_both_changed():
    base, ours, theirs = (entry("a", f"Text {tag}.", importance=level, tags=f"[{tag}]") for tag, level in
                          (("x", "low"), ("y", "high"), ("z", "low")))  # fmt: skip
    _, text = conflict(base, ours, theirs)
    marked = "<<<<<<< ours\n{0}y{1}\n=======\n{0}z{1}\n>>>>>>> theirs\n"
    assert "importance: high\n" + marked.format("tags: [", "]") in text
    assert text.endswith("---\n\n" + marked.format("Text ", "."))


def test_what_git_would_merge_to_an_invalid_file_is_a_conflict_that_says_why(tmp_path):
    """Each side adds a field or an entry, far from the other: git keeps both. Line ends are mixed, so lines are merged."""
    base = file(A, B, C).replace("Text.\n", "Text.\r\n", 1)
    changed = [B.replace("id: b\n", "id: b\ntags: [x]\n"), B.replace("01\n", "01\ntags: [y]\n")]
    field = [base.replace(B, text) for text in changed]
    new = [file(entry("x", "1"), base), base + GAP + entry("x", "2")]
    for why, sides in (("line 16: duplicate key 'tags'", field), ("two entries have the id x", new)):
        words = written(tmp_path, base, *sides)
        subprocess.run(["git", "merge-file", "-p", *words[1::-1], words[2]], capture_output=True, check=True)
        with pytest.raises(Refused) as failure:
            merge_files(*words, PATH)
        assert failure.value.message.startswith(f"{PATH} would be invalid if merged by lines: {why}")
        assert "<<<<<<< ours\n" in (tmp_path / "ours").read_bytes().decode()


def test_what_git_merges_is_no_conflict(tmp_path):
    """Two new entries without an id, of one title: git keeps both, because they are far apart."""
    new = [entry("", body, title="T") for body in ("One.", "Two.")]
    words = written(tmp_path, file(A, B, C), file(new[0], A, B, C), file(A, B, C, new[1]))
    merge_files(*words, ".rawko/memories/z.md")
    assert (tmp_path / "ours").read_text() == file(new[0], A, B, C, new[1])


def test_a_file_that_is_too_large_to_read_is_merged_whole(tmp_path):
    lines = [f"Line {number} of a long text.\n" for number in range(250_000)]
    text = A + "".join(lines)
    words = written(tmp_path, text, text.replace("id: a", "id: b"), text + "Last.\n")
    merge_files(*words, PATH)
    assert (tmp_path / "ours").read_text() == text.replace("id: a", "id: b") + "Last.\n"


def test_line_ends_that_one_side_changed():
    assert merged(A, file(A, B).replace("\n", "\r\n"), file(A, C)) == file(A, B, C).replace("\n", "\r\n")


def test_two_experiences_under_one_number_are_a_conflict():
    first = experience(1, "first", "2026-01-01")
    ours = file(first, experience(2, "ours", "2026-01-03"))
    assert conflict(first, ours, file(first, experience(2, "theirs", "2026-01-02")))[0] == ("exp_2",)


def test_a_merge_that_fails_unexpectedly_is_one_of_lines(tmp_path, monkeypatch):
    def fail(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr(merge_driver, "merge_entries", fail)
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for path, text in zip(files, (A, file(B, A), file(A, C)), strict=True):
        path.write_text(text)
    merge_files(*map(str, files))
    assert files[1].read_text() == file(B, A, C)
