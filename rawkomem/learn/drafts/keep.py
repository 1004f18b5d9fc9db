"""Turn a draft that somebody keeps into the entry of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.clock import now
from ...model.draft import AGREED, CORRECTION, DECISION, FOUND, LESSON, PREFERENCE, REQUEST, RULE
from ...model.entry import Entry
from ...model.record import replace
from ...text.clean import one_line
from .cues import FILED, cues

if TYPE_CHECKING:
    from ...model.draft import Draft
    from ...model.entry import Value

LEARNED = "learned"  # tag of memories that were found in a session
QUOTE = "quote"  # key of a memory that holds the person's words
BY_PERSON = (CORRECTION, RULE, PREFERENCE, DECISION, REQUEST, AGREED, FOUND)  # kinds in which a person speaks
MAX_QUOTE_CHARS = 600
AGENT, PERSON, EVIDENCE = "agent", "person", "evidence"  # labels of the parts of an exchange


def entry_of(draft: Draft) -> Entry:
    """Return a draft as an entry with its text, its source, and the person's words as a quote."""
    filed = FILED.get(draft.kind, FILED[DECISION])
    extra: dict[str, Value] = {"type": filed.type, "category": filed.category}
    if _is_said(draft):
        extra[QUOTE] = one_line(draft.said, MAX_QUOTE_CHARS)
    return Entry(
        title=draft.title,
        when=draft.when,
        tags=tuple(dict.fromkeys((*(draft.tags or (filed.tag,)), LEARNED))),
        importance=filed.importance,
        at=draft.at if 0 < draft.at <= now() else now(),
        by=draft.host,
        found_in=draft.task,
        source=source_of(draft),
        extra=extra,
        body=draft.text,
    )


def exchange_of(draft: Draft) -> list[tuple[str, str]]:
    """Return the exchange that a draft comes from as (label, words) pairs, without empty parts."""
    answer = PERSON if _is_said(draft) else EVIDENCE
    return [(who, words) for who, words in ((AGENT, draft.before), (answer, draft.said)) if words]


def _is_said(draft: Draft) -> bool:
    """Tell whether `draft.said` holds a person's words. A draft made from failures lists the failures there."""
    return draft.kind in BY_PERSON and LESSON not in draft.tags


def source_of(draft: Draft) -> str:
    """Return the host and the session that a draft comes from, as a text."""
    host = f"{draft.host} session" if draft.host else "session"
    return f"{host} {draft.session}" if draft.session else draft.host and host


def requested(draft: Draft) -> Entry:
    """Return the entry for what a person asked to remember, without words like "Remember that"."""
    asked = cues().REQUEST.search(draft.said)
    text = asked[1].strip() if asked else draft.said
    return replace(entry_of(draft), body=text)
