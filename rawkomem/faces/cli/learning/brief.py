"""Implement `rawkomem brief`: print what earlier work teaches about a goal."""

from __future__ import annotations

import click

from ....files.given_text import read_stdin
from ....model.record import as_dict
from ....recall.brief import MAX_TOKENS, NOTHING
from ....repository import Repository
from ..commands import pass_repository
from ..options import BUDGET, JSON
from ..terminal import note, say, say_json


@click.command("brief")
@click.argument("goal", nargs=-1, required=True)
@BUDGET.but(default=MAX_TOKENS, least=50)
@JSON
@pass_repository
def brief_command(repository: Repository, goal: tuple[str, ...], budget: int, as_json: bool) -> None:
    """Show what earlier work teaches about a goal.

    The command prints the recommended approach, anti-patterns, lessons, what worked and what failed, each with the
    id of its source. If GOAL is '-', it is read from standard input.
    """
    text = read_stdin(strict=False) if goal == ("-",) else " ".join(goal)
    found = repository.traces.brief(text, budget)
    if as_json:
        say_json({**as_dict(found), "points": [as_dict(point) for point in found.points]})
        return
    if found.points:
        say(found.text.rstrip("\n"))
    else:
        note(f"{found.left_out} points do not fit into the budget: raise --budget" if found.left_out else NOTHING)
