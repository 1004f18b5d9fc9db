"""A small OpenAI-compatible embeddings server for the tests, scripted answer by answer; also runs by itself.

`python server.py PORT` serves good answers until it is ended.
"""

import contextlib
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIMS = 4


def vector(text: str) -> list[float]:
    """Some vector that differs with the text."""
    return [len(text), text.count("a"), 1.0, -2.0]


def good(request: dict) -> dict:
    """The answer of a well-behaved server; out of order, as the format allows."""
    data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(request["input"])]
    return {"object": "list", "data": data[::-1], "model": request["model"]}


class Answer:
    """What a server sends back."""

    def __init__(
        self, body: object = good, status: int = 200, headers: dict | None = None, delay=0.0, drip=False, endless=False
    ):
        self.body, self.status, self.headers = body, status, headers or {}
        self.delay, self.drip, self.endless = delay, drip, endless

    def data(self, request: dict) -> bytes:
        body = self.body(request) if callable(self.body) else self.body
        return body if isinstance(body, bytes) else json.dumps(body).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers POSTs from the server's script; the last answer repeats."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = self.server.seen
        seen.append((self.path, dict(self.headers), request))
        answer = self.server.script[min(len(seen), len(self.server.script)) - 1]
        time.sleep(answer.delay)
        if answer.status == 0:
            self.close_connection = True
            return
        with contextlib.suppress(OSError):  # the client may have given up
            self.answer(answer, answer.data(request))

    def answer(self, answer, data):
        self.send_response(answer.status)
        if answer.endless:
            self.end_headers()
            while True:  # until the client has had enough
                self.wfile.write(b"x" * 65536)
        for name, value in {"Content-Length": str(len(data)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for part in [data[at : at + 1] for at in range(len(data))] if answer.drip else [data]:
            self.wfile.write(part)
            time.sleep(0.05 if answer.drip else 0)
        if self.server.rude:
            self.close_connection = True  # without having said so

    def log_message(self, *words):
        pass


class Server(ThreadingHTTPServer):
    """A server on a free port of the loopback, with a script of answers and a list of what it saw."""

    daemon_threads = True

    def __init__(self, *script: Answer, rude: bool = False, port: int = 0, certificate: str = ""):
        super().__init__(("127.0.0.1", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            context.sni_callback = lambda sock, name, old: self.names.append(name)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.names: list[str | None] = []  # that clients asked for in their TLS greeting
        self.script = script or (Answer(),)
        self.seen: list[tuple[str, dict, dict]] = []
        self.rude = rude
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()


if __name__ == "__main__":
    Server(port=int(sys.argv[1])).serve_forever()
