"""Implement `rawkomem try`: try out parts of rawkomem on a text."""

from __future__ import annotations

import sys
from array import array
from typing import Any

from click import option

from ...embed.embedder import open_embedder
from ...files.layout import find_layout, read_stdin
from ...model.errors import BadInput, NotFound
from ...redaction.find import find_secrets, redact
from ...redaction.scrubber import PROFILES as known
from ...redaction.scrubber import Scrubbed, scrub_stages
from ...repository.settings import Settings, load_settings
from ...state.schema import frontmatter_schema
from ...text.conditions import condition_problems, match_condition
from .answers import Fields
from .declarations import answer, verbs
from .terminal import note, say_json


@verbs("try")
def try_command() -> None:
    """Try out a condition, a redaction or a vector on a text.

    Examples:
      rawkomem try match 'auth|login' 'add a login page'
      rawkomem try scrub < FILE
    """


# Implement `rawkomem try scrub`: redact a text, or show how it would be indexed.

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
        if profile not in known:
            raise BadInput(
                f"there is no profile {profile!r}",
                f"use one of {', '.join(SCRUB_PROFILES)}",
            )
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
            f"{len(secrets)} redactions: {', '.join(sorted({one.rule for one in secrets}))}"
        )


# Implement `rawkomem try match` and `embed`: try out a condition, print a vector.

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


# Implement `rawkomem try schema`: print the JSON Schema of the frontmatter.


@try_command.verb("schema")
def schema_command() -> None:
    """Print the JSON Schema of the frontmatter.

    Editors and linters use it to check the frontmatter of one entry. See 'rawkomem docs format'.

    Examples:
      rawkomem try schema
    """
    say_json(frontmatter_schema(), versioned=False)
