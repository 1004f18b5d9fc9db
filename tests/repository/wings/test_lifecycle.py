"""The life of memories in real files: decay, compress, consolidate by command; kills, and two runs at once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rawkomem.files.local.usage import note_use
from rawkomem.model.clock import DAY, now
from rawkomem.model.entry import Entry, Plan
from rawkomem.recall.filters import filter_of
from rawkomem.state.decide import plan_add
from rawkomem.state.lifecycle.compress import Compression

TEXTS = {
    "Sessions": "Redis caches the sessions of users for an hour, and the login page reads them from there.",
    "Session cache": "The sessions of users are cached in Redis for an hour; the login page reads them there.",
    "Sessions in Redis": "User sessions live in a Redis cache for one hour, from which the login page reads.",
}


@pytest.fixture(autouse=True)
def fixed_clock(monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-06-01T12:00:00Z")


def add(repository, title: str, days: float, **fields) -> str:
    return repository.add(
        Entry(title=title, at=now() - round(days * DAY), **{"body": TEXTS.get(title, title), **fields})
    ).entry.id


def statuses(repository) -> dict[str, str]:
    return {row.title: row.status for row in repository.list(filter_of(include=["all"]))}


def test_decay(repository, rawkomem):
    add(repository, "Old", 60)
    add(repository, "Fresh", 0)
    used = add(repository, "Used", 60)
    note_use(repository.layout, now(), "s", 10, [used])
    dry = rawkomem("decay", "--dry-run")
    assert "- archive     Old" in dry.stdout and "strength 0.09" in dry.stdout and "nothing was written" in dry.stderr
    assert set(statuses(repository).values()) == {"active"}
    done = json.loads(rawkomem("decay", "--json").stdout)
    assert (done["total"], done["healthy"], done["weakening"], done["archived"], done["dry_run"]) == (3, 1, 1, 1, False)
    assert statuses(repository) == {"Old": "archived", "Fresh": "active", "Used": "active"}
    assert "nothing to do" in rawkomem("decay").stderr


def test_decay_cleans_links(repository, rawkomem):
    one, other = add(repository, "One", 0), add(repository, "Other", 0)
    repository.graph.link(one, other)
    repository.delete(other)
    assert f"unlinked from {other} as related" in rawkomem("decay").stdout
    assert repository.get(one).links == () and "nothing to do" in rawkomem("decay").stderr


def test_strength_is_shown(repository, rawkomem):
    told = json.loads(rawkomem("show", add(repository, "Old", 60), "--json").stdout)
    assert told["strength"] == 0.0875 and [part["name"] for part in told["strength_parts"]][:2] == ["importance", "age"]


def test_compress(repository, rawkomem):
    for title in TEXTS:
        add(repository, title, 40)
    (entry,) = json.loads(rawkomem("compress", "--dry-run", "--json").stdout)["entries"]
    assert len(entry["derivedFrom"]) == 3
    assert "+ memory      Digest: " in rawkomem("compress").stdout
    assert "nothing to do" in rawkomem("compress").stderr
    assert rawkomem("compress", "--archive").stdout.count("- archive") == 3  # originals of the earlier digest
    assert sorted(statuses(repository).values()) == ["active", "archived", "archived", "archived"]
    assert "nothing to do" in rawkomem("compress", "--archive").stderr


def test_compress_archives_only_what_the_digest_holds(repository, rawkomem):
    timeout = "The nginx proxy_read_timeout of the {} server is {} seconds."
    for name, seconds in (("api", 30), ("upload", 300), ("websocket", 3600), ("report", 120)):
        add(repository, f"nginx timeout of {name}", 40, body=timeout.format(name, seconds))
    code = add(repository, "nginx timeout of web", 40, body="It is set here.\n\n```\nproxy_read_timeout 45s;\n```")
    told = json.loads(rawkomem("compress", "--archive", "--json").stdout)
    body = next(entry["body"] for entry in told["entries"] if entry["kind"] == "memory")
    assert all(f"is {seconds} seconds." in body for seconds in (30, 300, 3600, 120))
    assert told["unheld"] == [{"id": code, "text": "proxy_read_timeout 45s;"}]
    assert repository.get(code).status == "active" and [*statuses(repository).values()].count("archived") == 4
    assert f"{code} stays active: its digest does not say" in rawkomem("compress", "--archive").stderr


def test_consolidate(repository, rawkomem):
    first = add(repository, "Port", 9, by="planner", body="The service listens on port 8080 behind the proxy.")
    copy = add(repository, "Port", 3, by="tester", body="The service listens on port 8080, behind the proxy.")
    other = add(repository, "Port", 3, by="tester", body="The service listens on port 9090 behind the proxy.")
    told = rawkomem("consolidate").stdout
    assert f"duplicate of {first}" in told and "~ corroborate" in told
    assert [repository.get(id).status for id in (first, copy, other)] == ["active", "superseded", "active"]
    assert repository.get(first).corroborations == 1 and repository.get(copy).superseded_by == first
    assert "nothing to do" in rawkomem("consolidate").stderr


def claim(repository, value: str, days: float, predicate: str = "runs on", via: str = "") -> str:
    """A claim that stands beside its rivals: written past the door at which claims are resolved."""
    said = {"subject": "billing", "predicate": predicate, "value": value, "exclusive": "true"}
    entry = Entry(
        id=f"mem_{value.lower()}", title=f"Billing: {value}", at=now() - round(days * DAY), extra={"claim": said}
    )
    return repository.core.writer.write(plan_add(entry), via)[0].entry.id


def test_consolidate_settles_claims_that_contradict_each_other(repository, rawkomem):
    old, new = claim(repository, "Postgres", 10, via="person"), claim(repository, "MySQL", 1, via="person")
    dry = rawkomem("consolidate", "--dry-run")
    assert f"supersede   Billing: Postgres  {old}  contradicted by {new}" in dry.stdout
    assert repository.get(old).status == "active"
    rawkomem("consolidate")
    assert repository.get(old).superseded_by == new and repository.get(new).status == "active"
    assert "nothing to do" in rawkomem("consolidate").stderr


def test_consolidate_lets_nobody_of_low_trust_take_the_place_of_high(repository, rawkomem):
    old, new = claim(repository, "Postgres", 10, via="person"), claim(repository, "MySQL", 1, via="import")
    rawkomem("consolidate")
    assert (repository.get(old).status, repository.get(new).status) == ("active", "quarantined")
    assert [conflict.other.id for conflict in repository.beliefs.conflicts()] == [old]
    assert "nothing to do" in rawkomem("consolidate").stderr


@pytest.mark.parametrize(("policy", "status"), [("require_review", "quarantined"), ("keep_both", "active")])
def test_consolidate_obeys_the_policy_of_a_predicate(project, repository, rawkomem, policy, status):
    config = project / ".rawko" / "config.yaml"
    rule = f"predicates:\n  runs on: {{cardinality: single, conflictPolicy: {policy}}}\n"
    config.write_text(config.read_text("utf-8") + rule, "utf-8")
    old, new = claim(repository, "Postgres", 10, via="person"), claim(repository, "MySQL", 1, via="person")
    rawkomem("consolidate")
    assert (repository.get(old).status, repository.get(new).status) == ("active", status)
    assert "nothing to do" in rawkomem("consolidate").stderr


def test_consolidate_leaves_claims_of_other_sessions_and_times_alone(repository, rawkomem):
    for value, window in (("Postgres", ("2025-01-01", "2026-01-01")), ("MySQL", ("2026-01-01", ""))):
        said = {"subject": "billing", "predicate": "runs on", "value": value, "validFrom": window[0]}
        extra = {"claim": {**said, "validUntil": window[1]} if window[1] else said}
        repository.core.writer.write(plan_add(Entry(title=f"Billing: {value}", at=now(), extra=extra)), "person")
    assert "nothing to do" in rawkomem("consolidate").stderr


def fill(repository) -> None:
    for title in TEXTS:
        add(repository, title, 40, by="planner")
    for n in range(6):
        add(repository, f"Copy {n % 2}", 20 - n, by=f"agent {n}", body="The build runs on four cores of the runner.")
        add(repository, f"Forgotten {'abcdef'[n]}", 300, body=f"Nobody reads about {'abcdef'[n] * 5} any more.")


def outcome(repository) -> list:
    census = repository.lifecycle.census()
    titles = {memory.id: memory.path for memory in census.memories.values()}
    return sorted(
        (m.title, m.path, m.status, titles.get(m.superseded_by, ""), m.corroborations) for m in census.memories.values()
    )


@pytest.mark.parametrize("written", [1, 2, 5, 9])
def test_a_run_that_was_killed_is_continued_to_the_same_end(project, repository, tmp_path_factory, written):
    from rawkomem.files.start import plan_start, write_start
    from rawkomem.repository import Repository

    fill(repository)
    whole = repository.lifecycle.consolidate()
    assert {entry.kind for entry in whole.plan.entries} == {"supersede", "corroborate", "archive", "memory"}
    other = tmp_path_factory.mktemp("killed")
    write_start(plan_start(str(other)))
    killed = Repository.open(str(other), warn=lambda message: None)
    fill(killed)
    plan = killed.lifecycle.consolidate(dry_run=True).plan
    killed.core.writer.write(Plan(plan.entries[:written], plan.why))
    killed.lifecycle.consolidate()
    assert outcome(killed) == outcome(repository)
    assert not killed.lifecycle.consolidate().plan.entries
    killed.close()


def test_two_runs_at_once_do_the_work_once(project, repository):
    fill(repository)
    repository.sync()
    run = [sys.executable, "-m", "rawkomem", "consolidate", "--json"]
    runs = [
        subprocess.Popen(run, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]
    counts = sorted(len(json.loads(process.communicate(timeout=120)[0])["entries"]) for process in runs)
    assert counts[:2] == [0, 0] and counts[2] > 5


def test_an_empty_repository(repository):
    """A repository without memories has no life to speak of."""
    assert (
        repository.lifecycle.consolidate().plan.entries
        == ()
        == repository.lifecycle.compress(Compression()).plan.entries
    )
    done, outlook = repository.lifecycle.decay()
    assert not done.plan.entries and not outlook.strengths
