"""Memory Lane's database is imported without loss, and a hostile one costs only itself."""

import apsw
import pytest
import yaml
from rawkomem.exchange.memory_lane import lane_id
from rawkomem.model.errors import BadInput
from rawkomem.model.values import read_time
from rawkomem.recall.scoring import score_before
from rawkomem.state.trust import type_of
from rawkomem.text.prose import entities_of

from .database import AT, ROWS, build, metadata


@pytest.fixture
def database(tmp_path):
    """A database with four memories, one of them superseded."""
    return build(tmp_path / "memories.db")


def test_what_a_row_says_comes_over(repository, database):
    done = repository.exchange.import_from(database)
    assert done.kind == "memory-lane" and len(done.news) == 4 and not done.skipped
    assert done.held == {"review": 3, "superseded": 1}
    memory = repository.get(lane_id(ROWS[0]["id"]))
    assert (memory.status, type_of(memory), memory.importance) == ("quarantined", "correction", "high")
    assert memory.tags == ("tooling", "packages") and memory.created == read_time(AT)[0]
    assert memory.extra["confidence"] == "95" and "project:shop" in entities_of(memory)
    assert score_before(memory) == 1.21 and memory.times_observed == 4
    assert memory.first_observed == read_time("2025-10-01")[0] and memory.last_observed == read_time("2025-11-02")[0]
    assert memory.extra["source_chunk"] == "no, pnpm please" and memory.extra["keywords"] == ["pnpm", "lockfile"]
    assert memory.extra["access_count"] == "9" and "embedding" not in memory.extra


def test_text_behind_a_nul_character_comes_over(repository, tmp_path):
    row = {**ROWS[0], "content": "Deploy on Monday.\0 Never on Friday."}
    repository.exchange.import_from(build(tmp_path / "memories.db", [row]))
    assert repository.get(lane_id(row["id"])).body == "Deploy on Monday. Never on Friday."


def test_windows_and_supersession_come_over(repository, database):
    repository.exchange.import_from(database)
    old, new = (repository.get(lane_id(row["id"])) for row in ROWS[1:3])
    assert (old.status, old.superseded_by) == ("superseded", new.id) and new.supersedes == (old.id,)
    assert new.valid_from == read_time("2025-06-01")[0] and new.valid_until == read_time("2031-01-01")[0]
    assert "feature:release" in entities_of(new)
    assert repository.get(lane_id(ROWS[3]["id"])).importance == "low"


def test_a_superseded_memory_that_is_restored_waits_for_its_review(repository, database):
    repository.exchange.import_from(database)
    old = lane_id(ROWS[1]["id"])
    repository.beliefs.restore(old)
    assert repository.get(old).status == "quarantined"
    assert old in [memory.id for memory in repository.beliefs.waiting("memory-lane")]
    repository.beliefs.review(old, "activate")
    assert (repository.get(old).status, repository.get(old).superseded_by) == ("active", "")
    repository.beliefs.archive(old)
    repository.beliefs.restore(old)
    assert repository.get(old).status == "active", "a person reviewed it"


def test_long_values_are_kept_below_the_text(repository, tmp_path):
    chunk = "\n".join(f"line {number} of the talk" for number in range(2_000))
    row = {
        **ROWS[1],
        "metadata": metadata("decision", source_chunk=chunk, mood="calm"),
        "superseded_by": "3f6f8a2e-0003",
    }
    repository.exchange.import_from(build(tmp_path / "memories.db", [row]))
    memory = repository.get(lane_id(row["id"]))
    assert memory.body.startswith("Deploys go out on Tuesdays.\n\n## Other fields\n\n```yaml\n")
    assert yaml.safe_load(memory.body.partition("```yaml\n")[2].rpartition("\n```")[0]) == {"source_chunk": chunk}
    assert memory.extra["mood"] == "calm"
    assert memory.status == "quarantined"  # the memory that superseded it was not imported


def test_the_summary_counts_what_was_kept(project, database, rawkomem):
    told = rawkomem.json("import", database)["sources"][0]["summary"]
    assert (told["read"], told["added"], told["known"], told["skipped"]) == (4, 4, 0, 0)
    assert told["held"] == {"review": 3, "superseded": 1} and told["kept_fields"]["mood"] == 1
    assert told["kept_fields"]["lane_version"] == 4


@pytest.mark.parametrize(
    "more",
    [
        "ALTER TABLE memories RENAME TO held; CREATE VIEW memories AS SELECT * FROM held;",
        "DROP TABLE memories; CREATE VIRTUAL TABLE memories USING fts5(id, content);",
        "DROP TABLE memories; CREATE VIEW memories AS WITH RECURSIVE n(id, content) AS (SELECT 1, 'x' UNION ALL "
        "SELECT id + 1, content FROM n) SELECT * FROM n;",
    ],
)
def test_views_and_virtual_tables_are_not_run(repository, tmp_path, more):
    file = build(tmp_path / "memories.db", more=more)
    with pytest.raises(BadInput):
        repository.exchange.import_from(file)
    with pytest.raises(BadInput):
        repository.exchange.import_from(file, "memory-lane")


def test_broken_rows_cost_themselves(repository, tmp_path):
    bad = [
        {"id": "empty", "content": "  "},
        {"id": "huge", "content": "x" * 1_000_002},
        {"id": "odd", "content": "Kilns cool overnight.", "metadata": "[1, 2"},
        {"id": "window", "content": "Backwards.", "valid_from": "2026-01-02", "valid_until": "2026-01-01"},
        {"id": "deep", "content": "Deep metadata.", "metadata": "[" * 50_000},
        {"id": "bytes", "content": b"\xff\xfe caf\xe9 opens early"},
    ]
    done = repository.exchange.import_from(build(tmp_path / "memories.db", [*bad, ROWS[3]]))
    assert {item.entry.title for item in done.news} >= {"Kilns cool overnight.", ROWS[3]["content"], "Deep metadata."}
    skipped = dict(done.skipped)
    assert {place.rpartition("#")[2] for place in skipped} >= {
        "empty",
        "huge",
        "odd",
        "deep",
    } and "Backwards." in skipped
    assert done.unreadable == 1


def test_a_cut_off_database_is_said_and_fails(project, tmp_path, rawkomem):
    file = tmp_path / "memories.db"
    build(file, [{"id": str(n), "content": f"Memory {n}. " + "word " * 300} for n in range(200)])
    file.write_bytes(file.read_bytes()[:8192])
    assert rawkomem("import", str(file), "--from", "memory-lane", check=2).returncode == 2


def test_nothing_is_written_to_the_database(repository, tmp_path):
    file = tmp_path / "memories.db"
    build(file)
    before, names = file.read_bytes(), sorted(path.name for path in tmp_path.iterdir())
    repository.exchange.import_from(str(file))
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == names


@pytest.mark.parametrize("change", ["delete", "archive", "review"])
def test_fields_of_a_row_make_no_change_of_another_memory(repository, tmp_path, change):
    repository.add("Push to main.", title="How we deploy", id="mem_1_aaaaaa")
    said = metadata(
        "decision", kind=change, about="mem_1_aaaaaa", action="reject", title="Other", importance="critical"
    )
    file = build(tmp_path / "memories.db", [{"id": "a", "content": "A text.", "metadata": said}])
    (item,) = repository.exchange.import_from(file).news
    repository.sync()
    assert repository.get("mem_1_aaaaaa").status == "active" and len(repository.history("mem_1_aaaaaa")) == 1
    new = repository.get(item.entry.id)
    assert (new.kind, new.status, new.title, new.importance) == ("memory", "quarantined", "A text.", "high")
    assert new.extra["original_kind"] == change and new.extra["original_about"] == "mem_1_aaaaaa"


def test_a_virtual_table_is_no_table_also_with_a_forged_page(repository, tmp_path):
    file = str(tmp_path / "memories.db")
    connection = apsw.Connection(file)
    connection.execute("CREATE VIRTUAL TABLE memories USING fts5(id, content)")
    connection.execute("INSERT INTO memories VALUES ('a', 'A text.')")
    connection.execute("PRAGMA writable_schema = 1")
    connection.execute("UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'memories'")
    connection.close()
    with pytest.raises(BadInput):
        repository.exchange.import_from(file)
