"""Implement `rawkomem ledger`: show the log of operations, and verify that nobody changed it."""

from __future__ import annotations

from typing import Any

import click

from ....files.local.ledger.chain import Row
from ....files.local.ledger.verify import Verdict
from ....format.yamo import read_block
from ....format.yamo_blocks import OPERATIONS
from ....format.yamo_chain import CHANGED, text_hash
from ....model.clock import iso
from ....model.record import as_dict
from ....repository import Repository
from ....text.clean import clean, one_line
from ..commands import pass_repository
from ..groups import Verbs
from ..options import JSON, LIMIT
from ..terminal import note, paint, say, say_json, say_rows, wide

# Values that summarize a block; the first one that exists is shown.
TELLING_KEYS = (
    ("context", "query"),
    ("output", "content_preview"),
    ("output", "preventative_rule"),
    ("output", "insight_preview"),
    ("output", "skill_name"),
    ("output", "memory_deleted"),
)
OPERATION = click.option("--op", "operation", type=click.Choice(OPERATIONS), help="Only this operation.")


@click.group("ledger", cls=Verbs, bare="show")
def ledger_command() -> None:
    """Show and verify the log of all operations.

    Each store, search, reflection, synthesis, lesson and deletion is a block in .rawko/local/ledger. A SHA-256
    chain protects the blocks. In your own config, 'ledger: writes' leaves out searches and 'ledger: off' turns the log
    off. See 'rawkomem docs yamo'.
    """


@ledger_command.command("verify")
@click.option("--database", default="", help="Verify the table yamo_blocks of this LanceDB folder instead.")
@JSON
@pass_repository
def verify_command(repository: Repository, database: str, as_json: bool) -> int:
    """Verify the hash chain from the first block to the last.

    The exit code is 1 if the chain is broken. Keep a copy of the last hash in another place: comparing it shows
    whether somebody replaced the whole ledger. --database verifies the blocks of a database by the rule of RFC-0011 or
    by the anchors of memory-mesh.
    """
    if database:
        return _verify_database(repository, database, as_json)
    verdict = repository.ledger.verify()
    if as_json:
        problems = [as_dict(problem) for problem in verdict.problems]
        told = {"problems": problems, "notes": list(verdict.notes), "since": iso(verdict.since)}
        say_json({**as_dict(verdict), **told, "whole": not verdict.problems})
    else:
        _print(verdict)
    return 1 if verdict.problems else 0


def _verify_database(repository: Repository, folder: str, as_json: bool) -> int:
    verdict = repository.ledger.verify_database(folder)
    if as_json:
        problems = [as_dict(problem) for problem in verdict.problems]
        say_json({**as_dict(verdict), "problems": problems, "whole": not verdict.problems})
    else:
        for problem in verdict.problems:
            say(f"{paint('broken', 'red')}  {problem.message} ({problem.hint})")
        state = paint("broken", "red") if verdict.problems else paint("whole", "green")
        bare = verdict.blocks - verdict.by_rfc - verdict.anchored - sum(p.code == CHANGED for p in verdict.problems)
        hashed = f"{verdict.by_rfc} hashed by RFC-0011, {verdict.anchored} by anchors, {bare} without a hash"
        say(f"{state}  {verdict.blocks} blocks: {hashed}")
    return 1 if verdict.problems else 0


@ledger_command.command("show")
@click.argument("id", default="")
@LIMIT.but(default=20, help="Maximum number of blocks.")
@OPERATION
@JSON
@pass_repository
def show_command(repository: Repository, id: str, limit: int, operation: str | None, as_json: bool) -> None:
    """Show the last blocks, latest first.

    With ID, the command prints the whole text of that block, or of all blocks that name that memory.
    """
    found = repository.ledger.blocks(operation or "", id)[::-1][:limit]
    text = (lambda row: f"{_line(row)}\n{clean(row.yamo_text)}") if id else _line
    say_rows(as_json, found, _json, text, "no block found")


@ledger_command.command("export")
@OPERATION
@JSON
@pass_repository
def export_command(repository: Repository, operation: str | None, as_json: bool) -> None:
    """Print every block, oldest first, as YAMO text or as JSON with hashes."""
    found = repository.ledger.blocks(operation or "")
    if as_json:
        say_json([_json(row) for row in found])
    elif found:
        say("\n".join(row.yamo_text for row in found).removesuffix("\n"))


def _json(row: Row) -> dict[str, Any]:
    return {**as_dict(row), "timestamp": iso(row.timestamp), "text_hash": text_hash(row.yamo_text)}


def _line(row: Row) -> str:
    block, _ = read_block(row.yamo_text)
    told = (block.value(section, key) for section, key in TELLING_KEYS) if block else ()
    said = one_line(next((text for text in told if text), ""), max(20, wide() - 74))
    return f"{iso(row.timestamp)}  {row.operation_type:10}  {said}  {paint(row.id, 'dim')}"


def _print(verdict: Verdict) -> None:
    for problem in verdict.problems:
        say(f"{paint('broken', 'red')}  {problem.path}  {problem.message} ({problem.hint})")
    for text in verdict.notes:
        note(text)
    if not verdict.blocks:
        say("the ledger has no blocks: nothing was logged yet, or it was deleted")
        return
    state = paint("broken", "red") if verdict.problems else paint("whole", "green")
    say(f"{state}  {verdict.blocks} blocks since {iso(verdict.since)}, the last one {verdict.last_hash}")
