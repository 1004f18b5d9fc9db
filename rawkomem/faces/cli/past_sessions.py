"""Implement `rawkomem learn` and `replay`: find drafts in past sessions, and show what the sessions
would get now.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import click
from click import Choice, IntRange, Path, argument, command, confirm, open_file, option

from ...files.private import lock
from ...hosts.replay import (
    COVERED,
    MISSING,
    SILENT,
    Answer,
    Correction,
    Past,
    Replayed,
    find_sessions,
    read_past,
    replay,
    session_places,
)
from ...learn.drafts import AGENT_LABEL, exchange_of_draft
from ...learn.llm import is_learning
from ...learn.transcripts import MARKDOWN
from ...learn.turns import RUN_RESULTS, Run
from ...model.entries import AGREED, Draft, Memory
from ...model.errors import BadInput, NotFound, RawkoError
from ...repository import Repository
from ...repository.learning import Gone, Learned, Step, Taken
from ...repository.writing import Stored
from ...text.chunks import counted as count
from ...text.clean import one_line
from .commands import pass_layers, pass_repository
from .declarations import flag, text_option
from .drafting import draft_json, end_of, tell_next
from .options import DRY_RUN, JSON
from .terminal import (
    day,
    done_line,
    fields_of,
    note,
    paint,
    say,
    say_json,
    wide,
)

# Learn from many transcripts or with a language model, and print the progress and the result.

INTERRUPTED_CODE = 130  # exit code after Ctrl-C


def learn_transcripts(
    repository: Repository, files: tuple[str, ...], run: Run, ask: bool, **flags: bool
) -> Gone:
    """Learn from files and folders, and print the progress on stderr. Ctrl-C exits with 130."""
    try:
        if ask and files == ("-",):
            with open_file("-", "rb") as stream:
                return repository.transcripts.learn_stream(stream, run, flags["dry_run"], tell_step)
        return repository.transcripts.learn(files, run, ask, **flags, progress=tell_step)
    except KeyboardInterrupt:
        note("stopped: finished parts are stored; run the same command again to continue")
        raise click.exceptions.Exit(INTERRUPTED_CODE) from None


def tell_run(gone: Gone, dry_run: bool, as_json: bool) -> None:
    """Print the drafts of a run, and whether the model failed."""
    if as_json:
        say_json(
            {
                "dry_run": dry_run,
                **fields_of(gone, "model", "stopped", "counts"),
                "drafts": [draft_json(draft) for draft in gone.drafts],
            }
        )
    else:
        _tell_drafts(gone, dry_run)
    if gone.stopped:
        note(f"{gone.stopped}; run the same command again to ask the model again")


def tell_step(step: Step) -> None:
    """Print the progress of a run."""
    part = f", part {step.part} of {step.parts}" if step.parts else ""
    so_far = step.failure or f"{count(step.drafts, 'draft')} so far"
    name = "" if step.name in so_far else f"  {step.name}"
    note(f"file {step.file} of {step.files}{part}: {so_far}{name}")


def _tell_drafts(gone: Gone, dry_run: bool) -> None:
    done = paint("would draft" if dry_run else "draft", "green")
    for draft in gone.drafts:
        title = one_line(draft.title, wide())
        say(f"{done}  {paint(draft.kind, 'cyan')}  {title}  {paint(draft.id, 'dim')}")
        for who, words in exchange_of_draft(draft):
            say(
                f"       {who}: {end_of(words, wide()) if who == AGENT_LABEL else one_line(words, wide())}"
            )
    counts = ", ".join(f"{number} {what}" for what, number in gone.counts.items())
    note(
        f"{count(len(gone.drafts), 'draft')}; {counts}"
        if counts
        else count(len(gone.drafts), "draft")
    )
    if not dry_run:
        tell_next(gone.drafts)


# Implement `rawkomem learn`: find what a person said or agreed to in a session.


@command("learn")
@argument("files", nargs=-1, required=True, type=Path(exists=True, allow_dash=True))
@text_option(
    "--agent",
    help="The agent of the session. Default: the program that wrote the transcript.",
)
@text_option("--task", help="The task of the session. Default: the first request of the person.")
@option("--result", type=Choice(RUN_RESULTS), help="The result of the session.")
@text_option("--error", help="The error message.")
@flag(
    "--llm",
    "ask",
    help="Let the configured language model choose and write the drafts.",
)
@flag("--again", help="Read all sessions again, including finished ones.")
@DRY_RUN
@JSON
@pass_repository
def learn_command(
    repository: Repository,
    files: tuple[str, ...],
    ask: bool,
    again: bool,
    dry_run: bool,
    as_json: bool,
    **told: Any,
) -> None:
    """Find corrections and rules in a past agent session.

    FILES are transcripts of Claude Code, Codex, OpenCode, Gemini, Cursor or Copilot, histories of SpecStory, or
    chat logs (Markdown or JSON); '-' reads standard input. The command makes drafts of corrections, rules,
    preferences and decisions of the person, of statements that the person agreed to, of fixes, and of edits of
    files such as CLAUDE.md. 'rawkomem drafts' lists them. Only "remember that …" becomes a memory immediately. Reading
    a session twice adds nothing.

    If you name a folder or several files, the oldest session is read first. If the run is interrupted, run the
    command again to continue.

    Examples:
      rawkomem learn SESSION --dry-run
      rawkomem learn SESSION
    """
    if is_learning():
        note("nothing is learned: rawkomem itself runs the model that started this command")
        return
    for name in files:
        if name != "-" and not os.path.isfile(name) and not os.path.isdir(name):
            hint = "use '-' to read a transcript from standard input"
            raise BadInput(f"{name} is neither a file nor a folder", hint)
    run = Run(told["agent"], told["task"], told["result"] or "", told["error"])
    if ask or len(files) > 1 or os.path.isdir(files[0]):
        gone = learn_transcripts(repository, files, run, ask=ask, again=again, dry_run=dry_run)
        tell_run(gone, dry_run, as_json)
        return
    with open_file(files[0], "rb") as file:
        learned = repository.learning.learn(file, run, dry_run)
    for warning in learned.heard.warnings:
        note(f"{files[0]}: {warning}")
    if learned.stored or learned.again:
        repository.core.follow()
    if as_json:
        say_json(_learned_json(learned, dry_run))
    else:
        _tell_learned(learned, dry_run)


def _tell_learned(learned: Learned, dry_run: bool) -> None:
    for draft, stored in zip(
        learned.requests, learned.stored or [None] * len(learned.requests), strict=True
    ):
        what = f"{stored.outcome.what} {stored.id}" if stored else "would store"
        say(f"{paint(what, 'green')}  {one_line(draft.title, wide())}")
    for draft in learned.drafts:
        head = f"{paint('draft', 'green')}  {paint(draft.kind, 'cyan')}"
        say(f"{head}  {one_line(draft.title, wide())}  {paint(draft.id, 'dim')}")
        say(paint(f"       because: {one_line(draft.why, 200)}", "dim"))
    for draft, stored in learned.again:
        told = "a person also said it in another session"
        say(done_line(f"stored {stored.id}", one_line(draft.title, wide()), told))
    for draft, same in learned.known:
        say(f"{paint('known', 'dim')}  {one_line(draft.title, wide() // 2)}  {paint(same, 'dim')}")
    heard = learned.heard
    session = f" (session {heard.session})" if heard.session else ""
    counted = ", ".join(f"{number} {name}" for name, number in heard.counts.items())
    host = f" of {heard.host}" if heard.host != MARKDOWN else ""
    note(
        f"read {count(len(heard.turns), 'turn')}{host}{session}{f', records: {counted}' if counted else ''}"
    )
    if heard.turns and not heard.has_speakers and not heard.warnings:
        note(
            "no line names its speaker, so nothing counts as said by a person: see 'rawkomem docs learning'"
        )
    if learned.waiting:
        note(f"{count(len(learned.waiting), 'draft')} of this session already existed")
    if not (learned.drafts or learned.requests or learned.again):
        note("nothing new to learn")
    elif dry_run:
        note("nothing was written")
    else:
        tell_next(learned.drafts)


def _learned_json(learned: Learned, dry_run: bool) -> dict[str, Any]:
    heard = learned.heard
    return {
        "dry_run": dry_run,
        **fields_of(heard, "host", "session"),
        "turns": len(heard.turns),
        "records": heard.counts,
        "speakers": heard.has_speakers,
        "drafts": [draft_json(draft) for draft in learned.drafts],
        "waiting": [draft.id for draft in learned.waiting],
        "stored": [_stored_json(stored) for stored in learned.stored],
        "again": [_stored_json(stored) for _, stored in learned.again],
        "known": [{"title": draft.title, "same": same} for draft, same in learned.known],
    }


def _stored_json(stored: Stored) -> dict[str, Any]:
    return {
        **fields_of(stored.outcome, "id", "what"),
        "path": stored.path,
        "title": stored.entry.title,
    }


# Implement `rawkomem replay`: show what past sessions would get now, and which corrections that
# covers.

VERDICT_STYLES = {COVERED: "green", SILENT: "yellow", MISSING: "red"}
VERDICT_SIGNS = {COVERED: "✓", SILENT: "~", MISSING: "✗"}
MIN_TEXT_CHARS = 30
MAX_ANSWER_CHARS = 24  # of the words with which a person agrees


@command("replay")
@argument("sessions", nargs=-1, metavar="[SESSION]...", type=Path(exists=True, dir_okay=False))
@option(
    "--last", default=20, show_default=True, type=IntRange(1, 10_000),
    help="The number of past sessions to replay.",
)  # fmt: skip
@flag("--write", help="Make drafts of corrections that are not covered, without asking.")
@JSON
@pass_layers
def replay_command(
    repository: Repository, sessions: tuple[str, ...], last: int, write: bool, as_json: bool
) -> None:
    """Show which memories your past sessions would get now.

    SESSION is a transcript that 'rawkomem learn' reads, or a file of recorded sessions (JSON, or .xz). Without
    SESSION, the command takes the last sessions of this project: sessions that hooks saw, transcripts of Claude
    Code, Codex and Gemini CLI, and histories of SpecStory.

    A memory would have prevented a correction if it says the same and is injected for an earlier prompt of the
    session. A replay does not count as a use of a memory. 'rawkomem docs learning' explains how accurate a replay is.

    Examples:
      rawkomem replay
      rawkomem replay --last 5
    """
    pasts = [past for file in sessions for past in read_past(file) if past.moments]
    if not sessions:
        pasts = [*last_sessions(repository, last)]
    if not pasts and sessions:
        raise NotFound(
            f"no words of a person in {', '.join(sessions)}",
            "use a transcript that names its speakers: 'rawkomem docs learning' lists the formats",
        )
    if not pasts:
        looked = ", ".join(session_places(repository.layout).values())
        raise NotFound(
            "no past session was found",
            f"looked in {looked}; name a transcript: 'rawkomem replay FILE'",
        )
    replayed = []
    for number, past in enumerate(pasts, 1):
        note(f"session {number} of {len(pasts)}: {count(len(past.moments), 'prompt')}")
        replayed.append(replay(repository, past))
    missing = [one for session in replayed for one in session.corrections if one.verdict == MISSING]
    if as_json:
        written = _write_drafts(repository, missing).new if write else []
        say_json(
            {
                **_counts_of(replayed),
                "sessions": [_session_json(one) for one in replayed],
                "written": [draft.id for draft in written],
            }
        )
        return
    for session in replayed:
        tell_session(session)
    sum_up(replayed, bool(sessions))
    if missing and (write or _wants_drafts(len(missing))):
        _tell_written_drafts(_write_drafts(repository, missing))


def last_sessions(repository: Repository, last: int) -> Iterator[Past]:
    """Yield the last sessions of the project; a session in two files counts once."""
    seen: set[str] = set()
    for file in find_sessions(repository.layout):
        try:
            found = [past for past in read_past(file) if past.moments and past.session not in seen]
        except (RawkoError, OSError) as failure:
            note(f"cannot read {file}: {failure}")
            continue
        for past in found[: last - len(seen)]:
            seen.add(past.session or file)
            yield past
        if len(seen) >= last:
            return


def tell_session(session: Replayed) -> None:
    """Print the prompts of a session that get a memory or correct the agent."""
    past = session.past
    said: dict[int, list[Correction]] = {}
    for one in session.corrections:
        said.setdefault(one.prompt, []).append(one)
    shown = [answer for answer in session.answers if answer.memories or answer.number in said]
    prompts = count(len(session.answers), "prompt")
    rest = "" if shown else ", no memories, no corrections"
    head = paint(
        "  ".join(part for part in (day(past.at) if past.at else "", past.host) if part), "bold"
    )
    say(f"{head}  {paint(f'{one_line(past.name, wide() // 2)}  {prompts}{rest}', 'dim')}")
    for answer in shown:
        _tell_answer(answer, said.get(answer.number, []))


def _tell_answer(answer: Answer, corrections: Sequence[Correction]) -> None:
    """Print a prompt, or its corrections in place of its text, and then the injected memories."""
    number = f"{answer.number:>4}"
    for one in corrections:
        _answer_row(
            number,
            VERDICT_SIGNS[one.verdict],
            one.verdict,
            VERDICT_STYLES[one.verdict],
            _quoted(one.draft),
        )
        if one.memory:
            since = f"since prompt {one.since}" if one.since else ""
            _answer_row("", "", "", "dim", _memory_name(one.memory, since))
        number = ""
    covering = {one.memory.id for one in corrections if one.memory}
    if not corrections:
        _answer_row(number, " ", "asked", "dim", one_line(answer.prompt, _room()))
    for memory in answer.memories:
        if memory.id not in covering:
            _answer_row("", "+", "injected", "cyan", _memory_name(memory))


def _answer_row(number: str, sign: str, what: str, style: str, text: str) -> None:
    say(f"{number:4}  {paint(f'{sign:1} {what:12}', style)}  {text}")


def _room() -> int:
    """Return the columns left for a text after the number and the verdict."""
    return max(MIN_TEXT_CHARS, wide() - 23)


def _quoted(draft: Draft) -> str:
    """Return the person's words of a correction; only the correcting sentence if all of them are too long."""
    whole, room = " ".join(draft.said.split()), _room()
    if draft.kind == AGREED:
        answer = f"“{one_line(whole, MAX_ANSWER_CHARS)}” to: "
        return answer + one_line(draft.title, max(MIN_TEXT_CHARS, room - len(answer)))
    return f"“{whole if len(whole) <= room else one_line(draft.title, room)}”"


def _memory_name(memory: Memory, since: str = "") -> str:
    room = max(MIN_TEXT_CHARS, _room() - len(memory.id) - len(since) - 4)
    return f"{one_line(memory.title, room)}  {paint('  '.join(part for part in (memory.id, since) if part), 'dim')}"


def sum_up(replayed: Sequence[Replayed], named: bool) -> None:
    """Print how many corrections a memory would have prevented; `named` means that the user named the sessions."""
    counts = _counts_of(replayed)
    sessions = count(len(replayed), "session")
    where = (
        sessions if named else f"your last {sessions}" if len(replayed) > 1 else "your last session"
    )
    if not counts["corrections"]:
        say(f"There are no corrections in {where}.")
        return
    said = {verdict: counts[verdict.replace(" ", "_")] for verdict in VERDICT_STYLES}
    before = f"a memory would have prevented {said[COVERED]} before you said it"
    late = f"{said[SILENT]} in a memory that comes too late, " if said[SILENT] else ""
    head = paint(count(counts["corrections"], "correction"), "bold")
    missing = paint(f"{said[MISSING]} not covered", "red")
    say(f"\n{head} in {where}: {paint(before, 'green')}, {late}{missing}.")


def _counts_of(replayed: Sequence[Replayed]) -> dict[str, Any]:
    verdicts = Counter(one.verdict for session in replayed for one in session.corrections)
    answers = [answer for session in replayed for answer in session.answers]
    return {
        "prompts": len(answers),
        "injections": sum(bool(answer.memories) for answer in answers),
        "corrections": verdicts.total(),
        **{verdict.replace(" ", "_"): verdicts[verdict] for verdict in VERDICT_STYLES},
    }


def _wants_drafts(missing: int) -> bool:
    """Ask whether to write drafts; without a terminal, print how to write them and return False."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        note(
            "run the command again with --write to make drafts of corrections that are not covered"
        )
        return False
    return confirm(
        "Write it as a draft?" if missing == 1 else f"Write these {missing} as drafts?",
        default=False,
    )


def _write_drafts(repository: Repository, missing: Sequence[Correction]) -> Taken:
    with lock(repository.layout, "learn"):
        return repository.drafts.take([one.draft for one in missing], heard=False)


def _tell_written_drafts(taken: Taken) -> None:
    for draft in taken.new:
        say(done_line("draft", one_line(draft.title, wide() - 30), draft.id))
    for draft, stored in taken.stored:
        say(done_line(stored.outcome.what, one_line(draft.title, wide() - 40), stored.id))
    if taken.known:
        note(f"drafts already exist for {count(len(taken.known), 'correction')}")
    note("'rawkomem drafts' lists the drafts; 'rawkomem drafts keep ID' stores one as a memory")


def _session_json(session: Replayed) -> dict[str, Any]:
    return {
        **fields_of(session.past, "name", "host", "session", "at"),
        "prompts": [
            {
                **fields_of(answer, "number", "prompt", "tokens"),
                "injected": [fields_of(memory, "id", "title") for memory in answer.memories],
            }
            for answer in session.answers
        ],
        "corrections": [
            {
                **fields_of(one.draft, "id", "kind", "said", "title"),
                **fields_of(one, "prompt", "verdict", "since"),
                "memory": fields_of(one.memory, "id", "title") if one.memory else None,
            }
            for one in session.corrections
        ],
    }
