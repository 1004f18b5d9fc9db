"""Caches the vectors of the texts embedded last, for slow embedders."""

from __future__ import annotations

import _thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .protocol import Embedder

CACHE_TEXTS = 1_000  # the queries of a long session; some 5 MB with 1,024 dimensions


class Cached:
    """Wraps an embedder, and asks it only for texts that are not in the cache; one caller at a time."""

    def __init__(self, inner: Embedder, size: int = CACHE_TEXTS):
        self.name = inner.name
        self.dims = inner.dims
        self.inner = inner
        self._size = size
        self._known: dict[str, bytes] = {}  # least recently used first
        self._lock = _thread.allocate_lock()  # importing `threading` would make a cold command wait at its end

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
