"""`rawkomem sinks`: how the write-through sinks stand, and sending what waits."""

from __future__ import annotations

import click

from ....exchange.sinks.tell import SinkStatus
from ....model.record import as_dict
from ....repository import Repository
from ..commands import pass_repository
from ..options import JSON
from ..terminal import note, paint, say, say_json


@click.group("sinks")
def sinks_command() -> None:
    """See and send what write-through sinks are told.

    Sinks are set up in your own config, never in a repository's: see 'rawkomem docs sinks'.
    """


@sinks_command.command("status")
@JSON
@pass_repository
def status_command(repository: Repository, as_json: bool) -> int:
    """Tell how each sink stands. Exit code 1 when one has a problem."""
    statuses = repository.sinks.list()
    if as_json:
        say_json([as_dict(status) for status in statuses])
    elif not statuses:
        say("no sinks are set up ('rawkomem docs sinks' tells how)")
    else:
        for status in statuses:
            _print(status)
    return 1 if any(status.problem for status in statuses) else 0


@sinks_command.command("flush")
@click.option("--due", is_flag=True, help="Only what is due: after a failure, tries are spaced out.")
@JSON
@pass_repository
def flush_command(repository: Repository, due: bool, as_json: bool) -> int:
    """Send what waits for the webhook, now.

    A write starts this in the background by itself. Exit code 1 when something could not be sent.
    """
    flushed = repository.sinks.flush(due)
    if as_json:
        say_json(as_dict(flushed))
    else:
        say(f"{flushed.sent} sent, {flushed.waiting} waiting, {flushed.dropped} given up")
        if flushed.failure:
            note(flushed.failure)
    return 1 if flushed.failure else 0


def _print(status: SinkStatus) -> None:
    say(f"{paint(status.name, 'bold')}  {status.where}  {', '.join(status.events)}")
    if status.waiting or status.dropped:
        say(f"  {status.waiting} waiting, {status.dropped} given up (.rawko/local/sinks/dead.jsonl)")
    if status.problem:
        note(f"{status.name}: {status.problem}")
