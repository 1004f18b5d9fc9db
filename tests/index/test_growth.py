"""What a question reads does not grow with the number of memories where it need not."""

import os

import apsw
from rawkomem.index.catalogue import CATALOGUE_SCHEMA, Catalogue
from rawkomem.index.stores.database import open_database
from rawkomem.index.stores.sqlite import EACH_STATE, STORE_SCHEMA

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


def test_whether_contextual_vectors_are_there_is_asked_without_a_query_for_each_memory(memories, repository):
    """A worker fills them in for an hour; meanwhile each search asks."""
    for number in range(100):
        (memories / f"m{number}.md").write_text(f"---\ntitle: Port {number}\n---\n\nThe port is {number}.\n")
    repository.sync()
    index = repository.core.index
    writer = open_database(index.path)
    writer.execute("UPDATE memories SET vouched = 0 WHERE id < 'm2'")
    writer.execute("DELETE FROM shallow WHERE document % 2")
    asked, filled = [], []
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
