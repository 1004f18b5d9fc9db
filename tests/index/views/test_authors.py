"""Authors kept in the index: the same as asking git anew, and git is asked only when HEAD moved."""

import pytest
from rawkomem.index.authors import Authors
from rawkomem.state.trust import AGENT, PERSON, UNCOMMITTED, UNKNOWN

from tests.git.gitting import AGENT as BOT
from tests.git.gitting import PERSON as ADA
from tests.git.provenance import provenance_of


@pytest.fixture
def asked(monkeypatch):
    """How often git was asked."""
    from rawkomem.git import authorship as committed

    calls: list[str] = []
    real = committed.read_history

    def counting(layout, known=None):
        calls.append(known.head if known else "")
        return real(layout, known)

    monkeypatch.setattr(committed, "read_history", counting)
    return calls


def entry(id: str, about: str = "") -> str:
    head = f"kind: amend\nabout: {about}" if about else f"title: {id}"
    return f"---\nid: {id}\n{head}\n---\n\nText.\n"


def kept(repository) -> dict[str, str]:
    """What the index says of every entry; it must be what git says when asked anew."""
    repository.sync()
    authors = Authors(repository.core.index)
    authors.refresh()
    assert not authors.refresh()
    ids = [row[0] for row in repository.core.index.reading().execute("SELECT DISTINCT target FROM entries")]
    return {entry: state for said in authors.of_memories(ids).values() for entry, state in said.items()}


def test_it_follows_files_and_head(git, memories, repository, asked):
    def same() -> dict[str, str]:
        found = kept(repository)
        before = len(asked)
        assert found == provenance_of(repository.layout)[0]
        del asked[before:]
        return found

    (memories / "a.md").write_text(entry("one"))
    assert same() == {"one": UNCOMMITTED} and len(asked) == 1
    (memories / "b.md").write_text(entry("two"))
    assert same() == {"one": UNCOMMITTED, "two": UNCOMMITTED} and len(asked) == 1  # a new file: git is not asked
    git.commit()
    assert same() == {"one": PERSON, "two": PERSON} and len(asked) == 2
    (memories / "a.md").write_text(entry("one") + "\n---\n\n" + entry("three", about="one"))
    assert same() == {"one": PERSON, "two": PERSON, "three": UNCOMMITTED} and len(asked) == 2
    git.commit("agent", BOT)
    head = git("rev-parse", "HEAD")
    assert same()["three"] == AGENT and len(asked) == 3
    git("commit", "-q", "--amend", "--no-edit", f"--author={ADA[0]} <{ADA[1]}>")
    assert same()["three"] == PERSON and asked[-1] == head
    (memories / "b.md").unlink()
    assert kept(repository)["two"] == PERSON and len(asked) == 4  # HEAD still holds it
    git("checkout", "-q", "-f", "HEAD~1")
    assert same() == {"one": PERSON, "two": PERSON} and len(asked) == 5
    repository.store.rebuild()
    assert same() == {"one": PERSON, "two": PERSON} and asked[5:] == [""]  # anew, from nothing


def test_agents_of_ones_own(git, memories, repository):
    (memories / "a.md").write_text(entry("one"))
    git.commit("robot", ("Robo", "robo@ci.example.org"))
    assert kept(repository) == {"one": PERSON}
    assert Authors(repository.core.index, ("*@ci.example.org",)).of_memories(["one"])["one"] == {"one": AGENT}


def test_without_git_nothing_is_written(memories, repository):
    (memories / "a.md").write_text(entry("one"))
    assert kept(repository) == {"one": UNKNOWN}
    assert not repository.core.index.reading().execute("SELECT name FROM sqlite_master WHERE name = 'said'").fetchall()


def test_a_git_that_failed_is_asked_again_later(git, memories, repository, asked, monkeypatch):
    (memories / "a.md").write_text(entry("one"))
    git.commit()
    with monkeypatch.context() as without:
        without.setenv("PATH", "")
        assert kept(repository) == {"one": UNKNOWN}
    (memories / "b.md").write_text(entry("two"))
    assert kept(repository) == {"one": UNKNOWN, "two": UNKNOWN} and len(asked) == 1
    monkeypatch.setattr("rawkomem.index.authors.GIT_RETRY_S", -1)
    Authors(repository.core.index).refresh()
    assert Authors(repository.core.index).of_memories(["one"])["one"] == {"one": PERSON}
