"""`rawkomem brief`: what earlier work teaches for a goal."""

from __future__ import annotations

import sys

import click

from ....model.record import as_dict
from ....recall.brief import BUDGET, NOTHING
from ..commands import open_repository
from ..terminal import note, say, say_json


@click.command("brief")
@click.argument("goal", nargs=-1, required=True)
@click.option("--budget", type=click.IntRange(50), default=BUDGET, show_default=True, help="Tokens at most.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def brief_command(folder: str, /, goal: tuple[str, ...], budget: int, as_json: bool) -> None:
    """Tell what earlier work teaches for a goal.

    What worked, what failed, anti-patterns, the recommended approach and lessons, each with the id of its source. GOAL
    '-' reads it from standard input.
    """
    text = sys.stdin.read() if goal == ("-",) else " ".join(goal)
    found = open_repository(folder).traces.brief(text, budget)
    if as_json:
        say_json({**as_dict(found), "points": [as_dict(point) for point in found.points]})
        return
    if found.points:
        say(found.text.rstrip("\n"))
    else:
        note(f"{found.left_out} points do not fit: raise --budget" if found.left_out else NOTHING)
