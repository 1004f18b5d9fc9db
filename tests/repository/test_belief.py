"""Decisions about memories, through the repository: what each does, that it can be taken back, and how it was before."""

import pytest
from rawkomem.model.entries import Entry, Task
from rawkomem.model.errors import BadInput, Refused
from rawkomem.model.filters import Filter
from rawkomem.model.values import ACTIVE, DAY, iso, read_time, replace
from rawkomem.recall.signals import filter_of
from rawkomem.state import contradictions as contradictory

TASK = Task("rotate the deploy keys every quarter")
START = read_time("2026-01-01T00:00:00Z")[0]


@pytest.fixture
def on_day(monkeypatch):
    """Sets the clock to a day of January 2026."""

    def on_day(number: int) -> int:
        at = START + (number - 1) * DAY
        monkeypatch.setenv("RAWKOMEM_NOW", iso(at))
        return at

    on_day(1)
    return on_day


@pytest.fixture
def keys(repository, on_day) -> str:
    """A memory that the task is about, stored on the first day."""
    entry = Entry(title="Rotate the deploy keys every quarter", body="Rotate deploy keys in the vault.", by="mark")
    return repository.add(entry).entry.id


def claim(value: str, source: str = "document", subject: str = "deploy", **more: str) -> Entry:
    said = {"subject": subject, "predicate": "branch", "value": value, **more}
    return Entry(title=f"Deploys come from {value}", by="mark", extra={"claim": said, "provenance": {"source": source}})


def injected(repository) -> list[str]:
    return [item.memory.id for item in repository.inject(TASK).items]


def found(repository, **more) -> list[str]:
    return [item.row.id for item in repository.search(TASK.text, only=filter_of(**more))]


def test_a_harmful_vote_is_seen_and_made_good(repository, keys, on_day):
    before, _ = repository.explain(keys, TASK)
    on_day(2)
    repository.feedback(keys, "harmful", "wrong vault")
    item, inside = repository.explain(keys, TASK)
    (votes,) = (factor for factor in item.factors if factor.name == "feedback")
    assert inside and votes.value == 0.5 and "1 harmful" in votes.why and item.score == pytest.approx(before.score / 2)
    on_day(3)
    for _ in range(8):
        repository.feedback(keys, "helpful")
    item, _ = repository.explain(keys, TASK)
    assert item.score == pytest.approx(before.score * 0.5 * 1.1**8)
    assert repository.get(keys).harmful == 1


def test_disputes_hide_a_memory_until_it_is_reinforced(repository, keys, on_day):
    for number in (2, 3):
        on_day(number)
        repository.beliefs.dispute(keys, "not since May")
        assert injected(repository) == [keys]
    on_day(4)
    repository.beliefs.dispute(keys, "not since May")
    assert repository.get(keys).status == "disputed"
    item, inside = repository.explain(keys, TASK)
    assert not inside and item.why_not == "disputed 3 times (not since May)"
    assert injected(repository) == [] and found(repository) == []
    assert found(repository, include=["disputed"]) == [keys]
    on_day(5)
    repository.beliefs.reinforce(keys)
    assert injected(repository) == [keys] and repository.get(keys).reason == ""


def test_a_superseded_memory_is_in_use_while_its_replacement_is_not(repository, keys, on_day):
    newer = repository.add(
        Entry(title="Rotate the deploy keys every month", body="Rotate deploy keys in the vault.")
    ).entry.id
    on_day(2)
    repository.beliefs.supersede(keys, newer)
    for day, put_away in enumerate((repository.delete, repository.beliefs.archive, repository.beliefs.quarantine), 3):
        on_day(day)
        put_away(newer, "wrong")
        assert (repository.get(keys).status, repository.get(keys).superseded_by) == ("active", "")
        assert keys in found(repository)
        assert repository.history(keys)[-1].told == f"superseded by {newer}, which is not in use: no effect"
        repository.beliefs.restore(newer)
        assert repository.get(keys).superseded_by == newer and keys not in found(repository)
    repository.lifecycle.purge(newer)
    assert keys in found(repository)


def test_circles_are_refused(repository, on_day):
    a, b, c = (repository.add(Entry(title=f"Number {n}")).entry.id for n in range(3))
    repository.beliefs.supersede(a, b)
    repository.beliefs.supersede(b, c)
    for new, why in ((c, "supersede itself"), (b, "supersede itself"), (a, "is superseded")):
        with pytest.raises(Refused, match=why):
            repository.beliefs.supersede(c, new)
    repository.beliefs.archive(repository.add(Entry(title="Archived"), "quarantine").entry.id)
    with pytest.raises(Refused, match="archived"):
        repository.beliefs.supersede(c, "archived")
    repository.beliefs.restore(a)
    with pytest.raises(Refused, match="already"):
        repository.beliefs.supersede(b, a)
    assert [step.new.id for step in repository.beliefs.explain_supersession(b)] == [c]


def test_nothing_is_decided_about_what_is_deleted(repository, keys):
    repository.delete(keys)
    for decide in (
        repository.beliefs.reinforce,
        repository.beliefs.dispute,
        repository.beliefs.archive,
        repository.beliefs.quarantine,
    ):
        with pytest.raises(Refused, match="deleted"):
            decide(keys)
    with pytest.raises(Refused, match="deleted"):
        repository.feedback(keys, "helpful")


@pytest.fixture
def conflict(repository, on_day) -> tuple[str, str]:
    """A trusted claim and one that was quarantined because it contradicts it."""
    old = repository.add(claim("main", "user_explicit")).entry.id
    stored = repository.add(claim("dev", "inference"))
    assert (stored.outcome.what, stored.outcome.others) == ("quarantined", (old,))
    return old, stored.outcome.id


def sides(repository) -> list[tuple[str, str]]:
    return [(item.memory.id, item.other.id) for item in repository.beliefs.conflicts()]


def test_activating_leaves_it_open_where_trust_does_not_allow(repository, conflict):
    old, new = conflict
    repository.beliefs.review(new, "activate")
    assert sides(repository) == [(new, old)]
    assert [repository.get(id).status for id in conflict] == ["active", "active"]
    with pytest.raises(Refused, match="trusted less"):
        repository.beliefs.review(new, "activate")
    repository.beliefs.review(new, "activate", "keep_both")
    assert sides(repository) == [] and ("keptBoth", old) in repository.get(new).links


def test_a_person_decides_otherwise(repository, conflict):
    old, new = conflict
    repository.beliefs.review(new, "activate", "supersede", "the team moved")
    assert sides(repository) == [] and repository.get(old).superseded_by == new
    assert repository.get(old).reason == "the team moved"
    repository.beliefs.restore(old)
    assert repository.get(new).superseded_by == old, "the older claim is trusted more: it takes its place back"


def test_keep_active(repository, on_day):
    old = repository.add(claim("main", "user_explicit")).entry.id
    new = repository.add(claim("dev", "inference"), "keep_active").outcome
    assert new.what == "conflict" and sides(repository) == [(new.id, old)]
    repository.beliefs.review(new.id, "reject")
    assert sides(repository) == [] and repository.get(new.id).status == "archived"


def test_evolve(repository, on_day):
    old = repository.add(Entry(title="The staging database runs Postgres 14 on port 5433"), evolve=True).outcome
    assert old.what == "stored"
    other = repository.add(Entry(title="Prefer tabs in Makefiles"), evolve=True).outcome
    assert other.what == "stored"
    again = repository.add(Entry(title="The staging database runs Postgres 14 on port 5433"), evolve=True).outcome
    assert (again.what, again.id) == ("corroborated", old.id)
    repository.beliefs.dispute(old.id)
    new = repository.add(Entry(title="The staging database runs Postgres 16 on port 5433"), evolve=True).outcome
    assert (new.what, new.others) == ("superseded", (old.id,))
    trusted = repository.add(
        Entry(title="The build server has 8 cores and 32 GB memory", extra={"provenance": {"source": "user_explicit"}})
    ).entry.id
    beside = repository.add(Entry(title="The build server has 16 cores and 64 GB memory"), evolve=True)
    assert beside.outcome.what == "stored" and f"keep {trusted}, which is trusted more" in beside.why
    with pytest.raises(BadInput, match="10,000"):
        repository.add(Entry(title="T", body="x" * 10_001), evolve=True)
    repository.add(claim("main", "user_explicit"))
    assert repository.add(claim("dev", "inference"), evolve=True).outcome.what == "quarantined", (
        "a claim is resolved as ever"
    )


def test_a_new_memory_and_its_quarantine_are_one_write(repository, conflict, project):
    _, new = conflict
    path = repository.get(new).path
    text = (project / ".rawko" / path).read_text()
    assert text.count("\nkind: quarantine\n") == 1


def test_two_writers_at_once_do_not_both_win(project, rawkomem):
    """Deciding and writing happen under one lock."""
    import subprocess
    import sys

    from tests.commands import ENVIRONMENT

    words = [sys.executable, "-m", "rawkomem", "add", "--title"]
    running = [
        subprocess.Popen(
            [*words, f"Plan {n}", "--body", "x", "--claim", f"subject=u,predicate=p,value={n}"],
            cwd=project, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )
        for n in range(3)
    ]  # fmt: skip
    assert [process.wait(60) for process in running] == [0] * 3

    rows = rawkomem.json("list", "--include", "all")
    assert sorted(row["status"] for row in rows) == ["active", "superseded", "superseded"]


def test_a_claim_of_a_session_keeps_to_it(repository, on_day):
    everywhere = repository.add(claim("main", "user_explicit")).entry.id
    here = repository.add(claim("dev", "inference", scope="session", session="s1")).entry.id

    def for_session(session: str) -> set[str]:
        items = repository.inject(Task("from which branch do deploys come", session=session)).items
        return {item.memory.id for item in items}

    assert for_session("") == for_session("s2") == {everywhere}
    assert for_session("s1") == {here}


def test_a_memory_with_an_open_fence_is_quarantined_all_the_same(repository, on_day):
    repository.add(claim("main", "user_explicit"))
    stored = repository.add(replace(claim("dev", "inference"), body="```\nopen"))
    memory = repository.get(stored.outcome.id)
    assert memory.status == "quarantined" and memory.body == "```\nopen"
    assert len({item.entry.path for item in stored.written}) == 2


def test_contradictions_are_those_of_all_memories_and_follow_changes(repository, monkeypatch):
    """Only the memories with a sentence that another may contradict are compared, and only if one of them changed."""
    repository.add(Entry(title="Package manager", body="Use npm for the frontend.", when=("install packages",)))
    for number in range(5):
        repository.add(Entry(title=f"Note {number}", body=f"The topic {number} has a name of its own."))
    assert repository.beliefs.contradictions() == []
    newer = repository.add(
        Entry(title="Package manager", body="Use pnpm for the frontend.", when=("install packages",))
    )
    read: list[str] = []
    whole = contradictory.prose_of
    monkeypatch.setattr(contradictory, "prose_of", lambda memory: read.append(memory.id) or whole(memory))
    (pair,) = repository.beliefs.contradictions()
    assert pair.newer.id == newer.entry.id and len({*read}) == 2
    assert [pair] == contradictory.contradictions(repository.core.inside(Filter(statuses=(ACTIVE,), current=True)))
    read.clear()
    assert repository.beliefs.contradictions() == [pair] and read == []
    repository.amend(newer.entry.id, body="Use npm for the frontend.")
    assert repository.beliefs.contradictions() == []


def test_the_history_of_a_long_list_shows_what_each_change_added(repository, keys):
    others = [repository.add(f"Fact {number}.").id for number in range(22)]
    for other in others:
        repository.graph.link(keys, other)
    steps = repository.history(keys)
    assert steps[20].changes == (
        ("links", tuple(("related", id) for id in others[:19]), tuple(("related", id) for id in others[:20])),
    )
    assert steps[-1].changes == (("links", (), (("related", others[-1]),)),)
