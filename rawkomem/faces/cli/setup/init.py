"""Implement `rawkomem init`: start a repository, and list every file that it writes."""

from __future__ import annotations

import os

import click

from ....files.layout import personal_root
from ....files.start import make_personal_folder, plan_start, write_start
from ..options import DRY_RUN, PERSONAL
from ..terminal import paint, say


@click.command("init")
@DRY_RUN
@PERSONAL.but(help="Start your personal repository; its memories are recalled in every project.")
@click.pass_obj
def init_command(folder: str, dry_run: bool, personal: bool) -> None:
    """Start a memory repository in this project.

    Lists every file it writes. Files that exist are never changed.
    """
    place = os.path.dirname(personal_root()) if personal else folder or "."
    steps = plan_start(place)
    for step in steps:
        say(f"{paint('exists', 'dim') if step.exists else paint('write ', 'green')}  {step.path}")
    if dry_run:
        say("Nothing was written (--dry-run).")
        return
    if personal:
        make_personal_folder(place)
    write_start(steps)
    option = " --personal" if personal else ""
    say(f"Ready. Store a memory with: rawkomem add{option} --title 'Why we chose X' --when 'choosing|changing X'")
