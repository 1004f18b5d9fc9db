"""What an editor shows beside a text: cards and code lenses."""

from __future__ import annotations

from pathlib import Path

import pytest
from rawkomem.model.entries import Entry, Task
from rawkomem.repository import Repository

from tests.faces.lsp.editor import edit, place
from tests.faces.lsp.sample import LIMITS, RETRY

pytestmark = pytest.mark.servers


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
