"""From a recorded session to files, and from files into the next prompt. The model, where one is asked, is a real server."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shlex
import sys

import pytest

from rawkomem.files.layout import Layout, user_config
from rawkomem.learn.session.run import Run
from rawkomem.model.entry import Entry
from rawkomem.model.record import replace
from rawkomem.model.task import Task
from rawkomem.recall.show.render import FORMS
from rawkomem.redaction.find import redact
from rawkomem.repository import Repository
from tests.embed.server import Answer, Server
from tests.learn.llm.models import refuses, says, says_json
from tests.learn.llm.test_extraction import ONE
from tests.learn.session.sessions import HOSTS, claude_code, codex, opencode

THREE = {"claude-code": claude_code, "codex": codex, "opencode": opencode}
TITLES = {
    "Use Postgres instead of MySQL",
    "The migration failed because the pgcrypto extension was missing",
    "Use pnpm, not npm",
}


def files(project) -> dict[str, str]:
    return {file.name: file.read_text() for file in (project / ".rawko" / "memories").rglob("*.md")}


def learned(repository, data: bytes) -> list[str]:
    result = repository.learning.learn(io.BytesIO(data), Run())
    return [finding.entry.title for finding in result.news]


# --- offline


@pytest.mark.parametrize("host", THREE)
def test_a_session_becomes_memories_that_the_next_task_gets(host, project, rawkomem):
    (project / "session").write_bytes(THREE[host]())
    told = json.loads(rawkomem("learn", "session", "--json").stdout)
    assert {item["title"] for item in told["learned"]} == TITLES and told["host"] == host
    assert {item["type"] for item in told["learned"]} == {"decision", "insight", "correction"}
    assert all((project / ".rawko" / item["path"]).exists() and item["why"] for item in told["learned"])
    text = rawkomem("inject", "add a postgres index for the invoices").stdout
    assert "We decided to use Postgres instead of MySQL because we need partial indexes." in text
    assert "Oracle" not in "".join(files(project).values()), "tools say nothing that is learned"
    before = files(project)
    again = rawkomem("learn", "session")
    assert files(project) == before and "nothing new to learn" in again.stderr and again.stdout.count("known") == 3


def test_the_same_session_told_by_another_host_adds_nothing(repository):
    assert set(learned(repository, HOSTS["claude-code"]())) == TITLES
    for host in HOSTS:
        assert learned(repository, HOSTS[host]()) == []


def test_what_was_learned_tells_where_it_comes_from(repository):
    repository.learning.learn(io.BytesIO(codex()), Run(task="orders"))
    memory = next(repository.get(row.id) for row in repository.list() if "Postgres" in row.title)
    assert (memory.by, memory.found_in) == ("codex", "orders") and memory.source.startswith("codex session 3f2a9c10")
    assert (
        repository.beliefs.trust(memory).source == "inference"
        and not repository.beliefs.trust(memory).standing.verified
    )


def test_a_dry_run_writes_nothing(project, rawkomem):
    told = rawkomem("learn", "-", "--dry-run", input=HOSTS["markdown"]().decode())
    assert told.stdout.count("would store") == 3 and files(project) == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("host", THREE)
def test_an_injected_block_is_not_learned(form, host, repository):
    """Also not by a repository that never knew the memory: another one's words are not this session's."""
    repository.add(
        Entry(
            title="Use Kafka", when=("kafka",), body="We decided to use Kafka instead of RabbitMQ because of replays."
        )
    )
    block = repository.inject(Task("set up kafka"), form=form).text
    assert "RabbitMQ" in block
    repository.delete("use-kafka")
    data = THREE[host]([("user", f"set up kafka\n\n{block}"), ("assistant", f"I was told:\n\n{block}")])
    result = repository.learning.learn(io.BytesIO(data), Run())
    assert result.news == () and result.known == () and result.heard.counts["injected"] == 2


def test_what_a_person_deleted_is_not_learned_again(repository):
    learned(repository, claude_code())
    repository.delete("use-pnpm-not-npm")
    assert learned(repository, claude_code()) == []


def test_the_same_in_other_words_is_known(repository):
    learned(repository, claude_code())
    said = "We have decided to use Postgres instead of MySQL since we need partial indexes there."
    assert learned(repository, claude_code([("user", said)])) == []
    other = "We decided to use Postgres 16 instead of MySQL because we need partial indexes."
    assert learned(repository, claude_code([("user", other)])) == ["Use Postgres 16 instead of MySQL"], (
        "a number is news"
    )


def test_what_is_said_twice_is_learned_once(repository):
    said = ("user", "No, use pnpm, not npm.")
    filler = [("assistant", f"Step {number} is over.") for number in range(20)]
    assert learned(repository, claude_code([said, *filler, said])) == ["Use pnpm, not npm"]


def test_of_very_many_findings_the_best_are_kept(repository):
    talk = [("user", f"We decided to use library{word} for the {word} service.") for word in map(spelled, range(60))]
    result = repository.learning.learn(io.BytesIO(claude_code(talk)), Run())
    assert len(result.news) == 20 and result.skipped["weaker than the best"] == 40


def spelled(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in hashlib.md5(str(number).encode()).hexdigest() if digit.isdigit())[
        :12
    ]


def secrets() -> list[str]:
    """Thirty made-up secrets in formats that the redaction knows; made here, so that none lies in the repository."""
    dice = random.Random(7)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    def some(count: int, signs: str = letters) -> str:
        return "".join(dice.choice(signs) for _ in range(count))

    made = []
    for number in range(6):
        made += [
            "ghp_" + some(36),
            "AKIA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
            f"kim.{some(6).lower()}@corp{number}.example.org",
        ]
        made += ["xoxb-" + some(12, "0123456789") + "-" + some(12, "0123456789") + "-" + some(24), "glpat-" + some(20)]
    return made


def test_thirty_secrets_leave_none_behind(project, rawkomem):
    made = secrets()
    assert len(made) == 30 and all(secret not in redact(f"We decided to use {secret} for it.") for secret in made)
    talk = [
        ("user", f"We decided to use {secret} for the {spelled(at)} service instead of a vault.")
        for at, secret in enumerate(made)
    ]
    talk += [
        ("assistant", f"The {spelled(at + 99)} job failed because {secret} was revoked; a new key fixed it.")
        for at, secret in enumerate(made)
    ]
    (project / "session.jsonl").write_bytes(claude_code(talk))
    printed = rawkomem("learn", "session.jsonl", "--task", f"rotate {made[0]}", "--error", made[1])
    as_json = rawkomem("learn", "session.jsonl", "--json", "--dry-run")
    rawkomem("sync")
    (project / "session.jsonl").unlink()
    out = printed.stdout + printed.stderr + as_json.stdout + as_json.stderr
    assert out.count("learned  ") >= 10
    data = out.encode() + b"".join(file.read_bytes() for file in (project / ".rawko").rglob("*") if file.is_file())
    assert b"[REDACTED_" in data and [secret for secret in made if secret.encode() in data] == []


# --- the command


@pytest.mark.parametrize(
    ("words", "data", "said"),
    [
        (["learn", "-", "--result", "odd"], "x", "--result"),
        (["learn", "missing.jsonl"], "", "missing.jsonl"),
        (["learn", "-", "--llm"], "x", "no language model is configured"),
        (["learn", "-", "--agent", "a/b"], "User: We decided to use Postgres instead of MySQL.", "invalid characters"),
        (["learn", "-"], "\0\1\2", "binary"),
    ],
)
def test_mistakes_are_told_in_one_line_and_nothing_is_written(words, data, said, project, rawkomem):
    told = rawkomem(*words, input=data, check=2)
    assert said in told.stderr and files(project) == {}


def test_broken_lines_are_told(rawkomem):
    told = rawkomem("learn", "-", input=claude_code().decode() + '{"torn\n')
    assert "records: 1 broken" in told.stderr and told.stdout.count("learned") == 3


def test_below_a_model_that_we_asked_nothing_is_learned(project, rawkomem):
    told = rawkomem("learn", "-", input=claude_code().decode(), env={"RAWKOMEM_LEARNING": "1"})
    assert "nothing is learned" in told.stderr and files(project) == {}


# --- with a model


def configure(provider: str, model: str = "", key: str = "") -> None:
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    with open(user_config(), "w") as stream:
        stream.write(json.dumps({"llm": {"provider": provider, "model": model}, "keys": {"llm": key}}))


@pytest.mark.parametrize(
    "answer", [json.dumps(ONE), f"Here it is:\n```json\n{json.dumps(ONE)}\n```\nBye."], ids=["plain", "prose"]
)
def test_the_model_judges_what_it_is_shown(answer, project, rawkomem):
    with Server(says(answer)) as server:
        configure(server.url, "tiny")
        told = json.loads(rawkomem("learn", "-", "--llm", "--json", input=claude_code().decode()).stdout)
    assert [item["title"] for item in told["learned"]] == ["Use Postgres"] and told["model"].startswith("tiny at")
    assert told["learned"][0]["why"] == "a decision" and told["failure"] == ""
    assert list(files(project)) == ["use-postgres.md"]


def test_existing_memories_are_in_view_and_not_learned_again(project, rawkomem):
    with Server(says_json(ONE)) as server:
        configure(server.url, "tiny")
        rawkomem("learn", "-", "--llm", input=claude_code().decode())
        again = rawkomem("learn", "-", "--llm", input=claude_code().decode())
        assert "- Use Postgres (high)" in str(server.seen[-1][2])
    assert "nothing new" in again.stderr and len(files(project)) == 1


def test_what_the_model_was_not_shown_is_judged_offline(rawkomem):
    long = [("user", "No, use pnpm, not npm."), *[("assistant", f"{number} " + "x" * 6_000) for number in range(4)]]
    with Server(says_json({"shouldCreateMemory": False})) as server:
        configure(server.url, "tiny")
        told = json.loads(rawkomem("learn", "-", "--llm", "--json", input=claude_code(long).decode()).stdout)
    assert [item["title"] for item in told["learned"]] == ["Use pnpm, not npm"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([says('{"shouldCreateMemory": tru')], "no usable answer, twice"),
        ([says("I cannot help with that.")], "no usable answer, twice"),
        ([says("", message={"content": None, "refusal": "I will not do that."})], "the model refused"),
        ([refuses(429, "slow down", **{"Retry-After": "60"})], "answered 429"),
        ([refuses(500, "oops", **{"Retry-After": "60"})], "answered 500"),
    ],
    ids=["broken", "prose", "refusal", "429", "500"],
)
def test_a_model_that_fails_leaves_the_offline_result(answers, said, project, rawkomem):
    with Server(*answers) as server:
        configure(server.url, "tiny")
        told = rawkomem("learn", "-", "--llm", input=claude_code().decode())
    lines = [line for line in told.stderr.splitlines() if "the offline result stands" in line]
    assert len(lines) == 1 and said in lines[0]
    assert told.stdout.count("learned") == 3 and len(files(project)) == 3


def test_a_model_that_takes_too_long_leaves_the_offline_result(project):
    def in_a_hurry(settings):
        return replace(settings, llm=replace(settings.llm, timeout=1.0))

    warnings: list[str] = []
    with Server(Answer({}, delay=3)) as server:
        configure(server.url, "tiny")
        repository = Repository(Layout(str(project / ".rawko")), warnings.append, adjust=in_a_hurry)
        result = repository.learning.learn(io.BytesIO(claude_code()), Run(), ask=True)
    assert "did not answer within 1 s" in result.judged.failure and len(result.stored) == 3


@pytest.mark.parametrize("llm", [{}, {"model": "m", "key": "NOT_SET"}])
def test_a_model_that_cannot_be_opened_leaves_the_offline_result(llm, rawkomem):
    configure("http://localhost:9", **llm)
    told = rawkomem("learn", "-", "--llm", input=claude_code().decode())
    assert "the offline result stands" in told.stderr and told.stdout.count("learned") == 3


def test_a_command_can_be_the_model(project, rawkomem):
    code = f"import sys; assert 'Postgres' in sys.stdin.read(); print({json.dumps(ONE)!r})"
    configure(shlex.join([sys.executable, "-c", code]))
    told = rawkomem("learn", "-", "--llm", input=claude_code().decode())
    assert "learned  decision  Use Postgres" in told.stdout


def test_a_claim_that_contradicts_a_person_waits_for_a_review(repository, project):
    claim = {"subject": "api", "predicate": "timeout", "value": "30 s"}
    answer = {**ONE, "frontmatter": {"claim": {**claim, "value": "90 s"}}, "memoryTitle": "Timeouts are long"}
    with Server(says_json(answer)) as server:
        configure(server.url, "tiny")
        repository.add(Entry(title="Timeout", body="The timeout is 30 s.", extra={"claim": claim}), via="person")
        result = repository.learning.learn(io.BytesIO(claude_code()), Run(), ask=True)
    assert [item.outcome.what for item in result.stored] == ["quarantined"]
    assert len(repository.beliefs.conflicts()) == 1


def test_the_model_never_sees_a_secret(repository):
    made = secrets()
    talk = [("user", f"the key is {secret}") for secret in made]
    with Server(says_json({"shouldCreateMemory": False})) as server:
        configure(server.url, "tiny")
        repository.learning.learn(io.BytesIO(claude_code(talk)), Run(task=made[0], error=made[1]), ask=True)
        sent = json.dumps(server.seen[-1][2])
    assert "[REDACTED_" in sent and not any(secret in sent for secret in made)
