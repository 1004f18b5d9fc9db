"""Implement `rawkomem bench`: measure speed and quality on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ....model.record import as_dict
from ..groups import Verbs
from ..options import JSON, PROFILE
from ..terminal import note, say, say_json

if TYPE_CHECKING:
    from ....bench.secrets import Figures
    from ....bench.speed import Measure


@click.group("bench", cls=Verbs)
def bench_command() -> None:
    """Measure speed, recall, learning and redaction."""


@bench_command.command("speed")
@click.option(
    "--files", multiple=True, default=(2_000,), show_default=True, type=click.IntRange(1, 200_000),
    help="The number of memories; may be repeated to compare sizes.",
)  # fmt: skip
@click.option(
    "--changes", default=0, show_default=True, type=click.IntRange(0, 1_000_000),
    help="The number of entries that change memories: votes, amendments, links, …",
)  # fmt: skip
@JSON
def speed_command(files: tuple[int, ...], changes: int, as_json: bool) -> None:
    """Measure how long commands take, in milliseconds and in Python starts.

    One start is the median of 'python -c pass' in the same run.
    """
    from ....bench.speed import measure_speed

    measured = [measure_speed(count, note, changes) for count in files]
    if as_json:
        rows = zip(files, measured, strict=True)
        say_json([{"files": count, "measures": [as_dict(measure) for measure in row]} for count, row in rows])
        return
    say(f"{'':40}" + "".join(f"{count:>16,} files" for count in files))
    for row in zip(*measured, strict=True):
        say(f"{row[0].name:40}" + "".join(f"{_value(measure):>22}" for measure in row))


def _value(measure: Measure) -> str:
    return f"{measure.mb:.1f} MB" if measure.mb else f"{measure.ms:.0f} ms {measure.starts:7.1f} st."


@bench_command.command("recall")
@click.argument("files", nargs=-1, type=click.Path())
@PROFILE
@click.option("--deep", is_flag=True, help="Compute contextual vectors first, a dozen memories per second.")
@click.option(
    "--sessions", multiple=True, type=click.Path(),
    help="Also replay these recorded sessions (JSON, or .xz) against FILES or a copy of this repository.",
)  # fmt: skip
@JSON
@click.pass_obj
def recall_command(
    folder: str, files: tuple[str, ...], profile: str, deep: bool, sessions: tuple[str, ...], as_json: bool
) -> None:
    """Measure how well search and injection find the right memories.

    Each of FILES is JSON with memories and queries; see 'rawkomem docs recall'. Figures are means with 95 %
    intervals. Prompts and recorded sessions run through the prompt hook; see 'rawkomem docs bench'.
    """
    from ....bench.recall import measure_recall, replay_here

    if not files and not sessions:
        raise click.UsageError("Missing argument 'FILES...', or option '--sessions'.")
    reports = [measure_recall(file, profile, note, deep, sessions=sessions) for file in files]
    if not files:
        reports = [replay_here(folder, sessions, note, deep)]
    if as_json:
        say_json(reports)
        return
    for report in reports:
        _print_recall(report)


def _print_recall(report: dict[str, Any]) -> None:
    if "questions" in report:
        say(f"{report['file']}, {report['questions']} questions, profile {report['profile']}, {report['embedder']}")
        for name, value in report["all"].items():
            say(f"  {name:10} {value['mean']:.3f}  [{value['low']:.3f}, {value['high']:.3f}]")
        say(f"  injected within 2,000 tokens: {report['within_budget']}")
    else:
        say(report["file"])
    if "unanswerable" in report:
        say(f"  unanswerable: {report['unanswerable']}")
    if "injected" in report:
        _print_injected(report["injected"])
    if "sessions" in report:
        for name, value in report["sessions"].items():
            say(f"  {name.replace('_', ' '):18} {value:>9,}")


def _print_injected(injected: dict[str, Any]) -> None:
    """Print the figures of the prompt hook as a table, a row for each category."""
    rows = {"all": injected, **injected["categories"]}
    names = [name for name in injected if name != "categories"]
    say(f"  {'injected by the hook':20}" + "".join(f"{name:>{len(name) + 4}}" for name in names))
    for category, row in rows.items():
        cells = (f"{'–' if row[name] is None else row[name]:>{len(name) + 4}}" for name in names)
        say(f"  {category or '(none)':20}" + "".join(cells))


@bench_command.command("learn")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@JSON
def learn_command(files: tuple[str, ...], as_json: bool) -> None:
    """Measure how many drafts are worth keeping.

    Each of FILES is JSON (or .xz) with sessions: records of Claude Code, and the expected memories with verbatim
    quotes. See 'rawkomem docs bench'.
    """
    from ....bench.learn import measure_learning

    report = measure_learning(files, note)
    if as_json:
        say_json(report)
        return
    names = ("drafts", "stored", "touching_gold", "gold", "found", "requests", "precision", "recall")
    say(f"{'session':24}" + "".join(f"{name.replace('_', ' '):>{len(name) + 3}}" for name in names))
    for session, row in {**report["each"], "all": report}.items():
        say(f"{session[:24]:24}" + "".join(f"{_cell(row[name]):>{len(name) + 3}}" for name in names))
    say("")
    say("  min score  drafts  per session  precision  recall")
    for point in report["curve"]:
        row = (point["drafts"], point["per_session"], point["precision"], point["recall"])
        say(
            f"{point['least']:>11}"
            + "".join(f"{_cell(value):>{width}}" for value, width in zip(row, (8, 13, 11, 8), strict=True))
        )


@bench_command.command("replay")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@JSON
def replay_command(files: tuple[str, ...], as_json: bool) -> None:
    """Measure how many corrections in recorded sessions the expected memories cover.

    FILES are the same as for 'rawkomem bench learn'. The command stores the expected memories in a temporary
    repository and replays each session. See 'rawkomem docs learning'.
    """
    from ....bench.replay import measure_replay

    report = measure_replay(files, note)
    if as_json:
        say_json(report)
        return
    names = ("prompts", "corrections", "covered", "before", "not_injected", "not_covered")
    say(f"{'':24}" + "".join(f"{name.replace('_', ' '):>{len(name) + 3}}" for name in names))
    for name, row in {**report["each"], **report["kinds"], "all": report}.items():
        say(f"{name[:24]:24}" + "".join(f"{_cell(row.get(name)):>{len(name) + 3}}" for name in names))
    gold = report["with_gold"]
    say(f"of {gold['corrections']} corrections that an expected memory quotes, {gold['covered']} are covered")
    pairs = "{quoted} pairs of correction and memory match by quotes, {found} by words and vectors, {both} by both"
    say(pairs.format(**report["pairs"]))


def _cell(value: object) -> str:
    return "–" if value is None else str(value)


@bench_command.command("secrets")
@click.option("--file", default="", type=click.Path(), help="A corpus of labeled texts. Default: the project's own.")
@click.option("--kinds", is_flag=True, help="Also show the recall of each kind.")
@JSON
def secrets_command(file: str, kinds: bool, as_json: bool) -> None:
    """Measure how many secrets and how many harmless texts are redacted.

    A corpus is JSON with base64 texts. See 'rawkomem docs redaction'.
    """
    from ....bench.secrets import DEFAULT_CORPUS, measure_secrets, read_corpus

    figures = measure_secrets(read_corpus(file or DEFAULT_CORPUS))
    if as_json:
        say_json(as_dict(figures))
        return
    _print_figures(figures)
    for kind, rows, recall in figures.by_kind if kinds else ():
        say(f"  {kind:44} {recall:6.3f}  of {rows:,}")


def _print_figures(figures: Figures) -> None:
    for name, value, rows in (
        ("secrets: recall", f"{figures.secret_recall:.3f}", f"of {figures.secrets:,} texts"),
        ("personal data: recall", f"{figures.personal_recall:.3f}", f"of {figures.personal:,} texts"),
        ("false positives per 1,000", f"{figures.false_positives:.1f}", f"in {figures.benign:,} harmless texts"),
        ("lookalikes redacted", f"{figures.lookalikes_touched:.3f}", f"of {figures.lookalikes:,} texts"),
        ("labeled secret removed", f"{figures.spans_removed:.3f}", f"of {figures.spans:,} found"),
        ("whole private key removed", f"{figures.pem_whole:.3f}", f"of {figures.pem_blocks:,}"),
        ("a second run changes nothing", f"{figures.idempotent:.3f}", "of all texts"),
        ("ms for 4 kB", f"{figures.ms_per_4kb:.2f}", "warm, one core"),
    ):
        say(f"{name:28} {value:>7}  {rows}")


@bench_command.command("scale")
@click.option(
    "--memories", multiple=True, default=(10_000,), show_default=True, type=click.IntRange(1, 1_000_000),
    help="The number of memories of 4 kB; may be repeated to compare sizes.",
)  # fmt: skip
@click.option(
    "--store", "stores", multiple=True, default=("sqlite", "memory"), show_default=True,
    help="A store to measure; may be repeated. Set RAWKOMEM_<STORE>_URL to the URL of a database "
    "that exists only for this measurement.",
)  # fmt: skip
@click.option(
    "--vectors", default=0, type=click.IntRange(0, 10_000_000),
    help="Instead, store this many vectors of short texts and search for nearest neighbors.",
)  # fmt: skip
@click.option("--texts", default="", help="With --vectors: a text file, plain or .xz, whose pieces are embedded.")
@click.option(
    "--keep", default="", metavar="FOLDER",
    help="Keep the filled stores in this folder. The next run with the same folder only measures searches.",
)  # fmt: skip
@JSON
def scale_command(
    memories: tuple[int, ...], stores: tuple[str, ...], vectors: int, texts: str, keep: str, as_json: bool
) -> None:
    """Compare databases: time to fill them, warm searches, size.

    The command runs in a temporary folder. A warm search is a search in a process that stays open.
    """
    from ....bench.scale import measure_stores, measure_vectors

    if vectors:
        rows = [measure_vectors(vectors, store, note, texts, keep) for store in stores]
    else:
        rows = [row for count in memories for row in measure_stores(count, stores, note, keep)]
    if as_json:
        say_json([as_dict(row) for row in rows])
        return
    heads = "store", "memories", "passages", "fill, s", "fill CPU, s", "search p50, ms", "p95, ms", "CPU, ms"
    say(f"| {' | '.join(heads)} | size, MB | load | recall |")
    say("|" + "---|" * (len(heads) + 3))
    for row in rows:
        recall = f"{row.recall:.3f}" if row.recall else ""
        fill = f"{row.fill_s:.0f} | {row.fill_cpu_s:.0f}"
        times = f"{row.p50_ms:.0f} | {row.p95_ms:.0f} | {row.cpu_ms:.0f}"
        sizes = f"{row.mb:.0f} | {row.load:.1f}"
        say(f"| {row.store} | {row.memories:,} | {row.passages:,} | {fill} | {times} | {sizes} | {recall} |")
