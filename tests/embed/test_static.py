"""The bundled vectors: one text and many give the same, nothing known gives zeros, a broken file says so."""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.embed import static
from rawkomem.embed.static import STATIC_FILE, VECTORS_HEADER, StaticEmbedder, TokenVectors, pack_vector, weighted_sum
from rawkomem.model.errors import RawkoError

TEXTS = [case["text"] for case in json.loads((Path(__file__).parent / "data" / "tokens.json").read_text("ascii"))]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def floats(packed: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(packed), "<f4").reshape(len(packed), -1)


def test_a_vector_has_length_one_or_is_all_zeros(embedder):
    found = floats(embedder.embed(TEXTS))
    assert found.shape == (len(TEXTS), 384)
    lengths = np.linalg.norm(found, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


@pytest.mark.parametrize("text", ["", " \n", "\U0001f9d9", "ꙮꙮꙮ", "q" * 101])
def test_nothing_known_gives_zeros(embedder, text):
    assert embedder.embed([text]) == [bytes(4 * 384)]


def test_one_by_one_equals_many_at_once(embedder):
    rows = [embedder._cutter.rows(text) for text in [*TEXTS, " ".join(TEXTS) * 20]]
    assert embedder._bulk_sums(rows) == [embedder._sum(each) for each in rows]


@given(st.lists(st.lists(st.integers(0, 29_185), max_size=60), max_size=4))
def test_any_rows_give_the_same_bytes_both_ways(embedder, rows):
    assert embedder._bulk_sums(rows) == [embedder._sum(each) for each in rows]


def test_which_way_is_taken_changes_nothing(monkeypatch):
    texts = [text * 40 for text in TEXTS]
    usual = StaticEmbedder().embed(texts)
    monkeypatch.setattr(static, "NUMPY_TOKENS", sys.maxsize)
    monkeypatch.setattr(static, "LOADED_TOKENS", sys.maxsize)
    monkeypatch.setattr(static, "INDEX_CHARS", sys.maxsize)
    monkeypatch.setattr(static, "HAS_PREAD", False)  # as on Windows
    assert StaticEmbedder().embed(texts) == usual


def test_alike_means_near(embedder):
    query, near, far = floats(embedder.embed(["how do I delete a file", "remove files", "the weather in Paris"]))
    assert query @ near > 0.5 > 0.2 > query @ far


@given(st.lists(st.tuples(st.binary(min_size=16, max_size=16), st.integers(1, 2**40)), min_size=1, max_size=50))
def test_lanes_equal_plain_sums(pairs):
    rows, weights = [row for row, _ in pairs], [weight for _, weight in pairs]
    columns = zip(*map(signed, rows), strict=True)
    wanted = [sum(weight * x for weight, x in zip(weights, column, strict=True)) for column in columns]
    assert weighted_sum(rows, weights) == wanted


def signed(row: bytes) -> tuple[int, ...]:
    return struct.unpack(f"{len(row)}b", row)


def test_pack_normalises_and_keeps_zeros():
    assert struct.unpack("<2f", pack_vector([3.0, 4.0])) == pytest.approx((0.6, 0.8))
    assert pack_vector([0.0, 0.0]) == bytes(8)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: b"", "does not start"),
        (lambda data: b"other" + data[5:], "does not start"),
        (lambda data: data[: VECTORS_HEADER.size], "do not fit"),
        (lambda data: data[:-1], "do not fit"),
        (lambda data: data + b"\0", "do not fit"),
    ],
)
def test_a_broken_file_is_told(tmp_path, change, said):
    path = tmp_path / "broken.bin"
    path.write_bytes(change(Path(STATIC_FILE).read_bytes()))
    with pytest.raises(RawkoError, match=said) as caught:
        TokenVectors(str(path))
    assert "Install rawkomem again" in caught.value.hint


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(RawkoError, match="No such file"):
        TokenVectors(str(tmp_path / "none.bin"))
