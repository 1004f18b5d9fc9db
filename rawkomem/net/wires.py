"""The way to the outside world: looking a name up, connecting, TLS. Handed to the client: a test can lay its own.

Proxy variables of the environment are ignored: a proxy would connect to an address that nobody checked.
"""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..model.record import record


def look_up(host: str, port: int) -> list[str]:
    """The addresses of a name as the system knows them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


@record
class Wires:
    """How names are looked up, connections made and servers' certificates checked."""

    look_up: Callable[[str, int], Sequence[str]] = look_up
    connect: Callable[[tuple[str, int], float], socket.socket] = socket.create_connection
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context


SYSTEM = Wires()


def look_up_within(wires: Wires, host: str, port: int, seconds: float) -> Sequence[str]:
    """As wires.look_up, within a time: the system's own resolver knows no limit, so it is asked in a thread."""
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
    """The part of a socket that http.client uses, with one deadline: its own time-out starts anew with every byte."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.deadline = time.monotonic()

    def arm(self) -> None:
        """Let the next operation take what is left of the time."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.sock.settimeout(left)

    def sendall(self, data: bytes) -> None:
        """Send everything before the deadline."""
        self.arm()
        self.sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """A reader that keeps the deadline, and the connection until it is closed itself."""
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
