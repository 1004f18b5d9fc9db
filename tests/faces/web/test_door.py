"""Nobody but the page itself is answered: Host, Origin, token, content type, header; and nothing but its files is served."""

import json
import re

import pytest
from rawkomem.faces.web.page_server import SECURITY_HEADERS

from tests.faces.web.conftest import serving

WRITE = {"Content-Type": "application/json", "X-Rawkomem": "1"}


def files_of(project) -> dict:
    return {path: path.read_bytes() for path in (project / ".rawko" / "memories").rglob("*.md")}


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "[::1]:{port}",
        "0.0.0.0:{port}",
    ],
)
@pytest.mark.parametrize("path", ["/", "/app.js", "/api/overview"])
def test_another_host_is_misdirected(client, host, path):
    given = None if host is None else host.format(port=client.door.port)
    status, headers, content = client.send("GET", path, {"Host": given})
    assert status == 421 and b"memories" not in content
    assert headers["Content-Security-Policy"] == SECURITY_HEADERS["Content-Security-Policy"]


def test_localhost_is_this_server(client):
    assert client.send("GET", "/", {"Host": f"localhost:{client.door.port}"})[0] == 200


@pytest.mark.parametrize(
    "origin", ["null", "https://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:{port}", ""]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(client, held, project, origin, method):
    before = files_of(project)
    headers = {**WRITE, "Origin": origin.format(port=client.door.port)}
    said = json.dumps({"id": held, "signal": "helpful"}) if method == "POST" else None
    status, answered, _ = client.send(method, "/api/feedback" if said else "/api/overview", headers, said)
    assert status == 403
    assert not [name for name in answered if name.lower().startswith("access-control")]
    assert files_of(project) == before


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", "Basic {token}", "bearer {token}", "Bearer {token}x", "Bearer é"]
)
def test_a_wrong_token_learns_nothing(client, held, given):
    token = given.format(token=client.door.token) if given is not None else None
    for path in ("/api/overview", f"/api/memory?id={held}", "/api/nothing"):
        status, _, content = client.send("GET", path, {"Authorization": token})
        assert status == 401 and b"Unsure" not in content
    assert client.post("/api/feedback", {"id": held, "signal": "helpful"}, Authorization=token)[0] == 401


def test_the_token_is_in_no_file_and_new_each_time(client, project):
    with serving(project) as other:
        assert other.door.token != client.door.token and len(other.door.token) >= 32
    for path in client.server.files:
        assert client.door.token.encode() not in client.send("GET", path)[2]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": None}, 415),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"X-Rawkomem": None}, 403),
        ({"X-Rawkomem": "0"}, 403),
        ({"Content-Length": None}, 411),
        ({"Content-Length": "-1"}, 411),
        ({"Content-Length": "65537"}, 413),
    ],
)
def test_a_write_must_be_the_pages_own(client, held, project, headers, status):
    before = files_of(project)
    said = json.dumps({"id": held, "signal": "helpful"})
    assert client.send("POST", "/api/feedback", {**WRITE, **headers}, said)[0] == status
    assert files_of(project) == before


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"1", b"\xff", b"[" * 30_000, b'{"id": 1}', b'{"id": ""}', b'{"signal": "helpful"}']
)
def test_a_write_that_says_nothing_is_refused(client, project, body):
    assert client.send("POST", "/api/feedback", WRITE, body)[0] == 400
    assert not files_of(project)


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "HEAD", "TRACE", "BREW"])
def test_other_methods_are_refused_without_cors(client, method):
    headers = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-rawkomem"}
    status, answered, _ = client.send(method, "/api/feedback", headers)
    assert status == 405
    assert not [name for name in answered if name.lower().startswith("access-control")]
    assert answered["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/api/feedback", "/api/act", "/api/undo"])
def test_get_decides_nothing(client, held, project, path):
    before = files_of(project)
    assert client.send("GET", f"{path}?id={held}&signal=helpful&action=keep")[0] == 404
    assert files_of(project) == before


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py", "/..%2fserver.py", "/%2e%2e/server.py", "/page/../../../pyproject.toml", "//etc/passwd", "/etc/passwd",
        "/.rawko/config.yaml", "/index.html/../door.py", "/\\..\\server.py", "/app.js%00", "http://evil.example/", "*",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(client, path):
    for token in (None, f"Bearer {client.door.token}"):
        status, _, content = client.send("GET", path, {"Authorization": token})
        assert status == (404 if token else 401)
        assert b"import" not in content and b"root:" not in content


def test_every_answer_keeps_the_promises(client, held):
    for path in ("/", "/style.css", "/api/overview", "/api/memory?id=none", "/nothing"):
        _, headers, _ = client.send("GET", path)
        assert {name: headers[name] for name in SECURITY_HEADERS} == dict(SECURITY_HEADERS)
    assert "unsafe" not in SECURITY_HEADERS["Content-Security-Policy"]
    assert headers["Server"].strip() == "rawkomem"


def test_the_page_has_nothing_inline(client):
    html = client.send("GET", "/")[2].decode()
    assert "<style" not in html and " style=" not in html and not re.search(r"\son\w+=", html)
    assert html.count("<script") == 1 and '<script type="module" src="/app.js"></script>' in html


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/memories?q=" + "x" * 5_000, 400),
        ("/api/memories?q=" + "x" * 60_000, 400),
        ("/api/memories?q=" + "x" * 200_000, 414),
        ("/api/memories?" + "&".join(f"a{n}=1" for n in range(500)), 400),
        ("/api/why?id=why-apsw&task=" + "y" * 5_000, 400),
        ("/api/memories?q=%ff%fe%00", 200),
        ("/api/memories?kind=nothing", 400),
        ("/api/memories?status=nothing", 400),
        ("/api/memory?id=" + "z" * 3_000, 404),
        ("/api/memory", 400),
    ],
)
def test_odd_and_huge_questions(client, held, path, status):
    assert client.send("GET", path)[0] == status
    assert client.get("/api/overview")["memories"] == 2


def test_a_client_that_says_nothing_blocks_nobody(client, held):
    import socket

    silent = [socket.create_connection(("127.0.0.1", client.door.port)) for _ in range(20)]
    assert client.get("/api/overview")["memories"] == 2
    for connection in silent:
        connection.close()
