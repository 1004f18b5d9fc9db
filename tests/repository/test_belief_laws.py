"""Laws of belief, over random histories of decisions: the fold has no order, trust is never overruled, the index is true."""

import os
import random
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rawkomem.files.installation import plan_start, write_start
from rawkomem.model.entries import Entry
from rawkomem.model.errors import RawkoError
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository
from rawkomem.state.fold import fold

from tests.commands import cases
from tests.torture.helpers import assert_equals_rebuild

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # every write waits for the disk, thousands of times
SOURCES = ("user_explicit", "document", "inference")
WINDOWS = ({}, {"validFrom": "2024-01-01", "validUntil": "2024-06-01"}, {"validFrom": "2024-03-01"})
PLACES = ({}, {}, {"scope": "session", "session": "s1"})
WHICH = st.integers(0, 5)
CLAIM = st.tuples(
    st.just("store"), st.sampled_from("AB"), st.sampled_from(SOURCES), st.sampled_from(WINDOWS),
    st.sampled_from(PLACES), st.sampled_from(("quarantine", "keep_active")),
)  # fmt: skip
OPERATIONS = st.one_of(
    CLAIM,
    CLAIM,
    st.tuples(st.sampled_from(("dispute", "reinforce", "quarantine", "archive", "restore", "delete")), WHICH),
    st.tuples(st.just("feedback"), WHICH, st.sampled_from(("helpful", "harmful"))),
    st.tuples(st.just("review"), WHICH, st.sampled_from(("activate", "reject")), st.sampled_from(("", "keep_both", "supersede"))),
    st.tuples(st.just("supersede"), WHICH, WHICH),
    st.tuples(st.just("validity"), WHICH, st.sampled_from(("2024-04-01", "2030-01-01", "none"))),
)  # fmt: skip


def carry_out(repository: Repository, ids: list[str], operation: tuple) -> None:
    what, *words = operation
    if what == "store":
        value, source, window, place, on_conflict = words
        claim = {"subject": "s", "predicate": "p", "value": value, **window, **place}
        entry = Entry(title=f"It is {value}", extra={"claim": claim, "provenance": {"source": source}})
        ids.append(repository.add(entry, on_conflict).outcome.id)
    elif ids:
        names = [ids[word % len(ids)] if isinstance(word, int) else word for word in words]
        if what == "validity":
            repository.beliefs.validity(names[0], end=names[1])
        else:
            getattr(repository if hasattr(repository, what) else repository.beliefs, what)(*names)


def state(repository: Repository) -> dict:
    ids = [row.id for row in repository.list(Filter())]
    return {memory.id: memory for memory in repository.get_many(ids)} if ids else {}


def check_trust(repository: Repository, before: dict, operation: tuple) -> None:
    """What took another's place was trusted as much, unless a person said so in a review."""
    now = state(repository)
    for id, old in before.items():
        newer = now[id].superseded_by
        if newer and not old.superseded_by and "supersede" not in operation[1:]:
            assert repository.beliefs.trust(now[newer]).value >= repository.beliefs.trust(old).value - 1e-6, operation
    if operation[0] == "store":
        trust = {"user_explicit": 1.0, "document": 0.6, "inference": 0.5}[operation[2]]
        held = [
            id
            for id, old in before.items()
            if old.status == "active" and repository.beliefs.trust(old).value > trust + 1e-6
        ]
        assert all(now[id].status == "active" for id in held), operation


def check_fold(repository: Repository, chance: random.Random) -> None:
    for id, memory in state(repository).items():
        entries = [step.entry for step in repository.history(id)]
        chance.shuffle(entries)
        assert fold([*entries, *entries[:1]]) == memory


def check_laws(operations: list[tuple]) -> None:
    project = tempfile.mkdtemp(dir=MEMORY)
    try:
        write_start(plan_start(project))
        repository = Repository.open(project, warn=lambda message: None)
        ids: list[str] = []
        for operation in operations:
            before = state(repository)
            try:
                carry_out(repository, ids, operation)
            except RawkoError:
                assert state(repository) == before, "a refused decision writes nothing"
            else:
                check_trust(repository, before, operation)
        check_fold(repository, random.Random(len(operations)))
        assert_equals_rebuild(repository.core.index)
    finally:
        shutil.rmtree(project)


ANYTHING = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=cases(120, 10), **ANYTHING)
@given(st.lists(OPERATIONS, min_size=1, max_size=6))
def test_any_history_of_decisions(operations):
    check_laws(operations)


@pytest.mark.slow
@settings(max_examples=cases(1000, 50), **ANYTHING)
@given(st.lists(OPERATIONS, min_size=4, max_size=20))
def test_any_long_history_of_decisions(operations):
    check_laws(operations)
