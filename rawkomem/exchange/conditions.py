"""Propose whenToUse conditions for an imported memory: from its description, else from its headings, else none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..learn.drafts.propose import propose
from ..learn.skills.text import CONDITION_LENGTH
from ..redaction.find import redact
from ..text.clean import clean
from ..text.condition import LANGUAGE, read_condition
from ..text.language import language
from ..text.prose import SENTENCE_END
from ..text.when import everyday_hits

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_WORDS_BEFORE = 5  # words before "when", as in "Use this skill when …"
STAND_IN = re.compile(r"\[REDACTED[^\]\n]*\]")
CAPITALIZED = re.compile(r"\b[A-Z][a-z]+\b")


def from_description(description: str) -> list[str]:
    """Return conditions from a description: its "when …" sentences, else all of it, else its first sentence."""
    said = " ".join(clean(description).split())
    sentences = [part.strip() for part in SENTENCE_END.split(said) if part.strip()]
    told = [when for sentence in sentences if (when := _from_opener(sentence))]
    for found in (told, [said], sentences[:1]):
        if fit := [condition for condition in found if _is_specific(condition)]:
            return fit
    return []


def from_headings(*headings: str) -> tuple[str, ...]:
    """Return conditions from the innermost heading, else from all headings; empty if their words are too common."""
    innermost, path = headings[-1:], headings
    for tried in (innermost, path):
        text = ". ".join(_plain_case(STAND_IN.sub(" ", redact(heading))) for heading in tried)
        if found := propose(text):
            return found
    return ()


def _from_opener(sentence: str) -> str:
    """Return a sentence starting at its "when"; empty if there is none near its start."""
    words = sentence.split()
    openers = language().openers
    at = next((at for at, word in enumerate(words[: MAX_WORDS_BEFORE + 1]) if word.lower().strip(",:") in openers), -1)
    return " ".join([words[at].capitalize(), *words[at + 1 :]]) if 0 <= at < len(words) - 1 else ""


def _is_specific(condition: str) -> bool:
    """Tell whether a condition is short, written in plain language, and has words that are not in every task."""
    if len(condition) > CONDITION_LENGTH:
        return False
    read = read_condition(condition)
    return bool(read.parts) and read.form == LANGUAGE and not everyday_hits(read)


def _plain_case(heading: str) -> str:
    """Return a heading in sentence case: if Several Words Have Capitals, the capitals do not mark names."""
    words: Iterable[str] = [word for word in heading.split() if word[:1].isalpha()]
    capitals = sum(word[:1].isupper() for word in words)
    return CAPITALIZED.sub(lambda word: word[0].lower(), heading) if capitals > 1 else heading
