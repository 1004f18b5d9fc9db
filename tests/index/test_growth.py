"""What a question reads does not grow with the number of memories where it need not."""

import os
import time

import apsw
from rawkomem.files import layout
from rawkomem.index import catalogue as catalogue_module
from rawkomem.index import sync
from rawkomem.index.catalogue import CATALOGUE_SCHEMA, Catalogue, Row
from rawkomem.index.index import Index
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import EACH_STATE, STORE_SCHEMA
from rawkomem.model.filters import DEFAULT_FILTER, Filter

MANY = 2_000


def steps(database, ask) -> tuple[object, int]:
    """Return the answer of a call, and the steps of SQLite's machine that it took."""
    taken = []
    database.trace_v2(
        apsw.SQLITE_TRACE_PROFILE, lambda event: taken.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])
    )
    try:
        return ask(), sum(taken)
    finally:
        database.trace_v2(0, None)


def test_active_memories_are_counted_without_reading_each():
    database = apsw.Connection(":memory:")
    database.execute(CATALOGUE_SCHEMA)
    states = [("active", 1)] * MANY + [("active", 0)] * 3 + [("deleted", 1)] * 4 + [("Draft", 0)] * 5
    rows = [(f"mem_{number}", *state) for number, state in enumerate(states)]
    database.executemany("INSERT INTO memories (id, status, vouched) VALUES (?, ?, ?)", rows)
    catalogue = Catalogue(database)
    for vouched, count in ((False, MANY + 3), (True, MANY)):
        answer, taken = steps(database, lambda vouched=vouched: catalogue.count(vouched))
        assert answer == count and taken < MANY / 4


def test_the_states_of_memories_are_looked_up_without_reading_each():
    database = apsw.Connection(":memory:")
    database.execute(STORE_SCHEMA)
    states = [("active", "memory", 1)] * MANY
    states += [("active", "lesson", 1), ("active", "memory", 0), ("deleted", "lesson", 0), ("archived", "skill", 1)]
    rows = [(f"mem_{number}", *state) for number, state in enumerate(states)]
    database.executemany("INSERT INTO documents (id, status, kind, vouched) VALUES (?, ?, ?, ?)", rows)
    found, taken = steps(database, lambda: list(database.execute(f"{EACH_STATE} SELECT * FROM states")))
    assert found == sorted({*states}) and taken < MANY / 4


def written(memories, count: int) -> None:
    for number in range(count):
        kind = "validUntil: 2020-01-01T00:00:00Z\n" if number % 5 == 0 else "importance: high\n" if number % 3 else ""
        text = f"---\nid: m{number}\ntitle: Port {number}\n{kind}---\n\nThe port is {number}.\n"
        (memories / f"m{number}.md").write_text(text)


def settle(repository) -> None:
    """Let the last changes grow old enough to be trusted, and catch up."""
    repository.sync()
    time.sleep(sync.RACY_NS / 1e9 + 0.01)
    repository.core.index.refresh()


FILTERS = (
    None, DEFAULT_FILTER, Filter(), Filter(statuses=("deleted",), current=True), Filter(statuses=("active", "archived")),
    Filter(current=True), Filter(importance=2), Filter(statuses=("active",), ids=("m1", "m2")), Filter(vouched=1),
)  # fmt: skip


def test_a_page_of_a_list_is_the_beginning_of_the_list_and_reads_no_other_memory(memories, repository, monkeypatch):
    written(memories, 40)
    repository.delete("m3", "gone")
    settle(repository)
    made = []
    monkeypatch.setattr(catalogue_module, "Row", lambda *values: made.append(values) or Row(*values))
    for only in FILTERS:
        rows = repository.core.rows(only)
        assert repository.core.page(only, 0) == (rows, len(rows))
        made.clear()
        assert repository.core.page(only, 7) == (rows[:7], len(rows))
        assert len(made) <= 7 or only in FILTERS[-3:]


def test_status_looks_at_the_files_once_and_reads_their_stamps_only_if_one_changed(memories, repository, monkeypatch):
    written(memories, 40)
    settle(repository)
    walks, reads = [], []
    walk = layout._Walk
    monkeypatch.setattr(layout, "_Walk", lambda root, stamps: walks.append(stamps) or walk(root, stamps))
    monkeypatch.setattr(Catalogue, "stamps", lambda self: reads.append(1) or {})
    status = repository.store.status()
    assert walks == [None] and not reads
    assert status.fresh and status.files == status.indexed == 40 and status.files_hash == status.index_hash


def test_whether_contextual_vectors_are_there_is_asked_without_a_query_for_each_memory(memories, repository):
    """A worker fills them in for an hour; meanwhile each search asks."""
    for number in range(100):
        (memories / f"m{number}.md").write_text(f"---\ntitle: Port {number}\n---\n\nThe port is {number}.\n")
    repository.sync()
    index = repository.core.index
    asked: list[object] = []
    filled: list[int] = []
    writer = open_database(index.path)
    writer.execute("UPDATE memories SET vouched = 0 WHERE id < 'm2'")
    index.reading().trace_v2(apsw.SQLITE_TRACE_STMT, asked.append)
    assert index.deep() is None and len(asked) == 1, "before the first vector, nothing is counted"
    asked.clear()
    index.release()
    writer.execute("DELETE FROM shallow WHERE document % 2; INSERT INTO meta VALUES ('deep', 'minilm')")
    index.open_deep = lambda: filled.append(1)  # returns no embedder
    for sql in ("", "DELETE FROM shallow WHERE document > 10", "UPDATE memories SET vouched = 0"):
        writer.execute(sql)
        index.reading().trace_v2(apsw.SQLITE_TRACE_STMT, asked.append)
        assert index.deep() is None
        index.release()
    assert len(filled) == 1, (
        "the memories that a person vouches for have their vectors, and then nobody vouches for any"
    )
    assert len(asked) < 20
    writer.close()


def test_no_log_is_left_beside_the_index_for_each_command_to_read(git, project, memories, rawkomem):
    (memories / "a.md").write_text("---\ntitle: Ports\n---\n\nRedis listens on 6380.\n")
    git.commit()
    rawkomem("index", "sync")
    logs = [file for file in os.scandir(project / ".rawko" / "local") if file.name.endswith(".db-wal")]
    assert not any(file.stat().st_size for file in logs)


def test_review_looks_at_the_files_a_few_times_however_much_waits(memories, project, monkeypatch, rawkomem):
    for number in range(12):
        text = f"Service{number} must always use port {6000 + number}."
        never = f"Service{number} must never use port {6000 + number}."
        for id, body in ((f"a{number}", text), (f"b{number}", never)):
            (memories / f"{id}.md").write_text(f"---\ntitle: Service{number}\n---\n\n{body}\n")
    rawkomem("index", "sync")
    asked = []
    ask = Index.answer
    monkeypatch.setattr(Index, "answer", lambda index, work: asked.append(1) or ask(index, work))
    for words in (("review", "--json"), ("review", "--list")):
        asked.clear()
        shown = rawkomem(*words).stdout
        assert "Service0" in shown and "Service11" in shown and len(asked) < 12
