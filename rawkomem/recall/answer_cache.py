"""Cache answers in a long-lived process: in memory only, and only while the index does not change."""

from __future__ import annotations

import time
from _thread import allocate_lock  # importing `threading` would slow down every command

from ..model.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


TIME_TO_LIVE_S = 300.0  # since the answer was made, no matter how often it is used (RFC-0011)
MAX_ANSWERS = 500  # RFC-0011; when full, the least recently used answer is dropped


class AnswerCache:
    """An LRU cache with an absolute time to live. It is emptied when the index changes. Thread-safe."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        entries: int = MAX_ANSWERS,
        seconds: float = TIME_TO_LIVE_S,
    ):
        self.clock = clock
        self.entries = entries
        self.seconds = seconds
        self._lock = allocate_lock()
        self._made_from: object = None
        self._kept: dict[Hashable, tuple[float, object]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Remove every answer."""
        with self._lock:
            self._kept.clear()

    def get(self, key: Hashable, made_from: object = None) -> object | None:
        """Return the cached answer; None if there is none or it is too old. A new `made_from` empties the cache."""
        with self._lock:
            if made_from != self._made_from:
                self._kept.clear()
                self._made_from = made_from
            made, answer = self._kept.pop(key, (0.0, None))
            if answer is None or self.clock() - made >= self.seconds:
                return None
            self._kept[key] = (made, answer)
            return answer

    def put(self, key: Hashable, answer: object) -> None:
        """Cache an answer. It must come from the index state that was passed to the last `get`."""
        with self._lock:
            self._kept.pop(key, None)
            while len(self._kept) >= self.entries:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (self.clock(), answer)
