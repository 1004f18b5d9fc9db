"""Stands in for an embedder that does not answer, so that its index is kept: questions are answered by words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Absent:
    """An embedder with the name and the dimensions of another one, and empty vectors, which are close to nothing."""

    is_absent = True

    def __init__(self, name: str, dims: int):
        self.name = name
        self.dims = dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return an empty vector for each text. The index embeds such memories again once the embedder answers."""
        return [bytes(4 * self.dims) for _ in texts]
