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


@bench_command.command("recall")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--profile", "-p", default="", help="How to score; default: fit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def recall_command(files: tuple[str, ...], profile: str, as_json: bool) -> None:
    """How well search and injection find what questions need.

    Each of FILES is JSON with memories and queries; see docs/recall.md. Figures are means with 95 % intervals.
    """
    from ..bench.recall import measure_recall

    reports = [measure_recall(file, profile, note) for file in files]
    if as_json:
        say_json(reports)
        return
    for report in reports:
        say(f"{report['file']}, {report['questions']} questions, profile {report['profile']}, {report['embedder']}")
        for name, value in report["all"].items():
            say(f"  {name:10} {value['mean']:.3f}  [{value['low']:.3f}, {value['high']:.3f}]")
        say(f"  injected within 2,000 tokens: {report['within_budget']}")
        if "unanswerable" in report:
            say(f"  unanswerable: {report['unanswerable']}")
