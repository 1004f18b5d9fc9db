"""Decides whether a URL may be sent to: parses it strictly, classifies every IP address that it
resolves to by a fixed table, and raises Blocked. Messages name the host, never the full URL, which
may hold keys.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv6Address,
    ip_address,
    ip_network,
)
from typing import NoReturn

from ..model.errors import RawkoError
from ..model.values import record

# Errors of requests. Messages name the host, never the full URL, because paths and queries may
# hold keys.


class RequestFailed(RawkoError):
    """Raised when a request has no usable answer."""


class NotListening(RequestFailed):
    """Raised when a server does not answer at all: a local server may have to be started."""


class Blocked(RequestFailed):
    """Raised when sending to a URL is not allowed."""


# Classifies IP addresses by a fixed table, because Python's own table changes between versions.
#
# Sources: the IANA registries of special-purpose addresses (RFC 6890 and its updates) and the
# metadata services of cloud providers. IPv6 addresses that carry an IPv4 address are never public:
# they would bypass the table.

PUBLIC = "public"
LOOPBACK = "loopback"
PRIVATE = "private"  # the user's own network
NEVER = "never"  # no user's server is at such an address

# Network, class and description; the first row that matches counts.
ADDRESS_ROWS = """
    168.63.129.16/32   never    a metadata service (Azure)
    100.100.100.200/32 never    a metadata service (Alibaba)
    0.0.0.0/8          never    an unspecified address, which may be this machine
    127.0.0.0/8        loopback this machine
    10.0.0.0/8         private  a private network
    172.16.0.0/12      private  a private network
    192.168.0.0/16     private  a private network
    100.64.0.0/10      private  a provider's or VPN's shared network
    169.254.0.0/16     never    link-local, where metadata services live
    192.0.0.0/24       never    reserved for protocols
    192.0.2.0/24       never    for documentation
    192.88.99.0/24     never    a 6to4 relay
    198.18.0.0/15      never    for benchmarks
    198.51.100.0/24    never    for documentation
    203.0.113.0/24     never    for documentation
    224.0.0.0/4        never    multicast
    240.0.0.0/4        never    reserved
    0.0.0.0/0          public   public
    fd00:ec2::/32      never    a metadata service (AWS)
    fd20:ce::254/128   never    a metadata service (Google)
    fd00:42::42/128    never    a metadata service (Scaleway)
    ::1/128            loopback this machine
    fc00::/7           private  a private network
    fe80::/10          never    link-local
    fec0::/10          never    site-local
    ff00::/8           never    multicast
    ::ffff:0:0/96      never    an IPv4 address in IPv6 (mapped)
    64:ff9b::/96       never    an IPv4 address in IPv6 (NAT64)
    64:ff9b:1::/48     never    an IPv4 address in IPv6 (NAT64)
    ::/96              never    an IPv4 address in IPv6 (compatible)
    2002::/16          never    an IPv4 address in IPv6 (6to4)
    2001::/32          never    an IPv4 address in IPv6 (Teredo)
    2001::/23          never    reserved for protocols
    2001:db8::/32      never    for documentation
    3fff::/20          never    for documentation
    2000::/3           public   public
    ::/0               never    not assigned to anybody
"""
ADDRESS_TABLE = [
    (ip_network(network), reach, what)
    for network, reach, what in (
        row.split(None, 2) for row in ADDRESS_ROWS.strip().split("\n")
    )
]


def classify_address(address: str) -> tuple[str, str]:
    """Return the class of an address (PUBLIC, LOOPBACK, PRIVATE or NEVER), and a description."""
    ip = ip_address(address)
    return next(
        (reach, what) for network, reach, what in ADDRESS_TABLE if ip in network
    )


# Parses an http(s) URL strictly: rejects every URL that two parsers could read differently.

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARACTERS = 2_048  # many servers reject longer URLs anyway
# For each of these, some parser ends the host there or replaces the character.
AMBIGUOUS = frozenset(' \\#"<>^`{|}')
# IPv6, name, port
AUTHORITY = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::(?P<port>[0-9]{1,5}))?")
LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
URL_EXAMPLE = "Example: https://example.com/hook or http://localhost:1234/v1"


@record
class Target:
    """A parsed URL; `literal`: the host is an IP address and needs no look-up."""

    scheme: str
    host: str  # lower case, without brackets and final dot
    port: int
    path: str  # with its query; never shown, because it may hold a key
    literal: bool

    @property
    def secure(self) -> bool:
        """Return whether the scheme is https."""
        return self.scheme == "https"

    @property
    def origin(self) -> str:
        """Return scheme, host and port, as a policy names them."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def is_localhost(self) -> bool:
        """Return whether the host's name means this machine (RFC 6761)."""
        return self.host == "localhost" or self.host.endswith(".localhost")


def read_url(url: str) -> Target:
    """Return the parts of a URL; raise Blocked, without quoting the URL, if they are not clear."""
    scheme, mark, rest = url.partition("://")
    scheme = scheme.lower()
    if not mark or scheme not in DEFAULT_PORTS:
        _refuse_url("it does not start with http:// or https://")
    if not url.isascii():
        _refuse_url(
            "it holds characters beyond ASCII",
            "Write the host's name in its xn-- form.",
        )
    if len(url) > MAX_URL_CHARACTERS or not url.isprintable() or set(url) & AMBIGUOUS:
        _refuse_url(
            "it is very long, or holds a space, a backslash, a # or the like",
            "Write such characters as %20.",
        )
    authority = rest.partition("/")[0].partition("?")[0]
    path = rest[len(authority) :]
    if "@" in authority:
        _refuse_url(
            "it holds a user name or password",
            "Put the key into an environment variable.",
        )
    parts = AUTHORITY.fullmatch(authority)
    if not parts or (parts["port"] and not 0 < int(parts["port"]) < 65_536):
        _refuse_url("its host or its port is not valid")
    literal6, name, port = parts.groups()
    host, literal = _read_host(name) if literal6 is None else _read_ipv6(literal6)
    number = int(port) if port else DEFAULT_PORTS[scheme]
    return Target(
        scheme, host, number, path if path.startswith("/") else f"/{path}", literal
    )


def _read_ipv6(text: str) -> tuple[str, bool]:
    try:
        address = IPv6Address(text)
    except AddressValueError:
        _refuse_url("the text in brackets is not an IPv6 address")
    if address.scope_id:
        _refuse_url("its IPv6 address names a network interface")
    return address.compressed, True


def _read_host(name: str) -> tuple[str, bool]:
    """Return a name or an IPv4 address; reject 0x7f.1 and 2130706433, which some programs read as 127.0.0.1."""
    host = name.lower().removesuffix(".")
    labels = host.split(".")
    if NUMBER.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(host)), True
        except AddressValueError:
            _refuse_url(
                "its host is a number in an odd notation",
                "Write an IPv4 address as four decimal numbers.",
            )
    if len(host) > 253 or not all(map(LABEL.fullmatch, labels)):
        _refuse_url("its host is not a valid name")
    return host, False


def _refuse_url(why: str, hint: str = URL_EXAMPLE) -> NoReturn:
    raise Blocked(f"url is not an http(s) address to send to: {why}", hint)


# on other ports listen mail servers, databases and others, which a POST could harm
WEB_PORTS = (80, 443, 8080, 8443)


@record
class Policy:
    """Which URLs may be sent to. `local`: exact origins that may be on this machine or its network, on any port."""

    local: tuple[str, ...] = ()
    https_only: bool = True


PUBLIC_ONLY = Policy()


def user_policy(url: str) -> Policy:
    """Return the policy for a URL in the user's config: its origin may be local, but not a metadata service."""
    return Policy(local=(read_url(url).origin,), https_only=False)


def check_target(target: Target, policy: Policy) -> None:
    """Raise Blocked if the URL's scheme or port is not allowed."""
    if policy.https_only and not target.secure:
        raise Blocked(
            f"data would go to {target.host} unencrypted", "Use an https URL."
        )
    if target.port not in WEB_PORTS and target.origin not in policy.local:
        ports = ", ".join(map(str, WEB_PORTS))
        raise Blocked(f"port {target.port} is not a web port", f"Use one of {ports}.")


def check_key(target: Target, key: str) -> None:
    """Raise Blocked if a key would leave this machine unencrypted."""
    here = target.is_localhost or (
        target.literal and classify_address(target.host)[0] == LOOPBACK
    )
    if key and not target.secure and not here:
        raise Blocked(
            f"the key would go to {target.host} unencrypted",
            "Use an https URL, or no key.",
        )


def check_addresses(target: Target, addresses: Sequence[str], policy: Policy) -> None:
    """Raise Blocked unless every address is allowed, because a connection may use any of them."""
    allowed = {PUBLIC, LOOPBACK, PRIVATE} if target.origin in policy.local else {PUBLIC}
    if target.is_localhost:
        allowed &= {LOOPBACK}
    for address in addresses:
        reach, what = classify_address(address)
        if reach not in allowed:
            shown = target.host if target.literal else f"{target.host} ({address})"
            raise Blocked(
                f"sending to {shown} is blocked: its address is {what}",
                "Check the url and its DNS entry.",
            )
