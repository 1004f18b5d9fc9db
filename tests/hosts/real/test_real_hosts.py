"""The hosts themselves, as their vendors ship them, against a model on loopback: `make test-hosts` installs them.

What reaches the model, and what is learned from the transcript that the host wrote, is what a user gets.
"""

import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from rawkomem.files.layout import Layout
from rawkomem.files.records import read
from rawkomem.hosts.connect import plugin_folder
from rawkomem.hosts.known_hosts import HOSTS
from rawkomem.repository import Repository

from tests.hosts.real.hosts import ALL, Seat
from tests.hosts.real.model import Step, say, shell
from tests.hosts.real.waiting import drafts, wait_for

pytestmark = pytest.mark.hosts

PROMPT = "How do we load a sqlite extension?\nAnd remember: always run the linter before you push."
BODY = "Many Pythons are built without extension loading, so sqlite3 cannot load sqlite-vec."
TASK = "Find the code that opens apsw, and report the line."
LEARNED = "run the linter before you push"


@pytest.fixture
def apsw(home, rawkomem):
    """A memory that fits the prompt."""
    rawkomem("add", "--title", "Why apsw", "--when", "sqlite|apsw", "--importance", "high", "--body", BODY)


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_session(host, apsw, seat, model, project):
    """The opening and the memory that fits reach the model, and what the person said is learned."""
    said = seat(host).ask(PROMPT)
    asked = [body for body in model.asked if "load a sqlite extension" in body]
    assert asked, said
    assert any(BODY in body for body in asked), "the memory"
    assert any("This project stores what it has learned" in body for body in asked), "the opening"
    if host.name == "opencode":  # it keeps no transcript that proves what the person said
        wait_for(lambda: drafts(project))
        assert LEARNED in drafts(project)[0].text and not _learned(project)
    else:
        wait_for(lambda: _learned(project))


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_session_in_a_subfolder(host, apsw, seat, model, project, rawkomem):
    """Some hosts read settings only where they are started: there, those of the user work."""
    at = seat(host)
    at.project = project / "packages" / "api"
    at.project.mkdir(parents=True)
    at.ask(PROMPT)
    assert any(BODY in body for body in model.asked) == HOSTS[host.name].reads_above
    rawkomem("connect", host.name, "--user")
    model.asked.clear()
    at.ask(PROMPT)
    assert any(BODY in body for body in model.asked)


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_session_in_a_worktree(host, apsw, seat, git, model, tmp_path_factory):
    at = seat(host)
    at.project = tmp_path_factory.mktemp("worktrees") / "branch"
    git("worktree", "add", "-q", str(at.project))
    at.ask(PROMPT)
    assert any(BODY in body for body in model.asked)


STARTS_AGENT = {
    "claude": Step(tool="Agent", given={"description": "Search", "prompt": TASK, "subagent_type": "general-purpose"}),
    "codex": Step(tool="spawn_agent", given={"message": TASK, "task_name": "search"}),
    "opencode": Step(tool="task", given={"description": "Search", "prompt": TASK, "subagent_type": "general"}),
    "copilot": Step(tool="task", given={"description": "Search", "prompt": TASK, "agent_type": "general-purpose", "name": "x"}),
}  # fmt: skip


@pytest.mark.parametrize("host", [host for host in ALL if host.name in STARTS_AGENT], ids=lambda host: host.name)
def test_a_sub_agent(host, apsw, seat, model, project):
    """It gets the rules that always apply and the memory for its task, which its parent was given before."""
    rule = "---\ntitle: Plain words\nalwaysApply: true\n---\n\nWrite plain words.\n"
    (project / ".rawko" / "memories" / "rule.md").write_text(rule)
    steps = [shell("sleep 3") for _ in range(2)]  # Codex does not wait for its sub-agents
    model.script = [STARTS_AGENT[host.name], *steps, say("Found."), say("Done.")]
    said = seat(host).ask(PROMPT)
    own = [body for body in model.asked if TASK in body and "load a sqlite extension" not in body]
    assert own and all(BODY in body and "Write plain words." in body for body in own), said


@pytest.mark.parametrize("host", [host for host in ALL if host.name in ("claude", "codex")], ids=lambda host: host.name)
def test_the_plugin(host, apsw, git, home, model, project):
    """The hosts accept our plugin and call its hooks, without any settings in the project."""
    at = Seat(host, project, home, model.url)
    folder = plugin_folder(host.name)
    add = {"claude": "install", "codex": "add"}[host.name]
    words = [("marketplace", "add", folder), (add, "rawkomem@rawko")]
    if host.name == "claude":
        words.insert(0, ("validate", "--strict", f"{folder}/plugins/rawkomem"))
    for command in words:
        subprocess.run([at.program, "plugin", *command], cwd=project, env=at.env(), check=True)
    said = at.ask(PROMPT)
    assert any(BODY in body for body in model.asked), said
    assert {name for (name,) in read(Layout(str(project / ".rawko")), "SELECT host FROM calls")} == {host.name}


def test_claude_and_copilot_connected_both(apsw, seat, model):
    """Copilot CLI reads Claude Code's hooks too, and drops what they say to a prompt: its own must still answer."""
    host = next(host for host in ALL if host.name == "copilot")
    said = seat(host, "claude", "copilot").ask(PROMPT)
    asked = [body for body in model.asked if "load a sqlite extension" in body]
    assert asked, said
    assert [body.count(BODY) for body in asked] == [1] * len(asked)


def _learned(project: Path) -> bool:
    with closing(Repository.open(str(project))) as repository:
        return any(LEARNED in repository.get(row.id).body for row in repository.list())
