"""The configured embedder is used, or the bundled one after one warning; a wrong name is an error."""

import importlib.util

import pytest
from rawkomem.embed.embedder import PROVIDERS, EmbedderSettings, open_embedder
from rawkomem.model.errors import BadInput

from tests.embed.server import Server
from tests.embed.test_endpoint import free_port


def opened(**given):
    warnings: list[str] = []
    return open_embedder(EmbedderSettings(**given), warnings.append), warnings


def test_the_bundled_one_by_default():
    embedder, warnings = opened()
    assert (embedder.name, warnings) == ("static-384-v2", [])


def test_the_configured_one():
    with Server() as server:
        embedder, warnings = opened(provider="lmstudio", model="tiny", url=server.url)
        assert (embedder.name.endswith("/tiny:4"), embedder.dims, warnings) == (True, 4, [])
        assert embedder.embed(["a"]) == embedder.embed(["a"])
        assert len(server.seen) == 2  # the probe and one text


def test_an_unknown_name_tells_the_known_ones():
    with pytest.raises(BadInput) as caught:
        opened(provider="opneai")
    assert all(name in caught.value.hint for name in ("static", *PROVIDERS))


def test_a_server_that_is_down_falls_back_with_one_warning():
    embedder, warnings = opened(provider="ollama", model="tiny", url=f"http://127.0.0.1:{free_port()}")
    assert embedder.name == "static-384-v2"
    assert len(warnings) == 1
    assert "ollama" in warnings[0] and "bundled" in warnings[0] and "Is the server running?" in warnings[0]
    assert "\n" not in warnings[0]


@pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is not None, reason="the extra is installed")
def test_a_missing_extra_says_how_to_install_it():
    embedder, warnings = opened(provider="sentence-transformers")
    assert embedder.name == "static-384-v2"
    assert len(warnings) == 1 and "pip install 'sentence-transformers>=3'" in warnings[0]
