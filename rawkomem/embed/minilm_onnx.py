"""Runs the contextual embedder with onnxruntime, twice as fast, on a model file from tools/make_minilm.py --onnx."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..files.local.background import is_background
from ..model.installed import how_to_install
from .failure import EmbedderFailed
from .minilm_file import WeightsFile
from .minilm_text import Cutter

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUT = "rows"
SPACE = "rawkomem.space"  # the model's metadata key with the name of its vector space


class OnnxEmbedder:
    """Embeds one text at a time: texts in a batch would share a scale, so that a vector depends on its neighbors."""

    def __init__(self, model: str, weights: str):
        self._session = load(model)
        self.name = self._session.get_modelmeta().custom_metadata_map.get(SPACE, "")
        file = WeightsFile(weights)
        self.dims = file.shape.dims
        self._cutter = Cutter(file)
        if not self.name or self._session.get_outputs()[0].shape[-1] != self.dims:
            raise EmbedderFailed(f"{model} is not a model for rawkomem", "Make it with tools/make_minilm.py --onnx.")

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector per text; a text is cut after 254 word pieces."""
        return [self._vector(rows) if rows else bytes(4 * self.dims) for rows in self._cutter.rows(texts)]

    def _vector(self, rows: list[int]) -> bytes:
        import numpy as np  # comes with onnxruntime

        try:
            vector = self._session.run(None, {INPUT: np.array([rows], np.int64)})[0]
        except Exception as error:  # onnxruntime raises errors of many kinds
            raise EmbedderFailed(f"the model failed: {error}", "Rebuild it with tools/make_minilm.py --onnx.")
        packed: bytes = vector.astype("<f4").tobytes()
        return packed


def load(model: str) -> Any:
    """Return the session of a model file; raise EmbedderFailed if it cannot be loaded."""
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        raise EmbedderFailed("onnxruntime is not installed", f"Run: {how_to_install('onnxruntime')}")
    try:
        options = runtime.SessionOptions()
        if is_background():
            options.intra_op_num_threads = options.inter_op_num_threads = 1
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # a missing file, not a model, or too new
        raise EmbedderFailed(f"cannot load {model}: {error}", "Make it with tools/make_minilm.py --onnx.")
