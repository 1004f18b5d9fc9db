"""Serve MCP over streamable HTTP on the loopback address.

The token keeps out other users and programs on this machine. The Host check prevents DNS rebinding.
The Origin check keeps out scripts of web pages. All three checks run before the SDK sees a request.
"""

from __future__ import annotations

import hmac
import os
import socket
from collections.abc import Mapping
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from ...model.errors import BadInput
from .agent_server import MemoryServer

LOOPBACK = "127.0.0.1"
MAX_WAITING_CONNECTIONS = 128
HTTP_PATH = "/mcp"
SHUTDOWN_WAIT_S = 3  # time for open streams to end when the server is stopped


class Guard:
    """ASGI application that forwards only requests with the right Host, Origin and token."""

    def __init__(self, app: Any, port: int, token: str):
        self.app = app
        self.hosts = tuple(f"{name}:{port}" for name in (LOOPBACK, "localhost"))
        self.origins = tuple(f"http://{host}" for host in self.hosts)
        self.expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Forward the request, or answer 421, 403 or 401."""
        refusal = self._refusal(scope) if scope["type"] != "lifespan" else None
        if refusal:
            await _send_refusal(send, *refusal)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return the status and reason of a refusal, or None. If a header occurs twice, every value must be right."""
        if scope["type"] != "http":
            return 403, "only HTTP"
        said: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            said.setdefault(name.lower(), []).append(value)
        if not _all_in(said.get(b"host", [b""]), self.hosts):
            return 421, f"wrong Host: this server is http://{self.hosts[0]}{HTTP_PATH}"
        if not _all_in(said.get(b"origin", []), self.origins):
            return 403, "wrong Origin: requests from web pages are refused"
        if not all(
            hmac.compare_digest(value, self.expected) for value in said.get(b"authorization", [b""])
        ):
            return 401, "wrong or missing token: send 'Authorization: Bearer TOKEN'"
        return None


def _all_in(values: list[bytes], allowed: tuple[str, ...]) -> bool:
    return all(value.decode("latin-1").lower() in allowed for value in values)


async def _send_refusal(send: Any, status: int, text: str) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode() + b"\n"})


def listen_on_loopback(port: int) -> socket.socket:
    """Return a listening socket on the loopback address; port 0 takes a free port. Raises BadInput on failure."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # on Windows, the option would let another program take over the port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen(
            MAX_WAITING_CONNECTIONS
        )  # a client that reads the address may connect before the server runs
    except OSError as failure:
        listening.close()
        raise BadInput(
            f"port {port} cannot be used: {failure.strerror}",
            "choose another port, or 0 for a free one",
        ) from None
    return listening


def serve_http(server: MemoryServer, listening: socket.socket, token: str) -> None:
    """Answer clients on a socket until the process is stopped.

    Clients have no common session: `recall` must not leave out a memory because another client got it.
    """
    server.session = ""
    port = listening.getsockname()[1]
    app = server.protocol.streamable_http_app(
        streamable_http_path=HTTP_PATH, transport_security=_security(port)
    )
    guarded = Guard(app, port, token)
    config = uvicorn.Config(
        guarded, log_level="warning", access_log=False, server_header=False, ws="none",
        timeout_graceful_shutdown=SHUTDOWN_WAIT_S,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def _security(port: int) -> TransportSecuritySettings:
    """Return settings for the SDK's own checks that allow the same hosts and origins as Guard."""
    hosts = [f"{LOOPBACK}:{port}", f"localhost:{port}"]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
