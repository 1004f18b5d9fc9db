"""Shortens error messages of LanceDB: they quote the url, which can hold a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....model.errors import IndexBroken

if TYPE_CHECKING:
    from ..protocol import OutsideStore

MAX_MESSAGE_CHARS = 200  # characters of LanceDB's message that are shown


def is_url(place: str) -> bool:
    """Tell whether a LanceDB is in an object store, not in a folder."""
    return "://" in place


def told(failure: Exception, place: str) -> str:
    """Return LanceDB's message in one line; for a url that could hold a key, only the type of the error."""
    if is_url(place) and ("@" in place or "?" in place):
        return type(failure).__name__
    said = str(failure).partition("\n")[0]
    return (said.replace(place, "your url") if is_url(place) else said)[:MAX_MESSAGE_CHARS]


class Telling:
    """Wraps a LanceDB store: errors of its engine become IndexBroken errors of one line."""

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
                raise IndexBroken(said, "try again, or run 'rawkomem index rebuild'") from None

        return guarded if callable(call) else call
