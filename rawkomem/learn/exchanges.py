"""What a person typed, agreed to and can be quoted with. Pasted text, tool output and the host's own
text do not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..model.values import record
from ..text.clean import clean
from ..text.language import language, statement_of
from ..text.prompts import (
    CLOSED,
    HOST_TAGS,
    PERSON_TAGS,
    both_ends,
    read_prompt,
    without_tag,
)
from ..text.prose import prose_lines, sentences
from ..text.scripts import terms_of
from . import cues
from .turns import ASSISTANT, TOOL, USER, Turn

# Split a session into exchanges: what a person typed, and what the agent said before it.

MAX_BEFORE_CHARS = 4_000  # of the agent's last message: the end of it
# of one turn of an agent or a tool that are remembered to recognize quotes
MAX_HEARD_CHARS = 200_000
# runs of words of one session that are remembered to recognize quotes
MAX_RUNS = 400_000
RUN_WORDS = 5  # words per run: nobody repeats this many in a row by chance
# a line is a quote if at least this share of its runs was said before
QUOTED_SHARE = 0.7


@record
class Exchange:
    """What a person typed, and the agent's message before it."""

    number: int  # of the turn in the session, from 1
    said: str
    before: str = ""  # the agent's words, without code
    at: int = 0
    agreed: str = ""  # the agent's statement that the person agrees to


def exchanges(turns: Sequence[Turn]) -> list[Exchange]:
    """Return the exchanges of a session, in order; turns in which the person typed nothing are skipped."""
    heard = HeardWords()
    found: list[Exchange] = []
    before = ""
    for number, turn in enumerate(turns, 1):
        if turn.role in (ASSISTANT, TOOL):
            heard.add(turn.text)
            if turn.role == ASSISTANT and turn.text.strip():
                before = turn.text
        elif turn.role == USER:
            said = heard.without_quotes(typed_in(turn.text))
            if said:
                before = spoken_by_agent(before)
                agreed = agreed_statement(said, before, turns[:number])
                found.append(Exchange(number, said, before, turn.at, agreed))
                before = ""
    return found


def spoken_by_agent(text: str) -> str:
    """Return the end of an agent's message without code, in whole paragraphs."""
    said = "\n".join(prose_lines("\n".join(map(str.strip, text.split("\n"))))).strip()
    cut = said[-MAX_BEFORE_CHARS:]
    return cut if cut == said else cut.partition("\n\n")[2].strip()


# Find the lines of a turn that a person wrote.
#
# Fences, elements, quoted lines and output show where they end. Any other paste (an e-mail, a copied
# page or chat) ends with the message, or before a last paragraph that reads like a reply to it.

MAX_ELEMENTS = 20  # different elements of one message that are removed
ELEMENT = re.compile(r"<([A-Za-z][\w.-]*)[ >]")
QUOTED_SPAN = re.compile(  # five words or more: people put names into quote marks, too
    r"[“\"][^“”\"\s]+(?:[ \t]+[^“”\"\s]+){4,}[ \t]*[”\"]"
)
# One line of code that a sentence goes on after: "instead of ⟨code⟩ always use make".
FENCE_IN_SENTENCE = re.compile(
    r"(?<=[\w,]) *\n```\w*\n([^\n`]{1,120})\n```\n(?=[a-z`])"
)
MIN_SIGNS = 2  # lines like "Subject: …" or "Best regards" that show a paste
BLANKS = re.compile(r"\n{3,}")
SPEAKER = re.compile(r"([\w.@-]+(?: [\w.@-]+)?): ")


def typed_in(text: str, whole: bool = False) -> str:
    """Return what a person typed in a turn, without markup, templates, pastes and quotes of other people.

    Of a long text, only the start and the end are returned, unless `whole` is set.
    """
    text = FENCE_IN_SENTENCE.sub(r" `\1` ", clean(text))
    text = cues.QUOTED_RULE.sub(_unquoted_rule, text)
    for tag in [*dict.fromkeys(ELEMENT.findall(text))][:MAX_ELEMENTS]:
        if f"</{tag}>" in text and tag not in (*HOST_TAGS, *PERSON_TAGS):
            text = without_tag(text, tag)[0]
    read = read_prompt(text)
    if read.is_host:
        own = ""
    else:
        own = BLANKS.sub("\n\n", "\n".join(_own_lines(read.lines))).strip()
    return own if whole else both_ends(own)


def _unquoted_rule(quoted: re.Match[str]) -> str:
    """Return a quoted line as the person's, unless the line before it names another source."""
    return quoted[0] if cues.LEADS_IN.search(quoted[1]) else f"{quoted[1]} {quoted[2]}"


def _own_lines(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines that a person wrote, without the words of others in them, and "" for all other lines."""
    opening = _opening(lines)
    output = [n for n, (_, kind) in enumerate(lines) if kind not in ("", CLOSED)]
    last = max((n for n, (line, _) in enumerate(lines) if not line), default=-1) + 1
    foreign = announced = False
    small = False  # whether a paragraph of the paste starts with a small letter
    above = ("", "")
    for number, (line, kind) in enumerate(lines):
        own = ""
        if line and not kind:
            is_reply = bool(cues.REPLIES.match(line)) or (
                line[0].islower() and not small
            )
            foreign = (foreign or number == opening) and not (
                number == last > opening and is_reply
            )
            small = small or (foreign and not above[0] and line[0].islower())
            shown = announced and line[0] in " \t"
            goes_on = bool(output) and (
                above[1] not in ("", CLOSED) or output[0] < number < output[-1]
            )
            if not foreign and not shown and (is_reply or not goes_on):
                own = QUOTED_SPAN.sub("“…”", line)
                foreign = (
                    bool(cues.LEADS_IN.search(own))
                    and not cues.FACT.search(own)
                    and not any(kind for _, kind in lines[number + 1 : number + 3])
                )
                if told := cues.TELLS.search(own):
                    own = own[: told.end()]
                    foreign = True
            announced = line.endswith(":") or shown
        yield own
        above = (line, line and kind)


def _opening(lines: Sequence[tuple[str, str]]) -> int:
    """Return the number of the line that starts a paste without a known end; -1 if there is none."""
    typed = [
        (n, line.strip()) for n, (line, kind) in enumerate(lines) if line and not kind
    ]
    speakers = [(n, name[1]) for n, line in typed if (name := SPEAKER.match(line))]
    signs = [n for n, line in typed if cues.SIGNS.search(line)]
    found = [n for n, line in typed if cues.OPENS.search(line)][:1]
    if len(signs) >= MIN_SIGNS:
        found.append(signs[0])
    if 1 < len({name for _, name in speakers}) < len(speakers):
        found.append(speakers[0][0])
    if signs and not found and cues.SIGNS_OFF.search(typed[-1][1]):
        found = [n for n, _ in typed if n and not lines[n - 1][0]][:1]
    return min(found, default=-1)


class HeardWords:
    """The runs of words that agents and tools said in a session."""

    def __init__(self, run_words: int = RUN_WORDS) -> None:
        self._runs: set[int] = set()
        self._run_words = run_words

    def add(self, text: str) -> None:
        if len(self._runs) < MAX_RUNS:
            self._runs.update(self._word_runs(text[:MAX_HEARD_CHARS]))

    def without_quotes(self, text: str) -> str:
        """Return a text without the lines that mostly repeat what an agent or a tool said before."""
        kept = [line for line in text.split("\n") if not self.has(line)]
        return "\n".join(kept).strip()

    def has(self, line: str) -> bool:
        """Return whether a line mostly repeats what was said before."""
        runs = self._word_runs(line)
        return bool(runs) and sum(
            run in self._runs for run in runs
        ) >= QUOTED_SHARE * len(runs)

    def _word_runs(self, text: str) -> list[int]:
        words = language().words(text)
        size = self._run_words
        return [
            hash(tuple(words[at : at + size])) for at in range(len(words) - size + 1)
        ]


# Decide whether a person's answer agrees with the agent, and with which of the agent's statements.

AGREES = "agrees"
OBJECTS = "objects"
MAX_NOD_WORDS = 8  # in a longer turn, "ok" opens the next request instead of agreeing
# share of an offer's words that occur in the statement it is about
MIN_OFFER_SHARE = 0.5
# per run of a tool's output: an agent may repeat a short line of it
PRINTED_RUN_WORDS = 3


def answer_to_agent(said: str) -> str:
    """Return AGREES or OBJECTS for a person's words; empty if they do neither."""
    first = said.strip()
    if cues.OBJECTS.search(first[:200]):
        return OBJECTS
    if cues.QUALIFIES.search(cues.SENTENCE_END.split(first, maxsplit=1)[0]):
        return ""  # "ok no, leave it"
    short = len(first.split()) <= MAX_NOD_WORDS and not cues.QUALIFIES.search(first)
    nods = short and cues.NODS.search(first)
    return AGREES if nods or cues.AGREES.search(first) else ""


def agreed_statement(said: str, before: str, turns: Sequence[Turn] = ()) -> str:
    """Return the one statement of an agent that a person agrees to; empty if there is none.

    It is the last sentence, or the sentence before an offer to act on it ("Shall I do that?"), with the sentence that
    it continues ("That makes …"). Nothing is agreed to if the answer names another action, or if a tool of these
    turns printed the statement.
    """
    if answer_to_agent(said) != AGREES:
        return ""
    spoken = sentences(before)
    offer = ""
    while spoken and (cues.OFFERS.search(spoken[-1]) or spoken[-1].endswith("?")):
        offer = f"{spoken.pop()} {offer}"
    both = len(spoken) > 1 and cues.CONTINUES.match(spoken[-1])
    said_last = spoken[-2:] if both else spoken[-1:]
    statement = " ".join(said_last)
    about = _content_terms(statement)
    offered = _content_terms(offer) - cues.OFFER_WORDS
    if len(offered & about) < MIN_OFFER_SHARE * len(offered) and not cues.REFERS.search(
        offer
    ):
        return ""
    answer = cues.SENTENCE_END.split(said.strip(), maxsplit=1)[0]
    if _content_terms(cues.ASSENT.sub(" ", answer)) - about - _content_terms(offer):
        return ""
    printed = HeardWords(PRINTED_RUN_WORDS)
    for turn in turns:
        if turn.role == TOOL:
            printed.add(turn.text)
    return "" if any(map(printed.has, said_last)) else statement


# Check a quote: a person must have typed it, or must have agreed to the agent who said it.
#
# A quote is a whole sentence or several: "push to main" is no quote from "it is forbidden to push
# to main". White space, the style of quote marks, lead-ins ("No, …") and reasons are ignored.

MIN_QUOTE_WORDS = 3  # a shorter quote may occur by chance, so it must be the whole text
# content words of a quote that a memory must contain; all of them if there are fewer
MIN_QUOTE_SHARED_WORDS = 2
# whether a text, the second argument, contains a quote
SaidIn = Callable[[str, str], bool]
QUOTE_MARKS = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ′", "'") | dict.fromkeys("“”„‟«»″", '"')
)
QUOTE_EDGES = " '\""  # stripped from both ends of a quote
# before and after a quote that are searched for the ends of its sentence
MAX_SENTENCE_CHARS = 400
# a sentence ends here without punctuation
LIST_ITEM = re.compile(r"\n(?=\s*(?:[-*•]|\d+[.)]) |\s*\n)")
LIST_ITEM_END = " ; "
# all that is before a sentence
SENTENCE_START = re.compile(r".*(?:[.!?;…]\W*\s|[。！？])", re.DOTALL)
SENTENCE_REST = re.compile(r".*?(?:[.!?;…](?=\W*(?:\s|$))|[。！？]|$)", re.DOTALL)
STATEMENT_ENDS = ".!;…。！\"') "
QUESTION_ENDS = ("?", "？", "؟")


def find_quote(
    quote: str, turns: Sequence[Turn], said_in: SaidIn | None = None
) -> Turn | None:
    """Return the first turn in which a person typed a quote; None if nobody did.

    A line that a tool printed before counts as pasted, even without a code fence. By default, `said_in` is the
    function is_said_in(), which wants whole sentences.
    """
    said_in = said_in or is_said_in
    printed = HeardWords()
    heard = 0
    for number, turn in enumerate(turns):
        if turn.role == USER and said_in(
            quote, typed := typed_in(turn.text, whole=True)
        ):
            for one in turns[heard:number]:
                if one.role == TOOL:
                    printed.add(one.text)
            heard = number
            if said_in(quote, printed.without_quotes(typed)):
                return turn
    return None


def agreed_quote(quote: str, turns: Sequence[Turn]) -> tuple[Turn, Turn] | None:
    """Return the agent's turn that holds a quote and the human turn that agrees to it; None if there are none."""
    said: Turn | None = None
    for number, turn in enumerate(turns):
        if turn.role == ASSISTANT and turn.text.strip():
            said = turn
        elif said and turn.role == USER and (typed := typed_in(turn.text, whole=True)):
            if is_said_in(quote, said.text):
                statement = agreed_statement(
                    typed, spoken_by_agent(said.text), turns[:number]
                )
                if is_said_in(quote, statement):
                    return said, turn
            said = None
    return None


def is_quoted(quote: str, text: str) -> bool:
    """Return whether a text contains a quote in whole words. A quote below MIN_QUOTE_WORDS must be the whole text."""
    return next(_around_quote(quote, text), None) is not None


def is_said_in(quote: str, text: str) -> bool:
    """Return whether a text contains a quote as whole sentences that are not all questions.

    A quote that the next sentence takes back ("That is what you must not do.") does not count without that sentence.
    """
    asked = all(
        one.endswith(QUESTION_ENDS) for one in sentences(normalized_quote(quote))
    )
    return not asked and any(
        not cues.MARKERS.sub("", one).strip(" -*•")
        and (not other or cues.REASON.match(other))
        and not cues.TAKEN_BACK.match(following)
        for one, other, following in _rests_of_sentence(quote, text)
    )


def whole_sentence(quote: str, text: str) -> str:
    """Return a quote with the rest of its sentence in a text; empty if the text does not contain it."""
    rests = _rests_of_sentence(quote, text)
    said = normalized_quote(quote)
    return next((f"{one}{said}{other}" for one, other, _ in rests), "")


def _rests_of_sentence(quote: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield what the sentence of a quote says before and after it, and what follows, for each place in a text."""
    ends = (*STATEMENT_ENDS[:6], *QUESTION_ENDS)
    is_ended = normalized_quote(quote).endswith(ends)
    for form in (LIST_ITEM.sub(LIST_ITEM_END, text), text):
        for before, after in _around_quote(quote, form):
            rest = None if is_ended else SENTENCE_REST.match(after)
            yield (
                SENTENCE_START.sub("", before),
                rest[0].rstrip(STATEMENT_ENDS) if rest else "",
                after[rest.end() if rest else 0 :].lstrip(STATEMENT_ENDS),
            )


def is_about_quote(quote: str, text: str) -> bool:
    """Return whether a memory's text shares enough content words with a quote. A quote like "yes" proves nothing."""
    own = _content_terms(text)
    said = _content_terms(quote)
    return bool(said) and len(said & own) >= min(MIN_QUOTE_SHARED_WORDS, len(said))


def normalized_quote(text: str) -> str:
    """Return a text on one line, with straight quote marks, and without quote marks at its ends."""
    return " ".join(text.translate(QUOTE_MARKS).split()).strip(QUOTE_EDGES)


def _around_quote(quote: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after a quote, for each place where a text contains it in whole words."""
    quote = normalized_quote(quote)
    text = normalized_quote(text)
    if quote and quote == text:
        yield "", ""
    elif len(terms_of(quote)) >= MIN_QUOTE_WORDS:
        start = text.find(quote)
        while start >= 0:
            end = start + len(quote)
            cuts = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
            if not any(map(_is_inside, cuts)):
                after = text[end : end + MAX_SENTENCE_CHARS]
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
# share of an instruction's content words that a memory must repeat
MIN_PLANTED_SHARE = 0.6
READ_SENTENCES = 3  # from "remember …" on: its object may be in the next sentences
ASKS_TO_REMEMBER = cues.caseless(
    r"\b(?:remember|memori[sz]e|store|save|add to (?:your )?memory|note that|from now on)\b"
)


def planted_in(text: str, turns: Sequence[Turn]) -> bool:
    """Return whether a memory's text repeats an instruction that a tool printed or a person pasted."""
    own = statement_of(text).stems
    typed = " ".join(typed_in(turn.text) for turn in turns if turn.role == USER)
    said = statement_of(typed).stems
    planted = (
        statement_of(instruction).stems for instruction in _planted_instructions(turns)
    )
    return any(
        stems
        and len(stems & own) >= MIN_PLANTED_SHARE * len(stems)
        and not stems <= said
        for stems in planted
    )


def _planted_instructions(turns: Iterable[Turn]) -> Iterator[str]:
    for text in _foreign_texts(turns):
        if ASKS_TO_REMEMBER.search(text):
            spoken = sentences(text[:MAX_OUTPUT_CHARS])
        else:
            spoken = []
        for number, sentence in enumerate(spoken):
            if ASKS_TO_REMEMBER.search(sentence):
                yield ASKS_TO_REMEMBER.sub(" ", cues.MARKERS.sub("", sentence))
                yield from spoken[number + 1 : number + READ_SENTENCES]


def _foreign_texts(turns: Iterable[Turn]) -> Iterator[str]:
    """Yield the output of tools, and the lines that people pasted."""
    for turn in turns:
        if turn.role == TOOL:
            yield turn.text
        elif turn.role == USER:
            typed = {*typed_in(turn.text).split("\n")}
            yield "\n".join(line for line in turn.text.split("\n") if line not in typed)
