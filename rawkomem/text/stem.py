"""Reduce words to stems: English with SQLite's FTS5, other languages by removing endings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Stemmer = Callable[[Sequence[str]], list[str]]

_fts5: list[Any] = []  # FTS5's tokenizer, after its first use


def porter(words: Sequence[str]) -> list[str]:
    """Return the Porter stems of lower-case words, by FTS5 as in the index. Words that are not ASCII stay unchanged."""
    plain = [word for word in words if word.isascii() and word.isalnum()]
    stems = iter(_tokenize(" ".join(plain)))
    return [next(stems) if word.isascii() and word.isalnum() else word for word in words]


def _tokenize(text: str) -> list[str]:
    import apsw  # imported here: a command that needs no stems must not load SQLite

    if not _fts5:
        _fts5.append(apsw.Connection(":memory:").fts5_tokenizer("porter", ["ascii"]))
    found: list[str] = _fts5[0](
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return found


def endings(ends: Sequence[str], min_letters: int, folded: Mapping[str, str] | None = None) -> Stemmer:
    """Return a stemmer that replaces letters by `folded` and removes the first ending that leaves `min_letters`."""
    table = str.maketrans(dict(folded or {}))

    def stem(word: str) -> str:
        word = word.translate(table)
        fits = (end for end in ends if word.endswith(end) and len(word) - len(end) >= min_letters)
        return word.removesuffix(next(fits, ""))

    return lambda words: [stem(word) for word in words]
