"""Check a quote: a person must have typed it, or must have agreed to the agent who said it.

Text that a person pasted or that the host wrote does not count. White space and the style of quote marks are ignored.
A quote that leaves out a negation of its sentence ("push to main" from "never push to main") is rejected.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...text.language import language
from ...text.scripts.signs import terms_of
from ...text.spoken.prompt import MAX_READ_CHARS
from ..session.turns import ASSISTANT, TOOL, USER
from .agreement import AGREES, answer_of
from .cues import cues
from .exchange import HeardWords, typed_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..session.turns import Turn

MIN_QUOTE_WORDS = 3  # a shorter quote may occur by chance, so it must be the whole text
MIN_SHARED_WORDS = 2  # content words of a quote that a memory must contain; all of them if there are fewer
QUOTE_MARKS = str.maketrans(dict.fromkeys("‘’‚‛ʼ′", "'") | dict.fromkeys("“”„‟«»″", '"'))
EDGES = " '\""  # stripped from both ends of a quote
MAX_SENTENCE_CHARS = 400  # before and after a quote that are searched for a negation
LIST_ITEM = re.compile(r"\n(?=\s*(?:[-*•]|\d+[.)]) |\s*\n)")  # a sentence ends here without punctuation
SENTENCE_END = " ; "
END_MARKS = (".", "!", "?", ";", ":")


def find_quote(quote: str, turns: Sequence[Turn]) -> Turn | None:
    """Return the first turn in which a person typed a quote; None if nobody did.

    A line that a tool printed before counts as pasted, even without a code fence.
    """
    printed, heard = HeardWords(), 0
    for number, turn in enumerate(turns):
        if turn.role == USER and is_said(quote, typed := typed_words(turn)):
            for one in turns[heard:number]:
                if one.role == TOOL:
                    printed.add(one.text)
            heard = number
            if is_said(quote, printed.without_quotes(typed)):
                return turn
    return None


def agreed_quote(quote: str, turns: Sequence[Turn]) -> tuple[Turn, Turn] | None:
    """Return the agent's turn that holds a quote and the human turn that agrees to it; None if there are none."""
    said: list[Turn] = []
    for turn in turns:
        if turn.role == ASSISTANT:
            said.append(turn)
        elif turn.role == USER and (typed := typed_words(turn)):
            found = next((one for one in reversed(said) if is_said(quote, one.text)), None)
            if found and answer_of(typed) == AGREES:
                return found, turn
            said = []
    return None


def typed_words(turn: Turn) -> str:
    """Return all that a person typed in a turn, without pastes and the host's own text."""
    return typed_in(turn.text, MAX_READ_CHARS)


def is_quoted(quote: str, text: str) -> bool:
    """Return whether a text contains a quote in whole words. A quote below MIN_QUOTE_WORDS must be the whole text."""
    return next(_rests(quote, text), None) is not None


def is_said(quote: str, text: str) -> bool:
    """Return whether a text contains a quote, and the rest of the quote's sentence has no negation."""
    rests = (*_rests(quote, text), *_rests(quote, LIST_ITEM.sub(SENTENCE_END, text)))
    return any(not cues().NEGATED_BEFORE.search(one) and not cues().NEGATED_AFTER.search(other) for one, other in rests)


def is_about(quote: str, text: str) -> bool:
    """Return whether a memory's text shares enough content words with a quote. A quote like "yes" proves nothing."""
    own, said = _matter(text), _matter(quote)
    return bool(said) and len(said & own) >= min(MIN_SHARED_WORDS, len(said))


def normalized(text: str) -> str:
    """Return a text on one line, with straight quote marks, and without quote marks at its ends."""
    return " ".join(text.translate(QUOTE_MARKS).split()).strip(EDGES)


def _rests(quote: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after a quote, for each place where a text contains it in whole words."""
    quote, text = normalized(quote), normalized(text)
    if quote and quote == text:
        yield "", ""
    elif len(terms_of(quote)) >= MIN_QUOTE_WORDS:
        start = text.find(quote)
        while start >= 0:
            end = start + len(quote)
            if _is_whole(text, start, end):
                after = "" if quote.endswith(END_MARKS) else text[end : end + MAX_SENTENCE_CHARS]
                yield text[max(0, start - MAX_SENTENCE_CHARS) : start], after
            start = text.find(quote, start + 1)


def _matter(text: str) -> set[str]:
    """Return the stems of a text's content words, and the terms of words in scripts without spaces."""
    spoken = language()
    words = spoken.content_words(text)
    return {*spoken.roots(words), *(term for word in words if not word.isascii() for term in terms_of(word))}


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a span cuts no ASCII word at either end. Other scripts may have no spaces between words."""
    return not (_is_inside(text[max(0, start - 1) : start + 1]) or _is_inside(text[end - 1 : end + 1]))


def _is_inside(pair: str) -> bool:
    return len(pair) == 2 and pair.isascii() and pair.isalnum()
