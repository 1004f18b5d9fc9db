"""What this machine remembers: injections, counts, finished learning, changes, and how entries arrived."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from rawkomem.files import session_records
from rawkomem.files.machine_records import Arrivals, LearnedParts, note_arrivals
from rawkomem.files.records import read
from rawkomem.files.session_records import (
    Access,
    accesses,
    last_access,
    note_asked,
    note_fresh,
    note_lost,
    note_told,
    note_use,
    prompts_since,
    told_to,
    uses,
)
from rawkomem.model.entries import Entry
from rawkomem.model.errors import BadInput
from rawkomem.model.values import DAY, now
from rawkomem.repository import Repository


@pytest.fixture
def layout(repository):
    return repository.layout


def test_what_was_told_lost_and_forgotten(layout):
    note_asked(layout, "s", "p1", 10)
    note_told(layout, "s", 30, ["a@1"])
    note_told(layout, "other", 99, ["x@1"])
    note_asked(layout, "s", "p2", 20)
    note_told(layout, "s", 5, ["b@1", "c@1"])
    found = told_to(layout, "s")
    assert (found.keys, found.tokens, found.prompt, found.heard) == ({"a@1", "b@1", "c@1"}, 35, "p2", 20)
    note_lost(layout, "s")
    assert (told_to(layout, "s").keys, told_to(layout, "s").tokens) == ({"a@1"}, 30)
    note_fresh(layout, "s")
    assert told_to(layout, "s").keys == frozenset() and told_to(layout, "s").prompt == ""
    assert told_to(layout, "other").tokens == 99 and told_to(layout, "").keys == frozenset()
    assert prompts_since(layout, "s", 0) == 2


def test_the_last_key_of_a_memory_counts_and_a_pointer_does_not_replace_a_text(layout):
    for keys in (["a b@1", "c@x@1"], ["a b@2", "a b@2+pointer"], ["c@x@"], ["a b@3+pointer"]):
        note_told(layout, "s", 1, keys)
    assert told_to(layout, "s").keys == {"a b@2", "c@x@", "a b@3+pointer"}


def test_it_expires_and_names_no_session(layout, monkeypatch):
    note_told(layout, "session-1", 30, ["a@1"])
    assert "session-1" not in str(read(layout, "SELECT * FROM injected"))
    at = session_records.now() + session_records.MAX_TOLD_DAYS * DAY + 1
    monkeypatch.setattr(session_records, "now", lambda: at)
    assert told_to(layout, "session-1").keys == frozenset()


def test_counts_are_those_of_all_uses(layout):
    chance, start = random.Random(1), now() - DAY
    for number in range(60):
        ids = [f"mem_{int(chance.expovariate(1 / 3))}" for _ in range(3)]
        note_use(layout, start + number, f"s {number // 20}", number, ids)
    every, counted = uses(layout), {}
    for use in every:
        for id in use.ids:
            known = counted.get(id, Access())
            counted[id] = Access(known.count + 1, max(known.last, use.at))
    assert len(every) == 60 and accesses(layout) == counted
    assert last_access(layout) == {id: access.last for id, access in counted.items()}
    assert uses(layout, every[40].at) == every[40:] and uses(layout, start + 60) == []


def test_done_parts_are_known_to_the_next_run(layout):
    done = LearnedParts(layout)
    done.add("/secret-project/a.jsonl", "part-1")
    done.add("/b.jsonl", "part-1")
    done.add("/b.jsonl", "part-1")
    assert done.has("/b.jsonl", "part-1") and not done.has("/b.jsonl", "part-2") and not done.has("/c", "part-1")
    assert "secret" not in str(read(layout, "SELECT * FROM learned"))
    done.forget(["/b.jsonl", "/never.jsonl"])
    assert LearnedParts(layout).has("/secret-project/a.jsonl", "part-1") and not done.has("/b.jsonl", "part-1")


def test_the_first_record_of_each_text_counts(layout):
    assert Arrivals(layout).of("a", "d") == ""
    note_arrivals(layout, [("a", "d", "agent"), ("ab", "d", "agent"), ("a", "e", "person"), ("odd\n", "d", "agent")])
    note_arrivals(layout, [("a", "d", "person")])
    found = Arrivals(layout)
    assert [found.of(id, "d") for id in ("a", "ab", "b", "", "odd\n")] == ["agent", "agent", "", "", ""]
    assert [found.of("a", digest) for digest in ("d", "e", "f", "")] == ["agent", "person", "", ""]
    assert [found.by_person("a", digest) for digest in ("d", "e", "f", "")] == [False, True, False, False]


def test_many_writers_at_once(repository):
    def add(n: int) -> Entry:
        other = Repository.open(repository.layout.project)
        return other.add(Entry(title=f"Memory {n}", body="Text."), via="agent").entry

    with ThreadPoolExecutor(4) as pool:
        entries = list(pool.map(add, range(12)))
    found = Arrivals(repository.layout)
    assert [found.of(entry.id, entry.digest) for entry in entries] == ["agent"] * 12


def test_records_that_cannot_be_written_keep_nobody_from_an_answer(repository, monkeypatch):
    repository.add(Entry(title="Why apsw", body="Extensions."))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rawkomem.files.records._connection", full)
    assert repository.search("extensions")
    written = repository.add(Entry(title="T", body="Text."), via="person")
    assert repository.get(written.entry.id).title == "T"
    assert not repository.beliefs.trust(repository.get(written.entry.id)).standing.verified
    assert any("not in the ledger" in text for text in repository.warnings)


def test_the_library_declares_and_the_command_knows(repository, rawkomem):
    id = repository.add(Entry(title="Tool", body="Text."), via="tool_output").entry.id
    assert repository.beliefs.trust(repository.get(id)).value == pytest.approx(0.85, abs=0.001)
    silent = repository.add(Entry(title="Silent", body="Text.")).entry.id
    assert repository.beliefs.trust(repository.get(silent)).source == "unknown"
    with pytest.raises(BadInput, match="unknown origin"):
        repository.add(Entry(title="Wrong", body="Text."), via="heaven")
    assert len(repository.list()) == 2
    rawkomem("add", "--title", "By a program", "--body", "Text.")
    (row,) = [row for row in repository.list() if row.title == "By a program"]
    trust = repository.beliefs.trust(repository.get(row.id))
    assert (trust.source, trust.standing.why) == ("inference", "written by an agent")
