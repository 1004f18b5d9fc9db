"""Parses an http(s) URL strictly: rejects every URL that two parsers could read differently."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NoReturn

from ..model.record import record
from .failure import Blocked

PORTS = {"http": 80, "https": 443}
MAX_URL_CHARACTERS = 2_048  # many servers reject longer URLs anyway
AMBIGUOUS = ' \\#"<>^`{|}'  # for each of these, some parser ends the host there or replaces the character
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
HEX = frozenset("0123456789abcdef")
EXAMPLE = "Example: https://example.com/hook or http://localhost:1234/v1"


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
        """Tell whether the scheme is https."""
        return self.scheme == "https"

    @property
    def origin(self) -> str:
        """Return scheme, host and port, as a policy names them."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def is_localhost(self) -> bool:
        """Tell whether the host's name means this machine (RFC 6761)."""
        return self.host == "localhost" or self.host.endswith(".localhost")


def read_url(url: str) -> Target:
    """Return the parts of a URL; raise Blocked, without quoting the URL, if they are not clear."""
    scheme, mark, rest = url.partition("://")
    scheme = scheme.lower()
    if not mark or scheme not in PORTS:
        _refuse("it does not start with http:// or https://")
    if not url.isascii():
        _refuse("it holds characters beyond ASCII", "Write the host's name in its xn-- form.")
    if len(url) > MAX_URL_CHARACTERS or not url.isprintable() or any(character in url for character in AMBIGUOUS):
        _refuse("it is very long, or holds a space, a backslash, a # or the like", "Write such characters as %20.")
    authority = rest.partition("/")[0].partition("?")[0]
    path = rest[len(authority) :]
    if "@" in authority:
        _refuse("it holds a user name or password", "Put the key into an environment variable.")
    name, port = _split(authority)
    host, literal = _read_ipv6(name[1:-1]) if name.startswith("[") else _read_host(name)
    number = _read_port(port[1:]) if port else PORTS[scheme]
    return Target(scheme, host, number, path if path.startswith("/") else f"/{path}", literal)


def _split(authority: str) -> tuple[str, str]:
    """Return the host, with its brackets if any, and the port with its colon."""
    end = authority.find("]") + 1 if authority.startswith("[") else authority.find(":")
    if authority.startswith("[") and not end:
        _refuse("its host has an open bracket")
    name, port = (authority[:end], authority[end:]) if end >= 0 else (authority, "")
    if port and not port.startswith(":"):
        _refuse("there is text between its host and its path")
    return name, port


def _read_port(digits: str) -> int:
    number = int(digits) if digits.isdigit() and len(digits) <= 5 else 0
    if not 0 < number < 65_536:
        _refuse("its port is not a number from 1 to 65535")
    return number


def _read_ipv6(text: str) -> tuple[str, bool]:
    try:
        address = IPv6Address(text)
    except AddressValueError:
        _refuse("the text in brackets is not an IPv6 address")
    if address.scope_id:
        _refuse("its IPv6 address names a network interface")
    return address.compressed, True


def _read_host(name: str) -> tuple[str, bool]:
    """Return a name or an IPv4 address; reject 0x7f.1 and 2130706433, which some programs read as 127.0.0.1."""
    host = name.lower().removesuffix(".")
    labels = host.split(".")
    if _is_number(labels[-1]):
        try:
            return str(IPv4Address(host)), True
        except AddressValueError:
            _refuse("its host is a number in an odd notation", "Write an IPv4 address as four decimal numbers.")
    if len(host) > 253 or not all(_is_label(label) for label in labels):
        _refuse("its host is not a valid name")
    return host, False


def _is_number(label: str) -> bool:
    return label.isdigit() or (label.startswith("0x") and HEX.issuperset(label[2:]))


def _is_label(label: str) -> bool:
    return 0 < len(label) <= 63 and label[0] != "-" != label[-1] and NAME_CHARACTERS.issuperset(label)


def _refuse(why: str, hint: str = EXAMPLE) -> NoReturn:
    raise Blocked(f"url is not an http(s) address to send to: {why}", hint)
