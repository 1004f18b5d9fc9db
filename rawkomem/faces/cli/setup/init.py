"""Implement `rawkomem init`: start a repository. At a terminal, also offer to import, connect and replay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ....files.layout import personal_root
from ....files.start import make_personal_folder, plan_start, write_start
from ....hosts import person
from .. import opening
from ..options import DRY_RUN, PERSONAL, YES
from ..terminal import note, paint, say

if TYPE_CHECKING:
    from .guide import Guide

WHAT_IT_IS = "rawkomem stores the memories of this project in .rawko, as Markdown files that you commit."


@click.command("init")
@YES.but(help="Take the suggested answer to each question; do not ask.")
@DRY_RUN
@click.option("--no-import", is_flag=True, help="Do not import instructions, rules and memories of other tools.")
@click.option("--no-connect", is_flag=True, help="Do not connect agent hosts and git.")
@PERSONAL.but(help="Start your personal repository; its memories are recalled in every project.")
@click.pass_context
def init_command(
    context: click.Context, /, yes: bool, dry_run: bool, no_import: bool, no_connect: bool, personal: bool
) -> int:
    """Start a memory repository in this project.

    At a terminal, it shows a plan and asks before each step: write .rawko, import CLAUDE.md, AGENTS.md, rules and
    memories of other tools, connect git and the installed agent hosts, replay your last sessions. Run it again later
    to import and connect what is new. Without a terminal, it only writes the files in .rawko, unless you add --yes.
    """
    if personal or not (yes or person.arrival() == person.PERSON):
        _start_plain(context.obj, dry_run, personal)
        return 0
    from .guide import Guide
    from .survey import survey

    found = survey(context.obj or ".", not no_import, not no_connect)
    guide = Guide(context, found, opening.arrival() == person.PERSON)
    for place, why in found.skipped:
        note(f"{place} is left out: {why}")
    try:
        return _guided(guide, yes, dry_run)
    finally:
        guide.close()


def _start_plain(folder: str, dry_run: bool, personal: bool) -> None:
    """Write and list the files of a repository."""
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


def _guided(guide: Guide, yes: bool, dry_run: bool) -> int:
    """Print the plan, and carry it out unless it is a dry run. Return the exit code."""
    from .guide import Stopped, ask_person, take_default

    steps = guide.steps()
    if not steps:
        say("Nothing new was found to import or to connect.")
    else:
        say(f"{WHAT_IT_IS}\n\n{paint('The plan:', 'bold')}")
    for number, step in enumerate(steps, 1):
        say(f"  {number}. {step.what}")
    if guide.found.wants_git:
        note("there is no git repository here; after 'git init', 'rawkomem init' offers to connect git")
    if dry_run:
        say("Nothing was written (--dry-run).")
        return 0
    if steps and not yes:
        say("\nEnter takes the answer in capitals, s shows the texts. Ctrl-C stops; finished steps stay.\n")
    try:
        guide.run(take_default if yes else ask_person)
    except Stopped:
        note("stopped: nothing was written")
        return 1
    except (click.Abort, KeyboardInterrupt):
        say()
        note("stopped; run 'rawkomem init' again to continue")
        if guide.undo:
            guide.tell_end()
        return 1
    guide.tell_end()
    return 0
