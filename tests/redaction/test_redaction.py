"""Thirty secrets through every door: none of them in a file, in the index, in what is kept beside it, or in an answer."""

import json
import re
from base64 import b64decode
from pathlib import Path

import pytest
from rawkomem.bench.secrets import measure_secrets, read_corpus
from rawkomem.files.layout import user_config
from rawkomem.model.entries import Entry, Plan, Task
from rawkomem.model.values import replace
from rawkomem.redaction.anonymize import user_id
from rawkomem.redaction.rules import RULES

from tests.conftest import ROOT, SAMPLES

SAMPLE = SAMPLES / "secrets.json"


def secrets() -> list[str]:
    """Thirty fakes that need no surroundings to be known: keys of providers, and personal data."""
    rows = json.loads(SAMPLE.read_text(encoding="utf-8"))
    texts = [
        b64decode(row["text_b64"]).decode()
        for row in rows
        if row["kind"].startswith(("secret:", "pii:email", "pii:iban"))
    ]
    alone = [text for text in texts if len(text.split()) == 1 and "<" not in text and "`" not in text]
    known = list(dict.fromkeys(text.strip("_*") for text in alone))
    return [*known[:29], "ada.lovelace@engine.example"]


SECRETS = secrets()
NAME = re.compile(r"[A-Za-z0-9_.@-]{1,64}")  # who may have found something


def everywhere(text: str) -> Entry:
    """An entry that says a text in every field."""
    return Entry(
        title=f"Key {text}", when=(f"When using {text}",), tags=(text,) if len(text) <= 100 else (), by=text if NAME.fullmatch(text) else "", found_in=f"task {text}", source=f"file {text}",
        extra={"note": text, "deep": {"list": [text, {"x": f"see {text}"}]}}, body=f"The key is {text}, see `{text}`.",
    )  # fmt: skip


def held(folder: Path) -> list[str]:
    """Which secrets stand in any file below a folder, byte by byte, names of files included."""
    data = b"\n".join([path.name.encode() + b"\n" + path.read_bytes() for path in folder.rglob("*") if path.is_file()])
    return [secret for secret in SECRETS if secret.encode() in data]


@pytest.fixture
def told(repository):
    """What a repository was told with thirty secrets, by every way of writing."""
    written = repository.add_many([everywhere(secret) for secret in SECRETS])
    first = [item.written[0].entry for item in written]
    for number, secret in enumerate(SECRETS[:6]):
        name = first[number].id
        repository.amend(name, replace(everywhere(secret), title="", tags=(), by="agent"))
        repository.feedback(name, "helpful", f"it was {secret}", "agent")
        repository.beliefs.reinforce(name, f"it was {secret}", "agent")
        repository.beliefs.dispute(name, f"it was {secret}", "agent")
        repository.beliefs.validity(name, "2026-01-01", "", f"since {secret}", "agent")
    repository.graph.link(first[0].id, first[1].id, "related", "agent")
    repository.beliefs.quarantine(first[2].id, SECRETS[2])
    repository.beliefs.review(first[2].id, "activate", reason=SECRETS[2])
    repository.beliefs.archive(first[3].id, SECRETS[3])
    repository.beliefs.supersede(first[4].id, first[5].id, SECRETS[4])
    repository.delete(first[6].id, SECRETS[6])
    repository.add(everywhere(SECRETS[7]), evolve=True)
    repository.core.write(
        Plan((replace(everywhere(SECRETS[8]), kind="trace", id="trace-1-abcdef", at=1),), SECRETS[8]), via="distilled"
    )
    repository.episodes.create(f"About {SECRETS[9]}", [first[10].id, first[11].id])
    return first


def test_every_sample_is_a_secret_by_itself():
    assert len(SECRETS) == 30
    assert held_in("\n".join(SECRETS)) == SECRETS


def held_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


def test_no_secret_gets_into_files_or_index(repository, told):
    for secret in SECRETS:
        repository.search(secret)
        repository.inject(Task(f"rotate {secret}"))
    repository.sync()
    repository.close()
    assert held(Path(repository.layout.root)) == []


def test_no_secret_gets_out_of_files_that_people_wrote(project, memories, rawkomem):
    for number, secret in enumerate(SECRETS):
        front = f"title: Key {secret}\nwhenToUse: [rotate the key {number}]\ntags: ['{secret}']\nsource: '{secret}'\n"
        (memories / f"hand-{number}.md").write_text(
            f"---\n{front}---\n\nThe rotation key is {secret} here.\n", encoding="utf-8"
        )
    said = [
        rawkomem(*words).stdout
        for words in (
            ("search", "rotation key"), ("search", "rotation key", "--json"), ("inject", "rotate the key 3"), ("list", "--json"),
            ("inject", "rotate the key 5", "--format", "json"), ("show", "hand-1"), ("show", "hand-1", "--json"), ("history", "hand-2"),
            ("context", "rotation key"), ("why", "hand-3", "rotate the key 3"), ("explain", "hand-4"), ("check",), ("check", "--json"),
            ("stats",), ("link", "graph"), ("link", "entities"),
        )
    ]  # fmt: skip
    assert held_in("\n".join(said)) == []
    assert "[REDACTED_" in "\n".join(said)
    assert held(project / ".rawko" / "local") == []


def test_check_names_the_line_and_never_the_secret(memories, rawkomem):
    (memories / "hand.md").write_text(
        f"---\ntitle: Hand\nsource: {SECRETS[0]}\n---\n\nFine.\n\nMail ada@engine.example\nor {SECRETS[1]}\n",
        encoding="utf-8",
    )
    problems = json.loads(rawkomem("check", "--json").stdout)[0]["problems"]
    told = {
        (problem["line"], problem["level"])
        for problem in problems
        if "secret" in problem["message"] or "personal" in problem["message"]
    }
    assert told == {(3, "warning"), (8, "style"), (9, "warning")}


def test_scrub_command(rawkomem):
    text = f"first\nkey {SECRETS[0]} here\nmail ada@engine.example\n"
    done = rawkomem("scrub", input=text)
    assert done.stdout.startswith("first\nkey [REDACTED_") and done.stdout.endswith("mail [REDACTED_EMAIL]\n")
    answer = json.loads(rawkomem("scrub", "--json", input=text).stdout)
    assert answer["text"] == done.stdout
    assert [(row["line"], row["column"], row["pii"]) for row in answer["findings"]] == [(2, 5, False), (3, 6, True)]
    assert held_in(repr(answer) + done.stdout + done.stderr) == []


def test_our_own_sample():
    figures = measure_secrets(read_corpus(str(SAMPLE)))
    assert (figures.secret_recall, figures.personal_recall, figures.false_positives) == (1, 1, 0)
    assert (figures.spans_removed, figures.pem_whole, figures.idempotent) == (1, 1, 1)
    assert figures.secrets > 100 and figures.personal > 20 and figures.benign > 35 and figures.pem_blocks == 3


def test_an_error_quotes_no_secret(rawkomem):
    key = next(secret for secret in SECRETS if len(secret) < 50)
    done = rawkomem("add", "--title", "x", "--by", f"{key} ~", input="body", check=None)
    assert done.returncode and "[REDACTED_" in done.stderr and held_in(done.stderr) == []


def test_recorded_and_distilled_entries_name_nobody(repository, git, monkeypatch):
    monkeypatch.setenv("USER", "ada")
    git("config", "user.name", "Ada Lovelace")
    git("config", "user.email", "ada@engine.example")
    ada, said = user_id("ada@engine.example"), "Ada Lovelace ran /home/ada/run.sh"
    recorded = repository.add(Entry(kind="trace", title="Trace", body=said, by="ada")).entry
    distilled = repository.add(Entry(title="Distilled", body=said), via="distilled").entry
    typed = repository.add(Entry(title="Typed", body=said, by="ada"), via="person").entry
    assert recorded.body == distilled.body == f"{ada} ran ~/run.sh" and recorded.by == ada
    assert (typed.body, typed.by) == (said, "ada")
    assert "Lovelace" not in Path(repository.layout.path(recorded.path)).read_text(encoding="utf-8")


def test_more_names_come_from_the_users_own_config(repository):
    config = Path(user_config())
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("privacy:\n  names: [Grace Hopper, bob.builder]\n", encoding="utf-8")
    written = repository.add(Entry(title="Distilled", body="Grace Hopper and bob.builder"), via="distilled").entry
    assert written.body == f"{user_id('Grace Hopper')} and {user_id('bob.builder')}"


def test_every_rule_is_documented():
    page = (ROOT / "docs" / "redaction.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", page))
    table = json.loads((ROOT / "rawkomem" / "redaction" / "rules.json").read_text(encoding="utf-8"))
    rows = {row["name"] for part in ("prefixed", "shaped") for row in table[part]}
    assert "rawkomem/redaction/rules.json" in page and [name for name in RULES if name not in words | rows] == []
