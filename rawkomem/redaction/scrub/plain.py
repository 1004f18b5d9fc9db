"""Gives the text that is embedded for a memory of a mesh: all six stages, and never less than the redacted text."""

from __future__ import annotations

from .config import MEMORY_MESH
from .pipeline import sanitize, scrub


def scrubbed_text(text: str) -> str:
    """Return what the scrubber leaves of a text; the redacted text where it leaves nothing."""
    return "\n\n".join(chunk.text for chunk in scrub(text, MEMORY_MESH)) or sanitize(text)
