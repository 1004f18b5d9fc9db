"""A session as exchanges: what a person typed each time, and what the agent had said before.

What a person pastes, and what a person repeats of the agent's words, is not the person's word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.record import record
from ...text.clean import clean
from ...text.language import language
from ...text.spoken.prompt import MAX_ASK_CHARS, read_prompt
from ..session.turns import ASSISTANT, TOOL, USER
from .cues import cues

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..session.turns import Turn

MAX_BEFORE_CHARS = 4_000  # of the agent's last words, from their end
MAX_HEARD_CHARS = 200_000  # of agents and tools in one turn that are looked for in a person's words
MAX_RUNS = 400_000  # of words of one session that are remembered for that
RUN_WORDS = 5  # words in a row that nobody repeats by chance
QUOTED_SHARE = 0.7  # of a line's runs of words from which on the line is a quote
MAX_DOCUMENT_WORDS = 80  # a text with headings and more words than this is a document, which nobody types


@record
class Exchange:
    """What a person typed, and what it answers."""

    number: int  # which turn of the session it is
    said: str
    before: str = ""  # the agent's words
    at: int = 0
    typed: str = ""  # the whole turn without markup and pastes; quotes of the agent are in it


def exchanges(turns: Iterable[Turn]) -> list[Exchange]:
    """Return the exchanges of a session, in order; a turn of which nothing was typed is none."""
    heard = HeardWords()
    found: list[Exchange] = []
    before = ""
    for number, turn in enumerate(turns, 1):
        if turn.role in (ASSISTANT, TOOL):
            heard.add(turn.text)
            before = turn.text if turn.role == ASSISTANT and turn.text.strip() else before
        elif turn.role == USER:
            typed = typed_in(turn.text)
            said = heard.without_quotes(typed)
            if said:
                found.append(Exchange(number, said, before.strip()[-MAX_BEFORE_CHARS:], turn.at, typed))
                before = ""
    return found


def typed_in(text: str, max_chars: int = MAX_ASK_CHARS) -> str:
    """Return what a person typed in a turn: no markup, no template, no paste, nothing that somebody else said."""
    said = read_prompt(clean(text), max_chars)
    if said.is_host or is_document(said.ask):
        return ""
    kept: list[str] = []
    announced = False  # by a line that ends in a colon
    for line in said.ask.split("\n"):
        shown = announced and line[:1] in (" ", "\t")
        if not shown and not line.lstrip().startswith(">"):
            kept.append(line)
        if cues().LEADS_IN.search(line):
            break  # what follows is somebody else's, to the end: where it ends cannot be told
        announced = line.rstrip().endswith(":") or (announced and (shown or not line.strip()))
    return "\n".join(kept).strip()


def is_document(text: str) -> bool:
    """Tell whether a text was made with headings, as templates and pasted documents are."""
    has_heading = any(line.startswith(("# ", "## ", "### ")) for line in text.split("\n"))
    return has_heading and len(text.split()) > MAX_DOCUMENT_WORDS


class HeardWords:
    """The runs of words that agents and tools said in a session."""

    def __init__(self) -> None:
        self._runs: set[int] = set()

    def add(self, text: str) -> None:
        if len(self._runs) < MAX_RUNS:
            self._runs.update(_runs(text[:MAX_HEARD_CHARS]))

    def without_quotes(self, text: str) -> str:
        """Return a text without the lines of which most was said by an agent or a tool before."""
        kept = [line for line in text.split("\n") if not self._is_quote(line)]
        return "\n".join(kept).strip()

    def _is_quote(self, line: str) -> bool:
        runs = _runs(line)
        return bool(runs) and sum(run in self._runs for run in runs) >= QUOTED_SHARE * len(runs)


def _runs(text: str) -> list[int]:
    words = language().words(text)
    return [hash(tuple(words[at : at + RUN_WORDS])) for at in range(len(words) - RUN_WORDS + 1)]
