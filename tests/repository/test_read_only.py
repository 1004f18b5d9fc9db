"""A checkout that cannot be written: every question is answered, and one line says what could not be noted."""

import os

import pytest

from tests.files.plain_user import run_plain
from tests.torture.helpers import memory

RUN = "import sys, os; os.chdir(sys.argv[1]); from rawkomem.faces.cli import run; sys.exit(run(sys.argv[2:]))"
QUESTIONS = {
    "search": ("search", "deploy the service"),
    "inject": ("inject", "deploy the service"),
    "list": ("list",),
    "show": ("show", "deploy"),
    "check": ("check",),
    "staged": ("check", "--staged"),
}
SAYS = {
    "search": "make ship",
    "inject": "make ship",
    "list": "Deploy",
    "show": "make ship",
}  # the other two say nothing


@pytest.fixture
def closed(project, git, memories):
    """A committed project that nobody may write."""
    text = memory("Deploy", "Deploy the service with make ship.", id="deploy", whenToUse=["deploy the service"])
    (memories / "deploy.md").write_text(text)
    git.commit()
    folders = [place for place, _, _ in os.walk(project)]
    for folder in folders:
        os.chmod(folder, 0o555)
    yield project
    for folder in folders:
        os.chmod(folder, 0o755)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_checkout_that_cannot_be_written_answers(closed, name):
    done = run_plain(RUN, closed, *QUESTIONS[name])
    assert done.returncode == 0 and SAYS.get(name, "") in done.stdout, done.stderr
    assert ("this use of the memories was not counted: cannot" in done.stderr) == (name == "inject")


@pytest.mark.parametrize("name", ["search", "inject", "staged"])
def test_without_a_cache_folder_the_index_is_in_memory(closed, tmp_path, monkeypatch, name):
    """As in a container: neither the checkout nor the home folder can be written."""
    tmp_path.chmod(0o555)
    for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    done = run_plain(RUN, closed, *QUESTIONS[name])
    tmp_path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("each command builds an index in memory") == 1 and "building the index" not in done.stderr
    assert SAYS.get(name, "") in done.stdout
