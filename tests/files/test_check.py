"""What `check` says of single files, and what shows only across files."""

import re
import subprocess

import pytest
from rawkomem.files.check import check_files, check_repository
from rawkomem.files.layout import Layout

from tests.files.odd_more import front

IDEAL = "word " * 300


def told(checked) -> list[str]:
    return [f"{item.file.rpartition('/')[2]}:{p.line} {p.level} {p.message}" for item in checked for p in item.problems]


def check(project) -> list:
    return check_repository(Layout(str(project / ".rawko")))


def test_nothing_is_wrong_with_a_good_file(project, memories):
    (memories / "good.md").write_text(front() + IDEAL, "utf-8")
    (checked,) = check(project)
    assert (checked.file, checked.verdict, checked.entries, checked.titles, checked.problems) == (
        "memories/good.md", "accept", 1, ("T",), (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (199, "199 words: 200–500 are ideal"),
        (200, ""),
        (500, ""),
        (501, "501 words"),
        (2001, "2,001 words: at most 2,000"),
    ],
)
def test_content_rules_never_change_a_verdict(tmp_path, words, said):
    file = tmp_path / "long.md"
    file.write_text(front() + "word " * words, "utf-8")
    (checked,) = check_files([str(file)])
    assert checked.verdict == "accept"
    assert [p.message for p in checked.problems] == [p.message for p in checked.problems if said and said in p.message]
    assert bool(checked.problems) == bool(said)


@pytest.mark.parametrize("name", ["Not Kebab.md", "snake_Case.md", "UPPER.md", "a--b.md", "Ünïcode.md", "日本 語.md"])
def test_a_name_that_is_not_kebab_case_is_a_matter_of_style(tmp_path, name):
    (tmp_path / name).write_text(front() + IDEAL, "utf-8")
    (checked,) = check_files([str(tmp_path / name)])
    assert checked.verdict == "accept" and "not kebab-case" in checked.problems[0].message


@pytest.mark.parametrize(
    "name", ["ünïcode.md", "日本語-の-規約.md", "हिन्दी-नियम.md", "2026-01-23T10-30-00-000Z_план.md"]
)
def test_kebab_case_has_letters_of_every_script(tmp_path, name):
    (tmp_path / name).write_text(front() + IDEAL, "utf-8")
    assert check_files([str(tmp_path / name)])[0].problems == ()


def test_a_folder_is_checked_with_all_its_files(tmp_path):
    for name in ("b.md", "a.md", "deep/c.md", ".hidden/d.md", "local/e.md", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(front() + IDEAL, "utf-8")
    assert [item.file.rpartition("/")[2] for item in check_files([str(tmp_path)])] == ["a.md", "b.md", "c.md"]


def test_a_file_that_is_not_there_is_told(tmp_path):
    (checked,) = check_files([str(tmp_path / "nowhere.md")])
    assert checked.verdict == "quarantine" and "No such file" in checked.problems[0].message


def test_an_id_used_twice_is_an_error_in_both_places(project, memories):
    for name in ("a.md", "b.md"):
        (memories / name).write_text(front("id: same") + IDEAL, "utf-8")
    assert told(check(project)) == ["a.md:1 error id 'same' is used 2 times", "b.md:1 error id 'same' is used 2 times"]


def test_the_hint_for_an_id_used_twice_works(rawkomem, memories, project):
    for name in ("a.md", "b.md"):
        (memories / name).write_text(front("id: mem_same") + IDEAL, "utf-8")
    assert "--fix" not in rawkomem("check", check=1).stdout, "it leaves equal copies alone"
    assert "the copies are equal: remove all of them but one" in rawkomem("check", check=1).stdout
    (memories / "b.md").write_text(front("id: mem_same") + IDEAL + "more", "utf-8")
    assert "run 'rawkomem check --fix'" in rawkomem("check", check=1).stdout
    rawkomem("check", "--fix")
    rawkomem("check")


def test_a_change_about_nothing_is_a_warning(project, memories):
    (memories / "a.md").write_text("---\nid: x\nkind: amend\nabout: nobody\n---\n\nnew\n", "utf-8")
    assert told(check(project)) == ["a.md:1 warning amend of 'nobody': no file here has this memory"]


def test_a_change_file_whose_memory_was_removed_names_the_command_that_removes_it(rawkomem, memories, project, git):
    (memories / "one.md").write_text(front("id: mem_one") + IDEAL, "utf-8")
    git.commit()
    rawkomem("feedback", "mem_one", "--helpful")
    (memories / "one.md").unlink()
    command = re.search(r"run '(rm \S+)'", rawkomem("check", check=None).stdout)[1]
    subprocess.run(command, shell=True, cwd=project, check=True)
    assert "no file here has this memory" not in rawkomem("check").stdout


def test_a_change_about_another_file_is_fine_if_that_file_states_its_id(project, memories):
    (memories / "b.md").write_text("---\nid: x\nkind: amend\nabout: a\n---\n\nnew\n", "utf-8")
    (memories / "a.md").write_text(front(id="a") + IDEAL, "utf-8")
    assert told(check(project)) == []
    (memories / "a.md").write_text(front() + IDEAL, "utf-8")
    assert told(check(project)) == ["b.md:1 warning amend of 'a': no file here has this memory"]


def test_a_supersession_that_names_nothing_is_a_warning(project, memories):
    """`check` was silent, and the older memory stayed in use."""
    (memories / "old.md").write_text(front("id: mem_old", "supersededBy: mem_gone") + IDEAL, "utf-8")
    (memories / "new.md").write_text(front("id: mem_new", "supersedes: [mem_old, mem_lost]") + IDEAL, "utf-8")
    change = project / ".rawko" / "changes" / "c.md"
    change.parent.mkdir()
    change.write_text("---\nid: c\nkind: supersede\nabout: mem_new\nsupersededBy: mem_typo\n---\n")
    names = {quote for item in check(project) for p in item.problems if p.level == "warning" for quote in [p.quote]}
    assert names == {"mem_gone", "mem_lost", "mem_typo"}
    (memories / "gone.md").write_text(front("id: mem_gone") + IDEAL, "utf-8")
    change.unlink()
    assert [p.quote for item in check(project) for p in item.problems] == ["mem_lost"]


def test_problems_come_in_the_order_of_lines(project, memories):
    text = front(importance="huge", tags='[""]') + IDEAL + "\n\n---\n\n" + front(importance="vast", title="[a]") + IDEAL
    (memories / "a.md").write_text(text, "utf-8")
    (checked,) = check(project)
    lines = [problem.line for problem in checked.problems]
    assert lines == sorted(lines) and len(lines) == 4 and checked.verdict == "quarantine" and checked.entries == 1


def test_every_area_is_checked(project):
    for area in ("memories/lessons", "traces/2026-01", "log", "archive/2025"):
        folder = project / ".rawko" / area
        folder.mkdir(parents=True)
        (folder / "x.md").write_text("no frontmatter", "utf-8")
    (project / ".rawko" / "local").mkdir()
    (project / ".rawko" / "local" / "x.md").write_text("not checked", "utf-8")
    assert [item.file for item in check(project)] == [
        "archive/2025/x.md", "log/x.md", "memories/lessons/x.md", "traces/2026-01/x.md",
    ]  # fmt: skip


def test_links_to_nowhere_are_a_matter_of_style(project, memories):
    (memories / "a.md").write_text(front(relatedMemories="[b, gone]") + "[[b]] [[lost]] `[[code]]`\n" + IDEAL, "utf-8")
    (memories / "b.md").write_text(front() + IDEAL, "utf-8")
    link = "\n---\n\n---\nkind: link\nabout: a\nto: nobody\nat: 2026-01-0{}\n{}---\n"
    (memories / "c.md").write_text(front() + IDEAL, "utf-8")
    checked = check(project)
    assert told(checked) == [
        "a.md:1 style related link to 'gone': no such memory",
        "a.md:1 style mentions link to 'lost': no such memory",
    ]
    assert {item.verdict for item in checked} == {"accept"}
    with (memories / "a.md").open("a") as stream:
        stream.write(link.format(1, ""))
    assert "a.md:1 style related link to 'nobody': no such memory" in told(check(project))
    with (memories / "a.md").open("a") as stream:
        stream.write(link.format(2, "removed: true\n"))
    assert not any("nobody" in line for line in told(check(project)))


def test_a_link_to_a_deleted_memory_is_told(project, memories):
    (memories / "a.md").write_text(front(relatedMemories="[b]") + IDEAL, "utf-8")
    (memories / "b.md").write_text(front() + IDEAL + "\n---\n\n---\nkind: delete\nabout: b\n---\n", "utf-8")
    assert told(check(project)) == ["a.md:1 style related link to 'b', which is deleted"]


def test_an_episode_needs_no_text(project, memories):
    (memories / "e.md").write_text("---\nkind: episode\ntitle: E\nmembers: [x]\n---\n", "utf-8")
    assert told(check(project)) == ["e.md:1 style member link to 'x': no such memory"]


def test_nothing_is_advised_on_a_deleted_memory(project, memories, repository):
    """Neither on its text nor on its frontmatter; what is wrong with the memory below it is still told."""
    (memories / "two.md").write_text(
        "---\nid: gone\ntitle: Gone\nimportance: huge\nwhenToUse: ['(x|', '.*']\n---\n\n[[Nothing]]\n\n---\n\n"
        "---\nid: kept\ntitle: Kept\nimportance: vast\n---\n\nShort.\n",
        "utf-8",
    )
    (memories / "Left Over.md").write_text("---\ntitle: Left over\n---\n\nShort.\n", "utf-8")
    before = told(check(project))
    assert any("two.md:4 " in line for line in before) and any("Left Over" in line for line in before)
    repository.delete("gone")
    repository.delete("Left Over")
    after = told(check(project))
    assert after and all("two.md:" in line and "Gone" not in line for line in after), after
    assert [line for line in before if "vast" in line] == [line for line in after if "vast" in line] != []
    assert not any("huge" in line or "(x|" in line or "'.*'" in line for line in after)


def test_a_secret_in_a_deleted_memory_is_still_told(project, memories, repository):
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    (memories / "key.md").write_text(f"---\ntitle: Key\n---\n\nUse {key}.\n", "utf-8")
    repository.delete("key")
    assert any("a secret" in line for line in told(check(project)))
