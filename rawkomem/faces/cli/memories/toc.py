"""Implement `rawkomem toc`: write the page that links to every memory."""

from __future__ import annotations

import os

import click

from ....repository import Repository
from ..commands import pass_repository
from ..options import JSON
from ..terminal import paint, say_either


@click.command("toc")
@click.option("--out", "-o", default="", help="Write this file instead.")
@JSON
@pass_repository
def toc_command(repository: Repository, out: str, as_json: bool) -> None:
    """Write .rawko/MEMORY.md, a page that links to every memory.

    Read the page in an editor or on a site such as GitHub. Its order is stable, and it has no dates or counts, so it
    changes only when memories change. With 'contents: on' in .rawko/config.yaml, every write updates it. A page that
    rawkomem did not write is never replaced.
    """
    file, changed = repository.exchange.write_contents(out)
    said = f"{paint('written', 'green') if changed else 'unchanged'}  {os.path.relpath(file)}"
    say_either(as_json, {"file": os.path.relpath(file), "changed": changed}, said)
