"""A team works for some rounds on clones with one store: no command fails, all ends merged, and each clone answers as
with SQLite. With RAWKOMEM_FULL it is twelve clones and 36 rounds; `-s` shows the figures."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.commands import ENVIRONMENT, cases
from tests.conftest import ROOT
from tests.git.gitting import Git
from tests.index.stores.faults import QUESTION, Clone
from tests.index.stores.postgres_server import start_server

pytestmark = pytest.mark.stores
CLONES, ROUNDS = cases(full=12, usual=3), cases(full=3, usual=1)
MAX_PUSHES = 60
CROWD = cases(full=100, usual=20)  # clones at once; PostgreSQL takes 100 connections unless its owner raises that
RESERVED = 3  # connections that PostgreSQL keeps for its owner by default
QUESTIONS = (QUESTION, "retries are limited", "which round did somebody describe", "drained at midnight")
STORES = ("postgres", "sqlite")


def found(done) -> list[tuple[str, str]]:
    """Return what was answered, in order; the last digits of scores depend on the store's arithmetic."""
    assert "words only" not in done.stderr
    answer = json.loads(done.stdout)
    return [(one["id"], one["title"]) for one in (answer["items"] if isinstance(answer, dict) else answer)]


def work(number: int, clone: Clone) -> list[str]:
    """Add, amend, vote, search, commit, merge and push in each round; return what failed."""
    failed: list[str] = []

    def did(done) -> bool:
        if done.returncode:
            failed.append(f"{number} {done.args}: {done.stdout} {done.stderr}")
        return not done.returncode

    for turn in range(ROUNDS):
        text = f"In round {turn} developer {number} saw that retries are limited to {number + turn}."
        did(clone("add", "--title", f"Round {turn} of {number}", "--when", f"dev{number}", "--body", text, check=None))
        did(clone("amend", f"mem_{number % 3}", "--tag", f"by-{number}-{turn}", check=None))
        did(clone("feedback", "mem_0", "--helpful", check=None))
        did(clone("search", QUESTION, check=None))
        did(clone.commit())
        for _ in range(MAX_PUSHES):
            if not did(clone.git("pull", "-q", "--no-rebase", "--no-edit")) or not clone.git("push", "-q").returncode:
                break
        else:
            failed.append(f"{number} never pushed")
    return failed


def team(folder: Path, url: str, count: int) -> list[Clone]:
    """Return clones of one repository that share a database."""
    bare = folder / "team.git"
    Git(folder)("init", "-q", "--bare", str(bare))
    clones: list[Clone] = []
    for number in range(count):
        own = folder / str(number)
        own.mkdir()
        clones.append(Clone(own, "postgres", url, bare if number else None, is_in_process=False))
        if not number:
            clones[0].git("remote", "add", "origin", str(bare))
            assert clones[0].git("push", "-q", "-u", "origin", "HEAD").returncode == 0
    return clones


def test_clones_of_a_team_answer_alike(database, tmp_path):
    import psycopg

    clones = team(tmp_path, database, CLONES)
    counted = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    seen, ended = [], threading.Event()
    with psycopg.connect(database, autocommit=True) as connection:

        def look() -> None:
            while not ended.wait(0.02):
                seen.append(connection.execute(counted).fetchone()[0])

        looking = threading.Thread(target=look)
        looking.start()
        with ThreadPoolExecutor(CLONES) as pool:
            failed = [one for own in pool.map(work, range(CLONES), clones) for one in own]
        ended.set()
        looking.join()
        assert failed == []
        for clone in clones:
            assert clone.git("pull", "-q", "--no-rebase", "--no-edit").returncode == 0
        assert len({clone.git("rev-parse", "HEAD").stdout for clone in clones}) == 1
        compared = [
            (
                name,
                question,
                *(found(clone(name, question, "--json", env={"RAWKOMEM_STORE": store})) for store in STORES),
            )
            for clone in clones
            for question in QUESTIONS
            for name in ("search", "inject")
        ]
        assert [one for one in compared if one[2] != one[3]] == []
        idle = connection.execute(counted).fetchone()[0]
    print(
        f"{CLONES} clones, {CLONES * ROUNDS} rounds: {len(compared)} equal answers, {max(seen)} connections at the peak, {idle} idle"
    )
    assert max(seen) <= CLONES and idle == 0


def test_as_many_clones_as_the_server_takes_connections_use_it_at_once(tmp_path):
    """Each wave starts one command in every clone; all have the rights of ordinary users. No command fails."""
    import psycopg

    server = start_server(
        max_connections=str(CROWD), superuser_reserved_connections=str(RESERVED), reserved_connections="0"
    )
    try:
        owner = server.new_database("crowd")
        server.admin("CREATE EXTENSION vector", "CREATE ROLE member LOGIN PASSWORD 'm'", "GRANT ALL ON DATABASE crowd TO member",
                     "GRANT ALL ON SCHEMA public TO member", database="crowd")  # fmt: skip
        url = server.url("crowd", "member", "m")
        clones = team(tmp_path, url, CROWD)
        waves = (
            ("search", QUESTION),
            ("inject", QUESTION),
            ("add", "--title", "Crowd", "--when", "crowd", "--body", "Everybody adds a memory at once."),
            ("search", "who adds a memory at once"),
        )
        counted = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'member'"
        with psycopg.connect(owner, autocommit=True) as connection:
            for words in waves:
                began, seen = time.monotonic(), []
                started = [
                    subprocess.Popen(
                        [sys.executable, "-m", "rawkomem", *words], cwd=clone.folder, env={**ENVIRONMENT, **clone.env,
                        "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    ) for clone in clones
                ]  # fmt: skip
                while any(process.poll() is None for process in started):
                    seen.append(connection.execute(counted).fetchone()[0])
                    time.sleep(0.01)
                said = [process.communicate() for process in started]
                failed = [err for process, (_, err) in zip(started, said, strict=True) if process.returncode]
                lost = [err for _, err in said if "no free connection" in err or "words only" in err]
                took = time.monotonic() - began
                print(
                    f"{words[0]}: {CROWD} clones, {max(seen)} connections at the peak, {len(failed)} failed,"
                    f" {len(lost)} without the store, {took:.1f} s"
                )
                assert failed == [] and all(out for out, _ in said)
                assert len(lost) < RESERVED, "a command that finds no connection free tries again"
            assert connection.execute(counted).fetchone()[0] == 0, "a command left its connection open"
    finally:
        server.stop()
