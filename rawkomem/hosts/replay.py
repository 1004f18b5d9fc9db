"""Replay past sessions of a project: find them, read each prompt with the transcript before it, recall
memories for it now, and tell which of the person's corrections a memory covers.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from glob import escape, glob
from typing import IO

from ..files.layout import Layout
from ..files.machine_records import known_transcripts
from ..files.session_records import Told, uses
from ..learn.drafts import choose_drafts, drafts_of_exchanges
from ..learn.exchanges import exchanges
from ..learn.repetitions import covering_memories
from ..learn.transcripts import (
    MARKDOWN,
    Record,
    Transcript,
)
from ..learn.turns import SYSTEM, USER, RunFacts, Turn
from ..model.entries import CORRECTION, PREFERENCE, RULE, Draft, Memory
from ..model.errors import BadInput
from ..model.filters import Filter
from ..model.ids import hex_hash
from ..model.values import ACTIVE, record
from ..recall.inject import received_key, tokens_spent
from ..redaction.find import redact
from ..repository import Repository
from ..text.acts import Act, Applies, applies_of, fits
from ..text.clean import one_line
from ..text.commands import file_writes
from ..text.language import statement_of
from .hook_prompt import rehearsed
from .hook_sessions import opening
from .known_hosts import HOSTS, home_of

# characters that Claude Code replaces by a dash in a project's folder name
NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9]")
# latest sessions of Codex; it stores those of all projects together, and each names its folder
MAX_ROLLOUTS = 1_000
MAX_FIRST_LINE_BYTES = 2**20
# the file that names the project, if Gemini's folder is not named by a checksum
PROJECT_ROOT = ".project_root"


def session_places(layout: Layout) -> dict[str, str]:
    """Return the files and folders in which sessions of a project are searched: name of the source → path."""
    project = os.path.realpath(layout.project)
    return {
        "hooks": layout.local,
        "claude": os.path.join(
            home_of("claude"), "projects", NOT_IN_NAMES.sub("-", project)
        ),
        "codex": os.path.join(home_of("codex"), "sessions"),
        "gemini": os.path.join(home_of("gemini"), "tmp"),
        "specstory": os.path.join(project, ".specstory", "history"),
        "aider": os.path.join(project, ".aider.chat.history.md"),
    }


def find_sessions(layout: Layout) -> list[str]:
    """Return the transcripts of a project, the latest first, without duplicates."""
    files = [*known_transcripts(layout)]
    for name in session_places(layout):
        files += sessions_of(layout, name)
    return _latest_first(
        {os.path.realpath(file) for file in files if os.path.isfile(file)}
    )


def sessions_of(layout: Layout, name: str) -> list[str]:
    """Return the transcripts of a project that a host, SpecStory or aider stores; empty for other hosts."""
    project = os.path.realpath(layout.project)
    place = session_places(layout).get(name, "")
    if name == "codex":
        files = glob(
            os.path.join(escape(place), "**", "rollout-*.jsonl"), recursive=True
        )
        return [
            file
            for file in _latest_first(files)[:MAX_ROLLOUTS]
            if _ran_in(file, project)
        ]
    if name == "gemini":
        return [*_chats(place, project)]
    if name == "aider":
        return [place] if os.path.isfile(place) else []
    pattern = {"claude": "*.jsonl", "specstory": "*.md"}.get(name)
    return _files_like(place, pattern) if pattern else []


def _latest_first(files: Iterable[str]) -> list[str]:
    return sorted(files, key=lambda file: (-os.path.getmtime(file), file))


def _files_like(folder: str, pattern: str) -> list[str]:
    return glob(os.path.join(escape(folder), pattern))


def _ran_in(file: str, project: str) -> bool:
    try:
        with open(file, "rb") as stream:
            payload = json.loads(stream.readline(MAX_FIRST_LINE_BYTES))["payload"]
        folder = os.path.realpath(str(payload["cwd"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return folder == project or folder.startswith(project + os.sep)


def _chats(folder: str, project: str) -> Iterator[str]:
    """Yield the chats of a project that Gemini CLI stores.

    Their folder has a checksum of the project's path as its name, or a file PROJECT_ROOT that holds the path.
    """
    checksum = hex_hash(project)
    for own in _files_like(folder, "*"):
        if (
            os.path.basename(own) == checksum
            or _project_named_in(os.path.join(own, PROJECT_ROOT)) == project
        ):
            yield from _files_like(own, "chats/*.json*")


def _project_named_in(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return os.path.realpath(stream.read(4096).strip())
    except OSError:
        return ""


@record
class Moment:
    """A prompt of a session."""

    turn: int  # number of the turn, from 1
    prompt: str
    is_fresh: bool = False  # whether the host compacted the session just before


@record
class Past:
    """A past session."""

    name: str  # the file name, or the id in a file of recorded sessions
    host: str  # empty if the format belongs to no host
    session: str
    turns: tuple[Turn, ...]
    moments: tuple[Moment, ...]  # the prompts

    @property
    def at(self) -> int:
        """Return when the session began, in milliseconds since 1970; 0 if the record does not say."""
        return next((turn.at for turn in self.turns if turn.at), 0)

    def before(self, moment: Moment) -> tuple[Turn, ...]:
        """Return the turns before a prompt."""
        return self.turns[: moment.turn - 1]


def read_past(file: str) -> Iterator[Past]:
    """Yield the sessions of a file: one of a transcript, several of a file of recorded sessions."""
    if holds_sessions(file):
        yield from recorded_pasts([file])
        return
    with open(file, "rb") as stream:
        yield _past_session(stream, os.path.basename(file))


def recorded_pasts(files: Iterable[str]) -> list[Past]:
    """Return the sessions of files of recorded sessions. Raises BadInput if a file is none."""
    pasts = []
    for file in files:
        for number, one in enumerate(read_recorded_sessions(file), 1):
            lines = (
                json.dumps(line) + "\n"
                for line in one["records"]
                if isinstance(line, dict)
            )
            stream = io.BytesIO("".join(lines).encode())
            pasts.append(_past_session(stream, str(one.get("id") or number)))
    return pasts


def _past_session(stream: IO[bytes], name: str) -> Past:
    transcript = Transcript(stream)
    turns: list[Turn] = []
    moments: list[Moment] = []
    is_fresh = False
    for turn in transcript.turns():
        turns.append(turn)
        if turn.role in (USER, SYSTEM) and turn.text.startswith(COMPACTED):
            is_fresh = True
        elif turn.role == USER:
            moments.append(Moment(len(turns), turn.text, is_fresh))
            is_fresh = False
    host = "" if transcript.host == MARKDOWN else transcript.host
    return Past(name, host, transcript.session, tuple(turns), tuple(moments))


# a memory states the correction, and its text reaches the agent before: at the start of the session, with an earlier
# prompt, or at the act that was wrong
COVERED = "prevented"
# it did reach the agent of that session, or the person had corrected it before in that session
IGNORED = "not followed"
# only its title reaches the agent before: in the list at the start of the session, or as a pointer
TITLED = "title only"
# a memory states it, but comes only with the prompt that corrects, or not at all
SILENT = "too late"
MISSING = "not covered"  # no memory states the correction
# kinds of drafts that count as corrections
CORRECTING_KINDS = (CORRECTION, RULE, PREFERENCE)
MAX_PROMPT_CHARS = 2_000  # of a prompt in an answer
MAX_ACT_CHARS = 120
# memories that are compared with a correction, in addition to the injected ones
MAX_NEAR = 20
# specific words that a correction shares with a memory that applied to an act before it
MIN_ACT_WORDS = 2
# how Claude Code's terminal shows a call, in transcripts that were copied from there
SHOWN_CALL = re.compile(r"Bash\((.*)\)…?", re.DOTALL)


@record
class PastAnswer:
    """A prompt, and the memories that it would get now."""

    number: int  # of the prompt, from 1
    turn: int
    prompt: str  # its beginning, redacted
    memories: tuple[Memory, ...]
    pointers: tuple[Memory, ...]  # named by title and file
    tokens: int
    saved: int  # tokens of memories that the session has already


@record
class Correction:
    """A correction by the person, and the memory that says the same."""

    draft: Draft
    prompt: int  # number of the prompt that holds the correction
    verdict: str  # COVERED, IGNORED, TITLED, SILENT or MISSING
    memory: Memory | None = None
    since: int = 0  # number of the first prompt before it that gets the memory; 0: none
    act: str = ""  # the command or file before it at which a guard gives the memory


@record
class Replayed:
    """The result of replaying a session."""

    past: Past
    answers: tuple[PastAnswer, ...]
    corrections: tuple[Correction, ...]


def replay(repository: Repository, past: Past) -> Replayed:
    """Replay a session with the present memories. Nothing is counted, recorded or logged."""
    answers = tuple(past_answers(repository, past))
    return Replayed(past, answers, tuple(_corrections(repository, past, answers)))


def past_answers(repository: Repository, past: Past) -> Iterator[PastAnswer]:
    """Yield for each prompt of a session the memories that it would get now."""
    readers = {
        host.transcript: host for host in reversed(HOSTS.values()) if host.transcript
    }
    host = readers.get(past.host, HOSTS["claude"])
    injected = Told()
    for number, moment in enumerate(past.moments, 1):
        if moment.is_fresh or not host.keeps_context:
            injected = Told()
        before = past.before(moment)
        room = host.max_context_bytes
        injection = rehearsed(repository, moment.prompt, before, injected, room)
        keys = injected.keys | {*map(received_key, injection.items)}
        injected = Told(keys, injected.tokens + tokens_spent(injection))
        prompt = redact(moment.prompt[:MAX_PROMPT_CHARS])
        yield PastAnswer(
            number,
            moment.turn,
            prompt,
            tuple(item.memory for item in injection.items),
            tuple(item.memory for item in injection.pointers),
            injection.tokens,
            saved=injection.saved,
        )


def _corrections(
    repository: Repository, past: Past, answers: Iterable[PastAnswer]
) -> Iterator[Correction]:
    run = RunFacts(past.host, session=past.session)
    turns = _turns_by_draft(past, run)
    begun = opening(repository)
    received = {
        id: use.at
        for use in reversed(uses(repository.layout))
        for id in use.ids
        if use.session and use.session == past.session
    }
    corrected: dict[str, int] = {}  # id → turn in which the person last said it
    for draft in sorted(
        choose_drafts(past.turns, run), key=lambda draft: turns.get(draft.id, 0)
    ):
        if draft.kind in CORRECTING_KINDS and draft.id in turns and not draft.more:
            turn = turns[draft.id]
            *before, own = (answer for answer in answers if answer.turn <= turn)
            texts = {memory.id: 0 for memory in begun.in_full}
            titles = {memory.id for memory in begun.titled}
            known = {memory.id: memory for memory in begun.in_full}
            for answer in before:
                titles |= {memory.id for memory in answer.pointers}
                for memory in answer.memories:
                    texts.setdefault(memory.id, answer.number)
                    known[memory.id] = memory
            covering = _covering(repository, draft, known, past.turns[: turn - 1])
            if not covering:
                yield Correction(draft, own.number, MISSING)
                continue
            # the closest of those that the agent had
            memory = max(covering, key=lambda one: (one.id in texts, one.id in titles))
            id = memory.id
            last = corrected.get(id, 0)
            act = _fitting_act(memory, past.turns[last : turn - 1])
            verdict = SILENT
            if act or id in texts:
                verdict = COVERED
            elif id in titles:
                verdict = TITLED
            is_known = 0 < received.get(id, 0) < draft.at
            if not act and (is_known or (last and verdict == COVERED)):
                verdict = IGNORED
            corrected[id] = turn
            yield Correction(draft, own.number, verdict, memory, texts.get(id, 0), act)


def _covering(
    repository: Repository,
    draft: Draft,
    known: Mapping[str, Memory],
    turns: Sequence[Turn],
) -> list[Memory]:
    """Return the memories that say what a correction says, the closest first.

    A memory that applied to an act before it needs fewer words in common: the person corrected that act.
    """
    in_use = Filter(statuses=(ACTIVE,), current=True)
    near = {
        memory.id: memory
        for memory, _ in repository.core.near(draft.text, MAX_NEAR, in_use)
    }
    memories = list({**near, **known}.values())
    said = statement_of(draft.text).subject
    return covering_memories(draft, memories) or [
        memory
        for memory in memories
        if len(said & statement_of(memory.body).subject) >= MIN_ACT_WORDS
        and _fitting_act(memory, turns)
    ]


def _fitting_act(memory: Memory, turns: Iterable[Turn]) -> str:
    """Return the first command or file of an agent to which a memory applies; empty if there is none.

    The folder of an old session may be elsewhere: the end of a path must fit.
    """
    applies = applies_of(memory.extra, memory.when)
    if applies == Applies():
        return ""
    for did in (turn.did for turn in turns if turn.did):
        shown = SHOWN_CALL.fullmatch(did.command)
        command = shown[1] if shown else did.command
        acts = [Act(command)] if command else []
        files = [*file_writes(command, lambda path: False)]
        text = command or did.written or ""
        for file in files or ([] if did.written is None else [did.file]):
            parts = file.replace("\\", "/").split("/")
            ends = ("/".join(parts[at:]) for at in range(len(parts)))
            acts += [Act(path=end, text=text) for end in ends if end]
        if any(fits(applies, act) for act in acts):
            return one_line(redact(command or did.file), MAX_ACT_CHARS)
    return ""


def _turns_by_draft(past: Past, run: RunFacts) -> dict[str, int]:
    """Return the turn of each exchange, by the id of its draft."""
    return {
        draft.id: one.number
        for one in exchanges(past.turns)
        for draft in drafts_of_exchanges([one], run)
    }


# Read files of recorded sessions: JSON, plain or compressed with xz, with Claude Code's records of
# each session.

# start of the prompt after a compaction
COMPACTED = "This session is being continued from a previous conversation"
XZ_SUFFIX = ".xz"


def verdict_counts(corrections: Iterable[Correction]) -> dict[str, int]:
    """Return how many corrections there are, and how many of each verdict."""
    verdicts = Counter(one.verdict for one in corrections)
    names = {
        verdict: verdict.replace(" ", "_")
        for verdict in (COVERED, IGNORED, TITLED, SILENT, MISSING)
    }
    return {
        "corrections": verdicts.total(),
        **{name: verdicts[verdict] for verdict, name in names.items()},
    }


def read_recorded_sessions(file: str) -> list[Record]:
    """Return the sessions in a JSON file. Raise BadInput if it cannot be read or has no sessions."""
    hint = "name a JSON file with sessions, each with an id and Claude Code's records; see 'rawkomem docs bench'"
    try:
        with (
            lzma.open(file) if file.endswith(XZ_SUFFIX) else open(file, "rb") as stream
        ):
            found = json.load(stream)["sessions"]
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
        lzma.LZMAError,
    ) as failure:
        why = getattr(failure, "strerror", None) or failure
        raise BadInput(f"cannot read sessions from {file}: {why}", hint) from None
    if not isinstance(found, list) or not all(
        isinstance(one, dict) and "records" in one for one in found
    ):
        raise BadInput(f"{file} holds no sessions", hint)
    return found


def holds_sessions(file: str) -> bool:
    """Return whether a file holds recorded sessions instead of a transcript."""
    if not file.endswith(".json"):
        return file.endswith(XZ_SUFFIX)
    try:
        read_recorded_sessions(file)
    except BadInput:
        return False
    return True
