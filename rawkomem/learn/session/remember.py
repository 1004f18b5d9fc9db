"""Makes an Entry of a moment: a title, conditions, and where it comes from. Nothing is written here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...model.clock import now
from ...model.entry import Entry
from ...model.record import record
from ...text.clean import one_line
from .cues import KINDS, cues
from .propose import propose

if TYPE_CHECKING:
    from ...model.entry import Value
    from .moments import Moment

TITLE_LENGTH = 90  # characters
MIN_TITLE_WORDS = 4  # of a title: a shorter one is no subject
LEARNED = "learned"  # a tag: nobody wrote this by hand
RESULTS = ("success", "failure", "partial")
ASIDES = re.compile(r"; | - | – ")  # of a fault, its cause is the news


@record
class Run:
    """The run that a transcript or an output is of."""

    agent: str = ""
    task: str = ""
    result: str = ""  # one of RESULTS, or unknown
    error: str = ""
    source: str = ""  # which session of which host


def entry_of(moment: Moment, run: Run) -> Entry:
    """Return the memory that a moment becomes."""
    kind = KINDS[moment.kind]
    confidence, turn = str(round(100 * moment.score)), moment.turn
    extra: dict[str, Value] = {"type": kind.type, "category": kind.category, "confidence": confidence}
    if turn and turn.role:
        extra["saidBy"] = turn.role
    return Entry(
        title=title_of(moment.text, moment.kind),
        when=propose(moment.text),
        tags=(kind.tag, LEARNED),
        importance=kind.importance,
        at=turn.at if turn and 0 < turn.at <= now() else now(),
        by=run.agent,
        found_in=run.task,
        source=run.source,
        extra=extra,
        body=body_of(moment, run),
    )


def title_of(text: str, kind: str = "") -> str:
    """Return a sentence as a title: without what announces it, as far as its reasons."""
    text = one_line(text, 2 * len(text) + 1)
    bare = cues().CHOOSING.sub("", cues().MARKERS.sub("", text)).strip()
    head = (ASIDES if kind == "fix" else cues().REASONS).split(bare, maxsplit=1)[0].rstrip(".,:;! ")
    title = head if len(head.split()) >= MIN_TITLE_WORDS else bare.rstrip(".,:;! ")
    return one_line(title[:1].upper() + title[1:], TITLE_LENGTH)


def body_of(moment: Moment, run: Run) -> str:
    """Return what was said, what it answered, and how the run ended where that went wrong."""
    parts = [moment.text]
    if moment.before:
        parts.append(f"Said after: “{moment.before}”")
    if run.error and moment.kind == "fix":
        parts.append(f"The run ended in {run.result or 'failure'}: {one_line(run.error, 300)}")
    return "\n\n".join(parts)
