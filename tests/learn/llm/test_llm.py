"""A language model behind a real server on the loopback, and behind a real command: good answers, bad ones, none."""

import hashlib
import os
import shlex
import sys
import time

import pytest
from rawkomem.llm import CommandLlm, LlmFailure
from rawkomem.model.user_settings import LEARNING_GUARD, LlmSettings

from tests.embed.server import Answer, Server
from tests.learn.llm.models import opened, refuses, says

KEY = "sk-Very-Secret-0123456789"


def failing(server: Server, **more) -> str:
    """The words of the error, hint included."""
    with pytest.raises(LlmFailure) as caught:
        opened(server, **more).complete("question")
    return f"{caught.value.message} | {caught.value.hint}"


def test_the_request_is_what_the_api_asks(monkeypatch):
    monkeypatch.setenv("TINY_KEY", KEY)
    with Server(says("Hello.")) as server:
        llm = opened(server, key_env="TINY_KEY")
        assert llm.complete("question", "be brief") == "Hello."
        path, headers, request = server.seen[-1]
        assert path == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {KEY}"
        assert request["model"] == "tiny" and "response_format" not in request
        assert [(m["role"], m["content"]) for m in request["messages"]] == [
            ("system", "be brief"),
            ("user", "question"),
        ]
        assert llm.name == f"tiny at 127.0.0.1:{server.server_port}"


@pytest.mark.parametrize(
    ("status", "said"),
    [(429, "answered 429"), (500, "answered 500"), (401, "keys.llm"), (404, "llm.provider and llm.model")],
)
def test_a_server_that_does_not_recover_is_told_in_one_line(status, said):
    with Server(refuses(status)) as server:
        words = failing(server)
        assert said in words and "\n" not in words
        assert len(server.seen) == (4 if status in (429, 500) else 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            says("", message={"content": None, "refusal": "I cannot help with that."}),
            "the model refused: I cannot help",
        ),
        (says("half an", finish_reason="length"), "cut off"),
        (says("", finish_reason="content_filter"), "filter"),
        (says("  "), "empty answer"),
        (Answer({"choices": []}), "no chat completion"),
        (
            Answer(b"<html>"),
            "did not answer with JSON | Check llm.provider: it must be the url without /chat/completions.",
        ),
    ],
)
def test_answers_that_are_none(answer, said):
    with Server(answer) as server:
        assert said in failing(server)


def test_an_error_never_shows_the_key(monkeypatch):
    monkeypatch.setenv("TINY_KEY", KEY)
    with Server(refuses(401, f"bad key {KEY}")) as server:
        assert KEY not in failing(server, key_env="TINY_KEY")


def test_what_is_sent_is_redacted():
    key = "ghp_" + hashlib.sha256(b"a fake").hexdigest()[:36]
    with Server(says("fine")) as server:
        assert opened(server).complete("mail me: anna.k@example.org", f"key {key}") == "fine"
        sent = str(server.seen[-1][2])
        assert "anna.k" not in sent and key not in sent and "[REDACTED_" in sent


def command(code: str, **more) -> CommandLlm:
    return CommandLlm(LlmSettings(command=shlex.join([sys.executable, "-c", code]), **{"timeout": 20.0, **more}))


def test_a_command_reads_stdin_in_an_empty_folder_and_knows_that_it_is_asked_by_us():
    code = f"import os, sys; print(sys.stdin.read(), os.listdir('.'), os.environ['{LEARNING_GUARD}'])"
    assert command(code).complete("question — ü", "be brief") == "be brief\n\nquestion — ü [] 1"


def test_a_command_that_fails_says_its_last_line_without_secrets():
    code = "import sys; sys.exit('first\\nno credit for mail anna.k@example.org')"
    with pytest.raises(LlmFailure) as caught:
        command(code).complete("q")
    assert "ended with code 1: no credit" in caught.value.message and "anna.k" not in caught.value.message


def test_a_command_that_takes_too_long_ends_with_all_that_it_started(tmp_path):
    """What the command started holds a pipe open for as long as it lives."""
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    ours = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    child = f"import time; held = open({str(pipe)!r}, 'w'); held.write('x'); held.flush(); time.sleep(60)"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}]).wait()"
    with pytest.raises(LlmFailure, match=r"did not answer within 1\.5 s"):
        command(code, timeout=1.5).complete("q")
    while is_held(ours):
        time.sleep(0.02)
    os.close(ours)


def is_held(pipe: int) -> bool:
    """Return whether a process still has the other end of the pipe open."""
    try:
        return os.read(pipe, 100) != b""
    except BlockingIOError:
        return True


@pytest.mark.parametrize("line", ["no-such-program-here -p", "'open", "   ", "true"])
def test_a_command_that_is_none(line):
    with pytest.raises(LlmFailure):
        CommandLlm(LlmSettings(command=line)).complete("q")
