"""Learn from old transcripts, in files and folders, oldest first. The next run continues after an interrupted one.

A part of a transcript is done when its drafts are stored. The next run retries parts that failed.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import IO, TYPE_CHECKING

from ...files.local.done import Done
from ...files.local.told import checksum
from ...learn.drafts.quote import is_quoted
from ...learn.llm.ask import open_llm
from ...learn.llm.chunks import chunks_of, first_ask
from ...learn.llm.extraction import FAILED, KNOWN, MAX_EXISTING, Finder
from ...learn.llm.model import LlmFailure
from ...learn.session.files import transcripts_in
from ...learn.session.listen import listen
from ...learn.session.run import Run
from ...model.draft import AGREED
from ...model.errors import BadInput
from ...model.filters import Filter
from ...model.kinds import ACTIVE
from ...model.record import record, replace
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...learn.llm.chunks import Chunk
    from ...learn.llm.model import Llm
    from ...learn.session.listen import Heard
    from ...model.draft import Draft
    from ...model.entry import Memory
    from .. import Repository

    Progress = Callable[["Step"], None]

STANDARD_INPUT = "-"
MAX_FAILURES = 5  # failed answers of the model in a row that stop a run
READ, UNREAD, BEFORE, SILENT = "files read", "files that cannot be read", "files done before", "files without a person"


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
    stopped: str = ""  # why it ended early


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
            if walk.stopped:
                break
        return walk.gone()

    def learn_stream(
        self, stream: IO[bytes], run: Run | None = None, dry_run: bool = False, progress: Progress | None = None
    ) -> Gone:
        """Make drafts from one session with the configured language model; do not record that the session is done."""
        walk = self._walk(True, run, True, dry_run)
        walk.ask(stream, Step(1, 1, STANDARD_INPUT), progress or (lambda _: None))
        return walk.gone()

    def _walk(self, ask: bool, run: Run | None, again: bool, dry_run: bool) -> Walk:
        llm = self._model() if ask else None
        return Walk(self._repo, llm, self._latest() if llm else (), run or Run(), again=again, dry_run=dry_run)

    def _latest(self) -> Sequence[Memory]:
        """Return the last changed memories in use."""
        rows = self._core.rows(Filter(statuses=(ACTIVE,)))
        return self._repo.get_many([row.id for row in rows[:MAX_EXISTING]])

    def _model(self) -> Llm:
        llm = open_llm(self._core.settings.llm)
        if llm is None:
            hint = "set it in your own config.yaml: llm: {provider: ADDRESS, model: NAME}, or llm: claude -p"
            raise BadInput("no language model is configured", hint)
        return llm


class Walk:
    """One run over transcripts."""

    def __init__(self, repository: Repository, llm: Llm | None, existing: Sequence[Memory], run: Run, **flags: bool):
        self._llm, self._existing, self._run = llm, existing, run
        self._again, self._dry_run = flags["again"], flags["dry_run"]
        self._learning, self._store = repository.learning, repository.drafts.store
        self.done = Done(repository.layout)
        self.stopped = ""
        self._drafts: list[Draft] = []
        self._counts: Counter[str] = Counter()
        self._failures = 0  # in a row

    def gone(self) -> Gone:
        """Return the result of the run."""
        name = self._llm.name if self._llm else ""
        return Gone(tuple(self._drafts), {what: n for what, n in self._counts.items() if n}, name, self.stopped)

    def visit(self, path: str, step: Step, progress: Progress) -> None:
        """Learn from one file, unless it is done. A file that cannot be read is counted and reported."""
        try:
            seen = os.stat(path)
            stamp = f"{'model' if self._llm else 'offline'}-{seen.st_size}-{seen.st_mtime_ns}"
            if self._is_done(path, stamp):
                self._counts[BEFORE] += 1
                return
            with open(path, "rb") as stream:
                is_whole = self.ask(stream, step, progress) if self._llm else self._listen(stream, step, progress)
        except (BadInput, OSError) as failure:
            self._counts[UNREAD] += 1
            words = failure.message if isinstance(failure, BadInput) else failure.strerror or str(failure)
            progress(replace(step, drafts=len(self._drafts), failure=words))
            return
        self._counts[READ] += 1
        if is_whole:
            self._add_done(path, stamp)

    def ask(self, stream: IO[bytes], step: Step, progress: Progress) -> bool:
        """Ask the model about each part of a session that is not done; return whether all parts are done now."""
        heard = listen(stream, self._run)
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
            progress(replace(step, part=number, parts=len(chunks), drafts=len(self._drafts), failure=failure))
            if self._failures >= MAX_FAILURES:
                self.stopped = f"the model failed {MAX_FAILURES} times in a row"
                break
        self._counts += finder.counts
        self._counts[FAILED] += failed
        return not failed

    def _ask_part(self, finder: Finder, chunk: Chunk, heard: Heard, source: str, part: str) -> str:
        """Ask about one part and store its drafts; return the error message, or ""."""
        try:
            self._keep(finder.ask(chunk), heard)
        except LlmFailure as failure:
            self._failures += 1
            return f"{failure.message} ({failure.hint})"
        self._failures = 0
        self._add_done(source, part)
        return ""

    def _listen(self, stream: IO[bytes], step: Step, progress: Progress) -> bool:
        self._drafts += self._learning.learn(stream, self._run, self._dry_run).drafts
        progress(replace(step, drafts=len(self._drafts)))
        return True

    def _finder(self, heard: Heard, asked: str) -> Finder:
        assert self._llm
        found = [draft for draft in self._store.of_session(heard.session) if draft.model]
        run = replace(heard.run, task=heard.run.task or asked)
        return Finder(self._llm, run, self._existing, heard.session, () if self._again else found)

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
                newer.append(replace(draft, id=old.id, corrects=old.corrects, again=old.again, asked=old.asked))
            else:
                rest.append(draft)
        learned = self._learning.take(heard, rest, self._dry_run)
        self._counts[KNOWN] += len(learned.known)
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
    return is_quoted(draft.before, other.before) if draft.kind == AGREED else is_quoted(draft.said, other.said)
