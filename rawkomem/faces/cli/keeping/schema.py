"""Implement `rawkomem schema`: print the JSON Schema of the frontmatter."""

from __future__ import annotations

import click

from ....state.belief.schema import frontmatter_schema
from ..terminal import say_json


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of the frontmatter.

    Editors and linters use it to check the frontmatter of one entry. See 'rawkomem docs format'.
    """
    say_json(frontmatter_schema(), versioned=False)
