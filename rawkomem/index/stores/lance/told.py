"""What may be said of a LanceDB that failed: a url can hold a key, and the engine quotes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....model.errors import IndexBroken

if TYPE_CHECKING:
    from ..protocol import OutsideStore

MAX_CHARACTERS = 200  # characters of what the engine says


def is_url(place: str) -> bool:
    """Whether a LanceDB lies in an object store, not in a folder."""
    return "://" in place


def told(failure: Exception, place: str) -> str:
    """What its engine says, in one line; of a url that could hold a key only what kind of failure it was."""
    if is_url(place) and ("@" in place or "?" in place):
        return type(failure).__name__
    said = str(failure).partition("\n")[0]
    return (said.replace(place, "your url") if is_url(place) else said)[:MAX_CHARACTERS]


class Telling:
    """A store whose engine raises plain errors: each becomes an IndexBroken of one line."""

    def __init__(self, store: OutsideStore, place: str):
        self._store = store
        self._place = place

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        def guarded(*arguments: Any, **named: Any) -> Any:
            try:
                return call(*arguments, **named)
            except (RuntimeError, ValueError, OSError) as failure:
                said = f"the lancedb store failed: {told(failure, self._place)}"
                raise IndexBroken(said, "try again, or 'rawkomem rebuild'") from None

        return guarded if callable(call) else call
