"""Stage 3, normalization: writes headings, lists and punctuation in one form. Backticks, `#tags` and numbers stay."""

from __future__ import annotations

import re

from .code import in_prose
from .config import Normalization

DEEP_HEADING = re.compile(r"^#{7,}(?=\s)", re.MULTILINE)
ANY_HEADING = re.compile(r"^#{1,6} [^\n]*$", re.MULTILINE)
BULLET = re.compile(r"^([ \t]*)[*+•‣◦](?=[ \t]+[^\s*])", re.MULTILINE)
NUMBER = re.compile(r"^([ \t]*\d{1,9})\)(?=[ \t])", re.MULTILINE)
DOTS = re.compile(r"\.{4,}")
SIGNS = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "…": "...", "\u00a0": " ", "\u202f": " "})


def normalize(text: str, config: Normalization) -> str:
    """Return the text with normalized prose; code stays unchanged."""
    return in_prose(text, lambda prose: _normalize(prose, config))


def _open_ended(heading: re.Match[str]) -> str:
    """Return `## Title ##` without the signs at its end; `# C#` stays unchanged."""
    line = heading[0].rstrip()
    bare = line.rstrip("#")
    return bare.rstrip() if bare != line and bare[-1:].isspace() and bare.strip("# ") else heading[0]


def _normalize(prose: str, config: Normalization) -> str:
    if config.headings:
        prose = ANY_HEADING.sub(_open_ended, DEEP_HEADING.sub("######", prose))
    if config.lists:
        prose = NUMBER.sub(r"\1.", BULLET.sub(r"\1-", prose))
    if config.punctuation:
        prose = DOTS.sub("...", prose.translate(SIGNS))
    return prose
