"""Run the calls of several requests at once, each with its own Repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ...repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

MAX_CALLS = 4  # reading calls that run at once; the others wait


class Pool:
    """Lends Repositories to threads. A Repository serves one call at a time; file locks put writers in order."""

    def __init__(self, repository: Repository):
        self._model = repository
        self._idle = [repository]
        self._calls = anyio.CapacityLimiter(MAX_CALLS)
        self._writes = anyio.CapacityLimiter(1)  # of its own, so that a write that waits for a lock blocks no reader

    async def run(self, call: Callable[[Repository], T], writes: bool = False) -> T:
        """Run a call in a thread and return its result. No other call uses its Repository meanwhile."""
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
