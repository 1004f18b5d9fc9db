"""Checks a quote: it counts when a person typed it, or when a person agreed to the agent who said it.

What a person pasted and what the host wrote is nobody's word. White space and the shapes of quote marks do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text.scripts.signs import terms_of
from ...text.spoken.prompt import MAX_READ_CHARS
from ..session.turns import ASSISTANT, USER
from .agreement import AGREES, answer_of
from .exchange import typed_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..session.turns import Turn

MIN_QUOTE_WORDS = 3  # fewer occur by chance, but where they are all that was said
QUOTE_MARKS = str.maketrans(dict.fromkeys("‘’‚‛ʼ′", "'") | dict.fromkeys("“”„‟«»″", '"'))
EDGES = " '\""  # around a quote


def find_quote(quote: str, turns: Sequence[Turn]) -> Turn | None:
    """Return the first human turn in which a person typed a quote; None if nobody did."""
    return next((turn for turn in turns if turn.role == USER and is_quoted(quote, typed_words(turn))), None)


def agreed_quote(quote: str, turns: Sequence[Turn]) -> tuple[Turn, Turn] | None:
    """Return the agent's turn that says a quote, and the human turn that agreed to it; None if there is none."""
    said: list[Turn] = []
    for turn in turns:
        if turn.role == ASSISTANT:
            said.append(turn)
        elif turn.role == USER and (typed := typed_words(turn)):
            found = next((one for one in reversed(said) if is_quoted(quote, one.text)), None)
            if found and answer_of(typed) == AGREES:
                return found, turn
            said = []
    return None


def typed_words(turn: Turn) -> str:
    """Return all that a person typed in a turn, apart from pastes and the host's own text."""
    return typed_in(turn.text, MAX_READ_CHARS)


def is_quoted(quote: str, text: str) -> bool:
    """Return whether a text holds a quote in whole words: at least MIN_QUOTE_WORDS, or all of the text."""
    quote, text = normalized(quote), normalized(text)
    if not quote or quote == text:
        return bool(quote)
    if len(terms_of(quote)) < MIN_QUOTE_WORDS:
        return False
    start = text.find(quote)
    while start >= 0 and not _is_whole(text, start, start + len(quote)):
        start = text.find(quote, start + 1)
    return start >= 0


def normalized(text: str) -> str:
    """Return a text on one line, with plain quote marks and none at its ends."""
    return " ".join(text.translate(QUOTE_MARKS).split()).strip(EDGES)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether no word is cut at either end; other scripts than Latin need no space between words."""
    return not (_is_inside(text[max(0, start - 1) : start + 1]) or _is_inside(text[end - 1 : end + 1]))


def _is_inside(pair: str) -> bool:
    return len(pair) == 2 and pair.isascii() and pair.isalnum()
