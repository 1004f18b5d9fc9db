"""The cues by which a person's words are chosen: weights and patterns of each language as data."""

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
    """A pattern in a person's words, how much it speaks for a draft, and which kind of draft that is."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    kind: str = ""  # empty: it speaks for any kind


@record
class Filing:
    """How a memory that was a draft of a kind is filed."""

    type: str  # Memory Lane's
    category: str  # neolata's
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
    """Return a pattern for one of some patterns, whatever the case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE)


_cues: dict[str, ModuleType] = {}  # by the code of a language


def cues() -> Any:
    """Return the module with the cues of the language in use, else the English one; all have the names of `en.py`."""
    code = language().code
    if code not in _cues:
        has_own = find_spec(f"{__name__}.{code}") is not None
        _cues[code] = import_module(f"{__name__}.{code if has_own else DEFAULT_LANGUAGE}")
    return _cues[code]
