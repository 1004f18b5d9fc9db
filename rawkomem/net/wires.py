"""The way to the outside world: looking a name up, connecting, TLS. Handed to the client: a test can lay its own.

Proxy variables of the environment are ignored: a proxy would connect to an address that nobody checked.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Sequence

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
