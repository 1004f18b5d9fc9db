"""The server over streamable HTTP, for this machine only: loopback, a token, and no page of a browser gets in.

The token stops other users and programs of this machine; Host stops a name that was rebound to 127.0.0.1; Origin stops
scripts of pages, which send one. All three are checked before the SDK sees a request.
"""

from __future__ import annotations

import hmac
import os
import socket
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from ...model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .server import MemoryServer

LOOPBACK = "127.0.0.1"
BACKLOG = 128  # connections that wait
PATH = "/mcp"
PATIENCE = 3  # seconds for open streams when the server is stopped


class Guard:
    """An ASGI application in front of another: passes on only what comes from here and knows the token."""

    def __init__(self, app: Any, port: int, token: str):
        self.app = app
        self.hosts = tuple(f"{name}:{port}" for name in (LOOPBACK, "localhost"))
        self.origins = tuple(f"http://{host}" for host in self.hosts)
        self.expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Answer 421, 403 or 401, or hand the request on."""
        refusal = self._refusal(scope) if scope["type"] != "lifespan" else None
        if refusal:
            await _refuse(send, *refusal)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Mapping[str, Any]) -> tuple[int, str] | None:
        """Of a header that comes twice, every value must be right: proxies and servers differ in which they take."""
        if scope["type"] != "http":
            return 403, "only HTTP"
        said: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            said.setdefault(name.lower(), []).append(value)
        if not _all_in(said.get(b"host", [b""]), self.hosts):
            return 421, f"wrong Host: this server is http://{self.hosts[0]}{PATH}"
        if not _all_in(said.get(b"origin", []), self.origins):
            return 403, "wrong Origin: pages of a browser may not ask"
        if not all(hmac.compare_digest(value, self.expected) for value in said.get(b"authorization", [b""])):
            return 401, "wrong or missing token: send 'Authorization: Bearer TOKEN'"
        return None


def _all_in(values: list[bytes], allowed: tuple[str, ...]) -> bool:
    return all(value.decode("latin-1").lower() in allowed for value in values)


async def _refuse(send: Any, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode() + b"\n"})


def listen(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 takes one that is free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there, it would let another program take the port over
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
        listening.listen(BACKLOG)  # now: whoever reads the address may come before the server runs
    except OSError as failure:
        listening.close()
        raise BadInput(f"port {port} cannot be used: {failure.strerror}", "give another, or 0 for any") from None
    return listening


def serve_http(server: MemoryServer, listening: socket.socket, token: str) -> None:
    """Answer clients on a socket until the process is told to stop."""
    port = listening.getsockname()[1]
    app = server.protocol.streamable_http_app(streamable_http_path=PATH, transport_security=_security(port))
    guarded = Guard(app, port, token)
    config = uvicorn.Config(
        guarded, log_level="warning", access_log=False, server_header=False, ws="none",
        timeout_graceful_shutdown=PATIENCE,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def _security(port: int) -> TransportSecuritySettings:
    """The SDK's own checks, as narrow as ours."""
    hosts = [f"{LOOPBACK}:{port}", f"localhost:{port}"]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
