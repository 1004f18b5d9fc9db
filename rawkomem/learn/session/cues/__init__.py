"""What makes a sentence worth remembering: kinds of moments, and the cues of each language as data."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ....model.record import record
from ....text.language import DEFAULT_LANGUAGE, language
from ..turns import ASSISTANT, USER

if TYPE_CHECKING:
    from types import ModuleType


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return a pattern for one of some patterns, whatever the case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def words_of(text: str) -> str:
    """Return one of some words or phrases, as a part of a pattern."""
    return "(?:" + "|".join(text.split(" | ")) + ")"


@record
class Kind:
    """A kind of thing to remember: how it is filed, and who can say it."""

    type: str  # Memory Lane's
    category: str  # neolata's
    importance: str
    tag: str
    roles: tuple[str, ...] = (USER, ASSISTANT)


# The order matters: of several kinds that a sentence has cues for, the first names it.
KINDS = {
    "correction": Kind("correction", "preference", "high", "correction", (USER,)),
    "decision": Kind("decision", "decision", "high", "decision"),
    "preference": Kind("commitment", "preference", "medium", "preference", (USER,)),
    "commitment": Kind("commitment", "task", "medium", "commitment"),
    "fix": Kind("insight", "finding", "high", "error"),
    "dependency": Kind("learning", "fact", "medium", "dependencies"),
    "constraint": Kind("gap", "finding", "high", "constraint"),
    "convention": Kind("pattern_seed", "fact", "medium", "convention"),
    "workflow": Kind("workflow_note", "fact", "medium", "workflow"),
    "structure": Kind("learning", "fact", "medium", "codebase-structure"),
    "request": Kind("learning", "fact", "high", "remembered", (USER,)),
}

# Names, numbers, code and paths, in every language.
SPECIFIC = re.compile(
    r"`[^`]+`|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Z]{2,}\b|\b\w+_\w+|\b\w+[./-]\w+|\d|(?<=[a-z,;] )[A-Z][a-z]+", re.ASCII
)
OUTPUT = any_of(
    r"^\s*(?:\$|>>>|>|%|#!) ?\S",
    r"^\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d",
    r"^\s*(?:npm (?:warn|err)|warning:|error:|traceback|at \S+ \(|file \"|pass |fail |\[(?:info|warn|error|debug)\])",
    r"^\s*(?-i:INFO|WARN|ERROR|DEBUG|FATAL)\b",
    r"^[\W\d_]+$",
    r"\"[^\"]*\b(?:error|warning)\b[^\"]*\"",
)


_cues: dict[str, ModuleType] = {}  # by the code of a language


def cues() -> Any:
    """Return the module with the cues of the language in use, else the English one; all have the names of `en.py`."""
    code = language().code
    if code not in _cues:
        has_own = find_spec(f"{__name__}.{code}") is not None
        _cues[code] = import_module(f"{__name__}.{code if has_own else DEFAULT_LANGUAGE}")
    return _cues[code]
