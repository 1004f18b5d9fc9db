"""Texts become vectors: the bundled static ones at once, or those of a configured provider.

`open_embedder` gives an Embedder (see protocol.py); its vectors cross module borders as float32 little-endian bytes.
"""

from __future__ import annotations

from .chain import EmbedderSettings, open_embedder

__all__ = ["EmbedderSettings", "open_embedder"]
