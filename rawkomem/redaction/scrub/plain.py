"""Returns the text that is embedded for a memory of a mesh: the result of all six stages, or the redacted text."""

from __future__ import annotations

from .config import MEMORY_MESH
from .pipeline import sanitize, scrub


def scrubbed_text(text: str) -> str:
    """Return the scrubbed text; if nothing is left, return the redacted text."""
    return "\n\n".join(chunk.text for chunk in scrub(text, MEMORY_MESH)) or sanitize(text)
