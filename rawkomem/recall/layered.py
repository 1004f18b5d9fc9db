"""Recall from several layers as from one. Hits are merged before they are normalized, scored and
packed.

The first layer is the project. If two layers have the same id, the memory of the later one is shown
as `layer:id`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ..embed.embedder import Embedder
from ..git.citations import Cited
from ..index.catalogue import Believed, Row
from ..index.index import View
from ..index.stores.database import DatabaseError
from ..index.stores.sqlite import DEEP, FIRST, Compared, Hit, Holders, idf
from ..model.entries import Memory
from ..model.filters import Filter
from ..model.values import as_dict, record, replace, unchecked
from ..state.trust import Standing, Trust, Weak
from ..text.conditions import Fired, Situation
from ..text.language import is_copy
from .candidates import Sources
from .relevance import NOBODY
from .search import Answer, Found, best_results
from .signals import Spaces, nearest_passages

T = TypeVar("T")


Near = Sequence[Sequence[Compared]]


# Recall from several layers as from one. Hits are merged before they are normalized, scored and
# packed.
#
# The first layer is the project. If two layers have the same id, the memory of the later one is
# shown as `layer:id`.

PROJECT = "project"  # prefix of a project id that looks like an id of another layer
ONLY_VOUCHED = Filter(vouched=1)  # the filter for vouched memories of all layers


@record
class LayerPart:
    """One layer of a recall. `shared`: other people write it, so that only commits vouch for its memories."""

    name: str  # empty: the project
    sources: Sources
    shared: bool = False


class LayerUnion:
    """The layers of one recall, and the ids under which their memories are shown."""

    def __init__(self, parts: Sequence[LayerPart], warn: Callable[[str], None]):
        self.parts = list(parts)
        self.first = parts[0]
        self.doubting = self.first.sources.doubting  # the project decides whether vouching matters
        self._warn = warn
        self._names = {part.name or PROJECT: part for part in parts}
        self._places: dict[
            str, tuple[LayerPart, str]
        ] = {}  # shown id → layer, and id in that layer
        self._shown: dict[tuple[str, str], str] = {}
        self._memories: dict[tuple[str, str], Memory | None] = {}
        self._embedders: dict[int, _CachedEmbedder] = {}
        self._scales: dict[tuple[str, ...], dict[str, float]] = {}
        self._held: dict[str, dict[str, int]] = {}  # layer → word → passages that contain it
        self._rows: dict[str, int] = {}  # layer → number of passages
        self._vouching: dict[str, bool] = {}  # layer → whether a person vouches for anything in it

    def shown(self, part: LayerPart, id: str) -> str:
        """Return the shown id of a layer's memory: its own id, unless another layer's memory has it."""
        return self._shown.get((part.name, id)) or self.names(part, [id])[0]

    def names(self, part: LayerPart, ids: Sequence[str]) -> list[str]:
        """Return the shown ids of a layer's memories. Unknown ones are looked up in one query per layer."""
        new = [id for id in dict.fromkeys(ids) if (part.name, id) not in self._shown]
        taken = {id for id in new if id.partition(":")[0] in self._names}
        for other in self.parts[: self.parts.index(part)] if new else ():
            taken |= self.ask(
                other,
                lambda: other.sources.view.catalogue.known(new),  # noqa: B023
                set(),
            )
        for id in new:
            shown = f"{part.name or PROJECT}:{id}" if id in taken else id
            self._shown[part.name, id] = shown
            self._places[shown] = (part, id)
        return [self._shown[part.name, id] for id in ids]

    def by_part(self, ids: Iterable[str]) -> list[tuple[LayerPart, dict[str, str]]]:
        """Group shown ids by layer: return each layer with id in the layer → shown id."""
        found: dict[str, tuple[LayerPart, dict[str, str]]] = {}
        for shown in ids:
            part, id = self.place(shown)
            found.setdefault(part.name, (part, {}))[1][id] = shown
        return [*found.values()]

    def place(self, id: str) -> tuple[LayerPart, str]:
        """Return the layer of a shown id, and the id in that layer."""
        if id not in self._places:
            name, sign, rest = id.partition(":")
            if sign and name in self._names:
                self._places[id] = (self._names[name], rest)
            else:
                holding = (part for part in self.parts if self.row_in(part, id))
                self._places[id] = (next(holding, self.first), id)
        return self._places[id]

    def row_in(self, part: LayerPart, id: str) -> Row | None:
        """Return the index row of a memory in a layer; None if the layer does not have it."""
        return self.ask(part, lambda: part.sources.view.catalogue.row(id), None)

    def ask(self, part: LayerPart, ask: Callable[[], T], otherwise: T) -> T:
        """Return `ask()`. If a layer's index fails, drop the layer with a warning and return `otherwise`.

        An error of the first layer is raised.
        """
        if part is self.first:
            return ask()
        if part not in self.parts:
            return otherwise
        try:
            return ask()
        except DatabaseError as failure:
            self.parts.remove(part)
            self._warn(f"{part.name} is left out: its index cannot be read ({failure})")
            return otherwise

    def standing(self, part: LayerPart, memory: Memory) -> Standing | None:
        """Return the standing of a layer's memory, if no person vouches for it and that matters; else None."""
        counts = part.shared or self.doubting
        return part.sources.view.believed.unverified([memory]).get(memory.id) if counts else None

    def memory(self, part: LayerPart, id: str) -> Memory | None:
        """Return a layer's memory with its shown id; None if there is none inside the filter."""
        key = (part.name, id)
        if key not in self._memories:
            found = self.ask(part, lambda: part.sources.view.memory(id), None)
            self._memories[key] = self.named(part, found)
        return self._memories[key]

    def named(self, part: LayerPart, memory: Memory | None) -> Memory | None:
        """Return a layer's memory with its shown id, its layer, and whether a person vouches for it there."""
        if memory is None:
            return None
        vouched = memory.vouched if part is self.first else self.standing(part, memory) is None
        return replace(memory, id=self.shown(part, memory.id), layer=part.name, vouched=vouched)

    def own(self, memory: Memory) -> tuple[LayerPart, Memory]:
        """Return the layer of a shown memory, and the memory with its id in that layer."""
        part, id = self.place(memory.id)
        return part, memory if id == memory.id else replace(memory, id=id)

    def filter_of(self, part: LayerPart, only: Filter) -> Filter | None:
        """Return a layer's filter for a filter of the union; None if the layer has no such memories."""
        view, sources = part.sources.view, part.sources
        if only.ids:
            places = map(self.place, only.ids)
            own = tuple(id for other, id in places if other is part)
            return Filter(ids=own) if own else None
        if not (only.vouched or only.unvouched):
            return view.stored
        vouched = bool(only.vouched)
        counts = part.shared or self.doubting
        if sources.doubting and counts and self.ask(part, view.catalogue.has_unvouched, False):
            return view.stored_if(vouched)
        if part.shared and not self._vouches(part):
            return None if vouched else view.stored
        mixed = counts and not self._vouches(
            part
        )  # a personal layer: checked later for each memory
        return view.stored if vouched or mixed else None

    def _vouches(self, part: LayerPart) -> bool:
        """Return whether a layer has commits of a person, which vouch for memories."""
        if part.name not in self._vouching:
            authors = part.sources.view.authors
            self._vouching[part.name] = authors is not None and self.ask(
                part, authors.names_a_person, False
            )
        return self._vouching[part.name]

    def vouched(self) -> list[LayerPart]:
        """Return the layers with memories that count as vouched for."""
        return [part for part in [*self.parts] if self.filter_of(part, ONLY_VOUCHED) is not None]

    def spaces_of(self, part: LayerPart) -> Spaces:
        """Return a layer's embedders, which embed each question only once."""
        spaces = part.sources.spaces
        return Spaces(
            self._once(spaces.first), self._once(spaces.deep) if spaces.deep else None, {}
        )

    def _once(self, embedder: Embedder) -> _CachedEmbedder:
        return self._embedders.setdefault(id(embedder), _CachedEmbedder(embedder))

    def scales(self, words: Sequence[str]) -> dict[str, float]:
        """Return the factor for the BM25 scores of each layer, so that a word's rarity is that in all layers together.

        A layer without vouched memories affects only its own factor. Without these factors, FTS5 would treat every
        word of a layer with three passages as common. If a store cannot count words, no factors are used.
        """
        key = tuple(words)
        if key not in self._scales:
            self._scales[key] = self._scaled(key) if words else {}
        return self._scales[key]

    def _scaled(self, words: tuple[str, ...]) -> dict[str, float]:
        counted = {part.name: self._counted(part, words) for part in [*self.parts]}
        if not all(rows for rows, _ in counted.values()):
            return {}
        vouched = {part.name for part in self.vouched()}
        scales = {}
        for name, (own_rows, counts) in counted.items():
            beside = [counted[name], *(counted[other] for other in vouched if other != name)]
            rows = sum(own for own, _ in beside)
            holding = [sum(own) for own in zip(*(own for _, own in beside), strict=True)]
            pairs = [
                (idf(rows, total), idf(own_rows, own))
                for total, own in zip(holding, counts, strict=True)
                if own
            ]
            scales[name] = (
                sum(of_all for of_all, _ in pairs) / sum(own for _, own in pairs) if pairs else 1.0
            )
        return scales

    def _counted(self, part: LayerPart, words: tuple[str, ...]) -> tuple[int, list[int]]:
        store = part.sources.store
        held = self._held.setdefault(part.name, {})
        new = [word for word in words if word not in held]
        if new:
            counted = self.ask(part, lambda: store.holding(new), (0, [0] * len(new)))
            self._rows[part.name] = counted[0]
            held.update(zip(new, counted[1], strict=True))
        return self._rows[part.name], [held[word] for word in words]


class _CachedEmbedder:
    """An embedder that caches the vector of each text."""

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self.name, self.dims = embedder.name, embedder.dims
        self._known: dict[str, bytes] = {}

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]


def marked_answers(answers: Iterable[Answer], union: LayerUnion, limit: int) -> tuple[Answer, ...]:
    """Return answers with the layer of each result, without copies of project memories in other layers."""
    return tuple(
        replace(answer, found=_best_answers(answer.found, union, limit)) for answer in answers
    )


def _best_answers(found: Sequence[Found], union: LayerUnion, limit: int) -> tuple[Found, ...]:
    named = [replace(item, layer=union.place(item.row.id)[0].name) for item in found]
    named.sort(key=lambda item: bool(item.layer))
    own = [item for item in named if not item.layer]
    return best_results(
        (
            item
            for item in named
            if not item.layer or not any(_is_copy_of(item, other) for other in own)
        ),
        limit,
    )


def _is_copy_of(item: Found, other: Found) -> bool:
    """Return whether a project's result is a copy of another layer's. An unvouched one never replaces a vouched one."""
    if item.row.vouched and not other.row.vouched:
        return False
    return bool(item.text) and item.row.kind == other.row.kind and is_copy(item.text, other.text)


# Combine all layers into the sources of one recall: one view, one store and one embedder for all
# layers.

NO_SCALES: dict[str, float] = {}
VOUCHED, UNVOUCHED = (
    Filter(vouched=1),
    Filter(unvouched=1),
)  # the only filters, besides ids, that a union gets


def layered_sources(union: LayerUnion) -> Sources:
    """Return all layers as the sources of one recall."""
    deep = _TextEmbedder(union, DEEP) if union.first.sources.spaces.deep else None
    asked = {
        "view": _LayeredView(union),
        "store": _LayeredStore(union),
        "spaces": Spaces(_TextEmbedder(union), deep, {}),
        "fired": lambda situation: _fired_in_layers(union, situation),
        "cited": lambda memory: _cited_in_layer(union, memory),
    }
    return unchecked(_LayeredSources, **{**as_dict(union.first.sources), **asked})


def _fired_in_layers(union: LayerUnion, situation: Situation) -> dict[str, Fired]:
    """Return the conditions that fired in all layers. They share one time budget for regexes, project first."""
    found: dict[str, Fired] = {}
    for part in [*union.parts]:
        fired: Mapping[str, Fired] = union.ask(
            part,
            lambda: part.sources.fired(situation),  # noqa: B023
            {},
        )
        found |= {union.shown(part, id): how for id, how in fired.items()}
    return found


def _cited_in_layer(union: LayerUnion, memory: Memory) -> tuple[Cited, ...]:
    part, own = union.own(memory)
    return part.sources.cited(own)


class _LayeredSources(Sources):
    """The sources of a union. Vouched memories are searched separately if a layer has others."""

    view: _LayeredView

    def filters(self) -> dict[bool | None, Filter]:
        return self.view.groups()

    def count(self) -> int:
        """Return the number of memories in all layers with vouched memories. Words are counted in the same layers."""
        union = self.view.union
        return sum(union.ask(part, part.sources.count, 0) for part in union.vouched())

    def row(self, id: str) -> Row | None:
        return self.view.union.row_in(*self.view.union.place(id))

    def may_be(self, id: str, vouched: bool | None) -> bool:
        part, _ = self.view.union.place(id)
        if vouched is None or (part.sources.doubting and (part.shared or self.doubting)):
            return True
        return (not vouched) if part.shared else vouched or self.doubting

    def unverified(self, memories: Iterable[Memory]) -> Mapping[str, Standing]:
        found = {}
        for memory in memories:
            standing = self.view.union.standing(*self.view.union.own(memory))
            if standing:
                found[memory.id] = standing
        return found

    def opposed(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """Return pairs of memories of the same layer."""
        union, found = self.view.union, list[tuple[str, str]]()
        for part, own in union.by_part(ids):
            nothing: list[tuple[str, str]] = []
            pairs = union.ask(part, lambda: part.sources.opposed(own), nothing)  # noqa: B023
            found += [(own[one], union.shown(part, other)) for one, other in pairs]
        return found

    def successors(self, memory: Memory) -> list[str]:
        part, own = self.view.union.own(memory)
        found: list[str] = self.view.union.ask(part, lambda: part.sources.successors(own), [])
        return [self.view.union.shown(part, id) for id in found]


class _LayeredView(View):
    """The views of all layers as one. Questions that are not about a single memory go to the first layer."""

    def __init__(self, union: LayerUnion):
        self.__dict__.update(union.first.sources.view.__dict__)
        self.union = union

    @property
    def stored(self) -> Filter:
        return Filter()

    def groups(self) -> dict[bool | None, Filter]:
        counts = self.union.doubting or any(part.shared for part in self.union.parts)
        return (
            {True: VOUCHED, False: UNVOUCHED}
            if counts and not self.only.as_of
            else {None: Filter()}
        )

    def row(self, id: str) -> Row | None:
        part, own = self.union.place(id)
        row = self.union.ask(part, lambda: part.sources.view.row(own), None)
        if row is None or part is self.union.first:
            return row if row is None or own == id else replace(row, id=id)
        memory = self.union.memory(part, own)
        return replace(row, id=id, vouched=int(memory is not None and memory.vouched))

    def expect(self, ids: Sequence[str]) -> None:
        for part, own in self.union.by_part(ids):
            self.union.ask(part, lambda: part.sources.view.expect([*own]), None)  # noqa: B023

    def whole(self, id: str) -> Memory | None:
        part, own = self.union.place(id)
        found = self.union.ask(part, lambda: part.sources.view.whole(own), None)
        return self.union.named(part, found)

    def memory(self, id: str) -> Memory | None:
        return self.union.memory(*self.union.place(id))

    @property
    def believed(self) -> Believed:
        believed: Any = _LayeredBelieved(self.union)
        return believed  # type: ignore[no-any-return]


class _LayeredBelieved:
    """The trust in memories of all layers. Each layer computes it for its own memories."""

    def __init__(self, union: LayerUnion):
        self._union = union

    def __getattr__(self, name: str) -> Any:
        return getattr(self._union.first.sources.view.believed, name)

    def weak_sources(self, memory: Memory) -> tuple[Weak, ...]:
        part, own = self._union.own(memory)
        return part.sources.view.believed.weak_sources(own)

    def trust(self, memory: Memory) -> Trust:
        part, own = self._union.own(memory)
        return part.sources.view.believed.trust(own)


class _LayeredStore:
    """The stores of all layers as one. A `vector` is the text of a question; each layer embeds it by its own model."""

    def __init__(self, union: LayerUnion):
        self._union = union

    def nearest(self, vector: Any, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """Return the closest passages. With ids, `tier` is searched; without ids, the best tier of each layer."""

        def ask(part: LayerPart, inside: Filter) -> list[Hit]:
            store, spaces = part.sources.store, self._union.spaces_of(part)
            if not only.ids:
                return nearest_passages(store, spaces, [vector], [inside])[0]
            space = spaces.deep if tier == DEEP else spaces.first
            return store.nearest(space.embed([vector])[0], limit, inside, tier) if space else []

        return self._merged(ask, limit, only)

    def expect(self, words: Sequence[str], limit: int, only: Filter) -> None:
        """Do nothing: a search cannot be started early, since each layer has its own filter."""

    def matching(
        self, words: Sequence[str], limit: int, only: Filter, around: bool = False
    ) -> list[Hit]:
        def ask(part: LayerPart, inside: Filter) -> list[Hit]:
            return part.sources.store.matching(words, limit, inside, around)

        return self._merged(ask, limit, only, self._union.scales(words))

    def compared(
        self, vectors: Sequence[Any], ids: Sequence[str], tier: str, most: int
    ) -> list[list[Compared]]:
        """Return for each text its cosine with passages of memories, by the vectors of each memory's layer."""
        found: list[list[Compared]] = [[] for _ in vectors]
        for part, own in self._union.by_part(ids):
            spaces = self._union.spaces_of(part)
            space = spaces.deep if tier == DEEP else spaces.first
            if space is None:
                continue

            nothing: Near = [[] for _ in vectors]
            asked = space.embed(vectors), tuple(own), tier, most
            compared = part.sources.store.compared
            hits = self._union.ask(part, lambda: compared(*asked), nothing)  # noqa: B023
            for several, near in zip(found, hits, strict=True):
                several += [(own[id], number, field, cosine) for id, number, field, cosine in near]
        return found

    def holders(
        self, words: Sequence[str], most: int, only: Filter, among: Sequence[str]
    ) -> dict[str, Holders]:
        """Return for each word how many memories of all layers contain it, at most `most`, and which of `among` do."""
        found: dict[str, Holders] = dict.fromkeys(words, NOBODY)
        places = {part.name: own for part, own in self._union.by_part(among)}
        for part in [*self._union.parts]:
            inside, own = self._union.filter_of(part, only), places.get(part.name, {})
            if inside is None:
                continue

            nothing: dict[str, Holders] = {}
            asked = words, most, inside, tuple(own)
            holders = part.sources.store.holders
            held = self._union.ask(part, lambda: holders(*asked), nothing)  # noqa: B023
            for word, (count, ids) in held.items():
                before, shown = found[word]
                found[word] = (min(most, before + count), shown | {own[id] for id in ids})
        return found

    def depth(self) -> tuple[int, int]:
        """Return the number of all memories twice: `nearest` itself uses the first tier if the second lacks some."""
        parts = [*self._union.parts]
        count = sum(self._union.ask(part, part.sources.store.depth, (0, 0))[1] for part in parts)
        return count, count

    def passage(self, id: str, number: int) -> str:
        part, own = self._union.place(id)
        return self._union.ask(part, lambda: part.sources.store.passage(own, number), "")

    def _merged(
        self,
        ask: Callable[[LayerPart, Filter], list[Hit]],
        limit: int,
        only: Filter,
        scales: Mapping[str, float] = NO_SCALES,
    ) -> list[Hit]:
        """Return the best hits of all layers under their shown ids, with scores multiplied by their layer's scale."""
        found: list[Hit] = []
        for part in [*self._union.parts]:
            inside = self._union.filter_of(part, only)
            if inside is not None:
                hits: list[Hit] = self._union.ask(
                    part,
                    lambda: ask(part, inside),  # noqa: B023
                    [],
                )
                names, scale = (
                    self._union.names(part, [hit.id for hit in hits]),
                    scales.get(part.name, 1.0),
                )
                found += [
                    _shown_hit(hit, name, scale) for hit, name in zip(hits, names, strict=True)
                ]
        return sorted(found, key=lambda hit: -hit.score)[:limit]


def _shown_hit(hit: Hit, id: str, scale: float) -> Hit:
    return hit if hit.id == id and scale == 1.0 else replace(hit, id=id, score=hit.score * scale)


class _TextEmbedder:
    """An embedder that returns texts unchanged. The layers embed all texts in one call and cache the vectors."""

    def __init__(self, union: LayerUnion, tier: str = FIRST):
        self.name = f"text in all layers, {tier}"  # differs from all names of real embedders
        self.dims = union.first.sources.spaces.first.dims
        self._union = union
        self._tier = tier

    def embed(self, texts: Sequence[str]) -> list[Any]:
        for part in self._union.parts:
            spaces = self._union.spaces_of(part)
            ((self._tier == DEEP and spaces.deep) or spaces.first).embed(texts)
        return [*texts]
