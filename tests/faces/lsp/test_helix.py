"""The set-up of docs/editors.md in a real Helix on a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import time

import pytest

from rawkomem.repository import Repository
from tests.faces.lsp.neovim import WAIT_S, code_in_docs, find, home_with

pytestmark = pytest.mark.editors
KEY_PAUSE_S = 0.5
SIZE = struct.pack("HHHH", 40, 120, 0, 0)


@pytest.fixture
def home(tmp_path_factory):
    assert find("hx"), "run 'make test-editors', which fetches Helix"
    return home_with(tmp_path_factory.mktemp("helix"), "helix/languages.toml", code_in_docs("toml"))


def until(what, check):
    end = time.monotonic() + WAIT_S
    while not check():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.1)


class Helix:
    """Helix on a terminal, with a file open and the server running."""

    def __init__(self, home, file, log):
        self.log = log
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, SIZE)
        command = [find("hx"), "-vv", "--log", str(log), str(file)]
        env = {**home, "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            command, cwd=file.parent, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.screen = b""
        threading.Thread(target=self._read, daemon=True).start()
        until("the server", lambda: self.logged('"method": "textDocument/publishDiagnostics"'))

    def _read(self):
        try:
            while data := os.read(self.ours, 65536):
                self.screen += data
        except OSError:
            return  # Helix ended

    def logged(self, words):
        return self.log.exists() and words in self.log.read_text(errors="replace")

    def type(self, keys):
        for part in re.split("(\x1b)", keys):  # Escape with a key right behind it would be Alt with that key
            os.write(self.ours, part.encode())
            time.sleep(KEY_PAUSE_S if part == "\x1b" else 0)

    def end(self):
        self.type("\x1b:qa!\r")
        try:
            return self.process.wait(WAIT_S)
        finally:
            self.process.kill()
            os.close(self.ours)


def test_helix_finds_the_server(home):
    said = subprocess.run([find("hx"), "--health", "markdown"], env=home, check=True, capture_output=True, text=True)
    assert re.search(r"✓\S* rawkomem: \S*/bin/rawkomem", said.stdout), said.stdout


def test_helix_hovers_amends_and_makes_a_new_memory(home, stored, tmp_path):
    Repository.open(str(stored)).sync()
    folder = stored / ".rawko" / "memories"
    helix = Helix(home, folder / "queue-limits.md", tmp_path / "helix.log")
    helix.type("/retries\rgh")  # to the line with the link, then to its start
    helix.type("fm k")  # to the name of the memory; `space k` shows a card
    until("a card", lambda: b"Retry with jitter" in helix.screen)
    helix.type("\x1b a")
    until("the action", lambda: b"Amend this memory" in helix.screen)
    helix.type("\r")
    until("the amendment", lambda: helix.logged('"method": "workspace/applyEdit"'))
    helix.type("\x1b:w\r")
    until("the saved amendment", lambda: (folder / "queue-limits.md").read_text().count("kind: amend") == 2)
    helix.type(':lsp-workspace-command rawkomem.new "Why we pin apsw"\r')
    until("the new file", (folder / "why-we-pin-apsw.md").exists)
    until("the new text", lambda: helix.logged('"label": "New memory"'))
    time.sleep(1)
    helix.type("\x1b:wa\r")
    until("the saved memory", lambda: "title: Why we pin apsw" in (folder / "why-we-pin-apsw.md").read_text())
    assert helix.end() == 0
    repository = Repository.open(str(stored))
    assert repository.get("queue-limits").entries == 3 and repository.get("why-we-pin-apsw").title == "Why we pin apsw"
