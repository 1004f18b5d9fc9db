"""Serve MCP over streamable HTTP on the loopback address, to requests with the right Host, Origin and
token. The checks run before the SDK sees a request.
"""

from __future__ import annotations

import socket
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from ...model.errors import BadInput
from ..loopback import FORBIDDEN, HOST, Door, Refusal
from .agent_server import MemoryServer

MAX_WAITING_CONNECTIONS = 128
HTTP_PATH = "/mcp"
SHUTDOWN_WAIT_S = 3  # time for open streams to end when the server is stopped


class Guard:
    """ASGI application that forwards only requests with the right Host, Origin and token."""

    def __init__(self, app: Any, door: Door):
        self.app = app
        self.door = door

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Forward the request, or answer 421, 403 or 401."""
        refusal = self.refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
            return
        status, reason = refusal
        headers = {"X-Content-Type-Options": "nosniff", "WWW-Authenticate": "Bearer"}
        await PlainTextResponse(f"{reason}\n", status, headers)(scope, receive, send)

    def refusal(self, scope: Any) -> Refusal:
        """Return the status and reason of a refusal, or None."""
        if scope["type"] == "lifespan":
            return None
        if scope["type"] != "http":
            return FORBIDDEN, "only HTTP"
        headers = Headers(scope=scope).getlist
        hint = "send 'Authorization: Bearer TOKEN'"
        return self.door.refusal(headers) or self.door.refusal_of_data(headers, hint)


def listen_on_loopback(port: int) -> socket.socket:
    """Return a listening socket on the loopback address; port 0 takes a free port. Raises BadInput on failure."""
    try:
        # a client that reads the address may connect before the server runs
        return socket.create_server((HOST, port), backlog=MAX_WAITING_CONNECTIONS)
    except OSError as failure:
        raise BadInput(
            f"port {port} cannot be used: {failure.strerror}",
            "choose another port, or 0 for a free one",
        ) from None


def serve_http(server: MemoryServer, listening: socket.socket, token: str) -> None:
    """Answer clients on a socket until the process is stopped.

    Clients have no common session: `recall` must not leave out a memory because another client got it.
    """
    server.session = ""
    app = server.protocol.streamable_http_app(streamable_http_path=HTTP_PATH)
    guarded = Guard(app, Door(listening.getsockname()[1], token))
    config = uvicorn.Config(
        guarded, log_level="warning", access_log=False, server_header=False, ws="none",
        timeout_graceful_shutdown=SHUTDOWN_WAIT_S,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])
