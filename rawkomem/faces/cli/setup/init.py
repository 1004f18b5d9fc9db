"""Implement `rawkomem init`: start a repository, and list every file that it writes."""

from __future__ import annotations

import click

from ....files.start import plan_start, write_start
from ..options import DRY_RUN
from ..terminal import paint, say


@click.command("init")
@DRY_RUN
@click.pass_obj
def init_command(folder: str, dry_run: bool) -> None:
    """Start a memory repository in this project.

    Lists every file it writes. Files that exist are never changed.
    """
    steps = plan_start(folder or ".")
    for step in steps:
        say(f"{paint('exists', 'dim') if step.exists else paint('write ', 'green')}  {step.path}")
    if dry_run:
        say("Nothing was written (--dry-run).")
        return
    write_start(steps)
    say("Ready. Store a memory with: rawkomem add --title 'Why we chose X' --when 'choosing|changing X'")
