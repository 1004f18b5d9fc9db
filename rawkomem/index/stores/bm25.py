"""Computes the tokens and BM25 scores of SQLite's FTS5 for stores that have no FTS5.

Texts are split by the tokenizer of the SQLite store, so that every store finds and ranks the same words.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import apsw

from .sqlite import CATEGORIES, searched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

K1, B = 1.2, 0.75  # fixed in FTS5's bm25()
MAX_TOKEN_BYTES = 32_768  # FTS5 ignores the rest of a longer token
BREAK = ""  # separates the columns of a row; no term equals it, so that no phrase matches across columns


@cache
def _tokenizer() -> apsw.FTS5Tokenizer:
    return apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61", "categories", CATEGORIES])


def terms(text: str) -> list[str]:
    """Return the stems of a text, in order, as the tokenizer of the SQLite store makes them."""
    options = {"include_offsets": False, "include_colocated": False}
    text = searched(text)
    found = cast("list[str]", _tokenizer()(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, **options))
    if 4 * len(text) <= MAX_TOKEN_BYTES:
        return found
    return [term.encode()[:MAX_TOKEN_BYTES].decode(errors="ignore") for term in found]


def row_terms(*columns: str) -> list[str]:
    """Return the terms of all columns of a row, with a BREAK between two columns."""
    joined = terms(columns[0])
    for column in columns[1:]:
        joined += [BREAK, *terms(column)]
    return joined


def length(row: Sequence[str]) -> int:
    """Return how many tokens a row has."""
    return len(row) - row.count(BREAK)


def phrases(words: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the phrases of a query: a word is one term, or several where the tokenizer splits it."""
    return [phrase for word in words if (phrase := tuple(terms(word.replace('"', ""))))]


def occurrences(phrase: Sequence[str], row: Sequence[str]) -> int:
    """Return how often a phrase occurs in a row of terms."""
    if len(phrase) == 1:
        return row.count(phrase[0])
    wanted = list(phrase)
    starts = (at for at, term in enumerate(row) if term == wanted[0])
    return sum(1 for at in starts if list(row[at : at + len(wanted)]) == wanted)


def bm25(found: Iterable[tuple[float, int]], length: int, average: float) -> float:
    """Return the score of a row from (idf, occurrences) of each phrase in it, and its length in tokens."""
    shortness = K1 * (1 - B + B * length / average)
    return sum(weight * (times * (K1 + 1)) / (times + shortness) for weight, times in found)
