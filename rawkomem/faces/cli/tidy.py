"""Implement `rawkomem tidy`: each command prints a plan for housekeeping; `--apply` carries it out."""

from __future__ import annotations

from typing import Any

from click import Abort

from ...files.session_records import accesses
from ...hosts.person import PERSON, confirmed
from ...model.entries import Entry
from ...model.errors import Refused
from ...repository import Repository
from ...repository.maintenance import Done
from ...state.digests import IDLE_DAYS, MAX_DIGESTS, MIN_DIGEST_MEMBERS, Digesting
from ...state.fold import REGISTRY
from ...state.trust import sources_in
from ...text.chunks import counted
from .answers import Fields
from .checks import answer_duplicates, staged_repositories
from .declarations import answer, prints_json, verbs
from .opening import open_repository
from .options import DRY_RUN
from .syncing import with_bar
from .terminal import note

APPLY = "--apply: Carry out the plan. Without this option, nothing is written."
# other kinds change a memory that stays in use
KIND_SIGNS = {
    **dict.fromkeys(("archive", "supersede", "quarantine"), "-"),
    **dict.fromkeys(("memory", "learning"), "+"),
}


def _reason(entry: Entry) -> str:
    if entry.creates:
        return f"of {counted(len(sources_in(entry.extra)), 'memory')}"
    return str(entry.extra.get("reason", "")) or REGISTRY[entry.kind].tell(entry)


ENTRY = Fields(
    "kind=entry.kind id=entry.target title why *entry.extra body?=entry.body",
    "{sign} {kind:<11} {title:wide 60}  {id:dim}  {why:300}{0.used:?, used % times on this machine}",
    why=lambda item: _reason(item["entry"]),
    sign=lambda item: KIND_SIGNS.get(item["entry"].kind, "~"),
)
MOVE = Fields("from=source to=target why", "> {from} → {to}  {why:dim}")
PLAN = Fields(
    "dry_run why=done.plan.why total?=counts.total healthy?=counts.healthy weakening?=counts.weakening"
    " faded_but_kept?=counts.faded_but_kept archived?=counts.archived links_cleaned?=counts.links_cleaned"
    " entries moves?=done.moves staying?=done.staying",
    "{entries_lines:text}\n{new_texts:text}\n{moves_lines:text}",
    remarks="{staying_lines:text}\n{end:text}",
    end=lambda item: (
        "nothing to do"
        if not item["entries"] and not item["done"].moves
        else f"{counted(len(item['entries']), 'entry')} would be appended; nothing was written (--apply writes them)"
        if item["dry_run"]
        else f"waiting for 'rawkomem review': {counted(item['waits'], 'change')} of vouched memories"
        if item["waits"]
        else ""
    ),
    entries=[ENTRY],
    moves=[MOVE],
    staying=[Fields("id=0 why=1", "{id} stays: {why}")],
    new_texts=lambda item: "\n".join(
        f"    + {line}"
        for one in item["entries"]
        if item["dry_run"] and sources_in(one["entry"].extra)
        for line in one["entry"].body.split("\n")
    ),
)
DUE = Fields(
    "due=is_due new_traces=new least last_run:iso=last",
    "not due: {new_traces:n new trace}; it is due after {least} new traces or a week",
)


@verbs("tidy")
def tidy_command() -> None:
    """Merge duplicates, write digests, archive old memories.

    Each command except 'gather' prints a plan and changes nothing; --apply carries the plan out. No command deletes a
    memory. See 'rawkomem docs lifecycle'.

    Examples:
      rawkomem tidy consolidate
      rawkomem tidy prune
      rawkomem tidy prune --apply
    """


@tidy_command.verb(
    "consolidate",
    APPLY,
    "--staged: Only look at memories that are staged in git.",
    "--if-due: Only run after 10 new traces or a week. Not with --staged.",
    PLAN,
    DUE,
)
def consolidate_command(
    folder: str, apply: bool, staged: bool, if_due: bool, by: str
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
    if staged:
        return answer_duplicates(staged_repositories(folder), apply)
    repository = open_repository(folder)
    due = repository.lifecycle.due()
    if if_due and not due.is_due:
        return answer(due, DUE)
    result = with_bar(
        lambda bar: repository.lifecycle.consolidate(not apply, by, bar),
        "consolidating",
    )
    return _answer_plan(repository, result)


@tidy_command.verb(
    "digest",
    f"--min-size 2.. ={MIN_DIGEST_MEMBERS}: Minimum number of related memories for a digest.",
    f"--idle 0.. ={IDLE_DAYS}: Number of days that the memories must be unchanged.",
    f"--limit -n 1.. ={MAX_DIGESTS}: Maximum number of digests per day.",
    "--archive: Archive memories that the digest covers completely.",
    APPLY,
    PLAN,
)
def digest_command(
    repository: Repository, min_size: int, idle: int, limit: int, archive: bool, apply: bool, by: str
) -> int:  # fmt: skip
    """Propose digests of related memories that have not changed lately.

    The command prints a plan; --apply asks you at the terminal and carries it out. A digest is a memory made of the
    most important sentences of related memories, without a language model. With --archive, a memory is archived if
    the digest holds all of its numbers, names, negations and code, and if searches for the memory find the digest.
    Critical memories and memories that a person vouches for stay. To replace a digest, delete it first.

    Examples:
      rawkomem tidy digest
      rawkomem tidy digest --min-size 5
    """
    how = Digesting(min_size, idle, limit)
    digest = repository.lifecycle.digest
    result = digest(how, archive, dry_run=True, by=by)
    if apply and result.plan.entries:
        agreed = _agreed(repository, result)
        result = with_bar(
            lambda bar: digest(how, archive, False, by, bar, agreed), "digesting"
        )
    return _answer_plan(repository, result)


@tidy_command.verb(
    "prune",
    "--unique: Also archive faded memories that say what no other memory says.",
    APPLY,
    PLAN,
)
def prune_command(repository: Repository, unique: bool, apply: bool, by: str) -> None:
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
    prune = repository.lifecycle.prune
    result, outlook = prune(True, by, unique=unique)
    if apply and result.plan.entries:
        agreed = _agreed(repository, result)
        result, _ = with_bar(
            lambda bar: prune(False, by, bar, agreed, unique), "archiving"
        )
    archived = {entry.about for entry in result.plan.entries if entry.kind == "archive"}
    cleaned = len(result.plan.entries) - len(archived)
    counts = {**outlook.counts(archived), "links_cleaned": cleaned}
    _answer_plan(repository, result, counts)
    note(
        ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    )


def _agreed(repository: Repository, result: Done) -> list[str]:
    """Ask a person to confirm a plan; return the memories that may be archived. Raise Refused without a person."""
    if repository.core.via != PERSON:
        raise Refused(
            "only a person at a terminal may use --apply here",
            "leave out --apply to print the plan; 'rawkomem delete ID --archive' archives one memory",
        )
    if not prints_json():
        _answer_plan(repository, result)
    if not confirmed(f"Write {counted(len(result.plan.entries), 'entry')}?"):
        raise Abort
    return [entry.about for entry in result.plan.entries if entry.kind == "archive"]


def _answer_plan(
    repository: Repository, result: Done, counts: dict[str, int] | None = None
) -> int:
    used = {} if result.written else accesses(repository.layout)
    entries = []
    for entry in result.plan.entries:
        memory = result.memories.get(entry.target)
        access = used.get(entry.about) if entry.kind == "archive" else None
        title = memory.title if memory else entry.title
        entries.append(
            {"entry": entry, "title": title, "used": access and access.count}
        )
    changed = {entry.about for entry in result.plan.entries if result.written} - {""}
    proposed = {id for name in changed for id in repository.get(name).proposed}
    return answer(
        {
            "done": result,
            "dry_run": not result.written,
            "waits": sum(entry.id in proposed for entry in result.plan.entries),
            "counts": counts or {},
            "entries": entries,
        }
    )


GATHERED = Fields(
    "dry_run moved=entries removed left",
    "{moved_lines:text}",
    remarks="{left_lines:text}\n{end}",
    left=[Fields(line="{0.path} was not moved: {0.why}")],
    end=lambda done: (
        "nothing to gather"
        if not done.entries
        else f"{counted(len(done.removed), 'file')} gathered: commit the result"
        if done.written
        else "nothing was written or moved"
    ),
    dry_run=lambda done: not done.written,
    moved=[Fields("id kind about to=path", "> {kind:<9} {id} → {to}")],
)


@tidy_command.verb("gather", DRY_RUN, GATHERED)
def gather_command(repository: Repository, dry_run: bool) -> Any:
    """Move committed changes into the files of their memories.

    A change of a memory that git tracks is stored as a file in .rawko/changes, so that branches merge without
    conflicts. Run this command on one branch from time to time and commit the result. Changes that are not committed
    stay where they are.

    Examples:
      rawkomem tidy gather --dry-run
      rawkomem tidy gather
    """
    return repository.edits.gather(dry_run)


RETAINED = Fields(
    "dry_run entries=plan.entries moves packed",
    "{entries_lines:text}\n{moves_lines:text}\n{packed:?> compressed: %}",
    remarks="{end}",
    end=lambda done: (
        "nothing to do"
        if not (done.plan.entries or done.moves or done.packed)
        else "nothing was written or moved; --apply carries out the plan"
        if not done.written
        else ""
    ),
    dry_run=lambda done: not done.written,
    entries=[Fields("kind id=target title", "+ {kind:<9} {title:100}")],
    moves=[MOVE],
)
RESTORED = Fields(
    "moves unpacked",
    "{unpacked:?unpacked  %}\n{moves_lines:text}",
    moves=[Fields("from=source to=target", "restored  {to}")],
)


@tidy_command.verbs("retention", bare="plan", default="plan")
def retention_command() -> None:
    """Archive and compress old traces, and restore them.

    Examples:
      rawkomem tidy retention
    """


@retention_command.verb("plan", APPLY, RETAINED)
def retention_plan(repository: Repository, apply: bool, by: str) -> Any:
    """Propose to archive old traces and to compress old archives.

    The command prints a plan; --apply carries it out. It first writes missing learnings. Traces that are the source of
    a learning move to the archive 24 hours after their last change. Each month of the archive is compressed after a
    year. No trace is changed or deleted. 'rawkomem tidy retention restore' undoes both steps.

    Examples:
      rawkomem tidy retention plan
      rawkomem tidy retention plan --apply
    """
    return repository.retention.run(not apply, by)


@retention_command.verb("restore", "WHAT...", RESTORED)
def retention_restore(repository: Repository, what: tuple[str, ...]) -> Any:
    """Restore archived traces.

    WHAT is a month (2025-03) or the id of a trace. A compressed month is decompressed; an archived month moves back
    to the traces. A trace moves back to its folder, even from a compressed month.

    Examples:
      rawkomem tidy retention restore 2026-03
    """
    moves, unpacked = repository.retention.restore(what)
    return {"moves": moves, "unpacked": unpacked}
