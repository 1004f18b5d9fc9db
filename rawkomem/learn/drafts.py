"""Drafts of memories from a session: statements that a person made or agreed to, failures that were
fixed, and edited instructions. A draft that somebody keeps becomes an entry.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ..files.session_records import draft_id
from ..model.entries import (
    AGREED,
    CORRECTION,
    DECISION,
    FIX,
    FOUND,
    INSTRUCTION,
    LESSON,
    PREFERENCE,
    REQUEST,
    RULE,
    Draft,
    Entry,
    Value,
)
from ..model.values import now, record, replace
from ..redaction.find import redact
from ..text.acts import APPLIES_KEY, ASK, patterns_given
from ..text.clean import one_line
from ..text.language import language, statement_of
from ..text.prose import sentences, split_sentences
from . import cues
from .exchanges import OBJECTS, Exchange, answer_to_agent, exchanges
from .proposed_conditions import (
    conditions_of_title,
    propose_acts,
    propose_asked_condition,
    propose_conditions,
    propose_patterns,
)
from .repetitions import means_same
from .turns import ASSISTANT, TOOL, RunFacts, Turn


@record
class Filing:
    """The fields that a memory gets from the kind of its draft."""

    type: str  # as in Memory Lane
    category: str  # as in neolata
    importance: str
    tag: str


FILED = {
    CORRECTION: Filing("correction", "preference", "high", "correction"),
    RULE: Filing("commitment", "fact", "high", "convention"),
    PREFERENCE: Filing("commitment", "preference", "medium", "preference"),
    DECISION: Filing("decision", "decision", "medium", "decision"),
    REQUEST: Filing("learning", "fact", "high", "remembered"),
    AGREED: Filing("decision", "decision", "medium", "decision"),
    FIX: Filing("insight", "finding", "medium", "error"),
    INSTRUCTION: Filing("commitment", "fact", "medium", "convention"),
    FOUND: Filing("learning", "fact", "medium", "found"),
}


# Make drafts from a session's tool calls: commands that failed and later passed, and edits of
# instruction files.

INSTRUCTION_FILES = ("claude.md", "agents.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules",
                     ".clinerules", "conventions.md")  # fmt: skip
INSTRUCTION_FOLDERS = (
    ".cursor/rules/",
    ".claude/rules/",
    ".windsurf/rules/",
    ".devin/rules/",
    ".github/instructions/",
)
# a failure is often about one case, so nobody is asked about its fix
FIX_SCORE = 0.6
INSTRUCTION_SCORE = 1.5
# of one session
MAX_FIXES = 2
MAX_EDITS = 3
MIN_EDIT_WORDS = 4
MAX_EDIT_CHARS = 1_500
MAX_COMMAND_CHARS = 120
MAX_ERROR_CHARS = 200
MAX_CAUSE_CHARS = 400
ERROR_WORDS = (
    "error",
    "fail",
    "exception",
    "cannot",
    "not found",
    "undefined",
    "panic",
    "denied",
    "refused",
    "missing",
)


def drafts_of_fixes(turns: Sequence[Turn], run: RunFacts) -> Iterator[Draft]:
    """Yield a draft for each command that failed, that the agent then explained, and that later passed."""
    # command → turn in which it failed first, and its error
    failed: dict[str, tuple[int, str]] = {}
    for number, turn in enumerate(turns):
        did = turn.did
        if turn.role != TOOL or did is None or did.failed is None:
            continue
        command = " ".join(did.command.split())
        if did.failed:
            failed.setdefault(command, (number, _error_in(turn.text)))
            continue
        begun, error = failed.pop(command, (number, ""))
        told = [one.text for one in turns[begun + 1 : number] if one.role == ASSISTANT]
        explained = [
            sentence
            for text in told
            for sentence in sentences(text)
            if cues.EXPLAINS.search(sentence)
        ]
        if command and error and explained:
            cause = one_line(redact(explained[-1]), MAX_CAUSE_CHARS)
            shown = one_line(redact(command), MAX_COMMAND_CHARS)
            yield _draft(
                FIX,
                f"{command} {error}",
                run,
                said=f"{shown}: {error}",
                before=cause,
                title=one_line(cause, MAX_TITLE_CHARS),
                text=f"`{shown}` failed: {error}\n\n{cause}",
                when=propose_conditions(f"{cause} {error}"),
                score=FIX_SCORE,
                why="the same command failed, then passed",
                at=turn.at,
            )


def drafts_of_instructions(turns: Sequence[Turn], run: RunFacts) -> Iterator[Draft]:
    """Yield a draft for each of the last MAX_EDITS edits of instruction files."""
    written: dict[str, tuple[str, Turn]] = {}
    for turn in turns:
        did = turn.did
        if turn.role == TOOL and did is not None and is_instruction_file(did.file):
            text = redact((did.written or "").strip())[:MAX_EDIT_CHARS]
            if len(text.split()) >= MIN_EDIT_WORDS:
                written[text] = (did.file.replace("\\", "/").rpartition("/")[2], turn)
    for text, (name, turn) in [*written.items()][-MAX_EDITS:]:
        lines = (line.strip(" #-*\t") for line in text.split("\n"))
        yield _draft(
            INSTRUCTION,
            text,
            run,
            said=text,
            title=one_line(next(filter(None, lines), text), MAX_TITLE_CHARS),
            text=text,
            when=propose_conditions(text),
            score=INSTRUCTION_SCORE,
            why=f"was written into {name}",
            at=turn.at,
        )


def is_instruction_file(file: str) -> bool:
    """Return whether a file holds instructions for agents."""
    path = file.replace("\\", "/").lower()
    return path.rpartition("/")[2] in INSTRUCTION_FILES or any(
        folder in f"/{path}" for folder in INSTRUCTION_FOLDERS
    )


def _draft(kind: str, key: str, run: RunFacts, **fields: Any) -> Draft:
    """Return a draft of a session; `key` is what makes its id."""
    return Draft(
        draft_id(run.session, key),
        kind,
        tags=(FILED[kind].tag,),
        session=run.session,
        host=run.agent,
        task=run.task,
        **fields,
    )


def _error_in(output: str) -> str:
    """Return the first line of an output that contains one of ERROR_WORDS; empty if none does."""
    lines = [line.strip() for line in output.split("\n")]
    named = [
        line for line in lines if any(word in line.lower() for word in ERROR_WORDS)
    ]
    return one_line(redact(named[0]), MAX_ERROR_CHARS) if named else ""


# Choose drafts: sentences of a person that contain cues like "always", answers to the agent's numbered
# questions, and agent statements that a person agreed to. The person is asked about the sure ones;
# the others are "more", for a person who wants to see them.
#
# The weights are set by hand. Fitted weights learned the project of the test sessions instead
# (docs/learning.md).

MIN_ASKED_SCORE = 0.7  # of a draft that the person is asked about
MIN_MORE_SCORE = 0.3  # of the others
# drafts of one session that the person is asked about: those with the highest scores
MAX_ASKED = 12
MAX_MORE = 20  # other drafts of one session
MIN_PART_SCORE = 1.2  # of a sentence that starts a statement of its own
REMEMBERS = "asks to remember it"
REQUEST_SCORE = 9.0
WISH_SCORE = (
    -0.6
)  # of a statement beside a request for something: it is mostly about that
OBJECTION_SCORE = 0.5  # a turn that objects to what the agent said
# of one cue that a draft needs: several hints ("it should be blue", "you need to") say together no more than one
MIN_CLEAR_WEIGHT = 1.0
# at most, of a draft without such a cue or with a doubt, and of all but "never", "from now on", "X, not Y" and the like in
# the first words of a session: the rest describes a task
MAX_WEAK_SCORE = 0.6
ANSWERS = "answers the agent's question"
# each time that a person says the same
AGAIN = "said again"
AGAIN_SCORE = 0.5
AGREED_SCORE = 1.0  # a statement that a person agreed to
ANSWER_SCORE = 0.5  # an answer to a question of the agent: it is mostly about one case
MAX_ANSWER_WORDS = 12  # of an answer without a number; a longer turn says more
MAX_SAID_CHARS = 2_000  # of a person's words in a draft
MAX_DRAFT_BEFORE_CHARS = 600  # of the agent's words in a draft: the end of them
MAX_TASK_CHARS = 120
MAX_TITLE_CHARS = 110
MIN_TITLE_WORDS = 4
# specific words of a statement that needs the words before it to be understood
VAGUE_WORDS = 3
# of a draft: of a longer statement, only the sentences with cues are kept
MAX_TEXT_WORDS = 40
# is left out of titles
UNTITLED = re.compile(r"^[*\s]+|\*\*|\(?(?:e\.g\. )?https?://\S+")
BLOCKS = re.compile(
    r"\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,2}[.)]) )|\n(?=(?i:never|always|don't|do not|remember)\b)|(?<=;) (?=\d\. )"
    r"|(?<=[a-z]{3}[.!?]) (?=[a-z])"
)
# The number of a question or an answer: "2. only admins", "re: 2) …"
NUMBER = re.compile(
    r"(?:^|(?<=[\s;]))(?:re:? |q)?\**(\d{1,2})[.):]\**(?= )", re.I | re.M
)
QUESTION_MARKS = ("?", "？")
SENTENCE_ENDS = (".", "!", "…", "。", "！")


RULES = (CORRECTION, RULE, PREFERENCE)  # kinds that say how to do some work


@record
class Statement:
    """What a person says in a part of a turn: the score, the kind of draft that it makes, and why; the words as typed.

    The text and the title are those of the memory that it proposes.
    """

    score: float
    kind: str
    why: str
    said: str = ""
    text: str = ""
    title: str = ""  # empty: a clause of the text


def choose_drafts(turns: Sequence[Turn], run: RunFacts) -> list[Draft]:
    """Return the drafts of a session: first those that the person is asked about, each by score."""
    spoken = exchanges(turns)
    if spoken and not run.task:
        run = replace(run, task=one_line(redact(spoken[0].said), MAX_TASK_CHARS))
    drafts = [
        one for one in drafts_of_exchanges(spoken, run) if one.score >= MIN_MORE_SCORE
    ]
    drafts += [
        *drafts_of_instructions(turns, run),
        *islice(drafts_of_fixes(turns, run), MAX_FIXES),
    ]
    distinct: list[Draft] = []
    for draft in drafts:
        same = next((one for one in distinct if means_same(one, draft)), None)
        if same:
            distinct.remove(same)
            draft = max(draft, same, key=lambda one: len(one.said))
            # to say a wish twice makes it no rule
            draft = said_again(draft) if draft.score >= MIN_ASKED_SCORE else draft
        distinct.append(draft)
    ranked = sorted(distinct, key=lambda draft: (-draft.score, draft.at))
    sure = [draft for draft in ranked if draft.score >= MIN_ASKED_SCORE][:MAX_ASKED]
    others = ranked[len(sure) :][:MAX_MORE]
    return [*sure, *(replace(draft, more=True) for draft in others)]


def said_again(draft: Draft, *sessions: str) -> Draft:
    """Return a draft that a person said before, with a higher score; `sessions`: the other sessions, if any.

    If it names acts of an agent, it proposes a guard that asks: to say it once was not enough.
    """
    return replace(
        draft,
        score=round(draft.score + AGAIN_SCORE, 2),
        why=draft.why if draft.why.endswith(AGAIN) else f"{draft.why}, {AGAIN}",
        again=sessions,
        guard=ASK if draft.applies else "",
    )


def drafts_of_exchanges(spoken: Iterable[Exchange], run: RunFacts) -> Iterator[Draft]:
    """Yield the drafts of each exchange, one for each of its statements, also those with a low score."""
    last = asked = ""  # the person's last turn, and the last that was not a correction
    for exchange in spoken:
        kinds = set[str]()
        for statement in statements_of(exchange, last):
            kinds.add(statement.kind)
            yield _draft_of(exchange, statement, asked, run)
        last = exchange.said
        asked = asked if CORRECTION in kinds else last


def _draft_of(
    exchange: Exchange, statement: Statement, asked: str, run: RunFacts
) -> Draft:
    """Return the draft of one statement."""
    said = redact(statement.said)[:MAX_SAID_CHARS].strip()
    before = redact(exchange.before).strip()
    text = redact(statement.text).strip()
    kind = statement.kind
    title = redact(statement.title) or draft_title(text)
    when = conditions_of_title(cues.without_reasons(title), text)
    patterns = propose_patterns(text) if kind != AGREED else ()
    if kind == CORRECTION:
        when = (*propose_asked_condition(redact(asked)), *when)
    if len(before) > MAX_DRAFT_BEFORE_CHARS:
        before = "…" + before[-MAX_DRAFT_BEFORE_CHARS:].partition(" ")[2]
    return _draft(
        kind,
        said,
        run,
        said=said,
        before=before,
        title=title,
        text=text,
        when=patterns or when,
        applies=propose_acts(text) if kind in RULES else (),
        score=round(statement.score, 2),
        why=statement.why,
        at=exchange.at,
    )


def statements_of(exchange: Exchange, last: str = "") -> Iterator[Statement]:
    """Yield what a person says in a turn: answers to numbered questions, requests to remember, and other statements.

    `last` is the person's turn before, empty in the first turn: "please remember it" refers to it.
    """
    rest = exchange.said
    for question, answer in answers_in(exchange):
        rest = rest.replace(answer, "")
        words = NUMBER.sub("", answer, count=1).strip()
        found = score_of(exchange, [words])
        is_sure = not _has_cue(words, cues.QUESTION, cues.DOUBT)
        if found.score < ANSWER_SCORE and is_sure:
            found = Statement(ANSWER_SCORE, DECISION, ANSWERS)
        yield _answered(replace(found, said=answer), question, words)
    told: list[str] = []
    for sentence in sentences_of_turn(rest):
        if words := _asked_words(sentence):
            yield Statement(REQUEST_SCORE, REQUEST, REMEMBERS, sentence, words)
        else:
            told.append(sentence)
    question = _last_question(exchange.before)
    for number, part in enumerate(_parts_of(told)):
        agreed = "" if number else exchange.agreed
        said = _joined(part)
        found = replace(score_of(replace(exchange, agreed=agreed), part), said=said)
        is_first = not (last or exchange.before)
        if is_first and not _has_cue(key_sentence(part), RULE):
            found = replace(found, score=min(found.score, MAX_WEAK_SCORE))
        if found.kind == AGREED:
            text = f"{agreed}\n\n“{said}”" if _says_more(said) else agreed
        elif found.score < MIN_MORE_SCORE and _answers(said, question):
            found = Statement(ANSWER_SCORE, DECISION, ANSWERS, said)
            yield _answered(found, question, said)
            continue
        else:
            text = _resolved(_concise(part), exchange.before, last)
        yield replace(found, text=text)


def _answered(found: Statement, question: str, answer: str) -> Statement:
    """Return a statement with an answer beside its question, both as they were said.

    The title is the answer; of a short one, with the words of the question that it needs.
    """
    title = draft_title(answer)
    if len(title.split()) < MIN_TITLE_WORDS:
        title = _title_of_answer(one_line(question, MAX_TITLE_CHARS), title)
    return replace(found, text=f"“{question}” — “{answer}”", title=title)


def _title_of_answer(question: str, answer: str) -> str:
    """Return a few words of an answer as a statement: "Only admins may delete a project", "Runner: vitest"."""
    about = question.rstrip("?").strip()
    if who := cues.ASKS_WHO.match(about):
        return one_line(f"{answer} {about[who.end() :]}", MAX_TITLE_CHARS)
    if topic := cues.ASKS_WHICH.match(about):
        return f"{topic[1][:1].upper()}{topic[1][1:].strip()}: {answer}"
    return f"{answer} ({one_line(about, MAX_TITLE_CHARS - len(answer) - 3)})"


def _last_question(before: str) -> str:
    """Return the question or the offer with which an agent's message ends; empty if it does not end with one."""
    last = "".join(sentences(before)[-1:])
    asks = last.endswith(QUESTION_MARKS) or cues.OFFERS.search(last)
    return last if asks else ""


def _answers(said: str, question: str) -> bool:
    """Return whether some words can be an answer: a few words that do not only agree, and no question.

    An answer to an offer uses its words: others name the next work.
    """
    if not question or len(said.split()) > MAX_ANSWER_WORDS or not _is_statement(said):
        return False
    if cues.OFFERS.search(question):
        chosen = {*language().content_words(said)}
        return chosen <= {*language().content_words(question)} and _says_more(said)
    return _says_more(said)


def _says_more(said: str) -> bool:
    """Return whether some words say more than that the person agrees."""
    return bool(language().content_words(cues.ASSENT.sub(" ", said)))


def answers_in(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yield the agent's numbered questions, each with the person's answer that has the same number."""
    questions = {
        number: question
        for number, item in _numbered(exchange.before)
        for question in [*split_sentences(" ".join(item.split()))][::-1]
        if question.endswith(QUESTION_MARKS)
    }
    for number, answer in _numbered(exchange.said) if questions else ():
        if number in questions:
            yield (
                NUMBER.sub("", questions[number], count=1)
                .replace("**", "")
                .strip(" *"),
                answer,
            )


def _numbered(text: str) -> Iterator[tuple[str, str]]:
    """Yield the numbered items of a text, each with its number in front."""
    starts = [*NUMBER.finditer(text)]
    ends = [*(one.start() for one in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=False):
        yield start[1], text[start.start() : end].strip(" \n;")


def _asked_words(sentence: str) -> str:
    """Return the words that a sentence asks to remember; empty if it does not."""
    for cue in cues.cues_in(sentence):
        if cue.kind == REQUEST and (found := cue.pattern.search(sentence)):
            return next(filter(None, found.groups()), "")
    return ""


def _resolved(text: str, before: str, last: str) -> str:
    """Return a text with what "this file" or "that" refers to behind it, in brackets and in the words used before.

    A text that only asks to remember "it" refers to what the person said before.
    """
    if last and all(map(_only_notes, sentences_of_turn(text))):
        return f"“{one_line(redact(last), MAX_CAUSE_CHARS)}” — “{text}”"
    files = {*cues.FILES.findall(before)}
    if len(files) == 1:
        text = cues.THIS_FILE.sub(rf"\g<0> [{files.pop()}]", text, count=1)
    told = [*filter(_is_statement, sentences(before))][-1:]
    if told and len(language().content_words(text)) <= VAGUE_WORDS:
        about = one_line(told[0], MAX_CAUSE_CHARS)
        text = cues.POINTS.sub(lambda word: f"{word[0]} [“{about}”]", text, count=1)
    return text


def _only_notes(sentence: str) -> bool:
    """Return whether a sentence asks to write something down and names nothing itself."""
    few = len(language().content_words(sentence)) <= VAGUE_WORDS
    return few and _has_cue(sentence, cues.NOTE)


def _concise(told: Sequence[str]) -> str:
    """Return what a person states, from the first sentence with cues on, without tasks, questions and reports.

    Of many words, only the sentences with cues are kept. A short task after "never …" says what to do instead.
    """
    key = key_sentence(told)
    stating = [one for one in told if one == key or _strength(one) >= MIN_MORE_SCORE]
    notes = _only_notes(key)
    first = 0 if notes else told.index(stating[0])
    # "They are rendered on the server" needs the sentence before it
    about = told[max(0, first - 1) : first] if cues.CONTINUES.match(told[first]) else ()
    after = told[told.index(key) + 1 :][:1] if cues.NEGATES.search(key) else ()
    instead = [
        one
        for one in after
        if len(one.split()) <= MAX_ANSWER_WORDS and not cues.NEXT_STEP.match(one)
    ]
    wanted = [
        one
        for one in (*about, *told[first:])
        if one == key
        or one in about
        or (notes and _is_statement(one))
        or not _has_cue(one, cues.QUESTION, cues.REPORT, cues.TASK)
        or (one in instead and not _has_cue(one, cues.QUESTION, cues.REPORT))
    ]
    if not notes and sum(len(one.split()) for one in wanted) > MAX_TEXT_WORDS:
        wanted = [*about, *stating]
    return _joined([*map(_as_sentence, wanted)])


def _as_sentence(words: str) -> str:
    """Return the words of a sentence without lead-ins, and with a capital letter in front of a plain word."""
    plain = cues.without_politeness(cues.LIST_MARK.sub("", words))
    first = plain.partition(" ")[0]
    is_word = re.fullmatch(r"[^\W\d_]+(?:['’]\w+)?[,;:.!]?", first) and first.islower()
    is_name = cues.STARTS_PROGRAM.match(first)
    return plain[:1].upper() + plain[1:] if is_word and not is_name else plain


def _joined(told: Sequence[str]) -> str:
    """Return sentences as a text; a line without an end mark stays a paragraph of its own."""
    ends = (*SENTENCE_ENDS, *QUESTION_MARKS)
    spaced = (one + (" " if one.endswith(ends) else "\n\n") for one in told)
    return "".join(spaced).strip()


def _has_cue(sentence: str, *kinds: str) -> bool:
    return any(cue.kind in kinds for cue in cues.cues_in(sentence))


def _is_statement(sentence: str) -> bool:
    return not _has_cue(sentence, cues.QUESTION)


def _kinds(sentence: str) -> dict[str, float]:
    """Return the kinds of drafts that the cues of a sentence suggest, each with their weight."""
    kinds = defaultdict[str, float](float)
    for cue in cues.cues_in(sentence):
        if cue.kind and cue.weight > 0:
            kinds[cue.kind] += cue.weight
    return kinds


def _parts_of(told: Sequence[str]) -> list[list[str]]:
    """Return the sentences of a turn in parts that each say one thing.

    A sentence with strong cues starts a new part, unless it continues the part before it.
    """
    parts: list[list[str]] = [[]]
    begun = False  # whether the last part holds a strong sentence
    for sentence in told:
        is_strong = _strength(sentence) >= MIN_PART_SCORE
        if begun and is_strong and not _continues(sentence, parts[-1][-1]):
            parts.append([])
        begun = begun or is_strong
        parts[-1].append(sentence)
    return parts if parts[0] else []


def _continues(sentence: str, before: str) -> bool:
    """Return whether a sentence is about the same thing as the sentence before it."""
    if cues.CONTINUES.match(sentence) or _has_cue(sentence, cues.NOTE):
        return True
    return bool(statement_of(sentence).subject & statement_of(before).subject)


def sentences_of_turn(said: str) -> list[str]:
    """Return the sentences of a person's words. A sentence ends where a paragraph or a list item does."""
    blocks = (" ".join(block.split()) for block in BLOCKS.split(said))
    return [one for block in blocks for one in split_sentences(block)]


def key_sentence(told: Sequence[str]) -> str:
    """Return the sentence with the strongest cues, which decides about the draft and is its title."""
    return max(told, key=_strength, default="")


def score_of(exchange: Exchange, told: Sequence[str]) -> Statement:
    """Return the score, the kind and the reasons for some sentences of a person in an exchange."""
    key = key_sentence(told)
    hits = cues.cues_in(key)
    parts = [(cue.name, cue.weight) for cue in hits]
    kinds = _kinds(key)
    if CORRECTION in kinds:
        kind = CORRECTION
    else:
        kind = max(kinds, key=kinds.__getitem__, default="")
    clear = [one for one in (key, *told) if _is_clear(one)][:1]
    if kind and exchange.before and answer_to_agent(exchange.said) == OBJECTS:
        parts.append(("objects to the agent", OBJECTION_SCORE))
        kind = CORRECTION
    if any(_has_cue(one, cues.WISH) for one in told if one != key):
        parts.append(("asks for something", WISH_SCORE))
    if not kind and cues.PROPOSES.search(exchange.agreed):
        clear = cues.SETTLES.findall(exchange.agreed)
        parts = [("agrees with the agent", AGREED_SCORE)]
        kind = AGREED
    why = ", ".join(name if weight > 0 else f"but {name}" for name, weight in parts)
    score = sum(weight for _, weight in parts) if kind else 0.0
    if not clear or _has_cue(clear[0], cues.DOUBT):
        score = min(score, MAX_WEAK_SCORE)
    kind = {cues.NOTE: RULE, cues.BAN: RULE, cues.WISH: PREFERENCE}.get(kind, kind)
    return Statement(score, kind or DECISION, why)


def _is_clear(sentence: str) -> bool:
    """Return whether a sentence begins as a rule or is to be written down, and has more than hints."""
    hits = cues.cues_in(sentence)
    is_strong = any(cue.kind and cue.weight >= MIN_CLEAR_WEIGHT for cue in hits)
    return is_strong and (
        cues.begins_as_rule(sentence) or _has_cue(sentence, cues.NOTE)
    )


def _strength(sentence: str) -> float:
    return sum(cue.weight for cue in cues.cues_in(sentence))


def draft_title(text: str) -> str:
    """Return the clause with the strongest cues as a title, without lead-ins ("ok,", "from now on") and reasons."""
    key = max(sentences_of_turn(text), key=_title_rank, default="")
    title = _bare(_clause(UNTITLED.sub("", key)))
    head = cues.REASONS.split(title, maxsplit=1)[0]
    title = head if len(head.split()) >= MIN_TITLE_WORDS else title
    return title[:1].upper() + title[1:]


def _title_rank(words: str) -> tuple[bool, float]:
    """Return the rank of words as a title: "make a note of it" says less than what is to be noted."""
    return not _only_notes(words), _strength(words)


def _bare(clause: str) -> str:
    """Return a clause without lead-ins, and without punctuation and lone brackets at its ends."""
    bare: str = cues.CHOOSING.sub("", cues.MARKERS.sub("", clause).strip()).strip(
        " .,:;!-–—"
    )
    for opening, closing in ("()", "[]"):
        if bare.count(opening) != bare.count(closing):
            bare = bare.strip(opening + closing)
    return bare


def _clause(sentence: str) -> str:
    """Return the strongest clause of a sentence that is too long for a title."""
    if len(sentence) <= MAX_TITLE_CHARS:
        return sentence
    clauses = [
        bare
        for bare in map(_bare, cues.CLAUSES.split(sentence))
        if len(bare.split()) >= MIN_TITLE_WORDS and not cues.DEPENDS.match(bare)
    ]
    best = max(clauses, key=_title_rank, default=sentence)
    if len(best) <= MAX_TITLE_CHARS:
        return best
    return best[:MAX_TITLE_CHARS].rpartition(" ")[0]


# Turn a draft that somebody keeps into the entry of a memory.

LEARNED_TAG = "learned"  # tag of memories that were found in a session
QUOTE_KEY = "quote"  # key of a memory that holds the person's words
BY_AGENT = (FIX, INSTRUCTION)  # kinds in which no person speaks
MAX_QUOTE_CHARS = 600
# labels of the parts of an exchange
AGENT_LABEL = "agent"
PERSON_LABEL = "person"
EVIDENCE_LABEL = "evidence"


def entry_of_draft(draft: Draft) -> Entry:
    """Return a draft as an entry with its text, its source, and the person's words as a quote."""
    filed = FILED.get(draft.kind, FILED[DECISION])
    extra: dict[str, Value] = {"type": filed.type, "category": filed.category}
    if _holds_persons_words(draft):
        extra[QUOTE_KEY] = one_line(draft.said, MAX_QUOTE_CHARS)
    if draft.applies:
        extra[APPLIES_KEY] = patterns_given(draft.applies)
    host = f"{draft.host} session" if draft.host else "session"
    return Entry(
        title=draft.title,
        when=draft.when,
        tags=tuple(dict.fromkeys((*(draft.tags or (filed.tag,)), LEARNED_TAG))),
        importance=filed.importance,
        at=draft.at if 0 < draft.at <= now() else now(),
        by=draft.host,
        found_in=draft.task,
        source=f"{host} {draft.session}" if draft.session else draft.host and host,
        extra=extra,
        body=draft.text,
    )


def exchange_of_draft(draft: Draft) -> list[tuple[str, str]]:
    """Return the exchange that a draft comes from as (label, words) pairs, without empty parts."""
    answer = PERSON_LABEL if _holds_persons_words(draft) else EVIDENCE_LABEL
    return [
        (who, words)
        for who, words in ((AGENT_LABEL, draft.before), (answer, draft.said))
        if words
    ]


def _holds_persons_words(draft: Draft) -> bool:
    """Return whether `draft.said` holds a person's words. A draft made from failures lists the failures there."""
    return draft.kind not in BY_AGENT and LESSON not in draft.tags
