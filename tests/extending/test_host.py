"""A new agent host is one record. A real one touches at most two files of the package: hosts/known_hosts.py and, where its
transcripts have a shape of their own, learn/turns.py."""

import io
import json

import click
import pytest
from click.testing import CliRunner
from rawkomem.faces.cli.connecting import host_command, uninstall_command
from rawkomem.hosts import hook_sessions, hooks
from rawkomem.hosts.known_hosts import HOSTS, LEARN, PROMPT, TURN, Call, Host
from rawkomem.learn.turns import READERS, USER, Turn

TOY = Host(
    about="Toy: .toy/hooks.json.",
    project=".toy/hooks.json",
    user="hooks.json",
    home=("TOY_HOME", "~/.toy"),
    version=3,
    events={"onAsk": PROMPT, "onDone": TURN},
    handler=lambda event, command, seconds: {"command": f"{command}", "minutes": seconds / 60},
    grouped=False,
    skills=".toy/skills",
    mentions=(".toy/notes.md",),
    fields={"thread": "session", "question": "prompt", "log": "transcript", "where": "folder"},
    max_context_bytes=4_000,
    answer=lambda call, context: {"toySays": context, "thread": call.session},
    transcript="toy",
)
MEMORY = "---\ntitle: Use pnpm\nwhenToUse: [npm]\nimportance: high\n---\n\nThe lock file is pnpm's; npm breaks CI.\n"
SAID = "We decided to use Postgres instead of MySQL because of its partial indexes."


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Add the record and the reader, as a change of two files would."""
    monkeypatch.setitem(HOSTS, "toy", TOY)
    monkeypatch.setenv("TOY_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(
        READERS, "toy", (lambda record: "toy" in record, lambda record: iter([Turn(USER, record["toy"])]))
    )


def rawkomem(command: click.Command, project, *words: str) -> str:
    done = CliRunner().invoke(command, words, obj=str(project), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def hook(event: str, told: dict[str, object], monkeypatch, project) -> bytes:
    """Answer a call as `rawkomem hook toy EVENT` does, with what it prints."""
    printed: list[bytes] = []
    monkeypatch.setattr(hooks, "read_stdin", lambda: json.dumps({**told, "where": str(project)}).encode())
    monkeypatch.setattr(hooks, "say", printed.append)
    hooks.run_hook("", ["toy", event])
    return b"".join(printed)


def test_connect_and_remove(toy, project):
    before = {file for file in project.rglob("*") if ".rawko" not in file.parts}
    connect = host_command("toy")
    assert "Toy: .toy/hooks.json." in rawkomem(connect, project, "--help")
    rawkomem(connect, project)
    said = json.loads((project / ".toy" / "hooks.json").read_text())
    assert said["version"] == 3 and said["hooks"] == {
        "onAsk": [{"command": "rawkomem hook toy prompt; exit 0", "minutes": 5 / 60}],
        "onDone": [{"command": "rawkomem hook toy turn-end; exit 0", "minutes": 10 / 60}],
    }
    assert (project / ".toy" / "skills" / "rawkomem" / "SKILL.md").is_file()
    (project / ".toy" / "notes.md").write_text("Run rawkomem search first.\n")
    told = rawkomem(uninstall_command, project, "--dry-run")
    assert all(f"/.toy/{name}" in told for name in ("hooks.json", "notes.md", "skills/rawkomem/SKILL.md")), told
    (project / ".toy" / "notes.md").unlink()
    rawkomem(connect, project, "--remove")
    assert {file for file in project.rglob("*") if ".rawko" not in file.parts} == before


def test_its_hook_answers_in_its_own_way(toy, project, memories, repository, monkeypatch):
    (memories / "use-pnpm.md").write_text(MEMORY)
    repository.sync()
    told = {"thread": "t-1", "question": "How do I install with npm?"}
    said = json.loads(hook("onAsk", told, monkeypatch, project))
    assert said["thread"] == "t-1" and "The lock file is pnpm's" in said["toySays"]
    assert hook("prompt", {**told, "question": "Who won the cup?"}, monkeypatch, project) == b""


def test_its_transcript_is_learned_from(toy, project, repository, tmp_path, monkeypatch):
    transcript = tmp_path / "log.jsonl"
    transcript.write_text(json.dumps({"toy": SAID}) + "\n")
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(
        hook_sessions, "start_background", lambda layout, job, *words, **more: started.append(words) or True
    )
    hook("onDone", {"thread": "t-1", "log": str(transcript)}, monkeypatch, project)
    assert started == [("hook", "toy", "learn", str(transcript), "t-1", "")]
    monkeypatch.setattr(hook_sessions, "SETTLE_S", 0)
    hook_sessions.learn_behind(repository, Call("toy", LEARN, {}, "t-1", transcript=str(transcript)), io.BytesIO())
    assert [draft.said for draft in repository.drafts.all()] == [SAID]


def test_every_host_names_a_reader_of_its_transcripts():
    assert {host.transcript for host in HOSTS.values()} - {""} <= set(READERS)
