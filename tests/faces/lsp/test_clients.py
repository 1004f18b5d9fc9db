"""`rawkomem lsp` with editors that support different things: edits, hovers, code actions, watched files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is missing: pip install -e .")

from lsprotocol import types as lsp

from tests.faces.lsp.editor import WAIT, edit
from tests.faces.lsp.sample import RETRY

pytestmark = pytest.mark.servers
TITLE = "Why we pin apsw"


async def a_new_memory(editor):
    return await editor.run("rawkomem.new", TITLE), editor.edits, editor.messages


def test_an_editor_that_creates_files_is_asked_to(stored):
    """Neovim 0.12 announces that it creates files, but not `documentChanges`, in which it takes them."""
    edits = lsp.WorkspaceEditClientCapabilities(resource_operations=[lsp.ResourceOperationKind.Create])
    workspace = lsp.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits)
    made, (asked,), messages = edit(stored, a_new_memory, workspace=workspace)
    created, filled = asked.edit.document_changes
    assert created.uri == made["uri"] and f"title: {TITLE}" in filled.edits[0].new_text and messages == []
    assert not Path(made["uri"].removeprefix("file://")).exists()


def test_an_editor_that_applies_no_edits_gets_a_file_with_the_template(stored):
    made, asked, messages = edit(stored, a_new_memory, workspace=lsp.WorkspaceClientCapabilities())
    text = Path(made["uri"].removeprefix("file://")).read_text()
    assert f"title: {TITLE}" in text and asked == [] and messages == []


def test_an_editor_that_watches_files_is_asked_to(stored):
    watching = lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    workspace = lsp.WorkspaceClientCapabilities(apply_edit=True, did_change_watched_files=watching)

    async def story(editor):
        (wanted,) = (await asyncio.wait_for(editor.registered.get(), WAIT)).registrations
        before = await editor.open("queue-limits.md")
        editor.file("nobody.md").write_text("---\ntitle: Somebody now\n---\n\nText.\n", encoding="utf-8")
        event = lsp.FileEvent(editor.uri("nobody.md"), lsp.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
        return wanted, before, await editor.told("queue-limits.md")

    wanted, before, after = edit(stored, story, workspace=workspace)
    assert wanted.method == "workspace/didChangeWatchedFiles"
    assert [item.code for item in before if "nobody" in item.message] == ["broken-link"]
    assert not [item for item in after if "nobody" in item.message]


def test_the_server_watches_files_itself_where_the_editor_does_not(stored):
    async def story(editor):
        await editor.open("queue-limits.md")
        editor.file("nobody.md").write_text("---\ntitle: Somebody now\n---\n\nText.\n", encoding="utf-8")
        while any("nobody" in item.message for item in await editor.told("queue-limits.md")):
            pass
        editor.file("nobody.md").unlink()
        while not any("nobody" in item.message for item in await editor.told("queue-limits.md")):
            pass
        return editor.registered.empty()

    assert edit(stored, story)


def test_commands_search_and_tell_why(stored):
    async def story(editor):
        await editor.open("retry-with-jitter.md")
        uri = editor.uri("retry-with-jitter.md")
        found = await editor.run("rawkomem.search", "jitter of retries")
        fired = await editor.run("rawkomem.why", uri, 3, "add a retry with backoff")
        other = await editor.run("rawkomem.why", uri, 3, "translate the poem")
        await editor.run("rawkomem.search", " ")
        await editor.run("rawkomem.why", uri, 3, "")
        await editor.run("rawkomem.why", (stored / "README.md").as_uri(), 3, "x")
        return found, fired, other, editor.messages

    found, fired, other, messages = edit(stored, story)
    assert found[0]["title"] == "Retry with jitter" and found[0]["line"] == 1 and "jitter" in found[0]["text"]
    assert found[0]["uri"].endswith("/retry-with-jitter.md") and found[0]["fits"]
    assert fired["recalled"] and fired["id"] == "mem_1700000000000_abc123" and "retry" in fired["text"]
    assert not other["recalled"] and RETRY.splitlines()[2].removeprefix("title: ") in other["text"]
    assert [message.partition(" needs")[0] for message in messages[:2]] == ["a search", "rawkomem.why"] and len(
        messages
    ) == 3
