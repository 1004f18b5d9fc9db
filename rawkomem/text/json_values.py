"""JSON values: inside other text, in documents after one another, and inside other values.

The prompt hook loads this module, so it imports little.
"""

from __future__ import annotations

import json
import re

from ..model.errors import BadInput
from ..model.values import TYPE_CHECKING
from .clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# not strict: models and hosts write raw line breaks in strings
DECODER = json.JSONDecoder(strict=False)
MAX_DOCUMENT_BYTES = 128 * 2**20  # all of a document must be in memory
NOT_BLANK = re.compile(r"\S")


def json_values(
    text: str, opening: re.Pattern[str], tries: int
) -> Iterator[tuple[Any, int, int]]:
    """Yield the outermost JSON values that start where `opening` matches, each with its start and its end.

    At most `tries` places are tried, because each try may read the rest of the text.
    """
    at = 0
    for _ in range(tries):
        start = opening.search(text, at)
        if start is None:
            return
        try:
            value, at = DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.end()
        else:
            yield value, start.start(), at


def json_documents(data: bytes, name: str, hint: str) -> Iterator[Any]:
    """Yield the values of JSON documents after one another. Raise BadInput with `name` if one is not valid."""
    if len(data) > MAX_DOCUMENT_BYTES:
        size = f"{name} has more than {MAX_DOCUMENT_BYTES >> 20} MB of JSON"
        raise BadInput(size, "split it")
    text = data.decode("utf-8-sig", "replace")
    at = 0
    while start := NOT_BLANK.search(text, at):
        try:
            value, at = DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as failure:
            what = f"{name} is not valid JSON: {one_line(str(failure), 100)}"
            raise BadInput(what, hint) from None
        yield value


def within(value: Any, *keys: str) -> Any:
    """Return the value below these keys of nested objects; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none if the value is no list."""
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]
