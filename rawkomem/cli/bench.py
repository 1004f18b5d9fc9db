"""`rawkomem bench`: measure on this machine."""

from __future__ import annotations

import click

from ..model.record import as_dict
from .terminal import note, say, say_json


@click.group("bench")
def bench_command() -> None:
    """Measure speed on this machine."""


@bench_command.command("speed")
@click.option("--files", default=2_000, show_default=True, type=click.IntRange(1, 200_000), help="How many memories.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def speed_command(files: int, as_json: bool) -> None:
    """How long the real commands take, in milliseconds and in starts.

    One start is the median of 'python -c pass' in the same run.
    """
    from ..bench.speed import measure_speed

    measures = measure_speed(files, note)
    if as_json:
        say_json({"files": files, "measures": [as_dict(measure) for measure in measures]})
        return
    for measure in measures:
        value = f"{measure.mb:8.1f} MB" if measure.mb else f"{measure.ms:8.1f} ms  {measure.starts:6.1f} starts"
        say(f"{measure.name:40} {value}")
