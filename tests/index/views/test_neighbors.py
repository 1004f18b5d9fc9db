"""Similar pairs: mutual, bounded, the same on every machine and in every order."""

import random
from array import array

import numpy as np
from rawkomem.index import neighbors
from rawkomem.index.neighbors import BLOCK_ROWS, MAX_LINKS, VECTOR_LENGTH, Neighbors

from tests.index.stores.store_contract import mixed, numbers, vector


def similar_pairs(vectors, least, of=""):
    near = Neighbors(vectors)
    return near.pairs(near.ids, least, of)


def int8(given: bytes) -> bytes:
    return array("b", [max(-127, min(127, round(number * 127 / 0.3))) for number in array("f", given)]).tobytes()


def test_close_ones_are_paired_with_their_cosine():
    vectors = [("a", int8(vector("x"))), ("b", int8(mixed("x", "y", 0.8))), ("c", int8(vector("z")))]
    ((one, other, cosine),) = similar_pairs(vectors, 0.5)
    assert (one, other) == ("a", "b") and abs(cosine - 0.8) < 0.02
    assert similar_pairs(vectors, 0.9) == [] == similar_pairs([], 0.5)
    assert similar_pairs(vectors[:1], 0.0) == []


def test_a_memory_is_the_sum_of_its_passages():
    both = [("a", int8(vector("x"))), ("a", int8(vector("y"))), ("b", int8(vector("x"))), ("c", int8(vector("y")))]
    assert [(one, other) for one, other, _ in similar_pairs(both, 0.6)] == [("a", "b"), ("a", "c")]


def test_nobody_has_more_than_a_few():
    """A centre that everyone is close to is linked with its own closest only."""
    around = [(f"m{n:03}", int8(mixed("centre", f"m{n}", 0.75))) for n in range(60)]
    pairs = similar_pairs([("centre", int8(vector("centre"))), *around], 0.5)
    counts = {id: sum(id in pair[:2] for pair in pairs) for id in ("centre", *(id for id, _ in around))}
    assert 0 < counts["centre"] <= MAX_LINKS and max(counts.values()) <= MAX_LINKS


def test_equals_are_paired_by_id():
    same = [(f"m{n:03}", int8(vector("same"))) for n in range(BLOCK_ROWS + 20)]
    pairs = similar_pairs(same, 0.5)
    assert {id for pair in pairs for id in pair[:2]} == {f"m{n:03}" for n in range(MAX_LINKS + 1)}


def test_as_comparing_all_with_all(monkeypatch):
    monkeypatch.setattr(neighbors, "BLOCK_ROWS", 100)
    rest = random.Random(3)
    names = [f"m{n:04}" for n in range(150)]
    vectors = [(name, int8(mixed(f"c{rest.randrange(10)}", name, 0.7))) for name in names]
    unit = np.array([np.frombuffer(v, np.int8).astype(float) for _, v in vectors])
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    whole = np.rint(unit * VECTOR_LENGTH).astype(np.int64)
    cosines = (whole @ whole.T) / VECTOR_LENGTH**2
    np.fill_diagonal(cosines, -1)
    close = [set(np.argsort(-row, kind="stable")[:MAX_LINKS][np.sort(-row)[:MAX_LINKS] <= -0.4]) for row in cosines]
    mutual = {(i, j) for i in range(len(names)) for j in close[i] if i < j and i in close[j]}
    pairs = similar_pairs(vectors, 0.4)
    assert {(names.index(one), names.index(other)) for one, other, _ in pairs} == mutual and len(mutual) > 100
    assert all(abs((unit[names.index(a)] * unit[names.index(b)]).sum() - cosine) < 0.002 for a, b, cosine in pairs)
    for name in names[:20]:
        assert similar_pairs(vectors, 0.4, name) == [pair for pair in pairs if name in pair[:2]]
    assert similar_pairs(vectors, 0.4, "none such") == []


def test_a_text_without_known_words_is_like_nothing():
    nothing = bytes(len(numbers("x")))
    assert similar_pairs([("a", nothing), ("b", nothing), ("c", int8(vector("x")))], 0.1) == []
