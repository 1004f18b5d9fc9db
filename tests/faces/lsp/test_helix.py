"""The set-up of docs/editors.md in a real Helix on a pseudo-terminal."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

import pytest
from rawkomem.model.entries import Task
from rawkomem.repository import Repository

from tests.faces.lsp.neovim import WAIT_S, code_in_docs, find, home_with, keys_on_page, until

pytestmark = pytest.mark.editors
KEY_PAUSE_S = 0.5
CONTROL_SEQUENCE = re.compile(rb"\x1b\[[0-9;:?]*[ -/]*[@-~]")
TO_CONDITION, TO_LINK = '/"queue\r', "/retries\rghfm"  # a search, then keys to a place on the line that it found
SIZE = struct.pack("HHHH", 40, 120, 0, 0)


@pytest.fixture
def home(tmp_path_factory):
    assert find("hx"), "run 'make test-editors', which fetches Helix"
    return home_with(tmp_path_factory.mktemp("helix"), "helix/languages.toml", code_in_docs("toml"))


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

    def shows(self, words):
        return words.encode() in CONTROL_SEQUENCE.sub(b"", self.screen)

    def press(self, keys):
        """Press keys as the page writes them."""
        self.type(keys.replace("space ", " "))

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


def test_every_key_and_command_of_the_page_is_tried_here():
    tried = Path(__file__).read_text("utf-8")
    inside = [keys for keys in keys_on_page("Helix") if not keys.startswith("rawkomem ")]  # the others: in a terminal
    named = [keys.removesuffix(' "Why we chose X"') for keys in inside]
    assert len(named) > 7 and [keys for keys in named if keys not in tried] == []


@pytest.fixture
def helix(home, stored, tmp_path):
    """Helix with queue-limits.md of the sample open."""
    repository = Repository.open(str(stored))
    repository.sync()
    repository.inject(Task("drain the queue slowly"))
    helix = Helix(home, stored / ".rawko" / "memories" / "queue-limits.md", tmp_path / "helix.log")
    yield helix
    assert helix.end() == 0


@pytest.mark.parametrize("place, keys, typed, shown", [
    (TO_LINK, "space k", "", "Retry with jitter"),
    (TO_CONDITION, "space k", "", "drain the queue slowly"),
    (TO_LINK, "gd", "", "Retries without jitter brought"),
    (TO_LINK, "gr", "", "retry-with-jitter.md"),
    ("", "space S", "jitter", "Retry with jitter"),
    ("", "space d", "", "broken-link"),
    ("", "space a", "", "Amend this memory"),
    ("geo", "", "See [[jitt", "mem_1700000000000_abc123"),
    ("ggo", "", "impor", "importance"),
    ("gg3jo", "", "tags: [netw", "network"),
])  # fmt: skip
def test_helix_shows_what_the_page_names(helix, place, keys, typed, shown):
    helix.type(place)
    time.sleep(KEY_PAUSE_S)
    helix.screen = b""
    helix.press(keys)
    time.sleep(KEY_PAUSE_S if typed else 0)
    helix.type(typed)
    until(shown, lambda: helix.shows(shown))


def test_helix_amends_and_makes_a_new_memory(helix, stored):
    folder = stored / ".rawko" / "memories"
    helix.type(TO_LINK)
    helix.press("space a")
    until("the action", lambda: helix.shows("Amend this memory"))
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
    repository = Repository.open(str(stored))
    assert repository.get("queue-limits").entries == 3 and repository.get("why-we-pin-apsw").title == "Why we pin apsw"
