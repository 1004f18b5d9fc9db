"""Compiles patterns with RE2 on first use, because an ordinary text needs few of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PATTERN_BYTES = 8 << 20  # bytes RE2 may use for one pattern

_patterns: dict[tuple[str, bool], Any] = {}
_sets: dict[tuple[str, ...], Any] = {}


def compiled(pattern: str, groups: bool = True) -> Any:
    """Return a pattern that reads one byte per character; without groups it matches faster."""
    if (pattern, groups) not in _patterns:
        import re2

        options = _options()
        options.never_capture = not groups
        _patterns[pattern, groups] = re2.compile(pattern.encode("latin-1"), options)
    return _patterns[pattern, groups]


def occurring(words: tuple[str, ...], data: bytes) -> frozenset[str]:
    """Return which of these words occur, in one pass over the text."""
    if words not in _sets:
        import re2

        options = _options()
        options.literal = True
        _sets[words] = re2.Set.SearchSet(options)
        for word in words:
            _sets[words].Add(word)
        _sets[words].Compile()
    return frozenset(words[number] for number in _sets[words].Match(data) or ())


def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, MAX_PATTERN_BYTES
    options.encoding = re2.Options.Encoding.LATIN1
    return options
