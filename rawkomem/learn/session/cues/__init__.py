"""What makes a sentence worth remembering: kinds of moments, and the cues of each language as data."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ....model.record import record
from ....text.language import DEFAULT_LANGUAGE, language
from ..turns import ASSISTANT, USER

if TYPE_CHECKING:
    from collections.abc import Mapping


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


@record
class Cues:
    """The cues of one language, as patterns. A language without cues of its own has the English ones."""

    by_kind: Mapping[str, re.Pattern[str]]  # kind of moment → what a sentence of this kind says
    skips: Mapping[str, re.Pattern[str]]  # reason → what is not worth remembering whatever cue it has
    remedy: re.Pattern[str]  # a fault is fixed
    reason: re.Pattern[str]
    contrast: re.Pattern[str]  # what it is not
    vague: re.Pattern[str]
    short_no: re.Pattern[str]  # a sentence that only says no: the next one corrects
    markers: re.Pattern[str]  # what announces a sentence and is left out of its title
    choosing: re.Pattern[str]  # … of a decision
    reasons: re.Pattern[str]  # where a title ends
    pair: re.Pattern[str]  # two names, one of them ruled out
    announcing: frozenset[str]  # words that announce something and are not its subject
    working_with: str  # a condition for names
    working_on: str  # a condition for words

    def reason_to_skip(self, sentence: str) -> str:
        """Return why a sentence is not worth remembering, or an empty text. A request is skipped as a question only."""
        if self.by_kind["request"].search(sentence):
            return "question" if self.skips["question"].search(sentence) else ""
        skips = {"output": OUTPUT, **self.skips}
        return next((name for name, pattern in skips.items() if pattern.search(sentence)), "")


_cues: dict[str, Cues] = {}  # by the code of a language


def cues() -> Cues:
    """Return the cues of the language in use."""
    code = language().code
    if code not in _cues:
        _cues[code] = _read(code) or cast("Cues", _read(DEFAULT_LANGUAGE))
    return _cues[code]


def _read(code: str) -> Cues | None:
    name = f"{__name__}.{code}"
    try:
        return cast("Cues", import_module(name).CUES_OF_LANGUAGE)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        return None
