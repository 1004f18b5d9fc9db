"""Implement `rawkomem docs`: print the documentation without a checkout or a network."""

from __future__ import annotations

import click

from ....files.docs import list_pages, read_page
from ..terminal import paint, say


@click.command("docs")
@click.argument("page", required=False)
def docs_command(page: str | None) -> None:
    """List or print the pages of the documentation."""
    if page:
        say(read_page(page).rstrip("\n"))
        return
    for name, told in list_pages():
        say(f"{paint(f'{name:13}', 'cyan')} {told}")
