"""Implement `rawkomem match` and `embed`: try out a condition, print a vector."""

from __future__ import annotations

from array import array

import click

from ....embed.chain import open_embedder
from ....files.given_text import read_stdin
from ....files.layout import find_layout
from ....model.errors import BadInput, NotFound
from ....repository.settings import Settings, load_settings
from ....text.when import match, problems_of
from ..options import JSON
from ..terminal import note, paint, say, say_either, say_json


@click.command("match")
@click.argument("pattern")
@click.argument("text")
@JSON
def match_command(pattern: str, text: str, as_json: bool) -> int:
    """Test whether a whenToUse condition matches a text.

    The exit code is 0 if the condition matches, else 1. If TEXT is '-', it is read from standard input.
    """
    if text == "-":
        text = read_stdin(strict=False)
    fired = match(pattern, text)
    problems = problems_of([pattern], 1)
    if as_json:
        why, how = (fired.sentence, fired.how) if fired else ("", "")
        say_json({"fires": bool(fired), "how": how, "why": why, "problems": [problem.message for problem in problems]})
    else:
        say(f"{paint('fires', 'green')}: {fired.sentence}" if fired else paint("does not fire", "yellow"))
        for problem in problems:
            note(f"{problem.message} ({problem.hint})")
    return 0 if fired else 1


@click.command("embed")
@click.argument("text")
@JSON.but(help="Print JSON with all numbers.")
@click.pass_obj
def embed_command(folder: str, text: str, as_json: bool) -> None:
    """Print the vector of a text."""
    if not text.strip():
        raise BadInput("the TEXT to embed is empty", "run: rawkomem embed 'hello world'")
    try:
        settings = load_settings(find_layout(folder), note)
    except NotFound:
        settings = Settings()
    embedder = open_embedder(settings.embedder, note)
    vector = array("f", embedder.embed([text])[0])
    data = {"model": embedder.name, "dims": embedder.dims, "vector": [round(x, 6) for x in vector]}
    start = ", ".join(f"{x:.4f}" for x in vector[:8])
    say_either(as_json, data, f"{embedder.name}, {embedder.dims} dimensions: {start}, …")
