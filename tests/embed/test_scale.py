"""A model in whose space all texts are close to each other, or far apart, is judged like the bundled vectors."""

import os
from pathlib import Path

import pytest
from rawkomem.embed.embedder import STATIC_SCALE, cosine_scale
from rawkomem.embed.static import StaticEmbedder
from rawkomem.repository import Repository

from tests.embed.server import Answer, Server

TEXTS = (
    "Glaze firing needs cone six and a slow start.",
    "Kilns cool overnight before they are unloaded.",
    "Invoices are sent on the first working day of the month.",
    "The parser reads one line at a time and keeps its place.",
)
RELATED = {"fire the glaze at cone six": 0, "send the invoices of the month": 2}
UNRELATED = ("translate the welcome mail into Polish", "why does the map flicker on my phone")


def space(common: float):
    """Return the answer of a server whose vectors share a part: the larger it is, the closer are all texts."""
    embedder = StaticEmbedder()

    def answer(request: dict) -> dict:
        found = (memoryview(vector).cast("f").tolist() for vector in embedder.embed(request["input"]))
        vectors = [[*own, common, *[0.0] * 7] for own in found]
        return {"data": [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]}

    return answer


def test_the_scale_of_the_bundled_vectors_is_what_they_measure():
    assert cosine_scale(StaticEmbedder()) == pytest.approx(STATIC_SCALE, abs=0.001)


@pytest.mark.parametrize("common", [0.0, 1.0, 2.0, 3.0])
def test_an_unknown_model_injects_neither_everything_nor_nothing(project, monkeypatch, common):
    monkeypatch.delenv("RAWKOMEM_EMBEDDER")
    file = Path(os.environ["XDG_CONFIG_HOME"]) / "rawkomem" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    with Server(Answer(space(common))) as server:
        file.write_text(f"embedder:\n  provider: {server.url}\n  model: tiny\n")
        with Repository.open(project) as repository:
            ids = [repository.add(text).id for text in TEXTS]
            for task, at in RELATED.items():
                assert [item.memory.id for item in repository.inject(task).items] == [ids[at]], task
                assert repository.search(task)[0].fits
            for task in UNRELATED:
                assert not repository.inject(task).items and not any(one.fits for one in repository.search(task)), task
