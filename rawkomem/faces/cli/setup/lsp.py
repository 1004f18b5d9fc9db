"""Implement `rawkomem lsp`: serve memories to editors by the Language Server Protocol."""

from __future__ import annotations

from importlib.metadata import version

import click

from ....model.errors import NotFound


@click.command("lsp")
@click.pass_obj
def lsp_command(folder: str) -> None:
    """Run the language server for editors.

    The server talks over standard input and output; editors start it. See 'rawkomem docs lsp' for VS Code, Neovim,
    Helix and Zed.
    """
    try:
        from ...lsp.server import EditorServer
    except ImportError as failure:
        raise NotFound(f"the language server needs a package that is not here: {failure.name}",
                       "run: pip install 'rawkomem[lsp]'") from None  # fmt: skip
    EditorServer(folder, version("rawkomem")).serve()
