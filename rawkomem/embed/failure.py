"""The error of an embedder that cannot be opened, or that stops answering in the middle of its work."""

from __future__ import annotations

from ..model.errors import RawkoError


class EmbedderFailed(RawkoError):
    """No vectors: the caller falls back before the first one, and stops after it. Spaces are never mixed."""


class NotListening(EmbedderFailed):
    """Nothing answers at the address at all: a local server may have to be started."""
