"""Run calls of several requests at once, each with a Repository of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ...repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

MAX_CALLS = 4  # at once; the others wait


class Pool:
    """Lends Repositories to threads. A Repository serves one call at a time; the files' locks order the writers."""

    def __init__(self, repository: Repository):
        self._model = repository
        self._idle = [repository]
        self._calls = anyio.CapacityLimiter(MAX_CALLS)
        self._writes = anyio.CapacityLimiter(1)  # a write that waits for a lock takes no place of a reader

    async def run(self, call: Callable[[Repository], T], writes: bool = False) -> T:
        """Run a call in a thread, with a Repository that no other call uses."""
        limiter = self._writes if writes else self._calls
        return await anyio.to_thread.run_sync(self._lend, call, limiter=limiter)

    def _lend(self, call: Callable[[Repository], T]) -> T:
        try:
            repository = self._idle.pop()
        except IndexError:
            core = self._model.core
            repository = Repository(core.layout, core.warn, core.via, layers=core.with_layers)
        repository.core.written = ()
        try:
            return call(repository)
        finally:
            self._idle.append(repository)
