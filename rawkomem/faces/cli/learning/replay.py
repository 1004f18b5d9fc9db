"""Implement `rawkomem replay`: show what past sessions would get now, and which corrections that covers."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from ....files.lock import lock
from ....hosts.replay.find import find_sessions, places
from ....hosts.replay.past import read_past
from ....hosts.replay.replay import COVERED, MISSING, SILENT, replay
from ....model.draft import AGREED
from ....model.errors import NotFound, RawkoError
from ....repository import Repository
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_layers
from ..options import JSON
from ..terminal import day, fields_of, note, paint, say, say_json, wide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....hosts.replay.past import Past
    from ....hosts.replay.replay import Answer, Correction, Replayed
    from ....model.draft import Draft
    from ....model.entry import Memory
    from ....repository.wings.drafts import Taken

STYLES = {COVERED: "green", SILENT: "yellow", MISSING: "red"}
SIGNS = {COVERED: "✓", SILENT: "~", MISSING: "✗"}
MIN_TEXT_CHARS = 30
MAX_ANSWER_CHARS = 24  # of the words with which a person agrees


@click.command("replay")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--last", default=20, show_default=True, type=click.IntRange(1, 10_000),
    help="The number of past sessions to replay.",
)  # fmt: skip
@click.option("--write", is_flag=True, help="Make drafts of corrections that are not covered, without asking.")
@JSON
@pass_layers
def replay_command(repository: Repository, sessions: tuple[str, ...], last: int, write: bool, as_json: bool) -> None:
    """Show which memories your past sessions would get now.

    SESSION is a transcript that 'rawkomem learn' reads, or a file of recorded sessions (JSON, or .xz). Without
    SESSION, the command takes the last sessions of this project: sessions that hooks saw, transcripts of Claude
    Code, Codex and Gemini CLI, and histories of SpecStory.

    A correction in a session is covered if a memory says the same and would have been injected before it. A replay
    does not count as a use of a memory. 'rawkomem docs learning' explains how accurate a replay is.
    """
    pasts = list(_of_files(sessions) if sessions else last_sessions(repository, last))
    if not pasts:
        raise _nothing_found(repository, sessions)
    replayed = []
    for number, past in enumerate(pasts, 1):
        note(f"session {number} of {len(pasts)}: {count(len(past.moments), 'prompt')}")
        replayed.append(replay(repository, past))
    missing = [one for session in replayed for one in session.corrections if one.verdict == MISSING]
    if as_json:
        taken = _write(repository, missing) if write else None
        say_json({**_counts(replayed), "sessions": [_json(one) for one in replayed], "written": _written(taken)})
        return
    for session in replayed:
        tell_session(session)
    sum_up(replayed, bool(sessions))
    if missing and (write or _wants_drafts(len(missing))):
        _tell_written(_write(repository, missing))


def _of_files(files: Sequence[str]) -> Iterator[Past]:
    return (past for file in files for past in read_past(file) if past.moments)


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


def _nothing_found(repository: Repository, named: Sequence[str]) -> NotFound:
    if named:
        hint = "use a transcript that names its speakers: 'rawkomem docs learning' lists the formats"
        return NotFound(f"no words of a person in {', '.join(named)}", hint)
    looked = ", ".join(places(repository.layout).values())
    return NotFound("no past session was found", f"looked in {looked}; name a transcript: 'rawkomem replay FILE'")


def tell_session(session: Replayed, limit: int = 0) -> None:
    """Print the prompts of a session that get a memory or correct the agent; a `limit` of 0 prints all of them."""
    past = session.past
    said: dict[int, list[Correction]] = {}
    for one in session.corrections:
        said.setdefault(one.prompt, []).append(one)
    shown = [answer for answer in session.answers if answer.memories or answer.number in said]
    prompts = count(len(session.answers), "prompt")
    rest = "" if shown else ", no memories, no corrections"
    head = paint("  ".join(part for part in (day(past.at) if past.at else "", past.host) if part), "bold")
    say(f"{head}  {paint(f'{one_line(past.name, wide() // 2)}  {prompts}{rest}', 'dim')}")
    for answer in shown[: limit or None]:
        _tell_answer(answer, said.get(answer.number, []))


def _tell_answer(answer: Answer, corrections: Sequence[Correction]) -> None:
    """Print a prompt, or its corrections in place of its text, and then the injected memories."""
    number = f"{answer.number:>4}"
    for one in corrections:
        _row(number, SIGNS[one.verdict], one.verdict, STYLES[one.verdict], _quoted(one.draft, _room()))
        if one.memory:
            since = f"since prompt {one.since}" if 0 < one.since < one.prompt else ""
            _row("", "", "", "dim", _named(one.memory, since))
        number = ""
    covering = {one.memory.id for one in corrections if one.memory}
    if not corrections:
        _row(number, " ", "asked", "dim", one_line(answer.prompt, _room()))
    for memory in answer.memories:
        if memory.id not in covering:
            _row("", "+", "injected", "cyan", _named(memory))


def _row(number: str, sign: str, what: str, style: str, text: str) -> None:
    say(f"{number:4}  {paint(f'{sign:1} {what:12}', style)}  {text}")


def _room() -> int:
    """Return the columns left for a text after the number and the verdict."""
    return max(MIN_TEXT_CHARS, wide() - 23)


def _quoted(draft: Draft, room: int) -> str:
    """Return the person's words of a correction; only the correcting sentence if all of them are too long."""
    whole = " ".join(draft.said.split())
    if draft.kind == AGREED:
        answer = f"“{one_line(whole, MAX_ANSWER_CHARS)}” to: "
        return answer + one_line(draft.title, max(MIN_TEXT_CHARS, room - len(answer)))
    return f"“{whole if len(whole) <= room else one_line(draft.title, room)}”"


def _named(memory: Memory, since: str = "") -> str:
    room = max(MIN_TEXT_CHARS, _room() - len(memory.id) - len(since) - 4)
    return f"{one_line(memory.title, room)}  {paint('  '.join(part for part in (memory.id, since) if part), 'dim')}"


def sum_up(replayed: Sequence[Replayed], named: bool) -> None:
    """Print how many corrections are covered; `named` means that the user named the sessions."""
    counts = _counts(replayed)
    sessions = count(len(replayed), "session")
    where = sessions if named else f"your last {sessions}" if len(replayed) > 1 else "your last session"
    if not counts["corrections"]:
        say(f"There are no corrections in {where}.")
        return
    silent = counts[SILENT.replace(" ", "_")]
    known = f", {silent} in a memory that would not have been injected" if silent else ""
    covered, missing = counts[COVERED], counts[MISSING.replace(" ", "_")]
    say()
    head = paint(count(counts["corrections"], "correction"), "bold")
    parts = f"{paint(f'{covered} covered', 'green')}{known}, {paint(f'{missing} not covered', 'red')}"
    say(f"{head} in {where}: {parts}.")


def _counts(replayed: Sequence[Replayed]) -> dict[str, Any]:
    verdicts = Counter(one.verdict for session in replayed for one in session.corrections)
    answers = [answer for session in replayed for answer in session.answers]
    return {
        "prompts": len(answers),
        "injections": sum(bool(answer.memories) for answer in answers),
        "corrections": verdicts.total(),
        **{verdict.replace(" ", "_"): verdicts[verdict] for verdict in STYLES},
    }


def _wants_drafts(missing: int) -> bool:
    """Ask whether to write drafts; without a terminal, print how to write them and return False."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        note("run the command again with --write to make drafts of corrections that are not covered")
        return False
    return click.confirm("Write it as a draft?" if missing == 1 else f"Write these {missing} as drafts?", default=False)


def _write(repository: Repository, missing: Sequence[Correction]) -> Taken:
    with lock(repository.layout, "learn"):
        return repository.drafts.take([one.draft for one in missing], heard=False)


def _tell_written(taken: Taken) -> None:
    for draft in taken.new:
        say(f"{paint('draft', 'green')}  {one_line(draft.title, wide() - 30)}  {paint(draft.id, 'dim')}")
    for draft, stored in taken.stored:
        say(f"{paint(stored.outcome.what, 'green')}  {one_line(draft.title, wide() - 40)}  {paint(stored.id, 'dim')}")
    if taken.known:
        note(f"drafts already exist for {count(len(taken.known), 'correction')}")
    note("'rawkomem drafts' lists the drafts; 'rawkomem drafts keep ID' stores one as a memory")


def _written(taken: Taken | None) -> list[str]:
    return [draft.id for draft in taken.new] if taken else []


def _json(session: Replayed) -> dict[str, Any]:
    past = session.past
    return {
        **fields_of(past, "name", "host", "session", "at"),
        "prompts": [_answer_json(answer) for answer in session.answers],
        "corrections": [_correction_json(one) for one in session.corrections],
    }


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {**fields_of(answer, "number", "prompt", "tokens"), "injected": [*map(_memory_json, answer.memories)]}


def _correction_json(one: Correction) -> dict[str, Any]:
    told = {**fields_of(one.draft, "id", "kind", "said", "title"), **fields_of(one, "prompt", "verdict", "since")}
    return {**told, "memory": _memory_json(one.memory) if one.memory else None}


def _memory_json(memory: Memory) -> dict[str, str]:
    return fields_of(memory, "id", "title")
