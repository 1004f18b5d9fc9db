"""Implement `rawkomem learn`: find what a person said or agreed to in a session."""

from __future__ import annotations

import os
from typing import Any

import click

from ....learn.llm.model import is_learning
from ....learn.session.run import RESULTS, Run
from ....learn.session.transcript import MARKDOWN
from ....repository import Repository
from ....repository.wings.learning import Learned
from ....repository.writing import Stored
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..options import DRY_RUN, JSON
from ..terminal import fields_of, note, paint, say, say_json, wide
from .drafts import draft_json, tell_next
from .transcripts import learn_transcripts, tell_gone


@click.command("learn")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True))
@click.option("--agent", default="", help="The agent of the session. Default: the program that wrote the transcript.")
@click.option("--task", default="", help="The task of the session. Default: the first request of the person.")
@click.option("--result", type=click.Choice(RESULTS), help="The result of the session.")
@click.option("--error", default="", help="The error message.")
@click.option("--llm", "ask", is_flag=True, help="Let the configured language model choose and write the drafts.")
@click.option("--again", is_flag=True, help="Read all sessions again, including finished ones.")
@DRY_RUN
@JSON
@pass_repository
def learn_command(
    repository: Repository, files: tuple[str, ...], ask: bool, again: bool, dry_run: bool, as_json: bool, **told: Any
) -> None:
    """Find corrections and rules in a past agent session.

    FILES are transcripts of Claude Code, Codex, OpenCode, Gemini, Cursor or Copilot, histories of SpecStory, or
    chat logs (Markdown or JSON); '-' reads standard input. The command makes drafts of corrections, rules,
    preferences and decisions of the person, of statements that the person agreed to, of fixes, and of edits of
    files such as CLAUDE.md. 'rawkomem drafts' lists them. Only "remember that …" becomes a memory immediately. Reading
    a session twice adds nothing.

    If you name a folder or several files, the oldest session is read first. If the run is interrupted, run the
    command again to continue.
    """
    if is_learning():
        note("nothing is learned: rawkomem itself runs the model that started this command")
        return
    run = Run(told["agent"], told["task"], told["result"] or "", told["error"])
    if ask or len(files) > 1 or os.path.isdir(files[0]):
        gone = learn_transcripts(repository, files, run, ask=ask, again=again, dry_run=dry_run)
        drafts = [draft_json(draft) for draft in gone.drafts] if as_json else []
        tell_gone(gone, dry_run, drafts, as_json)
        return
    with click.open_file(files[0], "rb") as file:
        learned = repository.learning.learn(file, run, dry_run)
    for warning in learned.heard.warnings:
        note(f"{files[0]}: {warning}")
    if learned.stored or learned.again:
        repository.core.follow()
    if as_json:
        say_json(_json(learned, dry_run))
    else:
        _tell(learned, dry_run)


def _tell(learned: Learned, dry_run: bool) -> None:
    for draft, stored in zip(learned.requests, learned.stored or [None] * len(learned.requests), strict=True):
        what = f"{stored.outcome.what} {stored.id}" if stored else "would store"
        say(f"{paint(what, 'green')}  {one_line(draft.title, wide())}")
    for draft in learned.drafts:
        head = f"{paint('draft', 'green')}  {paint(draft.kind, 'cyan')}"
        say(f"{head}  {one_line(draft.title, wide())}  {paint(draft.id, 'dim')}")
        say(paint(f"       because: {one_line(draft.why, 200)}", "dim"))
    for draft, stored in learned.again:
        told = "a person also said it in another session"
        say(f"{paint(f'stored {stored.id}', 'green')}  {one_line(draft.title, wide())}  {paint(told, 'dim')}")
    for draft, same in learned.known:
        say(f"{paint('known', 'dim')}  {one_line(draft.title, wide() // 2)}  {paint(same, 'dim')}")
    heard = learned.heard
    session = f" (session {heard.session})" if heard.session else ""
    counted = ", ".join(f"{number} {name}" for name, number in heard.counts.items())
    host = f" of {heard.host}" if heard.host != MARKDOWN else ""
    note(f"read {count(len(heard.turns), 'turn')}{host}{session}{f', records: {counted}' if counted else ''}")
    if heard.turns and not heard.has_speakers and not heard.warnings:
        note("no line names its speaker, so nothing counts as said by a person: see 'rawkomem docs learning'")
    if learned.waiting:
        note(f"{count(len(learned.waiting), 'draft')} of this session already existed")
    if not (learned.drafts or learned.requests or learned.again):
        note("nothing new to learn")
    elif dry_run:
        note("nothing was written")
    else:
        tell_next(learned.drafts)


def _json(learned: Learned, dry_run: bool) -> dict[str, Any]:
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
    return {**fields_of(stored.outcome, "id", "what"), "path": stored.path, "title": stored.entry.title}
