"""Implement `rawkomem sinks`: show the sinks, and send the events that wait."""

from __future__ import annotations

import click

from ....exchange.sinks.tell import SinkStatus
from ....model.record import as_dict
from ....repository import Repository
from ..commands import pass_repository
from ..groups import Verbs
from ..options import JSON
from ..terminal import note, paint, say, say_either
from .store import say_standings


@click.group("sinks", cls=Verbs, bare="status")
def sinks_command() -> None:
    """Show and send events for the daily log and the webhook.

    A sink receives an event for each write. You set up sinks in your own config, never in a repository. See 'rawkomem
    docs sinks'.
    """


@sinks_command.command("status")
@JSON
@pass_repository
def status_command(repository: Repository, as_json: bool) -> int:
    """List the sinks and their state.

    The exit code is 1 if a sink has a problem.
    """
    statuses = repository.sinks.list()
    if not statuses and not as_json:
        say("no sinks are set up ('rawkomem docs sinks' explains how)")
    return say_standings(as_json, statuses, _line)


@sinks_command.command("flush")
@click.option("--due", is_flag=True, help="Only send events whose retry time has come.")
@JSON
@pass_repository
def flush_command(repository: Repository, due: bool, as_json: bool) -> int:
    """Send the waiting events to the webhook now.

    Every write does this in the background. The exit code is 1 if an event could not be sent.
    """
    flushed = repository.sinks.flush(due)
    said = f"{flushed.sent} sent, {flushed.waiting} waiting, {flushed.dropped} dropped"
    say_either(as_json, as_dict(flushed), said)
    if flushed.failure and not as_json:
        note(flushed.failure)
    return 1 if flushed.failure else 0


def _line(status: SinkStatus) -> str:
    waiting = f"\n  {status.waiting} waiting, {status.dropped} dropped (.rawko/local/sinks/dead.jsonl)"
    more = waiting if status.waiting or status.dropped else ""
    return f"{paint(status.name, 'bold')}  {status.where}  {', '.join(status.events)}{more}"
