"""Implement `rawkomem index` and `doctor`: look after the index, its database, the ledger and sinks."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import Any

from ...exchange.sinks import Flushed, SinkStatus
from ...files.blocks import LedgerRow
from ...files.ledger import Verdict
from ...files.watch import Watch
from ...format.yamo import YAMO_OPERATIONS, BlocksVerdict, read_yamo_block, text_hash
from ...hosts.connect import examine_hosts
from ...index.stores.protocol import Migrated
from ...model.errors import NotFound
from ...repository import Repository
from ...repository.machine import Finding, StoreStatus, examine
from ...repository.machine import adopt as adopt_records
from ...repository.mesh_tables import Published
from ...text.chunks import counted
from .answers import Fields
from .commands import click_of
from .declarations import answer, verb, verbs
from .opening import open_repository
from .syncing import SYNC_ANSWER, with_bar
from .terminal import note, say


@verbs("index")
def index_command() -> None:
    """Update, watch or rebuild the index; its store, ledger and sinks.

    The index is derived from the memory files and can be deleted at any time. Every command updates it automatically.

    Examples:
      rawkomem index sync
      rawkomem index rebuild
    """


index_command.add_command(click_of("sync"), "sync")


@index_command.verb("watch", "--once: Update the index once and stop.")
def watch_command(repository: Repository, once: bool) -> None:
    """Update the index whenever files change.

    The command runs until Ctrl-C or SIGTERM. You do not need it: every search updates the index automatically.

    Examples:
      rawkomem index watch
      rawkomem index watch --once
    """
    if once:
        SYNC_ANSWER.say(repository.sync(), False)
        return
    watch = Watch(repository.layout, lambda: _sync_and_report(repository), note)
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: watch.stop())
    note(f"watching {repository.layout.root}; stop with Ctrl-C")
    watch.run()


def _sync_and_report(repository: Repository) -> None:
    report = repository.sync()
    repository.core.deepen_in_background()
    repository.core.wake_sinks()
    repository.core.index.close()  # until files change, nothing is held open
    if report.read:
        say(f"{counted(report.read, 'file')} read, {report.seconds:.2f} s")
        sys.stdout.flush()


@index_command.verb("rebuild", SYNC_ANSWER)
def rebuild_command(repository: Repository) -> Any:
    """Rebuild the index from the files.

    A missing, corrupt or outdated index is rebuilt automatically.

    Examples:
      rawkomem index rebuild
    """
    return with_bar(repository.store.rebuild, "indexing")


STORE = Fields(
    of=StoreStatus,
    line="{used:yes */ } {name:<9} {memories:n memory}, {bytes:,} bytes here  {where}{install:?  (%)}",
    remarks="{problem:?{name}: %}",
)
PUBLISHED = Fields(
    of=Published,
    line="other programs can read {memories:n memory}, {blocks:n block} and {skills:n skill}",
)
MIGRATED = Fields(
    of=Migrated,
    line="{done:yes migrated/already V2:} {rows:n memory}"
    "{done:?; 'rawkomem index store rollback' can undo this for 30 days}"
    "\n{removed_backup:?removed an earlier backup that was older than 30 days}",
)


@index_command.verbs("store", bare="status")
def store_command() -> None:
    """Choose the database of the search index.

    The index is filled from the memory files and can be rebuilt at any time. 'rawkomem docs scale' explains which
    database to choose.

    Examples:
      rawkomem index store status
      rawkomem index store use sqlite
    """


@store_command.verb(
    "use",
    "NAME",
    "--url-env NAME: The environment variable with the URL of the database.",
    Fields("store", "this repository now uses {store}; 'rawkomem index sync' fills it"),
)
def store_use(repository: Repository, name: str, url_env: str) -> Any:
    """Choose the database for this repository.

    NAME is sqlite or another database that 'rawkomem index store status' lists. The choice is stored in your own config
    folder. The next command fills the database.

    Examples:
      rawkomem index store use sqlite
    """
    repository.store.use(name, url_env)
    return {"store": name}


@store_command.verb("status", [STORE])
def store_status(repository: Repository) -> int:
    """List the databases and their state.

    The exit code is 1 if the database in use has a problem.

    Examples:
      rawkomem index store status
    """
    return _answer_states(repository.store.list())


def _answer_states(states: Sequence[Any]) -> int:
    """Print the state of stores or sinks and their problems; return 1 if there is a problem, else 0."""
    return answer(states, code=int(any(state.problem for state in states)))


@store_command.verb("publish", PUBLISHED)
def store_publish(repository: Repository) -> Any:
    """Fill the tables of RFC-0011 for other programs.

    The tables hold the blocks of the ledger, the skills in use, and the full columns of memory_entries.

    Examples:
      rawkomem index store publish
    """
    return repository.store.publish()


@store_command.verb("migrate", "[PLACE]", MIGRATED)
def store_migrate(repository: Repository, place: str) -> Any:
    """Migrate tables of RFC-0011 from schema V1 to V2.

    PLACE is the folder or the URL of the tables. Default: the tables of this repository. The old rows are kept as a
    backup for 30 days.

    Examples:
      rawkomem index store migrate
    """
    return repository.store.migrate(place)


@store_command.verb(
    "rollback",
    "[PLACE]",
    "--anyway: Roll back even if newer memories are lost.",
    Fields("rows", "rolled back {rows:n memory} to V1"),
)
def store_rollback(repository: Repository, place: str, anyway: bool) -> Any:
    """Undo 'rawkomem index store migrate' while its backup exists.

    Examples:
      rawkomem index store rollback
    """
    return {"rows": repository.store.rollback(place, anyway)}


SINK = Fields(
    of=SinkStatus,
    line="{name:bold}  {where}  {events}{waiting:?, % waiting}{dropped:?, % dropped}",
    remarks="{problem:?{name}: %}",
    nothing="no sinks are set up ('rawkomem docs sinks' explains how)",
)
FLUSHED = Fields(
    of=Flushed,
    line="{sent} sent, {waiting} waiting, {dropped} dropped",
    remarks="{failure}",
)


@index_command.verbs("sinks", bare="status")
def sinks_command() -> None:
    """Show and send events for the daily log and the webhook.

    A sink is a daily log file or a webhook that receives an event for each write. You set up sinks in your own config,
    never in a repository. See 'rawkomem docs sinks'.

    Examples:
      rawkomem index sinks status
      rawkomem index sinks flush
    """


@sinks_command.verb("status", [SINK])
def sinks_status(repository: Repository) -> int:
    """List the sinks and their state.

    The exit code is 1 if a sink has a problem.

    Examples:
      rawkomem index sinks status
    """
    return _answer_states(repository.sinks.list())


@sinks_command.verb(
    "flush", "--due: Only send events whose retry time has come.", FLUSHED
)
def sinks_flush(repository: Repository, due: bool) -> int:
    """Send the waiting events to the webhook now.

    Every write does this in the background. The exit code is 1 if an event could not be sent.

    Examples:
      rawkomem index sinks flush
    """
    flushed = repository.sinks.flush(due)
    return answer(flushed, code=1 if flushed.failure else 0)


# Values that summarize a block; the first one that exists is shown.
TELLING_KEYS = (
    ("context", "query"),
    ("output", "content_preview"),
    ("output", "preventative_rule"),
    ("output", "insight_preview"),
    ("output", "skill_name"),
    ("output", "memory_deleted"),
)
OPERATION = f"--op {'|'.join(YAMO_OPERATIONS)} >operation: Only this operation."
BROKEN = Fields(
    "path line level code message hint",
    "{0:=broken|red}  {path}  {message} ({hint})",
)
CHAIN = Fields(
    "whole",
    "{problems_lines:text}\n{whole:yes whole/broken}  {blocks} blocks since {since:~the start}, the last one {last_hash}",
    remarks="{notes_lines:text}\n{blocks:yes /the ledger has no blocks: nothing was logged yet, or it was deleted}",
    of=Verdict,
    notes=[Fields(line="{0}")],
    whole=lambda verdict: not verdict.problems,
    problems=[BROKEN],
).but("since:iso")
BLOCKS = Fields(
    "whole",
    "{problems_lines:text}\n{whole:yes whole/broken}  {blocks} blocks: {by_rfc} hashed by RFC-0011, {anchored} by anchors",
    of=BlocksVerdict,
    whole=CHAIN.parts["whole"],
    problems=[BROKEN],
)


def _subject_of(row: LedgerRow) -> str:
    """Return the value that says what a block is about."""
    block, _ = read_yamo_block(row.yamo_text)
    if not block:
        return ""
    values = (block.value(section, key) for section, key in TELLING_KEYS)
    return next((text for text in values if text), "")


BLOCK = Fields(
    "timestamp:iso text_hash",
    "{timestamp}  {operation_type:<10}  {subject:wide 74}  {id:dim}",
    "no block found",
    of=LedgerRow,
    text_hash=lambda row: text_hash(row.yamo_text),
    subject=_subject_of,
)


@index_command.verbs("ledger", bare="show")
def ledger_command() -> None:
    """Show and verify the log of all operations.

    Each store, search, reflection, synthesis, lesson and deletion is a block in .rawko/local/ledger. A SHA-256
    chain protects the blocks. In your own config, 'ledger: writes' leaves out searches and 'ledger: off' turns the log
    off. See 'rawkomem docs yamo'.

    Examples:
      rawkomem index ledger verify
      rawkomem index ledger show -n 5
    """


@ledger_command.verb(
    "verify",
    "--database TEXT: Verify the table yamo_blocks of this LanceDB folder instead.",
    CHAIN,
    BLOCKS,
)
def ledger_verify(repository: Repository, database: str) -> int:
    """Verify the hash chain from the first block to the last.

    The exit code is 1 if the chain is broken. Keep a copy of the last hash in another place: comparing it shows
    whether somebody replaced the whole ledger. --database verifies the blocks of a database by the rule of RFC-0011 or
    by the anchors of memory-mesh.

    Examples:
      rawkomem index ledger verify
    """
    ledger = repository.ledger
    verdict: Any = ledger.verify_database(database) if database else ledger.verify()
    fields = BLOCKS if database else CHAIN
    return answer(verdict, fields, code=1 if verdict.problems else 0)


@ledger_command.verb(
    "show",
    "[ID]>block",
    "--limit -n 1.. =20: Maximum number of blocks.",
    OPERATION,
    [BLOCK],
)
def ledger_show(
    repository: Repository, block: str, limit: int, operation: str | None
) -> Any:
    """Show the last blocks, latest first.

    With ID, the command prints the whole text of that block, or of all blocks that name that memory.

    Examples:
      rawkomem index ledger show -n 5
      rawkomem index ledger show --op recall
    """
    rows = repository.ledger.blocks(operation or "", block)[::-1][:limit]
    whole = f"{BLOCK.line}\n{{yamo_text:text}}"
    return answer(rows, BLOCK.but(line=whole) if block else None)


@ledger_command.verb("export", OPERATION, [BLOCK.but(line="{yamo_text:text}")])
def ledger_export(repository: Repository, operation: str | None) -> Any:
    """Print every block, oldest first, as YAMO text or as JSON with hashes.

    Examples:
      rawkomem index ledger export --json
    """
    return repository.ledger.blocks(operation or "")


FINDING = Fields(of=Finding, line="{ok:yes ok/!!|hue}  {name:<12} {text}{hint:? (%)}")


@verb(
    "doctor",
    "--adopt PATH: Instead, copy the records of another local folder to yours.",
    [FINDING],
)
def doctor_command(folder: str, adopt: str | None) -> int:
    """Look for problems on this machine.

    The command checks versions, the file system, permissions, the index, the git setup, and when each connected agent
    last called. The exit code is 1 if it finds a problem.

    Drafts, the undo list and other records that were made with another home folder or on another machine are named and
    not used. --adopt copies them; only a person at a terminal can do that.

    Examples:
      rawkomem doctor
    """
    if adopt:
        return answer([adopt_records(open_repository(folder), adopt)])
    findings = _examined(folder)
    return answer(findings, code=0 if all(one.ok for one in findings) else 1)


def _examined(folder: str) -> Sequence[Any]:
    try:
        repository = open_repository(folder, layers=True)
    except NotFound:
        return examine(None)
    return [*examine(repository), *examine_hosts(repository.layout)]
