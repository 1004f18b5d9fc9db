"""Drafts of memories from a session: statements that a person made or agreed to, failures that were
fixed, and edited instructions. A draft that somebody keeps becomes an entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
from ..text.clean import one_line
from ..text.language import statement_of
from ..text.prose import sentences, split_sentences
from .cues import (
    FILED,
    Cue,
    conditions_of_title,
    cues,
    propose_asked_condition,
    propose_conditions,
)
from .exchanges import OBJECTS, Exchange, answer_to_agent, exchanges
from .repetitions import means_same
from .turns import ASSISTANT, TOOL, Run, Turn

# Make drafts from a session's tool calls: commands that failed and later passed, and edits of
# instruction files.

INSTRUCTION_FILES = ("claude.md", "agents.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules",
                     ".clinerules", "conventions.md")  # fmt: skip
INSTRUCTION_FOLDERS = (
    ".cursor/rules/",
    ".claude/rules/",
    ".windsurf/rules/",
    ".github/instructions/",
)
FIX_SCORE, INSTRUCTION_SCORE = 1.0, 1.5
MAX_FIXES, MAX_EDITS = 2, 3  # of one session
MIN_EDIT_WORDS = 4
MAX_EDIT_CHARS = 1_500
MAX_COMMAND_CHARS, MAX_ERROR_CHARS, MAX_CAUSE_CHARS = 120, 200, 400
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


def drafts_of_fixes(turns: Sequence[Turn], session: str, run: Run) -> Iterator[Draft]:
    """Yield at most MAX_FIXES drafts: commands that failed, that the agent then explained, and that later passed."""
    failed: dict[
        str, tuple[int, str]
    ] = {}  # command → turn in which it failed first, and its error
    calls: dict[str, str] = {}  # id of a call → its command
    found = 0
    for number, turn in enumerate(turns):
        did = turn.did
        if turn.role != TOOL or did is None:
            continue
        command = " ".join((did.command or calls.get(did.id, "")).split())
        if did.id and did.command:
            calls[did.id] = did.command
        if not command or did.failed is None:
            continue
        if did.failed:
            failed.setdefault(command, (number, _error_in(turn.text)))
        elif command in failed:
            begun, error = failed.pop(command)
            said = [
                one
                for turn in turns[begun + 1 : number]
                if turn.role == ASSISTANT
                for one in sentences(turn.text)
            ]
            explained = next((one for one in reversed(said) if cues().EXPLAINS.search(one)), "")
            cause = one_line(redact(explained), MAX_CAUSE_CHARS)
            if error and cause and found < MAX_FIXES:
                found += 1
                shown = one_line(redact(command), MAX_COMMAND_CHARS)
                yield _draft(
                    FIX,
                    f"{command} {error}",
                    session,
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


def drafts_of_instructions(turns: Sequence[Turn], session: str, run: Run) -> Iterator[Draft]:
    """Yield a draft for each of the last MAX_EDITS edits of instruction files."""
    written: dict[str, tuple[str, Turn]] = {}
    for turn in turns:
        did = turn.did
        if turn.role == TOOL and did is not None and is_instruction_file(did.file):
            text = redact(did.written.strip())[:MAX_EDIT_CHARS]
            if len(text.split()) >= MIN_EDIT_WORDS:
                written[text] = (did.file.replace("\\", "/").rpartition("/")[2], turn)
    for text, (name, turn) in [*written.items()][-MAX_EDITS:]:
        lines = (line.strip(" #-*\t") for line in text.split("\n"))
        yield _draft(
            INSTRUCTION,
            text,
            session,
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
    """Tell whether a file holds instructions for agents."""
    path = file.replace("\\", "/").lower()
    return path.rpartition("/")[2] in INSTRUCTION_FILES or any(
        folder in f"/{path}" for folder in INSTRUCTION_FOLDERS
    )


def _draft(kind: str, key: str, session: str, run: Run, **told: Any) -> Draft:
    """Return a draft of a session; `key` is what makes its id."""
    return Draft(
        draft_id(session, key),
        kind,
        tags=(FILED[kind].tag,),
        session=session,
        host=run.agent,
        task=run.task,
        **told,
    )


def _error_in(output: str) -> str:
    """Return the first line of an output that contains one of ERROR_WORDS; empty if none does."""
    lines = [line.strip() for line in output.split("\n")]
    named = [line for line in lines if any(word in line.lower() for word in ERROR_WORDS)]
    return one_line(redact(named[0]), MAX_ERROR_CHARS) if named else ""


# Choose drafts: human turns that contain cues like "always", and agent statements that a person
# agreed to.
#
# The weights are set by hand. Fitted weights learned the project of the test sessions instead
# (docs/learning.md).

MIN_DRAFT_SCORE = 1.0  # that a turn needs to become a draft
MAX_DRAFTS = 6  # of one session: those with the highest scores
SHORT_WORDS, SHORT_SCORE = 6, -0.8  # a turn with fewer words says little by itself …
SHORT_RULE_WORDS = 3  # … unless it states a rule, a preference or a correction: "I prefer tabs"
LONG_WORDS, LONG_SCORE = 150, -0.6  # a longer turn is usually a task
QUESTION_SCORE = -0.5  # a turn that is half a question or more
TASK_SCORE = -0.6  # a turn that asks the agent to look at something
SILENT_SCORE = -1.0  # a turn without a rule, a preference, a decision or a correction
FIRST_SCORE = -0.3  # the first turn is usually the task of the session
OBJECTION_SCORE = 0.5  # a turn that objects to what the agent said
AGAIN, AGAIN_SCORE = "said again", 0.5  # each time that a person says the same
AGREED_SCORE = 1.0  # a statement that a person agreed to
SHORT_KINDS = (RULE, PREFERENCE, CORRECTION)
MAX_SAID_CHARS = 2_000  # of a person's words in a draft
MAX_TASK_CHARS = 120
MAX_TITLE_CHARS = 110
MIN_TITLE_WORDS = 4
MIN_CUT_CHARS = 40  # of a title that is cut before a preposition
MAX_TEXT_WORDS = 60  # of a draft: of a longer turn, only the sentences with cues are kept
MIN_PART_SCORE = 1.2  # of a sentence that can be a draft of its own
VAGUE_WORDS = 3  # specific words of a correction that needs the agent's words to be understood
UNTITLED = re.compile(r"\*\*|\(?(?:e\.g\. )?https?://\S+")  # is left out of titles
BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,2}[.)]) )|(?<=;) (?=\d\. )")
MAX_DRAFT_BEFORE_CHARS = 600  # of the agent's words in a draft: the end of them


@record
class Scored:
    """The score of a person's words, the kind of draft they make, and the cues that were found as a text."""

    score: float
    kind: str
    why: str


def choose_drafts(turns: Sequence[Turn], run: Run, least: float = MIN_DRAFT_SCORE) -> list[Draft]:
    """Return the best drafts of a session, highest score first. Drafts of spoken words score at least `least`."""
    session = run.session or next((turn.session for turn in turns if turn.session), "")
    spoken = exchanges(turns)
    if spoken and not run.task:
        run = replace(run, task=one_line(redact(spoken[0].said), MAX_TASK_CHARS))
    found = [one for one in drafts_of_exchanges(spoken, session, run) if one.score >= least]
    found += [*drafts_of_instructions(turns, session, run), *drafts_of_fixes(turns, session, run)]
    distinct: dict[str, Draft] = {}
    for draft in found:
        same = next((one for one in distinct.values() if means_same(one, draft)), None)
        distinct[(same or draft).id] = said_again(same) if same else draft
    return sorted(distinct.values(), key=lambda draft: (-draft.score, draft.at))[:MAX_DRAFTS]


def said_again(draft: Draft, *sessions: str) -> Draft:
    """Return a draft that a person said before, with a higher score; `sessions`: the other sessions, if any."""
    why = draft.why if draft.why.endswith(AGAIN) else f"{draft.why}, {AGAIN}"
    return replace(draft, score=round(draft.score + AGAIN_SCORE, 2), why=why, again=sessions)


def drafts_of_exchanges(spoken: Iterable[Exchange], session: str, run: Run) -> Iterator[Draft]:
    """Yield the drafts of each exchange, one for each of its statements, also those with a low score."""
    asked = ""  # the person's last turn that was not a correction
    for number, exchange in enumerate(spoken):
        kinds = set[str]()
        for said in statements_of(exchange.said):
            one = replace(exchange, said=said, agreed="" if kinds else exchange.agreed)
            draft = _draft_of(one, score_of(one, first=number == 0), asked, session, run)
            kinds.add(draft.kind)
            yield draft
        asked = asked if CORRECTION in kinds else exchange.said


def _draft_of(exchange: Exchange, scored: Scored, asked: str, session: str, run: Run) -> Draft:
    """Return the draft of one statement."""
    said, before = redact(exchange.said)[:MAX_SAID_CHARS].strip(), redact(exchange.before).strip()
    statement = redact(exchange.agreed) if scored.kind == AGREED else ""
    title = draft_title(statement or said)
    text = _concise(said)
    when = propose_conditions(f"{statement}\n{said}")
    if statement:
        text = f"{statement}\n\nThe person agreed: “{said}”"
    elif scored.kind == CORRECTION:
        when = (*when, *propose_asked_condition(redact(asked)))
        told = sentences(before)[-1:] if len(statement_of(said).subject) <= VAGUE_WORDS else []
        if told:
            text = f"{text}\n\nThe agent had said: “{one_line(told[0], MAX_CAUSE_CHARS)}”"
    return _draft(
        scored.kind,
        said,
        session,
        run,
        said=said,
        before=_end_of_message(before),
        title=title,
        text=text,
        when=when or conditions_of_title(title),
        score=round(scored.score, 2),
        why=scored.why,
        at=exchange.at,
    )


def _concise(said: str) -> str:
    """Return a person's words without line breaks inside sentences; of many words, only the sentences that matter."""
    blocks = [" ".join(block.split()) for block in BLOCKS.split(said)]
    told = [one for block in blocks for one in split_sentences(block)]
    if len(said.split()) <= MAX_TEXT_WORDS:
        return "\n".join(blocks)
    stating = [number for number, one in enumerate(told) if any(cue.kind for cue in _cues_in(one))]
    joined = [n - 1 for n in stating if n and cues().CONTINUES.match(told[n])]
    return " ".join(told[number] for number in sorted({*stating, *joined})) or said


def statements_of(said: str) -> list[str]:
    """Return the parts of a person's turn that each say one thing, with the sentences that belong to it.

    A sentence with strong cues starts a new part, unless it continues the part before it.
    """
    told = [one for block in BLOCKS.split(said) for one in split_sentences(" ".join(block.split()))]
    strong = [_strength(one) >= MIN_PART_SCORE for one in told]
    if sum(strong) < 2:
        return [said]
    parts: list[list[str]] = [[]]
    begun = False  # whether the last part holds a strong sentence
    for sentence, is_strong in zip(told, strong, strict=True):
        if begun and is_strong and not _continues(sentence, parts[-1][-1]):
            parts.append([])
        begun = begun or is_strong
        parts[-1].append(sentence)
    return [" ".join(part) for part in parts]


def _continues(sentence: str, before: str) -> bool:
    """Tell whether a sentence is about the same thing as the sentence before it."""
    if cues().CONTINUES.match(sentence):
        return True
    return bool(statement_of(sentence).subject & statement_of(before).subject)


def score_of(exchange: Exchange, first: bool = False) -> Scored:
    """Return the score, the kind and the reasons for what a person said in an exchange."""
    said, words = exchange.said, len(exchange.said.split())
    if cues().REQUEST.search(said):
        return Scored(9.0, REQUEST, "asks to remember it")
    answer = answer_to_agent(said) if exchange.before else ""
    hits = _cues_in(said)
    parts = [(cue.name, cue.weight) for cue in hits]
    corrects = any(cue.kind == CORRECTION for cue in hits) or answer == OBJECTS
    if answer == OBJECTS:
        parts.append(("objects to the agent", OBJECTION_SCORE))
    agreed = bool(cues().PROPOSES.search(exchange.agreed))
    if agreed:
        parts.append(("agrees with the agent", AGREED_SCORE))
    elif words < SHORT_WORDS:
        rules = words >= SHORT_RULE_WORDS and any(cue.kind in SHORT_KINDS for cue in hits)
        parts += [] if rules else [("is short", SHORT_SCORE)]
    if words > LONG_WORDS:
        parts.append(("is long", LONG_SCORE))
    asked = [one.endswith("?") for one in sentences(said)]
    if not agreed and 2 * sum(asked) >= len(asked) > 0:
        parts.append(("asks", QUESTION_SCORE))
    if cues().SHORT_ASK.search(said):
        parts.append(("asks to look", TASK_SCORE))
    if not agreed and answer != OBJECTS and not any(cue.kind for cue in hits):
        parts.append(("states nothing", SILENT_SCORE))
    if first:
        parts.append(("is the first turn", FIRST_SCORE))
    named = max((cue for cue in hits if cue.kind), key=lambda cue: cue.weight, default=None)
    kind = CORRECTION if corrects else named.kind if named else AGREED if agreed else DECISION
    why = ", ".join(name if weight > 0 else f"but {name}" for name, weight in parts)
    return Scored(sum(weight for _, weight in parts), kind, why)


def draft_title(text: str) -> str:
    """Return the clause with the strongest cues as a title, without lead-ins ("ok,", "from now on") and reasons."""
    spoken = [one for one in sentences(text) if len(one.split()) >= MIN_TITLE_WORDS] or [text]
    best = max(spoken, key=_strength)
    title = _bare(_clause(_bare(UNTITLED.sub("", " ".join(best.split())))))
    head = cues().REASONS.split(title, maxsplit=1)[0]
    title = head if len(head.split()) >= MIN_TITLE_WORDS else title
    return title[:1].upper() + title[1:]


def _bare(clause: str) -> str:
    """Return a clause without lead-ins, and without punctuation and lone brackets at its ends."""
    bare: str = cues().CHOOSING.sub("", cues().MARKERS.sub("", clause).strip()).strip(" .,:;!-–—")
    for opening, closing in ("()", "[]"):
        if bare.count(opening) != bare.count(closing):
            bare = bare.strip(opening + closing)
    return bare


def _clause(sentence: str) -> str:
    """Return the first strong clause of a sentence that is too long for a title."""
    if len(sentence) <= MAX_TITLE_CHARS:
        return sentence
    clauses = [one for one in cues().CLAUSES.split(sentence) if not cues().DEPENDS.match(one)]
    bare = [one for one in map(_bare, clauses) if not cues().DEPENDS.match(one)]
    fitting = [
        one for one in bare if len(one.split()) >= MIN_TITLE_WORDS and len(one) <= MAX_TITLE_CHARS
    ]
    if fitting:
        strong = [one for one in fitting if _strength(one) >= MIN_DRAFT_SCORE]
        return strong[0] if strong else max(fitting, key=_strength)
    words = sentence[:MAX_TITLE_CHARS].rpartition(" ")[0]
    ends = [
        found.start() for found in cues().JOINTS.finditer(words) if found.start() > MIN_CUT_CHARS
    ]
    return words[: ends[-1]] if ends else words


def _strength(clause: str) -> float:
    """Return the sum of the cues in a clause; a question counts less."""
    return sum(cue.weight for cue in _cues_in(clause)) - clause.endswith("?")


def _cues_in(text: str) -> list[Cue]:
    return [cue for cue in cues().CUES if cue.pattern.search(text)]


def _end_of_message(before: str) -> str:
    """Return the last MAX_BEFORE_CHARS of the agent's words, cut at a space, with an ellipsis for the rest."""
    if len(before) <= MAX_DRAFT_BEFORE_CHARS:
        return before
    cut = before[-MAX_DRAFT_BEFORE_CHARS:]
    return f"…{cut.partition(' ')[2] or cut}"


# Turn a draft that somebody keeps into the entry of a memory.

LEARNED_TAG = "learned"  # tag of memories that were found in a session
QUOTE_KEY = "quote"  # key of a memory that holds the person's words
BY_PERSON = (
    CORRECTION,
    RULE,
    PREFERENCE,
    DECISION,
    REQUEST,
    AGREED,
    FOUND,
)  # kinds in which a person speaks
MAX_QUOTE_CHARS = 600
AGENT_LABEL, PERSON_LABEL, EVIDENCE_LABEL = (
    "agent",
    "person",
    "evidence",
)  # labels of the parts of an exchange


def entry_of_draft(draft: Draft) -> Entry:
    """Return a draft as an entry with its text, its source, and the person's words as a quote."""
    filed = FILED.get(draft.kind, FILED[DECISION])
    extra: dict[str, Value] = {"type": filed.type, "category": filed.category}
    if _holds_persons_words(draft):
        extra[QUOTE_KEY] = one_line(draft.said, MAX_QUOTE_CHARS)
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
        (who, words) for who, words in ((AGENT_LABEL, draft.before), (answer, draft.said)) if words
    ]


def _holds_persons_words(draft: Draft) -> bool:
    """Tell whether `draft.said` holds a person's words. A draft made from failures lists the failures there."""
    return draft.kind in BY_PERSON and LESSON not in draft.tags


def entry_of_request(draft: Draft) -> Entry:
    """Return the entry for what a person asked to remember, without words like "Remember that"."""
    asked = cues().REQUEST.search(draft.said)
    text = asked[1].strip() if asked else draft.said
    return replace(entry_of_draft(draft), body=text)
