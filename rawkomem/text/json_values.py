"""JSON values inside other text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# not strict: models and hosts write raw line breaks in strings
DECODER = json.JSONDecoder(strict=False)


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
