"""Implement `rawkomem schema`: print the JSON Schema of the frontmatter."""

from __future__ import annotations

import click

from ....state.belief.schema import frontmatter_schema
from ..terminal import say_json


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of the frontmatter.

    For editors and linters that check YAML: of one entry, as 'rawkomem docs format' describes it.
    """
    say_json(frontmatter_schema(), versioned=False)
