"""Implement `rawkomem ledger`: show what was done with memories, and verify that nobody changed the record."""

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

# What tells most about a block, each tried in turn.
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

    Every retain, recall, reflect, synthesize, lesson and delete is a YAMO block in .rawko/local/ledger, chained by
    SHA-256. 'ledger: writes' in your own config leaves recalls out, 'ledger: off' everything. See 'rawkomem docs yamo'.
    """


@ledger_command.command("verify")
@click.option("--database", default="", help="Verify the table yamo_blocks of this LanceDB folder instead.")
@JSON
@pass_repository
def verify_command(repository: Repository, database: str, as_json: bool) -> int:
    """Follow the chain from the first block to the last. Exit code 1 where it is broken.

    Write the last hash down elsewhere: then nobody can replace the whole ledger unnoticed. Blocks of a database are
    verified by the rule of RFC-0011 (the hash of a block's text), or by that of memory-mesh's anchors.
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
@LIMIT.but(default=20, help="The last so many.")
@OPERATION
@JSON
@pass_repository
def show_command(repository: Repository, id: str, limit: int, operation: str | None, as_json: bool) -> None:
    """Show the last blocks, the latest first; with ID, the whole text of one, or all that name a memory."""
    found = repository.ledger.blocks(operation or "", id)[::-1][:limit]
    text = (lambda row: f"{_line(row)}\n{clean(row.yamo_text)}") if id else _line
    say_rows(as_json, found, _json, text, "no such block")


@ledger_command.command("export")
@OPERATION
@JSON
@pass_repository
def export_command(repository: Repository, operation: str | None, as_json: bool) -> None:
    """Print every block, the first one first: as YAMO text, or with hashes as JSON."""
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
        say("no blocks: nothing was noted yet, or the ledger was deleted")
        return
    state = paint("broken", "red") if verdict.problems else paint("whole", "green")
    say(f"{state}  {verdict.blocks} blocks since {iso(verdict.since)}, the last one {verdict.last_hash}")
