"""neolata → here → neolata: the same memories, and the same decisions about what comes next."""

from random import Random

import pytest

from ...commands import cases
from .rules import WORDS, Neolata, a_series, random_store
from .trips import items_in, there_and_back

FEW, MANY, ALL = 2, 20, 200  # stores: of the default lane, of the slow one, with RAWKOMEM_FULL


@pytest.mark.parametrize("seed", range(FEW))
def test_a_store_comes_back_as_it_was(seed, tmp_path):
    comes_back(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, cases(ALL, MANY)))
def test_many_stores_come_back_as_they_were(seed, tmp_path):
    comes_back(seed, tmp_path)


def comes_back(seed, tmp_path):
    store = random_store(seed)
    store.save(tmp_path / "store")
    out = there_and_back(tmp_path / "store", tmp_path / "work")
    before, after = items_in(tmp_path / "store"), items_in(out)
    for name, items in before.items():
        for id, item in items.items():
            assert after[name][id] == item, (name, id)
        assert after[name].keys() == items.keys()
    dice = Random(seed)
    sides = [Neolata.load(folder, store.policies) for folder in (tmp_path / "store", out)]
    for given in a_series(dice, 20):
        assert len({side.store(**given) for side in sides}) == 1, given
    assert sides[0].statuses() == sides[1].statuses()
    for _ in range(10):
        query = " ".join(dice.sample(WORDS, 3))
        assert sides[0].search(query) == sides[1].search(query)
