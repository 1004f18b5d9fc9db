"""Offer our frontmatter reader as a handler of python-frontmatter, for single documents such as
templates.
"""

from __future__ import annotations

from typing import Any

from frontmatter.default_handlers import BaseHandler

from .blocks import CLOSING
from .frontmatter import emit_fields, read_frontmatter


class RawkoHandler(BaseHandler):
    """A handler for `frontmatter.loads(text, handler=RawkoHandler())` without aliases, tags or duplicate keys."""

    FM_BOUNDARY = CLOSING
    START_DELIMITER = END_DELIMITER = "---"

    def load(self, fm: str, **kwargs: object) -> dict[str, Any]:
        """Return the frontmatter's keys and values, every scalar as text. Raises Unreadable."""
        fields, _ = read_frontmatter(fm.strip("\n"))
        return {key: field.value for key, field in fields.items()}

    def export(self, metadata: dict[str, Any], **kwargs: object) -> str:
        """Return the keys and values as YAML that reads back as the same texts."""
        return emit_fields(metadata).rstrip("\n")
