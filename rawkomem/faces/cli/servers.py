"""Run the servers: `rawkomem browse`, `mcp` and `lsp`."""

from __future__ import annotations

import signal
import sys
import webbrowser
from typing import TYPE_CHECKING

from ... import __version__
from ...hosts.person import PERSON
from ...model.errors import NotFound
from ...model.installed import how_to_add, how_to_install
from ...repository import Repository
from ..web.page_server import PageServer, open_for_page
from .declarations import verb
from .opening import arrival
from .terminal import note, say

if TYPE_CHECKING:
    from ..mcp.agent_server import MemoryServer


@verb(
    "browse",
    "--port 0..65535: The port to listen on. Default: a free one.",
    "--no-open: Only print the address.",
)
def browse_command(folder: str, port: int | None, no_open: bool) -> None:
    """Open the memories in a web browser.

    The command prints an address that works only on this machine and while the command runs. The address contains a
    token: do not share it. Stop with Ctrl-C.

    At your terminal, the command also prints a code. Type it on the page to decide as a person; without it, what the
    page changes counts as an agent's change.

    Examples:
      rawkomem browse
      rawkomem browse --no-open --port 8765
    """
    repository = open_for_page(folder)
    repository.sync()
    with PageServer(repository, port or 0) as server:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        say(server.address)
        if arrival() == PERSON:
            code = server.new_code()
            say(f"To decide as a person, type this code on the page: {code}")
        sys.stdout.flush()
        note("stop with Ctrl-C")
        if not no_open:
            webbrowser.open(server.new_entrance())
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            note("stopped")


@verb("mcp")
def mcp_command(folder: str) -> None:
    """Run the MCP server for agents.

    The server talks over standard input and output; agents start it. It needs the extra 'mcp'. See 'rawkomem docs mcp'.

    Examples:
      rawkomem mcp
    """
    server = _open_mcp_server(folder)
    import anyio

    anyio.run(server.serve_stdio)


def _open_mcp_server(folder: str) -> MemoryServer:
    """Return the server on the repository; its writes count as written by an agent."""
    repository = Repository.open(folder, via="agent", layers=True)
    try:
        from ..mcp.agent_server import MemoryServer
    except ImportError as failure:
        raise NotFound(f"the MCP server needs a package that is not installed: {failure.name}",
                       f"run: {how_to_add('mcp')}") from None  # fmt: skip
    return MemoryServer(repository, __version__)


@verb("lsp")
def lsp_command(folder: str) -> int:
    """Run the language server for editors.

    The server talks over standard input and output; editors start it. See 'rawkomem docs editors' for VS Code, Neovim,
    Helix and Zed.

    Examples:
      rawkomem lsp
    """
    try:
        from ..lsp.editor_server import EditorServer
    except ImportError as failure:
        raise NotFound(f"the language server needs a package that is not installed: {failure.name}",
                       f"run: {how_to_install('pygls>=2.1,<3')}") from None  # fmt: skip
    return EditorServer(folder, __version__).serve()
