"""Measure and test rawkomem on this machine: `rawkomem bench` and `self-check`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from click import IntRange, Path, UsageError, argument, group, option, pass_obj

from ... import __version__
from ...bench.gold import measure_learning, measure_replay
from ...bench.recall import measure_recall, replay_here
from ...bench.scale import measure_stores
from ...bench.secrets import DEFAULT_CORPUS, measure_secrets, read_corpus
from ...bench.speed import measure_speed
from ...model.installed import how_to_add, how_to_install, how_to_reach, installer
from ...model.values import as_dict, record
from .declarations import Verbs, flag
from .manual import apart_environment
from .options import JSON, PROFILE
from .terminal import note, say, say_json, say_table

# Implement `rawkomem bench`: measure speed and quality on this machine.


@group("bench", cls=Verbs)
def bench_command() -> None:
    """Measure speed, recall, learning and redaction.

    Examples:
      rawkomem bench speed --files 100
    """


@bench_command.command("speed")
@option(
    "--files", multiple=True, default=(2_000,), show_default=True, type=IntRange(1, 200_000),
    help="The number of memories; may be repeated to compare sizes.",
)  # fmt: skip
@option(
    "--changes", default=0, show_default=True, type=IntRange(0, 1_000_000),
    help="The number of entries that change memories: votes, amendments, links, …",
)  # fmt: skip
@JSON
def bench_speed(files: tuple[int, ...], changes: int, as_json: bool) -> None:
    """Measure how long commands take, in milliseconds and in Python starts.

    One start is the median of 'python -c pass' in the same run.

    Examples:
      rawkomem bench speed --files 100
    """

    measured = [measure_speed(count, note, changes) for count in files]
    if as_json:
        say_json(
            [
                {"files": count, "measures": [as_dict(measure) for measure in row]}
                for count, row in zip(files, measured, strict=True)
            ]
        )
        return
    say(f"{'':40}" + "".join(f"{count:>16,} files" for count in files))
    for row in zip(*measured, strict=True):
        cells = (
            f"{one.mb:.1f} MB" if one.mb else f"{one.ms:.0f} ms {one.starts:7.1f} st."
            for one in row
        )
        say(f"{row[0].name:40}" + "".join(f"{cell:>22}" for cell in cells))


@bench_command.command("recall")
@argument("files", nargs=-1, type=Path())
@PROFILE
@flag("--deep", help="Compute contextual vectors first, a dozen memories per second.")
@option(
    "--sessions", multiple=True, type=Path(),
    help="Also replay these recorded sessions (JSON, or .xz) against FILES or a copy of this repository.",
)  # fmt: skip
@JSON
@pass_obj
def bench_recall(
    folder: str,
    files: tuple[str, ...],
    profile: str,
    deep: bool,
    sessions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Measure how well search and injection find the right memories.

    Each of FILES is JSON with memories and queries; see 'rawkomem docs recall'. Figures are means with 95 %
    intervals. Prompts and recorded sessions run through the prompt hook; see 'rawkomem docs bench'.
    """

    if not files and not sessions:
        raise UsageError("Missing argument 'FILES...', or option '--sessions'.")
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
        say(
            f"{report['file']}, {report['questions']} questions, profile {report['profile']}, {report['embedder']}"
        )
        for name, value in report["all"].items():
            say(f"  {name:10} {value['mean']:.3f}  [{value['low']:.3f}, {value['high']:.3f}]")
        say(f"  injected within 2,000 tokens: {report['within_budget']}")
    else:
        say(report["file"])
    if "unanswerable" in report:
        say(f"  unanswerable: {report['unanswerable']}")
    if "injected" in report:
        injected = report["injected"]
        names = [name for name in injected if name != "categories"]
        rows = {"all": injected, **injected["categories"]}
        say_table("injected by the hook", names, {row or "(none)": rows[row] for row in rows})
    if "sessions" in report:
        for name, value in report["sessions"].items():
            say(f"  {name.replace('_', ' '):18} {value:>9,}")


@bench_command.command("learn")
@argument("files", nargs=-1, required=True, type=Path())
@JSON
def bench_learn(files: tuple[str, ...], as_json: bool) -> None:
    """Measure how many drafts are worth keeping.

    Each of FILES is JSON (or .xz) with sessions: records of Claude Code, and the expected memories with verbatim
    quotes. See 'rawkomem docs bench'.
    """

    report = measure_learning(files, note)
    if as_json:
        say_json(report)
        return
    names = (
        "drafts",
        "stored",
        "touching_gold",
        "gold",
        "found",
        "requests",
        "precision",
        "recall",
    )
    say_table("session", names, {**report["each"], "all": report})


@bench_command.command("replay")
@argument("files", nargs=-1, required=True, type=Path())
@JSON
def bench_replay(files: tuple[str, ...], as_json: bool) -> None:
    """Measure how many corrections in recorded sessions the expected memories cover.

    FILES are the same as for 'rawkomem bench learn'. The command stores the expected memories in a temporary
    repository and replays each session. See 'rawkomem docs learning'.
    """

    report = measure_replay(files, note)
    if as_json:
        say_json(report)
        return
    names = ("prompts", "corrections", "prevented", "too_late", "not_covered")
    say_table("", names, {**report["each"], **report["kinds"], "all": report})


@bench_command.command("secrets")
@option(
    "--file",
    default="",
    type=Path(),
    help="A corpus of labeled texts. Default: the project's own.",
)
@flag("--kinds", help="Also show the recall of each kind.")
@JSON
def bench_secrets(file: str, kinds: bool, as_json: bool) -> None:
    """Measure how many secrets and how many harmless texts are redacted.

    A corpus is JSON with base64 texts. See 'rawkomem docs redaction'.
    """

    figures = measure_secrets(read_corpus(file or DEFAULT_CORPUS))
    if as_json:
        say_json(as_dict(figures))
        return
    for name, value, of in (
        ("secrets: recall", f"{figures.secret_recall:.3f}", f"of {figures.secrets:,} texts"),
        (
            "personal data: recall",
            f"{figures.personal_recall:.3f}",
            f"of {figures.personal:,} texts",
        ),
        (
            "false positives per 1,000",
            f"{figures.false_positives:.1f}",
            f"in {figures.benign:,} harmless texts",
        ),
        (
            "lookalikes redacted",
            f"{figures.lookalikes_touched:.3f}",
            f"of {figures.lookalikes:,} texts",
        ),
        ("labeled secret removed", f"{figures.spans_removed:.3f}", f"of {figures.spans:,} found"),
        ("whole private key removed", f"{figures.pem_whole:.3f}", f"of {figures.pem_blocks:,}"),
        ("a second run changes nothing", f"{figures.idempotent:.3f}", "of all texts"),
        ("ms for 4 kB", f"{figures.ms_per_4kb:.2f}", "warm, one core"),
    ):
        say(f"{name:28} {value:>7}  {of}")
    for kind, rows, recall in figures.by_kind if kinds else ():
        say(f"  {kind:44} {recall:6.3f}  of {rows:,}")


@bench_command.command("scale")
@option(
    "--memories", multiple=True, default=(10_000,), show_default=True, type=IntRange(1, 1_000_000),
    help="The number of memories of 1 to 4 kB; may be repeated to compare sizes.",
)  # fmt: skip
@option(
    "--store", "stores", multiple=True, default=("sqlite", "memory"), show_default=True,
    help="A store to measure; may be repeated. Set RAWKOMEM_<STORE>_URL to the URL of a database "
    "that exists only for this measurement.",
)  # fmt: skip
@JSON
def bench_scale(
    memories: tuple[int, ...],
    stores: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare databases: time to fill them, warm searches, size.

    The command runs in a temporary folder. A warm search is a search in a process that stays open.
    """
    rows = [row for count in memories for row in measure_stores(count, stores, note)]
    if as_json:
        say_json([as_dict(row) for row in rows])
        return
    say(
        "| store | memories | passages | fill, s | fill CPU, s | search p50, ms | p95, ms | CPU, ms"
        " | size, MB | load |"
    )
    say("|" + "---|" * 10)
    for row in rows:
        fill = f"{row.fill_s:.0f} | {row.fill_cpu_s:.0f}"
        times = f"{row.p50_ms:.0f} | {row.p95_ms:.0f} | {row.cpu_ms:.0f}"
        sizes = f"{row.mb:.0f} | {row.load:.1f}"
        say(f"| {row.store} | {row.memories:,} | {row.passages:,} | {fill} | {times} | {sizes} |")


# Implement `rawkomem doctor --self-check`: test every part of rawkomem in a temporary folder.

TITLE, BODY, TASK = (
    "Use pnpm",
    "The lock file is pnpm's; npm breaks the build.",
    "install a package with npm",
)
ADD_WORDS = ("add", "--title", TITLE, "--when", "npm", "--body", BODY)
STEP_LIMIT_S = 120.0  # the first start on a slow disk takes seconds
REPORT_HINT = "run 'rawkomem doctor' and report what it prints"


@record
class Checked:
    """One check: its name, whether it passed, its result, and what to do if it failed."""

    name: str
    ok: bool
    text: str
    hint: str = ""


class Machine:
    """Runs rawkomem in a temporary project, without the user's settings."""

    def __init__(self, home: str):
        self.project = os.path.join(home, "project")
        os.mkdir(self.project)
        self.environment = apart_environment(home)

    def rawkomem(self, *words: str, told: str = "") -> str:
        """Return the output of a command; raise RuntimeError with the last line of stderr if it fails."""
        command = [sys.executable, "-P", "-m", "rawkomem", *words]
        try:
            done = subprocess.run(
                command, cwd=self.project, env=self.environment, input=told, capture_output=True, encoding="utf-8",
                check=False, timeout=STEP_LIMIT_S,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as failure:
            raise RuntimeError(str(failure)) from None
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
        return done.stdout


def check_all() -> list[Checked]:
    """Run the checks of every part in a temporary folder, and return the results."""
    with tempfile.TemporaryDirectory(prefix="rawkomem-check-", ignore_cleanup_errors=True) as home:
        return [*_checks(Machine(home))]


def _checks(machine: Machine) -> Iterator[Checked]:
    """Run the checks and yield each result."""
    yield Checked(
        "version",
        True,
        f"rawkomem {__version__}, Python {sys.version.split()[0]}, installed by {installer()}",
    )
    told = json.dumps({"session_id": "self-check", "cwd": machine.project, "prompt": TASK})
    for name, words, stdin, expected, text in (
        ("init", ("init",), "", "", "a repository can be created"),
        ("add", ADD_WORDS, "", "", "a memory can be stored"),
        ("search", ("search", "which package manager"), "", TITLE, "search finds the memory"),
        ("inject", ("inject", TASK), "", BODY, "inject prints the memory"),
        ("hook", ("hook", "claude", "prompt"), told, BODY, "a hook answers"),
    ):
        try:
            said = machine.rawkomem(*words, told=stdin)
            if expected not in said:
                raise RuntimeError(f"the memory is missing in the answer: {said.strip()[:80]!r}")
            yield Checked(name, True, text)
        except RuntimeError as failure:
            yield Checked(name, False, str(failure), REPORT_HINT)
    for name, program, hint in (
        ("PATH", "rawkomem", how_to_reach()),
        ("git", "git", "install git, with which teams share memories"),
    ):
        found = shutil.which(program)
        text = found or f"{program} is not on the PATH"
        yield Checked(name, bool(found), text, "" if found else hint)
    yield _check_package("browse", "nh3", "the page", how_to_install("markdown-it-py", "nh3"))
    yield _check_package("lsp", "pygls", "the language server", how_to_install("pygls"))
    yield _check_package("mcp", "mcp", "the MCP server (optional)", how_to_add("mcp"), needed=False)


def _check_package(name: str, module: str, what: str, command: str, needed: bool = True) -> Checked:
    found = find_spec(module) is not None
    return Checked(name, found or not needed, f"{what}: {'ready' if found else 'not installed'}",
                   "" if found else f"run: {command}")  # fmt: skip
