"""A text that was written in an editor is never lost, and what should not be stored is told before."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rawkomem.files.kept_texts import unsaved_texts
from rawkomem.files.private import make_private_folder

from tests.commands import START
from tests.terminals import converse, scrubbed, wait_for

TEXT = "---\ntitle: {title}\n---\n\nDrain the pool before a failover, not after it.\n"


@pytest.fixture
def editor(tmp_path_factory):
    """Return a function that makes an editor: it notes what it was shown, and saves the next text of a list."""
    folder = tmp_path_factory.mktemp("editor")

    def make(*texts: str, code: int = 0) -> dict[str, str]:
        (folder / "texts").write_text(json.dumps(texts))
        script = folder / "editor.py"
        script.write_text(
            "import json, sys\n"
            f"folder, file = {str(folder)!r}, sys.argv[1]\n"
            "texts = json.load(open(folder + '/texts'))\n"
            "open(folder + '/seen', 'a').write(open(file).read() + '\\0')\n"
            "if texts: open(file, 'w').write(texts.pop(0))\n"
            "json.dump(texts, open(folder + '/texts', 'w'))\n"
            f"sys.exit({code})\n"
        )
        return {"EDITOR": f"{sys.executable} {script}", "VISUAL": ""}

    make.seen = lambda: (folder / "seen").read_text().split("\0")[:-1]
    return make


def resumed(stderr: str) -> list[str]:
    """The command that a refusal prints, without the program's name."""
    (line,) = [line for line in stderr.splitlines() if "to reopen it, run: " in line]
    return shlex.split(line.partition("to reopen it, run: ")[2])[1:]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT.format(title='""'), "title"),
        (TEXT.format(title='"never closed'), "end of stream"),
        ("---\ntitle: a\ntitle: b\n---\n\nTwo titles.\n", "title"),
        ("---\nnever closed\n", "never closed"),
        (TEXT.format(title="T") + "\n---\ntitle: U\n---\n\nTwo.\n", "2 entries"),
        (TEXT.format(title="T\nwhenToUse: '[b-'"), "whenToUse"),
    ],
)
def test_a_refused_text_is_kept_opened_again_and_removed_once_it_is_stored(rawkomem, repository, editor, text, said):
    refused = rawkomem("add", "-k", "lesson", "--edit", env=editor(text), check=None)
    assert refused.returncode in (1, 2) and said in refused.stderr
    (path,) = unsaved_texts(repository.layout)
    assert Path(path).read_text() == text and os.stat(path).st_mode & 0o777 == 0o600
    assert rawkomem.json("status")["unsaved"] == [path]
    again = resumed(refused.stderr)
    assert again == ["add", "--resume", path]
    rawkomem(*again, env=editor(TEXT.format(title="Drain first")))
    assert unsaved_texts(repository.layout) == [] and editor.seen()[-1] == text
    (stored,) = rawkomem.json("list")
    assert (stored["title"], stored["kind"]) == ("Drain first", "lesson")


def test_the_latest_text_is_opened_again_without_a_path_as_the_kind_it_was_for(rawkomem, repository, editor):
    rawkomem("add", "-e", "-k", "learning", env=editor("---\nfirst\n"), check=None)
    rawkomem("add", "-e", "-k", "lesson", env=editor("---\nsecond\n"), check=None)
    rawkomem("add", "--resume", env=editor(TEXT.format(title="T")))
    assert editor.seen()[-1] == "---\nsecond\n" and len(unsaved_texts(repository.layout)) == 1
    assert rawkomem.json("list")[0]["kind"] == "lesson"


def test_amend_and_a_draft_keep_their_text_too(rawkomem, repository, editor):
    id = repository.add("Old text.", title="Pools").id
    refused = rawkomem("amend", id, "--edit", env=editor("---\ntitle: [\n---\n\nNew text.\n"), check=2)
    assert editor.seen()[-1] == "Old text.\n"
    rawkomem("amend", id, "--resume", env=editor("New text.\n"))
    assert repository.get(id).body == "New text." and resumed(refused.stderr)[:2] == ["amend", id]
    assert unsaved_texts(repository.layout) == []


@pytest.mark.parametrize("code", [0, 3])
def test_an_unchanged_template_and_an_emptied_file_store_nothing(rawkomem, repository, editor, code):
    for texts in ((), ("\n",)) if code == 0 else ((),):
        refused = rawkomem("add", "--edit", env=editor(*texts, code=code), check=2)
        assert "nothing was stored" in refused.stderr and "kept" not in refused.stderr
    assert unsaved_texts(repository.layout) == [] and repository.list() == []


def test_an_editor_that_fails_after_a_change_leaves_the_text(rawkomem, repository, editor):
    refused = rawkomem("add", "--edit", env=editor("half a text", code=1), check=2)
    (path,) = unsaved_texts(repository.layout)
    assert path in refused.stderr and Path(path).read_text() == "half a text" and repository.list() == []


def test_a_text_that_is_not_utf_8_is_kept(rawkomem, repository, tmp_path_factory):
    script = tmp_path_factory.mktemp("bin") / "latin"
    script.write_text('#!/bin/sh\nprintf "caf\\351" > "$1"\n')
    script.chmod(0o700)
    refused = rawkomem("add", "--edit", env={"EDITOR": str(script), "VISUAL": ""}, check=2)
    (path,) = unsaved_texts(repository.layout)
    assert "not UTF-8" in refused.stderr and Path(path).read_bytes() == b"caf\xe9"


def test_no_editor_opens_where_its_text_cannot_be_kept(rawkomem, repository, editor):
    make_private_folder(repository.layout.local)
    (Path(repository.layout.local) / "unsaved").write_text("a file in the way")
    refused = rawkomem("add", "--edit", env=editor("---\nopen\n"), check=1)
    assert "cannot" in refused.stderr


def test_another_file_is_no_unsaved_text(rawkomem, project, editor):
    own = project / "thesis.md"
    own.write_text("# Years of work\n\nText.\n")
    rawkomem("list")  # makes the folder local/
    link = project / ".rawko" / "local" / "unsaved" / "link.md"
    link.parent.mkdir()
    link.symlink_to(own)
    for path in (own, link):
        assert "is not an unsaved text" in rawkomem("add", "--resume", str(path), env=editor(), check=2).stderr
    assert own.exists() and "no unsaved text" in rawkomem("amend", "x", "--resume", env=editor(), check=1).stderr


def test_a_killed_command_leaves_the_text(rawkomem, project, repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "slow"
    script.write_text(f'#!/bin/sh\necho written > "$1"\necho $$ > {folder}/pid\nexec sleep 60\n')
    script.chmod(0o700)
    for sign in (signal.SIGKILL, signal.SIGINT):
        Path(folder, "pid").unlink(missing_ok=True)
        env = {**os.environ, "EDITOR": str(script), "VISUAL": ""}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = subprocess.Popen([*START, "add", "--edit"], cwd=project, env=env, **quiet)
        wait_for(lambda: Path(folder, "pid").exists() and Path(folder, "pid").read_text().strip())
        command.send_signal(sign)
        command.wait(120)
        os.kill(int(Path(folder, "pid").read_text()), signal.SIGTERM)
    assert [Path(path).read_text() for path in unsaved_texts(repository.layout)] == ["written\n"] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--title", "New", "--when", "the|schema"), "fires on nearly every task"),
        (("--title", "New", "--when", ".+"), "matches everything"),
        (("--title", "New", "--when", "("), "has only a sign in place of a word"),
        (("--title", "New", "--when", "[x|y"), "is no regex"),
        (("--title", " POOL  sizes"), "has the title"),
    ],
)
def test_a_script_is_refused_with_one_line_and_may_store_anyway(rawkomem, repository, words, said):
    repository.add("Ten.", title="Pool sizes")
    repository.sync()
    refused = rawkomem("add", *words, "-b", "Twenty.", check=2)
    assert said in refused.stderr and "--anyway" in refused.stderr and refused.stderr.count("\n") == 1
    assert len(repository.list()) == 1
    id = rawkomem.json("add", *words, "-b", "Twenty.", "--anyway")["id"]
    assert len(repository.list()) == 2
    if said not in ("fires on nearly every task", "has the title"):
        assert repository.get(id).when == ()


@pytest.mark.parametrize("kind", ["memory", "lesson", "skill", "learning", "reflection"])
def test_words_of_a_template_are_told(rawkomem, repository, editor, kind):
    from rawkomem.files.installation import fill_template

    whole = fill_template(repository.layout, kind, {"title": "Mine"})
    assert "the template" in rawkomem("add", "-k", kind, input=whole, check=2).stderr
    lines = whole.strip().split("\n")
    assert "the template" in rawkomem("add", "-k", kind, "--title", "T", "-b", f"Mine.\n\n{lines[-1]}", check=2).stderr
    rawkomem("add", "-k", kind, "--title", "T", "-b", "## Why\n\nThe disk was full.")
    rawkomem("add", "-k", kind, "--anyway", input=whole)


def at_terminal(terminal: str, project: Path, words: list[str], reply: str, env: dict[str, str]) -> str:
    """Run a command at a terminal where a person replies to its question, and return what it shows."""
    program = [sys.executable, "-m", "rawkomem", *words]
    return converse(terminal, program, [(r"\[[yY]/[nN]\]", reply)], project, scrubbed(**env))


def test_a_person_is_asked_and_goes_on_with_the_problem_above_the_text(terminal, project, repository, editor):
    bad, good = TEXT.format(title='"open'), TEXT.format(title="Closed")
    shown = at_terminal(terminal, project, ["add"], "y\n", editor(bad, good))
    assert "Open your text again" in shown and repository.get("closed").title == "Closed", shown
    first, second = editor.seen()
    assert "rawkomem: not stored: line 3" in second and second.endswith(bad) and "not stored" not in first
    assert unsaved_texts(repository.layout) == []


def test_a_person_may_store_a_second_memory_of_a_title(terminal, project, repository):
    repository.add("One.", title="Twins")
    words = ["add", "--title", "Twins", "--when", "data", "--body"]
    shown = at_terminal(terminal, project, [*words, "Two."], "n\n", {})
    assert "has the title" in shown and "fires on nearly" in shown and "Store it anyway?" in shown, shown
    assert len(repository.list()) == 1
    shown = at_terminal(terminal, project, [*words, "Three."], "y\n", {})
    assert len(repository.list()) == 2, shown
