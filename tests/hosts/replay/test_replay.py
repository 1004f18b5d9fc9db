"""`rawkomem replay`: what past sessions would be given now, and which corrections a memory covers."""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from rawkomem.files.session_records import note_use
from rawkomem.hosts.replay import COVERED, IGNORED, MISSING, SILENT, TITLED, find_sessions, read_past, replay
from rawkomem.model.entries import Entry
from rawkomem.model.values import replace
from rawkomem.repository import Repository
from tools.measure_replay import measure_replay

from tests.conftest import ROOT
from tests.learn.session.sessions import HOSTS, claude_code, jsonl

SAMPLE = ROOT / "tests" / "data" / "sessions" / "real-sessions.json"
PNPM = Entry(title="Use pnpm", when=("npm|pnpm",), body="Use pnpm for packages, not npm: the lock file is pnpm's.")
TALK = [
    ("user", "install left-pad with npm"),
    ("assistant", "I ran npm install left-pad; it changed package-lock.json."),
    ("user", "No, use pnpm for packages, not npm."),
    ("assistant", "Done with pnpm."),
    ("user", "thanks, now write the release notes"),
]


@pytest.fixture(autouse=True)
def no_hosts(monkeypatch, tmp_path_factory):
    """No session of this machine is found."""
    home = tmp_path_factory.mktemp("hosts")
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def session(tmp_path_factory):
    """The transcript of a session in which a person corrects the agent."""
    file = tmp_path_factory.mktemp("sessions") / "one.jsonl"
    file.write_bytes(claude_code(TALK))
    return file


def replayed(repository, file):
    (past,) = read_past(str(file))
    return replay(repository, past)


def files_of(folder) -> dict[str, bytes]:
    """All files of the repository but the index and the table of acts, which a search may bring up to date."""
    files = [file for file in (folder / ".rawko").rglob("*") if file.is_file()]
    derived = ("index", "acts-", "-shm")
    found = (file for file in files if not any(one in file.name for one in derived))
    return {str(file): file.read_bytes() for file in found}


def test_a_memory_that_is_injected_in_time_covers_a_correction(repository, session):
    memory = repository.add(PNPM)
    told = replayed(repository, session)
    assert [[one.id for one in answer.memories] for answer in told.answers] == [[memory.id], [], []]  # told once
    (correction,) = told.corrections
    assert (correction.draft.said, correction.prompt) == ("No, use pnpm for packages, not npm.", 2)
    assert (correction.verdict, correction.memory.id, correction.since) == (COVERED, memory.id, 1)


def ran(command: str) -> bytes:
    """A call of Claude Code's tool that runs a command, as its transcript records it."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
    return jsonl([{"type": "assistant", "uuid": "c", "message": {"role": "assistant", "content": [call]}}])


@pytest.mark.parametrize(("command", "verdict"), [("cd web && npm install left-pad", COVERED), ("echo npm", TITLED)])
def test_a_guard_at_the_act_that_was_wrong_covers_a_correction(repository, tmp_path, command, verdict):
    """No prompt before the correction names what the memory is about; the command does."""
    extra = {"appliesTo": {"commands": ["npm*"]}}
    memory = repository.add(Entry(title="Use pnpm", body=PNPM.body, when=("pnpm",), extra=extra))
    file = tmp_path / "act.jsonl"
    talk = [("user", "make the page faster"), *TALK[1:]]
    file.write_bytes(claude_code(talk[:1]) + ran(command) + claude_code(talk[1:]))
    (correction,) = replayed(repository, file).corrections
    assert (correction.verdict, correction.memory.id) == (verdict, memory.id)
    assert correction.act == (command if verdict == COVERED else "")


@pytest.mark.parametrize(("command", "verdict"), [("Bash(git add -A)…", COVERED), ("Bash(git add a.py)…", MISSING)])
def test_a_correction_of_an_act_to_which_a_memory_applies_needs_few_words_in_common(
    command, verdict, repository, tmp_path
):
    """The transcript was copied from a terminal, and the agent ran another form of the forbidden command."""
    extra = {"appliesTo": {"commands": ["git add ."]}}
    repository.add(
        Entry(
            title="Staging",
            body="No `git add .`: unstaged diaries, recordings, drafts and photos of Ann lie around.",
            extra=extra,
        )
    )
    file = tmp_path / "act.jsonl"
    no = "No, I didn't mean to commit the book scripts; unstaged files, added with `git add -A`, are a recurring failure."
    file.write_bytes(claude_code([("user", "finish the story")]) + ran(command) + claude_code([("user", no)]))
    (correction,) = replayed(repository, file).corrections
    assert (correction.verdict, correction.act) == (verdict, "git add -A" if verdict == COVERED else "")


def test_a_rule_that_always_applies_is_there_before_any_correction(repository, tmp_path):
    memory = repository.add(Entry(title="Packages", body=PNPM.body, extra={"alwaysApply": "true"}))
    file = tmp_path / "always.jsonl"
    file.write_bytes(claude_code([("user", "make the page faster"), *TALK[1:]]))
    (correction,) = replayed(repository, file).corrections
    assert (correction.verdict, correction.memory.id, correction.since) == (COVERED, memory.id, 0)


def test_a_correction_after_the_agent_had_the_memory_was_not_prevented(repository, session):
    """The session received the memory with its first prompt, and the person had to correct all the same."""
    memory = repository.add(PNPM)
    (past,) = read_past(str(session))
    (correction,) = replay(repository, past).corrections
    note_use(repository.layout, correction.draft.at - 1, past.session, 10, [memory.id])
    (correction,) = replay(repository, past).corrections
    assert (correction.verdict, correction.memory.id) == (IGNORED, memory.id)


def test_a_memory_that_says_so_and_is_not_injected_is_told_apart(repository, session):
    """With this setting no memory is sure enough to be injected."""
    repository.add(Entry(title="Packages", body=PNPM.body))
    own = Path(os.environ["XDG_CONFIG_HOME"], "rawkomem", "config.yaml")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("minConfidence: 1\n")
    with Repository.open(repository.layout.project) as strict:
        told = replayed(strict, session)
    assert not any(answer.memories for answer in told.answers)
    assert [one.verdict for one in told.corrections] == [TITLED]


@pytest.mark.parametrize(("kind", "verdict"), [("memory", TITLED), ("skill", SILENT)])
def test_a_memory_that_comes_only_with_the_correction_prevents_nothing(kind, verdict, repository, tmp_path):
    """The prompt that corrects names what the memory is about; the session started with the titles of memories."""
    memory = repository.add(replace(PNPM, kind=kind))
    file = tmp_path / "late.jsonl"
    file.write_bytes(claude_code([("user", "make the page faster"), *TALK[1:]]))
    told = replayed(repository, file)
    assert [[one.id for one in answer.memories] for answer in told.answers] == [[], [memory.id], []]
    assert [(one.verdict, one.memory.id, one.since) for one in told.corrections] == [(verdict, memory.id, 0)]


@pytest.mark.parametrize(
    "body",
    ["Release notes list each change with its author.", "Use npm for packages, not pnpm."],
    ids=["another subject", "the contrary"],
)
def test_a_memory_that_says_something_else_covers_nothing(repository, session, body):
    repository.add(Entry(title=body.partition(".")[0], when=("npm|pnpm",), body=body))
    (correction,) = replayed(repository, session).corrections
    assert (correction.verdict, correction.memory) == (MISSING, None)


def test_nothing_is_counted_noted_or_logged(repository, project, session, rawkomem):
    repository.add(PNPM)
    repository.sync()
    before = files_of(project)
    rawkomem("replay", str(session))
    assert files_of(project) == before


def test_a_compacted_session_is_told_again(repository, tmp_path):
    summary = {"type": "user", "uuid": "s", "isCompactSummary": True, "message": {
        "role": "user", "content": "This session is being continued from a previous conversation. We work with npm."}}  # fmt: skip
    lines = [*claude_code(TALK[:2]).splitlines(), json.dumps(summary).encode()]
    file = tmp_path / "compacted.jsonl"
    file.write_bytes(b"\n".join([*lines, *claude_code([("user", "update left-pad with npm")]).splitlines()]) + b"\n")
    memory = repository.add(PNPM)
    told = replayed(repository, file)
    assert [[one.id for one in answer.memories] for answer in told.answers] == [[memory.id], [memory.id]]


@pytest.mark.parametrize("write", HOSTS.values(), ids=HOSTS)
def test_each_prompt_sees_what_came_before_it_and_no_more(write, tmp_path):
    file = tmp_path / "session"
    file.write_bytes(write(TALK))
    (past,) = read_past(str(file))
    assert [moment.prompt for moment in past.moments] == [text for role, text in TALK if role == "user"]
    first, second, third = (str(past.before(moment)) for moment in past.moments)
    assert "left-pad" not in first
    assert "package-lock.json" in second and "No, use pnpm" not in second
    assert "Done with pnpm" in third and "release notes" not in third


def test_the_sessions_of_a_project_are_found(repository, project, no_hosts):
    root = os.path.realpath(project)
    dashed = "".join(c if c.isalnum() and c.isascii() else "-" for c in root)
    meta = {"type": "session_meta", "payload": {"id": "c", "cwd": root}}
    elsewhere = {"type": "session_meta", "payload": {"id": "d", "cwd": root + "-other"}}
    kept = {
        no_hosts / ".claude/projects" / dashed / "a.jsonl": claude_code(TALK),
        no_hosts / ".claude/projects/-other/b.jsonl": None,
        no_hosts / ".codex/sessions/2026/08/10/rollout-1.jsonl": jsonl([meta]),
        no_hosts / ".codex/sessions/2026/08/10/rollout-2.jsonl": jsonl([elsewhere]),
        no_hosts / ".gemini/tmp" / sha256(root.encode()).hexdigest() / "chats/g.json": b"{}",
        no_hosts / ".gemini/tmp/other/chats/g.json": b"{}",
        project / ".specstory/history/s.md": b"# s",
    }
    for age, (file, data) in enumerate(kept.items()):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data or b"{}")
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    found = [os.path.basename(file) for file in find_sessions(repository.layout)]
    assert found == ["a.jsonl", "rollout-1.jsonl", "g.json", "s.md"]


def test_json_names_prompts_memories_and_corrections(repository, rawkomem, session):
    memory = repository.add(PNPM)
    told = json.loads(rawkomem("replay", str(session), "--json", "--write").stdout)
    assert {name: told[name] for name in ("prompts", "injections", "corrections", "prevented", "written")} == {
        "prompts": 3, "injections": 1, "corrections": 1, "prevented": 1, "written": [],
    }  # fmt: skip
    (one,) = told["sessions"]
    named = {"id": memory.id, "title": "Use pnpm"}
    assert one["prompts"][0]["injected"] == [named]
    assert (one["corrections"][0]["memory"], one["corrections"][0]["since"]) == (named, 1)


def test_real_sessions_with_the_gold_memories_of_earlier_ones():
    report = measure_replay([str(SAMPLE)])
    assert report["sessions"] == 4
    verdicts = ("prevented", "not_followed", "title_only", "too_late", "not_covered")
    for counts in (report, report["own"]):
        assert sum(counts[one] for one in verdicts) == counts["corrections"] == report["corrections"] >= 3
    assert report["own"]["prevented"] + report["own"]["title_only"] >= 1


def test_the_sum_and_the_drafts(repository, rawkomem, session):
    shown = rawkomem("replay", str(session))
    assert "1 correction in 1 session: a memory would have prevented 0 before you said it" in shown.stderr
    assert "✗ not covered   “No, use pnpm for packages, not npm.”" in shown.stdout
    assert repository.drafts.all() == []
    rawkomem("replay", str(session), "--json")
    assert repository.drafts.all() == []
    assert "rawkomem drafts keep" in rawkomem("replay", str(session), "--write").stderr
    (draft,) = repository.drafts.all()
    assert draft.said == "No, use pnpm for packages, not npm."
    memory = repository.add(PNPM)
    covered = rawkomem("replay", str(session))
    assert f"Use pnpm  {memory.id}, since prompt 1" in covered.stdout
    assert "1 correction in 1 session: a memory would have prevented 1 before you said it" in covered.stderr
