"""Read whole memories: one by name, all of them, their history, counts."""

from __future__ import annotations

from ..index.lists import memory_of
from ..model.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..index.views.past import Past
    from ..index.views.stats import Stats
    from ..model.entry import Entry, Memory
    from ..model.filters import Filter
    from ..state.history import Step
    from .core import Core


class Reading:
    """Reads whole memories of one repository from the updated index."""

    def __init__(self, core: Core):
        self._core = core

    def get(self, name: str, as_of: int = 0) -> Memory:
        """Return the memory with an id, a part of one, a file stem or a title; with `as_of`, its state at that time."""

        def find() -> Memory:
            id = self._core.resolve(name)
            memory = self._past(as_of).memory(id) if as_of else memory_of(self._core.index.catalogue.doc(id))
            if memory is None:
                raise NotFound(f"{id} was not known then", f"run 'rawkomem history {id}' to see when it was stored")
            return memory

        return self._core.read(find)

    def get_many(self, names: Sequence[str]) -> Sequence[Memory]:
        """Return the memories with these names, in this order, without duplicates."""
        return self._core.read(lambda: self.whole(dict.fromkeys(map(self._core.resolve, names))))

    def find(self, id: str) -> Memory | None:
        """Return the memory with an id, or None. Call it only inside `Core.read`."""
        doc = self._core.index.catalogue.doc(id)
        return memory_of(doc) if doc else None

    def all(self) -> Sequence[Memory]:
        """Return every memory of any status."""
        return self._core.read(lambda: [memory_of(doc) for doc in self._core.index.catalogue.docs()])

    def inside(self, only: Filter | None) -> Sequence[Memory]:
        """Return the whole memories that pass a filter, last changed first."""
        core = self._core
        return core.read(lambda: self.whole(row.id for row in core.view(only).rows()))

    def whole(self, ids: Iterable[str]) -> list[Memory]:
        """Return the memories with these ids, which must exist. Call it only inside `Core.read`."""
        return [memory_of(self._core.index.catalogue.doc(id)) for id in ids]

    def entries(self, id: str) -> Sequence[Entry]:
        """Return every entry about a memory. Call it only inside `Core.read`."""
        return self._past().entries_about(id)

    def history(self, name: str) -> Sequence[Step]:
        """Return every entry about a memory, in order, with the changes that it made."""
        from ..state.history import history

        def read() -> Sequence[Step]:
            past = self._past()
            return history(past.entries_about(self._core.resolve(name)), past.vouches)

        return self._core.read(read)

    def stats(self, only: Filter | None) -> Stats:
        """Return counts over the memories that pass a filter."""
        from ..index.views.stats import stats

        return self._core.read(lambda: stats(self._core.view(only)))

    def _past(self, at: int = 0) -> Past:
        from ..index.views.past import Past
        from ..index.vouching import vouching

        catalogue = self._core.index.catalogue
        return Past(self._core.layout, catalogue, at, vouching(self._core.layout, catalogue.db))
