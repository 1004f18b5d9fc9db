"""`rawkomem browse` as a process: prints an address, serves it, stops when it is told to."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from rawkomem.model.entries import Entry

from tests.conftest import ROOT
from tests.terminals import scrubbed, start, typed, wait_for

COMMAND = [sys.executable, "-m", "rawkomem", "browse", "--no-open"]


def ask(address: str, code: str = "") -> bytes:
    url, _, token = address.strip().partition("#token=")
    headers = {"Authorization": f"Bearer {token}", "X-Rawkomem-Code": code}
    request = urllib.request.Request(f"{url}api/overview", headers=headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def test_it_serves_until_it_is_stopped(project, repository):
    repository.add(Entry(title="Only one"))
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        COMMAND, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline()
        assert address.startswith("http://127.0.0.1:")
        told = ask(address)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        assert "Traceback" not in process.stderr.read()
    assert b'"memories": 1' in told
    assert b'"writes_as": "agent"' in told  # a pipe means a program: it vouches for nothing


@pytest.mark.parametrize(("variable", "who"), [("UNRELATED", b"person"), ("CLAUDECODE", b"agent")])
def test_the_code_of_the_terminal_makes_the_page_a_persons_unless_an_agent_is_above(
    variable, who, terminal, project, repository
):
    repository.add(Entry(title="Only one"))
    shown, pid = project / "shown", project / "pid"
    command = " ".join(f'"{word}"' for word in COMMAND)
    ended = start(terminal, typed(f"echo $$ > {pid}; exec {command}", shown), project, scrubbed(**{variable: "1"}))
    wait_for(lambda: shown.exists() and b"stop with" in shown.read_bytes() and pid.read_text().strip())
    text = shown.read_text()
    address = next(line for line in text.splitlines() if "#token=" in line)
    codes = re.findall(r"on the page: (\d{6})", text)
    assert bool(codes) is (who == b"person")
    try:
        assert b'"writes_as": "agent"' in ask(address)  # the token alone is no person
        assert b'"writes_as": "%s"' % who in ask(address, *codes)
    finally:
        os.kill(int(pid.read_text()), signal.SIGTERM)
    wait_for(ended.exists)


def test_a_port_that_cannot_be(rawkomem):
    assert "70000" in rawkomem("browse", "--no-open", "--port", "70000", check=2).stderr


def test_a_taken_port_is_named(project, rawkomem):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen on port {port}" in rawkomem("browse", "--no-open", "--port", str(port), check=2).stderr
