"""`rawkomem lsp` with pygls' own client: diagnostics, completion, definition, references, symbols, odd documents."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from rawkomem.model.entries import Entry, Task
from rawkomem.model.values import CHANGES, CREATES, FORMAT, IMPORTANCE
from rawkomem.repository import Repository

from tests.faces.lsp.editor import WAIT, edit, place
from tests.faces.lsp.sample import LIMITS, RETRY

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
    assert not mended, "the short memory is valid now"
    assert "related link to 'nobody'" in link.message and link.source == "rawkomem"
    assert link.severity == lsp.DiagnosticSeverity.Information
    assert any(item.severity == lsp.DiagnosticSeverity.Error for item in broken)
    (about,) = [item for item in dangling if "of 'gone': no file here has this memory" in item.message]
    assert about.severity == lsp.DiagnosticSeverity.Warning and about.range.start.line == 13
    assert any("is used in another file" in item.message for item in twice)
    assert not closed


def test_arguments_of_a_wrong_type_are_told_in_a_message(stored):
    uri = (stored / ".rawko" / "memories" / "queue-limits.md").as_uri()

    async def story(editor):
        for words in (("amend", uri, "x"), ("why", uri, "zz", "task"), ("show",), ("amend", uri, [1])):
            assert await editor.run(f"rawkomem.{words[0]}", *words[1:]) is None
        return editor.messages

    messages = edit(stored, story)
    assert len(messages) == 4 and all("cannot use these arguments" in message for message in messages), messages


ODD_ARGUMENTS = [None, True, 3, 1.5, [], ["x"], {}, {"a": 1}]


def test_no_command_reads_an_argument_of_another_type_as_text(stored):
    """`[null]` made a memory with the title "None"."""
    uri = (stored / ".rawko" / "memories" / "queue-limits.md").as_uri()
    calls = [("new", odd) for odd in ODD_ARGUMENTS] + [("new", "A title", odd) for odd in ODD_ARGUMENTS[1:]]
    calls += [("search", odd) for odd in ODD_ARGUMENTS] + [("why", uri, 3, odd) for odd in ODD_ARGUMENTS]
    calls += [("amend", uri, odd) for odd in (True, 1.5, [], {}, "x")] + [("show", odd, 1) for odd in ODD_ARGUMENTS]
    calls += [("new", "A title", "memory", "more"), ("search", None, "x")]
    before = sorted(path.name for path in stored.rglob("*.md"))

    async def story(editor):
        for name, *arguments in calls:
            assert await editor.run(f"rawkomem.{name}", *arguments) is None, (name, arguments)
        return editor.messages, editor.edits

    messages, edits = edit(stored, story)
    assert len(messages) == len(calls) and not edits
    assert sorted(path.name for path in stored.rglob("*.md")) == before


@pytest.mark.parametrize(
    "method, params",
    [
        (lsp.TEXT_DOCUMENT_HOVER, {"position": {"line": -1, "character": -1}}),
        (lsp.TEXT_DOCUMENT_COMPLETION, {"position": {"line": 0, "character": -5}}),
        (lsp.TEXT_DOCUMENT_DEFINITION, {"position": {"line": 2**31, "character": 0}}),
        (lsp.TEXT_DOCUMENT_REFERENCES, {"position": {"line": "x", "character": 0}, "context": {}}),
        (lsp.TEXT_DOCUMENT_HOVER, {}),
        (lsp.WORKSPACE_EXECUTE_COMMAND, {}),
    ],
)
def test_a_request_with_parameters_that_the_protocol_forbids_gets_an_error(stored, method, params):
    """The editor would wait for ever. The types of lsprotocol forbid such requests, so the message is written here."""

    async def story(editor):
        protocol, uri = editor.client.protocol, editor.uri("queue-limits.md")
        given = {"textDocument": {"uri": uri}, **params} if "command" not in params else params
        answer = protocol._request_futures["odd"] = asyncio.get_running_loop().create_future()
        protocol._send_data({"jsonrpc": "2.0", "id": "odd", "method": method, "params": given})
        with pytest.raises(JsonRpcException) as refused:
            await asyncio.wait_for(answer, 10)
        return refused.value.code, await editor.symbols("")

    code, symbols = edit(stored, story)
    assert code == -32602 and symbols


def test_what_has_ended_or_not_begun_is_labelled_in_a_hover(stored):
    for name, key in (("ended", "validUntil: 2020-01-01"), ("later", "validFrom: 2090-01-01")):
        file = stored / ".rawko" / "memories" / f"{name}.md"
        file.write_text(f"---\ntitle: {name}\n{key}\n---\n\nText.\n")

    async def story(editor):
        return [await editor.hover(f"{name}.md", 1, 1) for name in ("ended", "later")]

    ended, later = edit(stored, story)
    assert "**expired**" in ended and "**not yet valid**" in later


def test_a_newer_format_is_shown_as_a_message(stored):
    (stored / ".rawko" / "config.yaml").write_text(f"format: {FORMAT + 1}\n")

    async def story(editor):
        item = lsp.TextDocumentItem(editor.uri("queue-limits.md"), "markdown", 1, LIMITS)
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await editor.hover("queue-limits.md", 1, 9), editor.messages

    said, messages = edit(stored, story)
    assert not said and any("written by a newer rawkomem" in message for message in messages), messages


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


# New memories and amends from an editor: edits that the person saves, or not
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


def test_a_new_memory_with_a_secret_in_its_title_names_no_part_of_it(stored):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    async def story(editor):
        return await editor.run("rawkomem.new", f"Robot {key} for builds"), editor.edits, editor.messages

    made, edits, messages = edit(stored, story)
    assert key[4:].lower() not in str((made, edits, messages)).lower()
    (asked,) = edits
    assert "REDACTED_GITHUB_TOKEN" in asked.edit.document_changes[1].edits[0].new_text


# `rawkomem lsp` with editors that support different things: edits, hovers, code actions, watched files
pytest.importorskip("pygls", reason="pygls is missing: pip install -e .")
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


# What an editor shows beside a text: cards and code lenses
def test_hover_tells_state_trust_and_tasks_that_fired(stored):
    repository = Repository.open(str(stored))
    for task in ("retry the upload", "write the docs", "tune the backoff"):
        repository.inject(Task(task))
    repository.beliefs.dispute("retry-with-jitter", "not any more")
    repository.feedback("retry-with-jitter", "helpful")

    async def story(editor):
        await editor.open("queue-limits.md")
        await editor.open("retry-with-jitter.md")
        named = await editor.hover("queue-limits.md", *place(LIMITS, "mem_1700000000000_abc123|"))
        own = await editor.hover("queue-limits.md", 1, 9)
        condition = await editor.hover("retry-with-jitter.md", *place(RETRY, "retry|backoff"))
        unfired = await editor.hover("queue-limits.md", *place(LIMITS, '["queue"', 3))
        return named, own, condition, unfired, await editor.hover("queue-limits.md", 7, 0)

    named, own, condition, unfired, nothing = edit(stored, story)
    assert "### Retry with jitter" in named and "trust 0." in named and "1 helpful" in named
    assert "brought the queue down" in named
    assert "### Queue limits" in own and "critical" in own
    assert "retry the upload" in condition and "tune the backoff" in condition and "docs" not in condition
    assert "fired on none" in unfired and nothing == ""


def test_hover_fetches_nothing_and_shows_nothing_that_waits_for_a_review(stored):
    repository = Repository.open(str(stored))
    body = "Look: ![spy](https://example.com/x.png) here\u202e.\n\n![other][ref]"
    titles = ("![Picture](https://example.com/t.png) book", "Held back")
    ids = [repository.add(Entry(title=title, body=body)).id for title in titles]
    picture, _ = (repository.get(id).path.rpartition("/")[2].removesuffix(".md") for id in ids)
    repository.beliefs.quarantine("held-back")
    text = f"---\ntitle: Names both\n---\n\n[[{picture}]] [[held-back]]\n"

    async def story(editor):
        await editor.open("both.md", text)
        return [await editor.hover("both.md", *place(text, name)) for name in ("picture", "held")]

    shown, held = edit(stored, story)
    assert "spy" in shown and "![" not in shown and "\u202e" not in shown
    assert "quarantined" in held and "Look" not in held and "Held back" not in held


def test_lenses_stand_where_the_editor_holds_the_entry(stored):
    Repository.open(str(stored)).feedback("retry-with-jitter", "helpful")
    file = stored / ".rawko" / "memories" / "retry-with-jitter.md"
    unsaved = "\n\n" + file.read_text(encoding="utf-8")

    async def story(editor):
        await editor.open("retry-with-jitter.md", unsaved)
        return await editor.lenses("retry-with-jitter.md")

    (lens,) = edit(stored, story)
    assert lens.command.title == "1 helpful" and lens.range.start.line == 2


def test_lenses_tell_what_replaced_it_what_is_stale_and_how_it_did(stored, git):
    (stored / "limits.py").write_text("def limit():\n    return 5\n")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x")
    repository = Repository.open(str(stored), via="person")
    repository.citations.add("queue-limits", ["limits.py#limit"])
    repository.beliefs.supersede("retry-with-jitter", "queue-limits", anyway=True)
    repository.feedback("retry-with-jitter", "helpful")
    (stored / "limits.py").write_text("def limit():\n    return 500\n")

    async def story(editor):
        lenses = {}
        for name in ("retry-with-jitter.md", "queue-limits.md"):
            await editor.open(name)
            lenses[name] = await editor.lenses(name)
        superseded = lenses["retry-with-jitter.md"][0].command
        await editor.run(superseded.command, *superseded.arguments)
        return {name: [lens.command.title for lens in some] for name, some in lenses.items()}, editor.shown

    titles, shown = edit(stored, story)
    assert titles["retry-with-jitter.md"] == ["superseded by Queue limits", "1 helpful"]
    assert titles["queue-limits.md"] == ["stale: limits.py#limit changed"]
    assert Path(shown[0].uri).name == "queue-limits.md"


# `rawkomem lsp` as a process: how it ends, where diagnostics sit, cancelled requests, long lists of completions
pytest.importorskip("pygls", reason="pygls is missing: pip install -e .")
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
