"""Answers that a long-lived process gave, kept for a while: in memory only, and only while the index is the same."""

from __future__ import annotations

import time
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

SECONDS = 300.0  # RFC-0011: five minutes from the moment it was made, however often it is used
ENTRIES = 500  # RFC-0011; beyond, the one that was not used for the longest time goes


class AnswerCache:
    """Least recently used, with an absolute time to live; emptied when what it was made from changes.

    Any thread may ask: one that empties it need not wait for another that searches.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, entries: int = ENTRIES, seconds: float = SECONDS):
        self.clock = clock
        self.entries = entries
        self.seconds = seconds
        self._lock = Lock()
        self._made_from: object = None
        self._kept: dict[Hashable, tuple[float, object]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()

    def get(self, key: Hashable, made_from: object = None) -> object | None:
        """The answer to this question from this state of the index; None when there is none that may be used."""
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
