"""A search store is a package of its own: a real one touches 0 files of rawkomem.

The toy is a module and an entry point, as pip would install them. It keeps all vectors in a dictionary and names `id` as
the only column that it compares: what else a filter asks for, it is given as ids.
"""

import os
import sys

import pytest
from rawkomem.index.stores.database import plugin_names
from rawkomem.model.errors import BadInput
from rawkomem.recall.signals import filter_of
from rawkomem.repository import Repository

ENTRY_POINTS = "[rawkomem.stores]\ntoy = toy_store:PLUGIN\n"
METADATA = "Metadata-Version: 2.1\nName: toy-store\nVersion: 1\n"
MODULE = """
from array import array

from rawkomem.index.stores.sqlite import BODY, DEEP, FIRST, Hit
from rawkomem.index.stores.protocol import BaseStore, StorePlugin


class ToyStore(BaseStore):
    columns = ("id",)

    def __init__(self, home, dims):
        self.documents, self.deep, self.life = {}, {}, 0

    def generation(self):
        return f"toy {id(self)}.{self.life}"

    def held(self):
        return {id: document.digest for id, document in self.documents.items()}

    def commit(self):
        pass

    def close(self):
        self.erase()

    def erase(self):
        self.documents, self.deep, self.life = {}, {}, self.life + 1

    def put(self, documents):
        self.drop([document.id for document in documents])
        self.documents |= {document.id: document for document in documents}

    def drop(self, ids):
        for id in ids:
            self.documents.pop(id, None)
            self.deep.pop(id, None)

    def passages(self, only):
        for id in only.ids or self.documents:
            for number, passage in enumerate(self.documents[id].passages if id in self.documents else ()):
                yield id, number, passage

    def nearest(self, vector, limit, only, tier=FIRST):
        asked = array("f", vector)
        if tier == DEEP or not any(asked):
            return []
        hits = [Hit(id, n, sum(a * b for a, b in zip(asked, array("f", p.vector)))) for id, n, p in self.passages(only)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id, hit.passage))[:limit]

    def vectors(self, only):
        return [(id, p.vector) for id, _, p in self.passages(only) if p.field == BODY]

    def deepen(self, vectors):
        self.deep |= {id: own for id, own in vectors.items() if id in self.documents}

    def flatten(self):
        self.deep = {}


class ToyPlugin(StorePlugin):
    def open(self, home, dims):
        return ToyStore(home, dims)


PLUGIN = ToyPlugin()
"""


@pytest.fixture
def installed(tmp_path, monkeypatch) -> str:
    """The folder that the toy is installed in."""
    site = tmp_path / "site"
    (site / "toy_store-1.dist-info").mkdir(parents=True)
    (site / "toy_store-1.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "toy_store-1.dist-info" / "METADATA").write_text(METADATA)
    (site / "toy_store.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(site))
    yield str(site)
    sys.modules.pop("toy_store", None)


@pytest.fixture
def filled(memories):
    (memories / "zebra.md").write_text("---\ntitle: Zebras\ntags: [animal]\n---\n\nStripes keep flies away.\n")
    (memories / "lessons").mkdir()
    lesson = "---\nkind: lesson\nid: flies\ntitle: Flies\n---\n\nStripes do not help against mosquitos.\n"
    (memories / "lessons" / "flies.md").write_text(lesson)
    return memories


def test_a_toy_store_answers(installed, project, filled):
    repository = Repository.open(str(project), store="toy")
    assert {found.row.id for found in repository.search("stripes flies")} == {"zebra", "flies"}
    (filled / "zebra.md").unlink()
    assert [found.row.id for found in repository.search("stripes flies")] == ["flies"]
    assert repository.store.status().fresh
    repository.close()


@pytest.mark.parametrize(
    ("words", "ids"), [({"kind": "lesson"}, ["flies"]), ({"tag": "ANIMAL"}, ["zebra"]), ({"tag": "plant"}, [])]
)
def test_filters_that_it_does_not_know_are_kept(installed, project, filled, words, ids):
    repository = Repository.open(str(project), store="toy")
    assert [found.row.id for found in repository.search("stripes", only=filter_of(**words))] == ids
    repository.close()


def test_the_command_line_knows_it(installed, rawkomem, filled):
    rawkomem("index", "store", "use", "toy")
    shown = {row["name"]: row for row in rawkomem.json("index", "store", "status")}
    assert shown["toy"]["used"] and shown["toy"]["memories"] == 2 and shown["toy"]["where"].endswith("toy")
    assert "Zebras" in rawkomem("search", "stripes").stdout
    assert "takes no url" in rawkomem("index", "store", "use", "toy", "--url-env", "X", check=2).stderr


def test_without_its_package_it_is_unknown(project, filled):
    assert "toy" not in plugin_names()
    with pytest.raises(BadInput, match="unknown store 'toy'") as caught:
        Repository.open(str(project), store="toy")
    assert "sqlite, memory, lancedb, postgres" in caught.value.hint


def test_a_plug_in_that_cannot_be_loaded_is_one_clear_line(installed, project):
    with open(os.path.join(installed, "toy_store.py"), "w", encoding="utf-8") as stream:
        stream.write("import a_module_that_is_not_there\n")
    with pytest.raises(BadInput, match="'toy' cannot be loaded: No module named 'a_module_that_is_not_there'"):
        Repository.open(str(project), store="toy")
