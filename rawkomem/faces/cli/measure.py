"""Measure and try out rawkomem on this machine: `rawkomem bench` and `try`."""

from __future__ import annotations

import sys
from array import array
from typing import Any

from click import Path, UsageError, argument, option

from ...bench.recall import (
    DEFAULT_CORPUS,
    Figures,
    measure_learning,
    measure_recall,
    measure_replay,
    measure_secrets,
    read_corpus,
    replay_here,
)
from ...bench.speed import measure_speed, measure_stores
from ...embed.providers import open_embedder
from ...files.layout import find_layout, read_stdin
from ...model.errors import BadInput, NotFound, check_known
from ...redaction.find import find_secrets, redact
from ...redaction.scrubber import PROFILES as known
from ...redaction.scrubber import Scrubbed, scrub_stages
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
    """Measure speed, recall, learning and redaction.

    Examples:
      rawkomem bench speed --files 100
    """


@bench_command.verb(
    "speed",
    "--files 1..200000... =2000: The number of memories; may be repeated to compare sizes.",
    "--changes 0..1000000 =0: The number of entries that change memories: votes, amendments, links, …",
    [SPEED],
)
def bench_speed(files: tuple[int, ...], changes: int) -> Any:
    """Measure how long commands take, in milliseconds and in Python starts.

    One start is the median of 'python -c pass' in the same run.

    Examples:
      rawkomem bench speed --files 100
    """
    return [
        {"files": count, "measures": measure_speed(count, note, changes)}
        for count in files
    ]


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
REPLAYED = Fields(
    "sessions prompts gold corrections prevented not_followed title_only too_late not_covered own kinds each",
    "{sessions} sessions, {prompts} prompts: {corrections} corrections, {prevented} prevented, {not_followed} not followed,"
    " {title_only} title only, {too_late} too late, {not_covered} not covered; with those of the session {own}",
)


@bench_command.verb("learn", FILES, LEARNED)
def bench_learn(files: tuple[str, ...]) -> Any:
    """Measure how many drafts are worth keeping.

    Each of FILES is JSON (or .xz) with sessions: records of Claude Code, and the expected memories with verbatim
    quotes. See 'rawkomem docs bench'.
    """
    return measure_learning(files, note)


@bench_command.verb("replay", FILES, REPLAYED)
def bench_replay(files: tuple[str, ...]) -> Any:
    """Measure how many corrections in recorded sessions the expected memories cover.

    FILES are the same as for 'rawkomem bench learn', each with the sessions of one project in their order. Each session
    is replayed with the expected memories of the sessions before it; then, under 'own', with its own as well. See
    'rawkomem docs learning'.
    """
    return measure_replay(files, note)


SECRETS = """\
secrets: recall              {secret_recall:.3f}  of {secrets:,} texts
personal data: recall        {personal_recall:.3f}  of {personal:,} texts
false positives per 1,000    {false_positives:.1f}  in {benign:,} harmless texts
lookalikes redacted          {lookalikes_touched:.3f}  of {lookalikes:,} texts
labeled secret removed       {spans_removed:.3f}  of {spans:,} found
whole private key removed    {pem_whole:.3f}  of {pem_blocks:,}
a second run changes nothing {idempotent:.3f}  of all texts
ms for 4 kB                  {ms_per_4kb:.2f}  warm, one core"""
KINDS = Fields("kind=0 rows=1 recall=2", "  {kind:<44} {recall:6.3f}  of {rows:,}")


@bench_command.verb(
    "secrets",
    "--file PATH: A corpus of labeled texts. Default: the project's own.",
    "--kinds: Also show the recall of each kind.",
    Fields(line=SECRETS, of=Figures),
)
def bench_secrets(file: str, kinds: bool, as_json: bool) -> None:
    """Measure how many secrets and how many harmless texts are redacted.

    A corpus is JSON with base64 texts. See 'rawkomem docs redaction'.
    """
    figures = measure_secrets(read_corpus(file or DEFAULT_CORPUS))
    answer(figures)
    if kinds and not as_json:
        KINDS.say(figures.by_kind, False)


@bench_command.verb(
    "scale",
    "--memories 1..1000000... =10000: The number of memories of 1 to 4 kB; may be repeated to compare sizes.",
    option(
        "--store", "stores", multiple=True, default=("sqlite", "memory"), show_default=True,
        help="A store to measure; may be repeated. Set RAWKOMEM_<STORE>_URL to the URL of a database "
        "that exists only for this measurement.",
    ),
    [
        Fields(
            "store memories passages fill_s fill_cpu_s p50_ms p95_ms cpu_ms mb load",
            "{store}: {memories:,} memories, {passages:,} passages, filled in {fill_s:.0f} s ({fill_cpu_s:.0f} s CPU);"
            " search p50 {p50_ms:.0f} ms, p95 {p95_ms:.0f} ms, {cpu_ms:.0f} ms CPU; {mb:.0f} MB; load {load:.1f}",
        )
    ],
)  # fmt: skip
def bench_scale(memories: tuple[int, ...], stores: tuple[str, ...]) -> Any:
    """Compare databases: time to fill them, warm searches, size.

    The command runs in a temporary folder. A warm search is a search in a process that stays open.
    """
    return [row for count in memories for row in measure_stores(count, stores, note)]


@verbs("try")
def try_command() -> None:
    """Try out a condition, a redaction or a vector on a text.

    Examples:
      rawkomem try match 'auth|login' 'add a login page'
      rawkomem try scrub < FILE
    """


SCRUB_PROFILES = ("index", "mesh", "default")
SECRET = Fields("tag rule line column pii")
REDACTED = Fields("text findings", findings=[SECRET])
CHUNK = Fields(
    of=Scrubbed,
    line="--- chunk{heading:?: %}, {tokens} tokens{suspicions:?, %}{rejected:?, rejected: %}\n{text:text}",
)
STAGES = Fields(
    "redacted structural semantic normalization chunks",
    "--- redacted\n{redacted:text}\n--- structural\n{structural:text}\n--- semantic\n{semantic:text}\n"
    "--- normalization\n{normalization:text}\n{chunks_lines:text}",
    chunks=[CHUNK],
)


@try_command.verb(
    "scrub",
    option(
        "--stages", "profile", is_flag=False, flag_value=SCRUB_PROFILES[0], default="", metavar="[PROFILE]",
        help="Show how the text is indexed, stage by stage; PROFILE is index, mesh (RFC-0011) or default.",
    ),
    REDACTED,
    STAGES,
)  # fmt: skip
def scrub_command(profile: str, as_json: bool) -> None:
    """Redact secrets and personal data in a text.

    The command reads a text from standard input and prints it without secrets; it writes no file. 'rawkomem docs
    redaction' lists what is redacted.

    Examples:
      rawkomem try scrub < FILE
    """
    text = read_stdin(strict=False)
    if profile:
        check_known("profile", profile, known)
        answer(scrub_stages(text, known[profile]), STAGES)
        return
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
