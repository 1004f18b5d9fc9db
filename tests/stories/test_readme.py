"""What the README promises, in its own words: each test names the sentence that it tries."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from rawkomem.recall.signals import MAX_FULL, MAX_POINTERS

from tests.commands import ROOT
from tests.git.gitting import AGENT, PERSON
from tests.hosts.hooks.payloads import claude, codex, copilot, cursor, gemini
from tests.hosts.hooks.test_acts import decision
from tests.learn.session.sessions import claude_code
from tests.stories.conftest import README
from tests.stories.others import write_others
from tests.stories.requests import RULE, TESTS, UNRELATED

KEEP = ((r"q.{0,8} quit", "k"),)  # one key
PROMISED: dict[str, str] = {}  # sentence of the README → the test


def promises(*sentences: str):
    """Mark a test with the sentences of the README that it tries."""

    def mark(test):
        for sentence in sentences:
            assert sentence in README, f"the README does not say: {sentence}"
            PROMISED[sentence] = test.__name__
        return test

    return mark


@promises(
    "The correction becomes a draft. You keep it with one command. The next session that is asked to run the tests gets"
    " it in its prompt.",
    "At the end of the turn rawkomem saves your correction as a draft, and rawkomem drafts asks you about it: one key"
    " keeps it.",
)
@pytest.mark.parametrize(("others", "is_committed"), [(1, False), (10, True), (45, True), (45, False)])
def test_tuesday(others, is_committed, talk, person, memories, git, rawkomem):
    write_others(memories, others)
    git.commit("other memories")
    monday = talk("s-monday")
    monday.prompt("fix the date parser and run the tests")
    monday.answer("I fixed it and ran pytest tests/test_dates.py: all tests pass.")
    monday.prompt(TESTS.said)
    monday.answer("It passes with make suite.")
    monday.end()
    assert git("status", "--porcelain") == "", "nothing was written that nobody asked for"
    shown = person("drafts", keys=KEEP)
    assert TESTS.said in shown and "1 kept" in shown, shown
    if is_committed:
        git.commit("a correction")
    for number, prompt in enumerate(("run the tests", "add a test for the date parser and run it", *TESTS.later[1:4])):
        told = talk(f"s-tuesday-{number}").prompt(prompt)
        assert RULE in told and "verified" in told and "not verified" not in told, (prompt, told)
    for number, prompt in enumerate(UNRELATED):
        assert RULE not in talk(f"s-other-{number}").prompt(prompt), prompt


@promises("rawkomem learn makes drafts of the sessions that you had before.")
def test_sessions_before_the_installation(project, rawkomem, monkeypatch, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    folder = home / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", os.path.realpath(project))
    folder.mkdir(parents=True)
    (folder / "before.jsonl").write_bytes(claude_code())
    assert "No, use pnpm, not npm." in rawkomem("learn").stdout
    assert "pnpm" in rawkomem("drafts").stdout


@promises(
    "Each memory says when it applies. A prompt gets the text of the few that fit, and the files of others that may"
    " apply, within a token budget, or nothing."
)
def test_each_memory_says_when_it_applies(memories, git, talk, rawkomem):
    write_others(memories, 45)
    git.commit("memories")
    assert all("whenToUse" in file.read_text() for file in memories.glob("*.md"))
    told = talk("s-1").prompt("show the vat of each order state in the invoice pdf, with the price and the discount")
    texts, pointers = re.findall(r"^<\w+ mem_", told, re.MULTILINE), re.findall(r"other-\d+\.md$", told, re.MULTILINE)
    assert 0 < len(texts) <= MAX_FULL and 0 < len(pointers) <= MAX_POINTERS, told
    assert rawkomem.json("inject", "show the vat in the invoice pdf", "--budget", "60")["tokens"] <= 60
    assert talk("s-2").prompt("ok, thanks!") == ""


@promises(
    "A memory is a file in a commit. Your team reviews it, edits it, merges it and sees who committed or reviewed it.",
    "Markdown files in your repository, committed with git, reviewed in pull requests, and put into the agent's prompt"
    " only when they fit the task.",
)
def test_a_memory_is_a_file_in_a_commit(memories, git, rawkomem):
    write_others(memories, 1)
    git.commit("memories")
    rawkomem("connect", "git")
    git("checkout", "-qb", "agent")
    (memories / "new.md").write_text("---\nid: mem_new\ntitle: Use tabs\nwhenToUse: [tabs]\n---\n\nUse tabs.\n")
    git.commit("a rule", AGENT, "--no-verify")
    assert "Use tabs" in rawkomem("diff", "main").stdout
    git("checkout", "-q", "main")
    (memories / "other-0.md").write_text((memories / "other-0.md").read_text().replace("by the API", "by the API only"))
    git.commit("an edit", PERSON, "--no-verify")
    git("merge", "-q", "--no-verify", "agent", "-m", "merge")
    assert "by the API only" in rawkomem("show", "mem_0000000000000_000000").stdout
    assert "committed by a person" in rawkomem("why", "mem_0000000000000_000000").stdout
    assert "committed by an agent" in rawkomem("why", "mem_new").stdout
    assert "Use tabs" not in rawkomem("inject", "paint the door").stdout


@promises("git merges both without a conflict", "yes, from commits and reviews", "yes, in the file")
def test_two_branches_change_the_same_memory(memories, git, rawkomem):
    write_others(memories, 1)
    git.commit("memories")
    rawkomem("connect", "git")
    for branch, words in (("left", ("--tag", "login")), ("right", ("--importance", "high"))):
        git("checkout", "-qb", branch, "main")
        rawkomem("amend", "mem_0000000000000_000000", *words)
        git.commit(branch, PERSON, "--no-verify")
    git("merge", "-q", "--no-verify", "left", "-m", "merge")
    shown = rawkomem("show", "mem_0000000000000_000000").stdout
    assert "login" in shown and "high" in shown


@promises("notices that cited code changed")
def test_cited_code_changes(project, git, rawkomem):
    (project / "pay.py").write_text("def pay(amount):\n    return amount\n")
    git.commit("code")
    id = rawkomem("add", "--title", "Pay", "--body", "It adds no fee.", "--when", "pay").stdout.split()[1]
    rawkomem("link", "cite", id, "pay.py:1-2")
    git.commit("memory")
    (project / "pay.py").write_text("def pay(amount):\n    return amount * 1.01\n")
    git.commit("fee")
    assert "changed" in rawkomem("inject", "change how we pay").stdout


@promises(
    "You can also store a fact yourself, search for it, and print what an agent would get for a task:",
    "Every command updates the index first;",
)
def test_the_commands_of_the_start(rawkomem, memories):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("```sh\n")[2].split("```")[0].replace("\\\n", " ")
    for line in filter(None, map(str.strip, block.splitlines())):
        done = rawkomem(*shlex.split(line)[1:])
        assert "Why apsw" in done.stdout or "why-apsw.md" in done.stdout, line
    (memories / "by-hand.md").write_text("---\ntitle: Kiwi rule\nwhenToUse: [kiwi]\n---\n\nPeel it.\n")
    assert "Kiwi rule" in rawkomem("search", "kiwi").stdout, "a file that an editor wrote is found at once"


@promises("Run rawkomem without arguments to see the state of the repository and the next useful step.")
def test_without_arguments(rawkomem):
    shown = rawkomem()
    assert "memories" in shown.stdout + shown.stderr and "rawkomem add" in shown.stdout + shown.stderr


@promises("rawkomem uninstall removes everything except your Markdown files.")
def test_uninstall(project, memories, git, rawkomem):
    write_others(memories, 3)
    git.commit("memories")
    rawkomem("connect", "claude")
    rawkomem("connect", "git")
    rawkomem("search", "login")
    rawkomem("uninstall", "--yes")
    kept = [path for path in (project / ".rawko").rglob("*") if path.is_file()]
    assert {path.suffix for path in memories.rglob("*") if path.is_file()} == {".md"}
    assert not (project / ".rawko" / "local").exists() and not (project / ".claude" / "settings.json").exists()
    assert len([path for path in kept if path.suffix == ".md"]) == 3


@promises("It works offline, without a model download, a GPU or a server.")
def test_offline(rawkomem, memories, git):
    write_others(memories, 2)
    if not shutil.which("unshare"):
        pytest.skip("needs unshare")
    words = ["unshare", "-rn", sys.executable, "-m", "rawkomem", "inject", "store the login token"]
    env = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(memories)}
    done = subprocess.run(words, cwd=memories, env=env, capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip("no user namespaces here")
    assert "httpOnly" in done.stdout, done.stderr


@promises("To see which corrections of your own past sessions your memories cover, run rawkomem replay.")
def test_replay(rawkomem, talk, project):
    rawkomem(
        "add", "--title", "Use make suite", "--when", "test|suite", "--body", "Never run bare pytest, use make suite."
    )
    past = talk("s-past")
    past.prompt("run the tests")
    past.answer("I ran pytest.")
    past.prompt(TESTS.said)
    past.answer("Understood.")
    shown = rawkomem("replay", str(past.transcript))
    assert "make suite" in shown.stdout + shown.stderr


SECTIONS = ("## Why", "## Start")
# Sentences of these sections that promise no behavior, or only that of people and other tools.
FORCED = {"tool_name": "Bash", "tool_input": {"command": "git push --force origin main"}}
AGENTS = {
    "claude": claude("PreToolUse", **FORCED),
    "codex": codex("PreToolUse", **FORCED),
    "gemini": gemini("BeforeTool", **{**FORCED, "tool_name": "run_shell_command"}),
    "cursor": cursor("beforeShellExecution", command="git push --force origin main"),
    "copilot": copilot(toolName="bash", toolArgs=json.dumps(FORCED["tool_input"])),
    "opencode": {"session_id": "oc-1", "tool_name": "bash", "tool_input": FORCED["tool_input"]},
}


@promises(
    "rawkomem can also check a rule when an agent runs a command or writes a file. This rule refuses the command in every"
    " connected agent: here as soon as you type it, for your team once you commit it. --guard ask asks you instead, and"
    " without --guard the agent is only reminded ([guards](docs/guards.md)):"
)
@pytest.mark.parametrize(("guard", "answer"), [("deny", "deny"), ("ask", "ask"), ("", "remind")])
@pytest.mark.parametrize("is_typed", [True, False])
def test_a_rule_at_the_moment_when_it_matters(guard, answer, is_typed, hook, person, rawkomem, git, project):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^rawkomem (add .*--guard deny)$", text, flags=re.MULTILINE)
    words = shlex.split(block)[:-2]
    words += ["--guard", guard] if guard else []
    said = person(*words) if is_typed else rawkomem(*words).stderr
    assert ("until a person commits it, it only reminds the agent" in said) == bool(guard and not is_typed)
    earlier = {**AGENTS["claude"], "cwd": str(project), "session_id": "earlier"}
    assert decision(hook("claude", "before-tool", earlier))[0] == (answer if is_typed else "remind")
    git.commit("a rule")
    for host, call in AGENTS.items() if guard == "deny" else [("claude", AGENTS["claude"])]:
        told = decision(hook(host, "before-tool", {**call, "cwd": str(project)}))
        assert told[0] == answer and "Others build on these branches." in told[1], (host, told)


PLAIN = (
    "You need Python 3.11 or newer",
    "Until the first version is published, install it from a checkout of this project;",
    "rawkomem demo shows the main features in half a minute, in a temporary folder.",  # tests/faces/cli/test_first_minutes.py
    "Then work as usual.",
    "When the agent makes a mistake, correct it in your own words.",
    "A search takes about a tenth of a second",  # `make test-time` and bench measure it
    "rawkomem index watch keeps it up to date while you edit.",  # tests/index/test_watch.py
    "| without it | with it |",
)


def test_every_promise_of_why_and_start_has_a_test():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    left = []
    for section in SECTIONS:
        part = text.split(section)[1].split("\n## ")[0]
        part = re.sub(r"```.*?```|!\[.*?\]\(.*?\)|\|---.*\n", " ", part, flags=re.DOTALL)
        cells = [row.strip("| ").rpartition(" | ")[2] for row in part.splitlines() if row.startswith("|")]
        prose = " ".join(line for line in part.splitlines() if not line.startswith("|"))
        for sentence in [*cells, *re.split(r"(?<=[.;:]) +(?=[A-Z`Y])", prose)]:
            said = " ".join(re.sub(r"[*`]", "", sentence).split())
            if said and not any(said in one or one in said for one in (*PROMISED, *PLAIN, "with it")):
                left.append(said)
    assert left == []
