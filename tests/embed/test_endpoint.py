"""The OpenAI-compatible provider against a real server on the loopback: good answers, bad ones, none."""

import math
import socket
import struct
import sys
from pathlib import Path

import pytest
from rawkomem.embed.embedder import EmbedderFailed, EmbedderSettings
from rawkomem.embed.endpoint import BATCH_TEXTS, EndpointEmbedder, embeddings_url, start_server
from rawkomem.net import Client, user_policy

from tests.embed.server import Answer, Server, vector

QUICK = (0.01, 0.01, 0.01)  # pauses before a retry
KEY = "sk-Very-Secret-0123456789"
SCRIPT = str(Path(__file__).parent / "server.py")


def settings(url: str, **more) -> EmbedderSettings:
    return EmbedderSettings(**{"provider": "openai", "model": "tiny", "url": url, "timeout": 5.0, **more})


def opened(server: Server, **more) -> EndpointEmbedder:
    return EndpointEmbedder(settings(server.url, **more), QUICK)


def failing(server: Server, **more) -> str:
    """The words of the error, hint included."""
    with pytest.raises(EmbedderFailed) as caught:
        opened(server, **more)
    return f"{caught.value.message} | {caught.value.hint}"


def unit(text: str) -> tuple[float, ...]:
    numbers = vector(text)
    return tuple(number / math.hypot(*numbers) for number in numbers)


def after_probe(answer: Answer) -> list[Answer]:
    return [Answer(), answer]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_vectors_come_back_normalised_and_in_order():
    with Server() as server:
        embedder = opened(server)
        assert (embedder.dims, embedder.name) == (4, f"openai:127.0.0.1:{server.server_port}/tiny:4")
        found = [struct.unpack("<4f", each) for each in embedder.embed(["a", "banana"])]
        assert found == [pytest.approx(unit("a")), pytest.approx(unit("banana"))]


def test_the_request_is_what_the_api_asks():
    with Server() as server:
        opened(server).embed(["one", "two"])
        path, headers, request = server.seen[-1]
        assert path == "/v1/embeddings"
        assert request == {"model": "tiny", "input": ["one", "two"], "encoding_format": "float"}
        assert "Authorization" not in headers


def test_asked_dimensions_are_sent_and_insisted_on():
    with Server() as server:
        opened(server, dims=4)
        assert server.seen[-1][2]["dimensions"] == 4
        assert "4 numbers instead of 8" in failing(server, dims=8)


def test_many_texts_go_in_batches():
    texts = [f"text {number}" for number in range(2 * BATCH_TEXTS + 1)]
    with Server() as server:
        found = opened(server).embed(texts)
        assert [len(request["input"]) for _, _, request in server.seen] == [1, BATCH_TEXTS, BATCH_TEXTS, 1]
        assert [struct.unpack("<4f", each) for each in found] == [pytest.approx(unit(text)) for text in texts]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({"url": "http://localhost:1234"}, "http://localhost:1234/v1/embeddings"),
        ({"url": "http://localhost:1234/v1/"}, "http://localhost:1234/v1/embeddings"),
        ({"url": "http://localhost:1234/v1/embeddings"}, "http://localhost:1234/v1/embeddings"),
        ({"provider": "ollama"}, "http://localhost:11434/v1/embeddings"),
        ({"provider": "lmstudio"}, "http://localhost:1234/v1/embeddings"),
        ({"provider": "cohere"}, "https://api.cohere.ai/compatibility/v1/embeddings"),
        ({"provider": "openai"}, "https://api.openai.com/v1/embeddings"),
    ],
)
def test_addresses(given, address):
    assert embeddings_url(EmbedderSettings(**{"provider": "openai", **given})) == address


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"data": []}, "one vector for each text"),
        ({"data": [{"embedding": [1, 2]}, {"embedding": [1, 2]}]}, "one vector for each text"),
        ({"data": [{"index": 7, "embedding": [1, 2, 3, 4]}]}, "one vector for each text"),
        ({"data": [{"index": [], "embedding": [1, 2, 3, 4]}]}, "one vector for each text"),
        ({"data": [{"embedding": "AACAPwAAAEA="}]}, "0 numbers instead of 4"),
        ({"data": [{"embedding": [1, 2, 3]}]}, "3 numbers instead of 4"),
        ({"data": [{"embedding": []}]}, "0 numbers instead of 4"),
        ({"data": [{"embedding": [1, 2, 3, float("nan")]}]}, "finite numbers"),
        ({"data": [{"embedding": [1, 2, 3, float("inf")]}]}, "finite numbers"),
        ({"data": [{"embedding": [1, 2, 3, 10**400]}]}, "finite numbers"),
        ({"data": [{"embedding": [1, 2, 3, True]}]}, "finite numbers"),
        ({"data": [{"embedding": [1, 2, 3, "4"]}]}, "finite numbers"),
        ({"data": ["x"]}, "no list of vectors"),
        ({"error": "?"}, "no list of vectors"),
        ([], "no list of vectors"),
        (b"<html>", "did not answer with JSON"),
        (b"[" * 100_000, "did not answer with JSON"),
    ],
)
def test_an_answer_that_cannot_be_trusted_is_an_error_with_a_hint(body, said):
    with Server(*after_probe(Answer(body))) as server:
        embedder = opened(server)
        with pytest.raises(EmbedderFailed, match=said) as caught:
            embedder.embed(["a"])
        assert caught.value.hint


def test_an_empty_vector_to_the_first_word_is_an_error():
    with Server(Answer({"data": [{"embedding": []}]})) as server:
        assert "0 numbers" in failing(server)


def test_an_outage_is_told_after_a_few_tries():
    with Server(Answer({"error": "out of memory"}, 500)) as server:
        said = failing(server)
        assert "answered 500" in said and "out of memory" in said
        assert len(server.seen) == len(QUICK) + 1


def test_a_refusal_is_not_repeated_and_its_words_are_one_short_line():
    with Server(Answer({"error": "no such\nmodel \x1b[31m" + "x" * 5000}, 404)) as server:
        said = failing(server)
        assert "answered 404" in said and "Check embedder.provider and embedder.model" in said
        assert len(server.seen) == 1 and len(said) < 400 and said.isprintable()


def test_a_slow_answer_ends_at_the_time_out():
    with Server(Answer(delay=30.0)) as server:
        assert "did not answer within 0.3 s" in failing(server, timeout=0.3)


def test_nothing_listens():
    with pytest.raises(EmbedderFailed, match="cannot reach") as caught:
        EndpointEmbedder(settings(f"http://127.0.0.1:{free_port()}/v1"))
    assert caught.value.hint == "Is the server running?"


def test_a_server_that_dies_midway_is_an_error_and_no_other_space():
    with Server() as server:
        embedder = opened(server)
    with pytest.raises(EmbedderFailed, match="cannot reach"):
        embedder.embed(["a"])


def test_a_model_must_be_named():
    with pytest.raises(EmbedderFailed, match="no model"):
        EndpointEmbedder(settings("http://localhost:1", model=""))


def test_the_key_is_sent_as_bearer(monkeypatch):
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    with Server() as server:
        opened(server, key_env="TEST_KEY")
        assert server.seen[-1][1]["Authorization"] == f"Bearer {KEY}"


def test_the_key_is_in_no_error_even_when_the_server_repeats_it(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    with Server(Answer({"error": f"bad key {KEY}"}, 401)) as server:
        said = failing(server, key_env="TEST_KEY")
        assert "answered 401" in said and "bad key (key)" in said and KEY not in said


def test_a_missing_key_names_the_variable(monkeypatch):
    monkeypatch.delenv("TEST_KEY", raising=False)
    with Server() as server:
        assert "TEST_KEY is not set" in failing(server, key_env="TEST_KEY")
        assert server.seen == []


def test_a_key_in_the_place_of_its_name_is_not_shown():
    with Server() as server:
        assert KEY not in failing(server, key_env=KEY)


def test_a_key_with_odd_characters_is_not_shown(monkeypatch):
    monkeypatch.setenv("TEST_KEY", f"{KEY}\nX: y")
    with Server() as server:
        said = failing(server, key_env="TEST_KEY")
        assert "no usable key" in said and KEY not in said


def test_a_key_does_not_travel_unencrypted(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    with pytest.raises(EmbedderFailed, match="unencrypted"):
        EndpointEmbedder(settings("http://example.invalid/v1", key_env="TEST_KEY"))


def test_a_local_server_that_is_not_up_is_started():
    port = free_port()
    command = f"'{sys.executable}' '{SCRIPT}' {port}"
    embedder = EndpointEmbedder(settings(f"http://127.0.0.1:{port}/v1", start=command))
    assert embedder.server is not None
    try:
        assert struct.unpack("<4f", embedder.embed(["banana"])[0]) == pytest.approx(unit("banana"))
    finally:
        embedder.server.terminate()
        embedder.server.wait()


def test_a_server_that_is_up_is_not_started_again(tmp_path):
    mark = tmp_path / "started"
    with Server() as server:
        assert opened(server, start=f"touch '{mark}'").server is None
    assert not mark.exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (f"'{sys.executable}' -c 'raise SystemExit(3)' {KEY}", "ended with code 3"),
        (f"no-such-program-anywhere {KEY}", "cannot run no-such-program-anywhere"),
        (f"'open quote {KEY}", "open quote"),
        ("  ", "is empty"),
    ],
)
def test_a_start_command_that_fails_is_told_without_its_words(command, said):
    with pytest.raises(EmbedderFailed, match=said) as caught:
        EndpointEmbedder(settings(f"http://127.0.0.1:{free_port()}/v1", start=command))
    assert KEY not in caught.value.message + caught.value.hint


def test_a_server_that_never_listens_is_ended():
    url = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(EmbedderFailed, match=r"did not open within 0.3 s"):
        start_server(f"'{sys.executable}' -c 'import time; time.sleep(30)'", Client(url, user_policy(url)), 0.3)
