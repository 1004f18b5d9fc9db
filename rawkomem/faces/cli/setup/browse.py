"""Implement `rawkomem browse`: show memories as a page in a browser."""

from __future__ import annotations

import signal
import sys
import webbrowser

import click

from ...web.server import PageServer, open_for_page
from ..opening import arrival
from ..terminal import note, say


@click.command("browse")
@click.option("--port", default=0, type=click.IntRange(0, 65_535), help="The port to listen on. Default: a free one.")
@click.option("--no-open", is_flag=True, help="Only print the address.")
@click.pass_obj
def browse_command(folder: str, /, port: int, no_open: bool) -> None:
    """Open the memories in a web browser.

    The command prints an address that works only on this machine and while the command runs. The address contains a
    token: do not share it. Stop with Ctrl-C.
    """
    repository = open_for_page(folder, arrival())
    repository.sync()
    with PageServer(repository, port) as server:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        say(server.door.address)
        sys.stdout.flush()
        note("stop with Ctrl-C")
        if not no_open:
            webbrowser.open(server.new_entrance())
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            note("stopped")
    repository.close()
