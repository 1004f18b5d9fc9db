"""What a person typed, agreed to and can be quoted with. Pasted text, tool output and the host's own
text do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..model.values import record
from ..text.clean import clean, one_line
from ..text.language import language, statement_of
from ..text.prompts import MAX_ASK_CHARS, MAX_READ_CHARS, read_prompt
from ..text.prose import sentences
from ..text.scripts import terms_of
from .cues import cues
from .turns import ASSISTANT, TOOL, USER, Turn

# Split a session into exchanges: what a person typed, and what the agent said before it.
#
# Pasted text and repeated words of the agent do not count as the person's own words.

MAX_BEFORE_CHARS = 4_000  # of the agent's last message: the end of it
MAX_HEARD_CHARS = (
    200_000  # of one turn of an agent or a tool that are remembered to recognize quotes
)
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
            said = heard.without_quotes(typed_in(turn.text))
            if said:
                found.append(Exchange(number, said, before.strip()[-MAX_BEFORE_CHARS:], turn.at))
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
            self._runs.update(_word_runs(text[:MAX_HEARD_CHARS]))

    def without_quotes(self, text: str) -> str:
        """Return a text without the lines that mostly repeat what an agent or a tool said before."""
        kept = [line for line in text.split("\n") if not self._is_quote(line)]
        return "\n".join(kept).strip()

    def _is_quote(self, line: str) -> bool:
        runs = _word_runs(line)
        return bool(runs) and sum(run in self._runs for run in runs) >= QUOTED_SHARE * len(runs)


def _word_runs(text: str) -> list[int]:
    words = language().words(text)
    return [hash(tuple(words[at : at + RUN_WORDS])) for at in range(len(words) - RUN_WORDS + 1)]


# Decide whether a person's answer agrees with the agent, and with which of the agent's statements.

AGREES, OBJECTS = "agrees", "objects"
MAX_NOD_WORDS = 8  # in a longer turn, "ok" opens the next request instead of agreeing
MAX_STATEMENT_CHARS = 400
MAX_AGENT_SENTENCES = 12  # of the agent's last message, counted from its end, that are searched


def answer_to_agent(said: str) -> str:
    """Return AGREES or OBJECTS for a person's words; empty if they do neither."""
    first = said.strip()
    if cues().OBJECTS.search(first[:200]):
        return OBJECTS
    if cues().QUALIFIES.search(cues().SENTENCE_END.split(first, maxsplit=1)[0]):
        return ""  # "ok no, leave it"
    nods = cues().NODS.search(first) and len(first.split()) <= MAX_NOD_WORDS
    return AGREES if nods or cues().AGREES.search(first) else ""


def agreed_statement(before: str) -> str:
    """Return the agent's statement that a person agreed to: its last offer and the reason for it.

    The offer is a sentence like "Want me to …?". The reason is the last sentence before it that proposes or explains
    something. Empty if the text has neither.
    """
    spoken = sentences(before)[-MAX_AGENT_SENTENCES:]
    at = next((at for at in reversed(range(len(spoken))) if cues().OFFERS.search(spoken[at])), None)
    offer, before_offer = ("", spoken) if at is None else (spoken[at], spoken[:at])
    proposal = next((one for one in reversed(before_offer) if cues().PROPOSES.search(one)), "")
    return one_line(" ".join(part for part in (proposal, offer) if part), MAX_STATEMENT_CHARS)


# Check a quote: a person must have typed it, or must have agreed to the agent who said it.
#
# Text that a person pasted or that the host wrote does not count. White space and the style of
# quote marks are ignored. A quote that leaves out a negation of its sentence ("push to main" from
# "never push to main") is rejected.

MIN_QUOTE_WORDS = 3  # a shorter quote may occur by chance, so it must be the whole text
MIN_QUOTE_SHARED_WORDS = (
    2  # content words of a quote that a memory must contain; all of them if there are fewer
)
QUOTE_MARKS = str.maketrans(dict.fromkeys("‘’‚‛ʼ′", "'") | dict.fromkeys("“”„‟«»″", '"'))
QUOTE_EDGES = " '\""  # stripped from both ends of a quote
MAX_SENTENCE_CHARS = 400  # before and after a quote that are searched for a negation
LIST_ITEM = re.compile(
    r"\n(?=\s*(?:[-*•]|\d+[.)]) |\s*\n)"
)  # a sentence ends here without punctuation
LIST_ITEM_END = " ; "
END_MARKS = (".", "!", "?", ";", ":")


def find_quote(quote: str, turns: Sequence[Turn]) -> Turn | None:
    """Return the first turn in which a person typed a quote; None if nobody did.

    A line that a tool printed before counts as pasted, even without a code fence.
    """
    printed, heard = HeardWords(), 0
    for number, turn in enumerate(turns):
        if turn.role == USER and is_said_in(quote, typed := typed_words(turn)):
            for one in turns[heard:number]:
                if one.role == TOOL:
                    printed.add(one.text)
            heard = number
            if is_said_in(quote, printed.without_quotes(typed)):
                return turn
    return None


def agreed_quote(quote: str, turns: Sequence[Turn]) -> tuple[Turn, Turn] | None:
    """Return the agent's turn that holds a quote and the human turn that agrees to it; None if there are none."""
    said: list[Turn] = []
    for turn in turns:
        if turn.role == ASSISTANT:
            said.append(turn)
        elif turn.role == USER and (typed := typed_words(turn)):
            found = next((one for one in reversed(said) if is_said_in(quote, one.text)), None)
            if found and answer_to_agent(typed) == AGREES:
                return found, turn
            said = []
    return None


def typed_words(turn: Turn) -> str:
    """Return all that a person typed in a turn, without pastes and the host's own text."""
    return typed_in(turn.text, MAX_READ_CHARS)


def is_quoted(quote: str, text: str) -> bool:
    """Return whether a text contains a quote in whole words. A quote below MIN_QUOTE_WORDS must be the whole text."""
    return next(_around_quote(quote, text), None) is not None


def is_said_in(quote: str, text: str) -> bool:
    """Return whether a text contains a quote, and the rest of the quote's sentence has no negation."""
    rests = (*_around_quote(quote, text), *_around_quote(quote, LIST_ITEM.sub(LIST_ITEM_END, text)))
    return any(
        not cues().NEGATED_BEFORE.search(one) and not cues().NEGATED_AFTER.search(other)
        for one, other in rests
    )


def is_about_quote(quote: str, text: str) -> bool:
    """Return whether a memory's text shares enough content words with a quote. A quote like "yes" proves nothing."""
    own, said = _content_terms(text), _content_terms(quote)
    return bool(said) and len(said & own) >= min(MIN_QUOTE_SHARED_WORDS, len(said))


def normalized_quote(text: str) -> str:
    """Return a text on one line, with straight quote marks, and without quote marks at its ends."""
    return " ".join(text.translate(QUOTE_MARKS).split()).strip(QUOTE_EDGES)


def _around_quote(quote: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after a quote, for each place where a text contains it in whole words."""
    quote, text = normalized_quote(quote), normalized_quote(text)
    if quote and quote == text:
        yield "", ""
    elif len(terms_of(quote)) >= MIN_QUOTE_WORDS:
        start = text.find(quote)
        while start >= 0:
            end = start + len(quote)
            cuts = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
            if not any(map(_is_inside, cuts)):
                after = "" if quote.endswith(END_MARKS) else text[end : end + MAX_SENTENCE_CHARS]
                yield text[max(0, start - MAX_SENTENCE_CHARS) : start], after
            start = text.find(quote, start + 1)


def _content_terms(text: str) -> set[str]:
    """Return the stems of a text's content words, and the terms of words in scripts without spaces."""
    spoken = language()
    words = spoken.content_words(text)
    return {
        *spoken.roots(words),
        *(term for word in words if not word.isascii() for term in terms_of(word)),
    }


def _is_inside(pair: str) -> bool:
    """Return whether two signs belong to one ASCII word. Other scripts may have no spaces between words."""
    return len(pair) == 2 and pair.isascii() and pair.isalnum()


# Detect planted instructions: text that asks to remember something and that a tool printed or a
# person pasted.

MAX_OUTPUT_CHARS = 100_000  # of one output that are searched
MIN_PLANTED_SHARE = 0.6  # share of an instruction's content words that a memory must repeat
READ_SENTENCES = 3  # from "remember …" on: its object may be in the next sentences
ASKS_TO_REMEMBER = re.compile(
    r"\b(?:remember|memori[sz]e|store|save|add to (?:your )?memory|note that|from now on)\b",
    re.IGNORECASE,
)


def planted_in(text: str, turns: Sequence[Turn]) -> bool:
    """Tell whether a memory's text repeats an instruction that a tool printed or a person pasted."""
    own = statement_of(text).stems
    typed = " ".join(typed_in(turn.text) for turn in turns if turn.role == USER)
    said = statement_of(typed).stems
    planted = (statement_of(instruction).stems for instruction in _planted_instructions(turns))
    return any(
        stems and len(stems & own) >= MIN_PLANTED_SHARE * len(stems) and not stems <= said
        for stems in planted
    )


def _planted_instructions(turns: Iterable[Turn]) -> Iterator[str]:
    for text in _foreign_texts(turns):
        spoken = sentences(text[:MAX_OUTPUT_CHARS]) if ASKS_TO_REMEMBER.search(text) else []
        for number, sentence in enumerate(spoken):
            if ASKS_TO_REMEMBER.search(sentence):
                yield ASKS_TO_REMEMBER.sub(" ", cues().MARKERS.sub("", sentence))
                yield from spoken[number + 1 : number + READ_SENTENCES]


def _foreign_texts(turns: Iterable[Turn]) -> Iterator[str]:
    """Yield the output of tools, and the lines that people pasted."""
    for turn in turns:
        if turn.role == TOOL:
            yield turn.text
        elif turn.role == USER:
            typed = {*typed_in(turn.text).split("\n")}
            yield "\n".join(line for line in turn.text.split("\n") if line not in typed)
