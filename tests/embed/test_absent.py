"""An embedding server that goes away costs neither the index nor an answer."""

import os
from pathlib import Path

import pytest
from rawkomem.embed.embedder import EmbedderSettings, open_embedder
from rawkomem.embed.endpoint import MODELS
from rawkomem.repository import Repository

from tests.embed.server import Answer, Server


def eight(request: dict) -> dict:
    """Answer with vectors of eight numbers: the index takes multiples of eight."""
    vectors = [[text.count(letter) + 0.5 for letter in "aeiourst"] for text in request["input"]]
    return {"data": [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]}


TEXTS = ("Glaze firing needs cone six", "Kilns cool overnight before unloading", "Clay is wedged twice")


@pytest.fixture
def settings(monkeypatch):
    """Return a function that names a server in the user's settings."""
    monkeypatch.delenv("RAWKOMEM_EMBEDDER")

    def write(url: str) -> None:
        file = Path(os.environ["XDG_CONFIG_HOME"]) / "rawkomem" / "config.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"embedder:\n  provider: {url}\n  model: tiny\n")

    return write


def opened(project, warnings: list[str]) -> Repository:
    return Repository.open(project, warn=warnings.append)


def texts_asked(server: Server) -> list[str]:
    return [text for _, _, request in server.seen for text in request["input"]]


def test_the_index_outlives_its_server(project, settings):
    with Server(Answer(eight)) as server:
        settings(server.url)
        with opened(project, []) as repository:
            for text in TEXTS:
                repository.add(f"{text}.", title=text, when=[text])
            repository.sync()
        port = server.server_port
    warnings: list[str] = []
    with opened(project, warnings) as repository:
        name = repository.core.index.made_with()
        assert [found.row.title for found in repository.search("kilns overnight")] == [TEXTS[1]]
        assert len(warnings) == 1 and "words only" in warnings[0]
        assert repository.core.index.made_with() == name and name[0].startswith("openai:")
        repository.add("Bisque firing comes first.", title="Bisque firing comes first", when=["bisque"])
        assert repository.search("bisque firing")[0].row.title == "Bisque firing comes first"
        assert not any("building the index" in warning for warning in warnings)
    with Server(Answer(eight), port=port) as server, opened(project, warnings) as repository:
        repository.sync()
        asked = texts_asked(server)
        assert any("Bisque" in text for text in asked) and not any("Kilns" in text for text in asked)
        assert repository.sync().read == 0


def test_lm_studio_has_a_model_by_default():
    with Server() as server:
        warnings: list[str] = []
        embedder = open_embedder(EmbedderSettings(provider="lmstudio", url=server.url), warnings.append)
        assert not warnings and server.seen[0][2]["model"] == MODELS["lmstudio"]
        assert MODELS["lmstudio"] in embedder.name


def test_another_model_is_no_reason_to_keep_an_index():
    warnings: list[str] = []
    settings = EmbedderSettings(provider="openai", model="other", url="http://127.0.0.1:9/v1")
    embedder = open_embedder(settings, warnings.append, lambda: ("openai:127.0.0.1:9/tiny:4", 4))
    assert embedder.name.startswith("static") and len(warnings) == 1
