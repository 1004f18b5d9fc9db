"""The packaged extension in a real VS Code: its web version, which code-server packages, in headless Chromium."""

import json
import os
import re
import shutil
import socket
import subprocess
import urllib.request
from contextlib import suppress
from urllib.parse import quote

import pytest
from rawkomem.model.entries import Task
from rawkomem.repository import Repository

from tests.conftest import ROOT
from tests.faces.lsp.neovim import home_with, until

pytestmark = pytest.mark.editors
CODE = ROOT / ".editors" / "code" / "node_modules" / "code-server" / "lib" / "vscode" / "out" / "server-main.js"
WAIT_MS = 60_000


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="for want of playwright: make test-editors")
    program = shutil.which("chromium")
    if not program or not CODE.exists():
        pytest.skip("for want of chromium or VS Code: make test-editors")
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=program)
        yield opened
        opened.close()


def serve(home, env, command):
    """Install the extension, set the program that it starts, and start VS Code; returns the process and its address."""
    folders = [f"--{name}-dir={home / name}" for name in ("extensions", "user-data", "server-data")]
    package = str(ROOT / "dist" / "rawkomem.vsix")
    code = ["node", str(CODE), *folders]
    subprocess.run([*code, "--install-extension", package], check=True, env=env, capture_output=True, timeout=120)
    machine = home / "user-data" / "Machine" / "settings.json"
    machine.parent.mkdir(parents=True, exist_ok=True)
    machine.write_text(json.dumps({"rawkomem.command": command}))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"--port={port}", "--host=127.0.0.1", "--without-connection-token", "--accept-server-license-terms"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*code, *options], env=env, **silent), f"127.0.0.1:{port}"


def answers(address):
    with suppress(OSError):
        return urllib.request.urlopen(f"http://{address}/", timeout=10).status == 200


class Code:
    """VS Code with a file of a trusted project open."""

    def __init__(self, page, address, project, file):
        self.page = page
        page.set_default_timeout(WAIT_MS)
        opened = json.dumps([["openFile", f"vscode-remote://{address}{file}"]])
        page.goto(f"http://{address}/?folder={project}&payload={quote(opened)}")
        page.get_by_text("Yes, I trust the authors").click()

    def shows(self, words, within="body"):
        self.page.locator(within).filter(has_text=words).first.wait_for()

    def line(self, words):
        return self.page.locator(".view-line").filter(has_text=words).first

    def run(self, title, placeholder="", answer=""):
        self.page.keyboard.press("F1")
        self.page.keyboard.type(title)
        self.shows(title, ".quick-input-list .monaco-list-row")
        self.page.keyboard.press("Enter")
        if answer:
            self.page.get_by_placeholder(placeholder).fill(answer)
            self.page.keyboard.press("Enter")


@pytest.fixture
def opened(chromium, stored, tmp_path_factory):
    """Open a file of the sample in VS Code, with the real program or with another one."""
    home = tmp_path_factory.mktemp("vscode")
    env = home_with(home, "unused", "")
    processes = []

    def open_file(name, command=str(home / "bin" / "rawkomem")):
        process, address = serve(home, env, command)
        processes.append(process)
        until("VS Code", lambda: answers(address))
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        return Code(page, address, stored, stored / ".rawko" / "memories" / name)

    yield open_file
    for process in processes:
        process.terminate()
        process.wait(60)


def test_vscode_checks_hovers_goes_and_finds(opened, stored):
    repository = Repository.open(str(stored), via="person")
    repository.sync()
    repository.inject(Task("drain the queue slowly"))
    repository.feedback("queue-limits", "helpful")
    code = opened("queue-limits.md")
    page = code.page
    page.locator(".squiggly-info, .squiggly-warning").first.wait_for()
    code.shows("1 helpful", ".codelens-decoration")
    code.line("whenToUse").get_by_text("queue", exact=False).last.hover()
    code.shows("drain the queue slowly", ".monaco-hover")
    code.line("holds").get_by_text("mem_1700000000000_abc123").last.click()
    page.keyboard.press("Shift+F12")
    code.shows(re.compile(r"retry-with-jitter\.md"), ".peekview-widget, .zone-widget")
    page.keyboard.press("Escape")
    code.line("holds").get_by_text("mem_1700000000000_abc123").last.click()
    page.keyboard.press("F12")
    code.line("brought the queue down").wait_for()
    page.keyboard.press("Control+t")
    page.keyboard.type("limits")
    code.shows("Queue limits", ".quick-input-list .monaco-list-row")


def test_vscode_completes_and_runs_the_four_commands(opened, stored):
    Repository.open(str(stored)).sync()
    folder = stored / ".rawko" / "memories"
    code = opened("queue-limits.md")
    page = code.page
    page.locator(".squiggly-info, .squiggly-warning").first.wait_for()
    code.line("holds").click()
    code.run("rawkomem: Search memories", "how do we retry", "jitter of retries")
    code.shows("Retry with jitter", ".quick-input-list .monaco-list-row")
    page.keyboard.press("Escape")
    code.line("holds").click()
    code.run("rawkomem: Amend this memory")
    page.keyboard.press("Control+s")
    until("the saved amendment", lambda: (folder / "queue-limits.md").read_text().count("kind: amend") == 2)
    code.run("rawkomem: Why is this memory recalled?", "add a retry", "make the queue longer")
    code.line("recalled for this task").wait_for()
    code.run("rawkomem: New memory", "Why we chose X", "Why we pin apsw")
    code.line(re.compile("title:.Why.we.pin.apsw")).wait_for()
    page.keyboard.press("Control+End")
    page.keyboard.type("See [[jitt")
    code.shows("mem_1700000000000_abc123", ".suggest-widget .monaco-list-row")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    until("the saved memory", lambda: "See [[jitt" in (folder / "why-we-pin-apsw.md").read_text())


def test_vscode_says_what_to_do_where_the_program_is_missing(opened):
    code = opened("queue-limits.md", os.devnull + "/rawkomem")
    code.shows("set rawkomem.command to the full path", ".notification-toast")
