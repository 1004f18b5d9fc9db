"""Files that a user names: read as text, and named in whatever goes wrong with one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...files.given_text import decode_text
from ...model.errors import BadInput, RawkoError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Whatever goes wrong with a file is told with its name."""
    try:
        yield
    except RawkoError as failure:
        raise BadInput(f"{file}: {failure.message}") from failure
    except OSError as failure:
        raise BadInput(f"{file}: {failure.strerror or failure}") from failure


def read_text(file: str) -> str:
    """Return a file's text, inside `naming`."""
    with open(file, "rb") as stream:
        return decode_text(stream.read(), "the file")
