"""Combine all layers into the sources of one recall: one view, one store and one embedder for all layers."""

from __future__ import annotations

from ..index.stores.documents import DEEP, FIRST
from ..index.views.view import View
from ..model.filters import Filter
from ..model.record import as_dict, replace, unchecked
from .gather import Sources
from .relevance.evidence import NOBODY, compared, holders_of
from .signals import Spaces, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from ..git.citations import Cited
    from ..index.catalogue import Row
    from ..index.stores.documents import Hit
    from ..index.stores.sqlite import Compared, Holders
    from ..index.views.believed import Believed
    from ..model.entry import Memory
    from ..state.belief.trust import Standing, Trust
    from ..state.derive import Weak
    from ..text.when import Fired, Situation
    from .union import Part, Union

    Near = Sequence[Sequence[Compared]]

NO_SCALES: dict[str, float] = {}
VOUCHED, UNVOUCHED = Filter(vouched=1), Filter(unvouched=1)  # the only filters, besides ids, that a union gets


def layered(union: Union) -> Sources:
    """Return all layers as the sources of one recall."""
    deep = _Unread(union, DEEP) if union.first.sources.spaces.deep else None
    asked = {
        "view": _LayeredView(union),
        "store": _LayeredStore(union),
        "spaces": Spaces(_Unread(union), deep, {}),
        "fired": lambda situation: _fired(union, situation),
        "cited": lambda memory: _cited(union, memory),
    }
    return unchecked(_LayeredSources, **{**as_dict(union.first.sources), **asked})


def _fired(union: Union, situation: Situation) -> dict[str, Fired]:
    """Return the conditions that fired in all layers. They share one time budget for regexes, project first."""
    found: dict[str, Fired] = {}
    for part in [*union.parts]:
        fired: Mapping[str, Fired] = union.ask(part, lambda part=part: part.sources.fired(situation), {})  # type: ignore[misc]
        found |= {union.shown(part, id): how for id, how in fired.items()}
    return found


def _cited(union: Union, memory: Memory) -> tuple[Cited, ...]:
    part, own = union.own(memory)
    return part.sources.cited(own)


class _LayeredSources(Sources):
    """The sources of a union. Vouched memories are searched separately if a layer has others."""

    view: _LayeredView

    def filters(self) -> dict[bool | None, Filter]:
        return self.view.groups()

    def sample(self, count: int) -> list[str]:
        """Return ids of some of the project's memories: other layers must not change the usual similarity."""
        union = self.view.union
        return [union.shown(union.first, id) for id in super().sample(count)]

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

    def successors(self, memory: Memory) -> list[str]:
        part, own = self.view.union.own(memory)
        found: list[str] = self.view.union.ask(part, lambda: part.sources.successors(own), [])
        return [self.view.union.shown(part, id) for id in found]


class _LayeredView(View):
    """The views of all layers as one. Questions that are not about a single memory go to the first layer."""

    def __init__(self, union: Union):
        self.__dict__.update(union.first.sources.view.__dict__)
        self.union = union

    @property
    def stored(self) -> Filter:
        return Filter()

    def groups(self) -> dict[bool | None, Filter]:
        counts = self.union.doubting or any(part.shared for part in self.union.parts)
        return {True: VOUCHED, False: UNVOUCHED} if counts and not self.only.as_of else {None: Filter()}

    def row(self, id: str) -> Row | None:
        part, own = self.union.place(id)
        row = self.union.ask(part, lambda: part.sources.view.row(own), None)
        if row is None or part is self.union.first:
            return row if row is None or own == id else replace(row, id=id)
        memory = self.union.memory(part, own)
        return replace(row, id=id, vouched=int(memory is not None and memory.vouched))

    def expect(self, ids: Sequence[str]) -> None:
        for part, own in self.union.by_part(ids):
            self.union.ask(part, lambda part=part, own=own: part.sources.view.expect([*own]), None)  # type: ignore[misc]

    def memory(self, id: str) -> Memory | None:
        return self.union.memory(*self.union.place(id))

    @property
    def believed(self) -> Believed:
        believed: Any = _LayeredBelieved(self.union)
        return believed  # type: ignore[no-any-return]


class _LayeredBelieved:
    """The trust in memories of all layers. Each layer computes it for its own memories."""

    def __init__(self, union: Union):
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

    def __init__(self, union: Union):
        self._union = union

    def __getattr__(self, name: str) -> Any:
        return getattr(self._union.first.sources.store, name)

    def nearest(self, vector: Any, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """Return the closest passages. With ids, `tier` is searched; without ids, the best tier of each layer."""

        def ask(part: Part, inside: Filter) -> list[Hit]:
            store, spaces = part.sources.store, self._union.spaces_of(part)
            if not only.ids:
                return nearest(store, spaces, [vector], [inside])[0]
            space = spaces.deep if tier == DEEP else spaces.first
            return store.nearest(space.embed([vector])[0], limit, inside, tier) if space else []

        return self._merged(ask, limit, only)

    def expect(self, words: Sequence[str], limit: int, only: Filter) -> None:
        """Do nothing: a search cannot be started early, since each layer has its own filter."""

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        def ask(part: Part, inside: Filter) -> list[Hit]:
            return part.sources.store.matching(words, limit, inside, around)

        return self._merged(ask, limit, only, self._union.scales(words))

    def compared(self, vectors: Sequence[Any], ids: Sequence[str], tier: str, most: int) -> list[list[Compared]]:
        """Return for each text its cosine with passages of memories, by the vectors of each memory's layer."""
        found: list[list[Compared]] = [[] for _ in vectors]
        for part, own in self._union.by_part(ids):
            spaces = self._union.spaces_of(part)
            space = spaces.deep if tier == DEEP else spaces.first
            if space is None:
                continue

            nothing: Near = [[] for _ in vectors]
            asked = part.sources.store, space.embed(vectors), tuple(own), tier
            hits = self._union.ask(part, lambda asked=asked: compared(*asked), nothing)  # type: ignore[misc]
            for several, near in zip(found, hits, strict=True):
                several += [(own[id], number, field, cosine) for id, number, field, cosine in near]
        return found

    def holders(self, words: Sequence[str], most: int, only: Filter, among: Sequence[str]) -> dict[str, Holders]:
        """Return for each word how many memories of all layers contain it, at most `most`, and which of `among` do."""
        found: dict[str, Holders] = dict.fromkeys(words, NOBODY)
        places = {part.name: own for part, own in self._union.by_part(among)}
        for part in [*self._union.parts]:
            inside, own = self._union.filter_of(part, only), places.get(part.name, {})
            if inside is None:
                continue

            nothing: dict[str, Holders] = {}
            asked = part.sources.store, words, inside, tuple(own)
            held = self._union.ask(part, lambda asked=asked: holders_of(*asked), nothing)  # type: ignore[misc]
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
        ask: Callable[[Part, Filter], list[Hit]],
        limit: int,
        only: Filter,
        scales: Mapping[str, float] = NO_SCALES,
    ) -> list[Hit]:
        """Return the best hits of all layers under their shown ids, with scores multiplied by their layer's scale."""
        found: list[Hit] = []
        for part in [*self._union.parts]:
            inside = self._union.filter_of(part, only)
            if inside is not None:
                hits: list[Hit] = self._union.ask(part, lambda part=part, inside=inside: ask(part, inside), [])  # type: ignore[misc]
                names, scale = self._union.names(part, [hit.id for hit in hits]), scales.get(part.name, 1.0)
                found += [_shown(hit, name, scale) for hit, name in zip(hits, names, strict=True)]
        return sorted(found, key=lambda hit: -hit.score)[:limit]


def _shown(hit: Hit, id: str, scale: float) -> Hit:
    return hit if hit.id == id and scale == 1.0 else replace(hit, id=id, score=hit.score * scale)


class _Unread:
    """An embedder that returns texts unchanged. The layers embed all texts in one call and cache the vectors."""

    def __init__(self, union: Union, tier: str = FIRST):
        self.name = f"text in all layers, {tier}"  # differs from all names of real embedders
        self.dims = union.first.sources.spaces.first.dims
        self._union = union
        self._tier = tier

    def embed(self, texts: Sequence[str]) -> list[Any]:
        for part in self._union.parts:
            spaces = self._union.spaces_of(part)
            ((self._tier == DEEP and spaces.deep) or spaces.first).embed(texts)
        return [*texts]
