"""Implement `rawkomem try`: try out parts of rawkomem on a text."""

from __future__ import annotations

import sys
from array import array

from click import argument, group, option, pass_obj

from ...embed.providers import open_embedder
from ...files.layout import find_layout, read_stdin
from ...model.errors import BadInput, NotFound
from ...model.values import as_dict
from ...redaction.find import find_secrets, redact
from ...redaction.scrubber import PROFILES as known
from ...redaction.scrubber import Scrubbed, scrub_stages
from ...repository.settings import Settings, load_settings
from ...state.schema import frontmatter_schema
from ...text.conditions import condition_problems, match_condition
from .declarations import Verbs
from .options import JSON
from .terminal import fields_of, note, paint, say, say_either, say_json


@group("try", cls=Verbs)
def try_command() -> None:
    """Try out a condition, a redaction or a vector on a text.

    Examples:
      rawkomem try match 'auth|login' 'add a login page'
      rawkomem try scrub < FILE
    """


# Implement `rawkomem try scrub`: redact a text, or show how it would be indexed.

SCRUB_PROFILES = ("index", "mesh", "default")


@try_command.command("scrub")
@option(
    "--stages", "profile", is_flag=False, flag_value=SCRUB_PROFILES[0], default="", metavar="[PROFILE]",
    help="Show how the text is indexed, stage by stage; PROFILE is index, mesh (RFC-0011) or default.",
)  # fmt: skip
@JSON.but(help="Print JSON: the redacted text, and the kind and place of each finding.")
def scrub_command(profile: str, as_json: bool) -> None:
    """Redact secrets and personal data in a text.

    The command reads a text from standard input and prints it without secrets; it writes no file. 'rawkomem docs
    redaction' lists what is redacted.

    Examples:
      rawkomem try scrub < FILE
    """
    text = read_stdin(strict=False)
    if profile:
        _show_stages(text, profile, as_json)
        return
    found = find_secrets(text)
    redacted = redact(text)
    if as_json:
        say_json(
            {
                "text": redacted,
                "findings": [
                    {
                        **fields_of(secret, "tag", "rule", "line"),
                        "column": secret.start - text.rfind("\n", 0, secret.start),
                        "pii": secret.pii,
                    }
                    for secret in found
                ],
            }
        )
        return
    sys.stdout.write(redacted)
    if found:
        note(f"{len(found)} redactions: {', '.join(sorted({secret.rule for secret in found}))}")


def _show_stages(text: str, profile: str, as_json: bool) -> None:

    if profile not in known:
        raise BadInput(
            f"there is no profile {profile!r}", f"use one of {', '.join(SCRUB_PROFILES)}"
        )
    done = scrub_stages(text, known[profile])
    if as_json:
        say_json({**as_dict(done), "chunks": [as_dict(chunk) for chunk in done.chunks]})
        return
    for name in ("redacted", "structural", "semantic", "normalization"):
        say(f"--- {name}\n{getattr(done, name)}")
    for number, chunk in enumerate(done.chunks, 1):
        say(f"--- chunk {number}{_chunk_remark(chunk)}\n{chunk.text}")
    note(
        f"{len(done.chunks)} chunks, {sum(bool(chunk.rejected) for chunk in done.chunks)} rejected"
    )


def _chunk_remark(chunk: Scrubbed) -> str:
    parts = [chunk.heading, f"{chunk.tokens} tokens" if chunk.tokens else "", *chunk.suspicions]
    parts.append(f"rejected: {chunk.rejected}" if chunk.rejected else "")
    told = ", ".join(part for part in parts if part)
    return f": {told}" if told else ""


# Implement `rawkomem try match` and `embed`: try out a condition, print a vector.


@try_command.command("match")
@argument("pattern")
@argument("text")
@JSON
def match_command(pattern: str, text: str, as_json: bool) -> int:
    """Test whether a whenToUse condition matches a text.

    The exit code is 0 if the condition matches, else 1. If TEXT is '-', it is read from standard input.

    Examples:
      rawkomem try match 'auth|login' 'add a login page'
    """
    if text == "-":
        text = read_stdin(strict=False)
    fired = match_condition(pattern, text)
    problems = condition_problems([pattern], 1)
    if as_json:
        why, how = (fired.sentence, fired.how) if fired else ("", "")
        say_json(
            {
                "fires": bool(fired),
                "how": how,
                "why": why,
                "problems": [problem.message for problem in problems],
            }
        )
    else:
        say(
            f"{paint('fires', 'green')}: {fired.sentence}"
            if fired
            else paint("does not fire", "yellow")
        )
        for problem in problems:
            note(f"{problem.message} ({problem.hint})")
    return 0 if fired else 1


@try_command.command("embed")
@argument("text")
@JSON.but(help="Print JSON with all numbers.")
@pass_obj
def embed_command(folder: str, text: str, as_json: bool) -> None:
    """Print the vector of a text.

    Examples:
      rawkomem try embed 'hello world'
    """
    if not text.strip():
        raise BadInput("the TEXT to embed is empty", "run: rawkomem try embed 'hello world'")
    try:
        settings = load_settings(find_layout(folder), note)
    except NotFound:
        settings = Settings()
    embedder = open_embedder(settings.embedder, note)
    vector = array("f", embedder.embed([text])[0])
    data = {"model": embedder.name, "dims": embedder.dims, "vector": [round(x, 6) for x in vector]}
    start = ", ".join(f"{x:.4f}" for x in vector[:8])
    say_either(as_json, data, f"{embedder.name}, {embedder.dims} dimensions: {start}, …")


# Implement `rawkomem try schema`: print the JSON Schema of the frontmatter.


@try_command.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of the frontmatter.

    Editors and linters use it to check the frontmatter of one entry. See 'rawkomem docs format'.

    Examples:
      rawkomem try schema
    """
    say_json(frontmatter_schema(), versioned=False)
