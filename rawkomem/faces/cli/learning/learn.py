"""Implement `rawkomem learn`: remember what was decided, corrected and found out in a session."""

from __future__ import annotations

from itertools import zip_longest
from typing import IO, Any

import click

from ....learn.llm.model import is_learning
from ....learn.session.listen import Finding
from ....learn.session.remember import RESULTS, Run
from ....model.entry import Entry
from ....repository import Repository
from ....repository.wings.learning import Learned
from ....repository.writing import Stored
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..options import DRY_RUN, JSON
from ..terminal import fields_of, note, paint, say, say_json, wide


@click.command("learn")
@click.argument("file", type=click.File("rb"))
@click.option("--agent", default="", help="Who ran. Default: the host that wrote the transcript.")
@click.option("--task", default="", help="What the run was for. Default: the first thing that a person asked.")
@click.option("--result", type=click.Choice(RESULTS), help="How it ended.")
@click.option("--error", default="", help="What went wrong.")
@click.option("--llm", "ask", is_flag=True, help="Let the configured language model judge.")
@DRY_RUN
@JSON
@pass_repository
def learn_command(
    repository: Repository, file: IO[bytes], ask: bool, dry_run: bool, as_json: bool, **told: Any
) -> None:
    """Remember what was decided, corrected and found out in a session.

    FILE is a transcript of Claude Code, Codex, OpenCode or Gemini, a chat log (Markdown or JSON), or an agent's output;
    '-' reads standard input. Decisions, corrections, preferences, faults with their causes, limits, conventions,
    versions and the layout of code are kept as they were said; no model is asked unless you say --llm. The same session
    again adds nothing. See 'rawkomem docs learn'.
    """
    if is_learning():
        note("this runs below a model that rawkomem itself asked: nothing is learned")
        return
    run = Run(told["agent"], told["task"], told["result"] or "", told["error"])
    learned = repository.learning.learn(file, run, ask, dry_run)
    for warning in learned.heard.warnings:
        note(f"{file.name}: {warning}")
    if learned.judged.failure:
        note(f"the model was of no help, the offline result stands: {learned.judged.failure}")
    if learned.stored:
        repository.core.follow()
    if as_json:
        say_json(_json(learned, dry_run))
    else:
        _tell(learned, dry_run)


def _tell(learned: Learned, dry_run: bool) -> None:
    for finding, stored in zip_longest(learned.news, learned.stored):
        _tell_finding(finding, stored)
    for finding, same in learned.known:
        say(f"{paint('known', 'dim')}    {one_line(finding.entry.title, wide() // 2)}  {paint(same, 'dim')}")
    heard = learned.heard
    session = f" (session {heard.session})" if heard.session else ""
    note(f"{heard.turns} turns of {heard.host}{session}{_counted(', records', heard.counts)}")
    if learned.skipped:
        note(f"passed over{_counted('', learned.skipped)}")
    if not learned.news:
        note("nothing new to learn")
    elif dry_run:
        note(f"{count(len(learned.news), 'memory')} would be stored; nothing was written")


def _tell_finding(finding: Finding, stored: Stored | None) -> None:
    """Print a memory, what became of it, and why it was kept."""
    entry = finding.entry
    what = stored.outcome.what if stored else "would store"
    done = "learned" if what == "stored" else what
    place = f"  {stored.outcome.id}  {stored.written[0].entry.path}" if stored else ""
    say(f"{paint(done, 'green')}  {paint(_type(entry), 'cyan')}  {one_line(entry.title, wide())}{paint(place, 'dim')}")
    say(f"         {one_line(finding.why, 200)}")
    for condition in entry.when:
        say(f"         {paint(condition, 'dim')}")
    if stored and stored.outcome.others:
        say(f"         {stored.outcome.reason or what}: {', '.join(stored.outcome.others)}")


def _type(entry: Entry) -> str:
    return str(entry.extra.get("type", entry.kind))


def _counted(what: str, counts: dict[str, int]) -> str:
    if not counts:
        return ""
    return f"{what}: " + ", ".join(
        f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1])
    )


def _json(learned: Learned, dry_run: bool) -> dict[str, Any]:
    heard, judged = learned.heard, learned.judged
    return {
        "dry_run": dry_run,
        **fields_of(heard, "host", "session", "turns"),
        "records": heard.counts,
        **fields_of(judged, "model", "failure"),
        "learned": [_finding_json(*pair) for pair in zip_longest(learned.news, learned.stored)],
        "known": [{"title": finding.entry.title, "same": same} for finding, same in learned.known],
        "skipped": learned.skipped,
    }


def _finding_json(finding: Finding, stored: Stored | None) -> dict[str, Any]:
    entry = finding.entry
    kept = {"id": "", "what": "", "path": ""}
    if stored:
        kept = {**fields_of(stored.outcome, "id", "what"), "path": stored.written[0].entry.path}
    lists = {"whenToUse": [*entry.when], "tags": [*entry.tags]}
    said = {"type": _type(entry), **fields_of(entry, "title", "importance"), **lists, "text": entry.body}
    return {**kept, **said, **fields_of(finding, "why", "score", "turn")}
