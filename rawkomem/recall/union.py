"""Recall from several layers as from one. Hits are merged before they are normalized, scored and packed.

The first layer is the project. If two layers have the same id, the memory of the later one is shown as `layer:id`.
"""

from __future__ import annotations

from ..index.stores.database import DatabaseError
from ..index.stores.sqlite import idf
from ..model.filters import Filter
from ..model.record import record, replace
from ..text.same import is_copy
from .gather import Sources
from .reasons import Reason
from .search import first_of
from .signals import Spaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from ..embed.protocol import Embedder
    from ..index.catalogue import Row
    from ..model.entry import Memory
    from ..state.belief.trust import Standing
    from .score import Scored
    from .search import Answer, Found

    T = TypeVar("T")

MAX_COMPARED = 20  # items that are compared to find copies: more do not fit into a prompt
COMPARED_CHARS = 1_000  # of a body that are compared before the full test for a copy
PROJECT = "project"  # prefix of a project id that looks like an id of another layer
VOUCHED = Filter(vouched=1)  # the filter for vouched memories of all layers


@record
class Part:
    """One layer of a recall. `shared`: other people write it, so that only commits vouch for its memories."""

    name: str  # empty: the project
    sources: Sources
    shared: bool = False


class Union:
    """The layers of one recall, and the ids under which their memories are shown."""

    def __init__(self, parts: Sequence[Part], warn: Callable[[str], None]):
        self.parts = list(parts)
        self.first = parts[0]
        self.doubting = self.first.sources.doubting  # the project decides whether vouching matters
        self._warn = warn
        self._names = {part.name or PROJECT: part for part in parts}
        self._places: dict[str, tuple[Part, str]] = {}  # shown id → layer, and id in that layer
        self._shown: dict[tuple[str, str], str] = {}
        self._memories: dict[tuple[str, str], Memory | None] = {}
        self._embedders: dict[int, _Once] = {}
        self._scales: dict[tuple[str, ...], dict[str, float]] = {}
        self._held: dict[str, dict[str, int]] = {}  # layer → word → passages that contain it
        self._rows: dict[str, int] = {}  # layer → number of passages
        self._vouching: dict[str, bool] = {}  # layer → whether a person vouches for anything in it

    def shown(self, part: Part, id: str) -> str:
        """Return the shown id of a layer's memory: its own id, unless another layer's memory has it."""
        return self._shown.get((part.name, id)) or self.names(part, [id])[0]

    def names(self, part: Part, ids: Sequence[str]) -> list[str]:
        """Return the shown ids of a layer's memories. Unknown ones are looked up in one query per layer."""
        new = [id for id in dict.fromkeys(ids) if (part.name, id) not in self._shown]
        taken = {id for id in new if id.partition(":")[0] in self._names}
        for other in self.parts[: self.parts.index(part)] if new else ():
            taken |= self.ask(other, lambda other=other: other.sources.view.catalogue.known(new), set())  # type: ignore[misc]
        for id in new:
            shown = f"{part.name or PROJECT}:{id}" if id in taken else id
            self._shown[part.name, id] = shown
            self._places[shown] = (part, id)
        return [self._shown[part.name, id] for id in ids]

    def by_part(self, ids: Iterable[str]) -> list[tuple[Part, dict[str, str]]]:
        """Group shown ids by layer: return each layer with id in the layer → shown id."""
        found: dict[str, tuple[Part, dict[str, str]]] = {}
        for shown in ids:
            part, id = self.place(shown)
            found.setdefault(part.name, (part, {}))[1][id] = shown
        return [*found.values()]

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
        """Return the index row of a memory in a layer; None if the layer does not have it."""
        return self.ask(part, lambda: part.sources.view.catalogue.row(id), None)

    def ask(self, part: Part, ask: Callable[[], T], otherwise: T) -> T:
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

    def standing(self, part: Part, memory: Memory) -> Standing | None:
        """Return the standing of a layer's memory, if no person vouches for it and that matters; else None."""
        counts = part.shared or self.doubting
        return part.sources.view.believed.unverified([memory]).get(memory.id) if counts else None

    def memory(self, part: Part, id: str) -> Memory | None:
        """Return a layer's memory with its shown id; None if there is none."""
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
        """Return the layer of a shown memory, and the memory with its id in that layer."""
        part, id = self.place(memory.id)
        return part, memory if id == memory.id else replace(memory, id=id)

    def filter_of(self, part: Part, only: Filter) -> Filter | None:
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
        mixed = counts and not self._vouches(part)  # a personal layer: checked later for each memory
        return view.stored if vouched or mixed else None

    def _vouches(self, part: Part) -> bool:
        """Return whether a layer has commits of a person, which vouch for memories."""
        if part.name not in self._vouching:
            authors = part.sources.view.authors
            self._vouching[part.name] = authors is not None and self.ask(part, authors.names_a_person, False)
        return self._vouching[part.name]

    def vouched(self) -> list[Part]:
        """Return the layers with memories that count as vouched for."""
        return [part for part in [*self.parts] if self.filter_of(part, VOUCHED) is not None]

    def spaces_of(self, part: Part) -> Spaces:
        """Return a layer's embedders, which embed each question only once."""
        spaces = part.sources.spaces
        return Spaces(self._once(spaces.first), self._once(spaces.deep) if spaces.deep else None, {})

    def _once(self, embedder: Embedder) -> _Once:
        return self._embedders.setdefault(id(embedder), _Once(embedder))

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
            pairs = [(idf(rows, total), idf(own_rows, own)) for total, own in zip(holding, counts, strict=True) if own]
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


class _Once:
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


def own_first(gated: list[Scored]) -> list[Scored]:
    """Mark items of other layers that are near copies of a project's memory that passed the gate."""
    best = [item for item in gated if not item.out][:MAX_COMPARED]  # copies have similar scores
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
    """Return answers with the layer of each result, without copies of project memories in other layers."""
    return tuple(replace(answer, found=_best(answer.found, union, limit)) for answer in answers)


def _best(found: Sequence[Found], union: Union, limit: int) -> tuple[Found, ...]:
    named = [replace(item, layer=union.place(item.row.id)[0].name) for item in found]
    named.sort(key=lambda item: bool(item.layer))
    own = [item for item in named if not item.layer]
    return first_of(
        (item for item in named if not item.layer or not any(_is_same(item, other) for other in own)), limit
    )


def _is_same(item: Found, other: Found) -> bool:
    """Return whether a project's result is a copy of another layer's. An unvouched one never replaces a vouched one."""
    if item.row.vouched and not other.row.vouched:
        return False
    return bool(item.text) and item.row.kind == other.row.kind and is_copy(item.text, other.text)
