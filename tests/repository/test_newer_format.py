"""A repository that a newer rawkomem wrote is refused with one line, and never stops work on code."""

import json
from pathlib import Path

import pytest
from rawkomem import NewerFormat, Repository
from rawkomem.files.layout import Layout
from rawkomem.model.values import FORMAT
from rawkomem.repository.settings import load_settings

from tests.commands import ENVIRONMENT
from tests.faces.web.conftest import Client, serving

NEWER = FORMAT + 1
SAID = f"config.yaml says format {NEWER}, and this one reads {FORMAT}"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def memory(rawkomem) -> str:
    told = rawkomem("add", "--title", "Kafka", "--body", "Topics keep messages.", "--when", "kafka", "--json")
    return json.loads(told.stdout)["id"]


@pytest.fixture
def config(project):
    return project / ".rawko" / "config.yaml"


def set_format(config, number: object) -> None:
    config.write_text(f"# mine\nformat: {number}\nappendOnly: off\n")


LINES = (
    "list", "show {id}", "search kafka", "inject kafka", "why {id}", "status", "review", "undo", "check", "doctor",
    "add --title New --body Text", "amend {id} --tag x", "delete {id}", "feedback {id} wrong", "purge {id} --yes",
    "index sync", "index rebuild", "diff HEAD", "check --diff HEAD", "tidy gather",
)  # fmt: skip


def test_commands_refuse_with_one_line_and_write_nothing(rawkomem, memory, git, project, config):
    set_format(config, NEWER)
    git.commit()
    before = {file: file.read_bytes() for file in (project / ".rawko").rglob("*.md")}
    for line in LINES:
        done = rawkomem(*line.format(id=memory).split(), check=NewerFormat.exit_code)
        (said,) = done.stderr.splitlines()
        assert "written by a newer rawkomem" in said and SAID in said and "--upgrade rawkomem" in said, line
        assert not done.stdout, line
        assert before == {file: file.read_bytes() for file in (project / ".rawko").rglob("*.md")}, line


def test_the_library_and_the_page_raise_it(project, memory, config):
    set_format(config, NEWER)
    with Repository.open(str(project)) as repository:
        with pytest.raises(NewerFormat, match="newer rawkomem"):
            repository.inject("kafka")
        with pytest.raises(NewerFormat):
            repository.add("A text.")
    with serving(project) as server:
        status, _, content = Client(server).send("GET", "/api/memories")
    assert status == 500 and SAID in json.loads(content)["error"]


def test_a_prompt_goes_on_and_the_log_says_why_it_got_nothing(rawkomem, project, memory, config):
    set_format(config, NEWER)
    call = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "kafka topics", "cwd": str(project)}
    done = rawkomem("hook", "claude", "prompt", input=json.dumps(call))
    assert (done.stdout, done.stderr) == ("", "")
    assert SAID in (project / ".rawko" / "local" / "hook.log").read_text()


def test_a_commit_of_code_passes_and_a_secret_does_not(rawkomem, project, git, memories, config):
    set_format(config, NEWER)
    (project / "code.py").write_text("x = 1\n")
    (memories / "odd.md").write_text("---\ntitle: [what format three allows\n---\n\nText.\n")
    git("add", "-A")
    assert f"{SAID} (run: " in (said := rawkomem("check", "--staged").stderr) and "only secrets are checked" in said
    assert "nothing is checked" in rawkomem("tidy", "consolidate", "--staged").stderr
    (memories / "leak.md").write_text(f"---\ntitle: Leak\n---\n\nThe token is {SECRET} here.\n")
    git("add", "-A")
    assert "a secret" in rawkomem("check", "--staged", check=1).stdout


def test_the_merge_driver_merges_lines(rawkomem, project, memories, config):
    """Entry by entry, these two sides have no conflict."""
    parts = [f"---\nid: mem_170000000000{n}_abc123\ntitle: M{n}\n---\n\nText {n}.\n" for n in range(3)]
    for name, text in (("base", parts[0]), ("ours", parts[0] + parts[1]), ("theirs", parts[0] + parts[2])):
        (project / name).write_text(text)
    words = ("merge-driver", "base", "ours", "theirs", ".rawko/memories/m.md")
    set_format(config, NEWER)
    assert "merging lines" in rawkomem(*words, check=3).stderr and "<<<<<<<" in (project / "ours").read_text()
    (project / "ours").write_text(parts[0] + parts[1])
    set_format(config, FORMAT)
    rawkomem(*words)
    assert "<<<<<<<" not in (project / "ours").read_text()


def test_a_newer_source_is_left_out(project, rawkomem, memory, tmp_path_factory):
    team = tmp_path_factory.mktemp("team") / "notes"
    rawkomem("init", "--here", cwd=_made(team))
    set_format(team / ".rawko" / "config.yaml", NEWER)
    own = _made(tmp_path_factory.mktemp("x") / "rawkomem")
    (own / "config.yaml").write_text(f"sources: [{team}]\n")
    done = rawkomem("search", "kafka", env={"XDG_CONFIG_HOME": str(own.parent)})
    assert "Kafka" in done.stdout and "notes is left out" in done.stderr and SAID in done.stderr


def _made(folder):
    folder.mkdir()
    return folder


@pytest.mark.parametrize("number", ["", 1, FORMAT])
def test_no_number_and_lower_ones_are_read(rawkomem, memory, config, number):
    set_format(config, number)
    assert "Kafka" in rawkomem("list").stdout


@pytest.mark.parametrize("number", ["two", "1.5", "0", "-3", "[3]", 10**9])
def test_a_wrong_number_is_a_warning(rawkomem, memory, config, number):
    set_format(config, number)
    done = rawkomem("list")
    assert "Kafka" in done.stdout and "format must be a whole number" in done.stderr


def test_the_users_own_config_has_no_format(rawkomem, memory):
    folder = Path(ENVIRONMENT["XDG_CONFIG_HOME"]) / "rawkomem"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(f"format: {NEWER}\n")
    done = rawkomem("list")
    assert "Kafka" in done.stdout and "format is not a setting" in done.stderr


def test_a_new_repository_names_its_format(project, config):
    assert load_settings(Layout(str(project / ".rawko")), print).format == FORMAT
    assert config.read_text().count("\nformat: ") == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"format: {FORMAT}\n"),
        ("", f"format: {FORMAT}\n"),
        ("# mine\nappendOnly: off\n", f"format: {FORMAT}\n# mine\nappendOnly: off\n"),
        ("# mine\r\nformat: 1  # old\r\n", f"# mine\r\nformat: {FORMAT}  # old\r\n"),
        ("\ufeffappendOnly: off\n", f"format: {FORMAT}\nappendOnly: off\n"),
    ],
)
def test_an_amendment_raises_the_number_and_keeps_the_other_lines(rawkomem, memory, config, before, after):
    config.unlink()
    if before is not None:
        config.write_bytes(before.encode())
    rawkomem("feedback", memory, "helpful")
    assert config.exists() == (before is not None), "a vote has the same meaning in every format"
    assert before is None or config.read_bytes() == before.encode()
    assert rawkomem("amend", memory, "--tag", "x").stderr == ""
    assert config.read_bytes() == after.encode()


def test_a_config_that_cannot_be_edited_is_named_and_the_change_is_stored(rawkomem, memory, config):
    config.write_text("{appendOnly: off}\n")
    said = rawkomem("amend", memory, "--tag", "x").stderr
    assert "may misread this change" in said and f"add the line 'format: {FORMAT}'" in said
    assert config.read_text() == "{appendOnly: off}\n"
    assert json.loads(rawkomem("show", memory, "--json").stdout)["tags"] == ["x"]


def test_two_branches_that_raise_the_number_merge(rawkomem, memory, git, config):
    config.write_text("appendOnly: off\n")
    git.commit()
    for branch in ("one", "two"):
        git("checkout", "-qb", branch, "main")
        rawkomem("amend", memory, "--tag", branch)
        git.commit()
    git("merge", "-q", "--no-edit", "one")
    assert config.read_text() == f"format: {FORMAT}\nappendOnly: off\n"
