"""The contextual embedder: all-MiniLM-L6-v2 without torch. Slower than the static vectors, better at meaning.

Its weights come with rawkomem as int8 (see NOTICE); numpy does the work, imported with the first text. Who has
onnxruntime and has made a model file for it (tools/make_minilm.py --onnx) gets that one instead.
"""

from __future__ import annotations

import os

from .minilm_file import WeightsFile
from .minilm_text import Cutter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .minilm_pass import Encoder
    from .protocol import Embedder

NAME = "minilm-l6-v1"
FILE = os.path.join(os.path.dirname(__file__), "minilm-l6-int8.bin")
ONNX = "minilm-l6.onnx"  # looked for beside the weights
BATCH_TOKENS = 768  # tokens in one pass: larger ones gain nothing more, smaller ones waste the processor on the edges
KEEP_AFTER_PASSES = 4  # passes: casting the weights takes 5 ms in each, keeping them as float32 20 ms once


class MiniLmEmbedder:
    """Embeds with numpy in this process: a seventh of a second to the first vector, then a dozen sections a second."""

    def __init__(self, path: str = FILE, name: str = NAME):
        self.name = name
        self._file = WeightsFile(path)
        self.dims = self._file.shape.dims
        self._cutter = Cutter(self._file)
        self._encoder: Encoder | None = None
        self._passes = 0

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector per text; what is over 254 word pieces of a text is left out."""
        cut = self._cutter.rows(texts)
        vectors = [bytes(4 * self.dims)] * len(texts)
        known = [place for place, rows in enumerate(cut) if rows]
        batches = split([cut[place] for place in known])
        if batches:
            for place, vector in zip(known, self._run(batches), strict=True):
                vectors[place] = vector
        return vectors

    def _run(self, batches: list[list[list[int]]]) -> list[bytes]:
        from .blas import OneThread, workers  # before anything else imports numpy
        from .minilm_pass import Encoder

        encoder = self._encoder = self._encoder or Encoder(self._file)
        before, self._passes = self._passes, self._passes + len(batches)
        if before < KEEP_AFTER_PASSES <= self._passes:
            encoder.keep()
        with OneThread():
            threads = min(workers(), len(batches))
            found = map(encoder, batches) if threads == 1 else side_by_side(encoder, batches, threads)
            return [vector for vectors in found for vector in vectors]


def side_by_side(encoder: Encoder, batches: list[list[list[int]]], threads: int) -> list[list[bytes]]:
    """Return what the encoder says of each batch, by so many threads."""
    from concurrent.futures import ThreadPoolExecutor  # only bulk work repays its import

    pool = ThreadPoolExecutor(threads)
    try:
        return list(pool.map(encoder, batches))
    finally:
        pool.shutdown(cancel_futures=True)  # when interrupted, not after minutes of what is still to do


def split(texts: list[list[int]]) -> list[list[list[int]]]:
    """Return the texts in order, in lists of BATCH_TOKENS or a little less."""
    batches: list[list[list[int]]] = []
    room = 0
    for rows in texts:
        if len(rows) > room:
            batches.append([])
            room = BATCH_TOKENS
        batches[-1].append(rows)
        room -= len(rows)
    return batches


def open_minilm(path: str = FILE, onnx: str = "") -> Embedder:
    """Return numpy's embedder; onnxruntime's if its model is named, or is beside the weights and can be run."""
    beside = os.path.join(os.path.dirname(path), ONNX)
    if not onnx and not (os.path.exists(beside) and has_onnxruntime()):
        return MiniLmEmbedder(path)
    from .minilm_onnx import OnnxEmbedder  # an extra

    return OnnxEmbedder(onnx or beside, path)


def has_onnxruntime() -> bool:
    """Return whether it is installed; it is not imported for that."""
    from importlib.util import find_spec  # a slow import, and rarely needed

    return find_spec("onnxruntime") is not None


def from_settings(_: object) -> Embedder:
    """Return the embedder for `embedder: minilm`, which has no settings."""
    return open_minilm()
