"""A socket with one deadline for everything: a server that sends drop by drop gets no more time than a silent one.

A socket's own time-out starts anew with every byte.
"""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

    from _typeshed import ReadableBuffer, WriteableBuffer


class TimedSocket:
    """The part of a socket that http.client uses."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.deadline = time.monotonic()

    def arm(self) -> None:
        """Let the next operation take what is left of the time."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.sock.settimeout(left)

    def sendall(self, data: ReadableBuffer) -> None:
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

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        self._owner.arm()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
