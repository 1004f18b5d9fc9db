"""What can happen to the store of a team's clone, and what people run in it: real servers, a proxy that delays or
swallows packets, a small file system that is full or read-only. For test_faults.py and tools/measure_faults.py."""

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from rawkomem.files.layout import Layout
from rawkomem.files.records import execute
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT, START, Command
from tests.git.gitting import Git
from tests.index.stores.postgres_server import PASSWORD, UNRESERVED, Server

QUESTION = "the worker must close its connection"
ANSWER = "The pool of workers"
GUARD_S = 600  # on a busy machine, too; a command that takes longer is taken for one that never ends


class Proxy:
    """Stands before a server: it delays what clients send, and calls `then` or swallows all after some answers."""

    def __init__(self, port: int, delay_s: float = 0.0, answers: float = float("inf"), then: Callable | None = None):
        self.to, self.delay_s, self.answers, self.then = port, delay_s, answers, then
        self.accepted = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.url = f"postgresql://team:{PASSWORD}@127.0.0.1:{self.port}/team"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self.accepted += 1
                try:
                    server = socket.create_connection(("127.0.0.1", self.to))
                except OSError:
                    client.close()
                    continue
                for work in (self._ask, self._answer):
                    threading.Thread(target=self._pass, args=(work, client, server), daemon=True).start()

    def _pass(self, work: Callable, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            work(client, server)
        for end in (client, server):  # another thread may wait for one of them
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        while data := client.recv(65536):
            time.sleep(self.delay_s)
            server.sendall(data)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        number = 0
        while data := server.recv(65536):
            number += 1
            if number <= self.answers:
                client.sendall(data)
            elif self.then:
                then, self.then, self.answers = self.then, None, float("inf")
                then()

    def close(self) -> None:
        self._listening.close()


class Clone:
    """A clone of a team's repository, with the hooks of git and its index in a store."""

    def __init__(self, folder: Path, store: str, url: str, origin: Path | None = None, is_in_process: bool = True):
        self.folder, self.url_variable = folder / "project", f"RAWKOMEM_{store.upper()}_URL"
        self.is_in_process = is_in_process  # else each command is a process of its own, and closes its connection
        self.folder.mkdir()
        homes = {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
        self.env = {"RAWKOMEM_STORE": store, self.url_variable: url, "RAWKOMEM_EMBEDDER": "static", **homes}
        self.env |= {"LANCEDB_LOG": "error", "NO_COLOR": "1"}
        self.git = partial(Git(self.folder).run, env=self.env)
        if origin:
            self.git("clone", "-q", str(origin), ".")
        else:
            self.git("init", "-q")
            self("init", "--yes")
        self("connect", "git")
        for number, subject in enumerate(() if origin else ("worker", "cache", "queue")):
            head = f"id: mem_{number}\ntitle: The pool of {subject}s\nwhenToUse: [the {subject}]"
            self.write(subject, f"---\n{head}\n---\n\nThe {subject} must close its connection.\n")
        self.commit()
        self("index", "sync")

    def __call__(self, *words: str, env: dict | None = None, **given):
        run = Command(self.folder)
        return (run if self.is_in_process else run.process)(*words, env=self.env | (env or {}), **given)

    def write(self, name: str, text: str = "") -> None:
        (self.folder / ".rawko" / "memories" / f"{name}.md").write_text(text or about(name))

    def commit(self, env: dict | None = None):
        self.git("add", "-A")
        return self.git("commit", "-qm", "change", env=self.env | (env or {}))

    def branch(self, name: str) -> None:
        """Make a branch with a memory of its own, and with other tags in a memory whose text changes here."""
        shared = "---\ntitle: Shared\ntags: [{}]\n---\n\n{}\n"
        self.write("shared", shared.format("base", "Base."))
        self.commit()
        self.git("checkout", "-qb", name)
        self.write(name)
        self.write("shared", shared.format(name, "Base."))
        self.commit()
        self.git("checkout", "-q", "-")
        self.write("shared", shared.format("base", f"Not {name}."))
        self.commit()
        self("index", "sync")

    @contextmanager
    def environment(self) -> Iterator[None]:
        """Let this process be that of the clone's user."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.env.items():
                patch.setenv(name, value)
            yield

    def forget_failure(self) -> None:
        """As after a minute."""
        with self.environment():
            execute(Layout(str(self.folder / ".rawko")), "DELETE FROM facts WHERE name LIKE 'store lost%'")

    def assert_nothing_is_lost(self, word: str) -> None:
        """Catalogue and store hold what the files say, also the word, and answer without a warning."""
        with self.environment():
            warnings: list[str] = []
            with Repository.open(str(self.folder), warn=warnings.append) as repository:
                assert repository.search(QUESTION)[0].row.title == ANSWER and not warnings
                catalogue, outside = repository.core.index.catalogue, repository.core.index.outside()
                root = self.folder / ".rawko"
                files = {str(file.relative_to(root)): file for file in root.glob("[cm]*/**/*.md")}
                assert outside.held() == catalogue.digests() and files.keys() <= catalogue.stamps().keys()
        assert any(word in file.read_text() for file in files.values())


def about(word: str) -> str:
    """A memory of so many passages that each table needs a new page."""
    return f"---\ntitle: About {word}\n---\n\n" + f"The {word} is drained at midnight by hand.\n\n" * 400


# What people run: a function of the clone, a new word and the environment of the fault. It returns what was printed.


def command(*words: str) -> Callable:
    return lambda clone, word, env: clone(*(one.replace("WORD", word) for one in words), env=env, check=None)


def hook(clone: Clone, word: str, env: dict):
    call = {"hook_event_name": "UserPromptSubmit", "prompt": QUESTION, "session_id": word, "cwd": str(clone.folder)}
    return clone("hook", "claude", "prompt", input=json.dumps(call), env=env)


def commit(clone: Clone, word: str, env: dict):
    clone.write(word)
    return clone.commit(env)


def merge(clone: Clone, word: str, env: dict):
    return clone.git("merge", "-q", word, "-m", "merged", env=clone.env | env)  # by the driver


def watch(clone: Clone, word: str, env: dict):
    """Write a file beside the watcher, and wait until it is read."""
    env = ENVIRONMENT | clone.env | env
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*START, "index", "watch"], cwd=clone.folder, env=env, **pipes) as process:
        guard = threading.Timer(GUARD_S, process.kill)
        guard.start()
        process.stderr.readline()  # that it watches
        clone.write(word)
        said = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
        guard.cancel()
    return subprocess.CompletedProcess("watch", process.returncode, said + out, err)


BODY = about("WORD").partition("---\n\n")[2]
COMMANDS = {
    "search": command("search", QUESTION),
    "inject": command("inject", QUESTION),
    "hook": hook,
    "list": command("list"),
    "check": command("check"),
    "status": command("status"),
    "add": command("add", "--title", "About WORD", "--when", "WORD", "--body", BODY),
    "amend": command("amend", "mem_1", "--title", "About WORD", "--body", BODY),
    "commit": commit,
    "merge": merge,
    "watch": watch,
    "sync": command("index", "sync"),
}
ASKING = ("search", "inject", "hook")
READING = ("list", "check", "status")  # they need no store
WRITING = ("add", "amend", "commit", "merge", "watch")


# What can happen to a store. Each yields the URL that reaches the store meanwhile.


class Place:
    """A store on a file system of its own, with little room; without the right to mount one, in a plain folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rawkomem-volume-"))
        self.is_small = self._mount("-t", "tmpfs", "-o", "size=64m", "tmpfs") == 0
        self.url = str(self.folder / "team")

    def _mount(self, *words: str) -> int:
        return subprocess.run(["mount", *words, self.folder], check=False, capture_output=True).returncode

    def close(self) -> None:
        if self.is_small:
            subprocess.run(["umount", "--lazy", self.folder], check=True)
        shutil.rmtree(self.folder)

    def need_small(self) -> None:
        if not self.is_small:
            pytest.skip("for want of the right to mount a file system")

    @contextmanager
    def healthy(self) -> Iterator[str]:
        yield self.url

    @contextmanager
    def full(self) -> Iterator[str]:
        self.need_small()
        with suppress(OSError), open(self.folder / "filler", "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        yield self.url
        (self.folder / "filler").unlink()

    @contextmanager
    def readonly(self) -> Iterator[str]:
        self.need_small()
        assert self._mount("-o", "remount,ro") == 0
        yield self.url
        assert self._mount("-o", "remount,rw") == 0


class Postgres(Place):
    """A database of a role without special rights."""

    def __init__(self, server: Server):
        super().__init__()
        self.server = server
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
        server.admin(f"CREATE TABLESPACE small LOCATION '{self.folder}'")
        server.admin(f"CREATE ROLE team LOGIN PASSWORD '{PASSWORD}'")
        server.admin("CREATE DATABASE team OWNER team TABLESPACE small")
        server.admin("CREATE EXTENSION vector", database="team")
        self.url = server.url("team", "team")

    def close(self) -> None:
        self.server.admin("DROP DATABASE team (FORCE)", "DROP ROLE team", "DROP TABLESPACE small")
        super().close()

    @contextmanager
    def stopped(self) -> Iterator[str]:
        self.server.kill()
        yield self.url
        self.server.start()

    @contextmanager
    def behind_proxy(self, **given) -> Iterator[str]:
        proxy = Proxy(self.server.port, **given)
        yield proxy.url
        proxy.close()

    @contextmanager
    def restarting(self) -> Iterator[str]:
        """The server dies in the middle of a command, and comes back soon."""

        def restart() -> None:
            begun.set()
            self.server.kill()
            self.server.start()
            is_back.set()

        begun, is_back = threading.Event(), threading.Event()
        with self.behind_proxy(answers=5, then=restart) as url:
            yield url
        assert not begun.is_set() or is_back.wait(GUARD_S)

    @contextmanager
    def wrong(self, **given: str) -> Iterator[str]:
        yield self.server.url(**{"database": "team", "user": "team", **given})

    @contextmanager
    def crowded(self) -> Iterator[str]:
        import psycopg

        held = [psycopg.connect(self.server.url()) for _ in range(UNRESERVED)]
        yield self.url
        for connection in held:
            connection.close()

    @contextmanager
    def newer(self) -> Iterator[str]:
        self.server.admin("INSERT INTO rawkomem.migrations VALUES ('9999_later.sql')", database="team")
        yield self.url
        self.server.admin("DELETE FROM rawkomem.migrations WHERE name = '9999_later.sql'", database="team")

    @contextmanager
    def older(self) -> Iterator[str]:
        """The tables are those of the first version, and empty."""
        import psycopg
        from rawkomem.index.stores.postgres import server

        self.server.admin("DROP SCHEMA neolata, rawkomem CASCADE", database="team")
        first = server.migrations()[:1]
        with pytest.MonkeyPatch.context() as patch, psycopg.connect(self.url, autocommit=True) as connection:
            patch.setattr(server, "migrations", lambda: first)
            server.prepare_database(connection)
        yield self.url

    @contextmanager
    def full(self, user: str = "team") -> Iterator[str]:
        """Pages have no room either. If those of the system were rewritten, a new connection needs room."""
        import psycopg

        with psycopg.connect(self.server.url("team", user), autocommit=True) as connection:
            connection.execute("VACUUM FULL")
        if user == "team":
            psycopg.connect(self.url).close()
        with super().full():
            yield self.url


class Lance(Place):
    """A LanceDB in a folder."""

    def __init__(self, server: Server):
        if importlib.util.find_spec("lancedb") is None:
            pytest.skip("for want of lancedb (make test-stores)")
        super().__init__()

    @contextmanager
    def removed(self) -> Iterator[str]:
        shutil.rmtree(self.url)
        yield self.url

    @contextmanager
    def replaced(self) -> Iterator[str]:
        """A file is where the folder was."""
        os.rename(self.url, f"{self.url}-before")
        Path(self.url).write_text("x")
        yield self.url
        os.unlink(self.url)
        os.rename(f"{self.url}-before", self.url)

    @contextmanager
    def damaged(self) -> Iterator[str]:
        """All files with data are cut short, until the folder is removed."""
        for file in Path(self.url).rglob("data/*.lance"):
            os.truncate(file, 10)
        yield self.url
        shutil.rmtree(self.url)


class Fault(NamedTuple):
    """What happens, what a warning says then, which commands warn, and whether they always do."""

    start: Callable
    says: str = ""
    warned: Sequence[str] = ("search", "inject", "add", "amend", "commit", "merge", "watch", "sync")
    is_sure: bool = True


AWAY = "cannot reach PostgreSQL (team on 127.0.0.1:"
FAILED = "the lancedb store failed"
WRITERS = ("add", "commit", "merge", "watch")  # an agent's `amend` is a proposal: it has no vector
FAULTS: dict[type, dict[str, Fault]] = {
    Postgres: {
        "healthy": Fault(Place.healthy),
        "stopped": Fault(Postgres.stopped, AWAY),
        "silent": Fault(partial(Postgres.behind_proxy, answers=0), AWAY),
        "hanging": Fault(partial(Postgres.behind_proxy, answers=4), AWAY),
        "slow": Fault(partial(Postgres.behind_proxy, delay_s=0.2), AWAY, is_sure=False),
        "restarting": Fault(Postgres.restarting, AWAY, is_sure=False),
        "password": Fault(partial(Postgres.wrong, password="wr0ng"), "refuses this user or password"),
        "database": Fault(partial(Postgres.wrong, database="none_such"), "there is no such database"),
        "crowded": Fault(Postgres.crowded, "has no free connection"),
        "newer": Fault(Postgres.newer, "migrated by a newer rawkomem"),
        "older": Fault(Postgres.older),
        "full": Fault(Postgres.full, "the server is out of space", WRITERS, is_sure=False),
        "overfull": Fault(partial(Postgres.full, user="owner"), "the server is out of space"),
    },
    Lance: {
        "healthy": Fault(Place.healthy),
        "removed": Fault(Lance.removed),
        "replaced": Fault(Lance.replaced, FAILED),
        "damaged": Fault(Lance.damaged, FAILED, is_sure=False),
        "readonly": Fault(Place.readonly, "Read-only file system", (*WRITERS, "amend", "sync")),
        "full": Fault(Place.full, "No space left", (*WRITERS, "amend")),
    },
}
