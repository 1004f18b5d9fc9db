"""Check the headers of every request before it is handled.

A foreign page in the same browser can send requests to this server. It cannot read our token, send our origin, or set
a custom header without a preflight. Other users of the machine can connect, but they do not know the token.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from email.message import Message

from ...model.record import record

HOST = "127.0.0.1"
HOST_NAMES = (HOST, "localhost")
WRITE_HEADER = "X-Rawkomem"  # required for a write: forms cannot set it, and other origins are not allowed to
JSON = "application/json"
MISDIRECTED, FORBIDDEN, UNAUTHORIZED, UNSUPPORTED = 421, 403, 401, 415

# Headers of every answer.
SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types memory"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@record
class Door:
    """The port and the token of a running server."""

    port: int
    token: str

    @property
    def address(self) -> str:
        """Return the address of the page. The token follows #, so the browser does not send it and no log holds it."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the allowed Host headers."""
        return tuple(f"{name}:{self.port}" for name in HOST_NAMES)

    def refusal(self, headers: Message) -> tuple[int, str] | None:
        """Return the status and reason of a refusal, or None if Host and Origin are right."""
        if headers.get_all("Host") not in [[host] for host in self.hosts]:
            return MISDIRECTED, f"wrong Host: this server is {self.hosts[0]}"
        origins = headers.get_all("Origin", [])
        if any(origin not in [f"http://{host}" for host in self.hosts] for origin in origins):
            return FORBIDDEN, "wrong Origin: requests from other pages are refused"
        return None

    def refusal_of_data(self, headers: Message) -> tuple[int, str] | None:
        """Return the status and reason why a request gets no repository data, or None if its token is right."""
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode())
        if scheme != "Bearer" or not right:
            return UNAUTHORIZED, "the token is missing or wrong: open the address that 'rawkomem browse' printed"
        return None

    def refusal_of_write(self, headers: Message) -> tuple[int, str] | None:
        """Return the status and reason why a write is refused, or None if it comes from the page itself."""
        if headers.get_content_type() != JSON or "Content-Type" not in headers:
            return UNSUPPORTED, f"a write needs the Content-Type {JSON}"
        if headers.get(WRITE_HEADER) != "1":
            return FORBIDDEN, f"a write needs the header '{WRITE_HEADER}: 1'"
        return None


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)
