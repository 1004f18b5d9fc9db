"""JSON to one HTTP address and back: a deadline, a few retries, no redirects, and a key that is never shown."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

from ..model.record import record
from .failure import EmbedderFailed, NotListening

DROPPED = 0  # the place of a status when the connection broke off
RETRIED = (DROPPED, 429, 500, 502, 503, 504)  # a server that is busy or may recover
PAUSES = (0.5, 1.0, 2.0)  # seconds before each further try: a busy moment passes, an outage should be told soon
LONGEST_PAUSE = 20.0  # seconds; a server that asks for more is not waited for
MAX_ANSWER = 64 * 2**20  # bytes: 64 vectors of 4,096 numbers as JSON take under 10 MB
SHOWN = 200  # characters of a server's own words in an error
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@record
class Answer:
    """What came back: an HTTP status or DROPPED, the seconds the server asks us to wait, the body."""

    status: int
    wait: float = 0.0
    body: bytes = b""


class JsonPost:
    """One address, one connection that is kept open."""

    def __init__(self, url: str, key: str, timeout: float, pauses: tuple[float, ...] = PAUSES):
        self.host, self.port, self._path, self._secure = split_url(url)
        if key and not self._secure and self.host not in LOOPBACK:
            raise EmbedderFailed(f"the key would go to {self.host} unencrypted", "Use an https address, or no key.")
        self._key = key
        self._timeout = timeout
        self._pauses = pauses
        self._connection: http.client.HTTPConnection | None = None

    def __call__(self, body: dict[str, Any]) -> Any:
        """The answer's JSON."""
        data = json.dumps(body).encode()
        answer = self._exchange(data)
        for pause in self._pauses:
            if answer.status not in RETRIED or answer.wait > LONGEST_PAUSE:
                break
            time.sleep(answer.wait or pause)
            answer = self._exchange(data)
        return self._read(answer)

    def _exchange(self, data: bytes) -> Answer:
        kept = self._connection is not None
        connection = self._connect()
        try:
            return self._send(connection, data)
        except TimeoutError:
            self.close()
            said = f"{self.host} did not answer within {self._timeout:g} s"
            raise EmbedderFailed(said, "Raise the time-out, or look at the server.")
        except (http.client.HTTPException, OSError):
            self.close()
            return self._exchange(data) if kept else Answer(DROPPED)  # servers drop connections that idle

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            connection = kind(self.host, self.port, timeout=self._timeout)
            try:
                connection.connect()
            except (OSError, UnicodeError) as error:
                reason = getattr(error, "strerror", "") or type(error).__name__
                raise NotListening(f"cannot reach {self.host}:{self.port}: {reason}", "Is the server running?")
            self._connection = connection
        return self._connection

    def _send(self, connection: http.client.HTTPConnection, data: bytes) -> Answer:
        deadline = time.monotonic() + self._timeout
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "rawkomem"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connection.request("POST", self._path, data, headers)
        response = connection.getresponse()
        body = self._read_body(response, deadline)
        return Answer(response.status, seconds(response.headers.get("Retry-After")), body)

    def _read_body(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        """The whole body; a server that sends it drop by drop does not get past the deadline."""
        parts, size = [], 0
        while part := response.read1(2**16):
            parts.append(part)
            size += len(part)
            if time.monotonic() > deadline:
                raise TimeoutError
            if size > MAX_ANSWER:
                self.close()
                raise EmbedderFailed(f"{self.host} sent more than {MAX_ANSWER} bytes", "Is the address right?")
        response.close()  # read1 does not notice the end, and the connection would refuse its next request
        if response.will_close:
            self.close()
        return b"".join(parts)

    def _read(self, answer: Answer) -> Any:
        if answer.status == DROPPED:
            raise EmbedderFailed(f"{self.host} broke the connection off", "Look into the server's log.")
        if 300 <= answer.status < 400:
            said = f"{self.host} answered {answer.status} and points elsewhere, which is not followed"
            raise EmbedderFailed(said, "Set url to the final address: texts and key go nowhere else.")
        if answer.status != 200:
            raise EmbedderFailed(f"{self.host} answered {answer.status}{self._words(answer.body)}", hint(answer.status))
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise EmbedderFailed(f"{self.host} did not answer with JSON", "Does url end where /embeddings begins?")

    def _words(self, answer: bytes) -> str:
        """What the server says about its refusal, on one short line and without the key."""
        text = answer.decode("utf-8", "replace")
        if self._key:
            text = text.replace(self._key, "(key)")
        line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
        return f": {line[:SHOWN]}" if line else ""

    def close(self) -> None:
        """Drop the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def split_url(url: str) -> tuple[str, int, str, bool]:
    """Host, port, path and whether it is https."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.username is None
        port = parts.port
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise EmbedderFailed("url is not an http(s) address without user name", "Example: http://localhost:1234/v1")
    secure = parts.scheme == "https"
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return parts.hostname or "", port or (443 if secure else 80), path or "/", secure


def seconds(text: str | None) -> float:
    """A Retry-After in seconds; its other form, a date, is ignored."""
    return float(text) if text and text.isascii() and text.isdigit() else 0.0


def hint(status: int) -> str:
    """What to do about an answer that is no success."""
    if status in (401, 403):
        return "Set key_env to the name of the environment variable that holds a valid key."
    if status == 404:
        return "Check url and model: the server knows one of them by another name."
    if status in RETRIED:
        return "Try again later, or look at the server."
    return "Check model and dims: the server refused the request."
