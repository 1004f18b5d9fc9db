"""How a block of injected memories begins, in each format: who writes one and who recognizes one use the same words."""

from __future__ import annotations

HEADING = "## Background Knowledge from Previous Runs"
LEAD = "The following information was learned from prior runs and may be relevant:"
GROUPED_HEADING = "## Relevant Memory Context (query: "
DIRECTIVE = """[ATTENTION DIRECTIVE]
- ALIGN attention to entries with [IMPORTANCE >= 0.8]
- TREAT entries with [IMPORTANCE <= 0.4] as auxiliary

[MEMORY CONTEXT]"""
FENCE = "memories-"  # the tag of the fenced format, before its nonce
JSON_KEYS = ("id", "title", "importance", "relevance", "fired", "text")  # of an item for programs, among others
