"""Implement `rawkomem index`: update, watch or rebuild the search index."""

from __future__ import annotations

import click

from ..commands import click_of
from ..groups import Verbs
from .keep import rebuild_command, status_command
from .watch import watch_command


@click.group("index", cls=Verbs, bare="status")
def index_command() -> None:
    """Update, watch or rebuild the search index.

    The index is derived from the memory files and can be deleted at any time. Every command updates it automatically.
    """


index_command.add_command(status_command, "status")
index_command.add_command(click_of("sync"), "sync")
index_command.add_command(watch_command, "watch")
index_command.add_command(rebuild_command, "rebuild")
