"""A text is redacted before anything is derived from it: no part of a secret is stored, indexed or printed."""

import re
import sqlite3
from pathlib import Path

import pytest
from rawkomem.faces.mcp.tools import VERBS, Caller
from rawkomem.hosts.hook_sessions import note_typed
from rawkomem.hosts.known_hosts import Call
from rawkomem.model.entries import Draft, Entry, Task
from rawkomem.model.errors import RawkoError

from tests.commands import in_slow_lane
from tests.learn.session.sessions import claude_code
from tests.redaction.test_redact import KEYS, TOKEN

PASSWORD = "Sup3rS3cretPw" + "9Quartz7"
SECRETS = {
    "github": KEYS["github-token"],
    "slack": KEYS["slack-token"],
    "jwt": KEYS["jwt"],
    "typed": f'const API_TOKEN: string = "{TOKEN}";',
    "define": f'#define API_KEY "{TOKEN}"',
    "address": f"postgres://admin:{PASSWORD}@db.internal/prod",
    "assigned": f'password = "{PASSWORD}"',
}
VALUES = {**SECRETS, **dict.fromkeys(("typed", "define"), TOKEN), **dict.fromkeys(("address", "assigned"), PASSWORD)}
MIN_PART_LENGTH = 8


def parts(name: str) -> list[bytes]:
    """The parts of a secret that a change of its case or its separators leaves."""
    return [part.encode() for part in re.split("[^0-9a-z]+", VALUES[name].lower()) if len(part) >= MIN_PART_LENGTH]


def left(name: str, folder: Path, said: str = "") -> list[str]:
    """Where a part of a secret is: the files below a folder, their names included, and "said"."""
    places = {str(path): path.name.encode() + path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = {**places, "said": said.encode()}
    return [place for place, data in found.items() if any(part in data.lower() for part in parts(name))]


USUAL = ("jwt", "typed", "address")  # known by its own form and long, by its name, by its place


@pytest.fixture(params=[*USUAL, *in_slow_lane(name for name in SECRETS if name not in USUAL)])
def secret(request):
    return request.param


def test_the_parts_are_recognized(tmp_path, secret):
    assert parts(secret)
    (tmp_path / "note.md").write_text(f"when working with {VALUES[secret].upper()}")
    assert left(secret, tmp_path, VALUES[secret].swapcase()) == [str(tmp_path / "note.md"), "said"]


def test_commands(project, rawkomem, repository, secret):
    text = SECRETS[secret]
    decided = ("user", f"We decided to use {text} for the nightly builds instead of a vault.")
    (project / "session.jsonl").write_bytes(claude_code([decided]))
    long = (
        f"Nightly builds of the robot account in the staging cluster use the following value for all jobs: {text} and"
    )
    lines = [
        ("add", f"Use {text} for nightly builds of the robot"),
        ("add", f"Use {text} for nightly builds."),
        ("add", f"Run the tests with {text}"),
        ("add", long),
        ("add", "The robot uses it.", "--title", f"Robot token {text} for builds"),
        ("add", "--body", f"# Robot {text}\n\nThe robot uses it."),
        ("add", "Body.", "--title", "Conditions", "--when", f"deploy with {text}", "--tag", "robot", "--anyway"),
        ("add", "Body.", "--title", "Sources", "--source", f"from {text}", "--found-in", f"task {text}", "--by", "bot"),
        ("add", "Body.", "--title", "Quotes", "--quote", f"always use {text} for the nightly builds"),
        ("amend", "Conditions", "--title", f"Other {text}", "--when", f"release with {text}", "--anyway"),
        ("feedback", "Sources", "helpful", "--reason", f"it was {text}"),
        ("supersede", "--text", f"{text} is the new robot token of the nightly builds"),
        ("supersede", "--text", long),
        ("lesson", "add", "--situation", text, "--error-pattern", f"robot_{text}", "--oversight", text, "--fix", text,
         "--rule", f"Never use {text}", "--severity", "high", "--scope", f"builds with {text}"),
        ("trace", "add", "--goal", f"Deploy with {text}", "--plan", text, "--agent", "bot", "--learning", text),
        ("learn", "session.jsonl", "--task", f"rotate {text}", "--error", text),
        ("drafts", "--more"),
        ("inject", f"nightly builds with {text}", "--session", "s1"),
        ("search", f"nightly {text}"),
        ("context", f"deploy {text}"),
        ("index", "rebuild"),
    ]  # fmt: skip
    said = []
    for words in lines:
        done = rawkomem(*words, check=None)
        said.append(done.stdout + done.stderr)
        assert left(secret, project / ".rawko", said[-1]) == [], words
    assert any("redacted" in one for one in said)
    assert [draft for draft in repository.drafts.all() if "[REDACTED_" in draft.text]


def test_proposed_conditions_name_no_tag(rawkomem, repository):
    rawkomem("add", "It is for builds.", "--title", f"Robot account {SECRETS['github']} for nightly builds")
    (memory,) = (repository.get(row.id) for row in repository.list())
    assert memory.when and not any("redacted" in condition.lower() for condition in memory.when)


def test_a_title_that_is_only_a_secret_proposes_no_condition(rawkomem, repository):
    rawkomem("add", SECRETS["github"])
    (memory,) = (repository.get(row.id) for row in repository.list())
    assert (memory.title, memory.when) == ("[REDACTED_GITHUB_TOKEN]", ())


def test_library(project, repository, secret):
    text = SECRETS[secret]
    first = repository.add(f"{'The nightly builds of the robot account use this very long value: ' * 1}{text} and more")
    second = repository.add("Body.", title=f"Key {text}", when=[f"deploy with {text}"], tags=["robot"], source=text)
    assert first.redacted and second.redacted
    assert repository.amend(second.id, title=f"Other {text}", body=text).redacted
    repository.add(Entry(title=f"Claim {text}", extra={"claim": {"subject": text, "predicate": "uses", "value": text}}))
    repository.traces.add(f"Deploy {text}", tools=(text,), learnings=(text,), agent="bot")
    repository.inject(Task(f"deploy with {text}", "developer", "s1"))
    repository.prompt_for(f"deploy with {text}", "You are careful.")
    repository.drafts.store.put([Draft("drf_1", "rule", "always use the robot", title="Robot", text="Use it.")])
    repository.drafts.edit("drf_1", f"Robot {text}", f"Use {text}.", [f"deploy with {text}"])
    assert left(secret, project / ".rawko", str(repository.warnings)) == []


def test_tools_of_the_mcp_server(project, repository, secret):
    text, caller = SECRETS[secret], Caller("tester", "s1")
    calls = [
        ("remember", {"title": f"Robot token {text} for builds", "text": "The robot account uses it."}),
        ("remember", {"title": "Robot builds", "text": f"Use {text} for nightly builds.", "reason": text}),
        ("remember", {"title": "Robot quote", "text": "Use it.", "quote": f"always use {text} for all nightly builds"}),
        ("remember", {"title": "Robot lists", "text": "x", "when": [f"builds of {text}"], "entities": [text]}),
        ("recall", {"task": f"deploy with {text}"}),
        ("search", {"query": f"deploy with {text}"}),
        ("brief", {"goal": f"deploy with {text}"}),
    ]  # fmt: skip
    for verb, given in calls:
        try:
            said = VERBS[verb].does(repository, caller, **given)
        except RawkoError as failure:
            said = failure.in_full
        assert left(secret, project / ".rawko", said) == [], verb


def test_prompts(project, repository, secret):
    call = Call(
        "claude", "prompt", {}, session="s1", prompt=f"Remember that staging uses {SECRETS[secret]} in client.ts"
    )
    note_typed(repository.layout, call)
    repository.close()
    assert left(secret, project / ".rawko") == []
    (file,) = (project / ".rawko" / "local").glob("local-*.db")
    rows = sqlite3.connect(file).execute("SELECT text FROM prompts").fetchall()
    assert len(rows) == 1 and "[REDACTED_" in rows[0][0]


def test_imports(project, rawkomem, secret):
    text = SECRETS[secret]
    long = "The nightly builds of the robot account in the staging cluster use the following value in all their jobs"
    rule = "Sign every release of the staging cluster with the robot account, because the mirror rejects others"
    (project / "CLAUDE.md").write_text(
        f"# Rules\n\n## Robot {text}\n\n{rule}: {text}.\n\n## {long} {text}\n\n{rule}.\n"
    )
    (project / ".cursor" / "rules").mkdir(parents=True)
    (project / ".cursor" / "rules" / "robot.mdc").write_text(
        f"---\ndescription: Use when you deploy the robot with '{text}'. Use when you sign.\n---\n\nAsk before you deploy: {text}\n"
    )
    for place in ("CLAUDE.md", ".cursor/rules"):
        done = rawkomem("import", place)
        assert left(secret, project / ".rawko", done.stdout + done.stderr) == []
        assert "redacted in" in done.stdout + done.stderr and " 0 added" not in done.stderr


def test_a_quote_with_a_secret_is_found_in_the_prompt(project, repository):
    quote = f"always deploy the robot with {SECRETS['github']} on Fridays"
    note_typed(repository.layout, Call("claude", "prompt", {}, session="s1", prompt=quote))
    entry = Entry(title="Deploy the robot on Fridays", body=quote)
    assert repository.learning.remember(entry, quote).what == "stored"
    assert left("github", project / ".rawko") == []
