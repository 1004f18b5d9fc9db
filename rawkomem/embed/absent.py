"""Replaces an embedder that failed, so that its index is kept and searches match words only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Absent:
    """Has the name and dimensions of the failed embedder, and returns vectors of zeros, which are close to nothing."""

    is_absent = True

    def __init__(self, name: str, dims: int):
        self.name = name
        self.dims = dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector of zeros for each text. The index embeds these memories again when the embedder works."""
        return [bytes(4 * self.dims) for _ in texts]
