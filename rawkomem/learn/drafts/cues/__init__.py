"""Cues that show whether a person's words are worth a draft: weights and patterns, one module per language."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ....model.draft import AGREED, CORRECTION, DECISION, FIX, FOUND, INSTRUCTION, PREFERENCE, REQUEST, RULE
from ....model.record import record
from ....text.language import DEFAULT_LANGUAGE, language

if TYPE_CHECKING:
    from types import ModuleType


@record
class Cue:
    """A pattern in a person's words, the score that a match adds, and the kind of draft that it suggests."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    kind: str = ""  # empty: any kind


@record
class Filing:
    """The fields that a memory gets from the kind of its draft."""

    type: str  # as in Memory Lane
    category: str  # as in neolata
    importance: str
    tag: str


FILED = {
    CORRECTION: Filing("correction", "preference", "high", "correction"),
    RULE: Filing("pattern_seed", "fact", "high", "convention"),
    PREFERENCE: Filing("commitment", "preference", "medium", "preference"),
    DECISION: Filing("decision", "decision", "medium", "decision"),
    REQUEST: Filing("learning", "fact", "high", "remembered"),
    AGREED: Filing("decision", "decision", "medium", "decision"),
    FIX: Filing("insight", "finding", "medium", "error"),
    INSTRUCTION: Filing("pattern_seed", "fact", "medium", "convention"),
    FOUND: Filing("learning", "fact", "medium", "found"),
}


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return one pattern that matches any of the patterns, in upper or lower case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE)


_cues: dict[str, ModuleType] = {}  # language code → module


def cues() -> Any:
    """Return the cues of the language in use, or the English ones. Every module has the same names as `en.py`."""
    code = language().code
    if code not in _cues:
        has_own = find_spec(f"{__name__}.{code}") is not None
        _cues[code] = import_module(f"{__name__}.{code if has_own else DEFAULT_LANGUAGE}")
    return _cues[code]
