"""Implement `rawkomem tidy`: each command prints a plan for housekeeping; `--apply` carries it out."""

from __future__ import annotations

import os
from typing import Any

from click import Abort, Context, IntRange, argument, command, group, option, pass_context, pass_obj

from ...files.archive import BUNDLE_SUFFIX, Move
from ...git.runner import user_name
from ...hosts.person import PERSON, confirmed
from ...model.entries import Entry
from ...model.errors import BadInput, Refused
from ...model.values import as_dict, iso
from ...repository import Repository
from ...repository.maintenance import FOUND_AMONG, Done, Retained
from ...state.digests import IDLE_DAYS, MAX_DIGESTS, MIN_DIGEST_MEMBERS, Digesting
from ...state.fold import REGISTRY
from ...state.trust import sources_in
from ...text.chunks import counted
from ...text.clean import one_line
from .checks import staged_repositories, tell_duplicates
from .commands import pass_repository
from .declarations import Verbs, flag
from .listing import toc_command
from .opening import open_repository
from .options import DRY_RUN, JSON, LIMIT
from .syncing import with_bar
from .terminal import note, paint, say, say_answer, say_json, wide

# Declare the options of commands that print a plan and carry it out with `--apply`.

APPLY = flag("--apply", help="Carry out the plan. Without this option, nothing is written.")


def refuse_both(apply: bool, dry_run: bool) -> None:
    """Raise BadInput if both options are used."""
    if apply and dry_run:
        raise BadInput("--apply and --dry-run exclude each other", "use one of them")


# Implement `rawkomem tidy consolidate`, `prune` and `digest`: each prints a plan; `--apply`
# carries it out.

LEAVING_KINDS = ("archive", "supersede", "quarantine")
KIND_SIGNS = {
    **dict.fromkeys(LEAVING_KINDS, ("-", "red")),
    "memory": ("+", "green"),
    "learning": ("+", "green"),
}  # other kinds change a memory that stays in use


@command("prune")
@flag("--unique", help="Also archive faded memories that say what no other memory says.")
@APPLY
@DRY_RUN
@JSON
@pass_repository
def prune_command(
    repository: Repository, unique: bool, apply: bool, dry_run: bool, as_json: bool
) -> None:
    """Propose to archive memories that are old and unused.

    The command prints a plan; --apply asks you at the terminal and carries it out. Strength falls with age and with
    the time since the last change; importance and links slow this down. Uses on this machine do not count. A memory
    stays if it is critical, if a person vouches for it, or, without --unique, if no other memory says the same; archive
    such a memory with 'rawkomem delete ID --archive'. Memories that were superseded 90 days ago are archived, and broken
    links are removed.

    Examples:
      rawkomem tidy prune --unique
      rawkomem tidy prune --apply
    """
    refuse_both(apply, dry_run)
    prune, by = repository.lifecycle.prune, user_name()
    done, outlook = prune(True, by, unique=unique)
    if apply and done.plan.entries:
        agreed = _agreed(repository, done, as_json)
        done, _ = with_bar(lambda bar: prune(False, by, bar, agreed, unique), "archiving")
    archived = {entry.about for entry in done.plan.entries if entry.kind == "archive"}
    cleaned = len(done.plan.entries) - len(archived)
    counts = {**outlook.counts(archived), "links_cleaned": cleaned}
    _tell_plan(repository, done, as_json, counts)


@command("digest")
@option(
    "--min-size",
    default=MIN_DIGEST_MEMBERS,
    show_default=True,
    type=IntRange(2),
    help="Minimum number of related memories for a digest.",
)
@option(
    "--idle",
    default=IDLE_DAYS,
    show_default=True,
    type=IntRange(0),
    help="Number of days that the memories must be unchanged.",
)
@LIMIT.but(default=MAX_DIGESTS, least=1, help="Maximum number of digests per day.")
@flag("--archive", help="Archive memories that the digest covers completely.")
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

    Examples:
      rawkomem tidy digest
      rawkomem tidy digest --min-size 5
    """
    refuse_both(apply, dry_run)
    how, by = Digesting(min_size, idle, limit), user_name()
    done = repository.lifecycle.digest(how, archive, dry_run=True, by=by)
    if apply and done.plan.entries:
        agreed = _agreed(repository, done, as_json)
        done = with_bar(
            lambda bar: repository.lifecycle.digest(how, archive, False, by, bar, agreed),
            "digesting",
        )
    _tell_plan(repository, done, as_json)


@command("consolidate")
@APPLY
@flag("--staged", help="Only look at memories that are staged in git.")
@DRY_RUN
@flag("--if-due", help="Only run after 10 new traces or a week. Not with --staged.")
@JSON
@pass_obj
def consolidate_command(
    folder: str, /, apply: bool, staged: bool, dry_run: bool, if_due: bool, as_json: bool
) -> int:
    """Propose to merge duplicates and to settle contradictions.

    The command prints a plan; --apply carries it out. It merges duplicates, settles contradicting claims, counts
    confirmations by other sources, and writes learnings of traces with the same goal. Such traces are archived if a
    search for their goal finds the learning. Nothing is deleted. With --staged, the exit code is 1 if a staged
    memory repeats another memory.

    Examples:
      rawkomem tidy consolidate
      rawkomem tidy consolidate --apply
    """
    refuse_both(apply, dry_run)
    if staged:
        return tell_duplicates(staged_repositories(folder), apply, as_json)
    repository = open_repository(folder)
    due = repository.lifecycle.due()
    if if_due and not due.is_due:
        if as_json:
            say_json(
                {"due": False, "new_traces": due.new, "least": due.least, "last_run": iso(due.last)}
            )
        else:
            note(f"not due: {due.new} new traces; it is due after {due.least} new traces or a week")
        return 0
    by = user_name()
    done = with_bar(
        lambda bar: repository.lifecycle.consolidate(not apply, by, bar), "consolidating"
    )
    _tell_plan(repository, done, as_json)
    return 0


def _agreed(repository: Repository, done: Done, as_json: bool) -> list[str]:
    """Ask a person to confirm a plan; return the memories that may be archived. Raise Refused without a person."""
    if repository.core.via != PERSON:
        raise Refused(
            "only a person at a terminal may use --apply here",
            "leave out --apply to print the plan; 'rawkomem delete ID --archive' archives one memory",
        )
    if not as_json:
        _tell_plan(repository, done, as_json)
    if not confirmed(f"Write {counted(len(done.plan.entries), 'entry')}?"):
        raise Abort
    return [entry.about for entry in done.plan.entries if entry.kind == "archive"]


def _tell_plan(
    repository: Repository, done: Done, as_json: bool, counts: dict[str, int] | None = None
) -> None:
    if as_json:
        entries = [_entry_json(done, entry) for entry in done.plan.entries]
        moves = [{"from": move.source, "to": move.target, "why": move.why} for move in done.moves]
        unfound = [{"id": id, "question": question} for id, question in done.unfound]
        put_away = {"moves": moves, "unfound": unfound} if moves or unfound else {}
        if done.staying:
            put_away["staying"] = [{"id": id, "why": why} for id, why in done.staying]
        say_json(
            {
                "dry_run": not done.written,
                "why": done.plan.why,
                **(counts or {}),
                "entries": entries,
                **put_away,
            }
        )
        return
    used = {} if done.written else repository.lifecycle.accesses()
    for entry in done.plan.entries:
        here = (
            f", used {counted(used[entry.about].count, 'time')} on this machine"
            if entry.about in used
            else ""
        )
        say(_entry_line(done, entry) + (here if entry.kind == "archive" else ""))
        if not done.written and sources_in(entry.extra):
            say(
                "".join(
                    paint(f"    + {line}\n", "green") for line in entry.body.split("\n")
                ).rstrip("\n")
            )
    tell_moves(done)
    for id, why in done.staying:
        note(f"{id} stays: {why}")
    if counts:
        note(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()))
    if not done.plan.entries and not done.moves:
        note("nothing to do")
    elif not done.written:
        note(
            f"{counted(len(done.plan.entries), 'entry')} would be appended; nothing was written (--apply writes them)"
        )


def tell_moves(done: Done) -> None:
    """Print the archived traces of each learning, and the traces that stay because a search misses the learning."""
    reasons: dict[str, list[Move]] = {}
    for move in done.moves:
        reasons.setdefault(move.why, []).append(move)
    for why, moves in reasons.items():
        where = os.path.dirname(moves[0].target)
        say(
            f"{paint('> archive    ', 'cyan')} {counted(len(moves), 'trace')} to {where}/  {paint(why, 'dim')}"
        )
    for id, question in done.unfound:
        note(
            f"the traces of {id} stay: it is not in the first {FOUND_AMONG} results for {one_line(question, 80)!r}"
        )


def _entry_line(done: Done, entry: Entry) -> str:
    sign, color = KIND_SIGNS.get(entry.kind, ("~", "cyan"))
    head = f"{sign} {entry.kind:11}"
    title = one_line(_entry_title(done, entry) or entry.target, max(20, wide() // 2))
    return f"{paint(head, color)} {title}  {paint(entry.target, 'dim')}  {one_line(_entry_reason(entry), 300)}"


def _entry_title(done: Done, entry: Entry) -> str:
    known = done.memories.get(entry.target)
    return known.title if known else entry.title


def _entry_reason(entry: Entry) -> str:
    if entry.creates:
        return f"of {counted(len(sources_in(entry.extra)), 'memory')}"
    return str(entry.extra.get("reason", "")) or REGISTRY[entry.kind].tell(entry)


def _entry_json(done: Done, entry: Entry) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "id": entry.target,
        "title": _entry_title(done, entry),
        "why": _entry_reason(entry),
        **entry.extra,
        **({"body": entry.body} if entry.body else {}),
    }


# Implement `rawkomem tidy gather`: move changes from .rawko/changes into the files of their
# memories.


@command("gather")
@DRY_RUN
@JSON
@pass_repository
def gather_command(repository: Repository, dry_run: bool, as_json: bool) -> None:
    """Move committed changes into the files of their memories.

    A change of a memory that git tracks is stored as a file in .rawko/changes, so that branches merge without
    conflicts. Run this command on one branch from time to time and commit the result. Changes that are not committed
    stay where they are.

    Examples:
      rawkomem tidy gather --dry-run
      rawkomem tidy gather
    """
    done = repository.gathering.run(dry_run)
    if as_json:
        say_json(
            {
                "dry_run": not done.written,
                "moved": [
                    {"id": entry.id, "kind": entry.kind, "about": entry.about, "to": entry.path}
                    for entry in done.entries
                ],
                "removed": list(done.removed),
                "left": [as_dict(one) for one in done.left],
            }
        )
        return
    for entry in done.entries:
        say(f"{paint('>', 'cyan')} {entry.kind:9} {entry.id} → {entry.path}")
    for one in done.left:
        note(f"{one.path} was not moved: {one.why}")
    if not done.entries:
        note("nothing to gather")
    elif done.written:
        note(f"{counted(len(done.removed), 'file')} gathered: commit the result")
    else:
        note("nothing was written or moved")


# Implement `rawkomem tidy retention`: archive and compress old traces, and restore them.


@group("retention", invoke_without_command=True)
@APPLY
@DRY_RUN
@JSON
@pass_context
def retention_command(ctx: Context, /, apply: bool, dry_run: bool, as_json: bool) -> None:
    """Propose to archive old traces and to compress old archives.

    The command prints a plan; --apply carries it out. It first writes missing learnings. Traces that are the source of
    a learning move to the archive 24 hours after their last change. Each month of the archive is compressed after a
    year. No trace is changed or deleted. 'rawkomem tidy retention restore' undoes both steps.

    Examples:
      rawkomem tidy retention
      rawkomem tidy retention list
    """
    if ctx.invoked_subcommand:
        return
    refuse_both(apply, dry_run)
    _tell_retained(open_repository(ctx.obj).retention.run(not apply, user_name()), as_json)


def _tell_retained(done: Retained, as_json: bool) -> None:
    added = [
        f"{paint('+', 'green')} {entry.kind:9} {one_line(entry.title or entry.target, 100)}"
        for entry in done.plan.entries
    ]
    moved = [
        f"{paint('>', 'cyan')} {move.source} → {os.path.dirname(move.target)}/  {paint(move.why, 'dim')}"
        for move in done.moves
    ]
    packed = [
        f"{paint('>', 'cyan')} {folder}/ → {folder}.…{BUNDLE_SUFFIX}" for folder in done.packed
    ]
    lines = [*added, *moved, *packed]
    say_answer(
        as_json,
        {
            "dry_run": not done.written,
            "entries": [
                {"kind": entry.kind, "id": entry.target, "title": entry.title}
                for entry in done.plan.entries
            ],
            "moves": [
                {"from": move.source, "to": move.target, "why": move.why} for move in done.moves
            ],
            "packed": list(done.packed),
        },
        lines,
        "nothing to do",
    )
    if lines and not done.written and not as_json:
        note("nothing was written or moved; --apply carries out the plan")


@retention_command.command("list")
@JSON
@pass_repository
def retention_list(repository: Repository, as_json: bool) -> None:
    """List the months in the archive.

    Examples:
      rawkomem tidy retention list
    """
    found = repository.retention.archived()
    if as_json:
        say_json(found, versioned=False)
        return
    for name, files in found.items():
        say(f"{name}  {paint(counted(files, 'file') if files else 'compressed', 'dim')}")
    if not found:
        note("the archive is empty")


@retention_command.command("restore")
@argument("what", nargs=-1, required=True)
@JSON
@pass_repository
def retention_restore(repository: Repository, what: tuple[str, ...], as_json: bool) -> None:
    """Restore archived traces.

    WHAT is a month (2025-03) or the id of a trace. A compressed month is decompressed; an archived month moves back
    to the traces. A trace moves back to its folder, even from a compressed month.

    Examples:
      rawkomem tidy retention restore 2026-03
    """
    moves, unpacked = repository.retention.restore(what)
    data = {"moves": [{"from": m.source, "to": m.target} for m in moves], "unpacked": unpacked}
    months = [f"{paint('unpacked', 'green')}  {month}/" for month in unpacked]
    traces = [f"{paint('restored', 'green')}  {move.target}" for move in moves]
    say_answer(as_json, data, [*months, *traces])


# Implement `rawkomem tidy`: print a plan for housekeeping; `--apply` carries it out.


@group("tidy", cls=Verbs)
def tidy_command() -> None:
    """Merge duplicates, archive old memories, write MEMORY.md.

    Each command except 'gather' and 'toc' prints a plan and changes nothing; --apply carries the plan out. No command deletes a
    memory. See 'rawkomem docs lifecycle'.

    Examples:
      rawkomem tidy consolidate
      rawkomem tidy prune
      rawkomem tidy prune --apply
    """


for _command in (
    consolidate_command,
    digest_command,
    prune_command,
    gather_command,
    retention_command,
    toc_command,
):
    tidy_command.add_command(_command)
