"""A correction that a person types while a tool runs is not lost.

Claude Code and OpenCode take it without a terminal. Codex, Copilot and Gemini take it in their terminals only: there the
record that they write for it is put into the transcript of a real session, and the real hook is called.
"""

import json
import subprocess
import time
import urllib.request

import pytest
from rawkomem.files.layout import Layout
from rawkomem.files.machine_records import LINE_ENDING, known_transcripts
from rawkomem.files.records import read
from rawkomem.repository import Repository

from tests.hosts.real.hosts import ALL, CLAUDE, PATIENCE, Seat
from tests.hosts.real.model import Model, remember, say, shell
from tests.hosts.real.waiting import drafts, quotes, wait_for

pytestmark = pytest.mark.hosts

BY_NAME = {host.name: host for host in ALL}
NO_VITEST = "no, never use vitest here, use jest"
WORK = "sleep 4; echo done"
AT = "2026-11-16T06:00:00.000Z"
STEERED = (
    f"User steering update:\n<user_input>\n{NO_VITEST}\n</user_input>\nInternal instruction: Re-evaluate the plan."
)
RECORDS = {  # what a host writes for words that are typed while a tool runs
    "codex": [{"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": NO_VITEST}}],
    "copilot": [
        {
            "type": "user.message",
            "data": {"content": NO_VITEST, "messageId": "typed", "delivery": "steering", "turnId": "0"},
            "id": "5c1e24df-e094-41e3-95b5-6a19c5047905",
            "timestamp": AT,
            "parentId": None,
        }
    ],
    "gemini": [{"id": "typed", "timestamp": AT, "type": "user", "content": [{"text": STEERED}]}],
}


def test_claude(home, seat, model, project):
    at: Seat = seat(BY_NAME["claude"])
    model.script = [shell(WORK), say("The tests pass.")]
    talk = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    with at.start(*talk, *CLAUDE) as process:
        for words in ("run the tests", NO_VITEST):
            prompt = {"type": "user", "message": {"role": "user", "content": words}}
            process.stdin.write(json.dumps(prompt) + "\n")
            process.stdin.flush()
            _let_it_work(model)
        said, _ = process.communicate(timeout=PATIENCE)
    assert not model.script, said
    assert '"queued_command"' in _transcript(project), said
    _is_learned_once(at, model, project)


def test_opencode(home, seat, model, project):
    at: Seat = seat(BY_NAME["opencode"])
    model.script = [shell(WORK), say("The tests pass.")]
    server = at.start("serve", "--port", "0")
    try:
        url = next(line for line in server.stdout if "listening on" in line).split()[-1]
        session = _post(f"{url}/session", {})["id"]
        for words in ("run the tests", NO_VITEST):
            _post(f"{url}/session/{session}/prompt_async", {"parts": [{"type": "text", "text": words}]})
            _let_it_work(model)
        wait_for(lambda: drafts(project))
    finally:
        server.terminate()
        server.wait(PATIENCE)
    _is_learned_once(at, model, project)


@pytest.mark.parametrize("name", RECORDS)
def test_a_recorded_one(name, home, seat, model, project):
    at: Seat = seat(BY_NAME[name])
    model.script = [shell(WORK), say("The tests pass.")]
    said = at.ask("run the tests")
    assert not model.script, said
    file, session = _noted(project)
    with open(file) as stream:
        lines = stream.readlines()
    call = next(number for number, line in enumerate(lines) if WORK in line)
    lines[call + 1 : call + 1] = [json.dumps(record) + "\n" for record in RECORDS[name]]
    with open(file, "w") as stream:
        stream.writelines(lines)
    payload = {"session_id": session, "transcript_path": file, "cwd": str(project)}
    hook = [str(home / "bin" / "rawkomem"), "hook", name, "turn-end"]
    subprocess.run(hook, input=json.dumps(payload), cwd=project, env=at.env(), text=True, check=True)
    _is_learned_once(at, model, project)


def _let_it_work(model: Model) -> None:
    """Wait until the model has called the tool, and a little longer, so that the tool runs."""
    wait_for(lambda: len(model.script) < 2)
    time.sleep(1)


def _is_learned_once(at: Seat, model: Model, project) -> None:
    """The words are a draft, the agent is asked to write it, and its quote holds."""
    wait_for(lambda: drafts(project))
    assert [draft.said for draft in drafts(project)] == [NO_VITEST]
    model.script = [remember("Use jest, never vitest", "Use jest.", NO_VITEST), say("Done.")]
    before = len(model.asked)
    said = at.ask("now the release notes", again=True)
    assert not model.script, said
    assert any("The person corrected you" in body or "The person said" in body for body in model.asked[before:])
    assert quotes(project) == {NO_VITEST}


def _noted(project) -> tuple[str, str]:
    """Return the transcript that the hooks noted, and its session."""
    ((file, session),) = read(Layout(str(project / ".rawko")), "SELECT path, session FROM transcripts")
    assert file.endswith(LINE_ENDING)
    return file, session


def _transcript(project) -> str:
    repository = Repository.open(str(project))
    (file,) = known_transcripts(repository.layout)
    repository.close()
    with open(file) as stream:
        return stream.read()


def _post(url: str, data: dict) -> dict:
    request = urllib.request.Request(url, json.dumps(data).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read() or b"{}")
