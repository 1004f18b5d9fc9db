"""Find text that reads like instructions to a model: a hint for reviewers, never a filter (docs/security.md)."""

from __future__ import annotations

import re

from ..model.record import record

PATTERNS = (
    ("ignore_instructions",
     r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |my )*(?:(?:previous|prior|above|earlier) )?"
     r"(?:instructions?|prompts?|rules|directions|guidelines)\b"),
    ("new_role", r"\byou are now\b|\bact as (?:if you|an? (?:unrestricted|admin|root))|\bpretend (?:to be|you are)\b"),
    ("system_prompt",
     r"\b(?:reveal|print|show|repeat|output) (?:me )?(?:your|the) (?:system|hidden|initial) (?:prompt|instructions)\b"),
    ("role_tokens",
     r"<\|(?:im_start|im_end|system|user|assistant)\|>|\[/?INST\]|<</?SYS>>|^[ \t]*(?:system|assistant)[ \t]*:"),
    ("hide_from_user",
     r"\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|reveal (?:this|it) to) the user\b"),
)  # fmt: skip
PATTERN_SCORE = 0.4  # of one pattern; three patterns give the maximum of 1

_compiled = tuple((name, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for name, pattern in PATTERNS)


@record
class Scan:
    """How much a text reads like instructions to a model, from 0 to 1, and the names of the patterns that matched."""

    score: float
    patterns: tuple[str, ...]


def scan_for_injection(text: str) -> Scan:
    """Return the score of a text and the patterns of injected instructions in it."""
    found = tuple(name for name, pattern in _compiled if pattern.search(text))
    return Scan(round(min(1.0, PATTERN_SCORE * len(found)), 1), found)
