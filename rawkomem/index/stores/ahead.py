"""Runs questions in threads before a search asks them, for stores whose engine is another process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")

THREADS = 2


class Ahead(Generic[T]):
    """Holds the answers of started questions until they are taken or discarded."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._started: dict[Hashable, Future[T]] = {}

    def start(self, key: Hashable, ask: Callable[[], T]) -> None:
        """Run `ask` in a thread, unless a question with this key was started."""
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # only a process that stays open repays it

            self._threads = ThreadPoolExecutor(THREADS, "rawkomem-ahead")
        if key not in self._started:
            self._started[key] = self._threads.submit(ask)

    def take(self, key: Hashable) -> Callable[[], T] | None:
        """Return a call that waits for a started question's answer or raises its error; None if it was not started."""
        started = self._started.pop(key, None)
        return started.result if started else None

    def discard(self) -> None:
        """Forget all answers: the data changed, or the search is over."""
        self._started.clear()

    def close(self) -> None:
        """Wait for the threads, and end them."""
        if self._threads:
            self._threads.shutdown(cancel_futures=True)
        self._threads = None
        self.discard()
