"""Implement `rawkomem store`: choose, list, fill and migrate the databases of the search index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ....model.record import as_dict
from ....repository import Repository
from ....repository.wings.store import StoreStatus
from ....text.count import count
from ..commands import pass_repository
from ..groups import Verbs
from ..options import JSON
from ..terminal import note, paint, say, say_either, say_rows
from .sync import with_bar


@click.group("store", cls=Verbs, bare="status")
def store_command() -> None:
    """Choose the database of the search index.

    The index is filled from the memory files and can be rebuilt at any time. 'rawkomem docs scale' explains which
    database to choose.
    """


@store_command.command("use")
@click.argument("name")
@click.option("--url-env", default="", metavar="NAME", help="The environment variable with the URL of the database.")
@JSON
@pass_repository
def use_command(repository: Repository, name: str, url_env: str, as_json: bool) -> None:
    """Choose the database for this repository.

    NAME is sqlite or another database that 'rawkomem store status' lists. The choice is stored in your own config
    folder. The next command fills the database.
    """
    repository.store.use(name, url_env)
    say_either(as_json, {"store": name}, f"this repository now uses {name}; 'rawkomem index sync' fills it")


@store_command.command("status")
@JSON
@pass_repository
def status_command(repository: Repository, as_json: bool) -> int:
    """List the databases and their state.

    The exit code is 1 if the database in use has a problem.
    """
    statuses = repository.store.list()
    return say_standings(as_json, statuses, _line)


def say_standings(as_json: bool, statuses: Sequence[Any], line: Callable[[Any], str]) -> int:
    """Print the state of stores or sinks and their problems; return 1 if there is a problem, else 0."""
    say_rows(as_json, statuses, as_dict, line)
    problems = [status for status in statuses if status.problem]
    for status in () if as_json else problems:
        note(f"{status.name}: {status.problem}")
    return 1 if problems else 0


def _line(status: StoreStatus) -> str:
    filled = f"{count(status.memories, 'memory')}, {status.bytes / 1e6:.1f} MB here" if status.memories else "empty"
    missing = f"  ({status.install})" if status.install else ""
    mark = paint("*", "green") if status.used else " "
    return f"{mark} {status.name:9} {filled}  {status.where}{missing}".rstrip()


@store_command.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@JSON
@pass_repository
def copy_command(repository: Repository, source: str, target: str, as_json: bool) -> None:
    """Fill the database TO and compare it with FROM.

    The content comes from the memory files, not from FROM.
    """
    copied = with_bar(lambda progress: repository.store.copy(source, target, progress), "filling")
    said = f"{target} and {source} hold the same: {count(copied.memories, 'memory')} ({copied.seconds:.1f} s)"
    say_either(as_json, as_dict(copied), said)


@store_command.command("publish")
@JSON
@pass_repository
def publish_command(repository: Repository, as_json: bool) -> None:
    """Fill the tables of RFC-0011 for other programs.

    The tables hold the blocks of the ledger, the skills in use, and the full columns of memory_entries.
    """
    done = repository.store.publish()
    parts = [count(done.memories, "memory"), count(done.blocks, "block"), count(done.skills, "skill")]
    say_either(as_json, as_dict(done), f"other programs can read {parts[0]}, {parts[1]} and {parts[2]}")


@store_command.command("migrate")
@click.argument("place", default="")
@JSON
@pass_repository
def migrate_command(repository: Repository, place: str, as_json: bool) -> None:
    """Migrate tables of RFC-0011 from schema V1 to V2.

    PLACE is the folder or the URL of the tables. Default: the tables of this repository. The old rows are kept as a
    backup for 30 days.
    """
    done = repository.store.migrate(place)
    said = (
        f"migrated {count(done.rows, 'memory')} to V2; 'rawkomem store rollback' can undo this for 30 days"
        if done.done
        else "the tables are already V2"
    )
    say_either(as_json, as_dict(done), said)
    if done.removed_backup and not as_json:
        say("removed an earlier backup that was older than 30 days")


@store_command.command("rollback")
@click.argument("place", default="")
@click.option("--anyway", is_flag=True, help="Roll back even if newer memories are lost.")
@JSON
@pass_repository
def rollback_command(repository: Repository, place: str, anyway: bool, as_json: bool) -> None:
    """Undo 'rawkomem store migrate' while its backup exists."""
    rows = repository.store.rollback(place, anyway)
    say_either(as_json, {"rows": rows}, f"rolled back {count(rows, 'memory')} to V1")
