"""A running page server over a repository, and a plain HTTP client for it."""

import http.client
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rawkomem.faces.web.page_server import PageServer, open_for_page
from rawkomem.model.entries import Entry
from rawkomem.repository import Repository

from tests.faces.web.sample import leave_drafts, make_sample
from tests.faces.web.tabs import Tab


class Client:
    """Asks a page server as a program would; every header can be another one."""

    def __init__(self, server: PageServer):
        self.server = server
        self.door = server.door

    def send(self, method: str, path: str, headers: dict | None = None, body: bytes | str | None = None):
        """The answer's status, headers and bytes. A header of None is left out."""
        given = {"Host": f"127.0.0.1:{self.door.port}", "Authorization": f"Bearer {self.door.token}", **(headers or {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.door.port, timeout=120)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        data = body.encode() if isinstance(body, str) else body
        if data is not None and "Content-Length" not in given:
            given["Content-Length"] = str(len(data))
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def get(self, path: str) -> dict:
        """The answer to a question that must have one."""
        status, _, content = self.send("GET", path)
        assert status == 200, (status, content)
        return json.loads(content)

    def post(self, path: str, said: object, **headers: str | None):
        """Status and answer of a decision, sent as the page sends it but for some headers."""
        usual = {"Content-Type": "application/json", "X-Rawkomem": "1"}
        status, _, content = self.send("POST", path, {**usual, **headers}, json.dumps(said))
        return status, json.loads(content)


@contextmanager
def serving(folder: Path, via: str = "person") -> Iterator[PageServer]:
    """A server in a thread of its own."""
    server = PageServer(open_for_page(str(folder), via))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def held(repository) -> str:
    """A memory in quarantine, beside two that are in use."""
    repository.add(
        Entry(title="Why apsw", body="sqlite3 cannot load *extensions*.", tags=("sqlite",), when=("sqlite",))
    )
    repository.add(Entry(title="Prices are rounded once", body="See [[why-apsw]].", importance="high", kind="lesson"))
    written = repository.add(Entry(title="Unsure", body="Nobody looked at it."), via="agent")
    repository.beliefs.quarantine(written.entry.id, "from outside", by="agent")
    return written.entry.id


@pytest.fixture
def client(project):
    """A client of a server over `project`."""
    with serving(project) as server:
        yield Client(server)


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium; the name evil.test leads to this machine, as a rebinding resolver would have it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="for want of playwright: make test-page")
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("for want of chromium: make test-page")
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium, args=["--host-resolver-rules=MAP evil.test 127.0.0.1"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return make_sample(tmp_path_factory.mktemp("sample"))


@pytest.fixture
def sample(built, tmp_path):
    """A copy of the sample project, with drafts: a test may write."""
    project = shutil.copytree(built, tmp_path / built.name)
    with Repository.open(str(project)) as repository:
        leave_drafts(repository)
    return project


@pytest.fixture
def tab(browser, sample):
    with serving(sample) as server:
        opened = Tab(browser, server)
        yield opened
        opened.check()
        opened.page.context.close()
