"""Implement `rawkomem index watch`: keep the index up to date while files change."""

from __future__ import annotations

import signal
import sys

import click

from ....files.watch import Watch
from ....repository import Repository
from ....text.count import count
from ..commands import pass_repository
from ..terminal import note, say
from .sync import tell


@click.command("watch")
@click.option("--once", is_flag=True, help="Update the index once and stop.")
@pass_repository
def watch_command(repository: Repository, once: bool) -> None:
    """Update the index whenever files change.

    The command runs until Ctrl-C or SIGTERM. You do not need it: every search updates the index automatically.
    """
    if once:
        tell(repository.sync(), False)
        return
    watch = Watch(repository.layout, lambda: _reconcile(repository), note)
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: watch.stop())
    note(f"watching {repository.layout.root}; stop with Ctrl-C")
    watch.run()


def _reconcile(repository: Repository) -> None:
    report = repository.sync()
    repository.core.deepen_in_background()
    repository.core.wake_sinks()
    repository.close()
    if report.read:
        say(f"{count(report.read, 'file')} read, {report.seconds:.2f} s")
        sys.stdout.flush()
