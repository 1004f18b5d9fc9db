"""A cache of answers for a long-lived process: in memory only, and only while the index is the same."""

from __future__ import annotations

import time
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

TIME_TO_LIVE_S = 300.0  # RFC-0011: five minutes from the moment an answer was made, however often it is used
MAX_ANSWERS = 500  # RFC-0011; beyond, the least recently used answer goes


class AnswerCache:
    """Least recently used answers with an absolute time to live; emptied when the index changes. Thread-safe."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, entries: int = MAX_ANSWERS, seconds: float = TIME_TO_LIVE_S
    ):
        self.clock = clock
        self.entries = entries
        self.seconds = seconds
        self._lock = Lock()
        self._made_from: object = None
        self._kept: dict[Hashable, tuple[float, object]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Remove every answer."""
        with self._lock:
            self._kept.clear()

    def get(self, key: Hashable, made_from: object = None) -> object | None:
        """Return the answer to this question from this state of the index; None when there is none or it is too old."""
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
        """Keep an answer, made from the state of the index that `get` was last asked with."""
        with self._lock:
            self._kept.pop(key, None)
            while len(self._kept) >= self.entries:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (self.clock(), answer)
