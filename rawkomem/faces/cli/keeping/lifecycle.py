"""Implement `rawkomem tidy consolidate`, `prune` and `digest`: each prints a plan; `--apply` carries it out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ....files.move import Move
from ....git.user import user_name
from ....hosts.person import PERSON, confirmed
from ....model.clock import iso
from ....model.entry import Entry
from ....model.errors import Refused
from ....repository import Repository
from ....repository.wings.recall_check import FOUND_AMONG
from ....state.changes import REGISTRY
from ....state.derive import sources_in
from ....state.lifecycle.digest import IDLE_DAYS, MAX_DIGESTS, MIN_MEMBERS, Digesting
from ....text.clean import one_line
from ....text.count import count
from ..commands import pass_repository
from ..opening import open_repository
from ..options import DRY_RUN, JSON, LIMIT
from ..terminal import note, paint, say, say_json, wide
from .check_staged import staged_repositories
from .duplicates import tell_duplicates
from .plans import APPLY, refuse_both
from .sync import with_bar

if TYPE_CHECKING:
    from ....repository.wings.lifecycle import Done, Due  # loads numpy, which --staged does not need

LEAVING_KINDS = ("archive", "supersede", "quarantine")
SIGNS = {
    **dict.fromkeys(LEAVING_KINDS, ("-", "red")),
    "memory": ("+", "green"),
    "learning": ("+", "green"),
}  # other kinds change a memory that stays in use


@click.command("prune")
@APPLY
@DRY_RUN
@JSON
@pass_repository
def prune_command(repository: Repository, apply: bool, dry_run: bool, as_json: bool) -> None:
    """Propose to archive memories that are old and unused.

    The command prints a plan; --apply asks you at the terminal and carries it out. Strength falls with age and with
    the time since the last change; importance and links slow this down. Uses on this machine do not count. A memory
    stays if it is critical, if a person vouches for it, or if no other memory says the same; archive such a memory
    with 'rawkomem archive ID'. Memories that were superseded 90 days ago are archived, and broken links are
    removed.
    """
    refuse_both(apply, dry_run)
    done, outlook = repository.lifecycle.prune(dry_run=True, by=user_name())
    agreed = _agreed(repository, done, as_json) if apply and done.plan.entries else None
    if agreed is not None:
        done, _ = with_bar(lambda bar: repository.lifecycle.prune(False, user_name(), bar, agreed), "archiving")
    archived = sum(entry.kind == "archive" for entry in done.plan.entries)
    counts = {
        "total": len(outlook.strengths),
        "healthy": len(outlook.strengths) - len(outlook.weakening) - len(outlook.faded),
        "weakening": len(outlook.weakening),
        "archived": archived,
        "links_cleaned": len(done.plan.entries) - archived,
    }
    _tell(repository, done, as_json, counts)


@click.command("digest")
@click.option(
    "--min-size",
    default=MIN_MEMBERS,
    show_default=True,
    type=click.IntRange(2),
    help="Minimum number of related memories for a digest.",
)
@click.option(
    "--idle",
    default=IDLE_DAYS,
    show_default=True,
    type=click.IntRange(0),
    help="Number of days that the memories must be unchanged.",
)
@LIMIT.but(default=MAX_DIGESTS, least=1, help="Maximum number of digests per day.")
@click.option("--archive", is_flag=True, help="Archive memories that the digest covers completely.")
@APPLY
@DRY_RUN
@JSON
@pass_repository
def digest_command(
    repository: Repository, min_size: int, idle: int, limit: int, archive: bool, apply: bool, dry_run: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Propose digests of related memories that have not changed lately.

    The command prints a plan; --apply asks you at the terminal and carries it out. A digest is a memory made of the
    most important sentences of related memories, without a language model. With --archive, a memory is archived if
    the digest holds all of its numbers, names, negations and code, and if searches for the memory find the digest.
    Critical memories and memories that a person vouches for stay. To replace a digest, delete it first.
    """
    refuse_both(apply, dry_run)
    how, by = Digesting(min_size, idle, limit), user_name()
    done = repository.lifecycle.digest(how, archive, dry_run=True, by=by)
    agreed = _agreed(repository, done, as_json) if apply and done.plan.entries else None
    if agreed is not None:
        done = with_bar(lambda bar: repository.lifecycle.digest(how, archive, False, by, bar, agreed), "digesting")
    _tell(repository, done, as_json)


@click.command("consolidate")
@APPLY
@click.option("--staged", is_flag=True, help="Only look at memories that are staged in git.")
@DRY_RUN
@click.option("--if-due", is_flag=True, help="Only run after 10 new traces or a week. Not with --staged.")
@JSON
@click.pass_obj
def consolidate_command(folder: str, /, apply: bool, staged: bool, dry_run: bool, if_due: bool, as_json: bool) -> int:
    """Propose to merge duplicates and to settle contradictions.

    The command prints a plan; --apply carries it out. It merges duplicates, settles contradicting claims, counts
    confirmations by other sources, and writes learnings of traces with the same goal. Such traces are archived if a
    search for their goal finds the learning. Nothing is deleted. With --staged, the exit code is 1 if a staged
    memory repeats another memory.
    """
    refuse_both(apply, dry_run)
    if staged:
        return tell_duplicates(staged_repositories(folder), apply, as_json)
    repository = open_repository(folder)
    if if_due and not _is_due(repository.lifecycle.due(), as_json):
        return 0
    by = user_name()
    done = with_bar(lambda bar: repository.lifecycle.consolidate(not apply, by, bar), "consolidating")
    _tell(repository, done, as_json)
    return 0


def _agreed(repository: Repository, done: Done, as_json: bool) -> list[str]:
    """Ask a person to confirm a plan; return the memories that may be archived. Raise Refused without a person."""
    if repository.core.via != PERSON:
        hint = "leave out --apply to print the plan; 'rawkomem archive ID' archives one memory"
        raise Refused("only a person at a terminal may use --apply here", hint)
    if not as_json:
        _tell(repository, done, as_json)
    if not confirmed(f"Write {count(len(done.plan.entries), 'entry')}?"):
        raise click.Abort
    return [entry.about for entry in done.plan.entries if entry.kind == "archive"]


def _is_due(due: Due, as_json: bool) -> bool:
    if not due.is_due:
        if as_json:
            say_json({"due": False, "new_traces": due.new, "least": due.least, "last_run": iso(due.last)})
        else:
            note(f"not due: {due.new} new traces; it is due after {due.least} new traces or a week")
    return due.is_due


def _tell(repository: Repository, done: Done, as_json: bool, counts: dict[str, int] | None = None) -> None:
    if as_json:
        entries = [_json(done, entry) for entry in done.plan.entries]
        moves = [{"from": move.source, "to": move.target, "why": move.why} for move in done.moves]
        unfound = [{"id": id, "question": question} for id, question in done.unfound]
        put_away = {"moves": moves, "unfound": unfound} if moves or unfound else {}
        if done.staying:
            put_away["staying"] = [{"id": id, "why": why} for id, why in done.staying]
        told = {"dry_run": not done.written, "why": done.plan.why, **(counts or {}), "entries": entries}
        say_json({**told, **put_away})
        return
    used = {} if done.written else repository.lifecycle.accesses()
    for entry in done.plan.entries:
        here = f", used {count(used[entry.about].count, 'time')} on this machine" if entry.about in used else ""
        say(_line(done, entry) + (here if entry.kind == "archive" else ""))
        if not done.written and sources_in(entry.extra):
            say("".join(paint(f"    + {line}\n", "green") for line in entry.body.split("\n")).rstrip("\n"))
    tell_moves(done)
    for id, why in done.staying:
        note(f"{id} stays: {why}")
    if counts:
        note(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()))
    if not done.plan.entries and not done.moves:
        note("nothing to do")
    elif not done.written:
        note(f"{count(len(done.plan.entries), 'entry')} would be appended; nothing was written (--apply writes them)")


def tell_moves(done: Done) -> None:
    """Print the archived traces of each learning, and the traces that stay because a search misses the learning."""
    reasons: dict[str, list[Move]] = {}
    for move in done.moves:
        reasons.setdefault(move.why, []).append(move)
    for why, moves in reasons.items():
        where = os.path.dirname(moves[0].target)
        say(f"{paint('> archive    ', 'cyan')} {count(len(moves), 'trace')} to {where}/  {paint(why, 'dim')}")
    for id, question in done.unfound:
        note(f"the traces of {id} stay: it is not in the first {FOUND_AMONG} results for {one_line(question, 80)!r}")


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
