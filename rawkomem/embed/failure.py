"""The errors of an embedder that cannot be opened, or that fails during its work."""

from __future__ import annotations

from ..model.errors import RawkoError


class EmbedderFailed(RawkoError):
    """Raised when there are no vectors. A caller may use another embedder only before the first vector."""


class NotListening(EmbedderFailed):
    """Raised when no server answers at the address: a local server may have to be started."""
