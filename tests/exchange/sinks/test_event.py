"""Which entries are events, and what an event says."""

import json

import pytest
from rawkomem.exchange.sinks import MAX_EVENT_CHARS, event_name, events_of
from rawkomem.files.layout import Layout
from rawkomem.model.entries import DECAY_CODE, Entry
from rawkomem.model.values import CREATES

from tests.exchange.sinks.helpers import STORED

LAYOUT = Layout("/somewhere/my-project/.rawko")


@pytest.mark.parametrize(
    ("kind", "extra", "code", "name"),
    [
        *((kind, {}, "", "store") for kind in CREATES),
        ("amend", {}, "", "store"),
        ("supersede", {"supersededBy": "mem_2"}, "", "supersede"),
        ("quarantine", {}, "", "quarantine"),
        ("archive", {}, "", "archive"),
        ("archive", {}, DECAY_CODE, "decay"),
        ("delete", {}, "", "archive"),
        ("review", {"action": "reject"}, "", "archive"),
        ("review", {"action": "activate"}, "", ""),
        ("feedback", {}, "", ""),
        ("link", {}, DECAY_CODE, ""),
    ],
)
def test_names(kind, extra, code, name):
    assert event_name(Entry(kind=kind, extra=extra), code) == name


def test_what_a_stored_memory_says():
    (event,) = events_of(LAYOUT, "add", [STORED])
    assert event == {
        "event": "store",
        "key": event["key"],
        "at": "2026-01-23T10:30:00Z",
        "repository": "my-project",
        "memory": "mem_1_aaaaaa",
        "kind": "memory",
        "title": "Why apsw",
        "text": "Because.",
        "importance": "medium",
        "by": "alice",
    }


def test_what_a_change_says():
    entry = Entry(kind="supersede", id="supersede_1", about="mem_1", extra={"supersededBy": "mem_2", "reason": "a\nb"})
    (event,) = events_of(LAYOUT, "", [entry])
    assert (event["memory"], event["superseded_by"], event["reason"]) == (
        "mem_1",
        "mem_2",
        "a b",
    ) and "importance" not in event


def test_the_key_is_the_same_every_time_and_different_for_every_entry():
    other = Entry(kind="memory", id="mem_2_bbbbbb")
    keys = [event["key"] for event in (*events_of(LAYOUT, "", [STORED, other]), *events_of(LAYOUT, "", [STORED]))]
    assert keys[0] == keys[2] != keys[1] and keys[0].isalnum()
    assert events_of(Layout("/elsewhere/.rawko"), "", [STORED])[0]["key"] != keys[0]


def test_nothing_invisible_no_address_and_no_endless_text():
    entry = Entry(id="m", title="a\u202eb\nc", body="x\u200b" * MAX_EVENT_CHARS * 2, by="alice <alice@example.com>")
    (event,) = events_of(LAYOUT, "", [entry])
    assert event["title"] == "ab c" and len(event["text"]) == MAX_EVENT_CHARS and event["text"].endswith("x…")
    assert "alice@example.com" not in json.dumps(event)
