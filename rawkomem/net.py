"""Sends HTTP requests; no other code sends data over HTTP.

A URL is parsed strictly, and every IP address that it resolves to is classified by a fixed table. A request has one
look-up, no redirects, no proxies, limits for time and size, and a few retries. Messages name the host, never the full
URL, which may hold keys.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv6Address,
    ip_address,
    ip_network,
)
from typing import Any, NoReturn
from urllib.parse import unquote, unquote_plus

from .model.errors import RawkoError
from .model.values import TYPE_CHECKING, record
from .redaction.find import redact
from .text.clean import one_line

if TYPE_CHECKING:
    import ssl


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


# Looks names up, connects, and starts TLS; a test can replace these functions.
#
# Proxy variables in the environment are ignored, because a proxy would connect to an unchecked
# address.


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name from the system's resolver."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in rows))


def system_tls() -> ssl.SSLContext:
    """Return a context that checks certificates by those of the system."""
    import ssl  # few commands connect

    return ssl.create_default_context()


@record
class Wires:
    """The functions that look names up, connect, and check servers' certificates."""

    look_up: Callable[[str, int], Sequence[str]] = look_up
    connect: Callable[[tuple[str, int], float], socket.socket] = (
        socket.create_connection
    )
    tls: Callable[[], ssl.SSLContext] = system_tls


SYSTEM_WIRES = Wires()


MAX_SHOWN_CHARACTERS = 200  # of a server's error text
MAX_READ_BYTES = 4 * MAX_SHOWN_CHARACTERS  # of a server's answer
# a part of a path of this length may be a key, as in many webhook URLs
MIN_SEGMENT_CHARACTERS = 16
MIN_VALUE_CHARACTERS = 4  # a value of a query of this length may be a key


def read_key(variable: str, setting: str) -> str:
    """Return the key in an environment variable; raise RequestFailed, naming the setting, if there is none.

    A name in lower case is not shown: it might be a key put in the wrong place.
    """
    if not variable:
        return ""
    if variable.isupper() and variable.isidentifier():
        shown = variable
    else:
        shown = f"that {setting} names"
    key = os.environ.get(variable, "").strip()
    if not key:
        hint = f"Export it with the key as its value; {setting} holds only the variable's name."
        raise RequestFailed(f"the environment variable {shown} is not set", hint)
    if not (key.isascii() and key.isprintable()):
        raise RequestFailed(
            f"the environment variable {shown} holds no usable key",
            "Copy the key again.",
        )
    return key


def error_text(body: bytes, target: Target, key: str) -> str:
    """Return a server's error text, redacted."""
    text = body[:MAX_READ_BYTES].decode("utf-8", "replace")
    for secret in sorted(_secrets_of(target, key), key=len, reverse=True):
        text = text.replace(secret, "(key)")
    return one_line(redact(text), MAX_SHOWN_CHARACTERS)


def _secrets_of(target: Target, key: str) -> set[str]:
    path, _, query = target.path.partition("?")
    values = [item.partition("=")[2] for item in query.split("&")]
    parts = [part for part in path.split("/") if len(part) >= MIN_SEGMENT_CHARACTERS]
    parts += [value for value in values if len(value) >= MIN_VALUE_CHARACTERS]
    plain = {key, *parts, *map(unquote, parts), *map(unquote_plus, parts)} - {""}
    # as some servers write JSON
    return plain | {secret.replace("/", "\\/") for secret in plain}


# Posts to one URL. Each request looks the host up once, checks every address, and connects to a
# checked one.
#
# It follows no redirects and uses no proxies, limits time and size, retries a few times, and never
# shows the key.

DROPPED = 0  # the status of a connection that broke off
# a server that is busy or may recover
RETRIED_STATUSES = (DROPPED, 429, 500, 502, 503, 504)
# seconds before each retry: enough for a busy moment; an outage is reported soon
RETRY_PAUSES = (0.5, 1.0, 2.0)
MAX_PAUSE_S = 20.0  # if a server asks for a longer pause, there is no retry
# to look a name up and to connect, which takes under one second across the world
CONNECT_TIMEOUT_S = 5.0


@record
class Bounds:
    """Limits: seconds for one exchange, bytes of its answer, and the pauses before retries."""

    seconds: float = 30.0
    answer: int = 64 * 2**20
    pauses: tuple[float, ...] = RETRY_PAUSES


DEFAULT_BOUNDS = Bounds()


@record
class HttpAnswer:
    """A server's answer: an HTTP status or DROPPED, the seconds that the server asks us to wait, the body."""

    status: int
    wait: float = 0.0
    body: bytes = b""
    # False: the body is longer than the limit, and the rest was not read
    whole: bool = True


class Client:
    """Posts to one URL."""

    def __init__(
        self,
        url: str,
        policy: Policy,
        key: str = "",
        bounds: Bounds = DEFAULT_BOUNDS,
        wires: Wires = SYSTEM_WIRES,
    ):
        self.target = read_url(url)
        check_target(self.target, policy)
        check_key(self.target, key)
        self._policy = policy
        self._key = key
        self._bounds = bounds
        self._wires = wires

    def post(self, data: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        """Return the answer, with any status; retry a few times if the server is busy. May raise RequestFailed."""
        answer = self._exchange(data, headers)
        for pause in self._bounds.pauses:
            if answer.status not in RETRIED_STATUSES or answer.wait > MAX_PAUSE_S:
                break
            time.sleep(answer.wait or pause)
            answer = self._exchange(data, headers)
        return answer

    def complaint(self, answer: HttpAnswer) -> str:
        """Return an error message for an answer that is not a success."""
        if answer.status == DROPPED:
            return f"{self.target.host} broke the connection off"
        if 300 <= answer.status < 400:
            return f"{self.target.host} answered {answer.status} and points elsewhere, which is not followed"
        words = error_text(answer.body, self.target, self._key)
        return f"{self.target.host} answered {answer.status}" + (
            f": {words}" if words else ""
        )

    def listens(self) -> bool:
        """Return whether the server accepts connections."""
        try:
            self._connect().close()
        except NotListening:
            return False
        return True

    def _exchange(self, data: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        from http.client import HTTPException

        sock = self._connect()
        deadline = time.monotonic() + self._bounds.seconds
        # One limit for the whole exchange, however slowly the server sends.
        timer = threading.Timer(self._bounds.seconds, _cut_off, (sock,))
        timer.start()
        try:
            answer = self._send(sock, data, headers)
        except (HTTPException, OSError):
            answer = HttpAnswer(DROPPED)
        finally:
            timer.cancel()
            sock.close()
        if time.monotonic() >= deadline:
            message = (
                f"{self.target.host} did not answer within {self._bounds.seconds:g} s"
            )
            raise RequestFailed(message, "Raise the timeout, or check the server.")
        return answer

    def _send(
        self, sock: socket.socket, data: bytes, headers: Mapping[str, str]
    ) -> HttpAnswer:
        from http.client import HTTPConnection

        connection = HTTPConnection(self.target.host, self.target.port)
        connection.default_port = DEFAULT_PORTS[self.target.scheme]
        connection.sock = sock
        # connecting by itself, it would look the name up unchecked
        connection.auto_open = 0
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        own = {"User-Agent": "rawkomem", "Connection": "close", **key}
        connection.request("POST", self.target.path, data, {**own, **headers})
        response = connection.getresponse()
        limit = self._bounds.answer
        body = response.read(limit + 1)
        wait = response.headers.get("Retry-After", "")
        wait_s = float(wait) if wait.isascii() and wait.isdigit() else 0.0
        return HttpAnswer(response.status, wait_s, body[:limit], len(body) <= limit)

    def _connect(self) -> socket.socket:
        """Return a connection to the first checked address that accepts one.

        The name is looked up once, because a second look-up could return other addresses.
        """
        target = self.target
        deadline = time.monotonic() + min(CONNECT_TIMEOUT_S, self._bounds.seconds)
        failure: Exception = TimeoutError()
        try:
            addresses = [target.host] if target.literal else self._looked_up(deadline)
        except (OSError, UnicodeError) as error:
            addresses = []
            failure = error
        check_addresses(target, addresses, self._policy)
        for address in addresses:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            try:
                sock = self._wires.connect((address, target.port), left)
            except OSError as error:
                failure = error
            else:
                sock = self._secured(sock)
                sock.settimeout(None)
                return sock
        reason = getattr(failure, "strerror", "") or type(failure).__name__
        raise NotListening(
            f"cannot reach {target.host}:{target.port}: {reason}",
            "Is the server running?",
        )

    def _looked_up(self, deadline: float) -> list[str]:
        """Return the addresses of the host. A thread asks, because the system's resolver has no time limit."""
        answers: list[list[str] | Exception] = []

        def ask() -> None:
            try:
                answers.append(
                    [*self._wires.look_up(self.target.host, self.target.port)]
                )
            except (OSError, UnicodeError) as error:
                answers.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(max(0.0, deadline - time.monotonic()))
        answer = answers[0] if answers else TimeoutError()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _secured(self, sock: socket.socket) -> socket.socket:
        """Wrap the socket in TLS if the address asks for it; the certificate must match the host's name."""
        if not self.target.secure:
            return sock
        from ssl import SSLError

        try:
            return self._wires.tls().wrap_socket(sock, server_hostname=self.target.host)
        except (OSError, ValueError) as error:
            sock.close()
            why = getattr(error, "verify_message", "") or type(error).__name__
            hint = (
                "Check the url, and whether the server's certificate is valid for it."
            )
            kind = RequestFailed if isinstance(error, SSLError) else NotListening
            raise kind(f"no TLS with {self.target.host}: {why}", hint) from None


def _cut_off(sock: socket.socket) -> None:
    with suppress(OSError):  # the exchange may just have ended
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


JSON_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@record
class Api:
    """An API: the end of its path, and the names of the settings for its URL, its options and its key."""

    ending: str
    url: str
    choices: str
    key: str


class JsonApi:
    """Posts JSON to one URL from the user's config, which may be on this machine."""

    def __init__(
        self,
        api: Api,
        url: str,
        key_env: str,
        timeout: float,
        pauses: tuple[float, ...] = RETRY_PAUSES,
        key: str = "",
    ):
        self._api = api
        bounds = Bounds(seconds=timeout, pauses=pauses)
        self.client = Client(
            url, user_policy(url), key or read_key(key_env, api.key), bounds
        )

    def __call__(self, body: dict[str, Any]) -> Any:
        """Post the body and return the answer's JSON; raise RequestFailed if there is none."""
        answer = self.client.post(json.dumps(body).encode(), JSON_HEADERS)
        if answer.status != 200:
            raise RequestFailed(
                self.client.complaint(answer), status_hint(answer.status, self._api)
            )
        host = self.client.target.host
        if not answer.whole:
            raise RequestFailed(
                f"{host} sent more than {len(answer.body)} bytes",
                f"Check {self._api.url}.",
            )
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            where = (
                f"Check {self._api.url}: it must be the url without {self._api.ending}."
            )
            raise RequestFailed(f"{host} did not answer with JSON", where) from None


def api_url(url: str, ending: str) -> str:
    """Return the URL to post to; a url without a path gets the usual /v1."""
    url = url.rstrip("/")
    if url.endswith(ending):
        return url
    return f"{url}{ending}" if "/" in url.partition("://")[2] else f"{url}/v1{ending}"


def status_hint(status: int, api: Api) -> str:
    """Return a hint for an answer that is not a success."""
    if status in RETRIED_STATUSES:
        return "Try again later, or check the server."
    if 300 <= status < 400:
        return f"Set {api.url} to the final URL: redirects are not followed."
    if status in (401, 403):
        return f"Set {api.key} to the name of the environment variable that holds a valid key."
    if status == 404:
        return (
            f"Check {api.url} and {api.choices}: the server does not know one of them."
        )
    return f"Check {api.choices}: the server rejected the request."
