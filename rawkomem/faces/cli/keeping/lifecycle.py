"""Implement `rawkomem decay`, `compress` and `consolidate`."""

from __future__ import annotations

import os
from typing import Any

import click

from ....files.move import Move
from ....git.user import user_name
from ....model.clock import iso
from ....model.entry import Entry
from ....model.errors import BadInput
from ....repository import Repository
from ....repository.wings.lifecycle import FOUND_AMONG, Done, Due
from ....state.changes import REGISTRY
from ....state.derive import sources_in
from ....state.lifecycle.compress import IDLE_DAYS, MAX_DIGESTS, MIN_MEMBERS, Compression
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..opening import open_repository
from ..options import DRY_RUN, JSON, LIMIT
from ..terminal import note, paint, say, say_json, wide
from .check_staged import staged_repositories
from .sync import with_bar

LEAVING_KINDS = ("archive", "supersede", "quarantine")
SIGNS = {
    **dict.fromkeys(LEAVING_KINDS, ("-", "red")),
    "memory": ("+", "green"),
    "learning": ("+", "green"),
}  # others change a memory that stays


@click.command("decay")
@DRY_RUN
@JSON
@pass_repository
def decay_command(repository: Repository, dry_run: bool, as_json: bool) -> None:
    """Archive memories that faded, and clean broken links.

    A memory fades with its age and with the time since it was changed or used; importance, links and use hold it. What
    is archived stays readable, and 'rawkomem list --include archived' shows it. Critical memories never fade.
    """
    done, outlook = with_bar(lambda progress: repository.lifecycle.decay(dry_run, user_name(), progress), "archiving")
    weakening = len(outlook.weakening)
    counts = {
        "total": len(outlook.strengths),
        "healthy": len(outlook.strengths) - weakening - len(outlook.faded),
        "weakening": weakening,
        "archived": len(outlook.faded),
        "links_cleaned": len(done.plan.entries) - len(outlook.faded),
    }
    _tell(done, as_json, counts)


@click.command("compress")
@click.option(
    "--min-size",
    default=MIN_MEMBERS,
    show_default=True,
    type=click.IntRange(2),
    help="How many related memories a digest needs.",
)
@click.option(
    "--idle",
    default=IDLE_DAYS,
    show_default=True,
    type=click.IntRange(0),
    help="For how many days nobody used or changed them.",
)
@LIMIT.but(default=MAX_DIGESTS, least=1, help="How many digests to make in a day.")
@click.option("--archive", is_flag=True, help="Archive memories whose digest says all that they say.")
@DRY_RUN
@JSON
@pass_repository
def compress_command(
    repository: Repository, min_size: int, idle: int, limit: int, archive: bool, dry_run: bool, as_json: bool
) -> None:
    """Make digests of related memories that nobody used or changed lately.

    A digest is a memory made of the most telling sentences of related memories; no model is asked. A memory that says
    more than its digest (a number, a name, a negation, code) stays active. Memories that contradict each other are left
    out. The same memories are never compressed twice: delete a digest to make another.
    """
    how = Compression(min_size, idle, limit, archive)
    done = with_bar(lambda progress: repository.lifecycle.compress(how, dry_run, user_name(), progress), "compressing")
    _tell(done, as_json)


@click.command("consolidate")
@click.option("--apply", is_flag=True, help="Write, and put the consolidated traces into the archive: the default.")
@click.option("--staged", is_flag=True, help="Write, but leave the traces for a review: exit code 1 if it wrote.")
@DRY_RUN
@click.option("--if-due", is_flag=True, help="Only after enough new traces (10), or a week.")
@JSON
@click.pass_obj
def consolidate_command(folder: str, /, apply: bool, staged: bool, dry_run: bool, if_due: bool, as_json: bool) -> int:
    """Settle duplicates and contradictions, make digests and learnings, prune.

    In this order: duplicates, contradicting claims, what other sources confirm, digests, what was superseded long ago,
    is hardly believed or is as good as forgotten; then learnings of traces with the same goal, which are archived when
    their goals find the learning. Nothing is deleted, and a second run finds nothing to do.
    """
    if apply + staged + dry_run > 1:
        raise BadInput("--apply, --staged and --dry-run exclude each other", "give one of them")
    found = staged_repositories(folder) if staged else [open_repository(folder)]
    due = [one for one in found if not if_due or _is_due(one.lifecycle.due(), as_json)]
    return max([_consolidate(one, staged, dry_run, as_json) for one in due], default=0)


def _consolidate(repository: Repository, staged: bool, dry_run: bool, as_json: bool) -> int:
    by = user_name()
    done = with_bar(lambda progress: repository.lifecycle.consolidate(dry_run, by, progress, staged), "consolidating")
    _tell(done, as_json)
    entries = done.plan.entries
    if not staged or not entries:
        return 0
    learned = [entry for entry in entries if sources_in(entry.extra) and entry.kind != "memory"]
    if not as_json:
        root = os.path.relpath(repository.layout.root)
        count = f"{len(entries)} {'entry was' if len(entries) == 1 else 'entries were'}"
        note(f"{count} written: review them, 'git add {root}', commit again")
    if learned and not as_json:
        note(f"{len(learned)} learnings among them: once committed, 'rawkomem consolidate' archives their traces")
    return 1


def _is_due(due: Due, as_json: bool) -> bool:
    if not due.is_due:
        if as_json:
            say_json({"due": False, "new_traces": due.new, "least": due.least, "last_run": iso(due.last)})
        else:
            note(f"not due: {due.new} new traces, {due.least} make it due, or a week")
    return due.is_due


def _tell(done: Done, as_json: bool, counts: dict[str, int] | None = None) -> None:
    if as_json:
        entries = [_json(done, entry) for entry in done.plan.entries]
        moves = [{"from": move.source, "to": move.target, "why": move.why} for move in done.moves]
        unfound = [{"id": id, "question": question} for id, question in done.unfound]
        put_away = {"moves": moves, "unfound": unfound} if moves or unfound else {}
        if done.unheld:
            put_away["unheld"] = [{"id": id, "text": text} for id, text in done.unheld]
        told = {"dry_run": not done.written, "why": done.plan.why, **(counts or {}), "entries": entries}
        say_json({**told, **put_away})
        return
    for entry in done.plan.entries:
        say(_line(done, entry))
        if not done.written and sources_in(entry.extra):
            say("".join(paint(f"    + {line}\n", "green") for line in entry.body.split("\n")).rstrip("\n"))
    tell_moves(done)
    for id, text in done.unheld:
        note(f"{id} stays active: its digest does not say {one_line(text, 80)!r}")
    if counts:
        note(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()))
    if not done.plan.entries and not done.moves:
        note("nothing to do")
    elif not done.written:
        note(f"{count(len(done.plan.entries), 'entry')} would be appended; nothing was written")


def tell_moves(done: Done) -> None:
    """Print which traces were archived, by learning, and which stay because their goals do not find the learning."""
    reasons: dict[str, list[Move]] = {}
    for move in done.moves:
        reasons.setdefault(move.why, []).append(move)
    for why, moves in reasons.items():
        where = os.path.dirname(moves[0].target)
        say(f"{paint('> archive    ', 'cyan')} {count(len(moves), 'trace')} to {where}/  {paint(why, 'dim')}")
    for id, question in done.unfound:
        note(f"the traces of {id} stay: {one_line(question, 80)!r} does not find it among the first {FOUND_AMONG}")


def _line(done: Done, entry: Entry) -> str:
    sign, color = SIGNS.get(entry.kind, ("~", "cyan"))
    head = f"{sign} {entry.kind:11}"
    title = one_line(_title(done, entry) or entry.target, max(20, wide() // 2))
    return f"{paint(head, color)} {title}  {paint(entry.target, 'dim')}  {one_line(_why(entry), 300)}"


def _title(done: Done, entry: Entry) -> str:
    known = done.memories.get(entry.target)
    return known.title if known else entry.title


def _why(entry: Entry) -> str:
    if entry.creates:
        return f"of {count(len(sources_in(entry.extra)), 'memory')}"
    return str(entry.extra.get("reason", "")) or REGISTRY[entry.kind].tell(entry)


def _json(done: Done, entry: Entry) -> dict[str, Any]:
    said: dict[str, Any] = {"kind": entry.kind, "id": entry.target, "title": _title(done, entry), "why": _why(entry)}
    return {**said, **entry.extra, **({"body": entry.body} if entry.body else {})}
