"""An outside world for the tests: names resolve as told, and every connection really ends at a server of ours."""

import socket
import ssl
from pathlib import Path

from rawkomem.net import Wires

CERTIFICATE = str(Path(__file__).parent / "data" / "tests-only.pem")  # for example.com and a few more, made for this


class Outside:
    """Answers look-ups one after another (the last one repeats) and notes which addresses were connected to."""

    def __init__(self, port: int, *answers: list[str]):
        self.port = port
        self.answers = list(answers)
        self.asked: list[str] = []
        self.dialled: list[str] = []
        self.wires = Wires(self.look_up, self.connect, lambda: ssl.create_default_context(cafile=CERTIFICATE))

    def look_up(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if not self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def connect(self, place: tuple[str, int], timeout: float) -> socket.socket:
        self.dialled.append(place[0])
        return socket.create_connection(("127.0.0.1", self.port), timeout)
