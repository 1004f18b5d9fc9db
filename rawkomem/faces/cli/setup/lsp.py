"""Implement `rawkomem lsp`: serve memories to editors over the Language Server Protocol."""

from __future__ import annotations

import click

from .... import __version__
from ....model.errors import NotFound
from ....model.installed import how_to_install


@click.command("lsp")
@click.pass_obj
def lsp_command(folder: str) -> int:
    """Run the language server for editors.

    The server talks over standard input and output; editors start it. See 'rawkomem docs editors' for VS Code, Neovim,
    Helix and Zed.
    """
    try:
        from ...lsp.server import EditorServer
    except ImportError as failure:
        raise NotFound(f"the language server needs a package that is not installed: {failure.name}",
                       f"run: {how_to_install('pygls>=2.1,<3')}") from None  # fmt: skip
    return EditorServer(folder, __version__).serve()
