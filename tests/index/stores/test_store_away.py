"""A team's store that fails takes nothing with it: every command works on files and words, and the clone catches up."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
from contextlib import contextmanager

import pytest
from rawkomem.files.layout import Layout
from rawkomem.files.records import execute
from rawkomem.repository import Repository

from tests.index.stores.postgres_server import PASSWORD, _free_port

pytestmark = pytest.mark.stores
SAYS = {  # what the warning names, for each fault
    "stopped": "cannot reach PostgreSQL (team on 127.0.0.1:",
    "silent": "cannot reach PostgreSQL (team on 127.0.0.1:",
    "hanging": "cannot reach PostgreSQL (team on 127.0.0.1:",
    "password": "refuses this user or password",
    "database": "there is no such database",
    "connections": "has no free connection",
    "newer": "migrated by a newer rawkomem",
}
REPAIR = "then run 'rawkomem index sync'"
COMMANDS = {
    "list": ["list"],
    "show": ["show", "The pool of workers"],
    "check": ["check"],
    "status": ["status"],
    "search": ["search", "the worker must close its connection"],
    "inject": ["inject", "the worker must close its connection"],
    "add": ["add", "--title", "Zebra queue", "--when", "zebra", "--body", "The zebra queue is drained at midnight."],
    "amend": ["amend", "The pool of workers", "--tag", "pools"],
}
HOOK = {"hook_event_name": "UserPromptSubmit", "prompt": "the worker must close its connection", "session_id": "s"}


class Proxy:
    """Stands before a server: it delays what clients send, or swallows everything after some packets."""

    def __init__(self, port: int, delay_s: float = 0.0, packets: float = float("inf")):
        self.to, self.delay_s, self.packets = port, delay_s, packets
        self.accepted = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self.accepted += 1
            server = socket.create_connection(("127.0.0.1", self.to))
            threading.Thread(target=self._pass, args=(client, server, self.delay_s), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, 0.0), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, delay_s: float) -> None:
        count = 0
        try:
            while data := source.recv(65536):
                time.sleep(delay_s)
                count += 1
                if not delay_s and count > self.packets:
                    continue
                target.sendall(data)
        except OSError:
            pass
        target.close()

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def team(server) -> str:
    """The URL of a new database that belongs to a role without special rights."""
    server.new_database("team")
    server.admin("DROP ROLE IF EXISTS team", f"CREATE ROLE team LOGIN PASSWORD '{PASSWORD}'")
    server.admin("ALTER DATABASE team OWNER TO team")
    server.admin("CREATE EXTENSION vector", database="team")
    yield server.url("team", "team")
    server.admin("DROP DATABASE team (FORCE)", "DROP ROLE team")


@pytest.fixture
def clone(project, git, rawkomem, team, monkeypatch):
    """A clone with its index in the team's database, the hook of git, and a branch to merge."""
    monkeypatch.setenv("RAWKOMEM_STORE", "postgres")
    monkeypatch.setenv("RAWKOMEM_POSTGRES_URL", team)
    rawkomem("init")
    rawkomem("connect", "git")
    for number, subject in enumerate(("worker", "cache", "queue")):
        head = f"id: mem_{number}\ntitle: The pool of {subject}s\nwhenToUse: [the {subject}]"
        text = f"---\n{head}\n---\n\nThe {subject} must close its connection.\n"
        (project / ".rawko" / "memories" / f"{subject}.md").write_text(text)
    git("add", "-A")
    git("commit", "-qm", "memories")
    git("checkout", "-qb", "other")
    (project / ".rawko" / "memories" / "branch.md").write_text("---\ntitle: Branch\n---\n\nOnly on the other branch.\n")
    git("add", "-A")
    git("commit", "-qm", "other")
    git("checkout", "-q", "-")
    rawkomem("index", "sync")
    return rawkomem


@contextmanager
def failing(fault: str, server, monkeypatch):
    """Make the store fail; put it right afterwards."""
    urls = {
        "stopped": lambda: f"postgresql://team:{PASSWORD}@127.0.0.1:{_free_port()}/team",
        "password": lambda: server.url("team", "team", "wr0ng"),
        "database": lambda: server.url("none_such", "team"),
    }
    proxy = None
    with monkeypatch.context() as patch:
        if fault in ("silent", "hanging"):
            patch.setattr("rawkomem.index.stores.postgres.store.QUESTION_TIMEOUT_S", 2.0)
            proxy = Proxy(server.port, packets=0 if fault == "silent" else 4)
            patch.setenv("RAWKOMEM_POSTGRES_URL", f"postgresql://team:{PASSWORD}@127.0.0.1:{proxy.port}/team")
        elif fault in urls:
            patch.setenv("RAWKOMEM_POSTGRES_URL", urls[fault]())
        elif fault == "connections":
            server.admin("ALTER ROLE team CONNECTION LIMIT 0")
        elif fault == "newer":
            server.admin("INSERT INTO rawkomem.migrations VALUES ('9999_later.sql')", database="team")
        yield
    if fault == "connections":
        server.admin("ALTER ROLE team CONNECTION LIMIT -1")
    elif fault == "newer":
        server.admin("DELETE FROM rawkomem.migrations WHERE name = '9999_later.sql'", database="team")
    if proxy:
        proxy.close()


def forget_failure(project) -> None:
    """As after a minute."""
    execute(Layout(str(project / ".rawko")), "DELETE FROM facts WHERE name LIKE 'store lost%'")


def assert_in_step(project) -> None:
    """The store holds what the catalogue says, and it answers by meaning again, without a warning."""
    warnings: list[str] = []
    repository = Repository.open(str(project), warn=warnings.append)
    assert repository.search("a pool of connections")
    assert repository.core.index.outside().held() == repository.core.index.catalogue.digests()
    assert len(repository.core.index.catalogue.digests()) >= 5 and not warnings
    repository.close()


@pytest.mark.parametrize("fault", SAYS)
def test_every_command_works_without_the_store(fault, clone, project, git, server, monkeypatch):
    """With each fault, each command succeeds; those that need vectors say so in one line, with the command to run."""
    with failing(fault, server, monkeypatch):
        for name, words in COMMANDS.items():
            forget_failure(project)
            began = time.monotonic()
            done = clone(*words)
            assert time.monotonic() - began < 10, name
            warned = [line for line in done.stderr.splitlines() if SAYS[fault] in line]
            assert len(warned) == (name in ("search", "inject", "add", "amend")), (name, done.stderr)
            assert all(REPAIR in line and PASSWORD not in line for line in warned)
            assert name not in ("search", "inject") or "The pool of workers" in done.stdout
        forget_failure(project)
        said = clone("hook", "claude", "prompt", input=json.dumps({**HOOK, "cwd": str(project)})).stdout
        assert "worker must close its connection" in said
        (project / "main.py").write_text("code = 1\n")
        git("add", "main.py")
        git("commit", "-qm", "code only")
        git("add", "-A")
        git("commit", "-qm", "memories written meanwhile")
        git("merge", "-q", "other", "-m", "merged")
        assert "Zebra queue" in clone("list").stdout
        assert clone("index", "sync", check=1).stderr.count("\n") == 1
    forget_failure(project)
    assert_in_step(project)
    assert git("status", "--porcelain").strip() == ""


def test_a_failure_is_remembered_for_a_short_time(clone, project, server):
    """The second prompt does not ask a silent server again; `index sync` does."""
    proxy = Proxy(server.port, packets=0)
    env = {"RAWKOMEM_POSTGRES_URL": f"postgresql://team:{PASSWORD}@127.0.0.1:{proxy.port}/team"}
    for _ in range(2):
        said = clone("search", "the worker must close its connection", env=env)
        assert "words only" in said.stderr and "The pool of workers" in said.stdout
        assert proxy.accepted == 1
    clone("index", "sync", env=env, check=1)
    assert proxy.accepted == 2
    proxy.close()


def test_a_repaired_store_is_used_after_index_sync(clone, project):
    clone("search", "worker", env={"RAWKOMEM_POSTGRES_URL": "postgresql://team:no@127.0.0.1:1/team"})
    assert "words only" in clone("search", "worker").stderr
    clone("index", "sync")
    assert clone("search", "worker").stderr == ""


@pytest.mark.parametrize(
    ("words", "most"), [(["list"], 0), (["check"], 0), (["status"], 0), (["search", "worker"], 1), (["inject", "x"], 1)]
)
def test_a_command_opens_one_connection_at_most(words, most, clone, server):
    proxy = Proxy(server.port)
    clone(*words, env={"RAWKOMEM_POSTGRES_URL": f"postgresql://team:{PASSWORD}@127.0.0.1:{proxy.port}/team"})
    assert proxy.accepted <= most
    proxy.close()


def test_a_variable_that_is_not_set_stops_nothing(clone, project, git):
    """As in a program that starts git without the user's shell."""
    clone(
        "index",
        "store",
        "use",
        "postgres",
        "--url-env",
        "TEAM_INDEX",
        env={"TEAM_INDEX": os.environ["RAWKOMEM_POSTGRES_URL"]},
    )
    done = clone("search", "worker")
    assert "The pool of workers" in done.stdout and "TEAM_INDEX is not set" in done.stderr
    (project / "main.py").write_text("code = 1\n")
    git("add", "main.py")
    git("commit", "-qm", "code only")


def test_a_damaged_lancedb_stops_nothing(project, git, rawkomem, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_STORE", "lancedb")
    rawkomem.process("init")
    rawkomem.process(*COMMANDS["add"])
    (folder,) = (project / ".rawko" / "local").glob("lancedb")
    shutil.rmtree(folder)
    folder.write_text("x")
    for words in (["search", "zebra"], ["list"], ["add", "--title", "Two", "--body", "Lions sleep."], ["check"]):
        forget_failure(project)
        assert "Zebra" in rawkomem.process(*words).stdout or words[0] in ("add", "check")
    folder.unlink()
    rawkomem.process("index", "sync")
    assert rawkomem.process("search", "lions sleep").stderr == ""
