"""`cite`, `show` and `check --stale` as a user runs them, and what they load."""

import subprocess
import sys
import time

import pytest

CODE = "def first():\n    return 1\n\n\ndef second():\n    return 2\n"
MEMORY = "---\ntitle: Citing\nwhenToUse: login|auth\n{cites}---\n\nAll login code of the project lives in one place.\n"


@pytest.fixture
def src(project):
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text(CODE)
    return project / "src"


def test_the_commands(rawkomem, project, memories, src):
    (memories / "citing.md").write_text(MEMORY.format(cites=""))
    printed = rawkomem("link", "cite", "a.py#first", cwd=src).stdout.strip()
    assert printed.startswith("src/a.py#first@")
    before = (memories / "citing.md").read_text()
    assert printed in rawkomem("link", "cite", "citing", "src/a.py#first", "src/a.py:5-6").stdout
    assert (memories / "citing.md").read_text().startswith(before.replace("---\n", "---\nid: citing\n", 1))
    shown = rawkomem("show", "citing").stdout
    assert f"fresh   {printed}" in shown and "all fresh" in rawkomem("check", "--stale").stderr
    (src / "a.py").write_text(CODE.replace("return 1", "return 9"))
    stale = rawkomem("check", "--stale", check=1)
    assert f"memories/citing.md:1: stale   {printed}" in stale.stdout and "1 stale" in stale.stderr
    told = rawkomem.json("check", "--stale", check=1)
    assert [(row["id"], row["state"]) for row in told] == [("citing", "stale")]
    assert {row["state"] for row in rawkomem.json("show", "citing")["citations"]} == {"fresh", "stale"}
    rawkomem("link", "cite", "citing", "src/a.py#first")  # looked at again: it still holds
    rawkomem("check", "--stale")
    memory = rawkomem.json("show", "citing")
    assert len(memory["extra"]["cites"]) == 2
    assert "no file" in rawkomem("link", "cite", "nope.py", check=2).stderr
    assert "no symbol third" in rawkomem("link", "cite", "src/a.py#third", check=2).stderr
    assert "no memory" in rawkomem("link", "cite", "nope", "src/a.py", check=1).stderr
    assert "outside" in rawkomem("link", "cite", "/etc/passwd", check=2).stderr


def test_an_agents_citation_of_a_vouched_memory_only_waits(rawkomem, git, memories, src):
    (memories / "citing.md").write_text(MEMORY.format(cites=""))
    git.commit("code and memory")
    done = rawkomem("link", "cite", "citing", "src/a.py#first")
    assert done.stdout.startswith("proposed") and "only a person may decide this" in done.stderr
    assert "cites" in rawkomem("review", "citing").stdout and "0 citations" in rawkomem("check", "--stale").stderr
    git.commit("the citation")
    assert "1 citation, all fresh" in rawkomem("check", "--stale").stderr


def imported_by_inject(rawkomem, folder) -> set[str]:
    time.sleep(0.05)  # a file that changed a moment ago is read again
    rawkomem("sync")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rawkomem", "inject", "fix the login page"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "### Citing" in done.stdout
    return {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}


def test_citing_nothing_costs_nothing_and_citing_little(rawkomem, memories, src):
    (memories / "citing.md").write_text(MEMORY.format(cites=""))
    plain = imported_by_inject(rawkomem, memories)
    assert not plain & {"rawkomem.git.citations", "hashlib"}
    (memories / "citing.md").write_text(MEMORY.format(cites="cites: [src/a.py#first@1234567]\n"))
    citing = imported_by_inject(rawkomem, memories) - plain
    assert "rawkomem.git.citations" in citing
    assert not citing & {"subprocess", "click", "yaml", "pathlib", "dataclasses", "ast"}
