"""The life of memories in real files: prune, digest, consolidate by command; kills, and two runs at once."""

import json
import subprocess
import sys

import pytest
from rawkomem.files.session_records import note_use
from rawkomem.model.entries import Entry
from rawkomem.model.values import DAY, now
from rawkomem.recall.signals import filter_of
from rawkomem.repository.maintenance import reasons_to_stay
from rawkomem.state.plans import plan_add

from tests.terminals import converse, scrubbed

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


HELD = "Backups of the orders database run at 02:30 on host vault-3."


def test_prune_prints_a_plan_and_archives_only_what_another_memory_says(repository, rawkomem):
    add(repository, "Backups of orders", 60, body=HELD)
    add(repository, "Backups of orders, and who reads them", 0, body=f"{HELD} Maria reads the report.")
    alone = add(repository, "Why we left Pulsar", 300, body="Brokers needed a restart after each failover.")
    told = rawkomem("tidy", "prune")
    assert "- archive     Backups of orders" in told.stdout and "strength 0.09" in told.stdout
    assert "nothing was written" in told.stderr and set(statuses(repository).values()) == {"active"}
    assert f"{alone} stays: no other memory that is found says 'Brokers needed a restart" in told.stderr
    counts = rawkomem.json("decay")  # its old name
    assert (counts["total"], counts["healthy"], counts["archived"], counts["dry_run"]) == (3, 1, 1, True)
    assert "only a person at a terminal" in rawkomem("tidy", "prune", "--apply", check=1).stderr
    repository.lifecycle.prune()
    assert statuses(repository) == {
        "Backups of orders": "archived",
        "Backups of orders, and who reads them": "active",
        "Why we left Pulsar": "active",
    }


def test_counts_of_this_machine_change_no_plan(repository, rawkomem):
    """Another clone, where nobody used anything, must come to the same plans."""
    old = add(repository, "Backups of orders", 60, body=HELD)
    add(repository, "Backups of orders, and who reads them", 0, body=f"{HELD} Maria reads the report.")
    later = add(repository, "Ports", 3, by="a", body="The gateway listens on 9443, behind the proxy.")
    first = add(repository, "Ports", 9, by="b", body="The gateway listens on 9443 behind the proxy.")
    for title in TEXTS:
        add(repository, title, 40)

    def plans() -> list:
        life = repository.lifecycle
        done = [life.prune(dry_run=True)[0], life.consolidate(dry_run=True), life.digest(archive=True, dry_run=True)]
        return [sorted((entry.kind, entry.about, entry.title) for entry in one.plan.entries) for one in done]

    before = plans()
    assert [len(one) for one in before] == [1, 2, 4]
    for _ in range(50):
        note_use(repository.layout, now(), "s", 10, [old, later, repository.list()[0].id])
    assert plans() == before and ("supersede", later, "") in before[1]
    assert "used 50 times on this machine" in rawkomem("tidy", "prune").stdout
    reasons = [entry.extra["reason"] for entry in repository.lifecycle.prune(dry_run=True)[0].plan.entries]
    assert "used" not in reasons[0] and repository.get(first).status == "active"


@pytest.mark.parametrize("spared", ["critical", "vouched"])
def test_only_by_name_is_archived_what_is_critical_or_vouched_for(git, repository, rawkomem, spared):
    importance = {"importance": "critical"} if spared == "critical" else {}
    old = add(repository, "Backups of orders", 60, body=HELD, **importance)
    if spared == "vouched":
        git.commit()
    add(repository, "Backups of orders, and who reads them", 0, body=f"{HELD} Maria reads the report.")
    assert [e for e in repository.lifecycle.prune(dry_run=True)[0].plan.entries if e.about == old] == []
    rawkomem("archive", old)
    git.commit()
    assert repository.get(old).status == "archived"


def test_a_person_at_a_terminal_carries_a_plan_out(project, repository, terminal):
    add(repository, "Backups of orders", 60, body=HELD)
    add(repository, "Backups of orders, and who reads them", 0, body=f"{HELD} Maria reads the report.")
    env = scrubbed(RAWKOMEM_NOW="2026-06-01T12:00:00Z", RAWKOMEM_EMBEDDER="static")
    for answer, status in (("n", "active"), ("y", "archived")):
        words = [sys.executable, "-m", "rawkomem", "tidy", "prune", "--apply"]
        shown = converse(terminal, words, [(r"\[y/N\]", f"{answer}\n")], project, env)
        assert "Write 1 entry? [y/N]" in shown and "- archive" in shown
        repository.sync()
        assert statuses(repository)["Backups of orders"] == status


def test_digest(repository, rawkomem):
    for title in TEXTS:
        add(repository, title, 40)
    (entry,) = rawkomem.json("compress")["entries"]
    assert len(entry["derivedFrom"]) == 3 and "+ memory      Digest: " in rawkomem("tidy", "digest").stdout
    assert "only a person at a terminal" in rawkomem("tidy", "digest", "--apply", check=1).stderr
    assert len(repository.list()) == 3
    repository.lifecycle.digest()
    assert "nothing to do" in rawkomem("tidy", "digest").stderr
    assert rawkomem("tidy", "digest", "--archive").stdout.count("- archive") == 3  # originals of the earlier digest
    repository.lifecycle.digest(archive=True)
    assert sorted(statuses(repository).values()) == ["active", "archived", "archived", "archived"]
    assert "nothing to do" in rawkomem("tidy", "digest", "--archive").stderr


QUOTAS = (
    ("storage quota of builders", "Builders get a quota_gib of 40 on volume /mnt/ci-a."),
    ("storage quota of testers", "Testers get a quota_gib of 25 on volume /mnt/ci-b."),
    ("storage quota of reviewers", "Reviewers get a quota_gib of 12 on volume /mnt/ci-c."),
    ("storage quota of interns", "Interns get a quota_gib of 4 on volume /mnt/ci-d, and Priya raises it on request."),
    ("storage quota of robots", "Robots get no quota_gib on volume /mnt/ci-e unless Omar agrees."),
)


def test_every_fact_of_what_a_digest_archives_is_found_by_its_questions(repository, rawkomem):
    """Numbers, names and code words of several limits that read alike, with more of the same around them."""
    ids = [add(repository, title, 40, body=body) for title, body in QUOTAS]
    code = add(repository, "storage quota of the mirror", 40, body="It is set here.\n\n```\nquota_gib = 900\n```")
    done = repository.lifecycle.digest(archive=True)
    digests = [entry.body for entry in done.plan.entries if entry.kind == "memory"]
    archived = {entry.about for entry in done.plan.entries if entry.kind == "archive"}
    assert archived and archived <= set(ids) and repository.get(code).status == "active"
    assert dict(done.staying)[code] == "its digest does not contain 'quota_gib = 900'"
    for id, (title, body) in zip(ids, QUOTAS, strict=True):
        if id in archived:
            assert any(body in digest for digest in digests)
            found = [row.row.id for row in repository.search(title, 5)]
            assert any(repository.get(one).source == "compress" and body in repository.get(one).body for one in found)


def test_a_question_of_the_past_that_finds_only_the_old_memory_keeps_it(repository):
    old = add(repository, "Backups of orders", 60, body=HELD)
    report = "The report lists files, sizes and checksums of each run. " * 6
    holder = add(repository, "Backups of orders, and who reads them", 0, body=f"{HELD} Maria reads it.\n\n{report}")
    for n in range(8):
        shelf = "abcdefgh"[n]
        add(repository, f"vault-3 shelf {shelf}", 1, body=f"Host vault-3 has disk {shelf} in shelf {n}.")
    assert [entry.about for entry in repository.lifecycle.prune(dry_run=True)[0].plan.entries] == [old]
    asked = "what runs on vault-3"
    repository.search(asked)  # the ledger notes it
    done, _ = repository.lifecycle.prune(dry_run=True)
    assert not done.plan.entries and [id for id, _ in done.staying] == [old]
    memories = repository.lifecycle.census().memories
    why = reasons_to_stay(repository.core, memories, {old}, {old: holder}, [asked])
    assert why == {old: f"a search for '{asked}' would not find {holder} among the first 5"}
    assert reasons_to_stay(repository.core, memories, {old}, {old: holder}) == {}


def test_consolidate(repository, rawkomem):
    first = add(repository, "Port", 9, by="planner", body="The service listens on port 8080 behind the proxy.")
    copy = add(repository, "Port", 3, by="tester", body="The service listens on port 8080, behind the proxy.")
    other = add(repository, "Port", 3, by="tester", body="The service listens on port 9090 behind the proxy.")
    told = rawkomem("consolidate", "--apply").stdout
    assert f"duplicate of {first}" in told and "~ corroborate" in told
    assert [repository.get(id).status for id in (first, copy, other)] == ["active", "superseded", "active"]
    assert repository.get(first).corroborations == 1 and repository.get(copy).superseded_by == first
    assert "nothing to do" in rawkomem("consolidate", "--apply").stderr


def claim(repository, value: str, days: float, predicate: str = "runs on", via: str = "") -> str:
    """A claim that stands beside its rivals: written past the door at which claims are resolved."""
    said = {"subject": "billing", "predicate": predicate, "value": value, "exclusive": "true"}
    entry = Entry(
        id=f"mem_{value.lower()}", title=f"Billing: {value}", at=now() - round(days * DAY), extra={"claim": said}
    )
    return repository.core.write(plan_add(entry), via)[0].entry.id


@pytest.mark.parametrize(("policy", "status"), [("require_review", "quarantined"), ("keep_both", "active")])
def test_consolidate_obeys_the_policy_of_a_predicate(project, repository, rawkomem, policy, status):
    config = project / ".rawko" / "config.yaml"
    rule = f"predicates:\n  runs on: {{cardinality: single, conflictPolicy: {policy}}}\n"
    config.write_text(config.read_text("utf-8") + rule, "utf-8")
    old, new = claim(repository, "Postgres", 10, via="person"), claim(repository, "MySQL", 1, via="person")
    rawkomem("consolidate", "--apply")
    assert (repository.get(old).status, repository.get(new).status) == ("active", status)
    assert "nothing to do" in rawkomem("consolidate", "--apply").stderr


def fill(repository) -> None:
    for title in TEXTS:
        add(repository, title, 40, by="planner")
    for n in range(6):
        add(repository, f"Copy {n % 2}", 20 - n, by=f"agent {n}", body="The build runs on four cores of the runner.")
        add(repository, f"Forgotten {'abcdef'[n]}", 300, body=f"Nobody reads about {'abcdef'[n] * 5} any more.")


def test_two_runs_at_once_do_the_work_once(project, repository):
    fill(repository)
    repository.sync()
    run = [sys.executable, "-m", "rawkomem", "consolidate", "--apply", "--json"]
    runs = [
        subprocess.Popen(run, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    counts = sorted(len(json.loads(process.communicate(timeout=120)[0])["entries"]) for process in runs)
    assert counts[0] == 0 and counts[1] > 5


def test_consolidate_lets_nobody_of_low_trust_take_the_place_of_high(repository, rawkomem):
    old, new = claim(repository, "Postgres", 10, via="person"), claim(repository, "MySQL", 1, via="import")
    rawkomem("consolidate", "--apply")
    assert (repository.get(old).status, repository.get(new).status) == ("active", "quarantined")
    assert [conflict.other.id for conflict in repository.beliefs.conflicts()] == [old]
    assert "nothing to do" in rawkomem("consolidate", "--apply").stderr
