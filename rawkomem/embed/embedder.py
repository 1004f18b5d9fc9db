"""What an embedder is: its interface and errors, a cache for slow ones, and the stand-in for one that
failed.
"""

from __future__ import annotations

import _thread
from collections.abc import Sequence
from typing import Protocol

from ..model.errors import RawkoError

# The interface of embedders. It is imported for type checks only: importing `typing` slows a cold
# command down.


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    name: str  # of the vector space; stored in every index, so that vectors of two models are never compared
    dims: int

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return per text a normalized float32 little-endian vector of dims * 4 bytes; zeros if no word is known."""
        ...


# The errors of an embedder that cannot be opened, or that fails during its work.


class EmbedderFailed(RawkoError):
    """Raised when there are no vectors. A caller may use another embedder only before the first vector."""


class EmbedderNotListening(EmbedderFailed):
    """Raised when no server answers at the address: a local server may have to be started."""


# Replaces an embedder that failed, so that its index is kept and searches match words only.


class AbsentEmbedder:
    """Has the name and dimensions of the failed embedder, and returns vectors of zeros, which are close to nothing."""

    is_absent = True

    def __init__(self, name: str, dims: int):
        self.name = name
        self.dims = dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector of zeros for each text. The index embeds these memories again when the embedder works."""
        return [bytes(4 * self.dims) for _ in texts]


# Caches the vectors of the texts embedded last, for slow embedders.

CACHE_TEXTS = 1_000  # the queries of a long session; some 5 MB with 1,024 dimensions


class CachedEmbedder:
    """Wraps an embedder, and asks it only for texts that are not in the cache; one caller at a time."""

    def __init__(self, inner: Embedder, size: int = CACHE_TEXTS):
        self.name = inner.name
        self.dims = inner.dims
        self.inner = inner
        self._size = size
        self._known: dict[str, bytes] = {}  # least recently used first
        self._lock = (
            _thread.allocate_lock()
        )  # importing `threading` would make a cold command wait at its end

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of the wrapped embedder, from the cache if possible."""
        with self._lock:
            missing = list(dict.fromkeys(text for text in texts if text not in self._known))
            fresh = dict(zip(missing, self.inner.embed(missing), strict=True)) if missing else {}
            vectors = [fresh[text] if text in fresh else self._known[text] for text in texts]
            for text, vector in zip(texts, vectors, strict=True):
                self._known.pop(text, None)
                self._known[text] = vector
                if len(self._known) > self._size:
                    del self._known[next(iter(self._known))]
            return vectors
