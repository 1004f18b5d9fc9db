"""What may be sent to: the corpus of tricks row by row through the real client, and the seed's own cases."""

import json
import socket
import ssl
import threading
import time

import pytest
from rawkomem.model.values import replace
from rawkomem.net import (
    DROPPED,
    LOOPBACK,
    NEVER,
    PRIVATE,
    PUBLIC,
    PUBLIC_ONLY,
    Blocked,
    Bounds,
    Client,
    NotListening,
    Policy,
    RequestFailed,
    Wires,
    check_addresses,
    check_target,
    classify_address,
    error_text,
    read_url,
    user_policy,
)

from tests.conftest import shared
from tests.embed.server import Answer, Server
from tests.net.outside import CERTIFICATE, Outside
from tests.seeds import seed_cases

BOTH_SCHEMES = Policy(https_only=False)  # so that a row is judged by its address, not by its http
AT_ONCE = Bounds(seconds=5.0, pauses=(0.0,))
OK = Answer({})


ROWS = json.loads(shared("data/ssrf.json").read_text())
SEED = [case for case in seed_cases() if case["function"] == "validateBaseUrl"]


def test_the_corpora_are_whole():
    assert (len(ROWS), len(SEED)) == (117, 19)


def policies(row: dict) -> list[Policy]:
    if "allow_origins" in row:
        return [Policy(tuple(read_url(origin).origin for origin in row["allow_origins"]), https_only=False)]
    return [PUBLIC_ONLY, BOTH_SCHEMES]


def answers(row: dict) -> list[list[str]]:
    if row.get("resolve_sequence"):
        return row["resolve"]
    return [row["resolve"]] if "resolve" in row else [["127.0.0.1"]] if "localhost" in row["url"].lower() else []


def script(row: dict) -> list[Answer]:
    if "redirects" in row:
        return [Answer({}, 302, {"Location": row["redirects"][0]})]
    return [Answer(status=0), OK] if row.get("resolve_sequence") else [OK]  # a dropped connection forces a look-up


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_every_row_of_the_corpus_gets_its_verdict_from_the_real_client(row):
    for policy in policies(row):
        certificate = CERTIFICATE if row["url"].lower().startswith("https") else ""
        with Server(*script(row), certificate=certificate) as server:
            outside = Outside(server.server_port, *answers(row))
            try:
                status = Client(row["url"], policy, "", AT_ONCE, outside.wires).post(b"{}", {}).status
            except Blocked:
                status = 0
            assert ("allow" if status == 200 else "block") == row["verdict"]
            assert status == {"allow": 200, "block": 302 if "redirects" in row else 0}[row["verdict"]]
            public = {"93.184.216.34"} if "redirects" in row or "resolve_sequence" in row else set()
            assert row["verdict"] == "allow" or set(outside.dialled) <= public


@pytest.mark.parametrize("case", SEED, ids=[case["id"] for case in SEED])
def test_the_seeds_cases(case):
    """The seed lets its three names of this machine pass, and everything private with `allowPrivate`."""
    url, options = case["input"]["url"] or "", case["input"]["opts"]
    known = options.get("allowPrivate") or any(
        f"//{name}" in url and f"//{name}." not in url for name in ("localhost", "127.0.0.1", "[::1]")
    )
    expected = case["expected"]["ok"] and "reject" not in case.get("advice", "")
    try:
        target = read_url(url)
        https_only = bool(options.get("requireHttps")) and not known
        policy = Policy((target.origin,) if known else (), https_only)
        check_target(target, policy)
        where = {"localhost": "127.0.0.1", "10.0.0.1.nip.io": "10.0.0.1"}.get(target.host, "93.184.216.34")
        check_addresses(target, [target.host if target.literal else where], policy)
        allowed = True
    except Blocked as refusal:
        assert refusal.message and refusal.hint and "\n" not in refusal.message
        allowed = False
    assert allowed == expected


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "ftp://example.com", "http://", "http:///x", "http://user:s3cret@example.com/", "http://a..b/",
     "https://example.com\\@127.0.0.1/", "https://exa mple.com/", "https://example.com/#x", "https://example.com:/",
     "https://example.com:0/", "https://example.com:65536/", "https://example.com:8 0/", "https://[::1/", "https://[::1]x/",
     "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://-a.com/", "https://bücher.example/",
     "http://2130706433/", "http://0x7f000001/", "http://0177.1/", "http://127.1/", "http://1.2.3/", "http://1.2.3.4.5/",
     "http://example.0x1/", "http://0x/", "https://%31%32%37.0.0.1/", "https://exam%00ple.com/", "https://e\u200bx.com/",
     "https://example.com/\n", "https://" + "a" * 64 + ".com/", "https://example.com/" + "a" * 2048],
)  # fmt: skip
def test_an_address_that_could_be_read_in_two_ways_is_refused_without_being_repeated(url):
    with pytest.raises(Blocked, match="not an http") as caught:
        read_url(url)
    assert "s3cret" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("https://Example.COM", "https://example.com:443", "/"),
        ("https://example.com.:8443?x=1", "https://example.com:8443", "/?x=1"),
        ("HTTP://127.0.0.1./a?b", "http://127.0.0.1:80", "/a?b"),
        ("http://[0:0:0:0:0:0:0:1]:80/", "http://::1:80", "/"),
        ("https://my_host/p/@x", "https://my_host:443", "/p/@x"),
        ("https://1.example.com/", "https://1.example.com:443", "/"),
    ],
)
def test_what_an_address_says(url, origin, path):
    target = read_url(url)
    assert (target.origin, target.path) == (origin, path)


@pytest.mark.parametrize(
    ("reach", "addresses"),
    [
        (PUBLIC, "8.8.8.8 93.184.216.34 172.32.0.1 172.15.255.255 100.63.255.255 100.128.0.1 169.253.1.1 223.255.255.255 "
                 "2001:4860:4860::8888 2606:4700::1111 2a00:1450::1"),
        (LOOPBACK, "127.0.0.1 127.255.255.254 ::1"),
        (PRIVATE, "10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255 fd12::1 fc00::1"),
        (NEVER, "0.0.0.0 0.1.2.3 169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 192.0.2.1 "
                "198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 192.88.99.1 :: "
                "::ffff:8.8.8.8 ::ffff:127.0.0.1 ::8.8.8.8 64:ff9b::808:808 64:ff9b:1::1 2002:808:808::1 2001:0:1::1 "
                "2001:2::1 2001:db8::1 3fff::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 fd00:ec2::254 fd20:ce::254 "
                "fd00:42::42 100::1 5f00::1 4000::1"),
    ],
)  # fmt: skip
def test_how_far_addresses_reach(reach, addresses):
    for address in addresses.split():
        assert classify_address(address)[0] == reach, address


@pytest.mark.parametrize("address", ["169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "0.0.0.0"])
def test_a_metadata_service_is_never_local_enough(address):
    url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
    with pytest.raises(Blocked, match="is blocked"):
        Client(url, user_policy(url)).post(b"", {})
    url = "http://gpu.lan:1234/"
    with pytest.raises(Blocked, match=r"sending to gpu.lan .* is blocked"):
        Client(url, user_policy(url), "", AT_ONCE, Outside(1, [address]).wires).post(b"", {})


def test_one_bad_address_among_good_ones_is_enough():
    outside = Outside(1, ["93.184.216.34", "10.0.0.7"])
    with pytest.raises(Blocked, match=r"\(10.0.0.7\) is blocked: its address is a private network"):
        Client("https://example.com/", PUBLIC_ONLY, "", AT_ONCE, outside.wires).post(b"", {})
    assert outside.dialled == []


def test_localhost_must_be_this_machine():
    outside = Outside(1, ["93.184.216.34"])
    with pytest.raises(Blocked, match="localhost"):
        Client("http://localhost:1234/", user_policy("http://localhost:1234/"), "k", AT_ONCE, outside.wires).post(
            b"", {}
        )
    assert outside.dialled == []


def test_a_key_goes_unencrypted_to_this_machine_only():
    for url in ("http://gpu.lan/", "http://10.0.0.1/", "http://localhost.example.com/"):
        with pytest.raises(Blocked, match="unencrypted"):
            Client(url, user_policy(url), "key")
    for url in ("http://localhost/", "http://127.0.0.1/", "http://[::1]/", "https://gpu.lan/"):
        Client(url, user_policy(url), "key")


def test_a_resolver_that_flips_never_gets_to_the_server_inside():
    """The name leads to a public server that drops the connection, then to this machine, where a real server listens."""
    with Server(OK) as inside, Server(Answer(status=0)) as public:
        outside = Outside(public.server_port, ["93.184.216.34"], ["127.0.0.1"])
        url = f"http://rebind.example:{inside.server_port}/"
        policy = Policy(local=(f"http://other.example:{inside.server_port}",), https_only=False)
        with pytest.raises(Blocked, match="is not a web port"):
            Client(url, policy, "", AT_ONCE, outside.wires)
        client = Client("http://rebind.example:8080/", BOTH_SCHEMES, "", AT_ONCE, outside.wires)
        with pytest.raises(Blocked, match="this machine"):
            client.post(b"{}", {})
        assert outside.asked == ["rebind.example"] * 2 and outside.dialled == ["93.184.216.34"]
        assert inside.seen == [] and len(public.seen) == 1


def test_every_request_checks_the_address_again():
    with Server(OK) as server:
        outside = Outside(server.server_port, ["93.184.216.34"], ["93.184.216.34"], ["127.0.0.1"])
        client = Client("http://rebind.example/", BOTH_SCHEMES, "", AT_ONCE, outside.wires)
        assert [client.post(b"{}", {}).status for _ in range(2)] == [200] * 2
        with pytest.raises(Blocked, match="this machine"):
            client.post(b"{}", {})
        assert outside.dialled == ["93.184.216.34"] * 2 and len(server.seen) == 2


def test_a_name_that_nobody_knows():
    with pytest.raises(NotListening, match=r"cannot reach nowhere.example:443"):
        Client("https://nowhere.example/", PUBLIC_ONLY, "", AT_ONCE, Outside(1).wires).post(b"", {})


# The guarded client against real servers: TLS to the checked address, limits of time and size, retries, hidden keys
QUICK = Bounds(seconds=5.0, pauses=(0.01, 0.01, 0.01))


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
