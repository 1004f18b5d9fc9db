"""Tells whether a person's answer agrees with what an agent said, or objects to it."""

from __future__ import annotations

from ...text.language import language, word_set

AGREES, OBJECTS = "agrees", "objects"
MAX_OPENING_WORDS = 3  # of an answer: people agree or object at once
YES = word_set("yes yep yeah ok okay sure agreed exactly correct right perfect great good approved lgtm")
NO = word_set("no nope not don't wrong stop wait but actually instead")


def answer_of(text: str) -> str:
    """Return AGREES or OBJECTS for an answer that opens with such a word; empty for any other one."""
    opening = language().words(text)[:MAX_OPENING_WORDS]
    if NO.intersection(opening):
        return OBJECTS
    return AGREES if YES.intersection(opening) else ""
