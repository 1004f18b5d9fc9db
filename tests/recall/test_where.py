"""`--filter`: conditions over the columns of RFC-0011, for searches, lists and injections alike."""

import json

import pytest
from rawkomem.files.session_records import note_use
from rawkomem.model.entries import Entry, Task
from rawkomem.model.errors import BadInput
from rawkomem.recall.signals import filter_of


@pytest.fixture
def ids(repository) -> dict[str, str]:
    """Three memories about Redis: a lesson, one of a session, one that was used."""
    entries = {
        "lesson": Entry(kind="lesson", title="Redis needs a password", when=("redis",), importance="critical"),
        "session": Entry(title="Redis listens on 6380", when=("redis",), by="planner", extra={"session": "s1"}),
        "used": Entry(title="Redis evicts old keys", when=("redis",), tags=("cache", "db"), source="notes"),
    }
    ids = {name: repository.add(entry, via="person").entry.id for name, entry in entries.items()}
    note_use(repository.layout, 1_767_225_600_000, "s", 10, [ids["used"]])
    return ids


CONDITIONS = {
    "memory_type = 'lesson'": {"lesson"},
    "memory_type IN ('global', 'session')": {"session", "used"},
    "session_id = 's1' AND agent_id = 'planner'": {"session"},
    "session_id IS NULL": {"lesson", "used"},
    "importance_score >= 0.8": {"lesson"},
    "access_count > 0 AND last_accessed <= '2026-01-01'": {"used"},
    "array_contains(tags, 'cache') OR title LIKE '%password'": {"used", "lesson"},
    "source = 'notes'": {"used"},
    "created_at < '2001-01-01'": set(),
}


def test_every_read_obeys_it(repository, ids):
    for condition, names in CONDITIONS.items():
        only = filter_of(filter=condition)
        wanted = {ids[name] for name in names}
        assert {row.id for row in repository.list(only)} == wanted, condition
        assert {found.row.id for found in repository.search("redis", 10, only)} == wanted, condition
        assert {item.memory.id for item in repository.inject(Task("set up redis"), only=only).items} <= wanted


def test_by_command(repository, ids, rawkomem):
    found = json.loads(rawkomem("search", "redis", "--filter", "kind = 'lesson'", "--json").stdout)
    assert [item["id"] for item in found] == [ids["lesson"]]
    refused = rawkomem("search", "redis", "--filter", "kind = 'lesson'; DROP TABLE x", check=2)
    assert "the filter is not understood" in refused.stderr and "memory_type" in refused.stderr


def test_the_columns_are_shown(ids, rawkomem):
    shown = json.loads(rawkomem("show", ids["used"], "--json").stdout)
    wanted = {"memory_type": "global", "access_count": 1, "last_accessed": "2026-01-01T00:00:00Z"}
    assert {key: shown[key] for key in wanted} == wanted and shown["session_id"] is None


def test_what_is_wrong_is_told_before_anything_is_read():
    with pytest.raises(BadInput, match="colour"):
        filter_of(filter="colour = 'red'")
