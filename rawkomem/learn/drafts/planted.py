"""Detect planted instructions: text that asks to remember something and that a tool printed or a person pasted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...text.prose import sentences
from ...text.same import said_in
from ..session.turns import TOOL, USER
from .cues import cues
from .exchange import typed_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..session.turns import Turn

MAX_TEXT_CHARS = 100_000  # of one output that are searched
MIN_SHARED = 0.6  # share of an instruction's content words that a memory must repeat
READ_SENTENCES = 3  # from "remember …" on: its object may be in the next sentences
ASKS = re.compile(
    r"\b(?:remember|memori[sz]e|store|save|add to (?:your )?memory|note that|from now on)\b", re.IGNORECASE
)


def planted_in(text: str, turns: Sequence[Turn]) -> bool:
    """Tell whether a memory's text repeats an instruction that a tool printed or a person pasted."""
    own = said_in(text).stems
    typed = " ".join(typed_in(turn.text) for turn in turns if turn.role == USER)
    for instruction in _instructions(turns):
        stems = said_in(instruction).stems
        if stems and len(stems & own) >= MIN_SHARED * len(stems) and not stems <= said_in(typed).stems:
            return True
    return False


def _instructions(turns: Iterable[Turn]) -> Iterator[str]:
    for text in _foreign(turns):
        spoken = sentences(text[:MAX_TEXT_CHARS]) if ASKS.search(text) else []
        for number, sentence in enumerate(spoken):
            if ASKS.search(sentence):
                yield ASKS.sub(" ", cues().MARKERS.sub("", sentence))
                yield from spoken[number + 1 : number + READ_SENTENCES]


def _foreign(turns: Iterable[Turn]) -> Iterator[str]:
    """Yield the output of tools, and the lines that people pasted."""
    for turn in turns:
        if turn.role == TOOL:
            yield turn.text
        elif turn.role == USER:
            typed = {*typed_in(turn.text).split("\n")}
            yield "\n".join(line for line in turn.text.split("\n") if line not in typed)
