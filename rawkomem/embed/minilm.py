"""The contextual embedder: all-MiniLM-L6-v2 without torch. It is slower than the static vectors, but better at meaning.

Its weights come with rawkomem as int8 (see NOTICE). It runs on numpy, which is imported with the first text. If
onnxruntime is installed and there is a model file for it (tools/make_minilm.py --onnx), that is used instead.
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
BATCH_TOKENS = 768  # tokens in one pass: larger batches are no faster, smaller ones waste CPU time
KEEP_AFTER_PASSES = 4  # passes: casting the weights takes 5 ms in each pass, keeping them as float32 20 ms once


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
        """Return one vector per text; a text is cut after 254 word pieces."""
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
    """Return the encoder's vectors of each batch; run this many threads."""
    from concurrent.futures import ThreadPoolExecutor  # a slow import, which pays only for bulk work

    pool = ThreadPoolExecutor(threads)
    try:
        return list(pool.map(encoder, batches))
    finally:
        pool.shutdown(cancel_futures=True)  # after an interrupt, do not finish the remaining batches


def split(texts: list[list[int]]) -> list[list[list[int]]]:
    """Return the texts in order, in batches of at most BATCH_TOKENS tokens."""
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
    """Return the onnxruntime embedder if `onnx` or a model beside the weights can be run, else the numpy embedder."""
    beside = os.path.join(os.path.dirname(path), ONNX)
    if not onnx and not (os.path.exists(beside) and has_onnxruntime()):
        return MiniLmEmbedder(path)
    from .minilm_onnx import OnnxEmbedder  # an extra

    return OnnxEmbedder(onnx or beside, path)


def has_onnxruntime() -> bool:
    """Return whether onnxruntime is installed, without importing it."""
    from importlib.util import find_spec  # a slow import, and rarely needed

    return find_spec("onnxruntime") is not None


def from_settings(_: object) -> Embedder:
    """Return the embedder for `embedder: minilm`, which has no settings."""
    return open_minilm()
