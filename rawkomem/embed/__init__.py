"""Turns texts into vectors: `open_embedder` returns an Embedder, whose vectors are float32 little-endian bytes."""

from __future__ import annotations

from .chain import EmbedderSettings, open_embedder

__all__ = ["EmbedderSettings", "open_embedder"]
