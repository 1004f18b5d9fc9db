"""Implement `rawkomem toc`: write the page that links to every memory."""

from __future__ import annotations

import os

import click

from ....repository import Repository
from ..commands import pass_repository
from ..options import JSON
from ..terminal import paint, say_either


@click.command("toc")
@click.option("--out", "-o", default="", help="Write another file.")
@JSON
@pass_repository
def toc_command(repository: Repository, out: str, as_json: bool) -> None:
    """Write .rawko/MEMORY.md, a page that links to every memory.

    The page is for reading in an editor or on a forge. Its order is stable, and it has no dates or counts, so it
    changes only when memories change. 'contents: on' in .rawko/config.yaml updates it after every write. A page
    that somebody else wrote is never replaced.
    """
    file, changed = repository.exchange.write_contents(out)
    said = f"{paint('written', 'green') if changed else 'unchanged'}  {os.path.relpath(file)}"
    say_either(as_json, {"file": os.path.relpath(file), "changed": changed}, said)
