"""Rates how rare a word is by the length of its bundled vector, which training made short for frequent words."""

from __future__ import annotations

import math

from .static import FILE
from .vectors import TokenVectors

COMMONEST, RAREST = 23.2, 24.4  # logarithms of the lengths of "use" and of "analytics"
MIN_RARITY = 0.05


class Rarity:
    """Rates words from nearly 0 (the, use) to 1 (a name that is not in the vocabulary)."""

    def __init__(self, path: str = FILE):
        self._vectors = TokenVectors(path)
        self._known: dict[str, float] = {}

    def __call__(self, word: str) -> float:
        """Return how rare a lower-case word is."""
        if word not in self._known:
            self._known[word] = self._rate(self._vectors.find(word))
        return self._known[word]

    def is_name(self, word: str) -> bool:
        """Return whether a lower-case word is not in the vocabulary."""
        return self._vectors.find(word) < 0

    def _rate(self, row: int) -> float:
        if row < 0:
            return 1.0
        length = math.sqrt(sum([number * number for number in memoryview(self._vectors.row(row)).cast("b")]))
        said = math.log(max(1.0, length * self._vectors.weight(row)))
        return max(MIN_RARITY, min(1.0, (said - COMMONEST) / (RAREST - COMMONEST)))
