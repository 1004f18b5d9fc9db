"""Choose drafts: human turns that contain cues like "always", and agent statements that a person agreed to.

The weights are set by hand. Fitted weights learned the project of the test sessions instead (docs/learning.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...files.local.drafts import draft_id
from ...model.draft import AGREED, CORRECTION, DECISION, PREFERENCE, REQUEST, RULE, Draft
from ...model.record import record, replace
from ...redaction.find import redact
from ...text.clean import one_line
from ...text.prose import sentences
from .agreement import AGREES, OBJECTS, answer_of, statement_of
from .cues import FILED, cues
from .exchange import exchanges
from .propose import propose, propose_asked
from .work import fixes, instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..session.run import Run
    from ..session.turns import Turn
    from .exchange import Exchange

MIN_SCORE = 0.9  # that a turn needs to become a draft
MAX_DRAFTS = 6  # of one session: those with the highest scores
SHORT_WORDS, SHORT_SCORE = 6, -0.8  # a turn with fewer words says little by itself …
SHORT_RULE_WORDS, SHORT_RULE_SCORE = 3, -0.1  # … unless it states a rule, a preference or a correction: "I prefer tabs"
LONG_WORDS, LONG_SCORE = 150, -0.6  # a longer turn is usually a task
QUESTION_WORDS, QUESTION_SCORE = 15, -0.5  # a short question states nothing, unless it corrects the agent
TASK_SCORE = -0.6  # a turn that asks the agent to look at something
FIRST_SCORE = -0.4  # the first turn is usually the task of the session
OBJECTION_SCORE = 0.5  # a turn that objects to what the agent said
AGREED_SCORE = 1.0  # a statement that a person agreed to
SHORT_KINDS = (RULE, PREFERENCE, CORRECTION)
MAX_SAID_CHARS = 2_000  # of a person's words in a draft
MAX_TASK_CHARS = 120
MAX_TITLE_CHARS = 90
MIN_TITLE_WORDS = 4
MAX_BEFORE_CHARS = 600  # of the agent's words in a draft: the end of them


@record
class Scored:
    """The score of a person's words, the kind of draft they make, and the cues that were found as a text."""

    score: float
    kind: str
    why: str


def choose(turns: Sequence[Turn], run: Run, least: float = MIN_SCORE, most: int = MAX_DRAFTS) -> list[Draft]:
    """Return at most `most` drafts of a session, highest score first. Drafts of spoken words score at least `least`."""
    session = run.session or next((turn.session for turn in turns if turn.session), "")
    spoken = exchanges(turns)
    run = run if run.task or not spoken else replace(run, task=one_line(redact(spoken[0].said), MAX_TASK_CHARS))
    said = (draft for draft in drafts_of(spoken, session, run) if draft.score >= least)
    found = {draft.id: draft for draft in (*said, *instructions(turns, session, run), *fixes(turns, session, run))}
    return sorted(found.values(), key=lambda draft: (-draft.score, draft.at))[:most]


def drafts_of(spoken: Iterable[Exchange], session: str, run: Run) -> Iterable[Draft]:
    """Yield a draft for each exchange, also for those with a low score."""
    asked = ""  # the person's last turn that was not a correction
    for number, exchange in enumerate(spoken):
        said = redact(exchange.said)[:MAX_SAID_CHARS].strip()
        scored = score_of(exchange, first=number == 0)
        statement = redact(statement_of(exchange.before)) if scored.kind == AGREED else ""
        when = propose(f"{statement}\n{said}" if statement else said)
        if scored.kind == CORRECTION:
            when = (*when, *propose_asked(redact(asked)))
        else:
            asked = exchange.said
        yield Draft(
            id=draft_id(session, said),
            kind=scored.kind,
            said=said,
            before=_end_of(redact(exchange.before).strip()),
            title=title_of(statement or said),
            text=f"{statement}\n\nThe person agreed: “{said}”" if statement else said,
            when=when,
            tags=(FILED[scored.kind].tag,),
            score=round(scored.score, 2),
            why=scored.why,
            session=session,
            host=run.agent,
            task=run.task,
            at=exchange.at,
        )


def score_of(exchange: Exchange, first: bool = False) -> Scored:
    """Return the score, the kind and the reasons for what a person said in an exchange."""
    said, words = exchange.said, len(exchange.said.split())
    if cues().REQUEST.search(said):
        return Scored(9.0, REQUEST, "asks to remember it")
    answer = answer_of(said) if exchange.before else ""
    hits = [cue for cue in cues().CUES if cue.pattern.search(said)]
    parts = [(cue.name, cue.weight) for cue in hits]
    corrects = any(cue.kind == CORRECTION for cue in hits) or answer == OBJECTS
    if answer == OBJECTS:
        parts.append(("objects to the agent", OBJECTION_SCORE))
    agreed = answer == AGREES and bool(statement_of(exchange.before))
    if agreed:
        parts.append(("agrees with the agent", AGREED_SCORE))
    elif words < SHORT_WORDS:
        rules = words >= SHORT_RULE_WORDS and any(cue.kind in SHORT_KINDS for cue in hits)
        parts.append(("is short", SHORT_RULE_SCORE if rules else SHORT_SCORE))
    if words > LONG_WORDS:
        parts.append(("is long", LONG_SCORE))
    if said.endswith("?") and words < QUESTION_WORDS and not corrects:
        parts.append(("is a question", QUESTION_SCORE))
    if cues().SHORT_ASK.search(said):
        parts.append(("asks to look", TASK_SCORE))
    if first:
        parts.append(("is the first turn", FIRST_SCORE))
    named = max((cue for cue in hits if cue.kind), key=lambda cue: cue.weight, default=None)
    kind = CORRECTION if corrects else named.kind if named else AGREED if agreed else DECISION
    why = ", ".join(name if weight > 0 else f"but {name}" for name, weight in parts)
    return Scored(sum(weight for _, weight in parts), kind, why)


def title_of(text: str) -> str:
    """Return the sentence with the strongest cues as a title, without lead-ins ("ok,", "from now on") and reasons."""
    spoken = [one for one in sentences(text) if len(one.split()) >= MIN_TITLE_WORDS] or [text]
    best = max(spoken, key=lambda one: sum(cue.weight for cue in cues().CUES if cue.pattern.search(one)))
    bare = cues().CHOOSING.sub("", cues().MARKERS.sub("", one_line(best, 2 * len(best) + 1)).strip())
    head = cues().REASONS.split(bare, maxsplit=1)[0]
    title = (head if len(head.split()) >= MIN_TITLE_WORDS else bare).rstrip(".,:;! ")
    return one_line(title[:1].upper() + title[1:], MAX_TITLE_CHARS)


def _end_of(before: str) -> str:
    """Return the last MAX_BEFORE_CHARS of the agent's words, cut at a space, with an ellipsis for the rest."""
    if len(before) <= MAX_BEFORE_CHARS:
        return before
    cut = before[-MAX_BEFORE_CHARS:]
    return f"…{cut.partition(' ')[2] or cut}"
