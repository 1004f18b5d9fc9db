"""What was made from a memory follows it: withdrawn sources hold back or label what rests on them."""

import pytest
from rawkomem.repository import Repository

from .test_verified import TASK, injected, text, write

pytestmark = pytest.mark.usefixtures("five")

WITHDRAW = {
    "delete": lambda repo: repo.delete("source"),
    "quarantine": lambda repo: repo.beliefs.quarantine("source"),
    "archive": lambda repo: repo.beliefs.archive("source"),
    "dispute": lambda repo: [repo.beliefs.dispute("source") for _ in range(3)],
    "supersede": lambda repo: repo.beliefs.supersede("source", "newer"),
    "end": lambda repo: repo.beliefs.validity("source", end="2020-01-01"),
}
KINDS = ("memory", "learning", "reflection", "lesson", "skill")


@pytest.fixture
def derived(memories, repository):
    """A source, a digest of it, and a reflection on the digest."""
    write(
        memories,
        source=text("Source", "Use npm."),
        newer=text("Newer", "Use pnpm."),
        digest=text("Digest", "They use npm.", derivedFrom="[source]"),
        above=text("Above", "All agree on npm.", derivedFrom="[digest]"),
    )
    assert injected(repository) == {"source", "newer", "digest", "above"}
    return repository


@pytest.mark.parametrize("how", ["delete", "quarantine", "archive", "dispute"])
def test_a_withdrawn_source_holds_back_what_rests_on_it(derived, how):
    WITHDRAW[how](derived)
    assert injected(derived) == {"newer"}
    left = {item.memory.id: item.out.code for item in derived.inject(TASK).left_out}
    assert left == {"digest": "weak-source", "above": "weak-source"}
    assert derived.beliefs.explain("above").standing.startswith("made from source, which is ")
    assert {memory.id for memory, _ in derived.beliefs.weakened()} == {"digest", "above"}


@pytest.mark.parametrize(("how", "why"), [("supersede", "superseded"), ("end", "ended")])
def test_a_source_that_no_longer_holds_is_named(derived, how, why):
    WITHDRAW[how](derived)
    items = {item.memory.id: item.signals.weak for item in derived.inject(TASK).items}
    assert {id: [(one.id, one.why) for one in weak] for id, weak in items.items()} == {
        "newer": [],
        "digest": [("source", why)],
        "above": [("source", why)],
    }
    assert derived.inject(TASK).text.count(f"made from source, which is {why}") == 2


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_follows_its_source(memories, repository, kind):
    write(
        memories,
        source=text("Source", "Use npm."),
        made=text("Made", "They use npm.", derivedFrom="[source]", kind=kind),
    )
    assert "made" in injected(repository)
    repository.delete("source")
    assert "made" not in injected(repository)


def test_restoring_the_source_brings_it_back(derived):
    derived.beliefs.archive("source")
    derived.beliefs.restore("source")
    assert "digest" in injected(derived)


def test_housekeeping_withdraws_nothing(memories, repository):
    from rawkomem.model.entries import Plan
    from rawkomem.state.changes import archiving

    write(memories, source=text("Source"), made=text("Made", derivedFrom="[source]"))
    entry = archiving(repository.get("source"), "compressed into made", "")
    repository.core.write(Plan((entry,), "compress"))
    assert repository.get("source").status == "archived" and injected(repository) == {"made"}


def test_an_agent_cannot_hold_back_what_a_person_committed(git, memories, repository, project):
    write(memories, digest=text("Digest", derivedFrom="[source, loose]"), source=text("Source"))
    git.commit()
    with Repository.open(str(project), via="agent") as agent:
        write(memories, loose=text("Loose"))
        agent.delete("loose")
        agent.delete("source")
    assert "digest" in injected(repository) and "source" in injected(repository)


def test_strict_wants_the_sources_committed_too(git, memories, repository):
    write(memories, digest=text("Digest", derivedFrom="[loose]"), other=text("Other"))
    git.commit()
    write(memories, loose=text("Loose"))
    assert injected(repository, strict=True) == {"other"}
    git.commit()
    assert injected(repository, strict=True) == {"other", "digest", "loose"}


def test_the_staged_check_names_it(git, memories, repository, rawkomem):
    write(memories, source=text("Source"), digest=text("Digest", derivedFrom="[source]"))
    git.commit()
    repository.delete("source")
    git("add", "-A")
    ran = rawkomem("check", "--staged", check=1)
    assert "digest was made from source, which is deleted" in ran.stdout
