"""Store a memory that an agent words after a person said it in the session; a quote of the person is the proof."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...files.local.drafts import KEPT
from ...files.local.said import LIVE_MS, said_lately
from ...files.local.told import told_to
from ...files.local.transcripts import open_transcript, transcript_of_mark, transcripts
from ...learn.drafts.choose import MAX_BEFORE_CHARS
from ...learn.drafts.keep import LEARNED, QUOTE
from ...learn.drafts.known import Known
from ...learn.drafts.planted import planted_in
from ...learn.drafts.quote import agreed_quote, find_quote, is_about, is_said
from ...learn.drafts.ties import contradicted, inherited
from ...learn.session.transcript import Transcript
from ...learn.session.turns import USER, Turn
from ...model.clock import now
from ...model.draft import AGREED
from ...model.errors import RawkoError, Refused
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ...redaction.find import redact
from ...text.clean import one_line
from ..lazy import Wing
from .drafts import SAID

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...model.entry import Entry, Memory
    from ..writing import Stored

MAX_QUOTE_CHARS = 600
NEAR_MEMORIES = 8  # existing memories that a new one is compared with
AGENT = "agent"  # origin of a memory that an agent writes
CONFIRMED, STORED, PROPOSED = "confirmed", "stored", "proposed"


@record
class Remembered:
    """The result of `remember`: stored; proposed, because it contradicts others; or a known memory confirmed."""

    what: str
    id: str
    others: tuple[str, ...] = ()  # memories that it contradicts
    stored: Stored | None = None


class Remembering(Wing):
    """Checks quotes, and stores memories that are based on them."""

    def remember(self, entry: Entry, quote: str, by: str = "") -> Remembered:
        """Store a memory based on a person's words; raise Refused if no person typed or agreed to the quote."""
        self.check_quote(quote)
        if not is_about(quote, f"{entry.title}\n{entry.body}"):
            hint = "quote the sentence itself (not “yes”, but the question before it), and use its words in the text"
            raise Refused(f"the memory does not match the quote “{one_line(quote, 80)}”", hint)
        quote = one_line(redact(quote), MAX_QUOTE_CHARS)
        tags = tuple(dict.fromkeys((*entry.tags, LEARNED)))
        entry = replace(entry, tags=tags, extra={**entry.extra, QUOTE: quote})
        against = contradicted(entry, self._candidates(f"{entry.title}\n{entry.body}"))
        same = "" if against else Known(self._core.reading.all(), self._near)(entry)
        if same:
            self._repo.beliefs.reinforce(same, f"a person said: {quote}", by)
            self._decide_drafts(quote)
            return Remembered(CONFIRMED, same)
        stored = self._repo.add(replace(entry, when=inherited(entry.when, against)), via=SAID)
        for old in against:
            self._repo.beliefs.supersede(old.id, stored.id, f"a person said: {quote}", by, anyway=True)
        self._decide_drafts(quote)
        return Remembered(PROPOSED if against else STORED, stored.id, tuple(old.id for old in against), stored)

    def keep_draft(self, name: str, by: str, **changes: Any) -> Stored:
        """Keep a draft for an agent. It counts as said by a person if its quote is found, else as the agent's."""
        draft = self._repo.drafts.get(name)
        proof = _last_words(draft.before) if draft.kind == AGREED else draft.said
        text = f"{changes.get('title') or draft.title}\n{changes.get('text') or draft.text}"
        try:
            self.check_quote(proof)
            via = SAID if is_about(proof, text) else AGENT
        except Refused:
            via = AGENT
        return self._repo.drafts.keep(name, by=by, via=via, **changes)

    def check_quote(self, quote: str) -> None:
        """Raise Refused unless a person typed the quote, or agreed to it, in a recent session."""
        for one in said_lately(self._core.layout):
            typed = Turn(USER, one.text, one.at)
            if find_quote(quote, [typed]) and find_quote(quote, [*self._turns_of(one.session), typed]):
                return
        for turns in self._sessions():
            if find_quote(quote, turns) or agreed_quote(quote, turns):
                return
        hint = (
            "quote whole sentences exactly as the person typed them, at least three words, with “not” and “never”; "
            "pasted text does not count"
        )
        raise Refused(f"no person said “{one_line(quote, 80)}” in this session", hint)

    def refuse_planted(self, entry: Entry) -> None:
        """Raise Refused if a memory repeats an instruction ("remember that …") from a tool's output or pasted text."""
        for turns in self._sessions():
            if planted_in(f"{entry.title}\n{entry.body}", turns):
                hint = "if the person wants it, store it with their own words as the quote"
                raise Refused("the memory repeats an instruction from a tool's output or from pasted text", hint)

    def candidates(self, session: str, text: str) -> list[Memory]:
        """Return the active memories that a text may be about: those shown to the session, then the most similar."""
        shown = [key.partition("@")[0] for key in sorted(told_to(self._core.layout, session).keys)]
        return self._candidates(text, shown)

    def _candidates(self, text: str, shown: Iterable[str] = ()) -> list[Memory]:
        near = [item.row.id for item in self._core.look([text], NEAR_MEMORIES, Filter(statuses=(ACTIVE,)))[0].found]
        ids = [id for id in dict.fromkeys((*shown, *near)) if self._core.holds(id)]
        return [memory for memory in self._repo.get_many(ids) if memory.status == ACTIVE]

    def _sessions(self) -> Iterable[tuple[Turn, ...]]:
        """Yield the turns of each session with a recent transcript; empty if it cannot be read."""
        return map(_turns_in, transcripts(self._core.layout))

    def _turns_of(self, mark: str) -> tuple[Turn, ...]:
        """Return the turns of the session with this checksum; empty if its transcript cannot be read."""
        return _turns_in(transcript_of_mark(self._core.layout, mark))

    def _decide_drafts(self, quote: str) -> None:
        """Mark the drafts that contain the quote as kept."""
        for draft in self._repo.drafts.all():
            if is_said(quote, draft.said) or is_said(draft.said, quote):
                self._repo.drafts.store.decide(draft, KEPT)

    def _near(self, text: str) -> Sequence[tuple[Memory, float]]:
        found = self._core.look([text], NEAR_MEMORIES, Filter())[0].found
        return [(self._repo.get(item.row.id), item.relevance) for item in found]


def _turns_in(file: str) -> tuple[Turn, ...]:
    """Return the turns of a recent transcript; empty if it is old or cannot be read."""
    try:
        if os.path.isfile(file) and now() - os.stat(file).st_mtime * 1000 < LIVE_MS:
            with open_transcript(file) as stream:
                return tuple(Transcript(stream).turns())
    except (OSError, RawkoError):
        pass
    return ()


def _last_words(before: str) -> str:
    """Return an agent's words, without the first word if it may be cut."""
    return before.partition(" ")[2] if len(before) >= MAX_BEFORE_CHARS - 1 else before
