"""Implement `rawkomem scrub`: redact a text, or show how it would be indexed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ....files.given_text import read_stdin
from ....model.errors import BadInput
from ....model.record import as_dict
from ....redaction.find import find_secrets, redact
from ..options import JSON
from ..terminal import note, say, say_json

if TYPE_CHECKING:
    from ....redaction.find import Secret
    from ....redaction.scrub.pipeline import Scrubbed, Stages

PROFILES = ("index", "mesh", "default")


@click.command("scrub")
@click.option(
    "--stages", "profile", is_flag=False, flag_value=PROFILES[0], default="", metavar="[PROFILE]",
    help="Show how the text is indexed, stage by stage; PROFILE is index, mesh (RFC-0011) or default.",
)  # fmt: skip
@JSON.but(help="Print JSON: the redacted text, and the kind and place of each finding.")
def scrub_command(profile: str, as_json: bool) -> None:
    """Redact secrets and personal data in a text.

    The command reads a text from standard input and prints it without secrets; it writes no file. 'rawkomem docs
    redaction' lists what is redacted.
    """
    text = read_stdin(strict=False)
    if profile:
        _show_stages(text, profile, as_json)
        return
    found = find_secrets(text)
    redacted = redact(text)
    if as_json:
        say_json({"text": redacted, "findings": [_finding(text, secret) for secret in found]})
        return
    sys.stdout.write(redacted)
    if found:
        note(f"{len(found)} redactions: {', '.join(sorted({secret.rule for secret in found}))}")


def _finding(text: str, secret: Secret) -> dict[str, object]:
    column = secret.start - text.rfind("\n", 0, secret.start)
    return {"tag": secret.tag, "rule": secret.rule, "line": secret.line, "column": column, "pii": secret.pii}


def _show_stages(text: str, profile: str, as_json: bool) -> None:
    from ....redaction.scrub.config import PROFILES as known
    from ....redaction.scrub.pipeline import stages

    if profile not in known:
        raise BadInput(f"there is no profile {profile!r}", f"use one of {', '.join(PROFILES)}")
    done = stages(text, known[profile])
    if as_json:
        say_json({**as_dict(done), "chunks": [as_dict(chunk) for chunk in done.chunks]})
        return
    _print_stages(done)


def _print_stages(done: Stages) -> None:
    for name in ("redacted", "structural", "semantic", "normalization"):
        say(f"--- {name}\n{getattr(done, name)}")
    for number, chunk in enumerate(done.chunks, 1):
        say(f"--- chunk {number}{_about(chunk)}\n{chunk.text}")
    note(f"{len(done.chunks)} chunks, {sum(bool(chunk.rejected) for chunk in done.chunks)} rejected")


def _about(chunk: Scrubbed) -> str:
    parts = [chunk.heading, f"{chunk.tokens} tokens" if chunk.tokens else "", *chunk.suspicions]
    parts.append(f"rejected: {chunk.rejected}" if chunk.rejected else "")
    told = ", ".join(part for part in parts if part)
    return f": {told}" if told else ""
