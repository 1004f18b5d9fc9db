"""New memories and amends from an editor: edits that the person saves, or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from rawkomem.repository import Repository

from tests.faces.lsp.editor import edit
from tests.faces.lsp.sample import RETRY

pytestmark = pytest.mark.servers


def test_a_new_memory_is_an_edit_of_which_nothing_is_stored_before_it_is_saved(stored):
    async def story(editor):
        made = await editor.run("rawkomem.new", "Why we pin apsw")
        lesson = await editor.run("rawkomem.new", "Never sleep in a test", "lesson")
        namesake = await editor.run("rawkomem.new", "Queue limits")
        await editor.run("rawkomem.new")
        await editor.run("rawkomem.new", "x", "nonsense")
        return made, lesson, namesake, editor.edits, editor.shown, editor.messages

    made, lesson, namesake, edits, shown, messages = edit(stored, story)
    assert Path(made["uri"]).name == "why-we-pin-apsw.md" and shown[0].uri == made["uri"]
    assert Path(namesake["uri"]).name == "queue-limits-2.md"
    assert "needs a title" in messages[0] and "unknown kind 'nonsense'" in messages[1] and len(messages) == 2
    repository = Repository.open(str(stored))
    assert len(repository.list()) == 2 and not Path(made["uri"].removeprefix("file://")).exists()
    for params in edits:
        create, filled = params.edit.document_changes
        file = Path(create.uri.removeprefix("file://"))
        file.parent.mkdir(exist_ok=True)
        assert create.kind == "create" and filled.text_document.uri == create.uri
        file.write_text(filled.edits[0].new_text)  # what an editor does when the person saves
    assert repository.get(made["id"]).title == "Why we pin apsw"
    assert repository.get(lesson["id"]).kind == "lesson" and repository.get(lesson["id"]).path.startswith(
        "memories/lessons/"
    )
    assert not any(item.verdict == "quarantine" for item in repository.check())


def amended(stored, text: str, line: int) -> tuple[list[lsp.TextEdit], list[str]]:
    """The edit that "Amend this memory" makes at a line of a text that is not saved, and what the person is told."""

    async def story(editor):
        await editor.open("retry-with-jitter.md", text)
        document = lsp.TextDocumentIdentifier(editor.uri("retry-with-jitter.md"))
        at = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 0))
        params = lsp.CodeActionParams(document, at, lsp.CodeActionContext([]))
        (action,) = await editor.client.text_document_code_action_async(params)
        assert action.title == "Amend this memory"
        await editor.run("rawkomem.amend", editor.uri("retry-with-jitter.md"), line)
        await editor.run("rawkomem.amend", (stored / "README.md").as_uri(), 0)
        return editor.edits, editor.messages

    edits, messages = edit(stored, story)
    return [change for params in edits for changes in params.edit.changes.values() for change in changes], messages


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_amending_offers_a_copy_of_the_text_that_keeps_it(stored, newline):
    text = RETRY.replace("\n", newline)
    (change,), messages = amended(stored, text, 11)
    assert change.range.start == change.range.end == lsp.Position(11, 0)
    (stored / ".rawko" / "memories" / "retry-with-jitter.md").write_bytes((text + change.new_text).encode())
    memory = Repository.open(str(stored)).get("retry-with-jitter")
    assert memory.entries == 2
    assert memory.body == "Retries without jitter brought the queue down twice. See [[queue-limits]]."
    assert len(messages) == 1 and "no memory at the cursor" in messages[0]


def test_amending_goes_by_what_the_editor_holds(stored):
    second = "\n---\n\n---\nid: mem_second\ntitle: Second\n---\n\nThe second text.\n"
    (stored / ".rawko" / "memories" / "retry-with-jitter.md").write_text(RETRY + second, encoding="utf-8")
    unsaved = RETRY + "New line.\n" * 20 + second
    (first,), _ = amended(stored, unsaved, 25)
    assert "about: mem_1700000000000_abc123" in first.new_text and "New line." in first.new_text
    (other,), _ = amended(stored, unsaved, unsaved.count("\n"))
    assert "about: mem_second" in other.new_text and "The second text." in other.new_text


def test_nothing_is_amended_where_an_entry_would_not_be_one(stored):
    edits, messages = amended(stored, RETRY + "\n```\nan open fence\n", 9)
    assert edits == [] and "close the code fence" in messages[0]
    edits, messages = amended(stored, RETRY.replace("title: ", "title: ["), 3)
    assert edits == [] and "no memory at the cursor" in messages[0]
