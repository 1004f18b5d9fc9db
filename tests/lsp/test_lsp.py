"""`rawkomem lsp` with pygls' own client: diagnostics, completion, hover, definition, references, symbols, lenses."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="for want of the extra: pip install 'rawkomem[lsp]'")

from lsprotocol import types as lsp

from rawkomem.files.start import plan_start, write_start
from rawkomem.model.entry import Entry
from rawkomem.model.kinds import CHANGES, CREATES, IMPORTANCE
from rawkomem.recall.inject import Task
from rawkomem.repository import Repository
from tests.lsp.editor import editing

pytestmark = pytest.mark.servers

RETRY = """---
id: mem_1700000000000_abc123
title: Retry with jitter
whenToUse:
  - "retry|backoff"
tags: [queue, network]
importance: high
discoveredAt: 2026-01-23T10:30:00Z
---

Retries without jitter brought the queue down twice. See [[queue-limits]].
"""
LIMITS = """---
title: Queue limits
whenToUse: ["queue"]
tags: [queue]
relatedMemories: [mem_1700000000000_abc123, "nobody"]
---

The 😀 queue holds [[mem_1700000000000_abc123|retries]] and `[[code]]`.

---

---
kind: amend
about: queue-limits
at: 2026-02-01T09:00:00Z
importance: critical
---
"""


@pytest.fixture
def stored(memories) -> Path:
    (memories / "retry-with-jitter.md").write_text(RETRY, encoding="utf-8")
    (memories / "queue-limits.md").write_text(LIMITS, encoding="utf-8")
    return memories.parent.parent


def edit(project, story, **how):
    """Run a story of an editor."""

    async def run():
        async with editing(project, **how) as editor:
            return await story(editor)

    return asyncio.run(run())


def place(text: str, needle: str, into: int = 1) -> tuple[int, int]:
    """Line and UTF-16 column inside the first occurrence of a text."""
    before = text[: text.index(needle) + into]
    line = before.rpartition("\n")[2]
    return before.count("\n"), len(line.encode("utf-16-le")) // 2


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
    assert "related link to 'nobody'" in link.message and link.source == "rawkomem"
    assert link.severity == lsp.DiagnosticSeverity.Information
    assert any(item.severity == lsp.DiagnosticSeverity.Error for item in broken)
    assert not any("no such memory" in item.message for item in mended)
    (about,) = [item for item in dangling if "about 'gone'" in item.message]
    assert about.severity == lsp.DiagnosticSeverity.Warning and about.range.start.line == 11
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


def test_what_git_pulled_is_known_when_a_file_is_opened_or_typed_in(stored):
    async def story(editor):
        await editor.open("retry-with-jitter.md")  # the memories are loaded
        editor.file("nobody.md").write_text("---\ntitle: Somebody now\n---\n\nText.\n", encoding="utf-8")
        opened = await editor.open("queue-limits.md")
        editor.file("later.md").write_text("---\ntitle: Later\n---\n\nText.\n", encoding="utf-8")
        return opened, await editor.type("queue-limits.md", LIMITS.replace("nobody", "later"))

    for said in edit(stored, story):
        assert not any("no such memory" in item.message for item in said)


def test_links_to_deleted_memories_are_told_as_check_tells_them(stored):
    repository = Repository.open(str(stored))
    for title in ("Old one", "Older"):
        repository.add(Entry(title=title, body="Text."))
    text = (
        "---\ntitle: New one\nwhenToUse: [new]\nsupersedes: [old-one]\nderivedFrom: [older]\n"
        "relatedMemories: [older]\n---\n\nSee [[old-one]].\n"
    )
    (stored / ".rawko" / "memories" / "new-one.md").write_text(text, encoding="utf-8")
    for name in ("old-one", "older"):
        repository.delete(name)

    async def story(editor):
        return await editor.open("new-one.md"), await editor.define("new-one.md", *place(text, "old-one"))

    said, defined = edit(stored, story)
    (checked,) = [item for item in repository.check() if item.file == "memories/new-one.md"]
    assert sorted(item.message for item in said) == sorted(f"{p.message}. {p.hint}" for p in checked.problems)
    assert len([item for item in said if "which is deleted" in item.message]) == 2
    assert not any("no such memory" in item.message for item in said)
    assert defined == [("old-one.md", 0)]


def test_other_files_are_left_alone_and_build_no_index(stored):
    (stored / "README.md").write_text("# Readme\n")

    async def story(editor):
        uri = (stored / "README.md").as_uri()
        item = lsp.TextDocumentItem(uri=uri, language_id="markdown", version=1, text="[[x]]")
        editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(0, 3))
        assert await editor.client.text_document_hover_async(params) is None
        assert not (stored / ".rawko" / "local" / "index.db").exists()
        await editor.open("queue-limits.md")
        assert (stored / ".rawko" / "local" / "index.db").exists()
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
        assert related["mem_1700000000000_abc123"].filter_text == "mem_1700000000000_abc123 Retry with jitter"
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


def test_hover_tells_state_trust_and_tasks_that_fired(stored):
    repository = Repository.open(str(stored))
    for task in ("retry the upload", "write the docs", "tune the backoff"):
        repository.inject(Task(task))
    repository.dispute("retry-with-jitter", "not any more")
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
    assert (stored / ".rawko" / "local" / "ledger" / "spool.tsv").exists()  # looking seals nothing


def test_hover_fetches_nothing_and_shows_nothing_that_waits_for_a_review(stored):
    repository = Repository.open(str(stored))
    body = "Look: ![spy](https://example.com/x.png) here\u202e.\n\n![other][ref]"
    for title in ("![Picture](https://example.com/t.png) book", "Held back"):
        repository.add(Entry(title=title, body=body))
    repository.quarantine("held-back")
    text = "---\ntitle: Names both\n---\n\n[[picturehttpsexamplecomtpng-book]] [[held-back]]\n"

    async def story(editor):
        await editor.open("both.md", text)
        return [await editor.hover("both.md", *place(text, name)) for name in ("picture", "held")]

    shown, held = edit(stored, story)
    assert "spy" in shown and "![" not in shown and "\u202e" not in shown
    assert "quarantined" in held and "Look" not in held and "Held back" not in held


def test_hover_reads_a_condition_as_the_reader_does(stored):
    text = (
        "---\ntitle: Odd conditions\nwhenToUse:\n  - retry, or [back off]\n  - \"say \\\"twice\\\"\"\n  - 'it''s'\n---\n\nx\n"
    )

    async def story(editor):
        await editor.open("odd-conditions.md", text)
        return [await editor.hover("odd-conditions.md", line, 6) for line in (3, 4, 5)]

    first, second, third = edit(stored, story)
    assert first.startswith("`retry, or [back off]`")
    assert second.startswith('`say "twice"`') and third.startswith("`it's`")


def test_symbols_of_the_workspace(stored):
    async def story(editor):
        named = editor.symbols
        assert len(await named("")) == 2
        assert await named("JITTER") == [("Retry with jitter", "retry-with-jitter.md")]
        assert await named("queue network") == [("Retry with jitter", "retry-with-jitter.md")]
        assert await named("abc123") == [("Retry with jitter", "retry-with-jitter.md")]
        assert await named("nothing like it") == []

    edit(stored, story)


def test_symbols_come_from_every_folder_that_has_memories(stored, tmp_path_factory):
    plain, second = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("second")
    write_start(plan_start(str(second)))
    (second / ".rawko" / "memories" / "other.md").write_text("---\ntitle: Of another\n---\n\nText.\n")

    async def story(editor):
        return await editor.symbols(""), editor.messages

    found, messages = edit(stored, story, folders=[plain, stored, second])
    assert {name for name, _ in found} == {"Retry with jitter", "Queue limits", "Of another"} and messages == []
    assert edit(stored, story, folders=[plain]) == ([], [])


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
    repository = Repository.open(str(stored))
    repository.cite("queue-limits", ["limits.py#limit"])
    repository.supersede("retry-with-jitter", "queue-limits", anyway=True)
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


def test_an_editor_that_cannot_create_files_is_told_another_way(stored):
    async def story(editor):
        return await editor.run("rawkomem.new", "Why we pin apsw"), editor.messages

    made, messages = edit(stored, story, creates=False)
    assert made is None and "rawkomem add --edit" in messages[0] and len([*stored.rglob("*.md")]) == 2


def amended(stored, text: str, line: int) -> tuple[list[lsp.TextEdit], list[str]]:
    """The edit that "Amend this memory" makes at a line of a text that is not saved, and what the person is told."""

    async def story(editor):
        await editor.open("retry-with-jitter.md", text)
        document = lsp.TextDocumentIdentifier(editor.uri("retry-with-jitter.md"))
        at = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 0))
        params = lsp.CodeActionParams(document, at, lsp.CodeActionContext([]))
        (action,) = await editor.client.text_document_code_action_async(params)
        await editor.run(action.command, *action.arguments)
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
    assert len(messages) == 1 and "no memory to amend here" in messages[0]


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
    assert edits == [] and "no memory to amend here" in messages[0]


def test_diagnostics_within_200_ms_on_2000_memories(memories, project):
    for number in range(2_000):
        text = f"---\nid: mem_{number}\ntitle: Note {number}\nwhenToUse: ['topic {number}']\ntags: [t{number % 50}]\n---\n\n"
        body = f"About service {number}, see [[note-{(number + 1) % 2000}]]. " + "It needs care with limits. " * 30
        (memories / f"note-{number}.md").write_text(text + body + "\n")
    Repository.open(str(project)).sync()

    async def story(editor):
        text = editor.file("note-7.md").read_text()
        assert not [item for item in await editor.open("note-7.md") if "link" in item.message]
        taken = []
        for number in range(10):
            started = time.perf_counter()
            said = await editor.type("note-7.md", text + f"\nSee [[missing-{number}]].\n")
            taken.append(time.perf_counter() - started)
            assert any(f"missing-{number}" in item.message for item in said)
        return taken

    taken = sorted(edit(project, story))
    assert taken[len(taken) // 2] < 0.2, taken


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
    import sys

    process = subprocess.Popen(
        [sys.executable, "-m", "rawkomem", "lsp"], cwd=stored, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()
