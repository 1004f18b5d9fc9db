"""What stands where in a memory file, and what is told about it: without a server."""

import pytest
from rawkomem.faces.lsp import features
from rawkomem.faces.lsp.documents import Shelf, conditions_in, names_in
from rawkomem.faces.lsp.features import Teller, fired_card
from rawkomem.files import session_records
from rawkomem.files.layout import find_layout
from rawkomem.format.entries import read_entries
from rawkomem.model.entries import Entry

WHEN = [
    "whenToUse: [\"retry|backoff\", plain words, 'a, b']",
    "whenToUse: one, two [three]",
    'whenToUse: "quoted, \\"twice\\""  # why',
    "whenToUse:\n  - retry, or [back off]\n  - 'C:\\temp, it''s'\n  - \"tab\\there\"\n  - a {brace}",
    "whenToUse:\n  - pattern: older|form\n  - {pattern: 'in, braces'}",
    'whenToUse: [first,\n  "second, too"]',
    "whenToUse:\n  -\n  - x",
    "whenToUse: []",
]


@pytest.mark.parametrize("when", WHEN)
def test_conditions_are_those_that_the_reader_takes(when):
    text = f"---\ntitle: T\n{when}\n---\n\nBody.\n"
    (entry,), _ = read_entries(text)
    assert [span.text for span in conditions_in(text.split("\n"))] == [*entry.when]


def test_a_span_holds_what_stands_between_the_quotes():
    lines = ["---", "title: T", "whenToUse:", '  - "one, two"', "  - three, four", "---"]
    assert [lines[span.line][span.start : span.end] for span in conditions_in(lines)] == ["one, two", "three, four"]


def test_names_of_memories_may_hold_commas():
    lines = ["---", "title: T", "relatedMemories:", "  - Queues, and limits", "about: 'x'", "---", "[[y]] `[[z]]`"]
    assert [span.text for span in names_in(lines)] == ["Queues, and limits", "x", "y"]


@pytest.mark.parametrize("condition", ["a ` b", "`", "``x`", "![x](y)"])
def test_a_condition_is_shown_as_it_stands(condition):
    said = fired_card(condition, [(0, "![spy](https://example.com)")])
    ticks = said[: len(said) - len(said.lstrip("`"))]
    assert said.count(ticks) == 2 and "![" not in said


def test_uses_are_read_once_for_all_memories_of_a_request(project, repository, monkeypatch):
    for title in ("One", "Two", "Three"):
        id = repository.add(Entry(title=title, body="Text.")).entry.id
        session_records.note_use(repository.layout, 1, "s", 5, [id])
    read = []
    accesses = features.accesses
    monkeypatch.setattr(features, "accesses", lambda layout: read.append(layout) or accesses(layout))
    shelf = Shelf(find_layout(str(project)), print)
    shelf.refresh()
    teller = Teller(shelf)
    assert all("used 1 time," in teller.remarks(memory)[-1] for memory in shelf.memories.values())
    assert len(shelf.memories) == 3 and len(read) == 1
