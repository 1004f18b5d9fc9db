"""Serve the page on the loopback address, one repository call at a time.

GET requests change nothing. The files of `page/` need no token; every answer about the repository
needs it. A foreign page in the same browser can send requests to this server. It cannot read our
token, send our origin, or set a custom header without a preflight. Other users of the machine can
connect, but they do not know the token.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl

from ...files.layout import find_layout
from ...hosts.person import AGENT, PERSON
from ...model.errors import BadInput, Busy, NotFound, RawkoError, Refused
from ...model.values import record, replace
from ...redaction.find import redact
from ...repository import Repository
from ...repository.settings import Settings
from ...text.clean import one_line
from . import page_changes, page_views
from .page_markdown import open_renderer

# The token keeps out other users and programs on this machine. The Host check prevents DNS rebinding.
# The Origin check keeps out scripts of other web pages. If a header occurs twice, every value must be
# right.

HOST = "127.0.0.1"
HOST_NAMES = (HOST, "localhost")
MISDIRECTED = 421
FORBIDDEN = 403
UNAUTHORIZED = 401
Headers = Callable[[str], Sequence[str]]  # returns all values of a header
Refusal = tuple[int, str] | None  # status and reason; None: the request is right


@record
class Door:
    """The port and the token of a running server."""

    port: int
    token: str

    def refusal(self, headers: Headers) -> Refusal:
        """Return the refusal of a request with a wrong Host or Origin."""
        own = [f"{name}:{self.port}" for name in HOST_NAMES]
        hosts = headers("Host") or [""]
        if any(host.lower() not in own for host in hosts):
            return MISDIRECTED, f"wrong Host: this server is http://{own[0]}"
        if any(
            origin.removeprefix("http://") not in own for origin in headers("Origin")
        ):
            return FORBIDDEN, "wrong Origin: requests from other pages are refused"
        return None

    def refusal_of_data(self, headers: Headers) -> Refusal:
        """Return the refusal of a request that gets data only with the token."""
        expected = f"Bearer {self.token}".encode()
        for value in headers("Authorization") or [""]:
            if not hmac.compare_digest(value.encode("utf-8", "replace"), expected):
                return UNAUTHORIZED, f"the token is missing or wrong: {OPEN_HINT}"
        return None


# required for a write: forms cannot set it, and other origins are not allowed to
WRITE_HEADER = "X-Rawkomem"
# the code that a person's terminal shows: with it, a request counts as the person's
CODE_HEADER = "X-Rawkomem-Code"
CODE_DIGITS = 6
MAX_WRONG_CODES = 5  # then no code is right any more, so that nobody guesses it
JSON = "application/json"
OPEN_HINT = "open the address that 'rawkomem browse' printed"

# Headers of every answer.
SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types memory"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


PAGE_FOLDER = os.path.join(os.path.dirname(__file__), "page")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
DECISIONS = {
    "/api/feedback": page_changes.vote,
    "/api/add": page_changes.add_memory,
    "/api/amend": page_changes.amend_memory,
    "/api/cite": page_changes.confirm_citations,
    "/api/link": page_changes.link_memories,
    "/api/unlink": page_changes.unlink_memories,
    "/api/act": page_changes.act,
    "/api/undo": page_changes.undo_action,
}
HEALTH = "/api/health"
VIEWS = {
    "/api/overview": page_views.overview_view,
    "/api/memories": page_views.memories_view,
    "/api/memory": page_views.memory_view,
    "/api/why": page_views.why_view,
    "/api/graph": page_views.graph_view,
    "/api/waiting": page_views.waiting_view,
    HEALTH: page_views.health_view,
}
# views of all memories, which take seconds with many of them; the answer is kept while nothing changes
KEPT_VIEWS = ("/api/overview", "/api/graph", "/api/waiting", HEALTH)
MAX_KEPT = 50  # answers
STATUSES = {BadInput: 400, NotFound: 404, Refused: 409, Busy: 503}
MAX_DECISION_BYTES = 64 * 1024  # of the body of a POST request
MAX_QUERY_FIELDS = 20  # of a GET request
ENTRANCE_S = 60.0  # time for a browser to open the page
IDLE_TIMEOUT_S = 30  # of a connection


@record
class Reply:
    """An answer: status, content type and bytes."""

    status: int
    body: bytes
    type: str = JSON


def open_for_page(folder: str, via: str = AGENT) -> Repository:
    """Return a repository whose searches are not logged in the ledger."""

    def quiet(settings: Settings) -> Settings:
        if settings.ledger == "on":
            return replace(settings, ledger="writes")
        return settings

    return Repository(find_layout(folder), page_changes.Warnings(), via, quiet)


class PageServer(socketserver.ThreadingTCPServer):
    """Listens on the loopback address."""

    daemon_threads = True
    # on Windows, the option would let another program take over the port
    allow_reuse_address = os.name != "nt"

    def __init__(self, repository: Repository, port: int = 0):
        self.repository = repository
        self._code = ""
        self._wrong_codes = 0
        self.render = open_renderer()
        self.files = _page_files()
        self._one_at_a_time = threading.Lock()  # a repository is not thread-safe
        # answers to GET requests, and the state of the repository that they were computed for
        self._kept: dict[object, object] = {}
        self._kept_state: object = None
        try:
            super().__init__((HOST, port), Handler)
        except OSError as failure:
            raise BadInput(
                f"cannot listen on port {port}: {failure.strerror}",
                "use another --port, or none for a free one",
            ) from None
        self.door = Door(self.server_address[1], secrets.token_urlsafe(32))
        self._entrance = ("", 0.0)  # a code, and when it expires

    @property
    def address(self) -> str:
        """Return the address of the page. The token follows #, so the browser does not send it and no log holds it."""
        return f"http://{HOST}:{self.door.port}/#token={self.door.token}"

    def server_close(self) -> None:
        """Close the server and, after the request that is being answered, the repository."""
        super().server_close()
        with self._one_at_a_time:
            self.repository.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that closes its connection early; print other errors."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    def new_entrance(self) -> str:
        """Return an address that works once, within ENTRANCE_S.

        `browse` passes it to the browser: other users could read the token in the browser's command line.
        """
        self._entrance = (secrets.token_urlsafe(32), time.monotonic() + ENTRANCE_S)
        return f"http://{HOST}:{self.door.port}/#once={self._entrance[0]}"

    def enter(self, fields: Mapping[str, Any]) -> Reply:
        """Return the token for the code of the last new_entrance(), once; else 401."""
        with self._one_at_a_time:
            code, until = self._entrance
            is_right = hmac.compare_digest(
                str(fields.get("code", "")).encode("utf-8", "replace"), code.encode()
            )
            if not code or not is_right or time.monotonic() > until:
                return _error_reply(
                    UNAUTHORIZED, "this address was used or has expired", OPEN_HINT
                )
            self._entrance = ("", 0.0)
        return Reply(200, json.dumps({"token": self.door.token}).encode())

    def new_code(self) -> str:
        """Return the code with which requests count as a person's. Show it only at the terminal of a person."""
        self._code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}}"
        return self._code

    def answer(self, path: str, query: Mapping[str, str], code: str = "") -> Reply:
        """Answer a GET request about the repository."""
        view = VIEWS.get(path)
        return self._reply((lambda: self._view(path, query)) if view else None, code)

    def _view(self, path: str, query: Mapping[str, str]) -> object:
        """Return the facts of a view; those of all memories are computed again only if something changed."""
        state = page_views.state_of(self.repository) if path in KEPT_VIEWS else None
        if state is None:
            return VIEWS[path](self.repository, query, self.render)
        if state != self._kept_state or len(self._kept) >= MAX_KEPT:
            self._kept = {}
            self._kept_state = state
        cited = page_views.stale_places(self.repository) if path == HEALTH else ()
        key = (path, self.repository.core.via, cited, *sorted(query.items()))
        if key not in self._kept:
            self._kept[key] = VIEWS[path](self.repository, query, self.render)
        return self._kept[key]

    def decide(self, path: str, request: Mapping[str, Any], code: str = "") -> Reply:
        """Carry out a POST request."""
        wanted = DECISIONS.get(path)
        return self._reply(
            (lambda: wanted(self.repository, request)) if wanted else None, code
        )

    @contextmanager
    def _as_who_asks(self, code: str) -> Iterator[None]:
        """Let the repository write as a person while a request with the code of the terminal is answered."""
        core = self.repository.core
        own = core.via
        if code and self._code and self._wrong_codes < MAX_WRONG_CODES:
            typed = code.encode("utf-8", "replace")
            if hmac.compare_digest(typed, self._code.encode()):
                core.via = PERSON
            else:
                self._wrong_codes += 1
        try:
            yield
        finally:
            core.via = own

    def _reply(self, ask: Callable[[], object] | None, code: str) -> Reply:
        if ask is None:
            return _error_reply(404, "unknown address")
        try:
            with self._one_at_a_time, self._as_who_asks(code):
                return Reply(
                    200,
                    json.dumps(ask(), ensure_ascii=False).encode("utf-8", "replace"),
                )
        except RawkoError as failure:
            return _error_reply(
                STATUSES.get(type(failure), 500),
                redact(failure.message, pii=False),
                failure.hint,
            )
        except Exception as failure:
            return _error_reply(
                500, _bug(failure), "please report this error; other views still work"
            )


class Handler(BaseHTTPRequestHandler):
    """Handles one connection: check the headers, then call the repository."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "rawkomem"
    sys_version = ""
    timeout = IDLE_TIMEOUT_S

    def do_GET(self) -> None:
        """Serve the files of the page; answer requests with the token."""
        path, _, query = self.path.partition("?")
        file = self.server.files.get(path)
        refusal = self._refusal(is_public=file is not None)
        if refusal:
            self._send(_error_reply(*refusal))
        else:
            self._send(file or self._answer(path, query))

    def _refusal(self, is_public: bool = False, writes: bool = False) -> Refusal:
        """Return the status and reason of a refusal, or None. Files are public; a write must come from the page."""

        def headers(name: str) -> list[str]:
            return self.headers.get_all(name, [])

        door = self.server.door
        refusal = door.refusal(headers)
        if refusal is None and not is_public:
            refusal = door.refusal_of_data(headers)
        if refusal is None and writes:
            if self.headers.get_content_type() != JSON or not headers("Content-Type"):
                return 415, f"a write needs the Content-Type {JSON}"
            if headers(WRITE_HEADER) != ["1"]:
                return FORBIDDEN, f"a write needs the header '{WRITE_HEADER}: 1'"
        return refusal

    def _answer(self, path: str, query: str) -> Reply:
        try:
            fields = dict(
                parse_qsl(query, max_num_fields=MAX_QUERY_FIELDS, errors="replace")
            )
        except ValueError:
            return _error_reply(
                400, f"a query may have at most {MAX_QUERY_FIELDS} fields"
            )
        return self.server.answer(path, fields, self.headers.get(CODE_HEADER, ""))

    def do_POST(self) -> None:
        """Carry out a decision, or send the token to a browser that was opened with a code."""
        entering = self.path == "/api/enter"
        refusal = self._refusal(is_public=entering, writes=True)
        fields = _error_reply(*refusal) if refusal else self._fields()
        if isinstance(fields, Reply):
            self._send(fields)
        elif entering:
            self._send(self.server.enter(fields))
        else:
            code = self.headers.get(CODE_HEADER, "")
            self._send(self.server.decide(self.path, fields, code))

    def _fields(self) -> dict[str, Any] | Reply:
        """Return the fields of the body, or a Reply with the error."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdecimal():
            return _error_reply(411, "a write needs the header Content-Length")
        if int(length) > MAX_DECISION_BYTES:
            return _error_reply(
                413, f"a write may have at most {MAX_DECISION_BYTES:,} bytes"
            )
        try:
            fields = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            return _error_reply(400, "the body is not a JSON object")
        return fields

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in SECURITY_HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", reply.type)
        self.send_header("Content-Length", str(len(reply.body)))
        if reply.status >= 400:  # the body of the request may be unread
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Answer errors that the standard library finds with our own text and headers."""
        self.command = getattr(self, "command", None) or ""
        self._send(_error_reply(405 if code == 501 else code, message or "refused"))

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: searches are private."""


def _error_reply(status: int, message: str, hint: str = "") -> Reply:
    """Return a reply with an error message and a hint."""
    return Reply(
        status,
        json.dumps({"error": message, "hint": hint}, ensure_ascii=False).encode(),
    )


def _bug(failure: Exception) -> str:
    """Print an internal error on stderr and return it as one line for the page."""
    message = redact(
        f"rawkomem failed here: {type(failure).__name__}: {one_line(str(failure), 200)}",
        pii=False,
    )
    print(message, file=sys.stderr)
    return message


def _page_files() -> dict[str, Reply]:
    """Return the files of the page by address. No other file is served."""
    files: dict[str, Reply] = {}
    for name in sorted(os.listdir(PAGE_FOLDER)):
        type = TYPES.get(os.path.splitext(name)[1])
        if type:
            with open(os.path.join(PAGE_FOLDER, name), "rb") as stream:
                files[f"/{name}"] = Reply(200, stream.read(), type)
    return {**files, "/": files["/index.html"]}
