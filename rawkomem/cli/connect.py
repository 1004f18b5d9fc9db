"""`rawkomem connect`: let the programs around a project know its memories; each can be taken out again."""

from __future__ import annotations

import click

from .connect_git import connect_git


@click.group("connect")
def connect_command() -> None:
    """Connect memories with git and other programs; --remove takes it back."""


connect_command.add_command(connect_git)
