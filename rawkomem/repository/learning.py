"""Learn from sessions: drafts that wait for a decision, statements and requests in transcripts, and
memories that a quote of a person proves.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

from ..files.machine_records import (
    LIVE_MS,
    LearnedParts,
    known_transcripts,
    open_transcript,
    recent_prompts,
    transcript_of_mark,
)
from ..files.private import lock
from ..files.session_records import DROPPED, KEPT, checksum, told_to
from ..files.session_records import Drafts as Store
from ..learn.drafts import (
    LEARNED_TAG,
    MIN_DRAFT_SCORE,
    QUOTE_KEY,
    choose_drafts,
    entry_of_draft,
    entry_of_request,
    said_again,
)
from ..learn.exchanges import (
    agreed_quote,
    find_quote,
    is_about_quote,
    is_quoted,
    is_said_in,
    planted_in,
)
from ..learn.extraction import (
    FAILED_CHUNKS,
    KNOWN_ALREADY,
    MAX_EXISTING,
    Chunk,
    DraftFinder,
    chunks_of,
    first_ask,
)
from ..learn.lessons import lesson_of_draft
from ..learn.llm import Llm, LlmFailure
from ..learn.llm_answers import required_llm
from ..learn.repetitions import (
    KnownTexts,
    contradicted_memories,
    cosine_of,
    inherited_conditions,
    is_repeated,
    is_said_again,
    means_same,
    tied_draft,
)
from ..learn.transcripts import Heard, Transcript, read_session, transcripts_in
from ..learn.turns import USER, Run, Turn
from ..model.entries import AGREED, LESSON, REQUEST, Draft, Entry, Memory
from ..model.errors import BadInput, RawkoError, Refused
from ..model.filters import Filter
from ..model.values import ACTIVE, now, record, replace
from ..redaction.find import redact
from ..text.chunks import counted
from ..text.clean import one_line
from ..text.conditions import why_unusable
from . import Repository
from .core import Wing
from .writing import Stored

Progress = Callable[["Step"], None]


# Drafts: proposed memories from sessions. They wait on this machine until somebody keeps or drops
# them.

SAID = "said"  # origin of a memory that a person said in a session


@record
class Taken:
    """The result of `take`."""

    new: tuple[Draft, ...] = ()
    known: tuple[
        Draft, ...
    ] = ()  # already waiting or decided, or the same text as in another session
    stored: tuple[
        tuple[Draft, Stored], ...
    ] = ()  # stored, because a person said the same in another session


class Drafts(Wing):
    """Lists and decides drafts."""

    def __init__(self, repository: Repository):
        super().__init__(repository)
        self.store = Store(repository.layout)

    def all(self) -> list[Draft]:
        """Return the waiting drafts, latest first."""
        return self.store.all()

    def get(self, name: str) -> Draft:
        """Return a draft by its id or an unambiguous beginning of it."""
        return self.store.get(name)

    def take(self, drafts: Sequence[Draft], dry_run: bool = False, heard: bool = True) -> Taken:
        """Store new drafts. A draft that a person also said in another session becomes a memory.

        Pass `heard=False` if it is not certain that a person said it: an agent or a repository can forge a transcript.
        """
        waiting, decided = self.all(), self.store.decided()
        there = {draft.id for draft in waiting} | decided
        others = [draft for draft in drafts if draft.id not in there]
        new = [draft for draft in others if not any(is_repeated(draft, one) for one in waiting)]
        if dry_run:
            return Taken(tuple(new), tuple(draft for draft in drafts if draft not in new))
        self.store.expire()
        spoken = [
            draft for draft in new if heard and not draft.model
        ]  # a draft that a model worded waits for a person
        pairs = [(draft, earlier) for draft in spoken if (earlier := self._earlier(draft, waiting))]
        again = {draft.id for draft, _ in pairs}
        fresh = tuple(_raised(draft, waiting) for draft in new if draft.id not in again)
        self.store.put(fresh)
        stored = tuple((draft, self._store_again(draft, earlier)) for draft, earlier in pairs)
        return Taken(fresh, tuple(draft for draft in drafts if draft not in new), stored)

    def keep(
        self,
        name: str,
        title: str = "",
        text: str = "",
        when: Sequence[str] | None = None,
        by: str = "",
        via: str = "",
    ) -> Stored:
        """Store a draft as a memory or a lesson, and supersede the memories that it corrects.

        A title, text or conditions that you pass replace the draft's.
        """
        draft = self.get(name)
        if title or text or when is not None:
            draft = self.edit(name, title, text, when)
        by = by or draft.host
        made = (
            lesson_of_draft(draft, by)
            if LESSON in draft.tags
            else replace(entry_of_draft(draft), by=by)
        )
        with self._core.writer.as_one_change():
            stored = self._repo.add(made, via=via)
            for old in draft.corrects:
                if self._core.holds(old) and old != stored.id:
                    self._repo.beliefs.supersede(
                        old, stored.id, one_line(draft.said, 200), by, anyway=True
                    )
        self.store.decide(draft, KEPT, stored.written[0].entry.id)
        return stored

    def edit(
        self, name: str, title: str = "", text: str = "", when: Sequence[str] | None = None
    ) -> Draft:
        """Change the memory that a draft proposes, but not its exchange. An empty `when` removes the conditions."""
        draft = self.changed(name, title, text, when)
        if draft != self.get(name):
            self.store.put([draft])
        return draft

    def changed(
        self, name: str, title: str = "", text: str = "", when: Sequence[str] | None = None
    ) -> Draft:
        """Return the draft that `edit` would store; write nothing."""
        old = self.get(name)
        if not (title or text) and when is None:
            raise BadInput("nothing to change", "pass a title, a text or conditions")
        for condition in when or ():
            note = why_unusable(condition)
            if note:
                raise BadInput(
                    f"whenToUse {one_line(condition, 80)!r} {note.text}: nothing was changed",
                    note.hint,
                )
        conditions = old.when if when is None else tuple(when)
        return replace(old, title=title or old.title, text=text or old.text, when=conditions)

    def drop(self, name: str) -> Draft:
        """Drop a draft for good: the same words of the same session make no new draft."""
        draft = self.get(name)
        self.store.decide(draft, DROPPED)
        return draft

    def _earlier(self, draft: Draft, waiting: Sequence[Draft]) -> Draft | None:
        """Return a waiting draft from another session in which a person said the same."""
        others = [one for one in waiting if one.session != draft.session]
        if not others:
            return None
        own, *rest = self._core.index.embedder.embed([draft.said, *(one.said for one in others)])
        return next(
            (
                one
                for one, v in zip(others, rest, strict=True)
                if is_said_again(draft, one, cosine_of(own, v))
            ),
            None,
        )

    def _store_again(self, draft: Draft, earlier: Draft) -> Stored:
        """Store a draft that was said twice, in the new words, because an agent may have edited the earlier draft."""
        sessions = tuple(dict.fromkeys((*earlier.again, earlier.session, draft.session)))
        stored = self._repo.add(entry_of_draft(replace(draft, again=sessions)), via=SAID)
        for one in (earlier, draft):
            self.store.decide(one, KEPT, stored.written[0].entry.id)
        return stored


def _raised(draft: Draft, waiting: Sequence[Draft]) -> Draft:
    """Return a draft with a higher score if a waiting draft of another session says the same."""
    others = [one for one in waiting if one.session != draft.session and means_same(one, draft)]
    sessions = dict.fromkeys(session for one in others for session in (*one.again, one.session))
    return said_again(draft, *sessions) if others else draft


# Learn from a session's transcript. Statements that a person made or agreed to become drafts;
# requests of a person to remember something become memories.

VIA_AGENT = "agent"  # origin of a memory that an agent writes
NEAR_DRAFT = 5  # existing memories that a new one is compared with


@record
class Learned:
    """The result of learning from a session."""

    heard: Heard
    drafts: tuple[Draft, ...] = ()  # new drafts
    waiting: tuple[Draft, ...] = ()  # drafts that were already waiting or decided
    known: tuple[tuple[Draft, str], ...] = ()  # drafts that a memory already says, with its id
    requests: tuple[Draft, ...] = ()  # drafts that a person asked to remember
    stored: tuple[Stored, ...] = ()  # the result for each request; empty for a dry run
    again: tuple[
        tuple[Draft, Stored], ...
    ] = ()  # drafts stored because a person said them in another session, too


class Learning(Wing):
    """Learns from the transcripts of sessions."""

    def learn(
        self,
        said: str | IO[bytes],
        run: Run | None = None,
        dry_run: bool = False,
        agent: str = "",
        task: str = "",
        least: float = MIN_DRAFT_SCORE,
        by_host: bool = False,
    ) -> Learned:
        """Learn from a session's transcript, a text or a stream; `dry_run` writes nothing.

        Without a `run`, `agent` and `task` describe the session. `least` is the minimum score of a draft. If an agent
        passes the transcript, requests in it count as written by the agent, unless the host wrote it (`by_host`).
        """
        stream = io.BytesIO(said.encode("utf-8", "replace")) if isinstance(said, str) else said
        heard = read_session(stream, run or Run(agent, task))
        found = choose_drafts(heard.turns, heard.run, least)
        return self.take(heard, found, dry_run, by_host)

    def take(
        self, heard: Heard, found: Sequence[Draft], dry_run: bool = False, by_host: bool = False
    ) -> Learned:
        """Store the drafts found in a session: requests as memories, the others as drafts."""
        if dry_run:
            return self._compare(heard, found, dry_run, False)
        via = SAID if by_host or self._core.via != VIA_AGENT else VIA_AGENT
        with lock(self._core.layout, "learn"):
            learned = self._compare(heard, found, dry_run, via == SAID)
            stored = self._repo.add_many(
                [entry_of_request(draft) for draft in learned.requests], via=via
            )
        return replace(learned, stored=tuple(stored))

    def _compare(
        self, heard: Heard, found: Sequence[Draft], dry_run: bool, is_said: bool
    ) -> Learned:
        """Split the findings into known memories, requests and drafts; store the drafts unless `dry_run`."""
        near = self._repo.remembering.candidates
        found = [
            tied_draft(
                draft, entry_of_draft(draft), near(draft.session, f"{draft.title}\n{draft.text}")
            )
            for draft in found
        ]
        known = KnownTexts(
            self._core.all(), lambda text: self._core.near(text, NEAR_DRAFT, Filter())
        )
        compared = [
            (
                draft,
                known(entry_of_request(draft) if draft.kind == REQUEST else entry_of_draft(draft)),
            )
            for draft in found
        ]
        news = [draft for draft, same in compared if not same]
        taken = self._repo.drafts.take(
            [draft for draft in news if draft.kind != REQUEST], dry_run, is_said
        )
        asked = tuple(draft for draft in news if draft.kind == REQUEST)
        known_already = tuple(pair for pair in compared if pair[1])
        return Learned(heard, taken.new, taken.known, known_already, asked, again=taken.stored)


# Store a memory that an agent words after a person said it in the session; a quote of the person
# is the proof.

MAX_QUOTE_CHARS = 600
NEAR_QUOTE = 8  # existing memories that a new one is compared with
BY_AGENT = "agent"  # origin of a memory that an agent writes
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
        if not is_about_quote(quote, f"{entry.title}\n{entry.body}"):
            hint = "quote the sentence itself (not “yes”, but the question before it), and use its words in the text"
            raise Refused(f"the memory does not match the quote “{one_line(quote, 80)}”", hint)
        quote = one_line(redact(quote), MAX_QUOTE_CHARS)
        tags = tuple(dict.fromkeys((*entry.tags, LEARNED_TAG)))
        entry = replace(entry, tags=tags, extra={**entry.extra, QUOTE_KEY: quote})
        against = contradicted_memories(entry, self._candidates(f"{entry.title}\n{entry.body}"))
        same = (
            ""
            if against
            else KnownTexts(
                self._core.all(), lambda text: self._core.near(text, NEAR_QUOTE, Filter())
            )(entry)
        )
        if same:
            self._repo.beliefs.reinforce(same, f"a person said: {quote}", by)
            self._decide_drafts(quote)
            return Remembered(CONFIRMED, same)
        stored = self._repo.add(
            replace(entry, when=inherited_conditions(entry.when, against)), via=SAID
        )
        for old in against:
            self._repo.beliefs.supersede(
                old.id, stored.id, f"a person said: {quote}", by, anyway=True
            )
        self._decide_drafts(quote)
        return Remembered(
            PROPOSED if against else STORED, stored.id, tuple(old.id for old in against), stored
        )

    def keep_draft(self, name: str, by: str, **changes: Any) -> Stored:
        """Keep a draft for an agent. It counts as said by a person if its quote is found, else as the agent's."""
        draft = self._repo.drafts.get(name)
        proof = draft.said
        if draft.kind == AGREED:
            proof = draft.before if draft.model else draft.text.partition("\n\n")[0]
        text = f"{changes.get('title') or draft.title}\n{changes.get('text') or draft.text}"
        try:
            self.check_quote(proof)
            via = SAID if is_about_quote(proof, text) else BY_AGENT
        except Refused:
            via = BY_AGENT
        return self._repo.drafts.keep(name, by=by, via=via, **changes)

    def check_quote(self, quote: str) -> None:
        """Raise Refused unless a person typed the quote, or agreed to it, in a recent session."""
        for one in recent_prompts(self._core.layout):
            typed = Turn(USER, one.text, one.at)
            if find_quote(quote, [typed]) and find_quote(
                quote,
                [*_turns_in(transcript_of_mark(self._core.layout, one.session)), typed],
            ):
                return
        for turns in map(_turns_in, known_transcripts(self._core.layout)):
            if find_quote(quote, turns) or agreed_quote(quote, turns):
                return
        hint = (
            "quote whole sentences exactly as the person typed them, at least three words, with “not” and “never”; "
            "pasted text does not count"
        )
        raise Refused(f"no person said “{one_line(quote, 80)}” in this session", hint)

    def refuse_planted(self, entry: Entry) -> None:
        """Raise Refused if a memory repeats an instruction ("remember that …") from a tool's output or pasted text."""
        for turns in map(_turns_in, known_transcripts(self._core.layout)):
            if planted_in(f"{entry.title}\n{entry.body}", turns):
                hint = "if the person wants it, store it with their own words as the quote"
                raise Refused(
                    "the memory repeats an instruction from a tool's output or from pasted text",
                    hint,
                )

    def candidates(self, session: str, text: str) -> list[Memory]:
        """Return the active memories that a text may be about: those shown to the session, then the most similar."""
        shown = [key.partition("@")[0] for key in sorted(told_to(self._core.layout, session).keys)]
        return self._candidates(text, shown)

    def _candidates(self, text: str, shown: Iterable[str] = ()) -> list[Memory]:
        near = [
            item.row.id
            for item in self._core.look([text], NEAR_QUOTE, Filter(statuses=(ACTIVE,)))[0].found
        ]
        ids = [id for id in dict.fromkeys((*shown, *near)) if self._core.holds(id)]
        return [memory for memory in self._repo.get_many(ids) if memory.status == ACTIVE]

    def _decide_drafts(self, quote: str) -> None:
        """Mark the drafts that contain the quote as kept."""
        for draft in self._repo.drafts.all():
            if is_said_in(quote, draft.said) or is_said_in(draft.said, quote):
                self._repo.drafts.store.decide(draft, KEPT)


def _turns_in(file: str) -> tuple[Turn, ...]:
    """Return the turns of a recent transcript; empty if it is old or cannot be read."""
    try:
        if os.path.isfile(file) and now() - os.stat(file).st_mtime * 1000 < LIVE_MS:
            with open_transcript(file) as stream:
                return tuple(Transcript(stream).turns())
    except (OSError, RawkoError):
        pass
    return ()


# Learn from old transcripts, in files and folders, oldest first. The next run continues after an
# interrupted one.
#
# A part of a transcript is done when its drafts are stored. The next run retries parts that
# failed.

STANDARD_INPUT = "-"
MAX_FAILURES = 3  # failed answers of the model in a row, after which it is not asked again
READ, UNREAD, BEFORE, SILENT = (
    "files read",
    "files that cannot be read",
    "files done before",
    "files without a person",
)


@record
class Step:
    """The progress of a run, after a file or after a part of a file."""

    file: int
    files: int
    name: str
    part: int = 0
    parts: int = 0
    drafts: int = 0  # so far
    failure: str = ""


@record
class Gone:
    """The result of a run over transcripts."""

    drafts: tuple[Draft, ...]
    counts: dict[str, int]  # of files, and of the model's answers by kind
    model: str = ""
    stopped: str = ""  # why the model did not read all sessions


class Transcripts(Wing):
    """Learns from transcripts of the past."""

    def learn(
        self,
        paths: Sequence[str],
        run: Run | None = None,
        ask: bool = False,
        again: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Gone:
        """Make drafts from the sessions in files and folders, oldest first; skip files that were done before.

        With `ask`, the configured language model finds the drafts. `again` starts over; `dry_run` writes nothing.
        """
        files = transcripts_in(paths)
        walk = self._walk(ask, run, again, dry_run)
        if again and not dry_run:
            walk.done.forget(files)
        for number, path in enumerate(files, 1):
            walk.visit(path, Step(number, len(files), path), progress or (lambda _: None))
        return walk.gone()

    def learn_stream(
        self,
        stream: IO[bytes],
        run: Run | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Gone:
        """Make drafts from one session with the configured language model; do not record that the session is done."""
        walk = self._walk(True, run, True, dry_run)
        walk.ask(stream, Step(1, 1, STANDARD_INPUT), progress or (lambda _: None))
        return walk.gone()

    def _walk(self, ask: bool, run: Run | None, again: bool, dry_run: bool) -> Walk:
        llm = required_llm(self._core.settings.llm) if ask else None
        return Walk(
            self._repo,
            llm,
            self._latest() if llm else (),
            run or Run(),
            again=again,
            dry_run=dry_run,
        )

    def _latest(self) -> Sequence[Memory]:
        """Return the last changed memories in use."""
        rows = self._core.rows(Filter(statuses=(ACTIVE,)))
        return self._repo.get_many([row.id for row in rows[:MAX_EXISTING]])


class Walk:
    """One run over transcripts."""

    def __init__(
        self,
        repository: Repository,
        llm: Llm | None,
        existing: Sequence[Memory],
        run: Run,
        **flags: bool,
    ):
        self._llm, self._existing, self._run = llm, existing, run
        self._again, self._dry_run = flags["again"], flags["dry_run"]
        self._learning, self._store = repository.learning, repository.drafts.store
        self.done = LearnedParts(repository.layout)
        self._plain = 0  # sessions that were read without the model, because it failed
        self._drafts: list[Draft] = []
        self._counts: Counter[str] = Counter()
        self._failures = 0  # in a row

    def gone(self) -> Gone:
        """Return the result of the run."""
        name = self._llm.name if self._llm else ""
        return Gone(
            tuple(self._drafts),
            {what: n for what, n in self._counts.items() if n},
            name,
            f"the model failed: plain learning read {counted(self._plain, 'session')}"
            if self._plain
            else "",
        )

    def visit(self, path: str, step: Step, progress: Progress) -> None:
        """Learn from one file, unless it is done. A file that cannot be read is counted and reported."""
        try:
            seen = os.stat(path)
            stamp = f"{'model' if self._llm else 'offline'}-{seen.st_size}-{seen.st_mtime_ns}"
            if self._is_done(path, stamp):
                self._counts[BEFORE] += 1
                return
            with open(path, "rb") as stream:
                asks = self._llm and self._failures < MAX_FAILURES
                is_whole = (self.ask if asks else self._listen)(stream, step, progress)
        except (BadInput, OSError) as failure:
            self._counts[UNREAD] += 1
            words = (
                failure.message
                if isinstance(failure, BadInput)
                else failure.strerror or str(failure)
            )
            progress(replace(step, drafts=len(self._drafts), failure=words))
            return
        self._counts[READ] += 1
        if is_whole:
            self._add_done(path, stamp)

    def ask(self, stream: IO[bytes], step: Step, progress: Progress) -> bool:
        """Ask the model about each part of a session that is not done; return whether all parts are done now."""
        heard = read_session(stream, self._run)
        chunks = chunks_of(heard.turns)
        if not chunks:
            self._counts[SILENT] += 1
            progress(replace(step, drafts=len(self._drafts)))
            return True
        if not heard.session:
            heard = replace(heard, session=os.path.splitext(os.path.basename(step.name))[0])
        finder = self._finder(heard, first_ask(chunks))
        failed = 0
        for number, chunk in enumerate(chunks, 1):
            part = f"part-{checksum(chunk.text)}"
            if self._is_done(step.name, part):
                continue
            failure = self._ask_part(finder, chunk, heard, step.name, part)
            failed += bool(failure)
            progress(
                replace(
                    step, part=number, parts=len(chunks), drafts=len(self._drafts), failure=failure
                )
            )
            if self._failures >= MAX_FAILURES:
                break
        if failed:
            self._plain += 1
            self._take(heard, choose_drafts(heard.turns, heard.run))
        self._counts += finder.counts
        self._counts[FAILED_CHUNKS] += failed
        return not failed

    def _ask_part(
        self, finder: DraftFinder, chunk: Chunk, heard: Heard, source: str, part: str
    ) -> str:
        """Ask about one part and store its drafts; return the error message, or ""."""
        try:
            self._keep(finder.ask(chunk), heard)
        except LlmFailure as failure:
            self._failures += 1
            return failure.in_full
        self._failures = 0
        self._add_done(source, part)
        return ""

    def _listen(self, stream: IO[bytes], step: Step, progress: Progress) -> bool:
        """Learn from a session without a model; return whether it is done, which a session for the model is not."""
        heard = read_session(stream, self._run)
        self._take(heard, choose_drafts(heard.turns, heard.run))
        self._plain += bool(self._llm)
        progress(replace(step, drafts=len(self._drafts)))
        return not self._llm

    def _take(self, heard: Heard, found: Sequence[Draft]) -> None:
        self._drafts += self._learning.take(heard, found, self._dry_run).drafts

    def _finder(self, heard: Heard, asked: str) -> DraftFinder:
        assert self._llm
        found = [draft for draft in self._store.of_session(heard.session) if draft.model]
        run = replace(heard.run, task=heard.run.task or asked)
        return DraftFinder(
            self._llm, run, self._existing, heard.session, () if self._again else found
        )

    def _keep(self, drafts: Sequence[Draft], heard: Heard) -> None:
        """Store drafts. A new draft replaces a waiting draft of the same exchange."""
        if not drafts:
            return
        waiting = {draft.id: draft for draft in self._store.of_session(heard.session)}
        newer: list[Draft] = []
        rest: list[Draft] = []
        for draft in drafts:
            same = (one for one in waiting.values() if _is_same_exchange(draft, one))
            old = waiting.get(draft.id) or next(same, None)
            if old:
                del waiting[old.id]
                newer.append(
                    replace(
                        draft, id=old.id, corrects=old.corrects, again=old.again, asked=old.asked
                    )
                )
            else:
                rest.append(draft)
        learned = self._learning.take(heard, rest, self._dry_run)
        self._counts[KNOWN_ALREADY] += len(learned.known)
        if not self._dry_run:
            self._store.put(newer)
        self._drafts += [*newer, *learned.drafts]

    def _is_done(self, source: str, what: str) -> bool:
        return not self._again and self.done.has(source, what)

    def _add_done(self, source: str, what: str) -> None:
        if not self._dry_run and source != STANDARD_INPUT:
            self.done.add(source, what)


def _is_same_exchange(draft: Draft, other: Draft) -> bool:
    """Return whether `other` was made without a model from the exchange that `draft` quotes."""
    if other.model or (draft.kind == AGREED) != (other.kind == AGREED):
        return False
    return (
        is_quoted(draft.before, other.before)
        if draft.kind == AGREED
        else is_quoted(draft.said, other.said)
    )
