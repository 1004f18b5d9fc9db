"""Measure and try out rawkomem on this machine: `rawkomem bench` and `try`."""

from __future__ import annotations

import sys
from array import array
from typing import Any

from click import Path, UsageError, argument, option

from ...bench.recall import measure_learning, measure_recall, replay_here
from ...bench.speed import measure_speed
from ...embed.providers import open_embedder
from ...files.layout import find_layout, read_stdin
from ...model.errors import BadInput, NotFound
from ...redaction.find import find_secrets, redact
from ...repository.settings import Settings, load_settings
from ...state.schema import frontmatter_schema
from ...text.chunks import counted
from ...text.conditions import condition_problems, match_condition
from .answers import Fields
from .declarations import answer, verbs
from .options import PROFILE
from .terminal import note, say_json

FILES = argument("files", nargs=-1, type=Path())
MEASURE = Fields(
    "name ms starts mb", "  {name:<40} {ms:10.0f} ms {starts:7.1f} starts {mb:8.1f} MB"
)
SPEED = Fields(
    "files measures", "{files:n file}\n{measures_lines:text}", measures=[MEASURE]
)
RECALL = Fields(
    "file profile? embedder? questions? all? within_budget? unanswerable? injected? sessions?",
    """\
{file}
{questions:?  % questions}{profile:?, profile %}{embedder:?, %}
{all:?  %}
{within_budget:?  injected within 2,000 tokens: %}
{unanswerable:?  unanswerable: %}
{injected:?  injected by the hook: %}
{sessions:?  sessions: %}""",
)


@verbs("bench")
def bench_command() -> None:
    """Measure speed, recall and learning.

    Examples:
      rawkomem bench speed --files 100
    """


@bench_command.verb(
    "speed",
    "--files 1..200000... =2000: The number of memories; may be repeated to compare sizes.",
    [SPEED],
)
def bench_speed(files: tuple[int, ...]) -> Any:
    """Measure how long commands take, in milliseconds and in Python starts.

    One start is the median of 'python -c pass' in the same run.

    Examples:
      rawkomem bench speed --files 100
    """
    return [{"files": count, "measures": measure_speed(count, note)} for count in files]


@bench_command.verb(
    "recall",
    FILES,
    PROFILE,
    "--deep: Compute contextual vectors first, a dozen memories per second.",
    option(
        "--sessions", multiple=True, type=Path(),
        help="Also replay these recorded sessions (JSON, or .xz) against FILES or a copy of this repository.",
    ),
    [RECALL],
)  # fmt: skip
def bench_recall(
    folder: str,
    files: tuple[str, ...],
    profile: str,
    deep: bool,
    sessions: tuple[str, ...],
) -> Any:
    """Measure how well search and injection find the right memories.

    Each of FILES is JSON with memories and queries; see 'rawkomem docs recall'. Figures are means with 95 %
    intervals. Prompts and recorded sessions run through the prompt hook; see 'rawkomem docs bench'.
    """
    if not files and not sessions:
        raise UsageError("Missing argument 'FILES...', or option '--sessions'.")
    if not files:
        return [replay_here(folder, sessions, note, deep)]
    return [
        measure_recall(file, profile, note, deep, sessions=sessions) for file in files
    ]


LEARNED = Fields(
    "sessions drafts others stored gold requests precision recall by_turn more each",
    "{sessions} sessions: {drafts} drafts, {others} less sure, {stored} stored, {requests} asked for, {gold} expected"
    " memories; precision {precision}, recall {recall}; with the less sure drafts {more}",
)


@bench_command.verb("learn", FILES, LEARNED)
def bench_learn(files: tuple[str, ...]) -> Any:
    """Measure how many drafts are worth keeping.

    Each of FILES is JSON (or .xz) with sessions: records of Claude Code, and the expected memories with verbatim
    quotes. See 'rawkomem docs bench'.
    """
    return measure_learning(files, note)


@verbs("try")
def try_command() -> None:
    """Try out a condition, a redaction or a vector on a text.

    Examples:
      rawkomem try match 'auth|login' 'add a login page'
      rawkomem try scrub < FILE
    """


SECRET = Fields("tag rule line column pii")
REDACTED = Fields("text findings", findings=[SECRET])


@try_command.verb("scrub", REDACTED)
def scrub_command(as_json: bool) -> None:
    """Redact secrets and personal data in a text.

    The command reads a text from standard input and prints it without secrets; it writes no file. 'rawkomem docs
    redaction' lists what is redacted.

    Examples:
      rawkomem try scrub < FILE
    """
    text = read_stdin(strict=False)
    secrets = find_secrets(text)
    if as_json:
        column = SECRET.but(
            column=lambda one: one.start - text.rfind("\n", 0, one.start)
        )
        answer(
            {"text": redact(text), "findings": secrets}, REDACTED.but(findings=[column])
        )
        return
    sys.stdout.write(redact(text))
    if secrets:
        note(
            f"{counted(len(secrets), 'redaction')}: {', '.join(sorted({one.rule for one in secrets}))}"
        )


MATCH = Fields("fires how why problems", "{fires:yes fires/does not fire}{why:?: %}")
VECTOR = Fields("model=name dims vector", "{model}, {dims} dimensions: {start}, …")


@try_command.verb("match", "PATTERN", "TEXT", MATCH)
def match_command(pattern: str, text: str) -> int:
    """Test whether a whenToUse condition matches a text.

    The exit code is 0 if the condition matches, else 1. If TEXT is '-', it is read from standard input.

    Examples:
      rawkomem try match 'auth|login' 'add a login page'
    """
    fired = match_condition(pattern, read_stdin(strict=False) if text == "-" else text)
    problems = condition_problems([pattern], 1)
    why, how = (fired.sentence, fired.how) if fired else ("", "")
    messages = [problem.message for problem in problems]
    answer({"fires": bool(fired), "how": how, "why": why, "problems": messages})
    for problem in problems:
        note(f"{problem.message} ({problem.hint})")
    return 0 if fired else 1


@try_command.verb("embed", "TEXT", VECTOR)
def embed_command(folder: str, text: str) -> Any:
    """Print the vector of a text.

    Examples:
      rawkomem try embed 'hello world'
    """
    if not text.strip():
        raise BadInput(
            "the TEXT to embed is empty", "run: rawkomem try embed 'hello world'"
        )
    try:
        settings = load_settings(find_layout(folder), note)
    except NotFound:
        settings = Settings()
    embedder = open_embedder(settings.embedder, note)
    vector = [round(x, 6) for x in array("f", embedder.embed([text])[0])]
    return answer(embedder, vector=vector, start=vector[:8])


@try_command.verb("schema")
def schema_command() -> None:
    """Print the JSON Schema of the frontmatter.

    Editors and linters use it to check the frontmatter of one entry. See 'rawkomem docs format'.

    Examples:
      rawkomem try schema
    """
    say_json(frontmatter_schema(), versioned=False)
