"""Layers: the project's memories, the user's own, and those of shared repositories, which are read-
only.

Only the user's own config can name shared repositories. A layer that cannot be used causes a
warning, not an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from ..embed.embedder import Embedder
from ..embed.providers import open_deep_embedder
from ..files.layout import (
    FOLDER,
    PERSONAL,
    Layout,
    find_layout,
    personal_root,
    source_layout,
)
from ..index.stores.database import DatabaseError
from ..model.entries import Memory, Task
from ..model.errors import BadInput, NotFound, RawkoError
from ..model.filters import Filter
from ..model.ids import numbered_names
from ..model.values import record, replace
from ..recall.candidates import Sources
from ..recall.excerpt import Labels, layer_label
from ..recall.inject import Injection
from ..recall.relevance import with_evidence
from ..recall.render import labels_by_id, standing_label
from ..recall.search import Answer, Found, best_results, search
from ..recall.signals import question_of_task
from ..text.chunks import counted
from ..text.language import is_copy
from . import Repository
from .core import Core, Wing
from .injecting import sources

PROJECT = "project"  # prefix of a project id that looks like an id of another layer
# names that a shared repository cannot have
RESERVED = (PERSONAL, PROJECT, "all", "verified")
MAX_NAME_CHARS = 40

T = TypeVar("T")


@record
class Layer:
    """One layer: its name (empty for the project's), its repository, and whether it is shared, so read-only."""

    name: str
    repository: Repository
    shared: bool = False

    @property
    def prefix(self) -> str:
        """Return the prefix of ids that mean a memory of this layer, as in `personal:ID`."""
        return f"{self.name or PROJECT}:"

    @property
    def core(self) -> Core:
        """Return the core of its repository."""
        return self.repository.core


@record
class LayerState:
    """The state of a layer, for `status` and `doctor`."""

    name: str
    root: str
    memories: int
    shared: bool
    problem: str = ""

    @property
    def told(self) -> str:
        """Return the state as one line."""
        how = self.problem or ("read only" if self.shared else "")
        how = f", {how}" if how else ""
        return f"{self.name}: {counted(self.memories, 'memory')} in {self.root}{how}"


class Layers(Wing):
    """All layers of one repository, the project's first."""

    def __init__(self, repository: Repository):
        super().__init__(repository)
        self._left_out: list[LayerState] = []
        # the contextual embedder, shared by all layers
        self._deep: Embedder | None = None
        personal = personal_root()
        is_personal = _same(repository.layout.root, personal)
        self.all = [Layer(PERSONAL if is_personal else "", repository)]
        if not repository.core.is_layered:
            return
        if not is_personal and os.path.isdir(personal):
            home = os.path.dirname(personal)
            self._add(PERSONAL, personal, partial(find_layout, home))
        for path in repository.settings.sources:
            folder = os.path.expanduser(path).rstrip("/\\")
            if os.path.basename(folder) == FOLDER:
                folder = os.path.dirname(folder)
            root = os.path.join(folder, FOLDER)
            if not any(_same(root, layer.repository.layout.root) for layer in self.all):
                name = self._new_name(folder)
                locate = partial(_find_source, root)
                self._add(name, root, locate, shared=True)

    def _new_name(self, folder: str) -> str:
        """Return an unused name for a source: its folder's name, with unusual signs replaced by hyphens."""
        plain = "".join(
            c if c.isalnum() or c in "-_." else "-" for c in os.path.basename(folder)
        )[:MAX_NAME_CHARS]
        taken = (*RESERVED, *(one.name.lower() for one in self.all))
        names = numbered_names(plain)
        return next(name for name in names if name.lower() not in taken)

    def _add(
        self, name: str, root: str, locate: Callable[[], Layout], shared: bool = False
    ) -> None:
        """Open a layer; share the project's embedder if both have the same settings for it. A failure is a warning."""
        core = self._core
        try:
            store = "sqlite" if shared else ""
            repository = type(self._repo)(locate(), core.warn, store=store)
            repository.core.via = core.via
            if repository.settings.embedder == core.settings.embedder:
                repository.core.index.open_embedder = lambda: core.index.embedder
                repository.core.index.open_deep = core.index.open_deep = self._open_deep
            self.all.append(Layer(name, repository, shared))
            core.others.append(repository.core)
        except (RawkoError, OSError) as failure:
            core.warn(f"{name} is left out: {failure}")
            self._left_out.append(LayerState(name, root, 0, shared, str(failure)))

    def _open_deep(self) -> Embedder | None:
        if self._deep is None:
            self._deep = open_deep_embedder(self._core.settings.embedder)
        return self._deep

    def close(self) -> None:
        """Close all layers except the project's."""
        for layer in self.all[1:]:
            layer.repository.close()

    def standings(self) -> list[LayerState]:
        """Return the state of every layer except the project's, including layers that cannot be used."""
        standings = []
        for layer in [one for one in self.all if one.name]:
            problem = ""
            memories = 0
            root = layer.repository.layout.root
            try:
                memories = len(layer.core.rows())
            except (RawkoError, OSError, DatabaseError) as failure:
                problem = str(failure)
            standings.append(
                LayerState(layer.name, root, memories, layer.shared, problem)
            )
        return standings + self._left_out

    # Recall

    def _read(self, layer: Layer, ask: Callable[[], T]) -> T | None:
        """Return what `ask` returns on a layer's updated index; None after a warning if it fails.

        An error of the first layer is raised.
        """
        try:
            return layer.core.read(ask)
        except (RawkoError, OSError, DatabaseError) as failure:
            if layer is self.all[0]:
                raise
            self._core.warn(f"{layer.name} is left out: {failure}")
            return None

    def fresh(self) -> list[Layer]:
        """Update every layer except the first, and return the first and those that work. The caller reads the first."""
        return self.all[:1] + [
            one for one in self.all[1:] if self._read(one, lambda: True)
        ]

    def sources(
        self,
        only: Filter | None,
        strict: bool,
        told: frozenset[str],
        layers: Sequence[Layer],
    ) -> list[Sources]:
        """Return the sources of an injection, one for each layer. Call it only inside `Core.read` of the first."""
        places: list[Sources] = []
        for layer in layers:
            own = sources(layer.core, only, strict, told)
            places.append(self._named_sources(own, layer, layers, places))
        return places

    def _named_sources(
        self,
        own: Sources,
        layer: Layer,
        layers: Sequence[Layer],
        earlier: Sequence[Sources],
    ) -> Sources:
        """Return a layer's sources with its name. It shares the vectors of the question with the earlier layers.

        The first layer decides whether vouching matters, except in shared layers.
        """
        if earlier:
            doubting = layer.shared or earlier[0].doubting
            spaces = replace(own.spaces, kept=earlier[0].spaces.kept)
            own = replace(own, doubting=doubting, spaces=spaces)
        shown = self._naming(layer, layers)
        return replace(own, layer=layer.name, prefix=layer.prefix, shown=shown)

    def _naming(self, layer: Layer, layers: Sequence[Layer]) -> Callable[[str], str]:
        """Return a function that returns the shown id of a layer's memory: its own, unless an earlier layer has it."""
        prefixes = tuple(one.prefix for one in self.all)
        before = layers[: layers.index(layer)]

        def shown(id: str) -> str:
            taken = f"{id}:".startswith(prefixes)
            taken = taken or any(one.core.catalogue.row(id) for one in before)
            return layer.prefix + id if taken else id

        return shown

    def look(
        self,
        texts: Sequence[str],
        limit: int,
        only: Filter | None,
        profile: str = "",
        least: float = 0.0,
    ) -> Sequence[Answer]:
        """Search all layers for several texts, each by itself, and merge the results."""
        hits: list[list[Found]] = [[] for _ in texts]
        places: list[Sources] = []
        answered: list[Layer] = []
        for layer in self.all:

            def ask() -> tuple[Sources, list[list[Found]]]:
                own = sources(layer.core, only, False)  # noqa: B023
                layers = (*answered, layer)  # noqa: B023
                own = self._named_sources(own, layer, layers, places)  # noqa: B023
                return own, _layer_results(own, texts, limit, profile, least)

            results = self._read(layer, ask)
            if results:
                answered.append(layer)
                places.append(results[0])
                for several, own in zip(hits, results[1], strict=True):
                    shown = results[0].shown
                    several += [_named(item, shown(item.row.id)) for item in own]
        return [
            Answer(text, _merged_results(several, limit))
            for text, several in zip(texts, hits, strict=True)
        ]

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
            for one in layers:
                if one.core.holds(name):
                    return one.repository, name
            for one in layers:
                if one.core.read(partial(one.core.catalogue.resolve, name)):
                    return one.repository, name
        return self._repo, name

    def _prefixed(self, name: str) -> tuple[Layer | None, str]:
        """Return the layer and the id of `personal:ID`; None and the whole name if it has no layer's prefix."""
        head, sign, rest = name.partition(":")
        if not sign or not self._core.is_layered:
            return None, name
        found = next(
            (layer for layer in self.all if (layer.name or PROJECT) == head), None
        )
        return found, rest if found else name

    def labels(
        self, owner: Repository, memories: Iterable[Memory]
    ) -> dict[str, Labels]:
        """Return labels by id for memories of one layer: which layer they come from, and whether a person vouches."""
        layer = next(layer for layer in self.all if layer.repository is owner)
        believed = owner.beliefs.all()
        memories = [*memories]
        own = labels_by_id(believed, memories) if layer is self.all[0] else {}
        if layer is not self.all[0] and (
            layer.shared or self._repo.beliefs.all().counts
        ):
            doubted = believed.unverified(memories)
            own = {one.id: standing_label(doubted.get(one.id)) for one in memories}
        return {
            memory.id: (*layer_label(layer.name), *own.get(memory.id, ()))
            for memory in memories
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
            if shown:
                memories = layer.repository.get_many([*shown])
                own = self.labels(layer.repository, memories)
                labels |= {shown[id]: said for id, said in own.items()}
        return labels

    def named(self, name: str) -> list[Layer]:
        """Return the layer with a name, or all layers for `all`; raise BadInput or NotFound for an unknown name."""
        layers = [layer for layer in self.all if name in ("all", layer.name or PROJECT)]
        if not layers:
            known = ", ".join((*(layer.name or PROJECT for layer in self.all), "all"))
            if name == PERSONAL:
                hint = "run 'rawkomem init --personal' to create it"
            else:
                hint = f"use one of {known}"
            raise (NotFound if name == PERSONAL else BadInput)(
                f"there is no layer {name!r}", hint
            )
        return layers

    def shown(self, owner: Repository, memory: Memory) -> Memory:
        """Return a memory as recall shows it: with its layer, and as `personal:ID` if another layer has the same id."""
        if not self._core.is_layered:
            return memory
        layer = next(one for one in self.all if one.repository is owner)
        shown = self._naming(layer, self.fresh())
        return replace(
            memory, id=self._core.read(lambda: shown(memory.id)), layer=layer.name
        )


def _named(item: Found, id: str) -> Found:
    """Return a result with the id under which it is shown."""
    if item.row.id == id:
        return item
    return replace(
        item, row=replace(item.row, id=id), signals=replace(item.signals, id=id)
    )


def _find_source(root: str) -> Layout:
    """Return the layout of a shared repository; raise NotFound if its folder cannot be used."""
    why = ""
    if not os.path.isabs(root):
        why = "it is not an absolute path"
    elif os.path.islink(root):
        why = "it is a link"
    elif not os.path.isdir(root):
        why = f"there is no {FOLDER} folder in it"
    if why:
        raise NotFound(f"{why}: {root}; correct 'sources' in your config")
    return source_layout(root)


def _same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


# Search in one of several layers, and merge the results of all layers by confidence.
#
# Each layer has its own index and its own statistics. Scores are relative to the best result of a
# layer, so that only the confidence, which is a probability, is comparable.


def _layer_results(
    sources: Sources, texts: Sequence[str], limit: int, profile: str, least: float
) -> list[list[Found]]:
    """Return the results of a layer for each text, with confidence. A profile has its own scores instead."""
    # Ask for twice as many, because copies of one memory in several layers are dropped.
    places = sources.view, sources.store, sources.spaces
    answers = search(*places, texts, 2 * limit, profile, least)
    return [_judged(sources, answer, not profile) for answer in answers]


def _judged(sources: Sources, answer: Answer, with_confidence: bool) -> list[Found]:
    found = {item.row.id: item for item in answer.found}
    memories = [memory for id in found if (memory := sources.view.memory(id))]
    doubted = sources.unverified(memories)
    candidates = [
        (memory, replace(found[memory.id].signals, unverified=doubted.get(memory.id)))
        for memory in memories
    ]
    if with_confidence:
        question = question_of_task(Task(answer.question), sources.view.at)
        candidates = with_evidence(sources, question, candidates)
    judged = []
    for memory, signals in candidates:
        item = found[memory.id]
        if sources.layer:
            row = replace(item.row, vouched=int(not signals.unverified))
        else:
            row = item.row
        judged.append(replace(item, row=row, signals=signals, layer=sources.layer))
    return judged


def _merged_results(found: Iterable[Found], limit: int) -> tuple[Found, ...]:
    """Return the best results of all layers, without copies of project memories in other layers."""
    found = [*found]
    own = [item for item in found if not item.layer]
    others = [item for item in found if item.layer]
    new = [
        item for item in others if not any(_is_copy_of(item, other) for other in own)
    ]
    return best_results([*own, *new], limit)


def _is_copy_of(item: Found, other: Found) -> bool:
    """Return whether a project's result is a copy of another layer's. An unvouched one never replaces a vouched one."""
    if item.row.vouched and not other.row.vouched:
        return False
    return (
        bool(item.text)
        and item.row.kind == other.row.kind
        and is_copy(item.text, other.text)
    )
