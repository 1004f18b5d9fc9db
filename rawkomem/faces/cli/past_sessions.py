"""Implement `rawkomem learn` and `replay`: find drafts in past sessions, and show what the sessions
would get now.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import click
from click import Path, argument, confirm, open_file

from ...files.layout import Layout
from ...files.private import lock
from ...hosts.replay import (
    COVERED,
    IGNORED,
    MISSING,
    SILENT,
    TITLED,
    Correction,
    Past,
    find_sessions,
    read_past,
    replay,
    session_places,
    verdict_counts,
)
from ...learn.turns import RUN_RESULTS, RunFacts
from ...llm import is_learning
from ...model.entries import AGREED, Draft
from ...model.errors import BadInput, NotFound, RawkoError
from ...repository import Repository
from ...repository.learning import Gone, Learned, Step
from ...text.chunks import counted
from ...text.clean import one_line
from .answers import Fields
from .declarations import answer, verb
from .options import DRY_RUN
from .reviewing import DRAFT_FIELDS, tell_next
from .terminal import note

NEW_DRAFT = DRAFT_FIELDS.but(
    line="{0:=draft|green}  {kind:cyan}  {title:wide 20}  {id:dim}\n{exchange:text}\n{why:200|?  because   %|dim}"
)


def _sure_lines(learned: Learned | Gone) -> str:
    """Return the drafts that the person is asked about."""
    sure = [draft for draft in learned.drafts if not draft.more]
    return "\n".join(map(NEW_DRAFT.text, sure))


LEARNED = Fields(
    "dry_run host=heard.host session=heard.session turns:count=heard.turns records=heard.counts"
    " speakers=heard.has_speakers drafts waiting=waiting.id known",
    "{sure_lines:text}\n{known_lines:text}",
    remarks="""\
read {0.heard.turns:n turn}{session:? of session %}{records:?, records: %}
{no_speakers:?no line names its speaker, so nothing counts as said by a person: see 'rawkomem docs learning'}
{waiting:count|?drafts of this session that already existed: %}""",
    no_speakers=lambda learned: (
        bool(learned.heard.turns) and not learned.heard.has_speakers
    ),
    drafts=[NEW_DRAFT],
    sure_lines=_sure_lines,
    known=[
        Fields("title=0.title same=1", "{0:=known|dim}  {title:wide 60}  {same:dim}")
    ],
)
REVIEWED = Fields(
    "dry_run counts=heard.counts drafts waiting=waiting.id known",
    "{drafts_lines:text}\n{known_lines:text}",
    remarks="threads: {counts}\n{waiting:count|?drafts that already existed: %}",
    drafts=[NEW_DRAFT],
    known=LEARNED.parts["known"],
)
RUN = Fields(
    "dry_run model stopped counts drafts",
    "{sure_lines:text}",
    remarks="{drafts:n draft}{counts:?; %}\n{stopped:?%; run the same command again to ask the model again}",
    drafts=[NEW_DRAFT],
    sure_lines=_sure_lines,
)


@verb(
    "learn",
    argument("files", nargs=-1, type=Path(exists=True, allow_dash=True)),
    "--agent TEXT: The agent of the session. Default: the program that wrote the transcript.",
    "--task TEXT: The task of the session. Default: the first request of the person.",
    f"--result {'|'.join(RUN_RESULTS)}: The result of the session.",
    "--error TEXT: The error message.",
    "--llm >ask: Let the configured language model choose and write the drafts.",
    "--again: Read all sessions again, including finished ones.",
    "--reviews: FILES are review comments of GitHub or GitLab, in the JSON of their API.",
    DRY_RUN,
    LEARNED,
    RUN,
    REVIEWED,
)
def learn_command(
    repository: Repository, files: tuple[str, ...], agent: str, task: str, result: str | None, error: str, ask: bool,
    again: bool, reviews: bool, dry_run: bool,
) -> None:  # fmt: skip
    """Find corrections and rules in past agent sessions.

    FILES are transcripts of Claude Code, Codex, OpenCode, Gemini, Cursor or Copilot, histories of SpecStory or aider, or
    chat logs (Markdown or JSON); '-' reads standard input. Without FILES, the command reads all sessions of this
    project that it finds, as 'rawkomem replay' does. It makes drafts of corrections, rules,
    preferences and decisions of the person, of statements that the person agreed to, of fixes, and of edits of
    files such as CLAUDE.md. 'rawkomem drafts' lists them. Nothing becomes a memory until you keep its draft. Reading a
    session twice adds nothing.

    If you name a folder or several files, the oldest session is read first. If the run is interrupted, run the
    command again to continue.

    With --reviews, the command makes drafts of what reviewers asked for, if a change followed. It reads the
    output of 'gh api repos/OWNER/NAME/pulls/NUMBER/comments', and of GitLab's discussions and notes.

    Examples:
      rawkomem learn
      rawkomem learn SESSION --dry-run
      rawkomem learn --reviews comments.json
    """
    if is_learning():
        note(
            "nothing is learned: rawkomem itself runs the model that started this command"
        )
        return
    if not files and not reviews:
        files = _own_sessions(repository.layout)
    for name in files:
        if name != "-" and not os.path.isfile(name) and not os.path.isdir(name):
            hint = "use '-' to read a transcript from standard input"
            raise BadInput(f"{name} is neither a file nor a folder", hint)
    if reviews:
        if not files:
            raise BadInput("--reviews reads no file", "name one, or '-'")
        if any((agent, task, result, error, ask, again)):
            other = "--reviews goes with --dry-run and --json only"
            raise BadInput(other, "leave out the other options")
        _learn_reviews(repository, files, dry_run)
        return
    run = RunFacts(agent, task, result or "", error)
    if ask or len(files) > 1 or os.path.isdir(files[0]):
        gone = _learn_all(repository, files, run, ask, again, dry_run)
        answer(gone, RUN, dry_run=dry_run)
        _tell_written(gone.drafts, dry_run)
        return
    with open_file(files[0], "rb") as file:
        learned = repository.learning.learn(file, run, dry_run)
    _answer_learned(learned, LEARNED, dry_run)


def _own_sessions(layout: Layout) -> tuple[str, ...]:
    """Return the sessions of the project; raise NotFound if there are none."""
    if found := find_sessions(layout):
        return tuple(found)
    raise _no_session(layout, "rawkomem learn FILE")


def _no_session(layout: Layout, command: str) -> NotFound:
    looked = ", ".join(session_places(layout).values())
    hint = f"looked in {looked}; name a transcript: '{command}'"
    return NotFound("no past session was found", hint)


def _learn_reviews(repository: Repository, files: Sequence[str], dry_run: bool) -> None:
    """Make drafts of the review comments in files."""
    if folder := next(filter(os.path.isdir, files), ""):
        raise BadInput(f"{folder} is a folder", "name files with review comments")
    with ExitStack() as opened:
        streams = [opened.enter_context(open_file(name, "rb")) for name in files]
        learned = repository.learning.learn_reviews(streams, dry_run)
    _answer_learned(learned, REVIEWED, dry_run)


def _answer_learned(learned: Learned, fields: Fields, dry_run: bool) -> None:
    """Print what was learned, and what to do next."""
    answer(learned, fields, dry_run=dry_run)
    if learned.drafts:
        _tell_written(learned.drafts, dry_run)
    else:
        note("nothing new to learn")


def _tell_written(drafts: Sequence[Draft], dry_run: bool) -> None:
    if dry_run:
        note("nothing was written")
    else:
        tell_next(drafts)


def _learn_all(
    repository: Repository,
    files: tuple[str, ...],
    run: RunFacts,
    ask: bool,
    again: bool,
    dry_run: bool,
) -> Gone:
    """Learn from files and folders, and print the progress on stderr. Ctrl-C exits with 130."""
    try:
        if ask and files == ("-",):
            with open_file("-", "rb") as stream:
                return repository.learning.learn_stream(
                    stream, run, dry_run, _note_step
                )
        return repository.learning.learn_files(
            files, run, ask, again=again, dry_run=dry_run, progress=_note_step
        )
    except KeyboardInterrupt:
        note(
            "stopped: finished parts are stored; run the same command again to continue"
        )
        raise click.exceptions.Exit(130) from None  # as after Ctrl-C


def _note_step(step: Step) -> None:
    """Print the progress of a run."""
    part = f", part {step.part} of {step.parts}" if step.parts else ""
    so_far = step.failure or f"{counted(step.drafts, 'draft')} so far"
    name = "" if step.name in so_far else f"  {step.name}"
    note(f"file {step.file} of {step.files}{part}: {so_far}{name}")


VERDICT_SIGNS = {COVERED: "✓", IGNORED: "!", TITLED: "~", SILENT: "~", MISSING: "✗"}
MAX_ANSWER_CHARS = 24  # of the words with which a person agrees


def _quoted(one: Correction) -> str:
    """Return the person's words of a correction; what they agreed to if they only agreed."""
    draft = one.draft
    if draft.kind == AGREED:
        return f"“{one_line(draft.said, MAX_ANSWER_CHARS)}” to: {draft.title}"
    return f"“{draft.said}”"


INJECTED = Fields("id title", "      + injected      {title:wide 50}  {id:dim}")
PROMPT = Fields(
    "number prompt tokens injected=memories",
    "{number:4}    asked         {prompt:wide 24}\n{injected_lines:text}",
    injected=[INJECTED],
)
CORRECTION = Fields(
    "id=draft.id kind=draft.kind said=draft.said title=draft.title prompt verdict since act memory",
    "{prompt:4}  {sign} {verdict:<12}  {quote:wide 24}\n"
    "{memory_title:wide 60|?                      by %}{memory_id:?  %}{since:?, since prompt %}{act:?, at '%'}",
    memory=Fields("id title"),
    sign=lambda one: VERDICT_SIGNS[one.verdict],
    quote=_quoted,
    memory_title=lambda one: one.memory.title if one.memory else "",
    memory_id=lambda one: one.memory.id if one.memory else "",
)
SESSION = Fields(
    "name=past.name host=past.host session=past.session at=past.at prompts=answers corrections",
    "{at:day}  {host:bold}  {name:wide 50}  {prompts:n prompt}\n{helped:text}\n{corrections_lines:text}",
    prompts=[PROMPT],
    corrections=[CORRECTION],
    helped=lambda one: "\n".join(
        PROMPT.text(each) for each in one.answers if each.memories
    ),
)
REPLAY = Fields(
    "prompts injections corrections prevented not_followed title_only too_late not_covered sessions written",
    "{sessions_lines:text}",
    remarks="{corrections:n correction} in {sessions:n session}: a memory would have prevented {prevented} before you"
    " said it, {not_followed} not followed, {title_only} of which the agent had the title only, {too_late} in a memory that comes"
    " too late, {not_covered} not covered",
    sessions=[SESSION],
)


@verb(
    "replay",
    argument(
        "sessions",
        nargs=-1,
        metavar="[SESSION]...",
        type=Path(exists=True, dir_okay=False),
    ),
    "--last 1..10000 =20: The number of past sessions to replay.",
    "--write: Make drafts of corrections that are not covered, without asking.",
    REPLAY,
)
def replay_command(
    layered: Repository,
    sessions: tuple[str, ...],
    last: int,
    write: bool,
    as_json: bool,
) -> None:
    """Show which memories your past sessions would get now.

    SESSION is a transcript that 'rawkomem learn' reads, or a file of recorded sessions (JSON, or .xz). Without
    SESSION, the command takes the last sessions of this project: sessions that hooks saw, transcripts of Claude
    Code, Codex and Gemini CLI, and histories of SpecStory and aider.

    A memory would have prevented a correction if it says the same and its text reaches the agent before: at the start,
    with an earlier prompt, or at a command or a file to which it applies. It does not count if the agent of that session had received it, or
    if you had said the same before in that session. A replay does not count as a use of a memory. 'rawkomem docs learning' explains how accurate a replay is.

    Examples:
      rawkomem replay
      rawkomem replay --last 5
    """
    if sessions:
        pasts = [past for file in sessions for past in read_past(file) if past.moments]
    else:
        pasts = [*last_sessions(layered, last)]
    if not pasts and sessions:
        raise NotFound(
            f"no words of a person in {', '.join(sessions)}",
            "use a transcript that names its speakers: 'rawkomem docs learning' lists the formats",
        )
    if not pasts:
        raise _no_session(layered.layout, "rawkomem replay FILE")
    replayed = []
    for number, past in enumerate(pasts, 1):
        note(
            f"session {number} of {len(pasts)}: {counted(len(past.moments), 'prompt')}"
        )
        replayed.append(replay(layered, past))
    prompts = [one for session in replayed for one in session.answers]
    corrections = [one for session in replayed for one in session.corrections]
    missing = [one for one in corrections if one.verdict == MISSING]
    answer(
        {
            "prompts": len(prompts),
            "injections": sum(bool(each.memories) for each in prompts),
            **verdict_counts(corrections),
            "sessions": replayed,
            "written": _write_drafts(layered, missing) if write else [],
        }
    )
    if not missing or write or as_json:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        note(
            "run the command again with --write to make drafts of corrections that are not covered"
        )
    elif confirm(
        f"Write {counted(len(missing), 'draft')} of what is not covered?", default=False
    ):
        _write_drafts(layered, missing)


def last_sessions(repository: Repository, last: int) -> Iterator[Past]:
    """Yield the last sessions of the project; a session in two files counts once."""
    seen: set[str] = set()
    for file in find_sessions(repository.layout):
        try:
            pasts = [
                past
                for past in read_past(file)
                if past.moments and past.session not in seen
            ]
        except (RawkoError, OSError) as failure:
            note(f"cannot read {file}: {failure}")
            continue
        for past in pasts[: last - len(seen)]:
            seen.add(past.session or file)
            yield past
        if len(seen) >= last:
            return


def _write_drafts(repository: Repository, missing: Sequence[Correction]) -> list[str]:
    """Make drafts of corrections; return the ids of the new drafts."""
    with lock(repository.layout, "learn"):
        new = repository.drafts.take([one.draft for one in missing])
    if len(new) < len(missing):
        existing = counted(len(missing) - len(new), "correction")
        note(f"drafts already exist for {existing}")
    tell_next(new)
    return [draft.id for draft in new]
