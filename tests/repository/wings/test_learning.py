"""From a recorded session to drafts, and from a request to a memory that the next prompt gets."""

import hashlib
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
from rawkomem.files.layout import Layout, user_config
from rawkomem.files.session_records import DROPPED, DraftRecords, draft_id
from rawkomem.learn.turns import RunFacts
from rawkomem.model.entries import DECISION, Draft, Entry, Task
from rawkomem.recall.render import FORMS
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT, START
from tests.embed.server import Server
from tests.learn.llm.models import refuses, says, says_json
from tests.learn.llm.test_extraction import NOTHING, ONE
from tests.learn.session.sessions import SESSION, claude_code


def files(project) -> dict[str, str]:
    return {file.name: file.read_text() for file in (project / ".rawko" / "memories").rglob("*.md")}


def learned(repository, data: bytes) -> list[str]:
    return sorted(draft.said for draft in repository.learning.learn(io.BytesIO(data), RunFacts()).drafts)


def test_what_a_person_asks_to_remember_is_a_memory_at_once(unbelieved, project, rawkomem, repository):
    asked = "Remember that the staging database is read-only on weekends."
    (project / "session").write_bytes(claude_code([("user", "hello"), ("assistant", "Hello."), ("user", asked)]))
    said = (project / "session").read_bytes().decode()
    (stored,) = repository.learning.learn(said, RunFacts(task="orders"), by_host=True).stored
    memory = repository.get(stored.id)
    assert memory.title == "The staging database is read-only on weekends"
    assert (memory.by, memory.found_in) == ("claude-code", "orders")
    assert memory.source.startswith("claude-code session 3f2a9c10") and memory.extra["quote"] == asked
    trust = repository.beliefs.trust(memory)
    assert trust.source == "user_implicit" and trust.standing.said and not trust.standing.verified
    found = rawkomem("inject", "change a row in the staging database").stdout
    assert "read-only on weekends" in found or "read-only-on-weekends.md" in found  # its text, or a pointer
    assert rawkomem.json("learn", "session")["drafts"] == []


def test_a_program_cannot_claim_that_a_person_said_a_text(unbelieved, project, repository):
    """Only what a transcript of a host shows counts as said."""
    with Repository.open(str(project), via="said") as program:
        opened = program.add("Deploys use the installer.", title="Installer")
        called = program.add("Tests run on Mondays.", title="Mondays", via="said")
    plain = repository.add("The build server has eight cores.", title="Cores")
    standings = [repository.beliefs.trust(repository.get(one.id)) for one in (opened, called, plain)]
    assert [(trust.source, trust.standing.said) for trust in standings] == [("unknown", False)] * 3


def test_what_a_file_says_that_a_person_asked_for_is_only_a_draft(project, rawkomem, repository):
    asked = "Remember that the staging database is read-only on weekends."
    (project / "session").write_bytes(claude_code([("user", asked)]))
    (project / "more").mkdir()
    (project / "more" / "chat.md").write_text("## User\n\nRemember that nobody deploys on Fridays.\n")
    (draft,) = rawkomem.json("learn", "session")["drafts"]
    assert rawkomem("learn", "more").returncode == 0
    assert repository.list() == [] and len(repository.drafts.all()) == 2
    rawkomem("drafts", "keep", draft["id"])
    (row,) = repository.list()
    assert repository.get(row.id).body.strip() == "the staging database is read-only on weekends."


@pytest.mark.parametrize("form", FORMS)
def test_an_injected_block_is_not_learned(form, repository):
    """Also not by a repository that never knew the memory: another one's words are not this session's."""
    body = "We decided to use Kafka instead of RabbitMQ because of replays."
    repository.add(Entry(title="Use Kafka", when=("kafka",), body=body))
    block = repository.inject(Task("set up kafka"), form=form).text
    assert "RabbitMQ" in block
    repository.delete("use-kafka")
    data = claude_code([("user", f"set up kafka\n\n{block}"), ("assistant", f"I was told:\n\n{block}")])
    result = repository.learning.learn(io.BytesIO(data), RunFacts())
    assert result.drafts == () and result.known == () and result.heard.counts["injected"] == 2


def test_what_is_known_is_no_draft(repository):
    said = "We decided to use Postgres instead of MySQL because we need partial indexes."
    stored = repository.add(Entry(title="Use Postgres", body=said))
    result = repository.learning.learn(io.BytesIO(claude_code([("user", "hi"), ("user", said)])), RunFacts())
    assert result.drafts == () and [same for _, same in result.known] == [stored.id]
    repository.delete(stored.id)
    assert learned(repository, claude_code([("user", "hi"), ("user", said)])) == [], "what was deleted stays known"
    other = said.replace("Postgres", "Postgres 16")
    assert learned(repository, claude_code([("user", "hi"), ("user", other)])) == [other], "a number is news"


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


# Learning from old transcripts, file by file and part by part. The model is a real server or a real command
PNPM = {**ONE, "memoryTitle": "Use pnpm", "quote": "use pnpm, not npm", "content": "Packages come by pnpm."}
BOTH = {"shouldCreateMemory": True, "memories": [ONE, PNPM]}
LONG = [("user", f"Take module{number} into account. " + "We go on with it then. " * 290) for number in range(4)]


def configure(provider: str, model: str = "tiny", key: str = "") -> None:
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    with open(user_config(), "w") as stream:
        stream.write(json.dumps({"llm": {"provider": provider, "model": model}, "keys": {"llm": key}}))


def memory_files(project) -> list[str]:
    return [file.name for file in (project / ".rawko" / "memories").rglob("*.md")]


def waiting(project) -> list[Draft]:
    return DraftRecords(Layout(str(project / ".rawko"))).all()


def titles(project) -> set[str]:
    return {draft.title for draft in waiting(project)}


def old_sessions(project, *talks) -> None:
    """Write sessions into a folder, the newest file first."""
    (project / "old" / "sub").mkdir(parents=True)
    for number, talk in enumerate(talks):
        data = claude_code(talk).decode().replace(SESSION, f"session-{number}").replace("2026-", f"202{number}-")
        (project / "old" / "sub" / f"{9 - number}.jsonl").write_text(data)


# --- one session
@pytest.mark.parametrize(
    "answer", [json.dumps(BOTH), f"Here it is:\n```json\n{json.dumps(BOTH)}\n```\nBye."], ids=["plain", "prose"]
)
def test_what_a_model_finds_becomes_drafts_and_no_memory(answer, project, rawkomem):
    with Server(says(answer)) as server:
        configure(server.url)
        told = rawkomem.json("learn", "-", "--llm", input=claude_code().decode())
    assert [item["title"] for item in told["drafts"]] == ["Use Postgres", "Use pnpm"]
    assert told["model"].startswith("tiny at") and told["counts"]["found"] == 2
    assert titles(project) == {"Use Postgres", "Use pnpm"} and memory_files(project) == []
    assert {(draft.session, draft.host) for draft in waiting(project)} == {(SESSION, "claude-code")}


def test_a_made_up_quote_is_dropped_and_counted(project, rawkomem):
    with Server(says_json({**ONE, "quote": "the person never said this"})) as server:
        configure(server.url)
        told = rawkomem("learn", "-", "--llm", input=claude_code().decode())
    assert waiting(project) == [] and "1 no such quote" in told.stderr


def test_the_model_never_sees_a_secret(repository, project):
    made = ["ghp_" + hashlib.sha256(b"a fake").hexdigest()[:36], "kim.k@corp.example.org"]
    (project / "one.jsonl").write_bytes(claude_code([("user", f"the key is {secret}") for secret in made]))
    with Server(says_json(NOTHING)) as server:
        configure(server.url)
        repository.learning.learn_files([str(project / "one.jsonl")], RunFacts(task=made[0], error=made[1]), ask=True)
        sent = json.dumps(server.seen[-1][2])
    assert "[REDACTED_" in sent and not any(secret in sent for secret in made)


def test_a_draft_of_the_same_exchange_gets_the_models_words(repository, project):
    """The draft that was made offline keeps its id, and what was decided stays decided."""
    said = "We decided to use Postgres instead of MySQL because we need partial indexes."
    store = DraftRecords(Layout(str(project / ".rawko")))
    store.put([Draft(draft_id(SESSION, said), DECISION, said, session=SESSION, again=("other",))])
    store.decide(Draft(draft_id(SESSION, PNPM["quote"]), DECISION, session=SESSION), DROPPED)
    (project / "one.jsonl").write_bytes(claude_code())
    with Server(says_json(BOTH)) as server:
        configure(server.url)
        gone = repository.learning.learn_files([str(project / "one.jsonl")], ask=True)
    (draft,) = store.all()
    assert (draft.id, draft.title, draft.again) == (draft_id(SESSION, said), "Use Postgres", ("other",))
    assert gone.drafts == (draft,)


# --- folders
def test_a_folder_oldest_session_first_with_progress(project, rawkomem):
    old_sessions(project, *([("user", f"talk {number}")] for number in range(3)))
    (project / "old" / "notes.md").write_text("Nobody speaks here.")
    (project / "old" / "picture.png").write_bytes(b"\0")
    with Server(says_json(NOTHING)) as server:
        configure(server.url)
        told = rawkomem("learn", "old", "--llm")
        asked = [request["messages"][-1]["content"] for _, _, request in server.seen]
    assert [[n for n in range(3) if f"[PERSON] talk {n}" in prompt] for prompt in asked] == [[0], [1], [2]]
    steps = [line for line in told.stderr.splitlines() if " of 4" in line]
    assert len(steps) == 4 and "file 1 of 4, part 1 of 1: 0 drafts so far" in steps[0] and "9.jsonl" in steps[0]
    assert "4 files read" in told.stderr and "1 files without a person" in told.stderr


RULES = [("assistant", "I ran npm install."), ("user", "No, use pnpm, not npm. Never push to main.")]


def titles_of(told) -> set[str]:
    return {draft["title"] for draft in json.loads(told.stdout)["drafts"]}


def test_what_is_done_is_left_out_and_again_starts_over(project, rawkomem):
    old_sessions(project, LONG[:1], LONG[1:2])
    with Server(says_json(NOTHING)) as server:
        configure(server.url)
        rawkomem("learn", "old", "--llm")
        assert "2 files done before" in rawkomem("learn", "old", "--llm").stderr and len(server.seen) == 2
        rawkomem("learn", "old", "--llm", "--again")
        assert len(server.seen) == 4
        (changed,) = (project / "old").rglob("9.jsonl")
        changed.write_bytes(changed.read_bytes() + claude_code([("user", "one more thing to say")]))
        rawkomem("learn", "old", "--llm")
        assert len(server.seen) == 5


def test_a_chunk_that_fails_is_one_line_and_is_asked_about_again(project, rawkomem):
    old_sessions(project, [*LONG, ("user", "No, use pnpm, not npm.")])
    with Server(says_json(NOTHING), refuses(404), says_json(PNPM)) as server:
        configure(server.url)
        told = rawkomem("learn", "old", "--llm")
        asked = len(server.seen)
        failed = [line for line in told.stderr.splitlines() if "answered 404" in line]
        assert len(failed) == 1 and "part 2 of" in failed[0] and "1 chunks without an answer" in told.stderr
        assert titles(project) == {"Use pnpm"}
        rawkomem("learn", "old", "--llm")
        assert len(server.seen) == asked + 1, "only the part that failed"
        rawkomem("learn", "old", "--llm")
        assert len(server.seen) == asked + 1


def test_without_an_answer_of_the_model_plain_learning_goes_on(project, rawkomem):
    """L8: a dead server gave no drafts, where plain `learn` gives some."""
    old_sessions(project, *([("user", f"talk {number}"), *RULES] for number in range(8)))
    plain = titles_of(rawkomem("learn", "old", "--dry-run", "--json"))
    with Server(refuses(404)) as server:
        configure(server.url)
        told = rawkomem("learn", "old", "--llm", "--json")
        assert len(server.seen) == 3 and titles_of(told) == plain and len(plain) == 2
        assert "plain learning read 8 sessions" in told.stderr and "answered 404" in told.stderr
    with Server(says_json(NOTHING)) as server:
        configure(server.url)
        rawkomem("learn", "old", "--llm")
        assert len(server.seen) == 8


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_goes_on_where_it_stopped(end, project, rawkomem):
    """The command answers once, then waits until it is ended."""
    old_sessions(project, LONG[:1], LONG[1:2], LONG[2:3])
    log = project / "asked"
    script = project / "model.py"
    script.write_text(f"""
import os, pathlib, sys, time
sys.stdin.read()
log, parent = pathlib.Path({str(log)!r}), os.getppid()
log.write_text(log.read_text() + "x" if log.exists() else "x")
while log.read_text() == "xx" and os.getppid() == parent:
    time.sleep(0.02)
print({json.dumps(NOTHING)!r})
""")
    configure(shlex.join([sys.executable, str(script)]), "")
    process = subprocess.Popen([*START, "learn", "old", "--llm"], cwd=project, env=ENVIRONMENT, stderr=subprocess.PIPE)
    while not log.exists() or log.read_text() != "xx":
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(end)
    errors = process.communicate(timeout=60)[1].decode()
    if end == signal.SIGINT:
        assert (
            process.returncode == 130
            and "run the same command again to continue" in errors
            and "Traceback" not in errors
        )
    told = rawkomem("learn", "old", "--llm")
    assert "1 files done before" in told.stderr and "2 files read" in told.stderr and log.read_text() == "xxxx"


@pytest.mark.parametrize("llm", [{"model": ""}, {"key": "NOT_SET"}])
def test_a_model_that_cannot_be_opened_is_an_error(llm, rawkomem):
    configure("http://localhost:9", **llm)
    assert rawkomem("learn", "-", "--llm", input=claude_code().decode(), check=1).stderr.count("\n") == 1
