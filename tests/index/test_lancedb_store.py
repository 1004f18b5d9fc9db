"""The LanceDB store: the contract of all stores, and what is its own. Needs the extra: `make test-stores`."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")

from rawkomem.index.lancedb_store import LanceStore

from .store_contract import CONTRACT, DIMS, OUTSIDE, writers_at_once_lose_nothing

pytestmark = pytest.mark.stores


@pytest.fixture
def make(tmp_path):
    places = itertools.count()
    return lambda: LanceStore(str(tmp_path / f"store-{next(places)}"), DIMS)


def again(store: LanceStore) -> LanceStore:
    store.close()
    return beside(store)


def beside(store: LanceStore) -> LanceStore:
    return LanceStore(store.place, DIMS)


@pytest.mark.parametrize("rule", CONTRACT, ids=lambda rule: rule.__name__)
def test_contract(rule, make):
    rule(make)


@pytest.mark.parametrize("rule", OUTSIDE, ids=lambda rule: rule.__name__)
def test_contract_of_stores_outside(rule, make):
    rule(make, again)


def test_writers_at_once(make):
    writers_at_once_lose_nothing(make, beside)
