"""Read and write JSON with the C functions of `json`, but without importing `json` and `re`, which slow the start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BLANKS = " \t\n\r"


def read_json(text: str) -> Any:
    """Return the value of a JSON text. Raise ValueError if it is invalid. Strings may contain control characters."""
    start = len(text) - len(text.lstrip(BLANKS))
    try:
        value, end = _scanner()(text, start)
    except StopIteration:
        raise ValueError("the text has no JSON value") from None
    if text[end:].strip(BLANKS):
        raise ValueError(f"more after the value (character {end})")
    return value


def write_json(value: object) -> str:
    """Return a text, a boolean, or a dictionary of these as JSON in ASCII, which is safe in every terminal."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quote()(key)}: {write_json(item)}" for key, item in value.items()) + "}"
    return ("true" if value else "false") if isinstance(value, bool) else _quote()(value)


class _Plain:
    """The decoder settings that the C scanner reads: Python's own numbers, and objects as dictionaries."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    try:
        from _json import make_scanner
    except ImportError:
        from json import JSONDecoder

        return JSONDecoder(strict=False).raw_decode
    scan: Any = make_scanner  # its type is declared only for `json`
    return scan(_Plain)  # type: ignore[no-any-return]


def _quote() -> Callable[[Any], str]:
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json import dumps as encode_basestring_ascii
    return encode_basestring_ascii
