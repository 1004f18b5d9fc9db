"""Decide which requests a server on the loopback address answers, by their Host, Origin and token.

The token keeps out other users and programs on this machine. The Host check prevents DNS rebinding.
The Origin check keeps out scripts of other web pages. If a header occurs twice, every value must be
right.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence

from ..model.values import record

HOST = "127.0.0.1"
HOST_NAMES = (HOST, "localhost")
MISDIRECTED = 421
FORBIDDEN = 403
UNAUTHORIZED = 401
Headers = Callable[[str], Sequence[str]]  # returns all values of a header
Refusal = tuple[int, str] | None  # status and reason; None: the request is right


@record
class Door:
    """The port and the token of a running server."""

    port: int
    token: str

    def refusal(self, headers: Headers) -> Refusal:
        """Return the refusal of a request with a wrong Host or Origin."""
        own = [f"{name}:{self.port}" for name in HOST_NAMES]
        hosts = headers("Host") or [""]
        if any(host.lower() not in own for host in hosts):
            return MISDIRECTED, f"wrong Host: this server is http://{own[0]}"
        if any(
            origin.removeprefix("http://") not in own for origin in headers("Origin")
        ):
            return FORBIDDEN, "wrong Origin: requests from other pages are refused"
        return None

    def refusal_of_data(self, headers: Headers, hint: str) -> Refusal:
        """Return the refusal of a request that gets data only with the token."""
        expected = f"Bearer {self.token}".encode()
        for value in headers("Authorization") or [""]:
            if not hmac.compare_digest(value.encode("utf-8", "replace"), expected):
                return UNAUTHORIZED, f"the token is missing or wrong: {hint}"
        return None
