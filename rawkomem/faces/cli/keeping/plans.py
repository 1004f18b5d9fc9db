"""Declare the options of commands that print a plan and carry it out with `--apply`."""

from __future__ import annotations

import click

from ....model.errors import BadInput

APPLY = click.option("--apply", is_flag=True, help="Carry out the plan. Without this option, nothing is written.")


def refuse_both(apply: bool, dry_run: bool) -> None:
    """Raise BadInput if both options are used."""
    if apply and dry_run:
        raise BadInput("--apply and --dry-run exclude each other", "use one of them")
