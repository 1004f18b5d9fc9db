"""`rawkomem lsp` as a process: how it ends, where diagnostics sit, cancelled requests, long lists of completions."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

pytest.importorskip("pygls", reason="pygls is missing: pip install -e .")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcRequestCancelled
from rawkomem.repository import Repository

from tests.faces.lsp.editor import WAIT, edit

pytestmark = pytest.mark.servers
MANY = 300


class Wire:
    """A server that is spoken to in JSON, without a client that interprets what it answers."""

    def __init__(self, project, **capabilities):
        command = [sys.executable, "-m", "rawkomem", "lsp"]
        self.process = subprocess.Popen(
            command, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.asked = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.tell("initialized", {})

    def _send(self, **message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def tell(self, method, params=None):
        self._send(method=method, params=params)

    def ask(self, method, params=None):
        self.asked += 1
        self._send(id=self.asked, method=method, params=params)
        while True:
            length = 0
            while (header := self.process.stdout.readline()).strip():
                length = int(header.split()[1]) if header.startswith(b"Content-Length") else length
            answer = json.loads(self.process.stdout.read(length))
            if answer.get("id") == self.asked and "method" not in answer:
                return answer["result"]

    def end(self) -> tuple[int, bytes]:
        """The exit code and what stands on standard error; the input stays open until then."""
        self.tell("exit")
        code = self.process.wait(WAIT)
        return code, self.process.communicate()[1]


def test_shutdown_and_exit_end_it_with_code_0_and_no_traceback(stored):
    wire = Wire(stored)
    wire.ask("shutdown")
    assert wire.end() == (0, b"")
    assert Wire(stored).end() == (1, b"")


def test_code_actions_are_literals_of_the_kind_that_is_asked_for(stored):
    uri = (stored / ".rawko" / "memories" / "queue-limits.md").as_uri()
    start = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}

    def offered(wire, **only):
        return wire.ask(
            "textDocument/codeAction",
            {"textDocument": {"uri": uri}, "range": start, "context": {"diagnostics": [], **only}},
        )

    literals = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["refactor"]}}}
    wire = Wire(stored, textDocument={"codeAction": literals})
    (action,) = offered(wire)
    assert action["kind"] == "refactor.rewrite" and action["command"]["command"] == "rawkomem.amend"
    assert offered(wire, only=["refactor"]) == [action] and offered(wire, only=["quickfix"]) == []
    wire.end()


PLACED = """---
id: mem_1700000000000_abc123
title: Placed
whenToUse:
  - "retry"
  - "queue|"
relatedMemories:
  - queue-limits
  - "gone-too"
---

Text.

More text with [[nobody]] in it.

---

---
kind: amend
about: lost
---

Text.
"""


def test_diagnostics_sit_where_their_cause_is(stored):
    async def story(editor):
        return await editor.open("placed.md", PLACED)

    lines = PLACED.splitlines()
    marked = {
        (item.code, lines[item.range.start.line][item.range.start.character : item.range.end.character])
        for item in edit(stored, story)
    }
    assert {("broken-link", "gone-too"), ("broken-link", "nobody"), ("duplicate-id", "mem_1700000000000_abc123"),
            ("about-nothing", "lost"), ("empty-alternative", "queue|")} <= marked  # fmt: skip


@pytest.fixture
def many(memories):
    for number in range(MANY):
        text = f"---\nid: mem-{number}\ntitle: Note {number}\n---\n\nSee [[mem-0]].\n"
        (memories / f"note-{number}.md").write_text(text)
    project = memories.parent.parent
    Repository.open(str(project)).sync()
    return project


def test_cancelled_requests_end_at_once_and_later_ones_are_answered(many):
    async def story(editor):
        await editor.open("note-0.md")
        params = lsp.ReferenceParams(lsp.ReferenceContext(False), **editor.at("note-0.md", 1, 3))
        protocol = editor.client.protocol
        asked = []
        for number in range(5):
            asked.append(protocol.send_request("textDocument/references", params, msg_id=f"r{number}"))
        for number in range(5):
            protocol.notify("$/cancelRequest", lsp.CancelParams(f"r{number}"))
        answers = await asyncio.gather(*map(asyncio.wrap_future, asked), return_exceptions=True)
        return answers, await editor.hover("note-0.md", 1, 3), len(await editor.refer("note-0.md", 1, 3))

    answers, card, references = edit(many, story)
    assert [type(answer) for answer in answers] == [JsonRpcRequestCancelled] * 5
    assert "Note 0" in card and references == MANY
