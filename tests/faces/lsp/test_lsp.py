"""`rawkomem lsp` with pygls' own client: diagnostics, completion, definition, references, symbols, odd documents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from rawkomem.model.values import CHANGES, CREATES, IMPORTANCE

from tests.faces.lsp.editor import edit, place
from tests.faces.lsp.sample import LIMITS

pytestmark = pytest.mark.servers


def test_diagnostics_come_with_each_change_and_go(stored):
    async def story(editor):
        first = await editor.open("queue-limits.md")
        broken = await editor.type("queue-limits.md", LIMITS.replace("title: Queue limits", "title: [Queue"))
        mended = await editor.type("queue-limits.md", LIMITS.replace(', "nobody"', ""))
        dangling = await editor.type("queue-limits.md", LIMITS.replace("about: queue-limits", "about: gone"))
        twice = await editor.type("queue-limits.md", LIMITS.replace("title:", "id: mem_1700000000000_abc123\ntitle:"))
        editor.client.text_document_did_close(
            lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(editor.uri("queue-limits.md")))
        )
        return first, broken, mended, dangling, twice, await editor.told("queue-limits.md")

    first, broken, mended, dangling, twice, closed = edit(stored, story)
    (link,) = [item for item in first if "no such memory" in item.message]
    assert not mended, "a short memory has no problem"
    assert "related link to 'nobody'" in link.message and link.source == "rawkomem"
    assert link.severity == lsp.DiagnosticSeverity.Information
    assert any(item.severity == lsp.DiagnosticSeverity.Error for item in broken)
    (about,) = [item for item in dangling if "about 'gone'" in item.message]
    assert about.severity == lsp.DiagnosticSeverity.Warning and about.range.start.line == 13
    assert any("is used in another file" in item.message for item in twice)
    assert not closed


def test_saving_one_file_mends_another(stored):
    async def story(editor):
        before = await editor.open("queue-limits.md")
        editor.file("nobody.md").write_text("---\ntitle: Somebody now\n---\n\nText.\n", encoding="utf-8")
        document = lsp.TextDocumentIdentifier(editor.uri("nobody.md"))
        editor.client.text_document_did_save(lsp.DidSaveTextDocumentParams(document))
        return before, await editor.told("queue-limits.md")

    before, after = edit(stored, story)
    assert any("'nobody'" in item.message for item in before)
    assert not any("'nobody'" in item.message for item in after)


def test_other_files_are_left_alone_and_build_no_index(stored):
    (stored / "README.md").write_text("# Readme\n")

    async def story(editor):
        uri = (stored / "README.md").as_uri()
        item = lsp.TextDocumentItem(uri=uri, language_id="markdown", version=1, text="[[x]]")
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(0, 3))
        assert await editor.client.text_document_hover_async(params) is None
        assert not [*(stored / ".rawko" / "local").glob("index*.db")]
        await editor.open("queue-limits.md")
        assert [*(stored / ".rawko" / "local").glob("index*.db")]
        return editor.diagnostics.empty()

    assert edit(stored, story)


def test_completion_of_keys_words_tags_and_ids(stored):
    async def story(editor):
        await editor.open("new.md", "")

        async def offered(text, line, character):
            await editor.type("new.md", text)
            return {item.label: item for item in await editor.complete("new.md", line, character)}

        keys = await offered("---\ntitle: x\nwh\n---\n", 2, 2)
        assert {"whenToUse", "kind", "relatedMemories"} <= set(keys) and "title" not in keys
        assert keys["whenToUse"].text_edit.new_text == "whenToUse: "
        assert keys["whenToUse"].text_edit.range == lsp.Range(lsp.Position(2, 0), lsp.Position(2, 2))
        assert "title" in await offered("---\ntit\n---\n", 1, 3)
        assert "title" in await offered("---\ntitle: x\n---\n", 1, 3)  # the key that is being typed
        assert [*await offered("---\nkind: \n---\n", 1, 6)] == [*CREATES, *CHANGES]
        assert [*await offered("---\ntitle: x\nimportance: h\n---\n", 2, 13)] == [*IMPORTANCE]
        assert [*await offered("---\nkind: feedback\nsignal: \n---\n", 2, 8)] == ["helpful", "harmful"]
        tags = await offered("---\ntitle: x\ntags: [a, q\n---\n", 2, 11)  # YAML that cannot be read just now
        assert [*tags] == ["queue", "network"] and tags["queue"].detail == "2 memories"
        assert tags["queue"].text_edit.range.start.character == 10
        related = await offered("---\ntitle: x\nrelatedMemories:\n  - retry\n---\n", 3, 9)
        assert related["mem_1700000000000_abc123"].filter_text == "retry mem_1700000000000_abc123 Retry with jitter"
        assert related["mem_1700000000000_abc123"].text_edit.range.start.character == 4
        body = await offered("---\ntitle: x\n---\n\n😀 see [[que\n", 4, 12)
        assert body["queue-limits"].text_edit.range == lsp.Range(lsp.Position(4, 9), lsp.Position(4, 12))
        assert await offered("---\ntitle: x\n---\n\nplain words\n", 4, 5) == {}

    edit(stored, story)


def test_definition_and_references_count_utf16(stored):
    async def story(editor):
        await editor.open("queue-limits.md")
        for needle, expected in (
            ("mem_1700000000000_abc123|", [("retry-with-jitter.md", 0)]),
            ("mem_1700000000000_abc123,", [("retry-with-jitter.md", 0)]),
            ("queue-limits\nat", [("queue-limits.md", 0)]),
            ("nobody", []),
            ("[code]", []),
            ("The", []),
        ):
            assert await editor.define("queue-limits.md", *place(LIMITS, needle)) == expected, needle
        line, column = place(LIMITS, "mem_1700000000000_abc123|")
        found = await editor.refer("queue-limits.md", line, column)
        places = {(Path(item.uri).name, item.range.start.line, item.range.start.character) for item in found}
        start = place(LIMITS, "mem_1700000000000_abc123|", 0)
        assert ("queue-limits.md", *start) in places and start[1] == 21  # 😀 counts two
        assert len(places) == 2
        await editor.open("retry-with-jitter.md")
        own = await editor.refer("retry-with-jitter.md", 2, 3, declaration=True)
        assert {Path(item.uri).name for item in own} == {"retry-with-jitter.md", "queue-limits.md"} and len(own) == 3
        abouts = await editor.refer("queue-limits.md", 1, 2)
        assert {(Path(item.uri).name, item.range.start.line) for item in abouts} == {
            ("retry-with-jitter.md", 10), ("queue-limits.md", 13)}  # fmt: skip

    edit(stored, story)


@pytest.mark.parametrize("encoding, column", [("utf-8", 23), ("utf-16", 21), ("utf-32", 20)])
def test_columns_are_those_that_were_agreed(stored, encoding, column):
    async def story(editor):
        assert editor.capabilities.position_encoding == encoding
        await editor.open("queue-limits.md")
        found = await editor.refer("queue-limits.md", 7, column)
        return {item.range.start.character for item in found if item.range.start.line == 7}

    assert edit(stored, story, encodings=[encoding]) == {column}


def test_symbols_of_the_workspace(stored):
    async def story(editor):
        named = editor.symbols
        assert len(await named("")) == 2
        assert await named("JITTER") == [("Retry with jitter", "retry-with-jitter.md")]
        assert await named("queue network") == [("Retry with jitter", "retry-with-jitter.md")]
        assert await named("abc123") == [("Retry with jitter", "retry-with-jitter.md")]
        assert await named("nothing like it") == []

    edit(stored, story)


def test_odd_documents_harm_nobody(stored):
    odd = ["", "\ufeff---\n", "---\n---\n---\n", "---\ntitle: \u2028x\n---\n\u2028[[a]]\x0c[[b", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16") * 500,
           "---\ntags: [[[[[[[[[[\n", "[[" * 5000, "---\nrelatedMemories: [a, [b, {c: d}]]\n---\n"]  # fmt: skip

    async def story(editor):
        await editor.open("odd.md", "x")
        for text in odd:
            await editor.type("odd.md", text)
            for line, character in ((0, 0), (1, 3), (0, 10**6), (10**6, 0)):
                await editor.complete("odd.md", line, character)
                await editor.hover("odd.md", line, character)
                await editor.define("odd.md", line, character)
                await editor.refer("odd.md", line, character)
        await editor.open("queue-limits.md")
        return await editor.hover("queue-limits.md", 1, 9), editor.messages

    said, messages = edit(stored, story)
    assert "Queue limits" in said and messages == []


def test_the_server_ends_with_its_editor(stored):
    process = subprocess.Popen(
        [sys.executable, "-m", "rawkomem", "lsp"], cwd=stored, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()
