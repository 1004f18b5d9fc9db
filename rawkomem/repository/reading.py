"""Whole memories: by name, all of them, their history, counts."""

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
    """Reads whole memories of one repository, on a fresh index."""

    def __init__(self, core: Core):
        self._core = core

    def get(self, name: str, as_of: int = 0) -> Memory:
        """Return the memory of an id, of the start of one, or of a file stem; with `as_of`, as it stood then."""

        def find() -> Memory:
            id = self._core.resolve(name)
            memory = self._past(as_of).memory(id) if as_of else memory_of(self._core.index.catalogue.doc(id))
            if memory is None:
                raise NotFound(f"{id} was not known then", "'rawkomem history' tells when it was stored")
            return memory

        return self._core.read(find)

    def get_many(self, names: Sequence[str]) -> Sequence[Memory]:
        """Return the memories of several names, in their order, each once."""
        return self._core.read(lambda: self.whole(dict.fromkeys(map(self._core.resolve, names))))

    def find(self, id: str) -> Memory | None:
        """Return the memory of an id, None where there is none; inside `Core.read` only."""
        doc = self._core.index.catalogue.doc(id)
        return memory_of(doc) if doc else None

    def all(self) -> Sequence[Memory]:
        """Return every memory, whatever its status."""
        return self._core.read(lambda: [memory_of(doc) for doc in self._core.index.catalogue.docs()])

    def inside(self, only: Filter | None) -> Sequence[Memory]:
        """Return the whole memories inside a filter, the last changed first."""
        core = self._core
        return core.read(lambda: self.whole(row.id for row in core.view(only).rows()))

    def whole(self, ids: Iterable[str]) -> list[Memory]:
        """Return the memories of ids that are known; inside `Core.read` only."""
        return [memory_of(self._core.index.catalogue.doc(id)) for id in ids]

    def entries(self, id: str) -> Sequence[Entry]:
        """Return every entry about a memory; inside `Core.read` only."""
        return self._past().entries_about(id)

    def history(self, name: str) -> Sequence[Step]:
        """Return every entry about a memory, in order, and what each changed."""
        from ..state.history import history

        def read() -> Sequence[Step]:
            past = self._past()
            return history(past.entries_about(self._core.resolve(name)), past.vouches)

        return self._core.read(read)

    def stats(self, only: Filter | None) -> Stats:
        """Return counts over the memories inside a filter."""
        from ..index.views.stats import stats

        return self._core.read(lambda: stats(self._core.view(only)))

    def _past(self, at: int = 0) -> Past:
        from ..index.views.past import Past
        from ..index.vouching import vouching

        catalogue = self._core.index.catalogue
        return Past(self._core.layout, catalogue, at, vouching(self._core.layout, catalogue.db))
