"""Implement `rawkomem docs`: print the documentation. Needs neither a checkout nor a network."""

from __future__ import annotations

import click

from ....files.docs import list_pages, read_page
from ..options import JSON
from ..terminal import paint, say, say_json


@click.command("docs")
@click.argument("page", required=False)
@JSON.but(help="Print the list of pages as JSON.")
def docs_command(page: str | None, as_json: bool) -> None:
    """List or print the pages of the documentation."""
    if as_json:
        say_json([{"page": name, "about": about} for name, about in list_pages()])
        return
    if page:
        say(read_page(page).rstrip("\n"))
        return
    for name, told in list_pages():
        say(f"{paint(f'{name:13}', 'cyan')} {told}")
