"""A team's store that fails takes nothing with it: every command works on files and words, and the clone catches up."""

import signal

import pytest

from tests.commands import FULL
from tests.index.stores.faults import (
    ANSWER,
    ASKING,
    COMMANDS,
    FAULTS,
    GUARD_S,
    READING,
    WRITING,
    Clone,
    Lance,
    Postgres,
    Proxy,
)
from tests.index.stores.postgres_server import PASSWORD

pytestmark = pytest.mark.stores
REPAIR = "then run 'rawkomem index sync'"
PLACES = {"postgres": Postgres, "lancedb": Lance}
WITH_EVERY_COMMAND = ("healthy", "stopped", "replaced")  # of the usual run; the others get commands by turns


def cases_of_faults() -> list[tuple[str, str, str]]:
    """Return (where, what, command): all if RAWKOMEM_FULL is set, else a command of each kind for most faults."""
    faults = [(where, what) for where, kind in PLACES.items() for what in FAULTS[kind]]
    found = []
    for n, fault in enumerate(faults):
        turns = [ASKING[n % 3], READING[n % 3], WRITING[n % 5], WRITING[(n + 2) % 5], "sync"]
        names = COMMANDS if FULL or fault[1] in WITH_EVERY_COMMAND else turns
        found += [(*fault, name) for name in names]
    return found


@pytest.fixture(autouse=True)
def guard():
    """Every command ends."""

    def stop(*_) -> None:
        raise TimeoutError(f"a command did not end in {GUARD_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(GUARD_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def places(server, tmp_path_factory):
    """Return each store with a clone that uses it; made when first asked for."""
    made: dict[str, tuple] = {}

    def place(name: str) -> tuple:
        if name not in made:
            store = PLACES[name](server)
            made[name] = store, Clone(tmp_path_factory.mktemp("clone"), name, store.url)
        return made[name]

    yield place
    for store, _ in made.values():
        store.close()


@pytest.mark.parametrize(("where", "what", "name"), cases_of_faults())
def test_a_command_while_the_store_fails(where, what, name, places, monkeypatch):
    """It succeeds, answers, says in one line that the store fails if it needed the store, and nothing is lost."""
    monkeypatch.setattr("rawkomem.index.stores.postgres.store.QUESTION_TIMEOUT_S", 5.0)  # else `index sync` waits 30 s
    store, clone = places(where)
    fault = FAULTS[type(store)][what]
    word = f"zebra-{what}-{name}"
    if name == "merge":
        clone.branch(word)
    with fault.start(store) as url:
        done = COMMANDS[name](clone, word, {clone.url_variable: url})
    said = done.stdout + done.stderr
    failed = [line for line in done.stderr.splitlines() if fault.says and fault.says in line]
    assert done.returncode == 0 or (name == "sync" and failed), said
    is_sure = fault.is_sure and name != "sync"  # sync needs the store if a test before it left something to write
    assert len(failed) == (bool(fault.says) and name in fault.warned) or not (is_sure or failed[1:]), said
    assert len(failed) >= said.count("words only") == said.count(REPAIR), said
    assert "worker" in done.stdout or name not in ASKING
    assert PASSWORD not in said and "wr0ng" not in said
    clone.forget_failure()
    clone.assert_nothing_is_lost(word if name in WRITING else "")
    assert clone("index", "sync").stderr == ""


@pytest.fixture
def clone(places) -> Clone:
    _, clone = places("postgres")
    clone("index", "sync")
    return clone


def test_a_failure_is_remembered_for_a_short_time(clone, server):
    """The second prompt does not ask a silent server again; `index sync` does."""
    proxy = Proxy(server.port, answers=0)
    env = {clone.url_variable: proxy.url}
    for _ in range(2):
        said = clone("search", "worker", env=env)
        assert "words only" in said.stderr and ANSWER in said.stdout
        assert proxy.accepted == 1
    clone("index", "sync", env=env, check=1)
    assert proxy.accepted == 2
    proxy.close()
    assert "words only" in clone("search", "worker").stderr
    clone("index", "sync")
    assert clone("search", "worker").stderr == ""


@pytest.mark.parametrize(
    ("words", "most"), [(["list"], 0), (["check"], 0), (["status"], 0), (["search", "worker"], 1), (["inject", "x"], 1)]
)
def test_a_command_opens_one_connection_at_most(words, most, clone, server):
    proxy = Proxy(server.port)
    clone(*words, env={clone.url_variable: proxy.url})
    assert proxy.accepted <= most
    proxy.close()


def test_a_variable_that_is_not_set_stops_nothing(clone):
    """As in a program that starts git without the user's shell."""
    url = {"TEAM_INDEX": clone.env[clone.url_variable], clone.url_variable: ""}
    clone("index", "store", "use", "postgres", "--url-env", "TEAM_INDEX", env=url)
    done = clone("search", "worker", env={clone.url_variable: ""})
    assert ANSWER in done.stdout and "TEAM_INDEX is not set" in done.stderr
    (clone.folder / "main.py").write_text("code = 1\n")
    assert clone.commit({clone.url_variable: ""}).returncode == 0
    clone("index", "store", "use", "sqlite")
    clone.forget_failure()
