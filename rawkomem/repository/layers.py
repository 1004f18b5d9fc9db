"""Layers: the project's memories, the user's own, and those of shared repositories, which are read-
only.

Only the user's own config can name shared repositories. A layer that cannot be used causes a
warning, not an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence

from ..embed.embedder import Embedder
from ..embed.providers import open_deep_embedder
from ..files.layout import (
    FOLDER,
    PERSONAL,
    Layout,
    find_layout,
    personal_root,
    source_layout,
    user_cache,
)
from ..index.stores.database import DatabaseError, first
from ..model.entries import Memory
from ..model.errors import BadInput, NotFound, RawkoError
from ..model.filters import Filter
from ..model.values import now, record, replace
from ..recall.candidates import Sources
from ..recall.excerpt import Labels, layer_label
from ..recall.inject import Injection
from ..recall.layered import PROJECT, LayerPart, LayerUnion, layered_sources, marked_answers
from ..recall.render import labels_by_id, standing_label
from ..recall.search import Answer, Found, search
from ..text.chunks import counted
from . import Repository
from .core import Core
from .injecting import sources

RESERVED = (PERSONAL, PROJECT, "all", "verified")  # names that a shared repository cannot have
MAX_NAME_CHARS = 40
TOLD_FILE = (
    "sources-told.json"  # in the user's cache folder: which sources were reported missing, and when
)
TOLD_AGAIN_MS = 24 * 3_600_000


@record
class Layer:
    """One layer: its name (empty for the project's), its repository, and whether it is shared, so read-only."""

    name: str
    repository: Repository
    shared: bool = False

    @property
    def core(self) -> Core:
        """Return the core of its repository."""
        return self.repository.core

    def has_name(self, name: str) -> bool:
        """Return whether a memory in it has this name."""
        return bool(self.core.read(lambda: self.core.index.catalogue.resolve(name)))


@record
class Standing:
    """The state of a layer, for `status` and `doctor`."""

    name: str
    root: str
    memories: int
    shared: bool
    problem: str = ""

    @property
    def told(self) -> str:
        """Return the state as one line."""
        how = f", {self.problem}" if self.problem else ", read only" if self.shared else ""
        return f"{self.name}: {counted(self.memories, 'memory')} in {self.root}{how}"


class Layers:
    """All layers of one repository, the project's first."""

    def __init__(self, repository: Repository):
        self._repo = repository
        self._core = repository.core
        self._left_out: list[tuple[str, str, str]] = []  # name, path and reason
        self._deep: Embedder | None = None  # the contextual embedder, shared by all layers
        is_personal = _same(repository.layout.root, personal_root())
        self.all = [Layer(PERSONAL if is_personal else "", repository)]
        if not repository.core.is_layered:
            return
        if not is_personal and os.path.isdir(personal_root()):
            self._add(PERSONAL, lambda: find_layout(os.path.dirname(personal_root())))
        for path in repository.settings.sources:
            self._add_source(path)

    def _add_source(self, path: str) -> None:
        folder = os.path.expanduser(path)
        folder = (
            os.path.dirname(folder) if os.path.basename(folder) == FOLDER else folder.rstrip("/\\")
        )
        root = os.path.join(folder, FOLDER)
        why = ""
        if not os.path.isabs(folder):
            why = "it is not an absolute path"
        elif os.path.islink(root):
            why = f"{root} is a link"
        elif not os.path.isdir(root):
            why = f"there is no {FOLDER} folder in it"
        if why:
            if _is_news(f"{path}: {why}"):
                self._core.warn(
                    f"the source {path} is left out: {why}; correct 'sources' in your config"
                )
            self._left_out.append((os.path.basename(folder) or path, path, why))
        elif not any(_same(root, layer.repository.layout.root) for layer in self.all):
            self._add(self._new_name(folder), lambda: source_layout(root), shared=True)

    def _new_name(self, folder: str) -> str:
        """Return an unused name for a source: its folder's name, with unusual signs replaced by hyphens."""
        plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in os.path.basename(folder))[
            :MAX_NAME_CHARS
        ]
        names = [
            f"{plain}-{number}" if number > 1 else plain for number in range(1, len(self.all) + 3)
        ]
        return next(
            name
            for name in names
            if name.lower() not in (*RESERVED, *(one.name.lower() for one in self.all))
        )

    def _add(self, name: str, locate: Callable[[], Layout], shared: bool = False) -> None:
        """Open a layer; share the project's embedder if both have the same settings for it. A failure is a warning."""
        try:
            made = type(self._repo)(
                locate(), self._core.warn, self._core.via, store="sqlite" if shared else ""
            )
            if made.settings.embedder == self._core.settings.embedder:
                made.core.index.open_embedder = lambda: self._core.index.embedder
                made.core.index.open_deep = self._core.index.open_deep = self._open_deep
            self.all.append(Layer(name, made, shared))
            self._core.others.append(made.core)
        except (RawkoError, OSError) as failure:
            self._core.warn(f"{name} is left out: {failure}")
            self._left_out.append((name, "", str(failure)))

    def _open_deep(self) -> Embedder | None:
        if self._deep is None:
            self._deep = open_deep_embedder(self._core.settings.embedder)
        return self._deep

    def close(self) -> None:
        """Close all layers except the project's."""
        for layer in self.all[1:]:
            layer.repository.close()

    def standings(self) -> list[Standing]:
        """Return the state of every layer except the project's, including layers that cannot be used."""
        found = [self._standing(layer) for layer in self.all if layer.name]
        return found + [Standing(name, path, 0, True, why) for name, path, why in self._left_out]

    def _standing(self, layer: Layer) -> Standing:
        problem, memories = "", 0
        try:
            memories = len(layer.core.rows())
        except (RawkoError, OSError, DatabaseError) as failure:
            problem = str(failure)
        return Standing(layer.name, layer.repository.layout.root, memories, layer.shared, problem)

    # Recall

    def fresh(self) -> list[Layer]:
        """Update every layer except the first, and return the first and those that work. The caller reads the first."""
        found = self.all[:1]
        for layer in self.all[1:]:
            try:
                layer.core.read(lambda: None)
                found.append(layer)
            except (RawkoError, OSError, DatabaseError) as failure:
                self._core.warn(f"{layer.name} is left out: {failure}")
        return found

    def union(
        self,
        only: Filter | None,
        strict: bool = False,
        told: frozenset[str] = frozenset(),
        layers: Sequence[Layer] = (),
    ) -> LayerUnion:
        """Return the layers as one source. Call it only inside `Core.read` of the first layer."""
        asked = [
            LayerPart(one.name, sources(one.core, only, strict, told), one.shared)
            for one in layers or self.all
        ]
        return LayerUnion(asked, self._core.warn)

    def sources(
        self, only: Filter, strict: bool, told: frozenset[str], layers: Sequence[Layer]
    ) -> Sources:
        """Return the sources of an injection."""
        return layered_sources(self.union(only, strict, told, layers))

    def look(
        self,
        texts: Sequence[str],
        limit: int,
        only: Filter | None,
        profile: str = "",
        least: float = 0.0,
    ) -> Sequence[Answer]:
        """Search all layers for several texts."""

        layers = self.fresh()

        def ask() -> tuple[Answer, ...]:
            union = self.union(only, layers=layers)
            sources = layered_sources(union)
            # Ask for twice as many, because copies of one memory in several layers are dropped.
            places = (sources.view, sources.store, sources.spaces)
            found = search(*places, texts, 2 * limit, profile, least)
            return marked_answers(found, union, limit)

        return self._core.read(
            ask, ("layers", tuple(texts), limit, only, profile, least, *map(_version, layers[1:]))
        )

    def note_use(self, injection: Injection, at: int, session: str) -> None:
        """Count an injection's personal memories in the personal repository, with 0 tokens: the project counts them."""
        from ..files.session_records import note_use

        for layer in self.all[1:]:
            ids = [item.memory.id.removeprefix(f"{layer.name}:") for item in injection.items
                   if item.memory.layer == layer.name]  # fmt: skip
            if ids and not layer.shared:
                note_use(layer.repository.layout, at, session, 0, ids)

    # Ids

    def owner(self, name: str) -> tuple[Repository, str]:
        """Return the repository that has a memory, and the memory's name in it; the first repository if none has it."""
        layer, rest = self._prefixed(name)
        if layer:
            return layer.repository, rest
        if len(self.all) > 1:
            layers = self.fresh()
            holding = [one for one in layers if one.core.holds(name)]
            for one in holding or [layer for layer in layers if layer.has_name(name)]:
                return one.repository, name
        return self._repo, name

    def _prefixed(self, name: str) -> tuple[Layer | None, str]:
        """Return the layer and the id of `personal:ID`; None and the whole name if it has no layer's prefix."""
        head, sign, rest = name.partition(":")
        if not sign or not self._core.is_layered:
            return None, name
        found = next((layer for layer in self.all if (layer.name or PROJECT) == head), None)
        return found, rest if found else name

    def labels(self, owner: Repository, memories: Iterable[Memory]) -> dict[str, Labels]:
        """Return labels by id for memories of one layer: which layer they come from, and whether a person vouches."""
        layer = next(layer for layer in self.all if layer.repository is owner)
        believed = owner.beliefs.all()
        memories = [*memories]
        if layer is self.all[0]:
            own = labels_by_id(believed, memories)
        else:
            counts = layer.shared or self._repo.beliefs.all().counts
            doubted = believed.unverified(memories) if counts else {}
            own = (
                {memory.id: standing_label(doubted.get(memory.id)) for memory in memories}
                if counts
                else {}
            )
        return {
            memory.id: (*layer_label(layer.name), *own.get(memory.id, ())) for memory in memories
        }

    def labels_of_found(self, found: Sequence[Found]) -> dict[str, Labels]:
        """Return the labels of search results by the ids that are shown."""
        labels: dict[str, Labels] = {}
        for layer in self.all:
            shown = {
                self._prefixed(item.row.id)[1]: item.row.id
                for item in found
                if item.layer == layer.name
            }
            own = (
                self.labels(layer.repository, layer.repository.get_many([*shown])) if shown else {}
            )
            labels |= {shown[id]: said for id, said in own.items()}
        return labels

    def named(self, name: str) -> list[Layer]:
        """Return the layer with a name, or all layers for `all`; raise BadInput or NotFound for an unknown name."""
        found = [layer for layer in self.all if name in ("all", layer.name or PROJECT)]
        if not found:
            known = ", ".join((*(layer.name or PROJECT for layer in self.all), "all"))
            hint = (
                "run 'rawkomem init --personal' to create it"
                if name == PERSONAL
                else f"use one of {known}"
            )
            raise (NotFound if name == PERSONAL else BadInput)(f"there is no layer {name!r}", hint)
        return found

    def shown(self, owner: Repository, memory: Memory) -> Memory:
        """Return a memory as recall shows it: with its layer, and as `personal:ID` if another layer has the same id."""
        if not self._core.is_layered:
            return memory
        layers = self.fresh()

        def ask() -> Memory:
            union = self.union(None, layers=layers)
            part = next(part for part in union.parts if part.sources.view.layout == owner.layout)
            return replace(memory, id=union.shown(part, memory.id), layer=part.name)

        return self._core.read(ask)


def _same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _version(layer: Layer) -> tuple[object, int]:
    """Return a cache key that changes with a layer's index. It holds the connection, since its id() could be reused."""

    database = layer.core.index.reading()
    return database, first(database, "PRAGMA data_version")[0]


def _is_news(said: str) -> bool:
    """Return whether a warning was not printed in the last 24 hours, and record that it is printed now."""

    file, at = os.path.join(user_cache(), TOLD_FILE), now()
    told: dict[str, str] = {}
    try:
        with open(file, encoding="utf-8") as stream:
            known: dict[str, str] = json.loads(stream.read())
        told = {key: when for key, when in known.items() if 0 <= at - int(when) < TOLD_AGAIN_MS}
        if said in told:
            return False
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        pass
    try:
        os.makedirs(user_cache(), exist_ok=True)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(json.dumps({**told, said: str(at)}))
    except OSError:
        pass
    return True
