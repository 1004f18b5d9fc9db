"""Implement `rawkomem status`, `index` and `doctor`: look after the index, its database, the ledger and
sinks.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from click import Choice, argument, command, group, option, pass_obj

from ...exchange.sinks import SinkStatus
from ...files.kept_texts import unsaved_texts
from ...files.ledger import Row, Verdict
from ...files.machine_records import changed_rule_files, note_of_changed_rules
from ...files.watch import Watch
from ...format.yamo import BLOCK_CHANGED, YAMO_OPERATIONS, read_yamo_block, text_hash
from ...hosts.health import examine_hosts
from ...index.status import Status
from ...model.errors import NotFound
from ...model.values import as_dict, iso
from ...repository import Repository
from ...repository.machine import StoreStatus, examine
from ...text.chunks import counted
from ...text.clean import clean, one_line
from .commands import click_of, pass_layers, pass_repository
from .declarations import Verbs, flag, text_option
from .measure import check_all
from .opening import open_repository
from .options import JSON, LIMIT
from .syncing import say_sync_report, with_bar
from .terminal import (
    note,
    paint,
    say,
    say_answer,
    say_either,
    say_findings,
    say_json,
    say_rows,
    wide,
)

# Implement `rawkomem status` and `rebuild`: compare the index with the files, and rebuild it.


@command("status")
@JSON
@pass_layers
def status_command(repository: Repository, as_json: bool) -> int:
    """Show the state of the repository and its search index.

    The command hashes every file. The exit code is 1 if the index differs from the files.

    Examples:
      rawkomem status
      rawkomem status --json
    """
    status = repository.store.status()
    layers = repository.layers.standings()
    drafts = len(repository.drafts.all())
    unsaved = unsaved_texts(repository.layout)
    rules = note_of_changed_rules(repository.layout)
    if as_json:
        say_json(
            {
                **as_dict(status),
                "problems": [f"{problem.path}: {problem.message}" for problem in status.problems],
                "fresh": status.fresh,
                "drafts": drafts,
                "unsaved": unsaved,
                "changed_rules": changed_rule_files(repository.layout),
                **({"layers": [as_dict(layer) for layer in layers]} if layers else {}),
            }
        )
    else:
        _print_status(status)
        if drafts:
            say(
                f"drafts      {paint(counted(drafts, 'draft'), 'yellow')} on this machine: 'rawkomem drafts' shows them"
            )
        for path in unsaved:
            say(f"unsaved     text not stored yet: {path}")
        if rules:
            say(f"rules       {paint(rules, 'yellow')}")
        for layer in layers:
            say(f"layer       {layer.told}")
    return 0 if status.fresh else 1


def _print_status(status: Status) -> None:
    memories = ", ".join(f"{count} {name}" for name, count in status.memories.items()) or "none"
    fresh = paint("yes", "green") if status.fresh else paint("NO", "red")
    say(f"repository  {status.root}")
    say(f"files       {status.files} ({status.quarantined} not usable)  hash {status.files_hash}")
    say(
        f"index       {counted(status.indexed, 'file')}, {counted(status.entries, 'entry')}  hash {status.index_hash}"
    )
    say(f"memories    {memories}")
    if status.conflicts:
        say(
            f"conflicts   {paint(str(status.conflicts), 'yellow')} pending: 'rawkomem review' shows them"
        )
    if status.proposals:
        changed = paint(counted(status.proposals, "memory"), "yellow")
        say(f"proposed    {changed} with proposed changes: 'rawkomem review' shows them")
    say(f"fresh       {fresh}")
    say(f"made with   {status.fingerprint}")
    say(f"meaning     {status.tier}; contextual vectors: {_progress(status)}")
    say(f"index file  {status.index} ({status.bytes / 1e6:.1f} MB)")
    for path in status.stale:
        note(f"{path} cannot be read: the index keeps its earlier content")
    for problem in status.problems:
        note(f"{problem.path}: {problem.message} ({problem.hint})")


def _progress(status: Status) -> str:
    """Return how many contextual vectors exist, and about how long the rest takes."""
    if not status.documents:
        return "none to compute"
    said = f"{status.deep:,} of {status.documents:,}"
    if status.deep_seconds_left:
        minutes = -(-status.deep_seconds_left // 60)
        said += f", about {counted(minutes, 'minute')}"
    return f"{said}; {status.deep_waits}" if status.deep_waits else said


@command("rebuild")
@JSON
@pass_repository
def rebuild_command(repository: Repository, as_json: bool) -> None:
    """Rebuild the index from the files.

    A missing, corrupt or outdated index is rebuilt automatically.

    Examples:
      rawkomem index rebuild
    """
    say_sync_report(with_bar(repository.store.rebuild, "indexing"), as_json)


# Implement `rawkomem index watch`: keep the index up to date while files change.


@command("watch")
@flag("--once", help="Update the index once and stop.")
@pass_repository
def watch_command(repository: Repository, once: bool) -> None:
    """Update the index whenever files change.

    The command runs until Ctrl-C or SIGTERM. You do not need it: every search updates the index automatically.

    Examples:
      rawkomem index watch
      rawkomem index watch --once
    """
    if once:
        say_sync_report(repository.sync(), False)
        return
    watch = Watch(repository.layout, lambda: _sync_and_tell(repository), note)
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: watch.stop())
    note(f"watching {repository.layout.root}; stop with Ctrl-C")
    watch.run()


def _sync_and_tell(repository: Repository) -> None:
    report = repository.sync()
    repository.core.deepen_in_background()
    repository.core.wake_sinks()
    repository.close()
    if report.read:
        say(f"{counted(report.read, 'file')} read, {report.seconds:.2f} s")
        sys.stdout.flush()


# Implement `rawkomem index`: update, watch or rebuild the search index.


@group("index", cls=Verbs)
def index_command() -> None:
    """Update, watch or rebuild the index; its store, ledger and sinks.

    The index is derived from the memory files and can be deleted at any time. Every command updates it automatically.

    Examples:
      rawkomem index sync
      rawkomem index rebuild
    """


index_command.add_command(click_of("sync"), "sync")
index_command.add_command(watch_command, "watch")
index_command.add_command(rebuild_command, "rebuild")


# Implement `rawkomem index store`: choose, list, fill and migrate the databases of the search index.


@index_command.group("store", cls=Verbs, bare="status")
def store_command() -> None:
    """Choose the database of the search index.

    The index is filled from the memory files and can be rebuilt at any time. 'rawkomem docs scale' explains which
    database to choose.

    Examples:
      rawkomem index store status
      rawkomem index store use sqlite
    """


@store_command.command("use")
@argument("name")
@option(
    "--url-env",
    default="",
    metavar="NAME",
    help="The environment variable with the URL of the database.",
)
@JSON
@pass_repository
def store_use(repository: Repository, name: str, url_env: str, as_json: bool) -> None:
    """Choose the database for this repository.

    NAME is sqlite or another database that 'rawkomem index store status' lists. The choice is stored in your own config
    folder. The next command fills the database.

    Examples:
      rawkomem index store use sqlite
    """
    repository.store.use(name, url_env)
    say_either(
        as_json, {"store": name}, f"this repository now uses {name}; 'rawkomem index sync' fills it"
    )


@store_command.command("status")
@JSON
@pass_repository
def store_status(repository: Repository, as_json: bool) -> int:
    """List the databases and their state.

    The exit code is 1 if the database in use has a problem.

    Examples:
      rawkomem index store status
    """
    return say_standings(as_json, repository.store.list(), _store_line)


def say_standings(as_json: bool, statuses: Sequence[Any], line: Callable[[Any], str]) -> int:
    """Print the state of stores or sinks and their problems; return 1 if there is a problem, else 0."""
    say_rows(as_json, statuses, as_dict, line)
    problems = [status for status in statuses if status.problem]
    for status in () if as_json else problems:
        note(f"{status.name}: {status.problem}")
    return 1 if problems else 0


def _store_line(status: StoreStatus) -> str:
    filled = (
        f"{counted(status.memories, 'memory')}, {status.bytes / 1e6:.1f} MB here"
        if status.memories
        else "empty"
    )
    missing = f"  ({status.install})" if status.install else ""
    mark = paint("*", "green") if status.used else " "
    return f"{mark} {status.name:9} {filled}  {status.where}{missing}".rstrip()


@store_command.command("copy")
@argument("source", metavar="FROM")
@argument("target", metavar="TO")
@JSON
@pass_repository
def store_copy(repository: Repository, source: str, target: str, as_json: bool) -> None:
    """Fill the database TO and compare it with FROM.

    The content comes from the memory files, not from FROM.

    Examples:
      rawkomem index store copy sqlite postgres
    """
    copied = with_bar(lambda progress: repository.store.copy(source, target, progress), "filling")
    said = f"{target} and {source} hold the same: {counted(copied.memories, 'memory')} ({copied.seconds:.1f} s)"
    say_either(as_json, as_dict(copied), said)


@store_command.command("publish")
@JSON
@pass_repository
def store_publish(repository: Repository, as_json: bool) -> None:
    """Fill the tables of RFC-0011 for other programs.

    The tables hold the blocks of the ledger, the skills in use, and the full columns of memory_entries.

    Examples:
      rawkomem index store publish
    """
    done = repository.store.publish()
    rest = f"{counted(done.blocks, 'block')} and {counted(done.skills, 'skill')}"
    said = f"other programs can read {counted(done.memories, 'memory')}, {rest}"
    say_either(as_json, as_dict(done), said)


@store_command.command("migrate")
@argument("place", default="")
@JSON
@pass_repository
def store_migrate(repository: Repository, place: str, as_json: bool) -> None:
    """Migrate tables of RFC-0011 from schema V1 to V2.

    PLACE is the folder or the URL of the tables. Default: the tables of this repository. The old rows are kept as a
    backup for 30 days.

    Examples:
      rawkomem index store migrate
    """
    done = repository.store.migrate(place)
    said = (
        f"migrated {counted(done.rows, 'memory')} to V2; 'rawkomem index store rollback' can undo this for 30 days"
        if done.done
        else "the tables are already V2"
    )
    say_either(as_json, as_dict(done), said)
    if done.removed_backup and not as_json:
        say("removed an earlier backup that was older than 30 days")


@store_command.command("rollback")
@argument("place", default="")
@flag("--anyway", help="Roll back even if newer memories are lost.")
@JSON
@pass_repository
def store_rollback(repository: Repository, place: str, anyway: bool, as_json: bool) -> None:
    """Undo 'rawkomem index store migrate' while its backup exists.

    Examples:
      rawkomem index store rollback
    """
    rows = repository.store.rollback(place, anyway)
    say_either(as_json, {"rows": rows}, f"rolled back {counted(rows, 'memory')} to V1")


# Implement `rawkomem index sinks`: show the sinks, and send the events that wait.


@index_command.group("sinks", cls=Verbs, bare="status")
def sinks_command() -> None:
    """Show and send events for the daily log and the webhook.

    A sink receives an event for each write. You set up sinks in your own config, never in a repository. See 'rawkomem
    docs sinks'.

    Examples:
      rawkomem index sinks status
      rawkomem index sinks flush
    """


@sinks_command.command("status")
@JSON
@pass_repository
def sinks_status(repository: Repository, as_json: bool) -> int:
    """List the sinks and their state.

    The exit code is 1 if a sink has a problem.

    Examples:
      rawkomem index sinks status
    """
    statuses = repository.sinks.list()
    if not statuses and not as_json:
        say("no sinks are set up ('rawkomem docs sinks' explains how)")
    return say_standings(as_json, statuses, _sink_line)


@sinks_command.command("flush")
@flag("--due", help="Only send events whose retry time has come.")
@JSON
@pass_repository
def sinks_flush(repository: Repository, due: bool, as_json: bool) -> int:
    """Send the waiting events to the webhook now.

    Every write does this in the background. The exit code is 1 if an event could not be sent.

    Examples:
      rawkomem index sinks flush
    """
    flushed = repository.sinks.flush(due)
    say_either(
        as_json,
        as_dict(flushed),
        f"{flushed.sent} sent, {flushed.waiting} waiting, {flushed.dropped} dropped",
    )
    if flushed.failure and not as_json:
        note(flushed.failure)
    return 1 if flushed.failure else 0


def _sink_line(status: SinkStatus) -> str:
    waiting = (
        f"\n  {status.waiting} waiting, {status.dropped} dropped (.rawko/local/sinks/dead.jsonl)"
    )
    more = waiting if status.waiting or status.dropped else ""
    return f"{paint(status.name, 'bold')}  {status.where}  {', '.join(status.events)}{more}"


# Implement `rawkomem index ledger`: show the log of operations, and verify that nobody changed it.

# Values that summarize a block; the first one that exists is shown.
TELLING_KEYS = (
    ("context", "query"),
    ("output", "content_preview"),
    ("output", "preventative_rule"),
    ("output", "insight_preview"),
    ("output", "skill_name"),
    ("output", "memory_deleted"),
)
OPERATION = option("--op", "operation", type=Choice(YAMO_OPERATIONS), help="Only this operation.")


@index_command.group("ledger", cls=Verbs, bare="show")
def ledger_command() -> None:
    """Show and verify the log of all operations.

    Each store, search, reflection, synthesis, lesson and deletion is a block in .rawko/local/ledger. A SHA-256
    chain protects the blocks. In your own config, 'ledger: writes' leaves out searches and 'ledger: off' turns the log
    off. See 'rawkomem docs yamo'.

    Examples:
      rawkomem index ledger verify
      rawkomem index ledger show -n 5
    """


@ledger_command.command("verify")
@text_option("--database", help="Verify the table yamo_blocks of this LanceDB folder instead.")
@JSON
@pass_repository
def ledger_verify(repository: Repository, database: str, as_json: bool) -> int:
    """Verify the hash chain from the first block to the last.

    The exit code is 1 if the chain is broken. Keep a copy of the last hash in another place: comparing it shows
    whether somebody replaced the whole ledger. --database verifies the blocks of a database by the rule of RFC-0011 or
    by the anchors of memory-mesh.

    Examples:
      rawkomem index ledger verify
    """
    if database:
        in_database = repository.ledger.verify_database(database)
        return _tell_verdict(in_database, {}, _database_lines(in_database), as_json)
    verdict = repository.ledger.verify()
    told = {"notes": list(verdict.notes), "since": iso(verdict.since)}
    return _tell_verdict(verdict, told, _ledger_lines(verdict), as_json)


def _tell_verdict(verdict: Any, told: dict[str, Any], lines: Iterable[str], as_json: bool) -> int:
    """Print the verdict on a ledger; return 1 if its chain is broken, else 0."""
    say_answer(
        as_json,
        {
            **as_dict(verdict),
            "problems": [as_dict(problem) for problem in verdict.problems],
            **told,
            "whole": not verdict.problems,
        },
        lines,
    )
    return 1 if verdict.problems else 0


def _state_of(verdict: Any) -> str:
    return paint("broken", "red") if verdict.problems else paint("whole", "green")


def _database_lines(verdict: Any) -> Iterator[str]:
    for problem in verdict.problems:
        yield f"{paint('broken', 'red')}  {problem.message} ({problem.hint})"
    changed = sum(problem.code == BLOCK_CHANGED for problem in verdict.problems)
    bare = verdict.blocks - verdict.by_rfc - verdict.anchored - changed
    hashed = (
        f"{verdict.by_rfc} hashed by RFC-0011, {verdict.anchored} by anchors, {bare} without a hash"
    )
    yield f"{_state_of(verdict)}  {verdict.blocks} blocks: {hashed}"


def _ledger_lines(verdict: Verdict) -> Iterator[str]:
    for problem in verdict.problems:
        yield f"{paint('broken', 'red')}  {problem.path}  {problem.message} ({problem.hint})"
    for text in verdict.notes:
        note(text)
    if not verdict.blocks:
        yield "the ledger has no blocks: nothing was logged yet, or it was deleted"
        return
    last = f"the last one {verdict.last_hash}"
    yield f"{_state_of(verdict)}  {verdict.blocks} blocks since {iso(verdict.since)}, {last}"


@ledger_command.command("show")
@argument("id", default="")
@LIMIT.but(default=20, help="Maximum number of blocks.")
@OPERATION
@JSON
@pass_repository
def ledger_show(
    repository: Repository, id: str, limit: int, operation: str | None, as_json: bool
) -> None:
    """Show the last blocks, latest first.

    With ID, the command prints the whole text of that block, or of all blocks that name that memory.

    Examples:
      rawkomem index ledger show -n 5
      rawkomem index ledger show --op recall
    """
    found = repository.ledger.blocks(operation or "", id)[::-1][:limit]
    text = (lambda row: f"{_block_line(row)}\n{clean(row.yamo_text)}") if id else _block_line
    say_rows(as_json, found, _block_json, text, "no block found")


@ledger_command.command("export")
@OPERATION
@JSON
@pass_repository
def ledger_export(repository: Repository, operation: str | None, as_json: bool) -> None:
    """Print every block, oldest first, as YAMO text or as JSON with hashes.

    Examples:
      rawkomem index ledger export --json
    """
    found = repository.ledger.blocks(operation or "")
    if as_json:
        say_json([_block_json(row) for row in found])
    elif found:
        say("\n".join(row.yamo_text for row in found).removesuffix("\n"))


def _block_json(row: Row) -> dict[str, Any]:
    return {**as_dict(row), "timestamp": iso(row.timestamp), "text_hash": text_hash(row.yamo_text)}


def _block_line(row: Row) -> str:
    block, _ = read_yamo_block(row.yamo_text)
    told = (block.value(section, key) for section, key in TELLING_KEYS) if block else ()
    said = one_line(next((text for text in told if text), ""), max(20, wide() - 74))
    return f"{iso(row.timestamp)}  {row.operation_type:10}  {said}  {paint(row.id, 'dim')}"


# Implement `rawkomem doctor`: look for problems on this machine.


@command("doctor")
@flag("--self-check", help="Instead, test every part of rawkomem once, in a temporary folder.")
@JSON
@pass_obj
def doctor_command(folder: str, self_check: bool, as_json: bool) -> int:
    """Look for problems on this machine.

    The command checks versions, the file system, permissions, the index, the git setup, and when each connected agent
    last called. The exit code is 1 if it finds a problem.

    Examples:
      rawkomem doctor
      rawkomem doctor --self-check
    """
    if self_check:
        return say_findings(as_json, check_all())
    try:
        repository = open_repository(folder, layers=True)
    except NotFound:
        repository = None
    findings = examine(repository)
    if repository:
        findings += examine_hosts(repository.layout)
    return say_findings(as_json, findings)
