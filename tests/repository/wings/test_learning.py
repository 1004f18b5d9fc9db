"""From a recorded session to drafts, and from a request to a memory that the next prompt gets."""

import hashlib
import io
import json
import random

import pytest
from rawkomem.learn.turns import Run
from rawkomem.model.entries import Entry, Task
from rawkomem.recall.render import FORMS
from rawkomem.redaction.find import redact

from tests.learn.session.sessions import claude_code


def files(project) -> dict[str, str]:
    return {file.name: file.read_text() for file in (project / ".rawko" / "memories").rglob("*.md")}


def learned(repository, data: bytes) -> list[str]:
    return sorted(draft.said for draft in repository.learning.learn(io.BytesIO(data), Run()).drafts)


def test_what_a_person_asks_to_remember_is_a_memory_at_once(project, rawkomem, repository):
    asked = "Remember that the staging database is read-only on weekends."
    (project / "session").write_bytes(claude_code([("user", "hello"), ("assistant", "Hello."), ("user", asked)]))
    (stored,) = repository.learning.learn((project / "session").read_bytes().decode(), Run(task="orders")).stored
    memory = repository.get(stored.id)
    assert memory.title == "The staging database is read-only on weekends"
    assert (memory.by, memory.found_in) == ("claude-code", "orders")
    assert memory.source.startswith("claude-code session 3f2a9c10") and memory.extra["quote"] == asked
    trust = repository.beliefs.trust(memory)
    assert trust.source == "user_implicit" and trust.standing.said and not trust.standing.verified
    found = rawkomem("inject", "change a row in the staging database").stdout
    assert "read-only on weekends" in found or "read-only-on-weekends.md" in found  # its text, or a pointer
    assert json.loads(rawkomem("learn", "session", "--json").stdout)["stored"] == []


def test_a_transcript_that_an_agent_hands_over_is_the_agents_word(project, rawkomem, repository):
    asked = "Remember that the staging database is read-only on weekends."
    (project / "session").write_bytes(claude_code([("user", asked)]))
    told = json.loads(rawkomem("learn", "session", "--json").stdout)
    assert repository.beliefs.trust(repository.get(told["stored"][0]["id"])).source == "inference"


@pytest.mark.parametrize("form", FORMS)
def test_an_injected_block_is_not_learned(form, repository):
    """Also not by a repository that never knew the memory: another one's words are not this session's."""
    body = "We decided to use Kafka instead of RabbitMQ because of replays."
    repository.add(Entry(title="Use Kafka", when=("kafka",), body=body))
    block = repository.inject(Task("set up kafka"), form=form).text
    assert "RabbitMQ" in block
    repository.delete("use-kafka")
    data = claude_code([("user", f"set up kafka\n\n{block}"), ("assistant", f"I was told:\n\n{block}")])
    result = repository.learning.learn(io.BytesIO(data), Run())
    assert result.drafts == () and result.known == () and result.heard.counts["injected"] == 2


def test_what_is_known_is_no_draft(repository):
    said = "We decided to use Postgres instead of MySQL because we need partial indexes."
    stored = repository.add(Entry(title="Use Postgres", body=said))
    result = repository.learning.learn(io.BytesIO(claude_code([("user", "hi"), ("user", said)])), Run())
    assert result.drafts == () and [same for _, same in result.known] == [stored.id]
    repository.delete(stored.id)
    assert learned(repository, claude_code([("user", "hi"), ("user", said)])) == [], "what was deleted stays known"
    other = said.replace("Postgres", "Postgres 16")
    assert learned(repository, claude_code([("user", "hi"), ("user", other)])) == [other], "a number is news"


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
    (project / "session.jsonl").write_bytes(claude_code(talk))
    printed = rawkomem("learn", "session.jsonl", "--task", f"rotate {made[0]}", "--error", made[1])
    as_json = rawkomem("learn", "session.jsonl", "--json", "--dry-run")
    rawkomem("sync")
    (project / "session.jsonl").unlink()
    out = printed.stdout + printed.stderr + as_json.stdout + as_json.stderr
    assert out.count("draft  ") >= 5
    data = out.encode() + b"".join(file.read_bytes() for file in (project / ".rawko").rglob("*") if file.is_file())
    assert b"[REDACTED_" in data and [secret for secret in made if secret.encode() in data] == []


# --- the command


@pytest.mark.parametrize(
    ("words", "data", "said"),
    [
        (["learn", "-", "--result", "odd"], "x", "--result"),
        (["learn", "missing.jsonl"], "", "missing.jsonl"),
        (["learn", "-", "--llm"], "x", "no language model is configured"),
        (["learn", "-"], "\0\1\2", "binary"),
    ],
)
def test_mistakes_are_told_in_one_line_and_nothing_is_written(words, data, said, project, rawkomem):
    told = rawkomem(*words, input=data, check=2)
    assert said in told.stderr and files(project) == {}


def test_below_a_model_that_we_asked_nothing_is_learned(project, rawkomem):
    told = rawkomem("learn", "-", input=claude_code().decode(), env={"RAWKOMEM_LEARNING": "1"})
    assert "nothing is learned" in told.stderr and files(project) == {}


def test_a_text_without_speakers_is_nobodys_word(rawkomem):
    told = rawkomem("learn", "-", input="We decided to use Postgres instead of MySQL.")
    assert "no line names its speaker" in told.stderr and told.stdout == ""
    long = rawkomem("learn", "-", input="We decided to use Postgres instead of MySQL. " * 600)
    assert "no speakers found" in long.stderr
