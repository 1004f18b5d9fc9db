"""What an embedder is: its interface, settings and error, a cache for slow ones, and the stand-in for
one that failed.
"""

from __future__ import annotations

import _thread
import os

from ..model.errors import RawkoError
from ..model.values import TYPE_CHECKING, record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol
else:
    Protocol = object

# static vectors at once; MiniLM's vectors are added in the background
AUTO_PROVIDER = "auto"


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    # of the vector space; stored in every index, so that vectors of two models are never compared
    name: str
    dims: int

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return per text a normalized float32 little-endian vector of dims * 4 bytes; zeros if no word is known."""


@record
class EmbedderSettings:
    """Settings from the user's own config. A repository's config must not set them: they name hosts and a command."""

    provider: str = AUTO_PROVIDER
    model: str = ""
    # of an OpenAI-compatible API, up to /v1; empty: the provider's default
    url: str = ""
    key_env: str = ""  # the NAME of the environment variable that holds the key
    start: str = ""  # a command that starts the local server if it is not running
    dims: int = 0  # 0: the model's default
    # seconds for one request: the server may have to load the model first
    timeout: float = 30.0


class EmbedderFailed(RawkoError):
    """Raised when there are no vectors. A caller may use another embedder only before the first vector."""


class AbsentEmbedder:
    """Has the name and dimensions of the failed embedder, and returns vectors of zeros, which are close to nothing."""

    is_absent = True

    def __init__(self, name: str, dims: int):
        self.name = name
        self.dims = dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector of zeros for each text. The index embeds these memories again when the embedder works."""
        return [bytes(4 * self.dims) for _ in texts]


# Measures a vector space: in some, unrelated sentences have a cosine of 0, in others of 0.8.

UNRELATED_FILE = os.path.join(os.path.dirname(__file__), "unrelated.txt")
# median and standard deviation of the cosines of unrelated sentences: those of the bundled static vectors
STATIC_SCALE = (0.049, 0.071)


def cosine_scale(embedder: Embedder) -> tuple[float, float]:
    """Return the median and the standard deviation of the cosines of unrelated sentences in the embedder's space.

    The sentences are fixed, so that no memory changes how another one is judged.
    """
    from itertools import combinations
    from statistics import median, pstdev

    with open(UNRELATED_FILE, encoding="utf-8") as file:
        vectors = embedder.embed(file.read().splitlines())
    numbers = [memoryview(vector).cast("f").tolist() for vector in vectors]
    cosines = [
        sum(a * b for a, b in zip(one, other, strict=True))
        for one, other in combinations(numbers, 2)
    ]
    return median(cosines), pstdev(cosines)


CACHE_TEXTS = 1_000  # the queries of a long session; some 5 MB with 1,024 dimensions


class CachedEmbedder:
    """Wraps an embedder, and asks it only for texts that are not blank and not in the cache; one caller at a time.

    OpenAI rejects blank texts.
    """

    def __init__(self, inner: Embedder):
        self.name = inner.name
        self.dims = inner.dims
        self.inner = inner
        self._known: dict[str, bytes] = {}
        # importing `threading` would make a cold command wait at its end
        self._lock = _thread.allocate_lock()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of the wrapped embedder, from the cache if possible; zeros for a blank text."""
        with self._lock:
            if len(self._known) + len(texts) > CACHE_TEXTS:
                self._known.clear()  # rare, and cheaper than tracking the order of use
            filled = [text for text in dict.fromkeys(texts) if text.strip()]
            missing = [text for text in filled if text not in self._known]
            if missing:
                self._known.update(zip(missing, self.inner.embed(missing), strict=True))
            return [self._known.get(text, bytes(4 * self.dims)) for text in texts]
