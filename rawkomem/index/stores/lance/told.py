"""What may be said of a LanceDB that failed: a url can hold a key, and the engine quotes it."""

from __future__ import annotations

LENGTH = 200  # characters of what the engine says


def is_url(place: str) -> bool:
    """Whether a LanceDB lies in an object store, not in a folder."""
    return "://" in place


def told(failure: Exception, place: str) -> str:
    """What its engine says, in one line; of a url that could hold a key only what kind of failure it was."""
    if is_url(place) and ("@" in place or "?" in place):
        return type(failure).__name__
    said = str(failure).partition("\n")[0]
    return (said.replace(place, "your url") if is_url(place) else said)[:LENGTH]
