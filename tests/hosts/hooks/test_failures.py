"""A hook never breaks its host: whatever is wrong is no output, exit code 0, one line in a log."""

import json
import os
import stat
import subprocess
import sys

import pytest

from tests.commands import spread
from tests.conftest import ROOT
from tests.files.plain_user import run_plain
from tests.hosts.hooks.conftest import filled
from tests.hosts.hooks.payloads import ASK, CALLS, claude

HOSTS = ("claude", "codex", "opencode", "cursor", "copilot", "gemini", "vscode")
EVENTS = ("session-start", "prompt", "compact", "turn-end", "session-end")
WRONG = {
    "empty": b"",
    "blank": b" \n",
    "words": b"hello",
    "cut off": b'{"session_id": "x", "prompt": "npm',
    "a list": b"[1, 2]",
    "null": b"null",
    "binary": bytes(range(256)) * 100,
    "latin": '{"prompt": "größe"}'.encode("latin-1"),
    "deep": b"[" * 100_000,
    "huge": b'{"prompt": "' + b"x" * (20 * 2**20) + b'"}',
    "two": b'{"prompt": "npm"} {"prompt": "npm"}',
}


@pytest.mark.parametrize(("what", "host"), spread([*WRONG], HOSTS))
def test_wrong_stdin(what, host, hook, remembered, log, project):
    assert hook(host, "prompt", WRONG[what], cwd=project) == ""
    (line,) = log()
    assert f"{host} prompt: " in line and len(line) < 400


@pytest.mark.parametrize(
    "fields",
    [{"prompt": 5}, {"prompt": {"a": 1}}, {"prompt": None}, {"prompt": ["npm"]}, {"prompt": ASK, "session_id": 7},
     {"prompt": ASK, "cwd": 5, "workspace_roots": [3]}, {"prompt": ASK, "cwd": "\0"}, {"prompt": "\ud800 npm"}],
)  # fmt: skip
def test_fields_of_another_kind(fields, hook, remembered, project):
    out = hook("claude", "prompt", json.dumps({"cwd": str(project), **fields}).encode(), cwd=project)
    assert out == "" or "Use pnpm" in out


@pytest.mark.parametrize(
    "words", [(), ("claude",), ("claude", "nonsense"), ("emacs", "prompt"), ("--what",), ("claude", "prompt", "more")]
)
def test_wrong_usage_is_no_exit_code_that_blocks_a_prompt(words, remembered, rawkomem):
    done = rawkomem("hook", *words, input=json.dumps(claude("UserPromptSubmit", prompt=ASK)))
    assert done.stderr == "" and (done.stdout == "" or words[:2] == ("claude", "prompt"))


def test_no_repository_is_silent(hook, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    for (host, event), (told, _) in CALLS.items():
        assert hook(host, event, json.dumps(told).replace("FOLDER", str(folder)).encode()) == ""
    assert os.listdir(folder) == []


def test_a_broken_index_is_made_anew(hook, remembered, project, log):
    for file in (project / ".rawko" / "local").glob("index-*.db*"):
        file.write_bytes(b"no database" * 1000)
    assert "Use pnpm" in hook("claude", "prompt", CALLS["claude", "prompt"][0])
    assert any("index" in line for line in log())


def test_a_broken_config_is_told_in_the_log(hook, remembered, project, log):
    (project / ".rawko" / "config.yaml").write_text("embedder: [\n")
    assert "Use pnpm" in hook("claude", "prompt", CALLS["claude", "prompt"][0])
    assert len(log()) == 1 and "config.yaml" in log()[0]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_stdout_that_takes_nothing(remembered, project, log):
    told = json.dumps({**CALLS["claude", "prompt"][0], "cwd": str(project)}).encode()
    command = [sys.executable, "-m", "rawkomem", "hook", "claude", "prompt"]
    with open("/dev/full", "wb") as full:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, input=told, stdout=full, stderr=subprocess.PIPE, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, b"") and "No space left" in log()[-1]


def test_a_local_folder_that_cannot_be_written(remembered, project, tmp_path_factory):
    told = tmp_path_factory.mktemp("told") / "prompt.json"
    told.write_bytes(filled(CALLS["claude", "prompt"][0], str(project), "/nowhere/t.jsonl"))
    code = (
        "import os, sys; from rawkomem.faces.cli import run\n"
        "os.dup2(os.open(sys.argv[1], os.O_RDONLY), 0); sys.exit(run(['hook', 'claude', 'prompt']))"
    )
    local = project / ".rawko" / "local"
    local.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        done = run_plain(code, told)
    finally:
        local.chmod(0o755)
    assert (done.returncode, done.stderr) == (0, "") and "Use pnpm" in done.stdout


def test_below_a_model_that_we_asked_nothing_is_said(hook, remembered, log):
    for event in EVENTS:
        assert hook("claude", event, CALLS["claude", event][0], env={"RAWKOMEM_LEARNING": "1"}) == ""
    assert log() == []


def test_the_log_stays_small_and_holds_no_secret(hook, remembered, project, log):
    file = project / ".rawko" / "local" / "hook.log"
    file.write_text("".join(f"old line {number}\n" for number in range(8_000)))
    file.chmod(0o600)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    hook("claude", secret, b"{}", cwd=project)
    assert file.stat().st_size < 64 * 1024 and log()[-2] == "old line 7999"
    assert "unknown event" in log()[-1] and secret not in log()[-1]
