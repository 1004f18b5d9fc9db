"""Looks names up, connects, and starts TLS; a test can replace these functions.

Proxy variables in the environment are ignored, because a proxy would connect to an unchecked address.
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
    """Return the addresses of a name from the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


@record
class Wires:
    """The functions that look names up, connect, and check servers' certificates."""

    look_up: Callable[[str, int], Sequence[str]] = look_up
    connect: Callable[[tuple[str, int], float], socket.socket] = socket.create_connection
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context


SYSTEM = Wires()


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
