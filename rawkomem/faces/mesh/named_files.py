"""Read files that a user names, and name the file in every error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...files.given_text import read_stream
from ...model.errors import BadInput, RawkoError


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Add the file's name to any error; the hint stays."""
    try:
        yield
    except RawkoError as failure:
        raise BadInput(f"{file}: {failure.message}", failure.hint) from failure
    except OSError as failure:
        raise BadInput(f"{file}: {failure.strerror or failure}") from failure


def read_text(file: str) -> str:
    """Return the whole text of a file."""
    with open(file, "rb") as stream:
        return read_stream(stream, "the file")
