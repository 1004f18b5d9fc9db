"""The guarded client against real servers: TLS to the checked address, limits of time and size, retries, hidden keys."""

import socket
import ssl
import threading
import time

import pytest
from rawkomem.model.values import replace
from rawkomem.net.client import DROPPED, Bounds, Client, Wires, error_text
from rawkomem.net.guard import PUBLIC_ONLY, NotListening, Policy, RequestFailed, read_url, user_policy

from tests.embed.server import Answer, Server
from tests.net.outside import CERTIFICATE, Outside

QUICK = Bounds(seconds=5.0, pauses=(0.01, 0.01, 0.01))
OK = Answer({})


def local(server: Server, bounds: Bounds = QUICK) -> Client:
    return Client(server.url, user_policy(server.url), "", bounds)


def test_tls_goes_to_the_checked_address_and_asks_for_the_name():
    with Server(OK, certificate=CERTIFICATE) as server:
        outside = Outside(server.server_port, ["93.184.216.34"])
        client = Client("https://EXAMPLE.com./hook?x=1", PUBLIC_ONLY, "the-key", QUICK, outside.wires)
        assert client.post(b"{}", {"X-More": "yes"}).status == 200
        path, headers, _ = server.seen[0]
        assert (outside.dialled, server.names) == (["93.184.216.34"], ["example.com"])
        assert (path, headers["Host"], headers["X-More"]) == ("/hook?x=1", "example.com", "yes")
        assert headers["Authorization"] == "Bearer the-key"


def test_a_certificate_for_another_name_is_refused():
    with Server(OK, certificate=CERTIFICATE) as server:
        outside = Outside(server.server_port, ["93.184.216.34"])
        with pytest.raises(RequestFailed, match=r"no TLS with other.org: Hostname mismatch"):
            Client("https://other.org/", PUBLIC_ONLY, "", QUICK, outside.wires).post(b"", {})
        assert server.seen == []


def test_a_certificate_of_nobody_we_know_is_refused():
    with Server(OK, certificate=CERTIFICATE) as server:
        outside = Outside(server.server_port, ["93.184.216.34"])
        wires = replace(outside.wires, tls=ssl.create_default_context)
        with pytest.raises(RequestFailed, match=r"no TLS with example.com: self.signed certificate"):
            Client("https://example.com/", PUBLIC_ONLY, "", QUICK, wires).post(b"", {})
        assert server.seen == []


def test_the_next_address_is_taken_when_one_does_not_answer():
    with Server(OK) as server:
        tried: list[str] = []

        def connect(place: tuple[str, int], timeout: float) -> socket.socket:
            tried.append(place[0])
            if len(tried) == 1:
                raise ConnectionRefusedError(111, "Connection refused")
            return socket.create_connection(("127.0.0.1", server.server_port), timeout)

        wires = Wires(lambda host, port: ["2606:4700::1111", "93.184.216.34"], connect)
        assert Client("http://example.com/", Policy(https_only=False), "", QUICK, wires).post(b"{}", {}).status == 200
        assert tried == ["2606:4700::1111", "93.184.216.34"]


def test_proxy_variables_are_ignored(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with Server(OK) as server:
        assert local(server).post(b"{}", {}).status == 200


@pytest.mark.parametrize("place", ["http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:1/", "/elsewhere"])
def test_a_redirect_is_told_and_not_followed(place):
    with Server(Answer({}, 302, {"Location": place}), OK) as server:
        client = local(server)
        answer = client.post(b"{}", {})
        assert (answer.status, len(server.seen)) == (302, 1)
        assert client.complaint(answer) == "127.0.0.1 answered 302 and points elsewhere, which is not followed"


def test_429_then_200():
    with Server(Answer({}, 429, {"Retry-After": "1"}), Answer({}, 503), OK) as server:
        assert local(server).post(b"{}", {}).status == 200
        assert len(server.seen) == 3


def test_a_server_that_asks_for_an_hour_is_not_waited_for():
    with Server(Answer({}, 429, {"Retry-After": "3600"})) as server:
        answer = local(server).post(b"{}", {})
        assert (answer.status, len(server.seen), answer.wait) == (429, 1, 3600)


def test_an_endless_body_is_cut_and_the_connection_dropped():
    with Server(Answer({}, endless=True), OK) as server:
        client = local(server, replace(QUICK, answer=100_000))
        answer = client.post(b"{}", {})
        assert (answer.status, answer.whole, len(answer.body)) == (200, False, 100_000)
        assert client.post(b"{}", {}).whole


@pytest.mark.parametrize(
    "answer", [Answer({}, delay=30.0), Answer({"long": "x" * 500}, drip=True)], ids=["silent", "drop by drop"]
)
def test_a_server_that_hangs_ends_at_the_deadline(answer):
    with Server(answer) as server, pytest.raises(RequestFailed, match=r"did not answer within 0.3 s"):
        local(server, replace(QUICK, seconds=0.3)).post(b"{}", {})


def drip_headers(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    try:
        for _ in range(600):
            connection.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        pass
    connection.close()


def test_headers_drop_by_drop_get_no_more_time():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=drip_headers, args=(listener,), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(RequestFailed, match="did not answer within"):
            Client(url, user_policy(url), "", replace(QUICK, seconds=0.3)).post(b"{}", {})


def test_a_server_that_accepts_no_tls_in_time():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(NotListening, match="no TLS with"):
            Client(url, user_policy(url), "", replace(QUICK, seconds=0.3)).post(b"{}", {})


def test_a_resolver_that_hangs_ends_at_the_deadline():
    done = threading.Event()
    wires = Wires(look_up=lambda host, port: [str(done.wait(120))])
    with pytest.raises(NotListening, match=r"cannot reach example.com:443: TimeoutError"):
        Client("https://example.com/", PUBLIC_ONLY, "", replace(QUICK, seconds=0.2), wires).post(b"", {})
    done.set()


def test_many_addresses_get_no_more_time_than_one():
    def connect(place, timeout):
        time.sleep(timeout)
        raise TimeoutError

    wires = Wires(look_up=lambda host, port: ["93.184.216.34"] * 50, connect=connect)
    start = time.monotonic()
    with pytest.raises(NotListening, match=r"cannot reach example.com:443"):
        Client("https://example.com/", PUBLIC_ONLY, "", replace(QUICK, seconds=0.2), wires).post(b"", {})
    assert time.monotonic() - start < 5


def test_a_server_that_always_drops():
    with Server(Answer(status=0)) as server:
        client = local(server)
        answer = client.post(b"{}", {})
        assert answer.status == DROPPED and client.complaint(answer) == "127.0.0.1 broke the connection off"
        assert len(server.seen) == 4


def test_keys_that_a_server_repeats_are_not_shown():
    target = read_url("https://hooks.example.com/services/T0AB/abcdefghij0123456789/x?token=q%2Fw-ert&b=12345")
    said = b"no: Bearer topsecretkey for /services/T0AB/abcdefghij0123456789/x?token=q%2Fw-ert, q/w-ert, q\\/w-ert\n\x1b[31m 12345"
    words = error_text(said, target, "topsecretkey")
    for secret in ("topsecretkey", "abcdefghij0123456789", "q%2Fw-ert", "q/w-ert", "q\\/w-ert", "12345"):
        assert secret not in words
    assert words.startswith("no: Bearer (key) for /services/T0AB/(key)/x?token=(key)") and words.isprintable()


def test_words_are_redacted_and_short():
    target = read_url("https://hooks.example.com/")
    words = error_text(b"leaked AKIAIOSFODNN7EXAMPLQ " + b"x " * 5000, target, "")
    assert "AKIA" not in words and len(words) <= 200
