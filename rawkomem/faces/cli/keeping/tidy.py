"""Implement `rawkomem tidy`: print a plan for housekeeping; `--apply` carries it out."""

from __future__ import annotations

import click

from ..groups import Verbs
from .gather import gather_command
from .lifecycle import consolidate_command, digest_command, prune_command
from .retention import retention_command


@click.group("tidy", cls=Verbs)
def tidy_command() -> None:
    """Merge duplicates, archive old memories and traces.

    Each command except 'gather' prints a plan and changes nothing; --apply carries the plan out. No command deletes a
    memory. See 'rawkomem docs lifecycle'.
    """


for _command in (consolidate_command, digest_command, prune_command, gather_command, retention_command):
    tidy_command.add_command(_command)
