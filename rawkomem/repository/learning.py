"""Learn from sessions: drafts that wait for a decision, statements and requests in transcripts, and
memories that a quote of a person proves.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from ..files.machine_records import (
    LIVE_MS,
    LearnedParts,
    hosts_transcripts,
    known_transcripts,
    open_transcript,
    recent_prompts,
    transcript_of_mark,
)
from ..files.private import lock
from ..files.session_records import (
    CORRECTED,
    DROPPED,
    KEPT,
    OPENED,
    DraftRecords,
    checksum,
    note_effects,
    told_to,
)
from ..learn.drafts import (
    LEARNED_TAG,
    QUOTE_KEY,
    RULES,
    choose_drafts,
    entry_of_draft,
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
    DraftFinder,
    chunks_of,
    first_ask,
)
from ..learn.lessons import lesson_of_draft
from ..learn.repetitions import (
    KnownTexts,
    inherited_conditions,
    is_repeated,
    means_same,
    tied_draft,
)
from ..learn.reviews import drafts_of_reviews, read_threads
from ..learn.transcripts import Heard, Transcript, read_session, transcripts_in
from ..learn.turns import USER, RunFacts, Turn
from ..llm import LlmFailure, required_llm
from ..model.entries import AGREED, LESSON, REQUEST, Draft, Entry, Memory
from ..model.errors import BadInput, RawkoError, Refused
from ..model.filters import Filter, without_records
from ..model.values import ACTIVE, now, record, replace
from ..redaction.entries import redact_entry
from ..redaction.find import redact
from ..state.claims import Outcome
from ..state.contradictions import contradicted_memories
from ..state.trust import PERSON, SAID
from ..text.acts import GUARD_KEY, GUARDS
from ..text.chunks import counted
from ..text.clean import one_line
from . import Repository
from .core import Core, Wing
from .undoing import note_drop
from .waiting import BOTH, JOIN
from .writing import Stored, as_one_change, check_conditions

Progress = Callable[["Step"], None]


@contextmanager
def _hearing_person(core: Core) -> Iterator[None]:
    """Let writes inside a `with` block count as said by a person, because a host's transcript shows it."""
    core.heard_person = True
    try:
        yield
    finally:
        core.heard_person = False


# Drafts: proposed memories from sessions. They wait on this machine until somebody keeps or drops
# them.

# of a draft that somebody edited, so that no other draft replaces it
EDITED_SCORE = 9.0
CORROBORATED = "corroborated"  # outcome of a draft that confirms a memory
NO_GUARD = "none"  # of a draft that is kept without the acts that it names
MAX_REASON_CHARS = 200


class Drafts(Wing):
    """Lists and decides drafts."""

    def __init__(self, repository: Repository):
        super().__init__(repository)
        self.store = DraftRecords(repository.layout)

    def all(self) -> list[Draft]:
        """Return the waiting drafts, latest first, also those of which the person is not asked."""
        return self.store.all()

    def asked(self) -> list[Draft]:
        """Return the waiting drafts that the person is asked about, latest first."""
        return [draft for draft in self.all() if not draft.more]

    def get(self, name: str) -> Draft:
        """Return a draft by its id or an unambiguous beginning of it."""
        return self.store.get(name)

    def take(self, drafts: Sequence[Draft], dry_run: bool = False) -> tuple[Draft, ...]:
        """Store the new ones of some drafts and return them. A waiting draft gets the grade that it has now.

        A draft that a person also said in another session gets a higher score.
        """
        waiting = self.all()
        there = {draft.id: draft for draft in waiting}
        decided = self.store.decided()
        new: list[Draft] = []
        regraded: list[Draft] = []
        for draft in drafts:
            old = there.get(draft.id)
            if old and old.more != draft.more and old.score < EDITED_SCORE:
                regraded.append(replace(old, more=draft.more))
            if (
                old
                or draft.id in decided
                or any(is_repeated(draft, one) for one in waiting)
            ):
                continue
            same = [
                one
                for one in waiting
                if one.session != draft.session and means_same(one, draft)
            ]
            sessions = [id for one in same for id in (*one.again, one.session)]
            new.append(said_again(draft, *dict.fromkeys(sessions)) if same else draft)
        if not dry_run:
            self.store.expire()
            self.store.put([*regraded, *new])
        return tuple(new)

    def keep(
        self,
        name: str,
        title: str = "",
        text: str = "",
        when: Sequence[str] | None = None,
        by: str = "",
        via: str = "",
        guard: str = "",
        how: str = "",
    ) -> Stored:
        """Store a draft as a memory or a lesson, and supersede the memories that it corrects; with `how` BOTH, none.

        If a memory says the same, the draft confirms it; with `how` JOIN, its text is added to that memory; with BOTH
        or with changes, it becomes a memory of its own.

        A title, text or conditions that you pass replace the draft's. `guard` says what happens at the acts that the
        draft names; with NO_GUARD, the memory applies to none. Raise BadInput if the draft names none.
        """
        draft = self.get(name)
        if title or text or when is not None:
            draft = self.edit(name, title, text, when)
        if guard and not draft.applies:
            hint = "keep it, then run 'rawkomem amend ID --applies-to commands=PATTERN' with --guard"
            raise BadInput(f"{draft.id} names no command or file for a guard", hint)
        draft = replace(draft, applies=()) if guard == NO_GUARD else draft
        by = by or draft.host
        changed = title or text or when is not None or guard or how == BOTH
        if draft.agrees and self._core.holds(draft.agrees) and not changed:
            return self._agree(draft, how, by)
        if LESSON in draft.tags:
            made = lesson_of_draft(draft, by)
        else:
            made = replace(entry_of_draft(draft), by=by)
        if guard in GUARDS:
            made = replace(made, extra={**made.extra, GUARD_KEY: guard})
        with as_one_change(self._core):
            stored = self._repo.add(made, via=via)
            replacing = [
                self._repo.beliefs.supersede(
                    old,
                    stored.id,
                    one_line(draft.said, MAX_REASON_CHARS),
                    by,
                    anyway=True,
                )
                for old in draft.corrects
                if how != BOTH and self._core.holds(old) and old != stored.id
            ]
        self.store.decide(draft, KEPT, stored.written[0].entry.id)
        return replace(stored, written=(*stored.written, *replacing))

    def _agree(self, draft: Draft, how: str, by: str) -> Stored:
        """Confirm the memory that says the same as a draft, or add the draft's text to it."""
        reason = one_line(draft.said, MAX_REASON_CHARS)
        if how == JOIN:
            body = f"{self._repo.get(draft.agrees).body}\n\n{draft.text}"
            written = self._repo.amend(draft.agrees, by=by, body=body)
        else:
            written = self._repo.beliefs.reinforce(draft.agrees, reason, by)
        self.store.decide(draft, KEPT, written.entry.id)
        return Stored(Outcome(how or CORROBORATED, draft.agrees), (written,), reason)

    def edit(
        self,
        name: str,
        title: str = "",
        text: str = "",
        when: Sequence[str] | None = None,
    ) -> Draft:
        """Change the memory that a draft proposes, but not its exchange. An empty `when` removes the conditions."""
        draft = self.changed(name, title, text, when)
        if draft != self.get(name):
            self.store.put([draft])
        return draft

    def changed(
        self,
        name: str,
        title: str = "",
        text: str = "",
        when: Sequence[str] | None = None,
    ) -> Draft:
        """Return the draft that `edit` would store; write nothing."""
        old = self.get(name)
        if not (title or text) and when is None:
            raise BadInput("nothing to change", "pass a title, a text or conditions")
        check_conditions(self._core, when or (), "nothing was changed")
        conditions = old.when if when is None else tuple(map(redact, when))
        who = "a person" if self._core.via == PERSON else "an agent or a program"
        return replace(
            old,
            title=redact(title) or old.title,
            text=redact(text) or old.text,
            when=conditions,
            score=max(old.score, EDITED_SCORE),
            why=f"edited by {who}",
            # other words may say something else
            agrees="" if title or text else old.agrees,
        )

    def drop(self, *names: str) -> list[Draft]:
        """Drop drafts in one change, which `undo` can take back until they expire.

        The same words of the same session make no new draft.
        """
        drafts = [self.get(name) for name in names]
        # noted first: after a kill in between, `undo` brings back what was dropped
        note_drop(self._layout, [draft.id for draft in drafts])
        for draft in drafts:
            self.store.decide(draft, DROPPED)
        return drafts


# Learn from a session's transcript. Statements that a person made or agreed to become drafts;
# requests of a person to remember something become memories.

VIA_AGENT = "agent"  # origin of a memory that an agent writes
# existing memories that a draft, and a quoted memory, is compared with
NEAR_DRAFT = 5
NEAR_QUOTE = 8
MAX_QUOTE_CHARS = 600
CONFIRMED = "confirmed"
STORED = "stored"
PROPOSED = "proposed"


@record
class Remembered:
    """The result of `remember`: stored; proposed, because it contradicts others; or a known memory confirmed."""

    what: str
    id: str
    others: tuple[str, ...] = ()  # memories that it contradicts
    stored: Stored | None = None
    is_said: bool = True  # whether a host's transcript shows that a person said it


@record
class Learned:
    """The result of learning from a session."""

    heard: Heard
    drafts: tuple[Draft, ...] = ()  # new drafts
    waiting: tuple[Draft, ...] = ()  # drafts that were already waiting or decided
    # drafts that a memory already says, with its id
    known: tuple[tuple[Draft, str], ...] = ()
    requests: tuple[Draft, ...] = ()  # what a person asked to remember just now
    stored: tuple[Stored, ...] = ()  # the result for each request; empty for a dry run


class Learning(Wing):
    """Learns from the transcripts of sessions, and stores memories that a quote of a person proves."""

    def learn(
        self,
        said: str | IO[bytes],
        run: RunFacts | None = None,
        dry_run: bool = False,
        agent: str = "",
        task: str = "",
        by_host: bool = False,
    ) -> Learned:
        """Learn from a session's transcript, a text or a stream; `dry_run` writes nothing.

        Without a `run`, `agent` and `task` describe the session. `by_host`: the host passes its transcript of the
        session that runs now.
        """
        stream: IO[bytes]
        if isinstance(said, str):
            stream = io.BytesIO(said.encode("utf-8", "replace"))
        else:
            stream = said
        heard = read_session(stream, run or RunFacts(agent, task))
        found = choose_drafts(heard.turns, heard.run)
        return self.take(heard, found, dry_run, by_host)

    def learn_reviews(
        self, reviews: Sequence[IO[bytes]], dry_run: bool = False
    ) -> Learned:
        """Make drafts of the requests in review comments that a change followed; `dry_run` writes nothing.

        Raise BadInput if one of the streams holds no comments of GitHub or GitLab.
        """
        drafts, counts = drafts_of_reviews(read_threads(reviews))
        return self.take(Heard(RunFacts(), (), "", "", counts), drafts, dry_run)

    def take(
        self,
        heard: Heard,
        found: Sequence[Draft],
        dry_run: bool = False,
        by_host: bool = False,
    ) -> Learned:
        """Store the drafts found in a session, unless a memory says the same.

        Requests become memories at once, but only in the session that runs now (`by_host`): a file may say that a
        person said anything.
        """
        if dry_run:
            return self._compare(heard, found, dry_run, by_host)
        with lock(self._layout, "learn"):
            learned = self._compare(heard, found, dry_run, by_host)
            self._note_effects(learned)
            entries = [entry_of_draft(draft) for draft in learned.requests]
            with _hearing_person(self._core):
                stored = self._repo.add_many(entries, via=SAID)
            for draft in learned.requests:  # a purged memory must not come back
                self._repo.drafts.store.decide(draft, KEPT)
            return replace(learned, stored=tuple(stored))

    def _note_effects(self, learned: Learned) -> None:
        """Record which memories a person had to repeat, and whose files the agent read."""
        for draft, id in learned.known:
            memory = self._core.holds(id) and self._repo.get(id)
            if draft.kind in RULES and memory and memory.created < draft.at:
                note_effects(self._layout, CORRECTED, [id], draft.id)
        files = [turn.did.file for turn in learned.heard.turns if turn.did]
        read = {file.rpartition("/.rawko/")[2] for file in files if "/.rawko/" in file}
        if read:
            ids = [one.id for one in self._repo.list() if one.path in read]
            note_effects(self._layout, OPENED, ids, learned.heard.session)

    def _compare(
        self, heard: Heard, found: Sequence[Draft], dry_run: bool, by_host: bool
    ) -> Learned:
        """Split the findings into known memories, requests and drafts; store the drafts unless `dry_run`."""
        same = self._known_texts(NEAR_DRAFT)
        decided = self._repo.drafts.store.decided()
        waits = {draft.id for draft in self._repo.drafts.all()}
        known: list[tuple[Draft, str]] = []
        requests: list[Draft] = []
        drafts: list[Draft] = []
        for draft in found:
            if draft.id in waits:  # compared when it was found
                drafts.append(draft)
                continue
            near = self.candidates(draft.session, f"{draft.title}\n{draft.text}")
            draft = tied_draft(draft, entry_of_draft(draft), near, self._is_known)
            id = same(entry_of_draft(draft))
            if id:
                known.append((draft, id))
            elif by_host and draft.kind == REQUEST and draft.id not in decided:
                requests.append(draft)
            else:
                drafts.append(draft)
        new = self._repo.drafts.take(drafts, dry_run)
        ids = {draft.id for draft in new}
        waiting = tuple(draft for draft in drafts if draft.id not in ids)
        return Learned(heard, new, waiting, tuple(known), tuple(requests))

    def _known_texts(self, most: int) -> KnownTexts:
        """Return what compares texts with all memories, in meaning with the `most` nearest ones."""
        core = self._core
        return KnownTexts(
            core.all(), lambda text: core.near(text, most, Filter()), self._is_known
        )

    def _is_known(self, id: str) -> bool:
        """Return whether a person vouches for a memory or said it, or nobody vouches for any."""
        memory = self._repo.get(id)
        return memory.vouched or self._repo.beliefs.trust(memory).standing.said

    # Memories that an agent words after a person said them; a quote of the person is the proof

    def remember(self, entry: Entry, quote: str, by: str = "") -> Remembered:
        """Store a memory based on a person's words; raise Refused if no person typed or agreed to the quote."""
        repo = self._repo
        via = self.check_quote(quote)
        entry = redact_entry(entry)
        quote = redact(quote)
        text = entry.title_and_body
        if not is_about_quote(quote, text):
            hint = "quote the sentence itself (not “yes”, but the question before it), and use its words in the text"
            raise Refused(
                f"the memory does not match the quote “{one_line(quote, 80)}”", hint
            )
        quote = one_line(quote, MAX_QUOTE_CHARS)
        reason = f"{'a person said' if via == SAID else 'the quote'}: {quote}"
        tags = tuple(dict.fromkeys((*entry.tags, LEARNED_TAG)))
        entry = replace(entry, tags=tags, extra={**entry.extra, QUOTE_KEY: quote})
        against = contradicted_memories(entry, self._active_near(text))
        known = "" if against else self._known_texts(NEAR_QUOTE)(entry)
        if known:
            repo.beliefs.reinforce(known, reason, by)
            done = Remembered(CONFIRMED, known)
        else:
            entry = replace(entry, when=inherited_conditions(entry.when, against))
            with _hearing_person(self._core):
                stored = repo.add(entry, via=via)
            for old in against:
                repo.beliefs.supersede(old.id, stored.id, reason, by, anyway=True)
            others = tuple(old.id for old in against)
            done = Remembered(
                PROPOSED if against else STORED, stored.id, others, stored, via == SAID
            )
        # without a transcript as proof, the draft still waits for the person
        for draft in repo.drafts.all() if via == SAID else ():
            if is_said_in(quote, draft.said) or is_said_in(draft.said, quote):
                repo.drafts.store.decide(draft, KEPT)
        return done

    def keep_draft(self, name: str, by: str, **changes: Any) -> Stored:
        """Keep a draft for an agent. It counts as said by a person if its quote is found, else as the agent's."""
        draft = self._repo.drafts.get(name)
        proof = draft.said
        if draft.kind == AGREED:
            proof = draft.before if draft.model else draft.text.partition("\n\n")[0]
        text = f"{changes.get('title') or draft.title}\n{changes.get('text') or draft.text}"
        try:
            said = self.check_quote(proof)
            via = said if is_about_quote(proof, text) else VIA_AGENT
        except Refused:
            via = VIA_AGENT
        with _hearing_person(self._core):
            return self._repo.drafts.keep(name, by=by, via=via, **changes)

    def check_quote(self, quote: str) -> str:
        """Return SAID if a host's transcript shows that a person typed the quote, or agreed to it, lately.

        Return VIA_AGENT if only calls of hooks say so, which an agent can make, too. Raise Refused if nothing does.
        """
        redacted = redact(quote)  # as prompts are stored; transcripts are the host's
        own = hosts_transcripts(self._layout)
        heard = ""
        for one in recent_prompts(self._layout):
            typed = Turn(USER, one.text, one.at)
            if find_quote(redacted, [typed]):
                file = transcript_of_mark(self._layout, one.session)
                turns = _turns_in(file)
                if file in own and find_quote(redacted, [*map(_redacted_turn, turns)]):
                    return SAID
                if find_quote(redacted, [*turns, typed]):
                    heard = VIA_AGENT
        for file in known_transcripts(self._layout):
            turns = _turns_in(file)
            if find_quote(quote, turns) or agreed_quote(quote, turns):
                if file in own:
                    return SAID
                heard = VIA_AGENT
        if heard:
            return heard
        hint = (
            "quote whole sentences exactly as the person typed them, at least three words, with “not” and “never”; "
            "pasted text does not count"
        )
        raise Refused(
            f"no person said “{one_line(redacted, 80)}” in this session", hint
        )

    def refuse_planted(self, entry: Entry) -> None:
        """Raise Refused if a memory repeats an instruction ("remember that …") from a tool's output or pasted text."""
        for turns in map(_turns_in, known_transcripts(self._layout)):
            if planted_in(entry.title_and_body, turns):
                hint = (
                    "if the person wants it, store it with their own words as the quote"
                )
                raise Refused(
                    "the memory repeats an instruction from a tool's output or from pasted text",
                    hint,
                )

    def candidates(self, session: str, text: str) -> list[Memory]:
        """Return the active memories that a text may be about: those shown to the session, then the most similar."""
        shown = [
            key.rpartition("@")[0]
            for key in sorted(told_to(self._layout, session).keys)
        ]
        return self._active_near(text, [id for id in shown if self._core.holds(id)])

    def _active_near(self, text: str, shown: Sequence[str] = ()) -> list[Memory]:
        only = without_records(Filter(statuses=(ACTIVE,)))
        hits = self._core.look([text], NEAR_QUOTE, only)[0].found
        memories = self._repo.get_many([*shown, *(hit.row.id for hit in hits)])
        return [memory for memory in memories if memory.status == ACTIVE]

    # Old transcripts

    def learn_files(
        self,
        paths: Sequence[str],
        run: RunFacts | None = None,
        ask: bool = False,
        again: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Gone:
        """Make drafts from the sessions in files and folders, oldest first; skip files that were done before.

        With `ask`, the configured language model finds the drafts. `again` starts over; `dry_run` writes nothing.
        """
        files = transcripts_in(paths)
        walk = LearningRun(self._repo, run or RunFacts(), ask, again, dry_run, progress)
        if again and not dry_run:
            walk.done.forget(files)
        for number, path in enumerate(files, 1):
            walk.visit(path, Step(number, len(files), path))
        return walk.gone()

    def learn_stream(
        self,
        stream: IO[bytes],
        run: RunFacts | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Gone:
        """Make drafts from one session with the configured language model; do not record that the session is done."""
        walk = LearningRun(self._repo, run or RunFacts(), True, True, dry_run, progress)
        walk.ask(stream, Step(1, 1, STANDARD_INPUT))
        return walk.gone()


def _redacted_turn(turn: Turn) -> Turn:
    """Return a person's turn as its prompt is stored; another turn as it is."""
    return replace(turn, text=redact(turn.text)) if turn.role == USER else turn


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
# failed answers of the model in a row, after which it is not asked again
MAX_FAILURES = 3
READ = "files read"
UNREAD = "files that cannot be read"
BEFORE = "files done before"
SILENT = "files without a person"


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


class LearningRun:
    """One run over transcripts."""

    def __init__(
        self,
        repository: Repository,
        run: RunFacts,
        ask: bool,
        again: bool,
        dry_run: bool,
        progress: Progress | None,
    ):
        self._repo = repository
        self._run = run
        self._again = again
        self._dry_run = dry_run
        self._progress = progress or (lambda step: None)
        self._llm = required_llm(repository.settings.llm) if ask else None
        # the last changed memories, which the model is shown
        self._existing: Sequence[Memory] = ()
        if ask:
            rows = repository.list(Filter(statuses=(ACTIVE,)))[:MAX_EXISTING]
            self._existing = repository.get_many([row.id for row in rows])
        self.done = LearnedParts(repository.layout)
        self._plain = 0  # sessions that were read without the model, because it failed
        self._drafts: list[Draft] = []
        self._counts: Counter[str] = Counter()
        self._failures = 0  # in a row

    def gone(self) -> Gone:
        """Return the result of the run."""
        read = (
            f"the model failed: plain learning read {counted(self._plain, 'session')}"
        )
        return Gone(
            tuple(self._drafts),
            dict(+self._counts),
            self._llm.name if self._llm else "",
            read if self._plain else "",
        )

    def visit(self, path: str, step: Step) -> None:
        """Learn from one file, unless it is done. A file that cannot be read is counted and reported."""
        try:
            seen = os.stat(path)
            stamp = f"{'model' if self._llm else 'offline'}-{seen.st_size}-{seen.st_mtime_ns}"
            if self._is_done(path, stamp):
                self._counts[BEFORE] += 1
                return
            with open(path, "rb") as stream:
                if self._llm and self._failures < MAX_FAILURES:
                    is_whole = self.ask(stream, step)
                else:
                    is_whole = not self._llm
                    self._listen(read_session(stream, self._run))
                    self._tell(step)
        except (BadInput, OSError) as failure:
            self._counts[UNREAD] += 1
            words = getattr(failure, "message", "") or getattr(failure, "strerror", "")
            self._tell(step, words or str(failure))
            return
        self._counts[READ] += 1
        if is_whole:
            self._note_done(path, stamp)

    def ask(self, stream: IO[bytes], step: Step) -> bool:
        """Ask the model about each part of a session that is not done; return whether all parts are done now."""
        assert self._llm
        heard = read_session(stream, self._run)
        chunks = chunks_of(heard.turns)
        if not chunks:
            self._counts[SILENT] += 1
            self._tell(step)
            return True
        if not heard.session:
            heard = replace(
                heard, session=os.path.splitext(os.path.basename(step.name))[0]
            )
        before = [
            one
            for one in self._repo.drafts.store.of_session(heard.session)
            if one.model
        ]
        task = heard.run.task or first_ask(chunks)
        run = replace(heard.run, task=task, session=heard.session)
        known = () if self._again else before
        finder = DraftFinder(self._llm, run, self._existing, known)
        failed = 0
        for number, chunk in enumerate(chunks, 1):
            part = f"part-{checksum(chunk.text)}"
            failure = ""
            if self._is_done(step.name, part):
                continue
            try:
                self._keep(finder.ask(chunk), heard)
                self._failures = 0
                self._note_done(step.name, part)
            except LlmFailure as wrong:
                failed += 1
                self._failures += 1
                failure = wrong.in_full
            self._tell(replace(step, part=number, parts=len(chunks)), failure)
            if self._failures >= MAX_FAILURES:
                break
        if failed:
            self._listen(heard)
        self._counts += finder.counts
        self._counts[FAILED_CHUNKS] += failed
        return not failed

    def _tell(self, step: Step, failure: str = "") -> None:
        self._progress(replace(step, drafts=len(self._drafts), failure=failure))

    def _listen(self, heard: Heard) -> None:
        """Learn from a session without a model."""
        self._plain += bool(self._llm)
        found = choose_drafts(heard.turns, heard.run)
        self._drafts += self._repo.learning.take(heard, found, self._dry_run).drafts

    def _keep(self, drafts: Sequence[Draft], heard: Heard) -> None:
        """Store drafts. A new draft replaces a waiting draft of the same exchange."""
        store = self._repo.drafts.store
        waiting = store.of_session(heard.session)
        newer: list[Draft] = []
        rest: list[Draft] = []
        for draft in drafts:
            for old in waiting:
                if old.id == draft.id or _is_same_exchange(draft, old):
                    waiting.remove(old)
                    newer.append(
                        replace(
                            draft,
                            id=old.id,
                            corrects=old.corrects,
                            agrees=old.agrees,
                            again=old.again,
                            asked=old.asked,
                        )
                    )
                    break
            else:
                rest.append(draft)
        if not self._dry_run:
            store.put(newer)
        learned = self._repo.learning.take(heard, rest, self._dry_run)
        self._counts[KNOWN_ALREADY] += len(learned.known)
        self._drafts += [*newer, *learned.drafts]

    def _is_done(self, source: str, what: str) -> bool:
        return not self._again and self.done.has(source, what)

    def _note_done(self, source: str, what: str) -> None:
        if not self._dry_run and source != STANDARD_INPUT:
            self.done.add(source, what)


def _is_same_exchange(draft: Draft, other: Draft) -> bool:
    """Return whether `other` was made without a model from the exchange that `draft` quotes."""
    if other.model or (draft.kind == AGREED) != (other.kind == AGREED):
        return False
    if draft.kind == AGREED:
        return is_quoted(draft.before, other.before)
    return is_quoted(draft.said, other.said)
