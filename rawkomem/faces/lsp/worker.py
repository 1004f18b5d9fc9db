"""Run requests in one thread, so that the server can read messages, such as cancellations, meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

T = TypeVar("T")


class Cancelled(Exception):
    """Raised inside a request that the editor cancelled."""


class Worker:
    """Runs one call at a time, in order: a Repository is not thread-safe."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "rawkomem")
        self._cancelled = Event()  # of the running call

    async def run(self, call: Callable[..., T], *given: Any) -> T:
        """Run a call in the thread and return its result.

        Cancelling this coroutine drops a waiting call, and stops a running call at its next `go_on`.
        """
        cancelled = Event()

        def job() -> T:
            self._cancelled = cancelled
            return call(*given)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, job)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def go_on(self) -> None:
        """Raise Cancelled if the running call was cancelled. Long loops call this."""
        if self._cancelled.is_set():
            raise Cancelled

    def end(self) -> None:
        """Cancel the running call and drop waiting calls."""
        self._cancelled.set()
        self._thread.shutdown(wait=False, cancel_futures=True)
