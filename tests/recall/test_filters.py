"""Filters end to end: what each lets through, by search, list and injection alike; and what a wrong word says."""

import pytest
from rawkomem.faces.cli.options import FILTERS, read_option
from rawkomem.model.entries import Task
from rawkomem.model.filters import FILTER_FIELDS, Facets, Filter
from rawkomem.model.values import DAY, now, read_moment, read_time
from rawkomem.recall.signals import filter_of
from rawkomem.repository import Repository

from tests.commands import Command
from tests.torture.helpers import change, memory

TODAY = "2026-06-15T12:00:00Z"
FILES = {
    "db": memory("Database choice", "We chose Postgres for the orders database.", type="decision", category="decision",
                 entity="project:api", discoveredBy="Planner", session="s1", discoveredAt="2026-06-14T00:00:00Z",
                 tags="[db, storage]", importance="high"),
    "cache": memory("Database cache", "The database cache is Redis.", type="insight", category="fact",
                    entities="[project:api, person:mark-z]", discoveredBy="tester", sessionId="s2",
                    discoveredAt="2026-06-01T00:00:00Z", tags="[db]"),
    "backup": memory("Database backup", "Backups of the database run at night.", memory_type="commitment",
                     entity_slugs="[person:mark-robinson]", discoveredBy="planner", discoveredAt="2026-01-01T00:00:00Z",
                     importance="low") + "\n---\n\n" + change("corroborate", "backup", at="2026-02-01T00:00:00Z")
              + "\n---\n\n" + change("reinforce", "backup", at="2026-02-02T00:00:00Z"),
    "lessons/slow": memory("Database lesson", "Slow database queries want an index.", kind="lesson", id="slow",
                           discoveredAt="2026-06-15T00:00:00Z"),
    "expired": memory("Database freeze", "No database migrations in May.", id="expired", validUntil="2026-06-01T00:00:00Z",
                      discoveredAt="2026-05-01T00:00:00Z"),
}  # fmt: skip
CURRENT = {"db", "cache", "backup", "slow"}


@pytest.fixture(autouse=True)
def fixed_time(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", TODAY)


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """A project that tests only read."""
    folder = tmp_path_factory.mktemp("known")
    (folder / ".rawko" / "memories" / "lessons").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / ".rawko" / "memories" / f"{name}.md").write_text(text)
    return folder


@pytest.fixture
def filled(known):
    with Repository.open(known, warn=lambda message: None) as opened:
        yield opened


@pytest.fixture
def rawkomem(known):
    return Command(known)


CASES = [
    ({}, CURRENT),
    ({"kind": ["lesson"]}, {"slow"}),
    ({"type": ["decision"]}, {"db"}),
    ({"category": ["Fact"]}, {"cache"}),
    ({"entity": ["project:api"]}, {"db", "cache"}),
    ({"entity": ["API"]}, {"db", "cache"}),
    ({"entity": ["project:api", "mark-z"]}, {"cache"}),
    ({"by": ["planner"]}, {"db", "backup"}),
    ({"from_session": ["s1", "s2"]}, {"db", "cache"}),
    ({"tag": ["DB"]}, {"db", "cache"}),
    ({"importance": "high"}, {"db"}),
    ({"since": "7d"}, {"db", "slow"}),
    ({"since": "13h"}, {"slow"}),
    ({"since": "2026-06-01"}, {"db", "cache", "slow"}),
    ({"until": "2026-06-01"}, {"cache", "backup"}),
    ({"since": "2026-05-01", "until": "2026-06-13T23:00:00Z"}, {"cache"}),
    ({"trust": "0.6"}, {"backup"}),
    ({"include": ["expired"]}, CURRENT | {"expired"}),
    ({"include": ["all"]}, CURRENT | {"expired"}),
    ({"type": ["decision"], "by": ["tester"]}, set()),
]


@pytest.mark.parametrize(("words", "wanted"), CASES, ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_search_list_and_injection_let_the_same_through(filled, words, wanted):
    only = filter_of(**words)
    assert {row.id for row in filled.list(only)} == wanted
    assert {item.row.id for item in filled.search("database", 50, only)} == wanted
    injection = filled.inject(Task("database"), limit=20, only=only)
    seen = {item.memory.id for item in (*injection.items, *injection.left_out)}
    assert seen == wanted - {"expired"}


def test_the_commands_take_them(rawkomem, filled, monkeypatch):
    def ids(*words: str) -> set[str]:
        return {row["id"] for row in rawkomem.json(*words)}

    for words, wanted in CASES:
        flags = [
            part
            for key, value in words.items()
            for one in ([value] if isinstance(value, str) else value)
            for part in (f"--{key.replace('_', '-')}", one)
        ]
        if len(words) == 2:  # each is a process of its own: the telling ones
            assert ids("search", "database", *flags) == ids("list", *flags) == wanted, flags
    assert ids("search", "database", "--by", "planner", "-n1") <= {"db", "backup"}
    injected = rawkomem("inject", "database backup at night", "--by", "planner", "--type", "commitment").stdout
    assert "Database backup" in injected and "Database cache" not in injected
    packed = rawkomem("context", "the database cache", "--category", "fact").stdout
    assert "Redis" in packed and "Postgres" not in packed


WRONG = [
    (
        ["--type", "opinion"],
        "--type: 'opinion' is not known (use one of correction, decision, commitment, insight, learning,",
    ),
    (["--kind", "amend"], "--kind: 'amend' is not known (use one of memory, lesson, skill"),
    (["--since", "yesterday"], "--since: 'yesterday' is not a time (use a date (2026-01-23), a time"),
    (["--until", "2026-13-01"], "--until: '2026-13-01' is not a time"),
    (["--trust", "high"], "--trust: 'high' is not a number from 0 to 1 (pass a number such as 0.6"),
    (["--trust", "nan"], "--trust: nan is not a number from 0 to 1"),
    (["--entity", "mark"], "entity 'mark' may be person:mark-robinson, person:mark-z (use the whole name)"),
]


@pytest.mark.parametrize("command", [["search", "x"], ["list"], ["inject", "x"], ["context", "x"], ["stats"]])
def test_a_wrong_value_says_which_and_what_is_right(rawkomem, command):
    for flags, says in WRONG:
        error = rawkomem(*command, *flags, check=2).stderr.strip().splitlines()[-1]
        assert error.startswith("rawkomem: ") and says in error


def test_an_entity_that_nobody_names_finds_nothing_and_says_so(known):
    warnings = []
    with Repository.open(known, warn=warnings.append) as filled:
        assert filled.search("database", only=filter_of(entity=["nobody"])) == []
    assert any("no memory names the entity 'nobody'; there are person:mark-robinson" in text for text in warnings)


def test_moments(monkeypatch):
    at, _ = read_time(TODAY)
    assert now() == at
    assert read_moment("24h") == read_moment("1d") == at - DAY and read_moment("2w") == at - 14 * DAY
    assert read_moment("2026-06-15") == at - DAY // 2
    assert read_moment("2026-06-15", end=True) == at + DAY // 2 - 1
    assert read_moment(TODAY, end=True) == at
    for wrong in ("", "d", "7", "7 d", "soon", "-3d", "2026-02-30"):
        assert read_moment(wrong) is None, wrong


def test_table_and_class_are_in_step():
    assert tuple(field.name for field in FILTER_FIELDS) == Filter.__fields__
    columns = {field.column for field in FILTER_FIELDS if field.column}
    assert columns <= {*Facets.__fields__} and len({field.name for field in FILTER_FIELDS}) == len(FILTER_FIELDS)
    assert [read_option(line).key for line in FILTERS] == [field.word for field in FILTER_FIELDS if field.help]
