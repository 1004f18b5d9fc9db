"""Posts to one checked URL and exchanges JSON with an API: one look-up per connection, no redirects,
no proxies, limits for time and size, a few retries, and error texts without keys.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote, unquote_plus

from ..model.values import record
from ..redaction.find import redact
from ..text.clean import one_line
from .guard import (
    DEFAULT_PORTS,
    NotListening,
    Policy,
    RequestFailed,
    Target,
    check_addresses,
    check_key,
    check_target,
    read_url,
    user_policy,
)

# Looks names up, connects, and starts TLS; a test can replace these functions.
#
# Proxy variables in the environment are ignored, because a proxy would connect to an unchecked
# address.


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name from the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


@record
class Wires:
    """The functions that look names up, connect, and check servers' certificates."""

    look_up: Callable[[str, int], Sequence[str]] = look_up
    connect: Callable[[tuple[str, int], float], socket.socket] = socket.create_connection
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context


SYSTEM_WIRES = Wires()


def look_up_within(wires: Wires, host: str, port: int, seconds: float) -> Sequence[str]:
    """Call wires.look_up in a thread, with a time limit, which the system's resolver does not have."""
    answers: list[Sequence[str] | Exception] = []

    def ask() -> None:
        try:
            answers.append(wires.look_up(host, port))
        except (OSError, UnicodeError) as error:
            answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    if not answers:
        raise TimeoutError
    if isinstance(answers[0], Exception):
        raise answers[0]
    return answers[0]


class TimedSocket:
    """The part of a socket that http.client uses, with one deadline for all operations together."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.deadline = time.monotonic()

    def arm(self) -> None:
        """Set the socket's timeout to the time that is left; raise TimeoutError if there is none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.sock.settimeout(left)

    def sendall(self, data: bytes) -> None:
        """Send everything before the deadline."""
        self.arm()
        self.sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return a reader that observes the deadline."""
        return io.BufferedReader(_TimedReader(self))

    def close(self) -> None:
        """Close the socket as soon as no reader needs it."""
        self.sock.close()


class _TimedReader(io.RawIOBase):
    def __init__(self, owner: TimedSocket):
        self._owner = owner
        self._raw = owner.sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._owner.arm()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


# Shows a server's error text as one short line, without keys that it may repeat.

MAX_SHOWN_CHARACTERS = 200  # of a server's error text
MAX_READ_BYTES = 4 * MAX_SHOWN_CHARACTERS  # of a server's answer
MIN_SEGMENT_CHARACTERS = 16  # a part of a path of this length may be a key, as in many webhook URLs
MIN_VALUE_CHARACTERS = 4  # a value of a query of this length may be a key


def read_key(variable: str, setting: str) -> str:
    """Return the key in an environment variable; raise RequestFailed, naming the setting, if there is none.

    A name in lower case is not shown: it might be a key put in the wrong place.
    """
    if not variable:
        return ""
    shown = variable if variable.isupper() and variable.isidentifier() else f"that {setting} names"
    key = os.environ.get(variable, "").strip()
    if not key:
        hint = f"Export it with the key as its value; {setting} holds only the variable's name."
        raise RequestFailed(f"the environment variable {shown} is not set", hint)
    if not (key.isascii() and key.isprintable()):
        raise RequestFailed(
            f"the environment variable {shown} holds no usable key", "Copy the key again."
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
    found = [part for part in path.split("/") if len(part) >= MIN_SEGMENT_CHARACTERS]
    found += [value for value in values if len(value) >= MIN_VALUE_CHARACTERS]
    plain = {key, *found, *map(unquote, found), *map(unquote_plus, found)} - {""}
    return plain | {secret.replace("/", "\\/") for secret in plain}  # as some servers write JSON


# Posts to one URL: looks its host up once per connection, checks the address, and connects to the
# checked address.
#
# It follows no redirects and uses no proxies, limits time and size, retries a few times, and never
# shows the key.

DROPPED = 0  # the status of a connection that broke off
RETRIED_STATUSES = (DROPPED, 429, 500, 502, 503, 504)  # a server that is busy or may recover
RETRY_PAUSES = (
    0.5,
    1.0,
    2.0,
)  # seconds before each retry: enough for a busy moment; an outage is reported soon
MAX_PAUSE_S = 20.0  # if a server asks for a longer pause, there is no retry
CONNECT_TIMEOUT_S = (
    5.0  # to look a name up and to connect, which takes under one second across the world
)
CHUNK_BYTES = 2**16  # bytes read at once


@record
class Bounds:
    """Limits: seconds for one exchange, bytes of its answer, and the pauses before retries."""

    seconds: float = 30.0
    answer: int = 64 * 2**20
    pauses: tuple[float, ...] = RETRY_PAUSES


DEFAULT_BOUNDS = Bounds()


@record
class Answer:
    """A server's answer: an HTTP status or DROPPED, the seconds that the server asks us to wait, the body."""

    status: int
    wait: float = 0.0
    body: bytes = b""
    whole: bool = True  # False: the body is longer than the limit, and the rest was not read


class CheckedConnection(http.client.HTTPConnection):
    """HTTP over an existing socket; it never connects by itself, because that would look the name up unchecked."""

    auto_open = 0

    def __init__(self, target: Target, sock: TimedSocket):
        super().__init__(target.host, target.port)
        self.default_port = DEFAULT_PORTS[target.scheme]
        self.wire = self.sock = sock


class Client:
    """Posts to one URL, over one connection that is kept open."""

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
        self._connection: CheckedConnection | None = None

    def post(self, data: bytes, headers: Mapping[str, str]) -> Answer:
        """Return the answer, with any status; retry a few times if the server is busy. May raise RequestFailed."""
        answer = self._exchange(data, headers)
        for pause in self._bounds.pauses:
            if answer.status not in RETRIED_STATUSES or answer.wait > MAX_PAUSE_S:
                break
            time.sleep(answer.wait or pause)
            answer = self._exchange(data, headers)
        return answer

    def complaint(self, answer: Answer) -> str:
        """Return an error message for an answer that is not a success."""
        if answer.status == DROPPED:
            return f"{self.target.host} broke the connection off"
        if 300 <= answer.status < 400:
            return f"{self.target.host} answered {answer.status} and points elsewhere, which is not followed"
        words = error_text(answer.body, self.target, self._key)
        return f"{self.target.host} answered {answer.status}" + (f": {words}" if words else "")

    def listens(self) -> bool:
        """Tell whether the server accepts connections."""
        try:
            self._open_connection()
        except NotListening:
            return False
        return True

    def close(self) -> None:
        """Drop the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, data: bytes, headers: Mapping[str, str]) -> Answer:
        kept = self._connection is not None
        connection = self._open_connection()
        try:
            return self._send(connection, data, headers)
        except TimeoutError:
            self.close()
            said = f"{self.target.host} did not answer within {self._bounds.seconds:g} s"
            raise RequestFailed(said, "Raise the timeout, or check the server.") from None
        except (http.client.HTTPException, OSError):
            self.close()
            return (
                self._exchange(data, headers) if kept else Answer(DROPPED)
            )  # servers close idle connections

    def _send(
        self, connection: CheckedConnection, data: bytes, headers: Mapping[str, str]
    ) -> Answer:
        connection.wire.deadline = time.monotonic() + self._bounds.seconds
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        connection.request(
            "POST", self.target.path, data, {"User-Agent": "rawkomem", **key, **headers}
        )
        response = connection.getresponse()
        body, whole = self._read_body(response)
        return Answer(
            response.status, retry_after_seconds(response.headers.get("Retry-After")), body, whole
        )

    def _read_body(self, response: http.client.HTTPResponse) -> tuple[bytes, bool]:
        """Return the body up to its limit, and whether it is complete."""
        data = bytearray()
        while len(data) <= self._bounds.answer and (part := response.read1(CHUNK_BYTES)):
            data += part
        whole = len(data) <= self._bounds.answer
        response.close()  # read1 does not notice the end, and the next request would fail
        if response.will_close or not whole:
            self.close()
        return bytes(data[: self._bounds.answer]), whole

    def _open_connection(self) -> CheckedConnection:
        if self._connection is None:
            deadline = time.monotonic() + min(CONNECT_TIMEOUT_S, self._bounds.seconds)
            sock = self._dial(self._checked_addresses(deadline), deadline)
            self._connection = CheckedConnection(
                self.target, TimedSocket(self._secured(sock, deadline))
            )
        return self._connection

    def _checked_addresses(self, deadline: float) -> Sequence[str]:
        """Return the addresses to connect to; look up once, because a second look-up could return others."""
        target = self.target
        try:
            found = [target.host] if target.literal else look_up_within(
                self._wires, target.host, target.port, deadline - time.monotonic()
            )  # fmt: skip
        except (OSError, UnicodeError) as error:
            raise self._unreachable(error) from None
        check_addresses(target, found, self._policy)
        return found

    def _dial(self, addresses: Sequence[str], deadline: float) -> socket.socket:
        """Return a connection to the first address that accepts one."""
        failure: OSError = TimeoutError()
        for address in addresses:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            try:
                return self._wires.connect((address, self.target.port), left)
            except OSError as error:
                failure = error
        raise self._unreachable(failure)

    def _secured(self, sock: socket.socket, deadline: float) -> socket.socket:
        """Wrap the socket in TLS if the address asks for it; the certificate must match the host's name."""
        if not self.target.secure:
            return sock
        try:
            sock.settimeout(max(0.001, deadline - time.monotonic()))
            return self._wires.tls().wrap_socket(sock, server_hostname=self.target.host)
        except (OSError, ValueError) as error:
            sock.close()
            why = getattr(error, "verify_message", "") or type(error).__name__
            hint = "Check the url, and whether the server's certificate is valid for it."
            kind = RequestFailed if isinstance(error, ssl.SSLError) else NotListening
            raise kind(f"no TLS with {self.target.host}: {why}", hint) from None

    def _unreachable(self, error: Exception) -> NotListening:
        reason = getattr(error, "strerror", "") or type(error).__name__
        return NotListening(
            f"cannot reach {self.target.host}:{self.target.port}: {reason}",
            "Is the server running?",
        )


def retry_after_seconds(text: str | None) -> float:
    """Return a Retry-After in seconds from now, in either of its forms; 0 if it is neither."""
    if not text:
        return 0.0
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


# Exchanges JSON with an API from the user's config; errors name the setting that is probably
# wrong.

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
        self.client = Client(url, user_policy(url), key or read_key(key_env, api.key), bounds)

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
                f"{host} sent more than {len(answer.body)} bytes", f"Check {self._api.url}."
            )
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            where = f"Check {self._api.url}: it must be the url without {self._api.ending}."
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
        return f"Check {api.url} and {api.choices}: the server does not know one of them."
    return f"Check {api.choices}: the server rejected the request."
