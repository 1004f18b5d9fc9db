"""The store in memory: the contract of all stores."""

from __future__ import annotations

import pytest

from rawkomem.index.stores import memory as memory_store
from rawkomem.index.stores.memory import MemoryStore
from tests.index.stores.store_contract import CONTRACT, DIMS, OUTSIDE


def make() -> MemoryStore:
    return MemoryStore(DIMS)


def again(store: MemoryStore) -> MemoryStore:
    store.close()
    return store


@pytest.mark.parametrize("rule", CONTRACT, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("room", [memory_store.ROOM, 2])
def test_contract(rule, room, monkeypatch):
    """With little room its tables grow, and rows are numbered anew, all the time."""
    monkeypatch.setattr(memory_store, "ROOM", room)
    rule(make)


@pytest.mark.parametrize("rule", OUTSIDE, ids=lambda rule: rule.__name__)
def test_contract_of_stores_outside(rule):
    rule(make, again)
