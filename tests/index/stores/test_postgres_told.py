"""neolata's tables tell what the files say, as the repository does; and roles read a repository, all of it, and no other."""

import re
from pathlib import Path

import pytest
from rawkomem.files.installation import plan_start, write_start

from tests.conftest import ROOT
from tests.index.stores.store_contract import DIMS, document
from tests.index.stores.test_postgres_neolata import CHOSEN, ask
from tests.index.stores.test_postgres_team import opened
from tests.torture.helpers import change, memory

MEMORIES = 1_000  # as many as make a store take statistics

pytestmark = pytest.mark.stores

JOIN = "\n---\n\n"
CLAIM = "{subject: api, predicate: port, value: '%s'}"
FILES = {
    "port-8080": memory("The port", "The api listens on 8080.", claim=CLAIM % "8080", provenance="{source: user_explicit}"),
    "port-9090": JOIN.join([memory("Another port", "The api listens on 9090.", claim=CLAIM % "9090"),
                            change("quarantine", "port-9090", conflictsWith="[port-8080]", reason="contradicts port-8080",
                                   id="q1", at="2026-02-01T00:00:00Z")]),
    "odd": JOIN.join([memory("Odd one", "Nobody knows where this comes from."),
                      change("quarantine", "odd", reason="looks odd", id="q2", at="2026-02-01T00:00:00Z")]),
    "cache": JOIN.join([memory("Cache", "Redis keeps sessions. See [[port-8080]].", relatedMemories="[odd]"),
                        change("link", "cache", to="[login]", type="dependsOn", id="l1", at="2026-02-01T00:00:00Z"),
                        change("reinforce", "cache", id="r1", at="2026-02-02T00:00:00Z")]),
    "login": memory("Login", "Sessions last an hour."),
    "old-login": JOIN.join([memory("Old login", "Sessions last a day."),
                            change("supersede", "old-login", supersededBy="login", id="s1", at="2026-02-01T00:00:00Z")]),
    "monday": memory("Monday", "What happened on Monday.", kind="episode", members="[cache, login]"),
}  # fmt: skip


@pytest.fixture
def repository(database, tmp_path):
    write_start(plan_start(str(tmp_path)))
    for name, text in FILES.items():
        (tmp_path / ".rawko" / "memories" / f"{name}.md").write_text(text)
    found = opened(tmp_path, database, "laptop")
    found.core.index.sync()
    yield found
    found.close()


def columns(database: str, names: str, table: str) -> dict:
    return {id: row for id, *row in ask(database, f"SELECT id, {names} FROM neolata.{table}")}


def test_claims_provenance_and_decisions_are_those_of_the_files(repository, database):
    names = "claim, provenance, superseded_by, supersedes, reinforcements, disputes, quarantine"
    told = columns(database, names, "memories")
    for id, (claim, provenance, by, over, reinforcements, disputes, quarantine) in told.items():
        own = repository.get(id)
        assert (claim, provenance) == (own.extra.get("claim"), own.extra.get("provenance")), id
        assert (by or "", tuple(over)) == (own.superseded_by, own.supersedes), id
        assert (reinforcements, disputes) == (own.reinforcements, own.disputes), id
        assert (quarantine or {}).get("reason") == (own.reason if own.status == "quarantined" else None), id
    assert told["port-8080"][0]["value"] == "8080" and told["cache"][4] == 1 and told["old-login"][2] == "login"


def test_links_and_members_are_those_that_the_files_declare(repository, database):
    from rawkomem.state.graph import build_graph

    memories = [repository.get(id) for id in FILES]
    declared = {(edge.source, edge.target, edge.type) for edge in build_graph(memories, lambda memory: True).edges}
    told = {*ask(database, "SELECT source_id, target_id, type FROM neolata.memory_links")}
    assert ("cache", "login", "dependsOn") in told and ("cache", "odd", "related") in told
    assert ("cache", "port-8080", "mentions") in told and ("monday", "login", "member") in told
    assert ("login", "old-login", "supersedes") in told
    assert told == declared
    assert columns(database, "memory_ids", "episodes") == {"monday": [["cache", "login"]]}


def test_links_tell_how_close_their_memories_are(repository, database):
    said = {
        row[:2]: row[2] for row in ask(database, "SELECT source_id, target_id, similarity FROM neolata.memory_links")
    }
    near = {
        row[0]: row[1]
        for row in ask(database, "SELECT target_id, similarity FROM neolata.close_memories('cache', 9, -1)")
    }
    assert said["cache", "login"] == near["login"] and 0 < near["login"] < 1


def test_a_conflict_names_both_sides_and_a_quarantine_is_none(repository, database):
    from rawkomem.state.changes import open_conflicts

    held = {id: repository.get(id) for id in FILES}
    expected = {(c.memory.id, c.other.id) for c in open_conflicts(held.values(), held.get)}
    asked = "SELECT new_id, existing_id FROM neolata.pending_conflicts"
    assert {*ask(database, asked)} == expected == {("port-9090", "port-8080")}
    path = Path(repository.layout.root) / "memories" / "port-8080.md"
    path.write_text(JOIN.join([path.read_text(), change("archive", "port-8080", id="a1", at="2026-03-01T00:00:00Z")]))
    repository.core.index.sync()
    assert ask(database, asked) == []  # one side no longer stands


def test_a_change_of_a_link_is_told(repository, database):
    path = Path(repository.layout.root) / "memories" / "login.md"
    path.write_text(
        JOIN.join([path.read_text(), change("link", "login", to="[odd]", id="l9", at="2026-03-01T00:00:00Z")])
    )
    repository.core.index.sync()
    assert ("odd",) in ask(database, "SELECT target_id FROM neolata.memory_links WHERE source_id = 'login'")


def test_telling_of_many_memories_takes_work_in_proportion(database):
    """Each table and function looks at some rows and pages for each memory, not at all memories for each."""
    from rawkomem.index.stores.plugins import open_postgres
    from rawkomem.model.values import replace

    store = open_postgres(database, "large", "laptop", DIMS)
    told = '{{"path": "memories/m{0}.md", "line": 1, "files": ["m{0}"], "references": [{{"type": "related", "names": ["m{1}"]}}]}}'
    store.put([replace(document(f"m{n}", f"text {n % 50}", digest="1"), told=told.format(n, (n + 7) % MEMORIES))
               for n in range(MEMORIES)])  # fmt: skip
    store.commit()
    store.put([document("last", "text", digest="1", status="archived")])
    store.commit()  # a small batch ends a sync: statistics are taken
    asked = [f"SELECT count(*) FROM neolata.{table}" for table in ("memory_links", "pending_conflicts", "episodes")]
    asked += ["SELECT count(*) FROM neolata.close_memories('m7')", "SELECT count(*) FROM neolata.memory_clusters"]
    for sql in asked:
        ((plan,),) = ask(database, f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}")
        top = plan[0]["Plan"]
        work = _rows(top) + top["Shared Hit Blocks"] + top["Shared Read Blocks"]
        assert work < 100 * MEMORIES, f"{sql}: {work:.0f} rows and pages"
    assert ask(database, asked[0]) == [(MEMORIES,)]
    store.close()


def _rows(plan: dict) -> float:
    """Return how many rows all steps of a plan gave on or threw away."""
    own = [plan["Actual Rows"], *(count for name, count in plan.items() if name.startswith("Rows Removed by"))]
    return plan["Actual Loops"] * sum(own) + sum(map(_rows, plan.get("Plans", ())))


@pytest.fixture
def reader(database, server):
    """The role that docs/postgres.md makes, by its very statements, and two repositories."""
    from rawkomem.index.stores.plugins import open_postgres

    for name, text in (("team", "Ours."), ("other", "Theirs.")):
        store = open_postgres(database, name, "laptop", DIMS)
        store.put([document(f"{name}-1", text, by="planner", digest="1"), document(f"{name}-2", text, digest="2")])
        store.commit()
        store.close()
    name = database.rsplit("/", 1)[1]
    (statements,) = re.findall(
        r"```sql\n(CREATE ROLE dashboard.*?)```", Path(ROOT, "docs/postgres.md").read_text(), re.S
    )
    server.admin(statements, database=name)
    yield server.url(name, "dashboard", CHOSEN)
    server.admin("DROP OWNED BY dashboard", "DROP ROLE dashboard", database=name)


def test_a_reader_sees_one_repository_and_all_of_it(reader, server):
    says = ([], ["SET rawkomem.agent = 'planner'", "SET rawkomem.repository = 'other'"])
    assert {id for (id,) in ask(reader, "SELECT id FROM neolata.memories")} == {"team-1", "team-2"}
    for before in says:
        assert {text for (text,) in ask(reader, *before, "SELECT text FROM rawkomem.passages")} == {"Ours."}
        assert ask(reader, *before, "SELECT name FROM rawkomem.repositories") == [("team",)]
        assert ask(reader, *before, "SELECT count(*) FROM rawkomem.vectors") == [(2,)]
        assert ask(reader, *before, "SELECT count(*) FROM rawkomem.clones") == [(1,)]
    database = reader.rsplit("/", 1)[1]
    server.admin("UPDATE rawkomem.readers SET repository = NULL", database=database)
    assert len(ask(reader, "SELECT id FROM neolata.memories")) == 4
    server.admin("DELETE FROM rawkomem.readers", database=database)
    assert ask(reader, "SELECT id FROM neolata.memories") == []


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM rawkomem.holdings",
        "UPDATE rawkomem.versions SET repository = 1",
        "INSERT INTO rawkomem.readers VALUES ('dashboard', NULL)",
        "SELECT * FROM rawkomem.readers",
        "SELECT * FROM rawkomem.bits",
        "SET ROLE owner",
    ],
)
def test_a_reader_changes_nothing(reader, statement):
    import psycopg

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(reader, "SET default_transaction_read_only = off", "COMMIT", statement)


def test_a_reader_finds_nothing_by_vectors_of_others(reader):
    from tests.index.stores.test_postgres_neolata import GLOBAL, literal

    assert {id for (id,) in ask(reader, GLOBAL, asked=literal("Theirs."))} == {"team-1", "team-2"}
