"""Posts to one URL: looks its host up once per connection, checks the address, and connects to the checked address.

It follows no redirects and uses no proxies, limits time and size, retries a few times, and never shows the key.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime

from ..model.record import record
from .conceal import words_of
from .failure import NotListening, RequestFailed
from .guard import Policy, check_addresses, check_key, check_target
from .url import PORTS, Target, read_url
from .wires import SYSTEM, TimedSocket, Wires, look_up_within

DROPPED = 0  # the status of a connection that broke off
RETRIED_STATUSES = (DROPPED, 429, 500, 502, 503, 504)  # a server that is busy or may recover
PAUSES = (0.5, 1.0, 2.0)  # seconds before each retry: enough for a busy moment; an outage is reported soon
MAX_PAUSE_S = 20.0  # if a server asks for a longer pause, there is no retry
CONNECT_TIMEOUT_S = 5.0  # to look a name up and to connect, which takes under one second across the world
CHUNK_BYTES = 2**16  # bytes read at once


@record
class Bounds:
    """Limits: seconds for one exchange, bytes of its answer, and the pauses before retries."""

    seconds: float = 30.0
    answer: int = 64 * 2**20
    pauses: tuple[float, ...] = PAUSES


DEFAULT_BOUNDS = Bounds()


@record
class Answer:
    """A server's answer: an HTTP status or DROPPED, the seconds that the server asks us to wait, the body."""

    status: int
    wait: float = 0.0
    body: bytes = b""
    whole: bool = True  # False: the body is longer than the limit, and the rest was not read


class Connection(http.client.HTTPConnection):
    """HTTP over an existing socket; it never connects by itself."""

    def __init__(self, target: Target, sock: TimedSocket):
        super().__init__(target.host, target.port)
        self.default_port = PORTS[target.scheme]
        self.wire = self.sock = sock

    def connect(self) -> None:
        """Raise NotConnected, because the inherited method would look the name up again, unchecked."""
        raise http.client.NotConnected


class Client:
    """Posts to one URL, over one connection that is kept open."""

    def __init__(self, url: str, policy: Policy, key: str = "", bounds: Bounds = DEFAULT_BOUNDS, wires: Wires = SYSTEM):
        self.target = read_url(url)
        check_target(self.target, policy)
        check_key(self.target, key)
        self._policy = policy
        self._key = key
        self._bounds = bounds
        self._wires = wires
        self._connection: Connection | None = None

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
        words = words_of(answer.body, self.target, self._key)
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
            return self._exchange(data, headers) if kept else Answer(DROPPED)  # servers close idle connections

    def _send(self, connection: Connection, data: bytes, headers: Mapping[str, str]) -> Answer:
        connection.wire.deadline = time.monotonic() + self._bounds.seconds
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        connection.request("POST", self.target.path, data, {"User-Agent": "rawkomem", **key, **headers})
        response = connection.getresponse()
        body, whole = self._read_body(response)
        return Answer(response.status, seconds(response.headers.get("Retry-After")), body, whole)

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

    def _open_connection(self) -> Connection:
        if self._connection is None:
            deadline = time.monotonic() + min(CONNECT_TIMEOUT_S, self._bounds.seconds)
            sock = self._dial(self._checked_addresses(deadline), deadline)
            self._connection = Connection(self.target, TimedSocket(self._secured(sock, deadline)))
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
            why = getattr(error, "verify_message", "") or getattr(error, "reason", "") or type(error).__name__
            hint = "Check the url, and whether the server's certificate is valid for it."
            kind = RequestFailed if isinstance(error, ssl.SSLError) else NotListening
            raise kind(f"no TLS with {self.target.host}: {why}", hint) from None

    def _unreachable(self, error: Exception) -> NotListening:
        reason = getattr(error, "strerror", "") or type(error).__name__
        return NotListening(f"cannot reach {self.target.host}:{self.target.port}: {reason}", "Is the server running?")


def seconds(text: str | None) -> float:
    """Return a Retry-After in seconds from now, in either of its forms; 0 if it is neither."""
    if not text:
        return 0.0
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0
