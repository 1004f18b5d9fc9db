"""Check every request before anything else looks at it.

A page in the same browser can send requests to this server, but it cannot read our token, name our host as its own
origin, or set a custom header without a preflight. Other users of the machine can connect, but do not know the token.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from email.message import Message

from ...model.record import record

HOST = "127.0.0.1"
HOST_NAMES = (HOST, "localhost")
WRITE_HEADER = "X-Rawkomem"  # a write must carry it: no form can, and no other origin may
JSON = "application/json"
MISDIRECTED, FORBIDDEN, UNAUTHORIZED, UNSUPPORTED = 421, 403, 401, 415

# What every answer says to the browser, about the page and about itself.
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
    """The token of one run, and the port that it listens on."""

    port: int
    token: str

    @property
    def address(self) -> str:
        """Return the address of the page. The token follows #, so it stays in the browser and in no log."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the allowed Host headers."""
        return tuple(f"{name}:{self.port}" for name in HOST_NAMES)

    def refusal(self, headers: Message) -> tuple[int, str] | None:
        """Return why a request gets no answer, or None if it may pass."""
        if headers.get_all("Host") not in [[host] for host in self.hosts]:
            return MISDIRECTED, f"this server is {self.hosts[0]}"
        origins = headers.get_all("Origin", [])
        if any(origin not in [f"http://{host}" for host in self.hosts] for origin in origins):
            return FORBIDDEN, "another page asked"
        return None

    def refusal_of_data(self, headers: Message) -> tuple[int, str] | None:
        """Return why a request gets no repository data, or None if its token is right."""
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode())
        if scheme != "Bearer" or not right:
            return UNAUTHORIZED, "the token is missing or wrong: open the address that 'rawkomem browse' printed"
        return None

    def refusal_of_write(self, headers: Message) -> tuple[int, str] | None:
        """Return why a write is refused, or None if it comes from the page itself."""
        if headers.get_content_type() != JSON or "Content-Type" not in headers:
            return UNSUPPORTED, f"a write is {JSON}"
        if headers.get(WRITE_HEADER) != "1":
            return FORBIDDEN, f"a write carries the header {WRITE_HEADER}"
        return None


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)
