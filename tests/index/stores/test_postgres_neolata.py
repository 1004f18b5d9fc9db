"""neolata's tables and functions over the index, and who may read what: asked by real roles."""

import re
from array import array
from pathlib import Path

import pytest
from rawkomem.model.errors import RawkoError
from rawkomem.model.filters import Filter
from rawkomem.model.values import IMPORTANCE
from rawkomem.state.strength import IMPORTANCES

from tests.conftest import ROOT
from tests.index.stores.store_contract import DIMS, document, mixed, vector

pytestmark = pytest.mark.stores
CHOSEN = "choose-one"

MEMORIES = [
    document("deploy", "Ship with a blue-green switch.", "Roll back within an hour.", by="Planner", tags=("Ops",),
             title="Deploying", importance=3, created=1_700_000_000_000, category="Decision", digest="1",
             entities=("project:api",)),
    document("backup", "Copies every night.", by="planner", vectors=(mixed("Ship with a blue-green switch.", "x", 0.9),),
             entities=("project:api",), digest="2"),
    document("secret", "Only the tester knows.", by="tester", digest="3"),
    document("old", "Long ago.", by="tester", status="archived", digest="4"),
    document("doubt", "Perhaps.", by="tester", status="quarantined", digest="5"),
    document("trip", "What happened on Monday.", by="planner", kind="episode", title="Monday", digest="6"),
]  # fmt: skip


@pytest.fixture
def filled(database):
    from rawkomem.index.stores.plugins import open_postgres

    store = open_postgres(database, "team", "laptop", DIMS)
    store.put(MEMORIES)
    store.commit()
    yield database
    store.close()


def ask(url: str, *statements: str, **values) -> list[tuple]:
    import psycopg

    with psycopg.connect(url) as connection:
        for statement in statements:
            found = connection.execute(statement, values or None)
        return found.fetchall()


def literal(name: str) -> str:
    return str(list(array("f", vector(name))))


SEMANTIC = "SELECT id, agent_id, content, round(similarity::numeric, 2)::float FROM neolata.search_memories_semantic"
GLOBAL = "SELECT id FROM neolata.search_memories_global(%(asked)s::vector, 10, -1)"


def test_memories_have_neolatas_columns(filled):
    columns = ask(filled, "SELECT column_name FROM information_schema.columns WHERE table_schema = 'neolata'"
                  " AND table_name = 'memories'")  # fmt: skip
    notes = "id, agent_id, content, category, tags, embedding, importance, access_count, created_at, updated_at, claim,"
    notes += " provenance, confidence, status, quarantine, reinforcements, disputes, superseded_by, supersedes"
    assert {*notes.split(", ")} <= {name for (name,) in columns}
    (found,) = ask(filled, "SELECT id, agent_id, content, category, tags, importance, status, created_at::date::text,"
                   " vector_dims(embedding), vector_norm(embedding) FROM neolata.memories WHERE id = 'deploy'")  # fmt: skip
    text = "Ship with a blue-green switch.\n\nRoll back within an hour."
    assert found[:-1] == ("deploy", "Planner", text, "Decision", ["Ops"], 1.0, "active", "2023-11-14", DIMS)
    assert found[-1] == pytest.approx(1)


def test_each_table_shows_what_the_index_knows(filled):
    names = {
        "memories": {"deploy", "backup", "secret", "doubt"},
        "memory_archive": {"old"},
        "episodes": {"trip"},
        "pending_conflicts": set(),  # a memory in quarantine contradicts nobody
    }
    for table, expected in names.items():
        assert {id for (id,) in ask(filled, f"SELECT id FROM neolata.{table}")} == expected
    assert ask(filled, "SELECT label, memory_ids FROM neolata.memory_clusters") == [
        ("project:api", ["backup", "deploy"])
    ]
    assert ask(filled, "SELECT target_id, repository FROM neolata.close_memories('backup')") == [("deploy", "team")]
    assert ask(filled, "SELECT target_id FROM neolata.close_memories('secret')") == []


def test_the_search_functions(filled):
    asked = literal("Ship with a blue-green switch.")
    found = ask(filled, SEMANTIC + "(%(asked)s::vector, 'planner', 5, 0.5)", asked=asked)
    assert found == [
        ("deploy", "Planner", "Ship with a blue-green switch.", 1.0),
        ("backup", "planner", "Copies every night.", 0.9),
    ]
    assert ask(filled, SEMANTIC + "(%(asked)s::vector, 'PLANNER', 1, 0.5)", asked=asked)[0][0] == "deploy"
    assert ask(filled, SEMANTIC + "(%(asked)s::vector, 'tester', 5, 0.5)", asked=asked) == []
    assert {id for (id,) in ask(filled, GLOBAL, asked=asked)} == {"deploy", "backup", "secret"}
    assert ask(filled, GLOBAL, asked="[1, 2, 3]") == []  # of another model


def test_the_version_that_came_last_is_shown_or_that_of_a_clone(filled):
    from rawkomem.index.stores.plugins import open_postgres

    other = open_postgres(filled, "team", "desktop", DIMS)
    other.put([document("deploy", "Ship on Fridays.", by="planner", digest="7")])
    other.commit()
    content = "SELECT content FROM neolata.memories WHERE id = 'deploy'"
    assert ask(filled, content) == [("Ship on Fridays.",)]
    assert ask(filled, "SET rawkomem.clone = 'laptop'", content)[0][0].startswith("Ship with")
    assert ask(filled, "SET rawkomem.repository = 'another'", content) == []
    other.close()


@pytest.fixture
def bound(filled, server):
    """The role that docs/postgres.md makes, by its very statements."""
    name = filled.rsplit("/", 1)[1]
    (statements,) = re.findall(
        r"```sql\n(CREATE ROLE planner_app.*?)```", Path(ROOT, "docs/postgres.md").read_text(), re.S
    )
    server.admin(statements, database=name)
    yield server.url(name, "planner_app", CHOSEN)
    server.admin("DROP OWNED BY planner_app", "DROP ROLE planner_app", database=name)


OWN = {"deploy", "backup"}


def test_a_bound_role_sees_its_agent_and_no_other(bound):
    """Through views, functions and tables alike, whatever it says of itself."""
    asked = literal("Only the tester knows.")
    claims = ["SET rawkomem.agent = 'tester'", 'SET request.jwt.claims = \'{"agent_id": "tester"}\'']
    for before in ([], claims):
        assert {id for (id,) in ask(bound, *before, "SELECT id FROM neolata.memories")} == OWN
        assert {id for (id,) in ask(bound, *before, GLOBAL, asked=asked)} == OWN
        assert ask(bound, *before, SEMANTIC + "(%(asked)s::vector, 'tester', 5, -1)", asked=asked) == []
        assert {id for (id,) in ask(bound, *before, "SELECT id FROM rawkomem.versions")} == {*OWN, "trip"}
        texts = "".join(text for (text,) in ask(bound, *before, "SELECT text FROM rawkomem.passages"))
        assert "blue-green" in texts and "tester" not in texts
        assert ask(bound, *before, "SELECT count(*) FROM rawkomem.vectors") == [(4,)]
        for table in ("memory_archive", "pending_conflicts"):
            assert ask(bound, *before, f"SELECT id FROM neolata.{table}") == []


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM rawkomem.holdings",
        "UPDATE rawkomem.versions SET agent = 'planner'",
        "INSERT INTO rawkomem.agents VALUES ('planner_app', 'tester')",
        "SELECT * FROM rawkomem.agents",
        "SELECT * FROM rawkomem.bits",
        "ALTER TABLE rawkomem.versions DISABLE ROW LEVEL SECURITY",
        "SET ROLE owner",
        "DELETE FROM neolata.memories",
    ],
)
def test_a_bound_role_changes_nothing(bound, statement):
    import psycopg

    with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)):
        ask(bound, statement)


def test_a_role_that_is_not_bound_is_who_its_session_says(bound, server):
    server.admin("DELETE FROM rawkomem.agents", database=bound.rsplit("/", 1)[1])
    memories = "SELECT id FROM neolata.memories"
    assert ask(bound, memories) == []
    assert {id for (id,) in ask(bound, "SET rawkomem.agent = 'Tester'", memories)} == {"secret", "doubt"}
    assert {id for (id,) in ask(bound, 'SET request.jwt.claims = \'{"agent_id": "planner"}\'', memories)} == OWN
    assert ask(bound, "SET rawkomem.agent = ''", memories) == []


@pytest.mark.parametrize("claim", ['{"agent_id": ""}', '{"agent_id": null}', "{}"])
def test_a_token_without_an_agent_shows_nothing(bound, server, claim):
    """Memories that nobody signed belong to no agent: not to the one whose name is empty, either."""
    from rawkomem.index.stores.plugins import open_postgres

    name = bound.rsplit("/", 1)[1]
    store = open_postgres(server.url(name), "team", "laptop", DIMS)
    store.put([document("unsigned", "Nobody says who.", digest="9")])
    store.commit()
    store.close()
    memories = "SELECT id FROM neolata.memories"
    server.admin("DELETE FROM rawkomem.agents", database=name)
    assert ask(bound, f"SET request.jwt.claims = '{claim}'", memories) == []
    server.admin("INSERT INTO rawkomem.agents VALUES ('planner_app', '')", database=name)
    assert ask(bound, "SET rawkomem.agent = 'tester'", memories) == []


def test_importance_has_one_scale(filled):
    """The numbers that export_neolata writes, in views and functions alike."""
    from rawkomem.index.stores.plugins import open_postgres

    store = open_postgres(filled, "team", "laptop", DIMS)
    store.put([document(name, "same text", importance=n, digest="9") for n, name in enumerate(IMPORTANCE)])
    store.commit()
    store.close()
    assert dict(ask(filled, "SELECT id, importance FROM neolata.memories")).items() >= IMPORTANCES.items()
    found = "SELECT id, importance FROM neolata.search_memories_global(%(asked)s::vector, 20, 0.9)"
    assert dict(ask(filled, found, asked=literal("same text"))) == IMPORTANCES


def test_members_of_the_owning_role_write_too(database, server):
    """Nobody needs to be a superuser; pgvector may lie where Supabase has it."""
    from rawkomem.index.stores.plugins import open_postgres

    name = database.rsplit("/", 1)[1]
    roles = ("rawko_member", "rawko_owner")
    server.admin(*(f"CREATE ROLE {role} LOGIN PASSWORD '{CHOSEN}'" for role in reversed(roles)))
    server.admin("GRANT rawko_owner TO rawko_member", f"GRANT CREATE ON DATABASE {name} TO rawko_owner")
    extensions = ("CREATE SCHEMA extensions", "CREATE EXTENSION vector SCHEMA extensions")
    server.admin(*extensions, "GRANT USAGE ON SCHEMA extensions TO rawko_owner", database=name)
    owner = open_postgres(server.url(name, "rawko_owner", CHOSEN), "team", "one", DIMS)
    member = open_postgres(server.url(name, "rawko_member", CHOSEN), "team", "two", DIMS)
    for store in (owner, member):
        store.put(MEMORIES)
        store.commit()
        assert len(store.held()) == 6
        assert store.nearest(vector("Long ago."), 1, Filter())[0].id == "old"
        store.close()
    server.admin(*(f"DROP OWNED BY {role} CASCADE" for role in roles), database=name)
    server.admin(*(f"DROP ROLE {role}" for role in roles))


def test_a_bound_role_cannot_write_through_the_store(bound):
    from rawkomem.index.stores.plugins import open_postgres

    with pytest.raises(RawkoError, match="lacks rights"):
        open_postgres(bound, "team", "laptop", DIMS)
