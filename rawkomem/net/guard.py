"""Decides whether a URL may be sent to: first by its text, then by every IP address that it resolves to."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.record import record
from .address import LOOPBACK, PRIVATE, PUBLIC, classify
from .failure import Blocked
from .url import Target, read_url

WEB_PORTS = (80, 443, 8080, 8443)  # on other ports listen mail servers, databases and others, which a POST could harm


@record
class Policy:
    """Which URLs may be sent to. `local`: exact origins that may be on this machine or its network, on any port."""

    local: tuple[str, ...] = ()
    https_only: bool = True


PUBLIC_ONLY = Policy()


def user_named(url: str) -> Policy:
    """Return the policy for a URL in the user's config: its origin may be local, but not a metadata service."""
    return Policy(local=(read_url(url).origin,), https_only=False)


def check_target(target: Target, policy: Policy) -> None:
    """Raise Blocked if the URL's scheme or port is not allowed."""
    if policy.https_only and not target.secure:
        raise Blocked(f"data would go to {target.host} unencrypted", "Use an https URL.")
    if target.port not in WEB_PORTS and target.origin not in policy.local:
        ports = ", ".join(map(str, WEB_PORTS))
        raise Blocked(f"port {target.port} is not a web port", f"Use one of {ports}.")


def check_key(target: Target, key: str) -> None:
    """Raise Blocked if a key would leave this machine unencrypted."""
    here = target.is_localhost or (target.literal and classify(target.host)[0] == LOOPBACK)
    if key and not target.secure and not here:
        raise Blocked(f"the key would go to {target.host} unencrypted", "Use an https URL, or no key.")


def check_addresses(target: Target, addresses: Sequence[str], policy: Policy) -> None:
    """Raise Blocked unless every address is allowed, because a connection may use any of them."""
    allowed = {PUBLIC, LOOPBACK, PRIVATE} if target.origin in policy.local else {PUBLIC}
    if target.is_localhost:
        allowed &= {LOOPBACK}
    for address in addresses:
        reach, what = classify(address)
        if reach not in allowed:
            shown = target.host if target.literal else f"{target.host} ({address})"
            raise Blocked(f"sending to {shown} is blocked: its address is {what}", "Check the url and its DNS entry.")
