"""Recalls from several layers as from one: their hits are merged before anything is normalized, scored or packed.

The first layer is the project's. An id that two layers hold means the first one's; the other is shown as `layer:id`.
"""

from __future__ import annotations

from math import log

from ..index.stores.database import DatabaseError
from ..index.stores.documents import DEEP, FIRST
from ..index.views.view import View
from ..model.filters import Filter
from ..model.record import as_dict, record, replace, unchecked
from ..text.same import is_copy
from .gather import Sources
from .reasons import Reason
from .signals import Spaces, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from ..embed.protocol import Embedder
    from ..git.citations import Cited
    from ..index.catalogue import Row
    from ..index.stores.documents import Hit
    from ..index.views.believed import Believed
    from ..model.entry import Memory
    from ..state.belief.trust import Standing, Trust
    from ..state.derive import Weak
    from ..text.when import Fired, Situation
    from .score import Scored
    from .search import Answer, Found

    T = TypeVar("T")

MIN_IDF = 1e-6  # FTS5's weight of a word that more than half of all rows hold
MAX_COMPARED = 20  # items of which copies are looked for: more do not go into a prompt
COMPARED_CHARS = 1_000  # of a body, to see whether it may be a copy at all
PROJECT = "project"  # what stands before an id of the project's that looks like one of another layer
VOUCHED, UNVOUCHED = Filter(vouched=1), Filter(unvouched=1)  # what a union is asked for, beside ids as shown


@record
class Part:
    """One layer of a recall. `shared`: others write it, so that only commits vouch for its memories."""

    name: str  # empty: the project's
    sources: Sources
    shared: bool = False


class Union:
    """The layers of one recall, and the ids under which their memories are shown."""

    def __init__(self, parts: Sequence[Part], warn: Callable[[str], None]):
        self.parts = list(parts)
        self.first = parts[0]
        self.doubting = self.first.sources.doubting  # the project decides whether it counts who vouches
        self._warn = warn
        self._names = {part.name or PROJECT: part for part in parts}
        self._places: dict[str, tuple[Part, str]] = {}  # shown id → where it is
        self._shown: dict[tuple[str, str], str] = {}
        self._memories: dict[tuple[str, str], Memory | None] = {}
        self._embedders: dict[int, _Once] = {}
        self._scales: dict[tuple[str, ...], dict[str, float]] = {}
        self._held: dict[str, dict[str, int]] = {}  # layer → word → passages that hold it
        self._rows: dict[str, int] = {}  # layer → passages

    def shown(self, part: Part, id: str) -> str:
        """Return the id under which a layer's memory is shown: its own, unless that means another memory."""
        key = (part.name, id)
        if key not in self._shown:
            before = self.parts[: self.parts.index(part)]
            taken = id.partition(":")[0] in self._names or any(self.row_in(other, id) for other in before)
            self._shown[key] = f"{part.name or PROJECT}:{id}" if taken else id
            self._places[self._shown[key]] = (part, id)
        return self._shown[key]

    def place(self, id: str) -> tuple[Part, str]:
        """Return the layer of a shown id, and the id in that layer."""
        if id not in self._places:
            name, sign, rest = id.partition(":")
            if sign and name in self._names:
                self._places[id] = (self._names[name], rest)
            else:
                holding = (part for part in self.parts if self.row_in(part, id))
                self._places[id] = (next(holding, self.first), id)
        return self._places[id]

    def row_in(self, part: Part, id: str) -> Row | None:
        """Return the columns of a memory in a layer."""
        return self.ask(part, lambda: part.sources.view.catalogue.row(id), None)

    def ask(self, part: Part, ask: Callable[[], T], otherwise: T) -> T:
        """Return an answer of a layer; one whose index fails meanwhile is left out, with a warning."""
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

    def standing(self, part: Part, memory: Memory) -> Standing | None:
        """Return how a layer's memory arrived, if no person vouches for it and that counts."""
        counts = part.shared or self.doubting
        return part.sources.view.believed.unverified([memory]).get(memory.id) if counts else None

    def memory(self, part: Part, id: str) -> Memory | None:
        """Return a layer's memory under the id that it is shown with."""
        key = (part.name, id)
        if key not in self._memories:
            self._memories[key] = self._read(part, id)
        return self._memories[key]

    def _read(self, part: Part, id: str) -> Memory | None:
        memory = self.ask(part, lambda: part.sources.view.memory(id), None)
        if memory is None:
            return None
        vouched = memory.vouched if part is self.first else self.standing(part, memory) is None
        return replace(memory, id=self.shown(part, id), layer=part.name, vouched=vouched)

    def own(self, memory: Memory) -> tuple[Part, Memory]:
        """Return a shown memory as its layer knows it."""
        part, id = self.place(memory.id)
        return part, memory if id == memory.id else replace(memory, id=id)

    def filter_of(self, part: Part, only: Filter) -> Filter | None:
        """Return the filter of one layer for what the union is asked; None where it holds nothing of that."""
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
        if part.shared and not sources.doubting:
            return None if vouched else view.stored
        mixed = counts and not sources.doubting  # of a personal layer: each memory tells by how it arrived
        return view.stored if vouched or mixed else None

    def spaces_of(self, part: Part) -> Spaces:
        """Return a layer's vector spaces; a question is embedded once in each."""
        spaces = part.sources.spaces
        return Spaces(self._once(spaces.first), self._once(spaces.deep) if spaces.deep else None, {})

    def _once(self, embedder: Embedder) -> _Once:
        return self._embedders.setdefault(id(embedder), _Once(embedder))

    def scales(self, words: Sequence[str]) -> dict[str, float]:
        """Return what the BM25 of each layer is multiplied with: a word is as rare as it is in all layers together.

        FTS5 takes any word of a layer with three passages for common. Stores that do not count words are left as is.
        """
        key = tuple(words)
        if key not in self._scales:
            self._scales[key] = self._scaled(key) if words else {}
        return self._scales[key]

    def _scaled(self, words: tuple[str, ...]) -> dict[str, float]:
        counted = {part.name: self._counted(part, words) for part in [*self.parts]}
        if not all(rows for rows, _ in counted.values()):
            return {}
        rows = sum(own for own, _ in counted.values())
        holding = [sum(counts) for counts in zip(*(counts for _, counts in counted.values()), strict=True)]
        scales = {}
        for name, (own_rows, counts) in counted.items():
            pairs = [
                (_idf(rows, total), _idf(own_rows, own)) for total, own in zip(holding, counts, strict=True) if own
            ]
            scales[name] = sum(of_all for of_all, _ in pairs) / sum(own for _, own in pairs) if pairs else 1.0
        return scales

    def _counted(self, part: Part, words: tuple[str, ...]) -> tuple[int, list[int]]:
        store: Any = part.sources.store
        held = self._held.setdefault(part.name, {})
        new = [word for word in words if word not in held]
        if new:
            nothing = (0, [0] * len(new))
            counted = self.ask(part, lambda: store.holding(new), nothing) if hasattr(store, "holding") else nothing
            self._rows[part.name] = counted[0]
            held.update(zip(new, counted[1], strict=True))
        return self._rows[part.name], [held[word] for word in words]

    def sources(self) -> Sources:
        """Return all layers as the sources of one recall."""
        deep = _Unread(self, DEEP) if self.first.sources.spaces.deep else None
        asked = {"view": _LayeredView(self), "store": _LayeredStore(self), "spaces": Spaces(_Unread(self), deep, {})}
        return unchecked(
            _LayeredSources, **{**as_dict(self.first.sources), **asked, "fired": self._fired, "cited": self._cited}
        )

    def _fired(self, situation: Situation) -> dict[str, Fired]:
        """Return what fired in each layer; the budget for regexes is one for all, and the project's are tried first."""
        found: dict[str, Fired] = {}
        for part in [*self.parts]:
            fired: Mapping[str, Fired] = self.ask(part, lambda part=part: part.sources.fired(situation), {})  # type: ignore[misc]
            found |= {self.shown(part, id): how for id, how in fired.items()}
        return found

    def _cited(self, memory: Memory) -> tuple[Cited, ...]:
        part, own = self.own(memory)
        return part.sources.cited(own)


class _LayeredSources(Sources):
    """Sources over a union; what people vouch for is looked for by itself where a layer holds anything else."""

    view: _LayeredView

    def filters(self) -> dict[bool | None, Filter]:
        counts = self.doubting or any(part.shared for part in self.view.union.parts)
        return {True: VOUCHED, False: UNVOUCHED} if counts and not self.view.only.as_of else {None: Filter()}

    def sample(self, count: int) -> list[str]:
        """Return some of the project's memories: what is usual is not for other layers to say."""
        union = self.view.union
        return [union.shown(union.first, id) for id in super().sample(count)]

    def count(self) -> int:
        """Return how many memories there are in all layers, as words are counted in all of them."""
        union = self.view.union
        return sum(union.ask(part, part.sources.count, 0) for part in union.parts)

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
    """The views of all layers as one. What is not asked of single memories is answered by the first layer."""

    def __init__(self, union: Union):
        self.__dict__.update(union.first.sources.view.__dict__)
        self.union = union

    @property
    def stored(self) -> Filter:
        return Filter()

    def row(self, id: str) -> Row | None:
        part, own = self.union.place(id)
        row = self.union.ask(part, lambda: part.sources.view.row(own), None)
        if row is None or part is self.union.first:
            return row if row is None or own == id else replace(row, id=id)
        memory = self.union.memory(part, own)
        return replace(row, id=id, vouched=int(memory is not None and memory.vouched))

    def memory(self, id: str) -> Memory | None:
        return self.union.memory(*self.union.place(id))

    @property
    def believed(self) -> Believed:
        believed: Any = _LayeredBelieved(self.union)
        return believed  # type: ignore[no-any-return]


class _LayeredBelieved:
    """How far the memories of all layers are believed; each layer knows it of its own."""

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
    """The stores of all layers as one. A `vector` is the text of a question: each layer embeds it in its own space."""

    compared = held = None  # quicker ways that one store has: several layers are asked by `nearest` and `matching`

    def __init__(self, union: Union):
        self._union = union

    def __getattr__(self, name: str) -> Any:
        return getattr(self._union.first.sources.store, name)

    def nearest(self, vector: Any, limit: int, only: Filter, tier: str = FIRST) -> list[Hit]:
        """Return the closest passages: of ids as shown, in one tier; of all, in the best tier of each layer."""

        def ask(part: Part, inside: Filter) -> list[Hit]:
            store, spaces = part.sources.store, self._union.spaces_of(part)
            if not only.ids:
                return nearest(store, spaces, [vector], [inside])[0]
            space = spaces.deep if tier == DEEP else spaces.first
            return store.nearest(space.embed([vector])[0], limit, inside, tier) if space else []

        return self._merged(ask, limit, only)

    def matching(self, words: Sequence[str], limit: int, only: Filter, around: bool = False) -> list[Hit]:
        scales = self._union.scales(words)

        def ask(part: Part, inside: Filter) -> list[Hit]:
            scale, hits = scales.get(part.name, 1.0), part.sources.store.matching(words, limit, inside, around)
            return hits if scale == 1.0 else [replace(hit, score=hit.score * scale) for hit in hits]

        return self._merged(ask, limit, only)

    def depth(self) -> tuple[int, int]:
        """Return the number of all memories twice: `nearest` itself asks the first tier for what the second lacks."""
        parts = [*self._union.parts]
        count = sum(self._union.ask(part, part.sources.store.depth, (0, 0))[1] for part in parts)
        return count, count

    def passage(self, id: str, number: int) -> str:
        part, own = self._union.place(id)
        return self._union.ask(part, lambda: part.sources.store.passage(own, number), "")

    def _merged(self, ask: Callable[[Part, Filter], list[Hit]], limit: int, only: Filter) -> list[Hit]:
        found: list[Hit] = []
        for part in [*self._union.parts]:
            inside = self._union.filter_of(part, only)
            if inside is not None:
                hits: list[Hit] = self._union.ask(part, lambda part=part, inside=inside: ask(part, inside), [])  # type: ignore[misc]
                found += [_renamed(hit, self._union.shown(part, hit.id)) for hit in hits]
        return sorted(found, key=lambda hit: -hit.score)[:limit]


def _idf(rows: int, holding: int) -> float:
    """Return FTS5's weight of a word that so many of all rows hold."""
    return max(log((rows - holding + 0.5) / (holding + 0.5)), MIN_IDF)


def _renamed(hit: Hit, id: str) -> Hit:
    return hit if hit.id == id else replace(hit, id=id)


class _Once:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        self.name, self.dims = embedder.name, embedder.dims
        self._known: dict[str, bytes] = {}

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return [self._known[text] for text in texts]


class _Unread:
    """An embedder that returns texts as they are: the layers embed them at once, and the store looks that up."""

    def __init__(self, union: Union, tier: str = FIRST):
        self.name = f"text in all layers, {tier}"  # like no embedder's, under which vectors are kept
        self.dims = union.first.sources.spaces.first.dims
        self._union = union
        self._tier = tier

    def embed(self, texts: Sequence[str]) -> list[Any]:
        for part in self._union.parts:
            spaces = self._union.spaces_of(part)
            ((self._tier == DEEP and spaces.deep) or spaces.first).embed(texts)
        return [*texts]


def own_first(gated: list[Scored]) -> list[Scored]:
    """Leave out what another layer holds as a near copy of a memory of the project's that goes in."""
    best = [item for item in gated if not item.out][:MAX_COMPARED]  # copies score alike
    own = [item for item in best if not item.memory.layer]
    words = {item.memory.id: frozenset(item.memory.body[:COMPARED_CHARS].split()) for item in best}
    twins: dict[str, str] = {}
    for item in (item for item in best if item.memory.layer and item.memory.body):
        for other in own:
            shared = len(words[item.memory.id] & words[other.memory.id])
            vouched = item.signals.unverified or not other.signals.unverified
            if vouched and 2 * shared >= len(words[item.memory.id]) and is_copy(item.memory.body, other.memory.body):
                twins.setdefault(item.memory.id, other.memory.id)
    return [
        replace(item, out=Reason("twin", (twins[item.memory.id],))) if item.memory.id in twins else item
        for item in gated
    ]


def marked(answers: Iterable[Answer], union: Union, limit: int) -> tuple[Answer, ...]:
    """Return answers with the layer of each result, without other layers' copies; of equals, the project's first."""
    return tuple(replace(answer, found=_best(answer.found, union, limit)) for answer in answers)


def _best(found: Sequence[Found], union: Union, limit: int) -> tuple[Found, ...]:
    named = [replace(item, layer=union.place(item.row.id)[0].name) for item in found]
    named.sort(key=lambda item: (-item.score, bool(item.layer)))
    own = [item for item in named if not item.layer]
    kept = [item for item in named if not item.layer or not any(_is_same(item, other) for other in own)]
    return tuple(kept[:limit])


def _is_same(item: Found, other: Found) -> bool:
    return bool(item.text) and item.row.kind == other.row.kind and is_copy(item.text, other.text)
