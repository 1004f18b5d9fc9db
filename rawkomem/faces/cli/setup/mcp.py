"""Implement `rawkomem mcp`: serve memories to agents over the Model Context Protocol."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

import click

from .... import __version__
from ....model.errors import BadInput, NotFound
from ....model.installed import how_to_add
from ....repository import Repository
from ..terminal import note

if TYPE_CHECKING:
    from ...mcp.server import MemoryServer

TOKEN_VARIABLE = "RAWKOMEM_MCP_TOKEN"
MIN_TOKEN_CHARS = 16  # shorter tokens can be guessed


@click.command("mcp")
@click.option("--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="Serve HTTP; 0 takes a free port.")
@click.pass_obj
def mcp_command(folder: str, port: int | None) -> None:
    """Run the MCP server for agents.

    The server talks over standard input and output. With --http it serves streamable HTTP on 127.0.0.1 and prints a
    token once, unless RAWKOMEM_MCP_TOKEN sets the token. It needs the extra 'mcp'. See 'rawkomem docs mcp'.
    """
    server = _open_server(folder)
    if port is None:
        import anyio

        anyio.run(server.serve_stdio)
        return
    from ...mcp.http import PATH, listen, serve_http

    token = _token()
    listening = listen(port)
    note(f"serving http://127.0.0.1:{listening.getsockname()[1]}{PATH}; stop with Ctrl-C")
    if TOKEN_VARIABLE not in os.environ:
        note(f"token, shown only once: {token}")
    serve_http(server, listening, token)


def _open_server(folder: str) -> MemoryServer:
    """Return the server on the repository; its writes count as written by an agent."""
    repository = Repository.open(folder, via="agent", layers=True)
    try:
        from ...mcp.server import MemoryServer
    except ImportError as failure:
        raise NotFound(f"the MCP server needs a package that is not installed: {failure.name}",
                       f"run: {how_to_add('mcp')}") from None  # fmt: skip
    return MemoryServer(repository, __version__)


def _token() -> str:
    token = os.environ.get(TOKEN_VARIABLE)
    if token is None:
        return secrets.token_urlsafe(32)
    if len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(
            f"{TOKEN_VARIABLE} is not a valid token",
            f"set it to at least {MIN_TOKEN_CHARS} printable ASCII characters without spaces",
        )
    return token
