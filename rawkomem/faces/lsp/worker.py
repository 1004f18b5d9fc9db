"""Run requests in one thread, so that the server still reads messages while it works, among them cancellations."""

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
    """Runs one call at a time, in order: a Repository is not made for several threads."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "rawkomem")
        self._cancelled = Event()  # of the call that runs now

    async def run(self, call: Callable[..., T], *given: Any) -> T:
        """Run a call in the thread. Cancelling this coroutine drops the call, or stops it at its next `go_on`."""
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
        """Raise Cancelled if the call that runs now was cancelled. Long loops call this."""
        if self._cancelled.is_set():
            raise Cancelled

    def end(self) -> None:
        """Stop the call that runs now and drop those that wait."""
        self._cancelled.set()
        self._thread.shutdown(wait=False, cancel_futures=True)
