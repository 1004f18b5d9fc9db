"""The facts of a memory and the questions that find it, which must not get lost when it is archived. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text.language import language
from ...text.prose import sentences, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...model.entry import Memory

EDGES = ".,;:!?()[]{}<>\"'`*_|#…“”‘’"  # signs around a word that do not belong to it
INNER_SIGNS = "_/.:@=+\\$%&"  # signs within a word that make it a name: `read_limit`, `src/app.py`, `a@b`
MAX_QUESTION_CHARS = 300


def missing_fact(memory: Memory, holder: Memory) -> str:
    """Return the first number, name or code word of a memory that `holder` does not contain; empty if none."""
    words = {word.lower() for word in _words(f"{holder.title}\n{holder.body}")}
    stems = {*language().stems(f"{holder.title} {holder.body}")}
    for word in facts_of(memory):
        if word.lower() not in words and not (word.isalpha() and language().stem(word.lower()) in stems):
            return word
    return ""


def facts_of(memory: Memory) -> list[str]:
    """Return the numbers, names and code words of a memory, in order, without duplicates."""
    text = f"{memory.title}\n{memory.body}"
    code = {word for piece, is_code in spans(text) if is_code for word in _words(piece)}
    return list(dict.fromkeys(word for word in _words(text) if word in code or _is_fact(word)))


def questions_of(memory: Memory) -> list[str]:
    """Return the questions that must find a memory: its title, its conditions, its first sentence."""
    first = next(iter(sentences(memory.body)), "")
    asked = (memory.title, *(when.replace("|", " ") for when in memory.when), first)
    return list(dict.fromkeys(text.strip()[:MAX_QUESTION_CHARS] for text in asked if text.strip()))


def _words(text: str) -> Iterator[str]:
    return (word for part in text.split() if (word := part.strip(EDGES)))


def _is_fact(word: str) -> bool:
    """Return whether a word is a number, is written like a name, or contains a sign like names in code."""
    if word.isalpha() and word.islower():
        return False
    named = word[0].isupper() and not language().is_stop(word.lower())
    return named or any(c.isdigit() or c.isupper() or c in INNER_SIGNS for c in word[1:]) or word[0].isdigit()
