"""A fresh clone of an old repository: unrelated commits through the shipped hooks change no memory."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from rawkomem.repository import Repository

from tests.commands import START, cases
from tests.conftest import ROOT
from tests.git.gitting import Git

pytestmark = pytest.mark.slow

AUTHORS = [("Ada Person", "ada@example.org"), ("Bo Lind", "bo@example.org"), ("Chen Wei", "chen@example.org"),
           ("claude[bot]", "noreply@anthropic.com")]  # fmt: skip
TOPICS = ("queue", "ledger", "gateway", "invoice", "search", "mailer", "billing", "export", "login", "report")
MEMORIES, COMMITS = 300, cases(100, 20)


def old_memory(n: int) -> str:
    """A memory of the last two years; some fade, some read alike, some contradict, some are said twice."""
    day = f"{2024 + n % 2}-{n % 12 + 1:02}-{n % 28 + 1:02}"
    importance = ("low", "medium", "high", "critical")[n % 4]
    topic = TOPICS[n % 10]
    body = f"The {topic} of service {n // 10} is limited to {n % 17 + 1} requests, which {AUTHORS[n % 4][0]} decided."
    if n % 25 == 0:
        body = "Deploys of the site run on Tuesdays, after the backup."  # twelve memories say it
    claim = f"claim:\n  subject: {topic}\n  predicate: owner\n  value: team {n % 3}\n" if n % 30 == 7 else ""
    head = f"id: mem_{n}_a\ntitle: Why the {topic} {n}\nwhenToUse: ['{topic} {n}']\nimportance: {importance}\n"
    return f"---\n{head}discoveredAt: {day}T00:00:00Z\n{claim}---\n\n{body}\n"


def digests(memories: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in memories.glob("m*.md")}


def statuses(folder: Path) -> dict[str, str]:
    with Repository.open(str(folder), warn=lambda message: None) as repository:
        repository.sync()
        return {id: memory.status for id, memory in repository.lifecycle.census().memories.items() if id.endswith("_a")}


@pytest.fixture
def clone(project, memories, git, tmp_path_factory) -> Git:
    for author, by in enumerate(AUTHORS):
        for n in range(author, MEMORIES, len(AUTHORS)):
            (memories / f"m{n}.md").write_text(old_memory(n))
        git.commit(f"memories of {by[0]}", by)
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    git("clone", "-q", str(project), str(folder))
    return Git(folder)


@pytest.mark.parametrize("runner", ["connect git", "pre-commit framework"])
def test_unrelated_commits_change_none_of_the_memories(clone, rawkomem, monkeypatch, runner):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    if runner == "connect git":
        rawkomem("connect", "git", cwd=clone.folder)
    memories = clone.folder / ".rawko" / "memories"
    before, known = digests(memories), statuses(clone.folder)
    assert len(before) == len(known) == MEMORIES
    for n in range(COMMITS if runner == "connect git" else COMMITS // 10):
        (clone.folder / f"code{n % 7}.py").write_text(f"value = {n}\n")
        if n % 2:
            words = f"Printer {n} in hall {n * 3} takes paper of size A{n % 6} and answers to host prn-{n}."
            note = f"---\nid: mem_new_{n}\ntitle: Printer {n}\nwhenToUse: ['printer {n}']\n---\n\n{words}\n"
            (memories / f"new-{n}.md").write_text(note)
        clone("add", "-A")
        if runner != "connect git":
            run_framework_hooks(clone.folder)
        head = clone("rev-parse", "HEAD")
        clone("commit", "-qm", f"commit {n}", by=AUTHORS[n % 3])
        assert clone("rev-parse", "HEAD") != head and not clone("status", "--porcelain")
    assert digests(memories) == before and statuses(clone.folder) == known
    changed = clone("diff", "--name-only", "origin/main", "HEAD", "--", ".rawko").splitlines()
    assert changed and all("/new-" in name for name in changed)


def run_framework_hooks(folder: Path) -> None:
    """Run the commands of .pre-commit-hooks.yaml as the framework does: from the top, on what is staged."""
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
        command = [*START, *hook["entry"].split()[1:]]
        done = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
