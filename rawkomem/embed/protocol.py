"""The interface of embedders. It is imported for type checks only: importing `typing` slows a cold command down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    name: str  # of the vector space; stored in every index, so that vectors of two models are never compared
    dims: int

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return per text a normalized float32 little-endian vector of dims * 4 bytes; zeros if no word is known."""
        ...
