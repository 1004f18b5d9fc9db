"""Split a session into exchanges: what a person typed, and what the agent said before it.

Pasted text and repeated words of the agent do not count as the person's own words.
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

MAX_BEFORE_CHARS = 4_000  # of the agent's last message: the end of it
MAX_HEARD_CHARS = 200_000  # of one turn of an agent or a tool that are remembered to recognize quotes
MAX_RUNS = 400_000  # runs of words of one session that are remembered to recognize quotes
RUN_WORDS = 5  # words per run: nobody repeats this many in a row by chance
QUOTED_SHARE = 0.7  # a line is a quote if at least this share of its runs was said before
MAX_DOCUMENT_WORDS = 80  # a text with headings and more words than this is a pasted document


@record
class Exchange:
    """What a person typed, and the agent's message before it."""

    number: int  # of the turn in the session, from 1
    said: str
    before: str = ""  # the agent's words
    at: int = 0
    typed: str = ""  # the turn without markup and pastes, but with quotes of the agent


def exchanges(turns: Iterable[Turn]) -> list[Exchange]:
    """Return the exchanges of a session, in order; turns in which the person typed nothing are skipped."""
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
    """Return what a person typed in a turn, without markup, templates, pastes and quotes of other people."""
    said = read_prompt(clean(text), max_chars)
    if said.is_host or is_document(said.ask):
        return ""
    kept: list[str] = []
    announced = False  # whether a line that ends in a colon came before
    for line in said.ask.split("\n"):
        shown = announced and line[:1] in (" ", "\t")
        if not shown and not line.lstrip().startswith(">"):
            kept.append(line)
        if cues().LEADS_IN.search(line):
            break  # treat all the rest as somebody else's text: its end is unknown
        announced = line.rstrip().endswith(":") or (announced and (shown or not line.strip()))
    return "\n".join(kept).strip()


def is_document(text: str) -> bool:
    """Tell whether a text is long and has headings, like templates and pasted documents."""
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
        """Return a text without the lines that mostly repeat what an agent or a tool said before."""
        kept = [line for line in text.split("\n") if not self._is_quote(line)]
        return "\n".join(kept).strip()

    def _is_quote(self, line: str) -> bool:
        runs = _runs(line)
        return bool(runs) and sum(run in self._runs for run in runs) >= QUOTED_SHARE * len(runs)


def _runs(text: str) -> list[int]:
    words = language().words(text)
    return [hash(tuple(words[at : at + RUN_WORDS])) for at in range(len(words) - RUN_WORDS + 1)]
